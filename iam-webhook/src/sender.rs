use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, USER_AGENT};
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use iam_model::webhook::{Reach, SendError, WebhookRequest, WebhookSender};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::connector::{Connector, Network, System};
use crate::failure::classify;

/// Sends requests over HTTP/1.1, to addresses within its [`Reach`].
///
/// A request without an answer ends after 15 seconds ([`SendError::TimedOut`]).
pub struct HttpSender {
    reach: Reach,
    limits: Limits,
    client: Client<Connector, Full<Bytes>>,
}

/// Why there are no certificates by which a receiver could be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidCertificates(String);

/// How long the steps of a request may take.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// From the look-up of the name to the head of the answer.
    pub(crate) answer: Duration,
    /// To read the rest of the answer.
    pub(crate) body: Duration,
    /// How long a connection is kept without a request.
    pub(crate) idle: Duration,
}

impl Limits {
    pub(crate) const DEFAULT: Self =
        Self { answer: Duration::from_secs(15), body: Duration::from_secs(1), idle: Duration::from_secs(30) };
}

/// The maximum number of bytes that are read of the head of an answer, and of its body.
const MAX_ANSWER: usize = 16 * 1_024;

const AGENT: &str = concat!("iam-webhook/", env!("CARGO_PKG_VERSION"));

impl HttpSender {
    /// Returns a sender that trusts the certification authorities of the platform. On Linux, the variables
    /// `SSL_CERT_FILE` and `SSL_CERT_DIR` can name others.
    ///
    /// # Errors
    ///
    /// [`InvalidCertificates`] if the platform has none.
    pub fn new(reach: Reach) -> Result<Self, InvalidCertificates> {
        Self::with_roots(reach, RootCertStore::empty())
    }

    /// Returns a sender that also trusts the certificates of a text in PEM, for example of a private authority.
    ///
    /// # Errors
    ///
    /// [`InvalidCertificates`] if the text has none, or one that is not valid.
    pub fn with_certificates(reach: Reach, pem: &[u8]) -> Result<Self, InvalidCertificates> {
        Self::with_roots(reach, roots_of(pem)?)
    }

    fn with_roots(reach: Reach, mut roots: RootCertStore) -> Result<Self, InvalidCertificates> {
        let platform = rustls_native_certs::load_native_certs();
        // A platform can have a certificate that this library does not read. The others are enough.
        roots.add_parsable_certificates(platform.certs);
        if roots.is_empty() {
            let why: String = platform.errors.iter().map(|error| format!("; {error}")).collect();
            return Err(InvalidCertificates(format!("the platform has no certification authorities{why}")));
        }
        Self::build(reach, roots, Limits::DEFAULT, Arc::new(System::default()))
    }

    pub(crate) fn build(
        reach: Reach,
        roots: RootCertStore,
        limits: Limits,
        network: Arc<dyn Network>,
    ) -> Result<Self, InvalidCertificates> {
        let mut tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|cause| InvalidCertificates(format!("TLS cannot be used: {cause}")))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        // A server of another protocol must not take the request for one of its own.
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let connector = Connector { reach, network, tls: Arc::new(tls).into(), limit: limits.answer };
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(limits.idle)
            .pool_timer(TokioTimer::new())
            .http1_max_buf_size(MAX_ANSWER)
            .build(connector);
        Ok(Self { reach, limits, client })
    }

    /// Reads the rest of an answer, so that the connection can be used again. A connection with more to read is closed.
    async fn finish(&self, answer: Response<Incoming>, deadline: Instant) {
        let deadline = deadline.min(Instant::now() + self.limits.body);
        let _ = timeout_at(deadline, Limited::new(answer.into_body(), MAX_ANSWER).collect()).await;
    }
}

#[async_trait]
impl WebhookSender for HttpSender {
    fn reach(&self) -> Reach {
        self.reach
    }

    async fn send(&self, request: WebhookRequest) -> Result<u16, SendError> {
        // The URL may be older than the setting.
        request.url.check(self.reach).map_err(|_| SendError::NotPublic)?;
        let request = to_http(request).ok_or(SendError::Unreachable)?;
        let deadline = Instant::now() + self.limits.answer;
        let answer = timeout_at(deadline, self.client.request(request)).await;
        let answer = answer.map_err(|_| SendError::TimedOut)?.map_err(|error| classify(&error))?;
        let status = answer.status().as_u16();
        self.finish(answer, deadline).await;
        Ok(status)
    }
}

impl fmt::Debug for HttpSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSender").field("reach", &self.reach).finish_non_exhaustive()
    }
}

/// Returns the certificates of a text in PEM, at least one.
fn roots_of(pem: &[u8]) -> Result<RootCertStore, InvalidCertificates> {
    let invalid = |cause: &dyn fmt::Display| InvalidCertificates(format!("a certificate is not valid: {cause}"));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|cause| invalid(&cause))?;
        roots.add(certificate).map_err(|cause| invalid(&cause))?;
    }
    if roots.is_empty() { Err(InvalidCertificates("there is no certificate".to_owned())) } else { Ok(roots) }
}

/// Returns the request as one of HTTP. `None` if the URL or a header cannot be written, which no request of `iam-core`
/// can cause.
fn to_http(request: WebhookRequest) -> Option<Request<Full<Bytes>>> {
    let url = Url::parse(request.url.as_str()).ok()?;
    Request::post(url.as_str())
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, AGENT)
        .header("webhook-id", request.id)
        .header("webhook-timestamp", request.timestamp)
        .header("webhook-signature", request.signature)
        .body(Full::from(request.body))
        .ok()
}
