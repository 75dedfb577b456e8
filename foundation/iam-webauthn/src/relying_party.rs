//! The relying party: the service to which users authenticate.

/// The relying party, with the origins of its pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelyingParty {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) origins: Vec<String>,
}

/// The reason why settings are not those of a relying party.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RelyingPartyError {
    /// Browsers do not accept the origin, or write it in another way.
    #[error("the origin {0:?} must be https://HOST[:PORT] or http://localhost[:PORT], as a browser writes it")]
    Origin(String),
    /// Passkeys of this relying party cannot be used on the pages of the origin.
    #[error("the host of the origin {origin:?} must be the relying party's id {id:?} or a subdomain of it")]
    Scope {
        /// The origin.
        origin: String,
        /// The id of the relying party.
        id: String,
    },
    /// No page could use passkeys.
    #[error("a relying party needs an origin")]
    NoOrigin,
    /// Browsers show the name.
    #[error("a relying party needs a name")]
    NoName,
}

impl RelyingParty {
    /// Checks the settings.
    ///
    /// `id` is a domain (Level 3 §4, "RP ID"). It can never be changed, because passkeys are scoped to it. Each of
    /// `origins` must be the ASCII serialization of an origin whose host is `id` or a subdomain of it. A browser also
    /// refuses an `id` below which domains are registered publicly, for example `com`.
    ///
    /// # Errors
    ///
    /// [`RelyingPartyError`] when passkeys could not work.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        origins: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, RelyingPartyError> {
        let (id, name) = (id.into(), name.into());
        let origins: Vec<String> = origins.into_iter().map(Into::into).collect();
        for origin in &origins {
            let Some(host) = host(origin) else { return Err(RelyingPartyError::Origin(origin.clone())) };
            let is_in_scope = host.strip_suffix(id.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
            if !is_in_scope {
                return Err(RelyingPartyError::Scope { origin: origin.clone(), id });
            }
        }
        if origins.is_empty() {
            return Err(RelyingPartyError::NoOrigin);
        }
        if name.trim().is_empty() {
            return Err(RelyingPartyError::NoName);
        }
        Ok(Self { id, name, origins })
    }
}

/// Returns the host of an origin that browsers accept for passkeys: a secure context with a domain.
fn host(origin: &str) -> Option<&str> {
    let (scheme, authority) = origin.split_once("://")?;
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let default_port = match scheme {
        "https" if is_domain(host) => "443",
        "http" if host == "localhost" => "80",
        _ => return None,
    };
    port.is_none_or(|port| port != default_port && is_port(port)).then_some(host)
}

/// Whether the text is a domain in lower case. The last label of an address is a number, and that of a domain is not.
fn is_domain(host: &str) -> bool {
    let is_label = |label: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(is_allowed)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let ends_in_number = host.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    host.len() <= 253 && host.split('.').all(is_label) && !ends_in_number
}

/// Whether the text is a port number without leading zeros or a sign.
fn is_port(text: &str) -> bool {
    text.parse().is_ok_and(|port: u16| port != 0 && port.to_string() == text)
}
