//! Verifies access tokens by the public keys of the service, for programs that take them.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::value::Secret;

/// How long a token may be, in bytes. Those of the service have less than a thousand.
const LONGEST_TOKEN: usize = 8 * 1024;
/// How long the header of a token may be, in base64. Those of the service have about a hundred characters.
const LONGEST_HEADER: usize = 1024;
/// How the names begin that serde_json keeps for itself.
const PRIVATE_NAME: &[u8] = b"$serde_json";
/// How large the document with the keys may be, in bytes, and how many keys it may have.
const LARGEST_DOCUMENT: usize = 64 * 1024;
const MOST_KEYS: usize = 32;
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// An unknown key is asked for once in this time at most: tokens of strangers can name any.
const BETWEEN_FETCHES: Duration = Duration::from_secs(60);
/// The same before any keys are there.
const BETWEEN_FIRST_FETCHES: Duration = Duration::from_secs(1);
/// When keys are read again, because the operator may have revoked one.
const FRESH: Duration = Duration::from_secs(5 * 60);
/// How long keys are used while the service does not answer.
const USABLE: Duration = Duration::from_secs(60 * 60);
/// How far ahead the clock of the service may be. An expiry has no leeway.
const CLOCK_SKEW: TimeDelta = TimeDelta::seconds(60);

/// Of which tenants a service takes tokens. One installation signs the tokens of all its tenants with the same keys, so
/// a service that checks no tenant lets the users of every tenant in. A tenant is named by its id, never by its slug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tenants {
    /// Of this one.
    One(Uuid),
    /// Of these.
    Listed(Vec<Uuid>),
    /// Of every tenant. The service must separate them by [`VerifiedToken::tenant`] itself.
    Every,
}

impl Tenants {
    fn contain(&self, tenant: Uuid) -> bool {
        match self {
            Self::One(one) => *one == tenant,
            Self::Listed(listed) => listed.contains(&tenant),
            Self::Every => true,
        }
    }
}

/// What a token must say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The issuer (`iss`), by default of the service `iam`.
    pub issuer: String,
    /// The audience (`aud`), by default of the service `iam`.
    pub audience: String,
    /// The tenants (`tenantId`).
    pub tenants: Tenants,
}

/// What a valid access token says. Its session may have ended since: until the token expires, only the service knows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct VerifiedToken {
    /// The user (`sub`).
    pub user: Uuid,
    /// The tenant of the user.
    pub tenant: Uuid,
    /// The session.
    pub session: Uuid,
    /// The identifier of the token (`jti`).
    pub id: Uuid,
    /// How the session has authenticated (RFC 8176). `mfa` means two factors.
    pub amr: Vec<String>,
    /// When the session has authenticated last: in 1970 if another user acts, or after a login by e-mail.
    pub auth_time: DateTime<Utc>,
    /// When the token expires.
    pub expires_at: DateTime<Utc>,
    /// The user who acts as [`user`](Self::user), if another one does: decide what it may change.
    pub actor: Option<Uuid>,
    /// Whether nothing may be changed by the token.
    pub read_only: bool,
    /// The attributes of the user that its tenant puts into tokens, such as a cost centre. Read no rights from them.
    pub attributes: Map<String, Value>,
    /// Whether attributes are left out because not all fit.
    pub attributes_truncated: bool,
    /// The token itself, with which the service is asked.
    pub(crate) bearer: Secret,
}

impl VerifiedToken {
    /// Whether the session has authenticated within this time. A step-up is in the tokens of the next refresh only.
    pub fn has_authenticated_within(&self, age: Duration) -> bool {
        let age = TimeDelta::from_std(age).unwrap_or(TimeDelta::MAX);
        Utc::now().signed_duration_since(self.auth_time) <= age
    }

    /// Whether the session has authenticated by two factors. The service alone knows whether its tenant requires that.
    pub fn has_second_factor(&self) -> bool {
        self.amr.iter().any(|method| method == "mfa")
    }
}

/// Why a token is not accepted. Tell its sender no more than that: all but [`Keys`](Self::Keys) are a 401.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The token is malformed or forged, of another issuer or audience, not yet valid, or of an unknown key.
    #[error("the access token is invalid")]
    Invalid,
    /// The token was valid, but has expired.
    #[error("the access token has expired")]
    Expired,
    /// The token is valid, and of a tenant that is not expected.
    #[error("the access token is of another tenant")]
    Tenant,
    /// The keys of the service are out of reach, so that nothing can be said about the token: answer 503.
    #[error("the public keys are out of reach: {0}")]
    Keys(#[source] Error),
}

/// Verifies access tokens by the public keys of the service. Clones share the keys.
///
/// It accepts Ed25519 (`EdDSA`) only, and no algorithm that a token names beside it. It requires the issuer, the
/// audience, the tenant and the times. Keys are read again every five minutes, and for a token of an unknown key once a
/// minute at most. While the service does not answer, the keys stay in use for an hour. An event of `tracing` at the
/// level `DEBUG` says why a token is refused, without the token.
///
/// ```no_run
/// use iam_client::{Client, Expected, Tenants, TokenVerifier};
///
/// # async fn example(tenant: uuid::Uuid, token: &str) -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::builder("https://iam.example.com/api/v1").build()?;
/// let expected = Expected { issuer: "iam".into(), audience: "iam".into(), tenants: Tenants::One(tenant) };
/// let verifier = TokenVerifier::new(&client, expected);
/// let token = verifier.verify(token).await?;
/// println!("{} may change something: {}", token.user, !token.read_only);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct TokenVerifier(Arc<Verifier>);

struct Verifier {
    client: Client,
    expected: Expected,
    validation: Validation,
    keys: RwLock<Keys>,
    /// When the last fetch began.
    fetching: Mutex<Option<Instant>>,
    between_fetches: Duration,
}

#[derive(Default)]
struct Keys {
    by_id: HashMap<String, Arc<DecodingKey>>,
    fetched_at: Option<Instant>,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<PublicKey>,
}

/// A public key (RFC 8037). Keys of other kinds lack some of these, and are left out.
#[derive(Deserialize)]
struct PublicKey {
    kty: String,
    crv: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    kid: Option<String>,
    x: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Claims {
    sub: Uuid,
    sid: Uuid,
    jti: Uuid,
    tenant_id: Uuid,
    nbf: i64,
    exp: i64,
    #[serde(default)]
    amr: Vec<String>,
    #[serde(default, rename = "auth_time")]
    auth_time: i64,
    act: Option<Actor>,
    #[serde(default)]
    read_only: bool,
    #[serde(default)]
    attributes: Map<String, Value>,
    #[serde(default)]
    attributes_truncated: bool,
}

#[derive(Deserialize)]
struct Actor {
    sub: Uuid,
}

impl TokenVerifier {
    /// Creates a verifier of the tokens of the client's service. Sends nothing yet.
    pub fn new(client: &Client, expected: Expected) -> Self {
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.leeway = 0;
        validation.set_issuer(&[&expected.issuer]);
        validation.set_audience(&[&expected.audience]);
        // Without these, a token without the claim passes.
        validation.set_required_spec_claims(&["iss", "aud", "sub", "nbf", "exp"]);
        // Below, with the leeway of the service.
        validation.validate_nbf = false;
        Self(Arc::new(Verifier {
            client: client.clone(),
            expected,
            validation,
            keys: RwLock::default(),
            fetching: Mutex::default(),
            between_fetches: BETWEEN_FETCHES,
        }))
    }

    /// Verifies an access token. An API key is none, and is refused: only the service can check it.
    ///
    /// # Errors
    ///
    /// See [`TokenError`].
    pub async fn verify(&self, token: &str) -> Result<VerifiedToken, TokenError> {
        if token.len() > LONGEST_TOKEN {
            return Err(refused(TokenError::Invalid, "it is too long"));
        }
        check_header(token).map_err(|reason| refused(TokenError::Invalid, reason))?;
        let header = decode_header(token).map_err(|_| refused(TokenError::Invalid, "it is no access token"))?;
        let kid = header.kid.filter(|_| header.alg == Algorithm::EdDSA);
        let kid = kid.ok_or_else(|| refused(TokenError::Invalid, "it has another algorithm, or names no key"))?;
        let key = self.0.key(&kid).await?;
        let claims = decode::<Claims>(token, &key, &self.0.validation).map_err(|error| undecoded(error.kind()))?;
        self.0.check(claims.claims, token)
    }
}

#[cfg(feature = "axum")]
impl TokenVerifier {
    /// Whether both are clones of one verifier.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Refuses a header that must not reach a parser of JSON. If a crate of the program turns on the feature `raw_value`
/// of serde_json, a text under the private name of that feature is read as JSON again. Each such text begins a new
/// count of the depth, so that texts within texts overflow the stack. A name can be hidden by an escape only, and no
/// header of the service has an escape.
fn check_header(token: &str) -> Result<(), &'static str> {
    let header = token.split_once('.').map_or(token, |(header, _)| header);
    if header.len() > LONGEST_HEADER {
        return Err("its header is too long");
    }
    let json = URL_SAFE_NO_PAD.decode(header).map_err(|_| "it is no access token")?;
    if json.contains(&b'\\') || json.windows(PRIVATE_NAME.len()).any(|part| part == PRIVATE_NAME) {
        return Err("its header has an escape or a private name");
    }
    Ok(())
}

/// Logs why a token is refused. The reason has no part of the token.
fn refused(error: TokenError, reason: &'static str) -> TokenError {
    tracing::debug!(reason, "an access token is refused");
    error
}

fn undecoded(kind: &ErrorKind) -> TokenError {
    match kind {
        ErrorKind::ExpiredSignature => refused(TokenError::Expired, "it has expired"),
        ErrorKind::InvalidSignature => refused(TokenError::Invalid, "its signature is wrong"),
        ErrorKind::InvalidIssuer => refused(TokenError::Invalid, "it is of another issuer"),
        ErrorKind::InvalidAudience => refused(TokenError::Invalid, "it is for another audience"),
        // The text of other errors can have parts of the token.
        _ => refused(TokenError::Invalid, "a claim is missing or malformed"),
    }
}

impl Verifier {
    fn check(&self, claims: Claims, token: &str) -> Result<VerifiedToken, TokenError> {
        let time = |seconds| {
            DateTime::from_timestamp(seconds, 0).ok_or_else(|| refused(TokenError::Invalid, "a time is out of range"))
        };
        if time(claims.nbf)? > Utc::now() + CLOCK_SKEW {
            return Err(refused(TokenError::Invalid, "it is not valid yet"));
        }
        if !self.expected.tenants.contain(claims.tenant_id) {
            return Err(refused(TokenError::Tenant, "it is of another tenant"));
        }
        Ok(VerifiedToken {
            user: claims.sub,
            tenant: claims.tenant_id,
            session: claims.sid,
            id: claims.jti,
            amr: claims.amr,
            auth_time: time(claims.auth_time)?,
            expires_at: time(claims.exp)?,
            actor: claims.act.map(|actor| actor.sub),
            read_only: claims.read_only,
            attributes: claims.attributes,
            attributes_truncated: claims.attributes_truncated,
            bearer: token.into(),
        })
    }

    /// The key with an id, and the age of the keys.
    fn known(&self, kid: &str) -> (Option<Arc<DecodingKey>>, Option<Duration>) {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        (keys.by_id.get(kid).cloned(), keys.fetched_at.map(|at| at.elapsed()))
    }

    async fn key(&self, kid: &str) -> Result<Arc<DecodingKey>, TokenError> {
        let mut last = match self.known(kid) {
            (Some(key), Some(age)) if age < FRESH => return Ok(key),
            // One caller reads the keys again, and the others do not wait for it.
            (Some(key), Some(age)) if age < USABLE => match self.fetching.try_lock() {
                Ok(last) => last,
                Err(_) => return Ok(key),
            },
            _ => self.fetching.lock().await,
        };
        // Another caller may have read them while this one waited.
        let (known, age) = self.known(kid);
        if let (Some(key), Some(age)) = (&known, age)
            && age < FRESH
        {
            return Ok(Arc::clone(key));
        }
        let least = if age.is_some() { self.between_fetches } else { BETWEEN_FIRST_FETCHES.min(self.between_fetches) };
        let failure = if last.is_none_or(|last| last.elapsed() >= least) {
            *last = Some(Instant::now());
            self.fetch().await.err()
        } else {
            None
        };
        drop(last);
        match (self.known(kid), failure) {
            ((Some(key), Some(age)), _) if age < USABLE => Ok(key),
            ((None, Some(age)), None) if age < USABLE => {
                Err(refused(TokenError::Invalid, "no key of the service has signed it"))
            }
            (_, Some(error)) => Err(TokenError::Keys(error)),
            (_, None) => Err(TokenError::Keys(Error::Request("the last attempt has failed".to_owned()))),
        }
    }

    async fn fetch(&self) -> Result<(), Error> {
        let call = Call::new(Method::GET, "/.well-known/jwks.json").at_root().public();
        let answer = self.client.once(&call.within(FETCH_TIMEOUT, LARGEST_DOCUMENT), None).await?;
        let document: Document = answer.json()?;
        let keys = document.keys.into_iter().take(MOST_KEYS).filter_map(PublicKey::decoding_key);
        let by_id: HashMap<_, _> = keys.collect();
        if by_id.is_empty() {
            // A service always has a key. The former ones are used as long as they are not too old.
            let reason = "no key signs access tokens".to_owned();
            return Err(Error::Answer { status: answer.status, reason, retry_after: None });
        }
        let fetched = Keys { by_id, fetched_at: Some(Instant::now()) };
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = fetched;
        Ok(())
    }
}

impl PublicKey {
    /// The key with its id, if it is one that signs access tokens.
    fn decoding_key(self) -> Option<(String, Arc<DecodingKey>)> {
        let is_usable = self.kty == "OKP"
            && self.crv.as_deref() == Some("Ed25519")
            && self.alg.as_deref().is_none_or(|alg| alg == "EdDSA" || alg == "Ed25519")
            && self.usage.as_deref().is_none_or(|usage| usage == "sig");
        if !is_usable {
            return None;
        }
        Some((self.kid?, Arc::new(DecodingKey::from_ed_components(&self.x?).ok()?)))
    }
}

impl fmt::Debug for TokenVerifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TokenVerifier").field("expected", &self.0.expected).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// A server that publishes one key after the other: `k1` in its first answer, `k2` in the second.
    async fn rotating() -> String {
        publishing(|number| {
            let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
            format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"k{number}","x":"{x}"}}]}}"#)
        })
        .await
    }

    /// A server with a document for each answer, from 1.
    async fn publishing(document: impl Fn(usize) -> String + Send + 'static) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            for number in 1.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                let _ = stream.read(&mut [0; 4096]).await;
                let body = document(number);
                let length = body.len();
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json";
                let answer = format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        url
    }

    async fn verifier(between_fetches: Duration) -> Verifier {
        verifier_of(rotating().await, between_fetches)
    }

    fn verifier_of(url: String, between_fetches: Duration) -> Verifier {
        let client = Client::builder(url).build().unwrap();
        let expected = Expected { issuer: "iam".into(), audience: "iam".into(), tenants: Tenants::Every };
        let TokenVerifier(verifier) = TokenVerifier::new(&client, expected);
        Verifier { between_fetches, ..Arc::into_inner(verifier).unwrap() }
    }

    #[tokio::test]
    async fn a_new_key_is_read_when_a_token_names_it_but_not_twice_in_the_time() {
        let patient = verifier(BETWEEN_FETCHES).await;
        patient.key("k1").await.unwrap();
        assert!(matches!(patient.key("k2").await, Err(TokenError::Invalid)));
        patient.key("k1").await.unwrap();

        let hasty = verifier(Duration::ZERO).await;
        hasty.key("k1").await.unwrap();
        hasty.key("k2").await.unwrap();
        // The key that is no longer published is not used any more.
        assert!(matches!(hasty.key("k1").await, Err(TokenError::Invalid)));
    }

    #[tokio::test]
    async fn a_document_without_a_usable_key_replaces_none() {
        let url = publishing(|number| {
            let usage = if number == 1 { "sig" } else { "enc" };
            let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
            format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"k1","use":"{usage}","x":"{x}"}}]}}"#)
        });
        let verifier = verifier_of(url.await, Duration::ZERO);
        verifier.key("k1").await.unwrap();
        assert!(matches!(verifier.key("k2").await, Err(TokenError::Keys(Error::Answer { status: 200, .. }))));
        verifier.key("k1").await.unwrap();
    }

    #[tokio::test]
    async fn old_keys_are_read_again_and_used_for_an_hour_without_the_service() {
        let verifier = verifier(BETWEEN_FETCHES).await;
        verifier.key("k1").await.unwrap();
        let age = |age| {
            verifier.keys.write().unwrap().fetched_at = Instant::now().checked_sub(age);
        };
        // The time between fetches is not over, as if the last one had failed.
        age(FRESH);
        verifier.key("k1").await.unwrap();
        age(USABLE);
        assert!(matches!(verifier.key("k1").await, Err(TokenError::Keys(_))));
        // When it is over, the revoked key is gone.
        *verifier.fetching.lock().await = Instant::now().checked_sub(BETWEEN_FETCHES);
        age(FRESH);
        assert!(matches!(verifier.key("k1").await, Err(TokenError::Invalid)));
    }
}
