//! Logins by foreign OpenID Connect providers: each is a program of its own, and a browser without scripts goes between it
//! and the server.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use iam_core::federation::code_challenge;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Answer, Client, text};
use crate::process::{Process, Server, TIMEOUT, clean_command, free_address, wait_for};
use crate::settings::role;
use crate::store::Store;

pub(crate) const DONE: &str = "http://127.0.0.1/done";
/// Where the console expects people back, on any port.
const CONSOLE: &str = "http://127.0.0.1/console/sign-in/provider";
pub(crate) const ADMINISTRATOR: &str = "ada@acme.example";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/// A foreign provider. It is killed when this is dropped.
pub(crate) struct Provider {
    _process: Process,
    issuer: String,
}

impl Provider {
    /// The certified provider for Node.js. It requires PKCE, and names itself in its responses (RFC 9207).
    pub(crate) fn oidc_provider(address: SocketAddr, callback: &str, backchannel: &str) -> Self {
        let mut command = clean_command(Path::new("node"));
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/oidc_provider.mjs"));
        command.args([&address.to_string(), callback, backchannel]);
        command.env("IAM_TEST_OIDC_PROVIDER", variable("IAM_TEST_OIDC_PROVIDER"));
        let process = Process::start(command);
        process.log().wait_for_line("listening");
        Self { _process: process, issuer: format!("http://{address}") }
    }

    /// A provider for Python. It requires no PKCE, and does not name itself in its responses.
    fn nanoidp(address: SocketAddr, callback: &str, directory: &Path) -> Self {
        let issuer = format!("http://{address}");
        let client = json!({ "client_id": "iam", "client_secret": "secret-of-iam", "redirect_uris": [callback] });
        let oauth = json!({ "issuer": issuer, "clients": [client] });
        let grace = json!({ "password": "secret", "email": "grace@example.com", "email_verified": true });
        let users = json!({ "config_version": 1, "users": { "grace": grace } });
        // JSON is YAML, too.
        let settings = json!({ "config_version": 1, "oauth": oauth });
        fs::write(directory.join("settings.yaml"), settings.to_string()).unwrap();
        fs::write(directory.join("users.yaml"), users.to_string()).unwrap();
        let mut command = clean_command(Path::new(&variable("IAM_TEST_NANOIDP")));
        command.arg("--config").arg(directory);
        // It writes its keys where it runs.
        command.current_dir(directory);
        command.args(["--host", &address.ip().to_string(), "--port", &address.port().to_string()]);
        let process = Process::start(command);
        wait_for("the provider", TIMEOUT, || Client::of(address).try_get("/.well-known/openid-configuration").ok());
        Self { _process: process, issuer }
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run scripts/test"))
}

/// A browser without scripts: a program that keeps cookies.
pub(crate) struct Web {
    files: TempDir,
    /// The address that it does not open.
    end: String,
}

/// A page, or where it leads.
pub(crate) struct Page {
    url: String,
    pub(crate) redirect: String,
    pub(crate) body: String,
}

impl Web {
    /// A browser that goes to the client.
    pub(crate) fn new() -> Self {
        Self::ending_at(DONE)
    }

    /// A browser that goes up to this address.
    pub(crate) fn ending_at(end: &str) -> Self {
        Self { files: TempDir::new().unwrap(), end: end.to_owned() }
    }

    pub(crate) fn request(&self, url: &str, form: &[(&str, &str)]) -> Page {
        let path = |name: &str| -> PathBuf { self.files.path().join(name) };
        let mut command = clean_command(Path::new("curl"));
        command.args(["--silent", "--show-error", "--max-time", "20"]);
        command.args([Path::new("--cookie"), &path("cookies"), Path::new("--cookie-jar"), &path("cookies")]);
        command.args([Path::new("--output"), &path("body")]);
        for (name, value) in form {
            command.args(["--data-urlencode", &format!("{name}={value}")]);
        }
        let output = command.args(["--write-out", "%{redirect_url}", url]).output().unwrap();
        assert!(output.status.success(), "{url}: {}", String::from_utf8_lossy(&output.stderr));
        Page {
            url: url.to_owned(),
            redirect: String::from_utf8(output.stdout).unwrap(),
            body: fs::read_to_string(path("body")).unwrap_or_default(),
        }
    }

    /// Follows redirects from a page to the next one that is shown, or to the end.
    fn follow(&self, mut page: Page) -> Page {
        for _ in 0..10 {
            if page.redirect.is_empty() || page.redirect.starts_with(&self.end) {
                return page;
            }
            page = self.request(&page.redirect, &[]);
        }
        panic!("{} leads nowhere", page.url);
    }

    pub(crate) fn open(&self, url: &str) -> Page {
        self.follow(self.request(url, &[]))
    }

    /// Sends the form of a page: its hidden fields, and these.
    pub(crate) fn send(&self, page: &Page, fields: &[(&str, &str)]) -> Page {
        let hidden = hidden_fields(&page.body);
        let hidden = hidden.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let fields: Vec<_> = hidden.chain(fields.iter().copied()).collect();
        let action = attribute(&page.body, "action").unwrap_or_else(|| page.url.clone());
        self.follow(self.request(&action, &fields))
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!("{name}=\""))?;
    Some(rest.split_once('"')?.0.replace("&amp;", "&"))
}

fn hidden_fields(page: &str) -> Vec<(String, String)> {
    let inputs = page.split("<input").skip(1).filter_map(|rest| rest.split_once('>')).map(|(tag, _)| tag);
    let hidden = inputs.filter(|tag| tag.contains("type=\"hidden\""));
    hidden.filter_map(|tag| Some((attribute(tag, "name")?, attribute(tag, "value")?))).collect()
}

/// A tenant whose provider makes users.
pub(crate) struct Fixture {
    pub(crate) server: Server,
    pub(crate) ada: Client,
    pub(crate) provider: Value,
    store: Store,
    /// Where people reach the servers. `None` if that is the address of each.
    public: Option<String>,
}

fn serve(store: &Store, public: Option<&str>) -> Server {
    let server = store.iam_server().env("IAM_FEDERATION_ALLOW_PRIVATE", "on");
    let server = server.env("IAM_FEDERATION_REDIRECTS", format!("{DONE},{CONSOLE}"));
    match public {
        Some(public) => server.env("IAM_PUBLIC_URL", public).serve(),
        None => server.serve(),
    }
}

impl Fixture {
    /// `start` runs the provider, which must know where it sends people back.
    pub(crate) fn new(start: impl Fn(&str, &str) -> Provider) -> (Self, Provider) {
        Self::on(Store::sqlite(), None, start)
    }

    /// On this database, with servers that people reach at this address.
    pub(crate) fn on(store: Store, public: Option<&str>, start: impl Fn(&str, &str) -> Provider) -> (Self, Provider) {
        let server = serve(&store, public);
        let session = server.client().register(ADMINISTRATOR);
        let ada = server.client().with_token(&session.access);
        // To read its document, the provider runs before it knows the client.
        let stranger = start("http://127.0.0.1:9/", "http://127.0.0.1:9/");
        let new = json!({
            "name": "Acme", "issuer": stranger.issuer, "clientId": "iam", "clientSecret": "secret-of-iam",
            "provisioning": "CREATE",
        });
        let provider = ada.post("/api/v1/identity-providers", &new).expect(201);
        drop(stranger);
        let callback = text(&provider["callbackUrl"]);
        let known = start(&callback, &callback.replace("/callback/", "/backchannel-logout/"));
        (Self { server, ada, provider, store, public: public.map(str::to_owned) }, known)
    }

    /// Starts another server on the same database.
    pub(crate) fn replica(&self) -> Server {
        serve(&self.store, self.public.as_deref())
    }

    /// Kills the server, and starts another one on the same database.
    pub(crate) fn after_kill(self) -> Self {
        self.server.kill();
        let server = serve(&self.store, self.public.as_deref());
        let ada = self.ada.at(server.address);
        Self { server, ada, ..self }
    }

    /// Verifies a domain as an operator does, and lets the provider speak for it. The users that it makes are members.
    pub(crate) fn speak_for(&self, domain: &str) {
        let tenant = text(&self.ada.get("/api/v1/auth/me").expect(200)["tenant"]["id"]);
        let verify = ["domain", "verify", "--tenant", &tenant, "--domain", domain];
        let verified = self.store.iam_server().args(verify).run();
        assert_eq!(verified.code, Some(0), "{verified:?}");
        let domains = self.ada.get("/api/v1/domains").expect(200);
        let member = json!({ "roleId": role(&self.ada, "MEMBER") });
        let change = json!({ "domainIds": [domains["data"][0]["id"]], "roles": [member] });
        let path = format!("/api/v1/identity-providers/{}", text(&self.provider["id"]));
        self.ada.try_patch(&path, &change).unwrap().expect(200);
    }

    pub(crate) fn start(&self, client: &Client, members: &Value) -> String {
        let challenge = code_challenge(VERIFIER);
        let mut start = json!({ "providerId": self.provider["id"], "redirectUri": DONE, "codeChallenge": challenge });
        start.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        text(&client.post("/api/v1/auth/federation/start", &start).expect(200)["authorizationUrl"])
    }

    pub(crate) fn finish(&self, client: &Client, page: &Page) -> Answer {
        let code = page.redirect.strip_prefix(&format!("{DONE}?code="));
        let code = code.unwrap_or_else(|| panic!("{} leads to '{}': {}", page.url, page.redirect, page.body));
        client.post("/api/v1/auth/federation/finish", &json!({ "code": code, "codeVerifier": VERIFIER }))
    }

    fn log_in(&self, web: &Web, fields: &[(&str, &str)]) -> Value {
        let page = web.open(&self.start(&self.server.client(), &json!({})));
        let page = if page.redirect.is_empty() { web.send(&page, fields) } else { page };
        self.finish(&self.server.client(), &page).expect(200)
    }
}

#[test]
fn people_log_in_by_a_certified_provider() {
    let address = free_address();
    let (fixture, provider) =
        Fixture::new(|callback, backchannel| Provider::oidc_provider(address, callback, backchannel));
    let (web, fields) = (Web::new(), [("login", "grace"), ("password", "x")]);
    let first = fixture.log_in(&web, &fields);
    assert_eq!((&first["user"]["email"], &first["user"]["firstName"]), (&json!("grace@example.com"), &json!("grace")));
    // The provider knows the browser, and asks nothing.
    let second = fixture.log_in(&web, &[]);
    assert_eq!(second["user"]["id"], first["user"]["id"]);

    let client = fixture.server.client().with_token(&text(&second["accessToken"]));
    let page = web.open(&fixture.start(&client, &json!({ "stepUp": true })));
    assert!(page.redirect.is_empty(), "the provider asks the person again");
    fixture.finish(&client, &web.send(&page, &fields)).expect(204);

    // Both sessions began by one session at the provider, which ends them together.
    let page = web.open(&format!("{}/session/end", provider.issuer));
    web.send(&page, &[("logout", "yes")]);
    for login in [&first, &second] {
        let client = fixture.server.client().with_token(&text(&login["accessToken"]));
        wait_for("the end of the session", TIMEOUT, || (client.get("/api/v1/auth/me").status == 401).then_some(()));
    }
    let ended = fixture.ada.audit_entries("&action=LOGOUT");
    assert!(
        ended.iter().all(|entry| entry["metadata"]["reason"] == "PROVIDER_LOGOUT") && ended.len() == 2,
        "{ended:?}"
    );
}

#[test]
fn people_log_in_by_a_provider_of_another_kind() {
    let (address, directory) = (free_address(), TempDir::new().unwrap());
    let (fixture, _provider) = Fixture::new(|callback, _| Provider::nanoidp(address, callback, directory.path()));
    let fields = [("username", "grace"), ("password", "secret")];
    let first = fixture.log_in(&Web::new(), &fields);
    assert_eq!(first["user"]["email"], "grace@example.com");
    assert_eq!(fixture.log_in(&Web::new(), &fields)["user"]["id"], first["user"]["id"]);
}
