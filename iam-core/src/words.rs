/// Gives an enum of plain words its text form, both ways: `as_str`, `Display` and `FromStr`.
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
    };
}
