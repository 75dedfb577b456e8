use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client as LegacyClient;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use iam_model::webhook::AddressPolicy;
use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use tokio::time::{Instant, timeout_at};

use crate::certificates::{Certificates, InvalidCertificates};
use crate::connector::{Connector, Network, System};
use crate::error::{RequestError, classify};

/// Sends requests over HTTP/1.1, to addresses that its [`AddressPolicy`] allows. Clones share its connections.
#[derive(Clone)]
pub struct Client {
    policy: AddressPolicy,
    limits: Limits,
    client: LegacyClient<Connector, Full<Bytes>>,
}

/// How long the steps of a request may take, and how long its answer may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the look-up of the name to the end of the answer.
    pub total: Duration,
    /// To read the body of the answer, within the total time.
    pub body: Duration,
    /// How long a connection is kept without a request.
    pub idle: Duration,
    /// The maximum number of bytes of the body of an answer.
    pub bytes: usize,
}

/// The maximum number of bytes of the head of an answer.
const MAX_HEAD: usize = 16 * 1_024;

impl Client {
    /// Returns a client that trusts these authorities.
    ///
    /// # Errors
    ///
    /// [`InvalidCertificates`] if TLS cannot be used.
    pub fn new(policy: AddressPolicy, certificates: Certificates, limits: Limits) -> Result<Self, InvalidCertificates> {
        Self::build(policy, certificates, limits, Arc::new(System::default()))
    }

    pub(crate) fn build(
        policy: AddressPolicy,
        certificates: Certificates,
        limits: Limits,
        network: Arc<dyn Network>,
    ) -> Result<Self, InvalidCertificates> {
        let mut tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|cause| InvalidCertificates(format!("TLS cannot be used: {cause}")))?
            .with_root_certificates(certificates.0)
            .with_no_client_auth();
        // A server of another protocol must not take the request for one of its own.
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let connector = Connector { policy, network, tls: Arc::new(tls).into(), limit: limits.total };
        let client = LegacyClient::builder(TokioExecutor::new())
            .pool_idle_timeout(limits.idle)
            .pool_timer(TokioTimer::new())
            .http1_max_buf_size(MAX_HEAD)
            .build(connector);
        Ok(Self { policy, limits, client })
    }

    /// Sends a request with an absolute URL, and returns the answer, whatever its status code. The body of the answer
    /// has an error of its own, because the status code alone can be enough.
    ///
    /// The answer is read to its end, so that the connection can be used again. A connection with more to read than
    /// the limits allow is closed. The call needs the runtime of Tokio.
    ///
    /// # Errors
    ///
    /// [`RequestError`] without an answer.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Response<Result<Bytes, RequestError>>, RequestError> {
        let deadline = Instant::now() + self.limits.total;
        let answer = timeout_at(deadline, self.client.request(request.map(Full::new))).await;
        let answer = answer.map_err(|_| RequestError::TimedOut)?.map_err(|error| classify(&error))?;
        let (head, body) = answer.into_parts();
        let deadline = deadline.min(Instant::now() + self.limits.body);
        let body = match timeout_at(deadline, Limited::new(body, self.limits.bytes).collect()).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) => Err(classify(&*error)),
            Err(_) => Err(RequestError::TimedOut),
        };
        Ok(Response::from_parts(head, body))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("policy", &self.policy).field("limits", &self.limits).finish_non_exhaustive()
    }
}
