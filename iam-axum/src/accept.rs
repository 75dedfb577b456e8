//! Finds out which of two formats of a response a client prefers (RFC 9110 §12.5).

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Whether the client prefers `other` to `usual`. A client that states no preference, or accepts neither, gets the
/// usual format.
pub(crate) fn prefers(headers: &HeaderMap, other: &str, usual: &str) -> bool {
    let ranges = all_ranges(headers, &header::ACCEPT);
    quality(&ranges, other) > quality(&ranges, usual)
}

/// Whether the client accepts a response that is compressed by gzip. A client that states no preference does not: it
/// may not be able to decompress.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let ranges = all_ranges(headers, &header::ACCEPT_ENCODING);
    let of = |name: &str| ranges.iter().find(|range| range.of.eq_ignore_ascii_case(name));
    of("gzip").or_else(|| of("*")).is_some_and(|range| range.quality > 0.0)
}

/// Media types or an encoding that a client accepts, with their quality value: from 0 to 1.
struct Range<'a> {
    of: &'a str,
    quality: f32,
}

fn all_ranges<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<Range<'a>> {
    headers.get_all(name).iter().flat_map(ranges).collect()
}

fn ranges(line: &HeaderValue) -> impl Iterator<Item = Range<'_>> {
    line.to_str().unwrap_or_default().split(',').filter_map(range)
}

fn range(text: &str) -> Option<Range<'_>> {
    let mut parts = text.split(';').map(str::trim);
    let of = parts.next().filter(|of| !of.is_empty())?;
    let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    let quality = quality.map_or(Some(1.0), |quality| quality.parse().ok())?;
    Some(Range { of, quality })
}

/// Returns the quality value of a media type: that of the most specific range that contains it.
fn quality(ranges: &[Range], media_type: &str) -> f32 {
    let group = media_type.split('/').next().unwrap_or_default();
    let specificity = |range: &Range| match range.of.split_once('/')? {
        _ if range.of.eq_ignore_ascii_case(media_type) => Some(2),
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

    #[test]
    fn only_a_client_that_accepts_gzip_gets_it() {
        let accepts = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::ACCEPT_ENCODING, line.parse().unwrap());
            }
            accepts_gzip(&headers)
        };
        for lines in
            [&["gzip"][..], &["GZip;q=0.1"], &["br, gzip"], &["br", "gzip"], &["*"], &["identity;q=0, *;q=0.5"]]
        {
            assert!(accepts(lines), "{lines:?}");
        }
        for lines in [&[][..], &[""], &["identity"], &["gzip;q=0"], &["*, gzip;q=0"], &["br"], &["gzip;q=x"]] {
            assert!(!accepts(lines), "{lines:?}");
        }
    }
}
