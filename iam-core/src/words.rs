/// Lets serde write something as its text, and read it as [`FromStr`](std::str::FromStr) does.
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

/// Gives an enum of plain words its text form, both ways: `as_str`, `Display`, `FromStr` and serde.
macro_rules! words {
    ($name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        impl $name {
            /// The word that stands for it in JSON and in stores.
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
            type Err = $crate::Invalid;

            fn from_str(text: &str) -> ::std::result::Result<Self, $crate::Invalid> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::Invalid::one_of(&[$($text),+])),
                }
            }
        }

        serde_by_text! { $name }
    };
}
