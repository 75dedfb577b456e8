//! The users that `firebase auth:export` writes, as JSON and as CSV.

use std::collections::BTreeMap;
use std::io::BufRead;

use csv::StringRecord;
use iam_model::secret::HashSecret;
use iam_model::validate::Invalid;
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
use crate::table::Table;

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

#[derive(Default, Deserialize)]
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
    users: Users<R>,
    parameters: Option<&'a FirebaseParameters>,
}

enum Users<R> {
    Json(Elements<R>),
    Csv(Box<Table<R>>),
}

impl<'a, R: BufRead> Firebase<'a, R> {
    pub(crate) fn read(mut input: R, parameters: Option<&'a FirebaseParameters>) -> Result<Self, ReadError> {
        let is_json = input.fill_buf()?.trim_ascii_start().starts_with(b"{");
        let users = match is_json {
            true => Users::Json(Elements::new(input, "users")),
            false => Users::Csv(Box::new(Table::without_header(input)?)),
        };
        Ok(Self { users, parameters })
    }

    fn next_row(&mut self) -> Result<Option<Row>, ReadError> {
        let (line, user) = match &mut self.users {
            Users::Json(elements) => {
                let Some((line, text)) = elements.next()? else { return Ok(None) };
                let Some(text) = text else { return Ok(Some(Row::too_long(line))) };
                (line, json::parse(&text))
            }
            Users::Csv(table) => {
                let Some((line, record)) = table.next()? else { return Ok(None) };
                (line, record.map(|record| of_record(&record)))
            }
        };
        Ok(Some(match user {
            Ok(user) => Row::of(line, self.record(user)),
            Err(error) => Row::refused(line, error),
        }))
    }
}

impl<R: BufRead> Iterator for Firebase<'_, R> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_row().transpose()
    }
}

impl<R> Firebase<'_, R> {
    fn record(&self, user: User) -> Record {
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
        let claims: BTreeMap<String, Value> = serde_json::from_str(&user.custom_attributes).unwrap_or_default();
        for (name, value) in claims {
            match value {
                Value::String(role) if name == "role" => record.roles.push(role),
                Value::Array(roles) if name == "roles" => {
                    record.roles.extend(roles.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                Value::Bool(true) => record.roles.push(name),
                value => drop(record.attributes.insert(name, value)),
            }
        }
        record
    }
}

/// Returns the user of a record. The columns have no names, but fixed places.
fn of_record(record: &StringRecord) -> User {
    let text = |place: usize| record.get(place).unwrap_or_default().trim();
    let given = |place: usize| Some(text(place).to_owned()).filter(|text| !text.is_empty());
    // The accounts of Google, Facebook, Twitter and GitHub.
    let accounts = [7, 11, 15, 19].into_iter().filter(|place| !text(*place).is_empty()).count();
    User {
        local_id: given(0),
        email: text(1).to_owned(),
        email_verified: text(2) == "true",
        password_hash: text(3).to_owned(),
        salt: text(4).to_owned(),
        display_name: given(5),
        photo_url: given(6),
        phone_number: given(25),
        disabled: text(26) == "true",
        custom_attributes: text(27).to_owned(),
        provider_user_info: (0..accounts).map(|_| IgnoredAny).collect(),
        mfa_info: Vec::new(),
    }
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
