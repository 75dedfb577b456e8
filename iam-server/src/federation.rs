//! Reaches identity providers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use iam_core::identity_provider::{FetchError, ProviderAnswer, ProviderClient, ProviderRequest};
use iam_core::webhook::{AddressPolicy, SendError};
use iam_http_client::{Certificates, Client, InvalidCertificates, Limits, RequestError};
use url::Url;

use crate::failure::Failure;
use crate::mail::base_of;
use crate::settings::Settings;

const LIMITS: Limits = Limits {
    total: Duration::from_secs(10),
    body: Duration::from_secs(10),
    idle: Duration::from_secs(30),
    bytes: 256 * 1_024,
};

const AGENT: &str = concat!("iam-server/", env!("CARGO_PKG_VERSION"));

struct HttpProviderClient {
    policy: AddressPolicy,
    client: Client,
}

/// Returns the client of identity providers. `None` on a platform without certification authorities, which needs no
/// providers to start.
pub(crate) fn client(allows_private: bool) -> Option<Arc<dyn ProviderClient>> {
    let policy = if allows_private { AddressPolicy::Anywhere } else { AddressPolicy::Public };
    match build(policy) {
        Ok(client) => Some(Arc::new(HttpProviderClient { policy, client })),
        Err(error) => {
            tracing::warn!("federation is off: {error}");
            None
        }
    }
}

/// Returns the address below which identity providers send people back to a server that listens on an address.
pub(crate) fn callbacks(settings: &Settings, address: SocketAddr) -> Result<Url, Failure> {
    let callbacks = format!("{}{}/auth/federation/callback/", base_of(settings, address), settings.http.prefix);
    Url::parse(&callbacks).map_err(|error| Failure::new("public_url", &error))
}

fn build(policy: AddressPolicy) -> Result<Client, InvalidCertificates> {
    Client::new(policy, Certificates::of_platform()?, LIMITS)
}

#[async_trait]
impl ProviderClient for HttpProviderClient {
    fn address_policy(&self) -> AddressPolicy {
        self.policy
    }

    async fn send(&self, request: ProviderRequest) -> Result<ProviderAnswer, FetchError> {
        let request = to_http(request).ok_or(FetchError::NoAnswer(SendError::Unreachable))?;
        let answer = self.client.send(request).await.map_err(failure)?;
        let status = answer.status().as_u16();
        let body = answer.into_body().map_err(failure)?;
        Ok(ProviderAnswer { status, body: body.into() })
    }
}

/// Returns the request as one of HTTP. `None` if its URL or its header cannot be written.
fn to_http(request: ProviderRequest) -> Option<Request<Bytes>> {
    let (request, body) = match request {
        ProviderRequest::Get(url) => (Request::get(url.as_str()), Bytes::new()),
        ProviderRequest::GetAuthorized { url, authorization } => {
            (Request::get(url.as_str()).header(AUTHORIZATION, authorization), Bytes::new())
        }
        ProviderRequest::Post { url, authorization, form } => {
            let request = Request::post(url.as_str()).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
            let request = match authorization {
                Some(authorization) => request.header(AUTHORIZATION, authorization),
                None => request,
            };
            (request, form.into())
        }
        _ => return None,
    };
    request.header(ACCEPT, "application/json").header(USER_AGENT, AGENT).body(body).ok()
}

fn failure(error: RequestError) -> FetchError {
    FetchError::NoAnswer(match error {
        RequestError::Unresolved => SendError::Unresolved,
        RequestError::NotAllowed => SendError::NotPublic,
        RequestError::Unreachable => SendError::Unreachable,
        RequestError::Tls => SendError::Tls,
        RequestError::Interrupted => SendError::Interrupted,
        RequestError::TimedOut => SendError::TimedOut,
        RequestError::TooLong => return FetchError::TooLong,
    })
}
