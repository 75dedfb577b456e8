//! Changes of some fields of a noun: as typed, and valid.

use std::str::FromStr;

use iam_model::attribute::AttributesPatch;
use iam_model::validate::{Fields, Invalid};
use serde_json::{Map, Value};

/// Declares the patch of a noun as typed, and the private type `ValidPatch` with `validate` and `apply`.
///
/// A line has the field of the patch with its type, the field of the noun with its type, and how the first becomes the
/// second: a function, and the field's name in errors. What `with` names is kept beside the noun, and not applied to it.
macro_rules! patch {
    (
        $(#[$attribute:meta])*
        $patch:ident of $noun:ident
        $(with {
            $(
                $(#[$beside_doc:meta])*
                $beside:ident: $beside_given:ty => $beside_valid:ty = $beside_check:ident($beside_name:literal),
            )+
        })?
        {
            $($(#[$doc:meta])* $field:ident: $given:ty => $target:ident: $valid:ty = $check:ident($name:literal),)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default)]
        pub struct $patch {
            $($(#[$doc])* pub $field: Option<$given>,)+
            $($($(#[$beside_doc])* pub $beside: Option<$beside_given>,)+)?
        }

        #[doc = concat!("A [`", stringify!($patch), "`] with valid fields.")]
        pub(super) struct ValidPatch {
            $(pub(super) $field: Option<$valid>,)+
            $($(pub(super) $beside: Option<$beside_valid>,)+)?
        }

        impl $patch {
            pub(super) fn validate(&self) -> iam_model::error::Result<ValidPatch> {
                let mut fields = iam_model::validate::Fields::default();
                let patch = ValidPatch {
                    $($field: self.$field.as_ref().and_then(|given| $check(&mut fields, $name, given)),)+
                    $($(
                        $beside: self.$beside.as_ref().and_then(|given| {
                            $beside_check(&mut fields, $beside_name, given)
                        }),
                    )+)?
                };
                fields.finish()?;
                Ok(patch)
            }
        }

        impl ValidPatch {
            /// Returns the noun with the patch applied, but for what is kept beside it.
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

/// Checks the form of a change of attributes.
pub(crate) fn attributes(fields: &mut Fields, name: &str, given: &Map<String, Value>) -> Option<AttributesPatch> {
    AttributesPatch::check(fields, name, given)
}

/// Takes a field whose type has only valid values.
pub(crate) fn value<T: Clone>(_: &mut Fields, _: &str, given: &T) -> Option<T> {
    Some(given.clone())
}
