use iam_model::validate::{Email, PersonName};
use serde_json::Value;

use crate::error::ScimError;
use crate::user::resource::UserResource;

/// The person behind a user, as the service knows people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The e-mail address.
    pub email: String,
    /// The given name, at most 100 characters.
    pub first_name: String,
    /// The family name, at most 100 characters.
    pub last_name: String,
}

/// The maximum length of a name.
const MAX_NAME: usize = 100;

/// Stands for a name that is not known.
const NO_NAME: &str = "-";

impl UserResource {
    /// Returns the person. The address is the primary one of `emails`, or else the first one, or else `userName` if
    /// that is an address. Names are those of `name`, or else parts of `displayName`, or else of the address.
    ///
    /// # Errors
    ///
    /// 400 `invalidValue` if there is no address, or if it is none.
    pub fn profile(&self) -> Result<Profile, ScimError> {
        let email = self.email()?;
        let text = |name: &str| self.attributes.get(name).and_then(Value::as_str);
        let name = |part: &str| self.attributes.get("name").and_then(|name| name.get(part)).and_then(Value::as_str);
        let whole = text("displayName").unwrap_or_default().trim();
        let (first, last) = whole.rsplit_once(' ').unwrap_or((whole, ""));
        let local = email.as_str().rsplit_once('@').map_or("", |(local, _)| local);
        let first_name = usable([name("givenName").unwrap_or_default(), first, local]);
        let last_name = usable([name("familyName").unwrap_or_default(), last, ""]);
        Ok(Profile { email: email.as_str().to_owned(), first_name, last_name })
    }

    fn email(&self) -> Result<Email, ScimError> {
        let emails = self.attributes.get("emails").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let is_primary = |email: &&Value| email.get("primary").and_then(Value::as_bool).unwrap_or_default();
        match emails.iter().find(is_primary).or(emails.first()) {
            Some(email) => {
                let value = email.get("value").and_then(Value::as_str).unwrap_or_default();
                value.parse::<Email>().map_err(|_| ScimError::invalid_value("emails.value must be an e-mail address"))
            }
            None => {
                let rule = "emails is required where userName is no e-mail address";
                self.user_name.parse::<Email>().map_err(|_| ScimError::invalid_value(rule))
            }
        }
    }
}

/// Returns the first text that is a name, cut to its maximum length.
fn usable(texts: [&str; 3]) -> String {
    let name = |text: &str| {
        let cut: String = text.trim().chars().take(MAX_NAME).collect();
        cut.parse::<PersonName>().ok().map(String::from)
    };
    texts.into_iter().find_map(name).unwrap_or_else(|| NO_NAME.to_owned())
}
