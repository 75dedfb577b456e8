//! Texts of Unicode: the forms in which they are kept and compared.

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::props::{BidiControl, DefaultIgnorableCodePoint, GeneralCategory, GeneralCategoryGroup};
use icu_properties::{CodePointMapData, CodePointSetData};

/// Returns the composed form of a text (NFC), in which it is kept.
#[must_use]
pub fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

/// Returns the form of a text by which it is compared and sorted: NFKC with full case folding, and without the
/// characters that have no appearance.
///
/// It is `toNFKC_Casefold` of the Unicode standard (section 3.13). The form of a form is the form itself.
#[must_use]
pub fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let (normalizer, mapper) = (ComposingNormalizerBorrowed::new_nfkc(), CaseMapper::new());
    let mut folded = text.to_owned();
    // Folding can decompose a character, and composing can make one that has a fold. The second round changes few texts,
    // and the third one none.
    for _ in 0..4 {
        let seen: String = folded.chars().filter(|character| !has_no_appearance(*character)).collect();
        let next = normalizer.normalize(&mapper.fold_string(&normalizer.normalize(&seen))).into_owned();
        if next == folded {
            break;
        }
        folded = next;
    }
    folded
}

/// Whether a character is not shown, such as a joiner or a soft hyphen.
pub(crate) fn has_no_appearance(character: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
}

/// Whether a character joins or separates the characters around it, where a script needs it.
pub(crate) fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}')
}

/// Whether a character ends a line, changes the direction of text, or is another control character.
#[must_use]
pub fn controls_text(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}')
        || CodePointSetData::new::<BidiControl>().contains(character)
}

/// Whether a character leaves a mark on a page. A blank does not; neither does a character that is not assigned.
pub(crate) fn is_visible(character: char) -> bool {
    // A cell of Braille without a dot is a symbol.
    const BLANK_CELL: char = '\u{2800}';
    let hidden = GeneralCategoryGroup::Other.union(GeneralCategoryGroup::Separator);
    character != BLANK_CELL && !has_no_appearance(character) && !hidden.contains(category(character))
}

/// Whether a character is a blank other than U+0020, such as a no-break space.
pub(crate) fn is_other_blank(character: char) -> bool {
    character != ' ' && category(character) == GeneralCategory::SpaceSeparator
}

/// Whether a character is a mark, which stands on the character before it.
pub(crate) fn is_mark(character: char) -> bool {
    GeneralCategoryGroup::Mark.contains(category(character))
}

/// Whether a character is a letter.
pub(crate) fn is_letter(character: char) -> bool {
    GeneralCategoryGroup::Letter.contains(category(character))
}

fn category(character: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_folded_word_starts_with_its_folded_prefix_in_any_case() {
        for (word, prefix) in [("Ὀδυσσεύς", "ὈΔΥΣ"), ("ΣΊΣΥΦΟΣ", "σίς"), ("Ada", "AD"), ("Weiß", "WEIS")]
        {
            assert!(folded(word).starts_with(&folded(prefix)), "{word} {prefix}");
        }
    }

    #[test]
    fn texts_that_look_alike_have_one_folded_form() {
        for (one, other) in [
            ("Weiß", "WEISS"),
            ("René", "RENE\u{301}"),
            ("ﬁ", "FI"),
            ("Ａｄａ", "ada"),
            ("Ⅷ", "viii"),
            ("a\u{ad}d\u{200b}a", "ada"),
            ("\u{1e9e}", "ss"),
            ("α\u{345}\u{301}", "Α\u{301}Ι"),
            ("가", "\u{1100}\u{1161}"),
        ] {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn the_form_of_a_form_is_the_form(text in "\\PC{0,12}", more in proptest::collection::vec(any::<char>(), 0..8)) {
            for text in [text, more.into_iter().collect()] {
                let form = folded(&text);
                prop_assert_eq!(&folded(&form), &form);
                prop_assert_eq!(&folded(&composed(&text)), &form);
            }
        }
    }
}
