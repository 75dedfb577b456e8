//! The log, on the standard error output.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::settings::LogFormat;

/// Starts the log. It contains the events that pass the filter.
pub(crate) fn start(filter: &str, format: LogFormat) {
    let registry = tracing_subscriber::registry().with(EnvFilter::new(filter));
    match format {
        LogFormat::Text => {
            let text = layer().with_ansi(std::io::stderr().is_terminal()).with_writer(std::io::stderr);
            registry.with(text).init();
        }
        LogFormat::Json => {
            let json = layer().json().flatten_event(true).with_span_list(false).with_writer(std::io::stderr);
            registry.with(json).init();
        }
    }
}
