//! Files of one JSON object in each line, with the fields of this service.

use std::collections::BTreeMap;
use std::io::BufRead;

use iam_model::validate::FieldError;
use serde::Deserialize;
use serde_json::Value;

use crate::error::ReadError;
use crate::json;
use crate::lines::Lines;
use crate::plain;
use crate::record::Record;
use crate::row::Row;

/// A user in the file. A missing field is as invalid as an empty one.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct User {
    email: String,
    first_name: String,
    last_name: String,
    password_hash: String,
    status: String,
    external_id: Option<String>,
    email_verified: bool,
    roles: Vec<String>,
    groups: Vec<String>,
    attributes: BTreeMap<String, Value>,
}

pub(crate) struct Ndjson<R>(Lines<R>);

impl<R: BufRead> Ndjson<R> {
    pub(crate) fn read(input: R) -> Self {
        Self(Lines::new(input))
    }
}

impl<R: BufRead> Iterator for Ndjson<R> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (line, text) = match self.0.next() {
            Ok(found) => found?,
            Err(error) => return Some(Err(error.into())),
        };
        let Some(text) = text else { return Some(Ok(Row::too_long(line))) };
        Some(Ok(match json::parse(&text) {
            Ok(user) => row(line, user),
            Err(error) => Row::refused(line, error),
        }))
    }
}

fn row(line: u64, user: User) -> Row {
    let email = user.email.clone();
    match record(user) {
        Ok(record) => Row::of(line, record),
        Err(error) => Row { email, ..Row::refused(line, error) },
    }
}

fn record(user: User) -> Result<Record, FieldError> {
    Ok(Record {
        foreign_id: user.external_id,
        is_email_verified: user.email_verified,
        first_name: user.first_name,
        last_name: user.last_name,
        status: plain::status(&user.status)?,
        password: plain::hash(&user.password_hash),
        roles: user.roles,
        groups: user.groups,
        attributes: user.attributes,
        ..Record::new(user.email)
    })
}
