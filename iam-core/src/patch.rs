//! Changes of some fields of a noun: as typed, and valid.

use std::str::FromStr;

use iam_model::validate::{Fields, Invalid};

/// Declares the patch of a noun as typed, and the private type `ValidPatch` with `validate` and `apply`.
///
/// A line has the field of the patch with its type, the field of the noun with its type, and how the first becomes the
/// second: a function, and the field's name in errors.
macro_rules! patch {
    (
        $(#[$attribute:meta])*
        $patch:ident of $noun:ident {
            $($(#[$doc:meta])* $field:ident: $given:ty => $target:ident: $valid:ty = $check:ident($name:literal),)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default)]
        pub struct $patch {
            $($(#[$doc])* pub $field: Option<$given>,)+
        }

        #[doc = concat!("A [`", stringify!($patch), "`] with valid fields.")]
        pub(super) struct ValidPatch {
            $(pub(super) $field: Option<$valid>,)+
        }

        impl $patch {
            pub(super) fn validate(&self) -> iam_model::error::Result<ValidPatch> {
                let mut fields = iam_model::validate::Fields::default();
                let patch = ValidPatch {
                    $($field: self.$field.as_ref().and_then(|given| $check(&mut fields, $name, given)),)+
                };
                fields.finish()?;
                Ok(patch)
            }
        }

        impl ValidPatch {
            /// Returns the noun with the patch applied.
            pub(super) fn apply(self, before: &$noun, now: iam_model::clock::Timestamp) -> $noun {
                let mut after = before.clone();
                $(after.$target = self.$field.map_or(after.$target, Into::into);)+
                if after == *before { after } else { after.changed(now) }
            }
        }
    };
}
pub(crate) use patch;

/// Parses a text field.
pub(crate) fn text<T: FromStr<Err = Invalid>>(fields: &mut Fields, name: &str, given: &str) -> Option<T> {
    fields.check(name, given.parse())
}

/// Parses a text field that can be removed.
pub(crate) fn text_or_none<T: FromStr<Err = Invalid>>(
    fields: &mut Fields,
    name: &str,
    given: &Option<String>,
) -> Option<Option<T>> {
    match given {
        Some(given) => text(fields, name, given).map(Some),
        None => Some(None),
    }
}

/// Checks a number.
pub(crate) fn number<T: TryFrom<i64, Error = Invalid>>(fields: &mut Fields, name: &str, given: &i64) -> Option<T> {
    fields.check(name, T::try_from(*given))
}

/// Takes a field whose type has only valid values.
pub(crate) fn value<T: Clone>(_: &mut Fields, _: &str, given: &T) -> Option<T> {
    Some(given.clone())
}
