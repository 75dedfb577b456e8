//! How an installation looks: the name, the logo and the colour on its pages and in its messages.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::text::{controls_text, is_visible};

/// The name, the logo and the colour of an installation. Each of them may be missing.
///
/// ```
/// use iam_model::brand::Brand;
///
/// let brand = Brand::default().with_name("Acme")?.with_accent("#7c3aed")?;
/// assert_eq!(brand.name(), Some("Acme"));
/// // White text on it could not be read.
/// assert!(Brand::default().with_accent("#facc15").is_err());
/// # Ok::<(), iam_model::brand::InvalidBrand>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brand {
    name: Option<String>,
    logo: Option<Logo>,
    accent: Option<Accent>,
}

/// Why a part of a brand cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBrand {
    /// The name is too long, has no visible character, or has one that controls the text around it.
    #[error(
        "must have 1 to {} characters in one line, a visible one among them, and none that turns text around",
        MAX_NAME
    )]
    Name,
    /// The file is larger than a logo may be.
    #[error("must have at most {} KiB", MAX_LOGO / 1024)]
    LargeLogo,
    /// The file is no picture of a kind that is served.
    #[error("must be a picture of the type PNG or SVG")]
    Logo,
    /// The text is no colour.
    #[error("must be a colour such as #1d4ed8")]
    Colour,
    /// Text on the accent colour, or in it, could not be read.
    #[error(
        "must be darker: its contrast with a light page is {}.{:02}, and text needs {}.{:02}",
        .0 / 100, .0 % 100, NEEDED / 100, NEEDED % 100
    )]
    Pale(
        /// The contrast, in hundredths.
        u16,
    ),
}

/// The most characters of a name: it stands above the navigation.
const MAX_NAME: usize = 40;

/// The most bytes of a logo: each first page loads it.
const MAX_LOGO: usize = 32 * 1024;

/// The least contrast of text in hundredths (WCAG 2.2, criterion 1.4.3).
const NEEDED: u16 = 450;

impl Brand {
    /// Returns the brand with a name.
    ///
    /// # Errors
    ///
    /// [`InvalidBrand::Name`] if it does not fit a line of a page. Its characters are those of the names of users.
    pub fn with_name(self, name: &str) -> Result<Self, InvalidBrand> {
        let name = name.trim();
        let is_readable = name.chars().any(is_visible) && !name.chars().any(controls_text);
        if is_readable && name.chars().count() <= MAX_NAME {
            Ok(Self { name: Some(name.to_owned()), ..self })
        } else {
            Err(InvalidBrand::Name)
        }
    }

    /// Returns the brand with a logo: the content of a file.
    ///
    /// # Errors
    ///
    /// [`InvalidBrand::LargeLogo`] or [`InvalidBrand::Logo`].
    pub fn with_logo(self, file: impl Into<Arc<[u8]>>) -> Result<Self, InvalidBrand> {
        Ok(Self { logo: Some(Logo::new(file.into())?), ..self })
    }

    /// Returns the brand with an accent colour, such as `#1d4ed8`.
    ///
    /// # Errors
    ///
    /// [`InvalidBrand::Colour`], or [`InvalidBrand::Pale`] if its contrast with a light page is less than 4.5.
    pub fn with_accent(self, colour: &str) -> Result<Self, InvalidBrand> {
        Ok(Self { accent: Some(Accent::new(colour.parse()?)?), ..self })
    }

    /// The name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The logo.
    pub fn logo(&self) -> Option<&Logo> {
        self.logo.as_ref()
    }

    /// The accent colour.
    pub fn accent(&self) -> Option<Accent> {
        self.accent
    }

    /// Returns a style with the accent colour, for pages that get their colours from these properties. `None` without an
    /// accent colour.
    pub fn style(&self) -> Option<String> {
        let Accent { light, dark } = self.accent?;
        let mark = format!("light-dark({}, {})", light.mixed(WHITE, 38), dark.mixed(SURFACE, 64));
        let on_button = format!("light-dark({WHITE}, {DARK_PAGE})");
        Some(format!(
            ":root {{ --accent: light-dark({light}, {dark}); --button: light-dark({light}, {dark}); \
             --on-button: {on_button}; --mark: {mark}; }}\n"
        ))
    }
}

/// A picture, the content of a file.
#[derive(Clone, PartialEq, Eq)]
pub struct Logo {
    content: Arc<[u8]>,
    is_vector: bool,
}

impl fmt::Debug for Logo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Logo({}, {} bytes)", self.content_type(), self.content.len())
    }
}

impl Logo {
    /// The Content Security Policy with which a server sends the file. An SVG file could have a script, and a browser that opens the
    /// file itself must not run it.
    pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

    fn new(content: Arc<[u8]>) -> Result<Self, InvalidBrand> {
        if content.len() > MAX_LOGO {
            return Err(InvalidBrand::LargeLogo);
        }
        if content.starts_with(b"\x89PNG\r\n\x1a\n") {
            return Ok(Self { content, is_vector: false });
        }
        let text = str::from_utf8(&content).map_err(|_| InvalidBrand::Logo)?;
        let begins = text.trim_start_matches('\u{feff}').trim_start();
        if begins.starts_with('<') && text.contains("<svg") {
            Ok(Self { content, is_vector: true })
        } else {
            Err(InvalidBrand::Logo)
        }
    }

    /// The type of the file.
    pub fn content_type(&self) -> &'static str {
        if self.is_vector { "image/svg+xml" } else { "image/png" }
    }

    /// The name under which a server sends the file.
    pub fn file_name(&self) -> &'static str {
        if self.is_vector { "logo.svg" } else { "logo.png" }
    }

    /// The content of the file.
    pub fn content(&self) -> &[u8] {
        &self.content
    }
}

/// A colour for links, and for buttons with their texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accent {
    light: Colour,
    dark: Colour,
}

/// The backgrounds of pages, which `console.css` has, too: the darker of the light ones, and the lighter of the dark
/// ones. So the contrast with the others is greater.
const LIGHT_PAGE: Colour = Colour([0xf8, 0xfa, 0xfc]);
const SURFACE: Colour = Colour([0x1e, 0x29, 0x3b]);
const DARK_PAGE: Colour = Colour([0x0f, 0x17, 0x2a]);
const WHITE: Colour = Colour([0xff; 3]);

impl Accent {
    fn new(light: Colour) -> Result<Self, InvalidBrand> {
        let contrast = light.contrast(LIGHT_PAGE);
        if contrast < NEEDED {
            return Err(InvalidBrand::Pale(contrast));
        }
        // No colour can be read on a light page and on a dark one, so the dark one gets a tint of it.
        let tint = (0..=u8::MAX).map(|share| WHITE.mixed(light, share)).find(|it| it.contrast(SURFACE) >= NEEDED);
        Ok(Self { light, dark: tint.unwrap_or(WHITE) })
    }

    /// The colour on a light page. White text on it can be read.
    pub fn light(self) -> Colour {
        self.light
    }

    /// The tint of it on a dark page. Dark text on it can be read.
    pub fn dark(self) -> Colour {
        self.dark
    }
}

/// A colour with its parts red, green and blue. Its text is that of CSS, such as `#1d4ed8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour([u8; 3]);

impl FromStr for Colour {
    type Err = InvalidBrand;

    fn from_str(text: &str) -> Result<Self, InvalidBrand> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6).ok_or(InvalidBrand::Colour)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(InvalidBrand::Colour);
        }
        let number = u32::from_str_radix(digits, 16).map_err(|_| InvalidBrand::Colour)?;
        let [_, parts @ ..] = number.to_be_bytes();
        Ok(Self(parts))
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([red, green, blue]) = self;
        write!(formatter, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl Colour {
    /// Returns the contrast of two colours in hundredths, rounded down: from 100, for the same colour, to 2100, for black
    /// and white (WCAG 2.2, contrast ratio).
    pub fn contrast(self, other: Self) -> u16 {
        let (one, two) = (self.luminance() + 0.05, other.luminance() + 0.05);
        // In whole numbers: a float has no exact place in an error, and none for a comparison.
        let hundredths = (one.max(two) / one.min(two) * 100.0 + 1e-9).floor();
        (100..=2100).rev().find(|whole| f64::from(*whole) <= hundredths).unwrap_or(100)
    }

    /// The relative luminance of WCAG 2.2: 0 for black, 1 for white.
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|part| {
            let share = f64::from(part) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// Returns this colour with a share of itself, in parts of 255, and the rest of another one.
    fn mixed(self, other: Self, share: u8) -> Self {
        let Self([red, green, blue]) = self;
        let Self([other_red, other_green, other_blue]) = other;
        let part = |own: u8, other: u8| {
            let sum = u16::from(own) * u16::from(share) + u16::from(other) * u16::from(u8::MAX - share);
            u8::try_from(sum / 255).unwrap_or(u8::MAX)
        };
        Self([part(red, other_red), part(green, other_green), part(blue, other_blue)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colour(text: &str) -> Colour {
        text.parse().unwrap()
    }

    /// The values are those of the definition, computed by other tools.
    #[test]
    fn the_contrast_is_that_of_wcag() {
        for (one, two, hundredths) in [
            ("#000000", "#ffffff", 2100),
            ("#ffffff", "#ffffff", 100),
            ("#777777", "#ffffff", 447),
            ("#767676", "#ffffff", 454),
            ("#0000ff", "#ffffff", 859),
            ("#ff0000", "#ffffff", 399),
            ("#00ff00", "#000000", 1530),
        ] {
            assert_eq!(colour(one).contrast(colour(two)), hundredths, "{one} {two}");
            assert_eq!(colour(two).contrast(colour(one)), hundredths, "{two} {one}");
        }
    }

    #[test]
    fn an_accent_can_be_read_on_every_page_in_light_and_in_dark() {
        for text in ["#1d4ed8", "#000000", "#7c3aed", "#b91c1c", "#166534", "#0f766e", "#9d174d", "#0000ff"] {
            let brand = Brand::default().with_accent(text).unwrap();
            let Accent { light, dark } = brand.accent().unwrap();
            assert_eq!(light.to_string(), text);
            for (text, back) in [
                (WHITE, light),
                (light, WHITE),
                (light, LIGHT_PAGE),
                (DARK_PAGE, dark),
                (dark, DARK_PAGE),
                (dark, SURFACE),
                // The text of a marked link.
                (DARK_PAGE, light.mixed(WHITE, 38)),
                (colour("#f1f5f9"), dark.mixed(SURFACE, 64)),
            ] {
                assert!(text.contrast(back) >= NEEDED, "{light}: {text} on {back}");
            }
        }
    }

    #[test]
    fn a_colour_that_cannot_be_read_or_is_none_is_refused() {
        let refused = |text: &str| Brand::default().with_accent(text).unwrap_err();
        assert_eq!(
            refused("#ffffff").to_string(),
            "must be darker: its contrast with a light page is 1.04, and text needs 4.50"
        );
        for pale in ["#facc15", "#22c55e", "#777777", "#3b82f6"] {
            assert!(matches!(refused(pale), InvalidBrand::Pale(_)), "{pale}");
        }
        for text in ["", "#", "1d4ed8", "#1d4ed", "#1d4ed80", "#1d4edg", "blue", "#+d4ed8", "#é4ed8", "#1d4ed8;}"] {
            assert_eq!(refused(text), InvalidBrand::Colour, "{text}");
        }
    }

    #[test]
    fn a_name_is_one_short_line() {
        let name = |text: &str| Brand::default().with_name(text).map(|brand| brand.name().unwrap().to_owned());
        assert_eq!(name(" Acme & Söhne ").as_deref(), Ok("Acme & Söhne"));
        assert!(name(&"é".repeat(40)).is_ok());
        for text in ["", "  ", "a\nb", "a\u{7}b", "Acme\u{202e}", "a\u{2028}b", "\u{200b}", &"a".repeat(41)] {
            assert_eq!(name(text), Err(InvalidBrand::Name), "{text:?}");
        }
    }

    #[test]
    fn a_logo_is_a_small_picture() {
        let logo = |file: &[u8]| Brand::default().with_logo(file).map(|brand| brand.logo().unwrap().content_type());
        assert_eq!(logo(b"\x89PNG\r\n\x1a\nrest"), Ok("image/png"));
        assert_eq!(logo(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), Ok("image/svg+xml"));
        assert_eq!(logo(b"\xef\xbb\xbf<?xml version='1.0'?>\n<svg/>"), Ok("image/svg+xml"));
        for file in [&b""[..], b"GIF89a", b"<html></html>", b"svg <svg", b"\xff<svg"] {
            assert_eq!(logo(file), Err(InvalidBrand::Logo), "{file:?}");
        }
        let mut large = b"<svg>".to_vec();
        large.resize(32 * 1024 + 1, b' ');
        assert_eq!(logo(&large), Err(InvalidBrand::LargeLogo));
        large.truncate(32 * 1024);
        assert_eq!(logo(&large), Ok("image/svg+xml"));
    }

    #[test]
    fn a_style_has_the_colours_of_both_schemes() {
        assert_eq!(Brand::default().style(), None);
        let style = Brand::default().with_accent("#1D4ED8").unwrap().style().unwrap();
        assert!(style.contains("--accent: light-dark(#1d4ed8, #"), "{style}");
        assert!(style.contains("--on-button: light-dark(#ffffff, #0f172a)"), "{style}");
    }
}
