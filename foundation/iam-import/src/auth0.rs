//! The users that Auth0 exports, and the hashes of their passwords, which its support exports in another file.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use iam_model::secret::PasswordHash;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::array::Elements;
use crate::error::ReadError;
use crate::json::{self, or_default};
use crate::lines::Lines;
use crate::names::Known;
use crate::password::{decode, text_of, unusable};
use crate::plain::hash;
use crate::record::{ForeignPassword, Record, status};
use crate::row::Row;

/// How many hashes are kept in memory, each of about 150 bytes.
const MAX_HASHES: usize = 5_000_000;

/// A user of either export, or of a file for Auth0's own import.
#[derive(Deserialize)]
struct User {
    #[serde(alias = "Id")]
    user_id: Option<String>,
    #[serde(rename = "_id")]
    object: Option<Object>,
    #[serde(default, deserialize_with = "or_default", alias = "Email")]
    email: String,
    #[serde(alias = "Username")]
    username: Option<String>,
    #[serde(alias = "Email Verified")]
    email_verified: Option<Flag>,
    #[serde(alias = "Given Name")]
    given_name: Option<String>,
    #[serde(alias = "Family Name")]
    family_name: Option<String>,
    #[serde(alias = "Name")]
    name: Option<String>,
    #[serde(alias = "Blocked")]
    blocked: Option<Flag>,
    #[serde(rename = "passwordHash", alias = "password_hash")]
    password_hash: Option<String>,
    custom_password_hash: Option<Custom>,
    #[serde(default, deserialize_with = "or_default")]
    app_metadata: BTreeMap<String, Value>,
    /// People can edit it.
    #[serde(default, deserialize_with = "or_default")]
    user_metadata: BTreeMap<String, Value>,
    #[serde(default, deserialize_with = "or_default")]
    identities: Vec<Identity>,
    #[serde(default, deserialize_with = "or_default")]
    multifactor: Vec<IgnoredAny>,
    #[serde(default, deserialize_with = "or_default")]
    mfa_factors: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct Object {
    #[serde(rename = "$oid")]
    oid: String,
}

#[derive(Deserialize)]
struct Identity {
    #[serde(default, deserialize_with = "or_default")]
    provider: String,
}

/// True or false, which the export may write as a text. Another text refuses the record.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Flag {
    Bool(bool),
    Text(Word),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    True,
    False,
    #[serde(rename = "")]
    Empty,
}

impl Flag {
    fn value(self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(value),
            Self::Text(Word::True) => Some(true),
            Self::Text(Word::False) => Some(false),
            Self::Text(Word::Empty) => None,
        }
    }
}

/// A hash that another system has made before, by the schema of Auth0's import.
#[derive(Deserialize)]
struct Custom {
    #[serde(default, deserialize_with = "or_default")]
    algorithm: String,
    hash: Coded,
    salt: Option<Coded>,
    #[serde(rename = "keylen")]
    length: Option<usize>,
    #[serde(default = "usual_cost")]
    cost: u64,
    #[serde(rename = "blockSize", default = "usual_block")]
    block: u32,
    #[serde(rename = "parallelization", default = "usual_lanes")]
    lanes: u32,
}

const fn usual_cost() -> u64 {
    16_384
}

const fn usual_block() -> u32 {
    8
}

const fn usual_lanes() -> u32 {
    1
}

/// Bytes as a text.
#[derive(Deserialize)]
struct Coded {
    value: String,
    #[serde(default, deserialize_with = "or_default")]
    encoding: String,
}

impl Coded {
    fn bytes(&self) -> Option<Vec<u8>> {
        match self.encoding.as_str() {
            "base64" => decode(&self.value),
            "hex" => hex(&self.value),
            "utf8" | "" => Some(self.value.as_bytes().to_vec()),
            _ => None,
        }
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte * 16 + digit).try_into().ok()).collect()
}

/// The hashes of the file that Auth0's support exports, by the identifiers of their users.
#[derive(Default)]
pub struct Auth0Hashes(HashMap<String, PasswordHash>);

impl Auth0Hashes {
    /// Reads the file: one object in each line. A line without a hash is skipped.
    ///
    /// # Errors
    ///
    /// [`ReadError`] with the line that is not valid, or when the file has more than 5,000,000 hashes.
    pub fn read(input: impl BufRead) -> Result<Self, ReadError> {
        let mut lines = Lines::new(input);
        let mut hashes = HashMap::new();
        while let Some((line, text)) = lines.next()? {
            let wrong = |message: &str| ReadError::malformed(line, message);
            let text = text.ok_or_else(|| wrong("is longer than 1 MiB"))?;
            let user: User =
                json::parse(&text).map_err(|error| wrong(&format!("{} {}", error.field, error.message)))?;
            if hashes.len() >= MAX_HASHES {
                return Err(wrong("there are more than 5,000,000 hashes: divide the files"));
            }
            if let (Some(id), Some(hash)) = (id_of(&user), user.password_hash) {
                hashes.insert(id, PasswordHash::from(hash));
            }
        }
        Ok(Self(hashes))
    }
}

/// Returns the identifier of a user of a database of Auth0, which the export of hashes has without its prefix.
fn id_of(user: &User) -> Option<String> {
    let object = user.object.as_ref().map(|object| format!("auth0|{}", object.oid));
    user.user_id.clone().or(object)
}

pub(crate) struct Auth0<'a, R> {
    users: Users<R>,
    hashes: &'a Auth0Hashes,
}

enum Users<R> {
    Lines(Lines<R>),
    List(Elements<R>),
}

impl<'a, R: BufRead> Auth0<'a, R> {
    /// Reads an export, with one object in each line, or a list of objects.
    pub(crate) fn read(mut input: R, hashes: &'a Auth0Hashes) -> Result<Self, ReadError> {
        let is_list = input.fill_buf()?.trim_ascii_start().starts_with(b"[");
        let users = if is_list { Users::List(Elements::new(input, "users")) } else { Users::Lines(Lines::new(input)) };
        Ok(Self { users, hashes })
    }
}

impl<R: BufRead> Iterator for Auth0<'_, R> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match &mut self.users {
            Users::Lines(lines) => lines.next().map_err(ReadError::from),
            Users::List(elements) => elements.next(),
        };
        let (line, text) = match next {
            Ok(found) => found?,
            Err(error) => return Some(Err(error)),
        };
        let Some(text) = text else { return Some(Ok(Row::too_long(line))) };
        Some(Ok(match json::parse(&text) {
            Ok(user) => Row::of(line, self.record(user)),
            Err(error) => Row::refused(line, error),
        }))
    }
}

impl<R> Auth0<'_, R> {
    fn record(&self, mut user: User) -> Record {
        let mut record = Record::new(std::mem::take(&mut user.email));
        record.foreign_id = id_of(&user);
        record.username = user.username.take();
        record.name(Known {
            first: user.given_name.as_deref(),
            last: user.family_name.as_deref(),
            // Auth0 takes the e-mail for the name of a person whose name it does not know.
            whole: user.name.as_deref().filter(|name| !name.contains('@')),
        });
        record.is_email_verified = user.email_verified.and_then(Flag::value) == Some(true);
        let is_blocked = user.blocked.and_then(Flag::value);
        record.status = status(is_blocked == Some(true));
        record.password = match (&user.password_hash, &user.custom_password_hash) {
            (Some(text), _) => hash(text),
            (None, Some(custom)) => custom_hash(custom),
            (None, None) => {
                let found = record.foreign_id.as_ref().and_then(|id| self.hashes.0.get(id));
                found.cloned().map_or(ForeignPassword::None, ForeignPassword::Hash)
            }
        };
        let extension = user.app_metadata.get("authorization");
        record.roles = [user.app_metadata.get("roles"), extension.and_then(|found| found.get("roles"))]
            .into_iter()
            .flatten()
            .flat_map(texts)
            .collect();
        record.groups = extension.and_then(|found| found.get("groups")).map(texts).unwrap_or_default();
        record.leave_out("second factors", user.multifactor.len() + user.mfa_factors.len());
        let social = user.identities.iter().filter(|identity| identity.provider != "auth0").count();
        record.leave_out("accounts of identity providers", social);
        if is_blocked.is_none() {
            // The user may be blocked: an export has only the fields that it was asked for.
            record.left_out.push("blocked: not in the file".to_owned());
        }
        user.app_metadata.remove("roles");
        user.app_metadata.remove("authorization");
        // The names say which values a person can have set itself.
        for (field, metadata) in [("app_metadata", user.app_metadata), ("user_metadata", user.user_metadata)] {
            record.attributes.extend(metadata.into_iter().map(|(name, value)| (format!("{field}.{name}"), value)));
        }
        record
    }
}

/// Returns the texts of a list.
fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn custom_hash(custom: &Custom) -> ForeignPassword {
    match custom.algorithm.as_str() {
        // Their values are texts that contain the salt and the parameters.
        "bcrypt" | "argon2" | "pbkdf2" => hash(&custom.hash.value),
        "scrypt" => {
            let Some(salt) = custom.salt.as_ref().and_then(Coded::bytes) else {
                return unusable("its salt is missing or cannot be read");
            };
            let Some(bytes) = custom.hash.bytes() else { return unusable("its hash cannot be read") };
            if custom.length.is_some_and(|length| length != bytes.len()) || !custom.cost.is_power_of_two() {
                return unusable("its keylen is not the length of the hash, or its cost is no power of two");
            }
            let params = format!("ln={},r={},p={}", custom.cost.ilog2(), custom.block, custom.lanes);
            text_of("scrypt", &params, &salt, &bytes)
        }
        _ => unusable("its algorithm is none of argon2, bcrypt, pbkdf2, scrypt"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_are_bytes() {
        assert_eq!(hex("00fFa0"), Some(vec![0, 255, 160]));
        assert_eq!((hex("0"), hex("0g"), hex("")), (None, None, Some(Vec::new())));
    }
}
