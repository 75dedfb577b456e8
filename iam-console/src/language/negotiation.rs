use axum::http::{HeaderMap, header};

use crate::text::Language;

/// Returns the language that the browser of a request wants most among those of the console, by `Accept-Language`.
pub(super) fn accepted(headers: &HeaderMap) -> &'static Language {
    let lines = headers.get_all(header::ACCEPT_LANGUAGE).iter().filter_map(|line| line.to_str().ok());
    let ranges = lines.flat_map(|line| line.split(',')).filter_map(weighted);
    let mut best: Option<(f32, &'static Language)> = None;
    for (range, weight) in ranges {
        let Some(language) = language_of(range) else { continue };
        // Of two with the same weight, the first one wins.
        if weight > best.map_or(0.0, |(weight, _)| weight) {
            best = Some((weight, language));
        }
    }
    best.map_or(Language::english(), |(_, language)| language)
}

/// Splits a range and its weight, such as `de-AT;q=0.8`. A weight that is no number counts as none.
fn weighted(text: &str) -> Option<(&str, f32)> {
    let mut parts = text.split(';').map(str::trim);
    let range = parts.next().filter(|range| !range.is_empty())?;
    let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    Some((range, weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0))))
}

/// Returns the language of a range. Its first part decides: `de-AT` is German, too.
fn language_of(range: &str) -> Option<&'static Language> {
    if range == "*" {
        return Some(Language::english());
    }
    let primary = range.split('-').next().unwrap_or_default();
    Language::all().into_iter().find(|language| language.tag.eq_ignore_ascii_case(primary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_gets_the_language_that_it_wants_most() {
        for (accepted_languages, expected) in [
            ("", "en"),
            ("de", "de"),
            ("DE-at", "de"),
            ("fr", "en"),
            ("fr, de;q=0.5", "de"),
            ("en;q=0.5, de;q=0.8", "de"),
            ("de;q=0.5, en;q=0.8", "en"),
            ("de, en", "de"),
            ("en, de", "en"),
            ("de;q=0", "en"),
            ("fr, *;q=0.5, de;q=0.1", "en"),
            ("*;q=0.1, de;q=0.5", "de"),
            ("de;q=much", "en"),
            ("den", "en"),
            (" de ; q=0.9 , en ; q=0.1 ", "de"),
            (";q=1, de", "de"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, accepted_languages.parse().unwrap());
            assert_eq!(accepted(&headers).tag, expected, "{accepted_languages}");
        }
        assert_eq!(accepted(&HeaderMap::new()).tag, "en");
    }
}
