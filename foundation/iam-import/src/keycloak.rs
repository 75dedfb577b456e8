//! The realms that Keycloak exports, and its files of users (`realm-users-0.json`).

use std::collections::BTreeMap;
use std::io::BufRead;

use iam_model::secret::PasswordHash;
use iam_model::validate::FieldError;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::array::Elements;
use crate::error::ReadError;
use crate::json::{self, or_default};
use crate::names::Known;
use crate::password::{Sha, decode, pbkdf2, text_of, unusable};
use crate::record::{ForeignPassword, Record, status};
use crate::row::Row;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct User {
    id: Option<String>,
    username: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    email: String,
    #[serde(default, deserialize_with = "or_default")]
    email_verified: bool,
    first_name: Option<String>,
    last_name: Option<String>,
    enabled: Option<bool>,
    service_account_client_id: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "or_default")]
    attributes: BTreeMap<String, Value>,
    #[serde(default, deserialize_with = "or_default")]
    credentials: Vec<Credential>,
    #[serde(default, deserialize_with = "or_default")]
    realm_roles: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    client_roles: BTreeMap<String, Vec<String>>,
    #[serde(default, deserialize_with = "or_default")]
    groups: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    federated_identities: Vec<IgnoredAny>,
    #[serde(default, deserialize_with = "or_default")]
    required_actions: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    client_consents: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Credential {
    #[serde(rename = "type", default, deserialize_with = "or_default")]
    kind: String,
    /// JSON in a text.
    #[serde(default, deserialize_with = "or_default")]
    secret_data: String,
    /// JSON in a text.
    #[serde(default, deserialize_with = "or_default")]
    credential_data: String,
}

#[derive(Deserialize)]
struct Secret {
    #[serde(default, deserialize_with = "or_default")]
    value: String,
    #[serde(default, deserialize_with = "or_default")]
    salt: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Function {
    #[serde(default, deserialize_with = "or_default")]
    algorithm: String,
    #[serde(default, deserialize_with = "or_default")]
    hash_iterations: i64,
    #[serde(default, deserialize_with = "or_default")]
    additional_parameters: BTreeMap<String, Vec<String>>,
}

pub(crate) struct Keycloak<R>(Elements<R>);

impl<R: BufRead> Keycloak<R> {
    pub(crate) fn read(input: R) -> Self {
        // The export of all realms into one file is a list of them.
        Self(Elements::of_objects(input, "users"))
    }
}

impl<R: BufRead> Iterator for Keycloak<R> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (line, text) = match self.0.next() {
            Ok(found) => found?,
            Err(error) => return Some(Err(error)),
        };
        let Some(text) = text else { return Some(Ok(Row::too_long(line))) };
        Some(Ok(match json::parse(&text) {
            Ok(user) => row(line, user),
            Err(error) => Row::refused(line, error),
        }))
    }
}

fn row(line: u64, user: User) -> Row {
    if user.service_account_client_id.is_some() {
        let error =
            FieldError::new("serviceAccountClientId", "is the account of a client: make a service account instead");
        return Row { foreign_id: user.id, username: user.username, ..Row::refused(line, error) };
    }
    Row::of(line, record(user))
}

fn record(user: User) -> Record {
    // People here log in by their e-mails.
    let loses_username = user.username.as_ref().is_some_and(|name| !name.eq_ignore_ascii_case(&user.email));
    let mut record = Record::new(user.email);
    record.name(Known { first: user.first_name.as_deref(), last: user.last_name.as_deref(), whole: None });
    record.foreign_id = user.id;
    record.username = user.username;
    record.is_email_verified = user.email_verified;
    record.status = status(user.enabled == Some(false));
    record.roles = user.realm_roles;
    record.client_roles = user.client_roles;
    record.groups = user.groups;
    record.attributes = user.attributes;
    let is_password = |credential: &&Credential| credential.kind == "password";
    if let Some(credential) = user.credentials.iter().find(is_password) {
        // An administrator knows a temporary password, and Keycloak lets it log in only to replace it.
        let is_temporary = user.required_actions.iter().any(|action| action == "UPDATE_PASSWORD");
        record.password = if is_temporary { unusable("it is temporary") } else { password(credential) };
    }
    if user.enabled.is_none() {
        // The user may be disabled.
        record.left_out.push("enabled: not in the file".to_owned());
    }
    if loses_username {
        record.left_out.push("username".to_owned());
    }
    // Former passwords are credentials, too.
    let is_factor = |credential: &&Credential| credential.kind == "otp" || credential.kind.starts_with("webauthn");
    record.leave_out("second factors", user.credentials.iter().filter(is_factor).count());
    record.leave_out("accounts of identity providers", user.federated_identities.len());
    record.leave_out("required actions", user.required_actions.len());
    record.leave_out("consents", user.client_consents.len());
    record
}

fn password(credential: &Credential) -> ForeignPassword {
    let secret = serde_json::from_str::<Secret>(&credential.secret_data);
    let function = serde_json::from_str::<Function>(&credential.credential_data);
    let (Ok(secret), Ok(function)) = (secret, function) else {
        return unusable("its credentialData or secretData cannot be read");
    };
    let Ok(rounds) = u64::try_from(function.hash_iterations) else {
        return unusable("its hashIterations are negative");
    };
    // An extension stores the whole hash of bcrypt.
    if function.algorithm == "bcrypt" {
        return ForeignPassword::Hash(PasswordHash::from(secret.value));
    }
    let (Some(salt), Some(hash)) = (decode(&secret.salt), decode(&secret.value)) else {
        return unusable("its salt or its value is not base64");
    };
    match function.algorithm.as_str() {
        "pbkdf2" => pbkdf2(Sha::One, rounds, &salt, &hash),
        "pbkdf2-sha256" => pbkdf2(Sha::Two256, rounds, &salt, &hash),
        "pbkdf2-sha512" => pbkdf2(Sha::Two512, rounds, &salt, &hash),
        "argon2" => argon2(&function, rounds, &salt, &hash),
        _ => unusable("its algorithm is none of pbkdf2, pbkdf2-sha256, pbkdf2-sha512, argon2, bcrypt"),
    }
}

fn argon2(function: &Function, passes: u64, salt: &[u8], hash: &[u8]) -> ForeignPassword {
    let parameter = |name: &str| function.additional_parameters.get(name).and_then(|values| values.first());
    let number = |name: &str| parameter(name).and_then(|text| text.parse::<u32>().ok());
    let name = match parameter("type").map(String::as_str) {
        Some("id") | None => "argon2id",
        Some("i") => "argon2i",
        Some("d") => "argon2d",
        Some(_) => return unusable("its type of Argon2 is none of id, i, d"),
    };
    let version = match parameter("version").map(String::as_str) {
        Some("1.3") | None => 19,
        Some("1.0") => 16,
        Some(_) => return unusable("its version of Argon2 is neither 1.3 nor 1.0"),
    };
    let (Some(memory), Some(lanes)) = (number("memory"), number("parallelism")) else {
        return unusable("its memory or its parallelism is missing");
    };
    text_of(&format!("{name}$v={version}"), &format!("m={memory},t={passes},p={lanes}"), salt, hash)
}
