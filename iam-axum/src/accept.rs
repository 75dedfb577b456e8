//! Finds out which of two formats of a response a client prefers (RFC 9110 §12.5.1).

use axum::http::{HeaderMap, HeaderValue, header};

/// Whether the client prefers `other` to `usual`. A client that states no preference, or accepts neither, gets the
/// usual format.
pub(crate) fn prefers(headers: &HeaderMap, other: &str, usual: &str) -> bool {
    let ranges: Vec<Range> = headers.get_all(header::ACCEPT).iter().flat_map(ranges).collect();
    quality(&ranges, other) > quality(&ranges, usual)
}

/// Media types that a client accepts, with their quality value: from 0 to 1.
struct Range<'a> {
    media_type: &'a str,
    quality: f32,
}

fn ranges(line: &HeaderValue) -> impl Iterator<Item = Range<'_>> {
    line.to_str().unwrap_or_default().split(',').filter_map(range)
}

fn range(text: &str) -> Option<Range<'_>> {
    let mut parts = text.split(';').map(str::trim);
    let media_type = parts.next().filter(|media_type| !media_type.is_empty())?;
    let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    let quality = quality.map_or(Some(1.0), |quality| quality.parse().ok())?;
    Some(Range { media_type, quality })
}

/// Returns the quality value of a media type: that of the most specific range that contains it.
fn quality(ranges: &[Range], media_type: &str) -> f32 {
    let group = media_type.split('/').next().unwrap_or_default();
    let specificity = |range: &Range| match range.media_type.split_once('/')? {
        _ if range.media_type.eq_ignore_ascii_case(media_type) => Some(2),
        (of, "*") if of.eq_ignore_ascii_case(group) => Some(1),
        ("*", "*") => Some(0),
        _ => None,
    };
    let fitting = ranges.iter().filter_map(|range| Some((specificity(range)?, range.quality)));
    fitting.max_by_key(|(specificity, _)| *specificity).map_or(0.0, |(_, quality)| quality)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants_csv(lines: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::ACCEPT, line.parse().unwrap());
        }
        prefers(&headers, "text/csv", "application/x-ndjson")
    }

    #[test]
    fn a_client_that_prefers_the_other_format_gets_it() {
        for lines in [
            &["text/csv"][..],
            &["Text/CSV;header=present"],
            &["text/*"],
            &["application/x-ndjson;q=0.5, text/csv"],
            &["application/x-ndjson; q=0.5, text/csv ; q=0.6"],
            &["*/*;q=0.1", "text/csv"],
            &["application/*;q=0.9, text/csv;q=0.901"],
            &["*/*, application/x-ndjson;q=0"],
        ] {
            assert!(wants_csv(lines), "{lines:?}");
        }
    }

    #[test]
    fn every_other_client_gets_the_usual_format() {
        for lines in [
            &[][..],
            &[""],
            &["*/*"],
            &["application/json"],
            &["application/x-ndjson, text/csv"],
            &["text/csv;q=0.5, application/*"],
            &["text/csv;q=0"],
            &["text/csv;q=x"],
            &["text/*, text/csv;q=0, */*;q=0"],
            &["text/html, */*;q=0.8"],
            &["csv, text, ,;"],
        ] {
            assert!(!wants_csv(lines), "{lines:?}");
        }
    }
}
