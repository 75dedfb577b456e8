//! The export of spans to a collector: OTLP over HTTP, in batches, on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry::KeyValue;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use rustls::crypto::aws_lc_rs::default_provider;
use ureq::Agent;
use ureq::tls::TlsConfig;

use crate::failure::Failure;
use crate::settings::Settings;

/// How long a collector may take to accept a batch.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the provider that creates spans and exports them to the collector at this base URL. OpenTelemetry's own
/// variables set the rest: `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_BSP_…`.
pub(crate) fn provider(endpoint: &str, settings: &Settings) -> Result<SdkTracerProvider, Failure> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Collector::new())
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
    agent: Agent,
    is_failing: AtomicBool,
}

impl Collector {
    fn new() -> Self {
        let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(Arc::new(default_provider())).build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(EXPORT_TIMEOUT))
            .max_redirects(0)
            .http_status_as_error(false);
        Self { agent: config.build().into(), is_failing: AtomicBool::new(false) }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ureq::Error> {
        let (parts, body) = request.into_parts();
        let (parts, mut body) = self.agent.run(Request::from_parts(parts, &*body))?.into_parts();
        Ok(Response::from_parts(parts, body.read_to_vec()?.into()))
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
    /// Blocks, which is right on the exporting thread: it has no async runtime.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = self.send(request);
        self.note(match &answer {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("the collector answered {}", response.status())),
            Err(error) => Some(error.to_string()),
        });
        Ok(answer?)
    }
}
