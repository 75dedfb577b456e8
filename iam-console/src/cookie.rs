//! The cookie of a session: the tokens of the session, and the token that proves that a form is of this console.

use aws_lc_rs::digest::{SHA256, digest};
use axum::http::{HeaderMap, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use iam_core::random::{Random, SystemRandom};
use iam_core::secret::{AccessToken, RefreshToken};
use iam_core::session::Tokens;
use subtle::ConstantTimeEq as _;

/// Separates the parts of the value. No part contains this character.
const SEPARATOR: char = '~';

/// What the browser keeps of a session.
#[derive(Clone, Debug)]
pub(crate) struct SessionCookie {
    /// Random, and the same for the whole session: an open page stays valid when the tokens are renewed.
    seed: String,
    pub(crate) access: AccessToken,
    pub(crate) refresh: RefreshToken,
}

impl SessionCookie {
    /// Returns the cookie of a new session.
    pub(crate) fn begin(tokens: Tokens) -> Self {
        let random: &dyn Random = &SystemRandom;
        let seed = URL_SAFE_NO_PAD.encode(random.bytes::<32>());
        Self { seed, access: tokens.access, refresh: tokens.refresh }
    }

    /// Returns the cookie of the same session with its next tokens.
    pub(crate) fn renewed(self, tokens: Tokens) -> Self {
        Self { access: tokens.access, refresh: tokens.refresh, ..self }
    }

    /// Reads the cookie of a request.
    pub(crate) fn read(headers: &HeaderMap, is_secure: bool) -> Option<Self> {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut cookies = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let (_, value) = cookies.find(|(found, _)| *found == name(is_secure))?;
        let mut parts = value.split(SEPARATOR);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(seed), Some(access), Some(refresh), None) if ![seed, access, refresh].contains(&"") => {
                Some(Self { seed: seed.to_owned(), access: access.into(), refresh: refresh.into() })
            }
            _ => None,
        }
    }

    /// Returns the header that gives the cookie to the browser. The browser forgets it when it is closed.
    pub(crate) fn header(&self, is_secure: bool) -> Option<HeaderValue> {
        let (seed, access, refresh) = (&self.seed, self.access.expose(), self.refresh.expose());
        set_cookie(&format!("{seed}{SEPARATOR}{access}{SEPARATOR}{refresh}"), is_secure, "")
    }

    /// Returns the token of forms. It is a hash, because a page must not show the value of a cookie that scripts
    /// cannot read.
    pub(crate) fn form_token(&self) -> String {
        URL_SAFE_NO_PAD.encode(digest(&SHA256, format!("form{SEPARATOR}{}", self.seed).as_bytes()))
    }

    /// Whether a form has the token of this session.
    pub(crate) fn admits(&self, form_token: &str) -> bool {
        self.form_token().as_bytes().ct_eq(form_token.as_bytes()).into()
    }
}

/// Returns the header with which the browser forgets the cookie.
pub(crate) fn forgotten(is_secure: bool) -> Option<HeaderValue> {
    set_cookie("", is_secure, "; Max-Age=0")
}

fn set_cookie(value: &str, is_secure: bool, more: &str) -> Option<HeaderValue> {
    let (name, secure) = (name(is_secure), if is_secure { "; Secure" } else { "" });
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{more}");
    let mut header = HeaderValue::from_str(&text).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// A browser accepts the prefix only with `Secure`. It then refuses a cookie that another host of the domain sets.
fn name(is_secure: bool) -> &'static str {
    if is_secure { "__Host-iam-console" } else { "iam-console" }
}
