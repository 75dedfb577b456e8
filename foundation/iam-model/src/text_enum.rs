/// Implements serde by the text form: `as_str` to serialize, [`FromStr`](std::str::FromStr) to deserialize.
macro_rules! serde_by_text {
    ($name:ty) => {
        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::std::result::Result<Self, D::Error> {
                let text = <::std::borrow::Cow<'de, str> as ::serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(::serde::de::Error::custom)
            }
        }
    };
}

/// Implements the text form of an enum without data, in both directions: `as_str`, `Display`, `FromStr` and serde.
macro_rules! text_enum {
    ($name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        impl $name {
            /// Returns the text form, which JSON and stores use.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::validate::Invalid;

            fn from_str(text: &str) -> ::std::result::Result<Self, $crate::validate::Invalid> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::validate::Invalid::one_of(&[$($text),+])),
                }
            }
        }

        serde_by_text! { $name }
    };
}
