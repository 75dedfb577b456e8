//! The trace that a request names in its headers (W3C Trace Context).

use axum::http::HeaderMap;
use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

/// Returns the client's span, from `traceparent` and `tracestate`. A malformed header counts as missing.
pub(crate) fn parent(headers: &HeaderMap) -> Option<SpanContext> {
    let mut lines = headers.get_all("traceparent").iter();
    let (Some(line), None) = (lines.next(), lines.next()) else { return None };
    let (trace_id, span_id, flags) = parse(line.to_str().ok()?)?;
    let parent = SpanContext::new(trace_id, span_id, flags, true, state(headers));
    parent.is_valid().then_some(parent)
}

/// Parses version 00. Of a later version, parses the fields of version 00: later versions may only append fields.
fn parse(text: &str) -> Option<(TraceId, SpanId, TraceFlags)> {
    let (known, more) = text.split_at_checked(55)?;
    let [version, trace_id, span_id, flags] = *known.split('-').collect::<Vec<_>>() else { return None };
    let is_hex =
        |text: &str, length| text.len() == length && text.bytes().all(|byte| b"0123456789abcdef".contains(&byte));
    let is_long_enough = is_hex(version, 2) && is_hex(trace_id, 32) && is_hex(span_id, 16) && is_hex(flags, 2);
    let may_go_on = more.is_empty() || (version != "00" && more.starts_with('-'));
    if !is_long_enough || !may_go_on || version == "ff" {
        return None;
    }
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?) & TraceFlags::SAMPLED;
    Some((TraceId::from_hex(trace_id).ok()?, SpanId::from_hex(span_id).ok()?, flags))
}

fn state(headers: &HeaderMap) -> TraceState {
    let lines: Option<Vec<&str>> = headers.get_all("tracestate").iter().map(|line| line.to_str().ok()).collect();
    lines.and_then(|lines| lines.join(",").parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parent_of(lines: &[(&'static str, &str)]) -> Option<SpanContext> {
        parent(&lines.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect())
    }

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn the_parent_is_the_clients_span() {
        let parent = parent_of(&[("traceparent", PARENT), ("tracestate", "a=1"), ("tracestate", "b@c=2")]).unwrap();
        assert_eq!(parent.trace_id().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(parent.span_id().to_string(), "00f067aa0ba902b7");
        assert!(parent.is_sampled() && parent.is_remote());
        assert_eq!(parent.trace_state().header(), "a=1,b@c=2");
        let without_state = parent_of(&[("traceparent", PARENT), ("tracestate", "nonsense")]).unwrap();
        assert_eq!(without_state.trace_state().header(), "", "a bad state does not invalidate the parent");
        assert!(!parent_of(&[("traceparent", &PARENT.replace("-01", "-02"))]).unwrap().is_sampled());
    }

    #[test]
    fn later_versions_may_append_fields() {
        for more in ["", "-", "-what-the-future-will-bring"] {
            let later = format!("{}{more}", PARENT.replace("00-4", "cc-4"));
            assert!(parent_of(&[("traceparent", &later)]).is_some(), "{later}");
        }
    }

    #[test]
    fn a_malformed_parent_is_ignored() {
        assert!(parent_of(&[]).is_none());
        assert!(parent_of(&[("traceparent", PARENT), ("traceparent", PARENT)]).is_none());
        for wrong in [
            "",
            "ada@example.com",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0101",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e47-3600f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
        ] {
            assert!(parent_of(&[("traceparent", wrong)]).is_none(), "{wrong}");
        }
    }
}
