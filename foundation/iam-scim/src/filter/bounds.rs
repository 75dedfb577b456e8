//! One pass over the text of a filter, before anything is built: it counts, and it rewrites the two forms that the
//! parser does not read.

use std::iter::Peekable;
use std::vec::IntoIter;

/// The maximum length, in bytes.
const MAX_LENGTH: usize = 4 * 1024;

/// The maximum number of brackets that are open at once.
const MAX_DEPTH: usize = 64;

/// The maximum number of comparisons.
const MAX_TERMS: usize = 100;

const OPERATORS: [&str; 10] = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le", "pr"];

const MALFORMED: &str = "has brackets in the wrong place";

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Filter,
    Path,
}

/// Returns the text as the parser reads it, or what is wrong with it.
pub(super) fn bounded(text: &str, form: Form) -> Result<String, &'static str> {
    if text.len() > MAX_LENGTH {
        return Err("must be at most 4096 bytes");
    }
    let mut scan = Scan { out: String::with_capacity(text.len() + 16), opened: Vec::new(), terms: 0 };
    let mut tokens = tokens(text)?.into_iter().peekable();
    let mut previous = "";
    while let Some(token) = tokens.next() {
        match token {
            "(" | "[" => {
                // The standard has no blank here, and the parser wants one.
                if token == "(" && previous.eq_ignore_ascii_case("not") {
                    scan.out.push(' ');
                }
                scan.open(token)?;
            }
            ")" => {
                scan.opened.pop();
                scan.out.push(')');
            }
            "]" => {
                let begin = scan.opened.pop();
                match (begin, tokens.next_if(|next| next.starts_with('.'))) {
                    (Some(begin), Some(part)) if form == Form::Filter => scan.take_in(begin, part, &mut tokens)?,
                    (_, part) => {
                        scan.out.push(']');
                        scan.out.push_str(part.unwrap_or_default());
                    }
                }
            }
            word => scan.word(word)?,
        }
        previous = token;
    }
    Ok(scan.out)
}

struct Scan {
    out: String,
    /// Where the text inside of each open bracket begins.
    opened: Vec<usize>,
    terms: usize,
}

impl Scan {
    fn open(&mut self, bracket: &str) -> Result<(), &'static str> {
        self.out.push_str(bracket);
        self.opened.push(self.out.len());
        if self.opened.len() > MAX_DEPTH { Err("must have at most 64 levels") } else { Ok(()) }
    }

    fn word(&mut self, word: &str) -> Result<(), &'static str> {
        self.out.push_str(word);
        if OPERATORS.iter().any(|operator| operator.eq_ignore_ascii_case(word)) {
            self.terms += 1;
        }
        if self.terms > MAX_TERMS { Err("must have at most 100 terms") } else { Ok(()) }
    }

    /// Writes `a[F].b eq "x"` as `a[(F) and b eq "x"]`, behind the last character of `F`.
    fn take_in(&mut self, begin: usize, part: &str, tokens: &mut Peekable<IntoIter<&str>>) -> Result<(), &'static str> {
        self.out.insert(begin, '(');
        self.out.push_str(") and ");
        self.out.push_str(part.strip_prefix('.').unwrap_or(part));
        // A blank and the operator; then, unless that is `pr`, a blank and the value.
        for position in 0..4 {
            let Some(token) = tokens.next() else { break };
            if matches!(token, "(" | ")" | "[" | "]") {
                return Err(MALFORMED);
            }
            self.word(token)?;
            if position == 1 && token.eq_ignore_ascii_case("pr") {
                break;
            }
        }
        self.out.push(']');
        Ok(())
    }
}

/// Returns the parts of a text: brackets, blanks, texts in quotes, and words.
fn tokens(text: &str) -> Result<Vec<&str>, &'static str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => literal(rest).ok_or("has a text in quotes that does not end")?,
            '(' | ')' | '[' | ']' => 1,
            blank if blank.is_whitespace() => length_of(rest, char::is_whitespace),
            _ => length_of(rest, |other| !other.is_whitespace() && !matches!(other, '"' | '(' | ')' | '[' | ']')),
        };
        let (token, behind) = rest.split_at_checked(length).ok_or(MALFORMED)?;
        tokens.push(token);
        rest = behind;
    }
    Ok(tokens)
}

/// Returns the length of the characters at the beginning of a text that are of a kind.
fn length_of(text: &str, is_of: impl Fn(char) -> bool) -> usize {
    text.find(|character: char| !is_of(character)).unwrap_or(text.len())
}

/// Returns the length of the text in quotes by which a text begins.
fn literal(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (index, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(index + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_parser_does_not_read_is_rewritten() {
        for (text, expected) in [
            (r#"not(title pr)"#, r#"not (title pr)"#),
            (r#"NOT(not (a pr))"#, r#"NOT (not (a pr))"#),
            (r#"isnot(a pr)"#, r#"isnot(a pr)"#),
            (r#"emails[type eq "a"].value eq "x y""#, r#"emails[(type eq "a") and value eq "x y"]"#),
            (r#"(a[b pr].c pr) or d pr"#, r#"(a[(b pr) and c pr]) or d pr"#),
            (r#"a[b eq "].c eq \"["].d ne true and e pr"#, r#"a[(b eq "].c eq \"[") and d ne true] and e pr"#),
            (r#"a[b eq "é"] and c pr"#, r#"a[b eq "é"] and c pr"#),
        ] {
            assert_eq!(bounded(text, Form::Filter).as_deref(), Ok(expected), "{text}");
        }
        let path = r#"emails[not(type eq "work")].value"#;
        assert_eq!(bounded(path, Form::Path).as_deref(), Ok(r#"emails[not (type eq "work")].value"#));
    }

    #[test]
    fn work_is_bounded() {
        let levels = |count: usize| format!("{}a pr{}", "(".repeat(count), ")".repeat(count));
        let terms = |count: usize| vec!["a pr"; count].join(" or ");
        let long = |length: usize| format!("a eq \"{}\"", "x".repeat(length - 7));
        for (good, bad) in [(levels(64), levels(65)), (terms(100), terms(101)), (long(4096), long(4097))] {
            assert!(bounded(&good, Form::Filter).is_ok());
            assert!(bounded(&bad, Form::Filter).is_err());
        }
        for bad in ["\"", "a eq \"x\\\"", "a[b pr].c (", "a[b pr].c]", &"(".repeat(200_000)] {
            assert!(bounded(bad, Form::Filter).is_err(), "{bad:.20}");
        }
        // Operators inside of texts are none.
        assert!(bounded(&format!("a eq \"{}\"", "eq ".repeat(200)), Form::Filter).is_ok());
    }
}
