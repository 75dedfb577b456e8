//! The part of a document that a run writes.

use iam_benches::Outcome;

/// The document with the text between the markers of this name. Nothing else is changed.
pub(super) fn replace(document: &str, name: &str, text: &str) -> Outcome<String> {
    let [begin, end] = ["begin", "end"].map(|mark| format!("<!-- {name}:{mark} -->"));
    let (before, rest) = split_once_only(document, &begin)?;
    let (_, after) = split_once_only(rest, &end)?;
    if before.contains(&end) {
        return Err(format!("{end} occurs twice, or before {begin}").into());
    }
    Ok(format!("{before}{begin}\n\n{}\n\n{end}{after}", text.trim()))
}

fn split_once_only<'a>(text: &'a str, mark: &str) -> Outcome<(&'a str, &'a str)> {
    let (before, after) = text.split_once(mark).ok_or_else(|| format!("there is no {mark} where it is expected"))?;
    if after.contains(mark) {
        return Err(format!("{mark} occurs twice").into());
    }
    Ok((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str =
        "before\n<!-- a:begin -->old\n<!-- a:end -->\nbetween\n<!-- b:begin --><!-- b:end -->\nafter";

    #[test]
    fn only_the_text_between_the_markers_is_replaced() {
        let once = replace(DOCUMENT, "a", "new").unwrap();
        let expected =
            "before\n<!-- a:begin -->\n\nnew\n\n<!-- a:end -->\nbetween\n<!-- b:begin --><!-- b:end -->\nafter";
        assert_eq!(once, expected);
        assert_eq!(replace(&once, "a", "\nnew\n").unwrap(), expected);
    }

    #[test]
    fn missing_repeated_and_misplaced_markers_are_refused() {
        for document in [
            "",
            "<!-- a:begin -->",
            "<!-- a:end -->",
            "<!-- a:end --><!-- a:begin -->",
            "<!-- a:begin --><!-- a:begin --><!-- a:end -->",
            "<!-- a:begin --><!-- a:end --><!-- a:end -->",
            "<!-- a:end --><!-- a:begin --><!-- a:end -->",
        ] {
            assert!(replace(document, "a", "new").is_err(), "{document}");
        }
    }
}
