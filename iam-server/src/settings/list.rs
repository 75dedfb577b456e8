//! The list of the settings. A new setting is one entry here and a line in `docs/operating.md`.

use std::{fmt, mem};

use clap::Arg;
use iam_core::brand::{Brand, InvalidBrand};

use super::draft::Draft;
use super::value::*;

/// A setting. Its flag and its variable follow from its name.
pub(crate) struct Setting {
    /// The name, which is also the key in a settings file.
    pub(crate) name: &'static str,
    /// The name of the value and the help, if there is a flag.
    help: Option<(&'static str, &'static str)>,
    /// Whether no output may contain the value.
    pub(crate) is_secret: bool,
    /// Parses a text and puts the value into the draft, or returns the error of the text.
    pub(super) set: fn(&mut Draft, &str) -> Result<(), String>,
}

impl Setting {
    /// A setting with a flag. The help ends with the default.
    const fn new(
        name: &'static str,
        value_name: &'static str,
        help: &'static str,
        set: fn(&mut Draft, &str) -> Result<(), String>,
    ) -> Self {
        Self { name, help: Some((value_name, help)), is_secret: false, set }
    }

    const fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }

    /// A secret that has no flag.
    const fn without_flag(name: &'static str, set: fn(&mut Draft, &str) -> Result<(), String>) -> Self {
        Self { name, help: None, is_secret: true, set }
    }

    /// Returns the setting with a name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// Returns the flag, such as `--log-format`.
    pub(crate) fn flag(&self) -> Option<String> {
        self.help.map(|_| format!("--{}", self.name.replace('_', "-")))
    }

    /// Returns the environment variable, such as `IAM_LOG_FORMAT`.
    pub(crate) fn variable(&self) -> String {
        format!("IAM_{}", self.name.to_uppercase())
    }

    /// Returns the default in the help, if it is a value and not a remark. A test compares it with the default in use.
    pub(crate) fn default(&self) -> Option<&'static str> {
        let (_, help) = self.help?;
        let (_, default) = help.split_once("[default: ")?;
        let default = default.trim_end_matches(']').trim_matches('`');
        Some(default).filter(|default| *default != "none" && !default.contains(' '))
    }

    /// Returns the flag as an argument of the command line, with the variable.
    pub(super) fn argument(&self) -> Option<Arg> {
        let (value_name, help) = self.help?;
        let argument = Arg::new(self.name).long(self.name.replace('_', "-")).env(self.variable());
        Some(argument.value_name(value_name).help(help).hide_env_values(self.is_secret).global(true))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = self.flag().map(|flag| flag + ", ").unwrap_or_default();
        write!(formatter, "{} ({flag}{})", self.name, self.variable())
    }
}

fn put<T>(target: &mut T, value: Result<T, String>) -> Result<(), String> {
    *target = value?;
    Ok(())
}

fn put_brand(draft: &mut Draft, with: impl FnOnce(Brand) -> Result<Brand, InvalidBrand>) -> Result<(), String> {
    let brand = &mut draft.settings.http.brand;
    *brand = with(mem::take(brand)).map_err(|error| error.to_string())?;
    Ok(())
}

/// All settings, in the order of the help.
pub(crate) static SETTINGS: &[Setting] = &[
    Setting::new(
        "database_url",
        "URL",
        "The database: sqlite://PATH, postgres://… or memory: (DATABASE_URL is read, too) [default: sqlite://iam.db]",
        |draft, text| put(&mut draft.settings.database, database(text)),
    )
    .secret(),
    Setting::new(
        "database_direct_url",
        "URL",
        "The database itself, if database-url leads to a pooler in transaction mode such as PgBouncer [default: none]",
        |draft, text| put(&mut draft.database_direct_url, direct_database(text).map(Some)),
    )
    .secret(),
    Setting::new(
        "database_read_url",
        "URLS",
        "Streaming replicas of the database that answer lists, separated by commas [default: none]",
        |draft, text| put(&mut draft.database_read_urls, read_databases(text)),
    )
    .secret(),
    Setting::new("listen", "ADDRESS:PORT", "The address to listen on [default: 127.0.0.1:8080]", |draft, text| {
        put(&mut draft.settings.listen, listen(text))
    }),
    Setting::new(
        "metrics_listen",
        "ADDRESS:PORT",
        "A separate, private address that serves /metrics [default: the address of the API]",
        |draft, text| put(&mut draft.settings.metrics_listen, listen(text).map(Some)),
    ),
    Setting::new(
        "tls_certificate",
        "FILE",
        "A PEM file with the server's certificate and its intermediate certificates; needs tls-key [default: no TLS]",
        |draft, text| put(&mut draft.tls_certificate, Ok(Some(text.into()))),
    ),
    Setting::new("tls_key", "FILE", "A PEM file with the private key of the certificate", |draft, text| {
        put(&mut draft.tls_key, Ok(Some(text.into())))
    }),
    Setting::new(
        "cors_origins",
        "ORIGINS",
        "The origins whose web pages may use the API from a browser, separated by commas [default: none]",
        |draft, text| put(&mut draft.settings.http.cors_origins, origins(text)),
    ),
    Setting::new(
        "client_connections",
        "NUMBER",
        "The most connections of one client (by its address) at a time; trusted proxies may have more [default: 1000]",
        |draft, text| put(&mut draft.settings.client_connections, connections(text)),
    ),
    Setting::new(
        "request_timeout",
        "DURATION",
        "The longest time until a request is answered, at most 30s [default: 30s]",
        |draft, text| put(&mut draft.settings.http.request_timeout, request_duration(text)),
    ),
    Setting::new(
        "password_wait",
        "DURATION",
        "The longest time that a password may wait to be hashed, at most 30s; a request that would wait longer is \
         refused at once [default: 2s]",
        |draft, text| put(&mut draft.settings.iam.password_wait, request_duration(text)),
    ),
    Setting::new(
        "registration",
        "WORD",
        "Whether callers without an account may create tenants: open or closed [default: open]",
        |draft, text| put(&mut draft.settings.iam.registration, open_or_closed(text)),
    ),
    Setting::new(
        "rate_limits",
        "WORD",
        "Whether the rate of requests is limited: on or off [default: on]",
        |draft, text| put(&mut draft.is_rate_limited, on_or_off(text)),
    ),
    Setting::new(
        "rate_limit_user",
        "NUMBER",
        "The most requests of one user per minute [default: 1000]",
        |draft, text| put(&mut draft.rate_limits.user, per_minute(text)),
    ),
    Setting::new(
        "rate_limit_authentication",
        "NUMBER",
        "The most requests of one client per minute to log in, register and refresh [default: 60]",
        |draft, text| put(&mut draft.rate_limits.authentication, per_minute(text)),
    ),
    Setting::new(
        "rate_limit_anonymous",
        "NUMBER",
        "The most other requests of one client per minute without a token [default: 300]",
        |draft, text| put(&mut draft.rate_limits.anonymous, per_minute(text)),
    ),
    Setting::new(
        "rate_limit_events",
        "NUMBER",
        "The most KiB of custom audit events per minute that the users of one tenant may record [default: 6000]",
        |draft, text| put(&mut draft.rate_limits.events, per_minute(text)),
    ),
    Setting::new(
        "rate_limit_redis_url",
        "URL",
        "The Redis server that counts the requests of all replicas together: redis://… or rediss://… [default: none]",
        |draft, text| put(&mut draft.rate_limit_redis_url, Ok(Some(text.to_owned()))),
    )
    .secret(),
    Setting::new(
        "environment",
        "NAME",
        "The name of the environment in the health response [default: development]",
        |draft, text| put(&mut draft.settings.http.environment, not_empty(text)),
    ),
    Setting::new(
        "max_organization_depth",
        "NUMBER",
        "The greatest depth of an organization; a root has depth 0 [default: 5]",
        |draft, text| put(&mut draft.settings.iam.max_organization_depth, depth(text)),
    ),
    Setting::new(
        "trusted_proxies",
        "NETWORKS",
        "The proxies whose X-Forwarded-For is trusted: addresses or networks, separated by commas [default: none]",
        |draft, text| put(&mut draft.settings.http.trusted_proxies, networks(text)),
    ),
    // The master keys have no flag, because the process list shows flags to all users. The end of the help describes
    // them.
    Setting::without_flag("master_key", |draft, text| put(&mut draft.settings.iam.master_key, master_key(text))),
    Setting::without_flag("former_master_key", |draft, text| put(&mut draft.former_master_key, master_key(text))),
    Setting::new(
        "key_rotation",
        "DURATION",
        "The age of the newest key for access tokens at which a new key replaces it, at least 1d [default: 90d]",
        |draft, text| put(&mut draft.settings.iam.key_rotation, at_least_a_day(text)),
    ),
    Setting::new(
        "audit_min_retention",
        "DURATION",
        "The shortest retention that a tenant may set for its audit log [default: 30d]",
        |draft, text| put(&mut draft.settings.iam.audit_min_retention, duration(text)),
    ),
    Setting::new(
        "quota_users",
        "NUMBER",
        "The most users of a tenant, including deleted users [default: 100000]",
        |draft, text| put(&mut draft.settings.iam.quota.users, quota(text)),
    ),
    Setting::new(
        "quota_organizations",
        "NUMBER",
        "The most organizations of a tenant, including deleted organizations [default: 10000]",
        |draft, text| put(&mut draft.settings.iam.quota.organizations, quota(text)),
    ),
    Setting::new(
        "quota_roles",
        "NUMBER",
        "The most roles of a tenant, including built-in roles [default: 1000]",
        |draft, text| put(&mut draft.settings.iam.quota.roles, quota(text)),
    ),
    Setting::new(
        "quota_assignments",
        "NUMBER",
        "The most role assignments of a tenant [default: 500000]",
        |draft, text| put(&mut draft.settings.iam.quota.assignments, quota(text)),
    ),
    Setting::new(
        "quota_user_assignments",
        "NUMBER",
        "The most role assignments of one user that have not expired [default: 1000]",
        |draft, text| put(&mut draft.settings.iam.quota.user_assignments, quota(text)),
    ),
    Setting::new(
        "quota_permissions",
        "NUMBER",
        "The most permissions of a tenant, including built-in permissions [default: 1000]",
        |draft, text| put(&mut draft.settings.iam.quota.permissions, quota(text)),
    ),
    Setting::new(
        "quota_invitations",
        "NUMBER",
        "The most pending invitations of a tenant [default: 1000]",
        |draft, text| put(&mut draft.settings.iam.quota.invitations, quota(text)),
    ),
    Setting::new(
        "quota_hourly_messages",
        "NUMBER",
        "The most messages that are sent for a tenant in an hour; more wait [default: 500]",
        |draft, text| put(&mut draft.settings.iam.quota.hourly_messages, quota(text)),
    ),
    Setting::new(
        "docs",
        "WORD",
        "Whether to serve Swagger UI and the book at /docs, and the OpenAPI document at /openapi.json: on or off [default: on]",
        |draft, text| put(&mut draft.settings.http.shows_docs, on_or_off(text)),
    ),
    Setting::new(
        "console",
        "WORD",
        "Whether to serve the console for administrators at /console, to which / leads: on or off [default: on]",
        |draft, text| put(&mut draft.settings.shows_console, on_or_off(text)),
    ),
    Setting::new(
        "brand_name",
        "TEXT",
        "The name of the installation on its pages and in messages, at most 40 characters [default: none]",
        |draft, text| put_brand(draft, |brand| brand.with_name(text)),
    ),
    Setting::new(
        "brand_logo",
        "FILE",
        "A picture on the pages, SVG or PNG of at most 32 KiB [default: none]",
        |draft, text| {
            let file = picture(text)?;
            put_brand(draft, |brand| brand.with_logo(file))
        },
    ),
    Setting::new(
        "brand_accent",
        "COLOUR",
        "The colour of links and buttons, such as #7c3aed; white text on it must be readable [default: none]",
        |draft, text| put_brand(draft, |brand| brand.with_accent(text)),
    ),
    Setting::new("issuer", "TEXT", "The `iss` claim of access tokens [default: iam]", |draft, text| {
        put(&mut draft.settings.iam.issuer, not_empty(text))
    }),
    Setting::new("audience", "TEXT", "The `aud` claim of access tokens [default: iam]", |draft, text| {
        put(&mut draft.settings.iam.audience, not_empty(text))
    }),
    Setting::new(
        "session_idle",
        "DURATION",
        "A session ends when it is not refreshed for this long, such as 12h [default: 7d]",
        |draft, text| put(&mut draft.settings.iam.session_idle, duration(text)),
    ),
    Setting::new(
        "session_absolute",
        "DURATION",
        "A session ends this long after its login, such as 12h [default: 30d]",
        |draft, text| put(&mut draft.settings.iam.session_absolute, duration(text)),
    ),
    Setting::new(
        "problem_type_base",
        "URI",
        "The start of the type of every problem document [default: `https://iam.invalid/problems`]",
        |draft, text| put(&mut draft.settings.http.problem_type_base, not_empty(text)),
    ),
    Setting::new(
        "refuse_common_passwords",
        "WORD",
        "Whether the password policy `seed` refuses common and breached passwords, as the other policies do: on or off \
         [default: off]",
        |draft, text| put(&mut draft.settings.iam.refuse_common_passwords, on_or_off(text)),
    ),
    Setting::new(
        "breached_passwords",
        "FILE",
        "A file of SHA-1 hashes of breached passwords, as Have I Been Pwned publishes it [default: none]",
        |draft, text| put(&mut draft.settings.iam.breached_passwords, Ok(Some(text.into()))),
    ),
    Setting::new(
        "smtp_url",
        "URL",
        "The mail server that sends messages: smtps://user:password@host:465, or smtp://user:password@host:587 with \
         STARTTLS [default: none, mail is off]",
        |draft, text| put(&mut draft.smtp_url, mail_server(text).map(Some)),
    )
    .secret(),
    Setting::new(
        "mail_from",
        "SENDER",
        "The sender of messages, such as `Acme <no-reply@acme.example>`; needed with smtp-url [default: none]",
        |draft, text| put(&mut draft.mail_from, sender(text).map(Some)),
    ),
    Setting::new(
        "mail_dir",
        "DIRECTORY",
        "Writes messages into this directory, to try them out, instead of sending them [default: none]",
        |draft, text| put(&mut draft.mail_dir, Ok(Some(text.into()))),
    ),
    Setting::new(
        "mail_templates",
        "DIRECTORY",
        "A directory with templates that replace those of the server [default: none]",
        |draft, text| put(&mut draft.mail_templates, Ok(Some(text.into()))),
    ),
    Setting::new(
        "public_url",
        "URL",
        "The URL under which users reach this server, such as `https://iam.example.com`: links in messages lead there, and \
         passkeys are bound to its host [default: the address on which it listens]",
        |draft, text| put(&mut draft.settings.public_url, public_url(text).map(Some)),
    ),
    Setting::new(
        "webauthn_origins",
        "ORIGINS",
        "The origins whose pages use passkeys, separated by commas: the host of `public_url` and subdomains of it \
         [default: that of `public_url`]",
        |draft, text| put(&mut draft.settings.webauthn_origins, Ok(Some(list(text)))),
    ),
    Setting::new(
        "link_verify",
        "URL",
        "A page of your own that verifies an e-mail address, with `{token}` where the token stands [default: a page of \
         the server]",
        |draft, text| put(&mut draft.link_verify, page(text).map(Some)),
    ),
    Setting::new(
        "link_reset",
        "URL",
        "A page of your own that asks for a new password, with `{token}` where the token stands [default: a page of the \
         server]",
        |draft, text| put(&mut draft.link_reset, page(text).map(Some)),
    ),
    Setting::new(
        "link_invitation",
        "URL",
        "A page of your own that accepts an invitation, with `{token}` where the token stands [default: a page of the \
         server]",
        |draft, text| put(&mut draft.link_invitation, page(text).map(Some)),
    ),
    Setting::new(
        "link_login",
        "URL",
        "A page of your own that logs in by e-mail, with `{token}` where the token stands [default: a page of the \
         server]",
        |draft, text| put(&mut draft.link_login, page(text).map(Some)),
    ),
    Setting::new(
        "webhooks_allow_private",
        "WORD",
        "Whether webhooks may reach private addresses, and use http, to try them out: on or off [default: off]",
        |draft, text| put(&mut draft.settings.webhooks_allow_private, on_or_off(text)),
    ),
    Setting::new(
        "federation_redirects",
        "LIST",
        "The addresses of clients to which a login by an identity provider may end, to the letter, separated by commas; \
         one of a loopback address without a port is allowed with any port [default: none]",
        |draft, text| put(&mut draft.settings.iam.federation_redirects, Ok(list(text))),
    ),
    Setting::new(
        "federation_allow_private",
        "WORD",
        "Whether identity providers may have private addresses, and use http, to try them out: on or off [default: off]",
        |draft, text| put(&mut draft.settings.federation_allow_private, on_or_off(text)),
    ),
    Setting::new(
        "dns_servers",
        "LIST",
        "The name servers that look up the records of domains, such as 192.0.2.53 or [2001:db8::53]:5353, separated by \
         commas [default: those of the system]",
        |draft, text| put(&mut draft.settings.dns_servers, name_servers(text)),
    ),
    Setting::new(
        "deletions_file",
        "FILE",
        "A file to which a line is added for each tenant that is deleted; keep it in another place than the database \
         [default: none]",
        |draft, text| put(&mut draft.settings.deletions_file, Ok(Some(text.into()))),
    ),
    Setting::new("log", "FILTER", "Which events are logged, as a tracing filter [default: info]", |draft, text| {
        put(&mut draft.settings.log, log_filter(text))
    }),
    Setting::new("log_format", "WORD", "The format of the log: text or json [default: text]", |draft, text| {
        put(&mut draft.settings.log_format, log_format(text))
    }),
    Setting::new(
        "otlp_endpoint",
        "URL",
        "Where to export traces: the base URL of a collector that speaks OTLP over HTTP, such as \
         `http://localhost:4318` [default: none]",
        |draft, text| put(&mut draft.settings.otlp_endpoint, collector(text).map(Some)),
    ),
    Setting::new(
        "trace_sampling",
        "SHARE",
        "The share of the traces that is recorded, from 0 to 1 [default: 1]",
        |draft, text| put(&mut draft.settings.trace_sampling, share(text)),
    ),
];
