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
    pub(crate) fn read(headers: &HeaderMap, kind: CookieKind) -> Option<Self> {
        let name = kind.name();
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut cookies = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let (_, value) = cookies.find(|(found, _)| *found == name)?;
        let mut parts = value.split(SEPARATOR);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(seed), Some(access), Some(refresh), None) if ![seed, access, refresh].contains(&"") => {
                Some(Self { seed: seed.to_owned(), access: access.into(), refresh: refresh.into() })
            }
            _ => None,
        }
    }

    /// Returns the header that gives the cookie to the browser. The browser forgets it when it is closed.
    pub(crate) fn header(&self, kind: CookieKind) -> Option<HeaderValue> {
        let (seed, access, refresh) = (&self.seed, self.access.expose(), self.refresh.expose());
        kind.set(&format!("{seed}{SEPARATOR}{access}{SEPARATOR}{refresh}"), "")
    }

    /// Returns a token for forms. Each one is masked with other random bytes: pages are compressed, and the length of a
    /// compressed page must not reveal what all of them contain (BREACH).
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

impl CookieKind {
    /// Returns the header with which the browser forgets the cookie.
    pub(crate) fn forgotten(self) -> Option<HeaderValue> {
        self.set("", "; Max-Age=0")
    }

    fn set(self, value: &str, more: &str) -> Option<HeaderValue> {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let text = format!("{}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{more}", self.name());
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
}
