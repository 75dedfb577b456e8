//! The cookie of a session: the tokens of the session, and the token that proves that a form is of this console.

use aws_lc_rs::digest::{SHA256, digest};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use iam_core::random::{Random, SystemRandom};
use iam_core::secret::{AccessToken, RefreshToken};
use iam_core::session::Tokens;
use subtle::ConstantTimeEq as _;

/// Separates the parts of the value. No part contains this character.
const SEPARATOR: char = '~';

/// The length of a hash, in bytes.
const HASH: usize = 32;

/// How a browser keeps the cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CookieKind {
    /// Whether only HTTPS sends it.
    pub(crate) is_secure: bool,
    /// The port of the console, unless it is the usual one. A cookie is for all ports of a host.
    pub(crate) port: Option<u16>,
}

/// The parts of a session that the browser keeps.
#[derive(Clone, Debug)]
pub(crate) struct SessionCookie {
    /// Random, and the same for the whole session: an open page stays valid when the tokens are renewed.
    seed: String,
    pub(crate) access: AccessToken,
    pub(crate) refresh: RefreshToken,
    /// The access token of a session in which the person acts as another user.
    acting: Option<AccessToken>,
}

impl SessionCookie {
    /// Returns the cookie of a new session.
    pub(crate) fn begin(tokens: Tokens) -> Self {
        Self { seed: random_text(), access: tokens.access, refresh: tokens.refresh, acting: None }
    }

    /// Returns the cookie of the same session with its next tokens.
    pub(crate) fn renewed(self, tokens: Tokens) -> Self {
        Self { access: tokens.access, refresh: tokens.refresh, ..self }
    }

    /// Returns the cookie of the same session, in which the person acts as another user by this token, or as itself
    /// again. The forms of open pages are not those of the other user: so the seed is a new one.
    pub(crate) fn acting_by(self, acting: Option<AccessToken>) -> Self {
        Self { seed: random_text(), acting, ..self }
    }

    /// The token by which the person acts as another user.
    pub(crate) fn acting(&self) -> Option<&AccessToken> {
        self.acting.as_ref()
    }

    /// The token that authenticates requests.
    pub(crate) fn bearer(&self) -> &AccessToken {
        self.acting().unwrap_or(&self.access)
    }

    /// Reads the cookie of a request.
    pub(crate) fn read(headers: &HeaderMap, kind: CookieKind) -> Option<Self> {
        let mut parts = value_of(headers, &kind.name())?.split(SEPARATOR);
        let (seed, access, refresh) = (parts.next()?, parts.next()?, parts.next()?);
        if [seed, access, refresh].contains(&"") || parts.next().is_some() {
            return None;
        }
        // One that is left from earlier has another seed.
        let acting = value_of(headers, &kind.acting_name())
            .and_then(|value| value.strip_prefix(seed)?.strip_prefix(SEPARATOR))
            .filter(|token| !token.is_empty())
            .map(AccessToken::from);
        Some(Self { seed: seed.to_owned(), access: access.into(), refresh: refresh.into(), acting })
    }

    /// Returns the headers that give the cookie to the browser. The browser forgets it when it is closed.
    ///
    /// The token by which the person acts as another user is in a cookie of its own: a browser keeps none of more than
    /// 4096 bytes, and tokens with attributes can be half as large.
    pub(crate) fn headers(&self, kind: CookieKind) -> Vec<HeaderValue> {
        let (seed, access, refresh) = (&self.seed, self.access.expose(), self.refresh.expose());
        let own = kind.set(&kind.name(), &format!("{seed}{SEPARATOR}{access}{SEPARATOR}{refresh}"), "");
        let acting = self
            .acting()
            .and_then(|acting| kind.set(&kind.acting_name(), &format!("{seed}{SEPARATOR}{}", acting.expose()), ""));
        own.into_iter().chain(acting).collect()
    }

    /// Returns a token for forms. Each one is masked with other random bytes: pages are compressed, and the length of a
    /// compressed page must not reveal the common content of all of them (BREACH).
    pub(crate) fn form_token(&self) -> String {
        let random: &dyn Random = &SystemRandom;
        let mask = random.bytes::<HASH>();
        let masked = self.form_hash().into_iter().zip(mask).map(|(byte, mask)| byte ^ mask);
        URL_SAFE_NO_PAD.encode(mask.into_iter().chain(masked).collect::<Vec<u8>>())
    }

    /// Whether a form has a token of this session.
    pub(crate) fn admits(&self, form_token: &str) -> bool {
        let bytes = URL_SAFE_NO_PAD.decode(form_token).unwrap_or_default();
        let Some((mask, masked)) = bytes.split_first_chunk::<HASH>() else { return false };
        let found: Vec<u8> = masked.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect();
        masked.len() == HASH && found.ct_eq(&self.form_hash()).into()
    }

    /// A hash, because a page must not show the value of a cookie that scripts cannot read.
    fn form_hash(&self) -> Vec<u8> {
        digest(&SHA256, format!("form{SEPARATOR}{}", self.seed).as_bytes()).as_ref().to_vec()
    }
}

/// Returns a text of 43 characters that cannot be guessed.
pub(crate) fn random_text() -> String {
    let random: &dyn Random = &SystemRandom;
    URL_SAFE_NO_PAD.encode(random.bytes::<32>())
}

impl CookieKind {
    /// Returns the header with which the browser forgets the cookie.
    pub(crate) fn forgotten(self) -> Option<HeaderValue> {
        self.set(&self.name(), "", "; Max-Age=0")
    }

    /// Whether a response gives the browser a session, or takes it away.
    pub(crate) fn is_set(self, headers: &HeaderMap) -> bool {
        let start = format!("{}=", self.name());
        headers.get_all(header::SET_COOKIE).iter().any(|value| value.as_bytes().starts_with(start.as_bytes()))
    }

    /// Returns the header with which the browser keeps the density of pages for a year, beyond a session.
    pub(crate) fn density_kept(self, density: &str) -> Option<HeaderValue> {
        self.set(&self.density_name(), density, "; Max-Age=31536000")
    }

    /// Reads the density of pages from a request.
    pub(crate) fn density(self, headers: &HeaderMap) -> Option<&str> {
        value_of(headers, &self.density_name())
    }

    /// Returns the header with which the browser keeps the theme of pages for a year, beyond a session.
    pub(crate) fn theme_kept(self, theme: &str) -> Option<HeaderValue> {
        self.set(&self.theme_name(), theme, "; Max-Age=31536000")
    }

    /// Reads the theme of pages from a request.
    pub(crate) fn theme(self, headers: &HeaderMap) -> Option<&str> {
        value_of(headers, &self.theme_name())
    }

    /// Returns the header with which the browser keeps the language of pages for a year, beyond a session.
    pub(crate) fn language_kept(self, tag: &str) -> Option<HeaderValue> {
        self.set(&self.language_name(), tag, "; Max-Age=31536000")
    }

    /// Reads the language of pages from a request.
    pub(crate) fn language(self, headers: &HeaderMap) -> Option<&str> {
        value_of(headers, &self.language_name())
    }

    fn language_name(self) -> String {
        format!("{}-language", self.name())
    }

    fn theme_name(self) -> String {
        format!("{}-theme", self.name())
    }

    fn density_name(self) -> String {
        format!("{}-density", self.name())
    }

    fn set(self, name: &str, value: &str, more: &str) -> Option<HeaderValue> {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{more}");
        let mut header = HeaderValue::from_str(&text).ok()?;
        header.set_sensitive(true);
        Some(header)
    }

    /// A browser accepts the prefix `__Host-` only with `Secure`. It then refuses a cookie that another host of the domain
    /// sets.
    fn name(self) -> String {
        let prefix = if self.is_secure { "__Host-" } else { "" };
        let port = self.port.map_or_else(String::new, |port| format!("-{port}"));
        format!("{prefix}iam-console{port}")
    }

    /// The name of the cookie with the token by which a person acts as another user.
    fn acting_name(self) -> String {
        format!("{}-acting", self.name())
    }
}

/// Adds the headers of cookies to a response.
pub(crate) fn with_cookie(cookies: impl IntoIterator<Item = HeaderValue>, response: impl IntoResponse) -> Response {
    let headers = cookies.into_iter().map(|cookie| (header::SET_COOKIE, cookie));
    (AppendHeaders(headers), response).into_response()
}

/// A value that the browser keeps for a short time, in a cookie as safe as that of a session: no address contains it,
/// and no reload of a page sends a form again.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TemporaryCookie {
    /// The challenge of a sign-in that waits for its second factor, and the methods that answer it.
    SecondFactor,
    /// The flow of a sign-in by e-mail that waits for its code.
    EmailLogin,
    /// What a person wants at an identity provider, the secret that proves that this browser has begun it, and what
    /// follows.
    Provider,
    /// The URI of an authenticator app that is not confirmed, and the id of the factor.
    Authenticator,
    /// New recovery codes, until their page is open.
    RecoveryCodes,
    /// A new API key, until its page is open.
    ApiKey,
    /// The new secret of a webhook, until its page is open.
    WebhookSecret,
}

impl TemporaryCookie {
    fn name(self, kind: CookieKind) -> String {
        let purpose = match self {
            Self::SecondFactor => "second-factor",
            Self::EmailLogin => "email-login",
            Self::Provider => "provider",
            Self::Authenticator => "authenticator",
            Self::RecoveryCodes => "recovery-codes",
            Self::ApiKey => "api-key",
            Self::WebhookSecret => "webhook-secret",
        };
        format!("{}-{purpose}", kind.name())
    }

    fn seconds(self) -> u32 {
        match self {
            Self::SecondFactor => 300,
            // The message may be sent late. The service knows how long its code works.
            Self::EmailLogin => 3_600,
            // Ten minutes at the provider, and one for the way back.
            Self::Provider => 660,
            Self::Authenticator => 600,
            Self::RecoveryCodes | Self::ApiKey | Self::WebhookSecret => 60,
        }
    }

    /// Whether the texts are always for one session: a page must not show the texts of another person. Of those for a
    /// provider, only a form that waits for a step-up is. The service knows the session that has begun a link.
    fn is_of_session(self) -> bool {
        !matches!(self, Self::SecondFactor | Self::EmailLogin | Self::Provider)
    }

    /// Returns the header that gives the browser these texts. The form token is that of the session that may read them,
    /// or empty.
    pub(crate) fn keep(self, form_token: &str, texts: &[&str], kind: CookieKind) -> Option<HeaderValue> {
        let texts = texts.iter().map(|text| URL_SAFE_NO_PAD.encode(text));
        let value = texts.fold(form_token.to_owned(), |value, text| format!("{value}{SEPARATOR}{text}"));
        kind.set(&self.name(kind), &value, &format!("; Max-Age={}", self.seconds()))
    }

    /// Reads the texts that a request has, if they are for its session.
    pub(crate) fn read(self, parts: &Parts, kind: CookieKind) -> Option<Vec<String>> {
        let (form_token, texts) = value_of(&parts.headers, &self.name(kind))?.split_once(SEPARATOR)?;
        let needs_session = self.is_of_session() || !form_token.is_empty();
        if needs_session && !parts.extensions.get::<SessionCookie>()?.admits(form_token) {
            return None;
        }
        let texts = texts.split(SEPARATOR).map(|text| String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok());
        texts.collect()
    }

    /// Returns the header with which the browser forgets the texts.
    pub(crate) fn forgotten(self, kind: CookieKind) -> Option<HeaderValue> {
        kind.set(&self.name(kind), "", "; Max-Age=0")
    }
}

/// Returns the value of a cookie of a request.
fn value_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    cookies.find(|(found, _)| *found == name).map(|(_, value)| value)
}
