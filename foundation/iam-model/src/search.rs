//! Searches in lists: words that must all be found.

use crate::text::{composed, folded};
use crate::validate::{Fields, InvalidFields};

/// A word of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchWord(Vec<String>);

/// How many words a search may have.
pub const MAX_WORDS: usize = 8;

impl SearchWord {
    /// Returns the words of a search. All of them must be found.
    #[must_use]
    pub fn all(search: &str) -> Vec<Self> {
        search.split_whitespace().filter_map(Self::new).collect()
    }

    /// Checks that a search has no more words than a list allows.
    ///
    /// # Errors
    ///
    /// [`InvalidFields`] which names the field `search`.
    pub fn check(search: Option<&str>) -> Result<(), InvalidFields> {
        let words = search.unwrap_or_default().split_whitespace().count();
        let mut fields = Fields::default();
        if words > MAX_WORDS {
            fields.reject("search", format!("must have at most {MAX_WORDS} words"));
        }
        fields.finish()
    }

    fn new(word: &str) -> Option<Self> {
        let first = folded(word);
        if first.is_empty() {
            return None;
        }
        // In the key of an address, a domain is not folded: `straße.de` and `strasse.de` are two domains. And it is not
        // in the form for the network, in which it may be searched for.
        let (domain, _) = idna::domain_to_unicode(word.rsplit('@').next().unwrap_or_default());
        let network = word.rsplit_once('@').map_or_else(String::new, |(local, _)| format!("{}@", folded(local)));
        let mut forms = vec![first];
        for form in [composed(&word.to_lowercase()), format!("{network}{domain}")] {
            let form = form.replace('ς', "σ");
            if !form.is_empty() && !forms.contains(&form) && !form.contains(char::REPLACEMENT_CHARACTER) {
                forms.push(form);
            }
        }
        Some(Self(forms))
    }

    /// The forms of the word, at least one. A text has the word if it contains one of them.
    #[must_use]
    pub fn forms(&self) -> &[String] {
        &self.0
    }

    /// Whether a text, or the key of an address, contains the word.
    #[must_use]
    pub fn is_in(&self, key: &str) -> bool {
        let key = key.replace('ς', "σ");
        self.0.iter().any(|form| key.contains(form))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_search_must_be_in_one_of_the_texts() {
        let key = "ada@exämple.de";
        for word in ["ada", "EXÄMPLE", "exa\u{308}mple", "xn--exmple-cua.de", "ADA@xn--exmple-cua.de", "@"] {
            let words = SearchWord::all(word);
            assert!(words.len() == 1 && words.iter().all(|word| word.is_in(key)), "{word}");
        }
        let street = "ada@straße.gr";
        assert!(SearchWord::all("STRAßE").iter().all(|word| word.is_in(street)));
        assert!(SearchWord::all("νίκος").iter().all(|word| word.is_in("ada@νίκος.gr") && word.is_in("νίκοσ")));
        assert_eq!(SearchWord::all(" Ada\u{3000}Lovelace\n").len(), 2);
        assert_eq!(SearchWord::all(" \u{200b} "), []);
    }

    #[test]
    fn a_search_has_at_most_8_words() {
        assert!(SearchWord::check(None).is_ok());
        assert!(SearchWord::check(Some(" a b c d e f g h ")).is_ok());
        let refused = SearchWord::check(Some("a b c d e f g h i")).unwrap_err();
        assert_eq!(&*refused.0[0].field, "search");
    }
}
