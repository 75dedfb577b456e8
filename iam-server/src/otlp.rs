//! The export of spans to a collector: OTLP over HTTP, in batches, on a thread of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use iam_core::webhook::AddressPolicy;
use iam_http_client::{Certificates, Client, InvalidCertificates, Limits};
use opentelemetry::KeyValue;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tokio::runtime::Handle;

use crate::failure::Failure;
use crate::settings::Settings;

/// How long a collector may take to accept a batch.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);

const LIMITS: Limits = Limits {
    total: EXPORT_TIMEOUT,
    body: EXPORT_TIMEOUT,
    // A batch is sent every five seconds.
    idle: Duration::from_secs(15),
    bytes: 64 * 1_024,
};

/// Returns the provider that creates spans and exports them to the collector at this base URL. OpenTelemetry's own
/// variables set the rest: `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_BSP_…`.
///
/// Its requests are made by the runtime of the caller.
pub(crate) fn provider(endpoint: &str, settings: &Settings) -> Result<SdkTracerProvider, Failure> {
    let runtime = Handle::try_current().map_err(|error| Failure::new("exporting traces", &error))?;
    let collector = Collector::new(endpoint, runtime).map_err(|error| Failure::new("exporting traces", &error))?;
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(collector)
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(format!("{endpoint}/v1/traces"))
        .with_timeout(EXPORT_TIMEOUT)
        .build()
        .map_err(|error| Failure::new("exporting traces", &error))?;
    let http = &settings.http;
    let resource = Resource::builder().with_service_name(http.service.clone()).with_attributes([
        KeyValue::new("service.version", http.version.clone()),
        KeyValue::new("deployment.environment.name", http.environment.clone()),
    ]);
    let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(settings.trace_sampling)));
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_sampler(sampler)
        .with_resource(resource.build())
        .build())
}

/// Sends batches. Logs when they start to fail, and when they succeed again.
#[derive(Debug)]
struct Collector {
    client: Client,
    /// The exporting thread has no runtime of its own.
    runtime: Handle,
    is_failing: AtomicBool,
}

impl Collector {
    fn new(endpoint: &str, runtime: Handle) -> Result<Self, InvalidCertificates> {
        let certificates = if endpoint.starts_with("https:") { trusted() } else { Certificates::none() };
        // The collector is often in the network of the service, and its address is a setting of the operator.
        let client = Client::new(AddressPolicy::Anywhere, certificates, LIMITS)?;
        Ok(Self { client, runtime, is_failing: AtomicBool::new(false) })
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let answer = self.runtime.spawn(async move { client.send(request).await }).await??;
        let (head, body) = answer.into_parts();
        Ok(Response::from_parts(head, body?))
    }

    /// Logs only changes: a collector may be unavailable for days.
    fn note(&self, failure: Option<String>) {
        let was_failing = self.is_failing.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(error) if !was_failing => tracing::warn!(error, "traces cannot be exported; they are dropped"),
            None if was_failing => tracing::info!("traces are exported again"),
            _ => {}
        }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = self.send(request).await;
        self.note(match &answer {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("the collector answered {}", response.status())),
            Err(error) => Some(error.to_string()),
        });
        answer
    }
}

/// Returns the authorities of the platform. Without any, the server starts, and the log says that each export fails.
fn trusted() -> Certificates {
    Certificates::of_platform().unwrap_or_else(|error| {
        tracing::warn!(%error, "the certificate of the collector cannot be verified");
        Certificates::none()
    })
}
