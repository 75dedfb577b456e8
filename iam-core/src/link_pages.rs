use std::str::FromStr;

use iam_model::link::LinkPurpose;
use iam_model::secret::{LinkToken, LinkUrl};
use iam_model::validate::Invalid;

/// The pages to which the links in messages lead.
#[derive(Clone, Debug)]
pub struct LinkPages {
    /// The page that verifies an address: it sends the token to
    /// [`Verification::verify`](crate::verification::Verification::verify).
    pub verify: LinkTemplate,
    /// The page that asks for a new password: it sends the token to
    /// [`Recovery::reset`](crate::recovery::Recovery::reset).
    pub reset: LinkTemplate,
    /// The page that asks for the name and the password of an invited person: it sends the token to
    /// [`Invitations::accept`](crate::invitation::Invitations::accept).
    pub invitation: LinkTemplate,
    /// The page that logs in: it sends the token to [`EmailLogins::finish`](crate::email_login::EmailLogins::finish).
    /// It must not do so by itself, because mail programs and virus scanners open links, too.
    pub login: LinkTemplate,
}

/// The address of a page, with `{token}` where the token of the link stands.
///
/// ```
/// use iam_core::mail::LinkTemplate;
///
/// assert!("https://app.example.com/verify#token={token}".parse::<LinkTemplate>().is_ok());
/// assert!("https://app.example.com/verify".parse::<LinkTemplate>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTemplate(String);

const TOKEN: &str = "{token}";

impl FromStr for LinkTemplate {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_page = ["https://", "http://"].iter().any(|scheme| text.strip_prefix(scheme).is_some_and(has_host));
        if !is_page || text.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
            return Err(Invalid::new("must be a URL that starts with https:// or http://"));
        }
        if text.matches(TOKEN).count() != 1 {
            return Err(Invalid::new("must contain {token} once"));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Whether a host stands before the path and the token.
fn has_host(rest: &str) -> bool {
    rest.find(['/', '?', '#']).is_some_and(|end| end > 0 && !rest.split_at(end).0.contains(TOKEN))
}

impl LinkPages {
    /// Returns the address for a link.
    pub(crate) fn url(&self, purpose: LinkPurpose, token: &LinkToken) -> LinkUrl {
        let LinkTemplate(page) = match purpose {
            LinkPurpose::Verify => &self.verify,
            LinkPurpose::Reset => &self.reset,
            LinkPurpose::Invitation => &self.invitation,
            LinkPurpose::Login => &self.login,
        };
        page.replace(TOKEN, token.expose()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_a_url_with_one_token() {
        for good in ["https://example.com/a/{token}", "http://localhost:1/?t={token}", "https://x.example#{token}"] {
            assert!(good.parse::<LinkTemplate>().is_ok(), "{good}");
        }
        for bad in [
            "example.com/{token}",
            "javascript:alert({token})",
            "ftp://example.com/{token}",
            "https:///{token}",
            "https://{token}",
            "https://{token}/",
            "https://example.com/",
            "https://example.com/{token}/{token}",
            "https://example.com/ {token}",
            "https://example.com/\n{token}",
        ] {
            assert!(bad.parse::<LinkTemplate>().is_err(), "{bad}");
        }
    }

    #[test]
    fn each_purpose_has_its_page() {
        let page = |text: &str| text.parse::<LinkTemplate>().unwrap();
        let pages = LinkPages {
            verify: page("https://a.example/v/{token}/x"),
            reset: page("https://a.example/r#{token}"),
            invitation: page("https://a.example/i?t={token}"),
            login: page("https://a.example/l/{token}"),
        };
        let url = |purpose| pages.url(purpose, &"iaml_T".into()).expose().to_owned();
        assert_eq!(url(LinkPurpose::Verify), "https://a.example/v/iaml_T/x");
        assert_eq!(url(LinkPurpose::Reset), "https://a.example/r#iaml_T");
        assert_eq!(url(LinkPurpose::Invitation), "https://a.example/i?t=iaml_T");
        assert_eq!(url(LinkPurpose::Login), "https://a.example/l/iaml_T");
    }
}
