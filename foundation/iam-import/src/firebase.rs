//! The users that `firebase auth:export` writes as JSON.

use std::collections::BTreeMap;
use std::io::BufRead;

use iam_model::secret::HashSecret;
use iam_model::validate::{FieldError, Invalid};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::array::Elements;
use crate::error::ReadError;
use crate::json::{self, or_default};
use crate::names::Known;
use crate::password::{decode, text_of, unusable};
use crate::record::{ForeignPassword, Record, status};
use crate::row::Row;

/// The field of the custom claims. Only the program can set them.
const CLAIMS: &str = "customAttributes";

/// The parameters of the hashes of a project, as the console of Firebase shows them. The signer key is secret.
#[derive(Clone, Debug)]
pub struct FirebaseParameters {
    signer_key: HashSecret,
    salt_separator: Vec<u8>,
    rounds: u32,
    mem_cost: u32,
}

impl FirebaseParameters {
    /// Reads the text `hash_config { … }` that the console shows.
    ///
    /// # Errors
    ///
    /// [`Invalid`] which names what is missing or wrong. It contains no value.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let value = |name: &str| {
            let line =
                text.lines().map(str::trim).find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'));
            let value = line.map(|value| value.trim().trim_end_matches(',').trim_matches('"').trim());
            value.ok_or_else(|| Invalid::new(format!("has no {name}")))
        };
        let number =
            |name: &str| value(name)?.parse::<u32>().map_err(|_| Invalid::new(format!("has no number for {name}")));
        if value("algorithm")? != "SCRYPT" {
            return Err(Invalid::new("has another algorithm than SCRYPT"));
        }
        let separator = decode(value("base64_salt_separator")?);
        Ok(Self {
            signer_key: value("base64_signer_key")?.into(),
            salt_separator: separator.ok_or_else(|| Invalid::new("has a base64_salt_separator that is not base64"))?,
            rounds: number("rounds")?,
            mem_cost: number("mem_cost")?,
        })
    }

    /// Returns the signer key in base64, without which no hash of the project can be verified.
    #[must_use]
    pub fn signer_key(&self) -> &HashSecret {
        &self.signer_key
    }

    fn hash(&self, salt: &str, hash: &str) -> ForeignPassword {
        let (Some(mut salt), Some(hash)) = (decode(salt), decode(hash)) else {
            return unusable("its salt or its hash is not base64");
        };
        salt.extend(&self.salt_separator);
        text_of("firebase-scrypt", &format!("ln={},r={}", self.mem_cost, self.rounds), &salt, &hash)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct User {
    local_id: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    email: String,
    #[serde(default, deserialize_with = "or_default")]
    email_verified: bool,
    #[serde(default, deserialize_with = "or_default")]
    password_hash: String,
    #[serde(default, deserialize_with = "or_default")]
    salt: String,
    display_name: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    disabled: bool,
    /// JSON in a text.
    #[serde(default, deserialize_with = "or_default")]
    custom_attributes: String,
    phone_number: Option<String>,
    photo_url: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    provider_user_info: Vec<IgnoredAny>,
    #[serde(default, deserialize_with = "or_default")]
    mfa_info: Vec<IgnoredAny>,
}

pub(crate) struct Firebase<'a, R> {
    users: Elements<R>,
    parameters: Option<&'a FirebaseParameters>,
}

impl<'a, R: BufRead> Firebase<'a, R> {
    pub(crate) fn read(mut input: R, parameters: Option<&'a FirebaseParameters>) -> Result<Self, ReadError> {
        let start = input.fill_buf()?;
        let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
        // The CSV of Firebase does not quote the texts that people set themselves, such as their name: one with commas
        // and ends of lines would write other columns and records.
        if !start.starts_with(b"{") {
            let message =
                "is no object of JSON: export the users as JSON (`firebase auth:export users.json`), not as CSV";
            return Err(ReadError::malformed(1, message));
        }
        Ok(Self { users: Elements::new(input, "users"), parameters })
    }
}

impl<R: BufRead> Iterator for Firebase<'_, R> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (line, text) = match self.users.next() {
            Ok(found) => found?,
            Err(error) => return Some(Err(error)),
        };
        let Some(text) = text else { return Some(Ok(Row::too_long(line))) };
        Some(Ok(match json::parse::<User>(&text) {
            Ok(user) => {
                let (email, foreign_id) = (user.email.clone(), user.local_id.clone());
                Row { line, email, foreign_id, username: None, user: self.record(user) }
            }
            Err(error) => Row::refused(line, error),
        }))
    }
}

impl<R> Firebase<'_, R> {
    fn record(&self, user: User) -> Result<Record, FieldError> {
        let mut record = Record::new(user.email);
        record.name(Known { whole: user.display_name.as_deref(), ..Known::default() });
        record.foreign_id = user.local_id;
        record.is_email_verified = user.email_verified;
        record.status = status(user.disabled);
        record.password = match self.parameters {
            _ if user.password_hash.is_empty() => ForeignPassword::None,
            Some(parameters) => parameters.hash(&user.salt, &user.password_hash),
            None => unusable("its parameters are not given"),
        };
        record.leave_out("second factors", user.mfa_info.len());
        record.leave_out("accounts of identity providers", user.provider_user_info.len());
        for (name, value) in [("phoneNumber", user.phone_number), ("photoUrl", user.photo_url)] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                record.attributes.insert(name.to_owned(), value.into());
            }
        }
        for (name, value) in claims_of(&user.custom_attributes)? {
            match value {
                Value::String(role) if name == "role" => record.roles.push(role),
                Value::Array(roles) if name == "roles" => {
                    record.roles.extend(roles.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                Value::Bool(true) => record.roles.push(name),
                // With a name that differs from `photoUrl`, which a person sets itself.
                value => drop(record.attributes.insert(format!("{CLAIMS}.{name}"), value)),
            }
        }
        Ok(record)
    }
}

/// Returns the custom claims of a user, which are a text of JSON.
fn claims_of(text: &str) -> Result<BTreeMap<String, Value>, FieldError> {
    if text.is_empty() {
        return Ok(BTreeMap::new());
    }
    iam_json::from_slice(text.as_bytes()).map_err(|_| FieldError::new(CLAIMS, "must be a JSON object"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_are_read_as_the_console_shows_them() {
        let text = "hash_config {\n  algorithm: SCRYPT,\n  base64_signer_key: a2V5,\n  base64_salt_separator: Bw==,\n  \
                    rounds: 8,\n  mem_cost: 14,\n}\n";
        let read = FirebaseParameters::parse(text).unwrap();
        assert_eq!(
            (read.signer_key.expose(), &read.salt_separator[..], read.rounds, read.mem_cost),
            ("a2V5", &[7][..], 8, 14)
        );
        assert!(!format!("{read:?}").contains("a2V5"));
        for (from, to, part) in [
            ("SCRYPT", "BCRYPT", "another algorithm"),
            ("rounds", "turns", "has no rounds"),
            ("14", "x", "no number for mem_cost"),
            ("Bw==", "!", "not base64"),
        ] {
            let error = FirebaseParameters::parse(&text.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
