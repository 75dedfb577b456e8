//! The users that `manage.py dumpdata` of Django writes, as a list of JSON or with one object in each line.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use iam_model::validate::FieldError;
use serde::Deserialize;
use serde_json::Value;

use crate::array::Elements;
use crate::error::ReadError;
use crate::json::{self, or_default};
use crate::lines::Lines;
use crate::names::Known;
use crate::plain::hash;
use crate::record::{ForeignPassword, Record, status};
use crate::row::Row;

/// How many groups of the file have a name.
const MAX_GROUPS: usize = 100_000;

#[derive(Deserialize)]
struct Object {
    model: String,
    #[serde(default)]
    pk: Value,
    fields: Value,
}

#[derive(Deserialize)]
struct User {
    #[serde(default, deserialize_with = "or_default")]
    email: String,
    #[serde(default, deserialize_with = "or_default")]
    password: String,
    first_name: Option<String>,
    last_name: Option<String>,
    #[serde(alias = "full_name")]
    name: Option<String>,
    is_active: Option<bool>,
    #[serde(default, deserialize_with = "or_default")]
    is_staff: bool,
    #[serde(default, deserialize_with = "or_default")]
    is_superuser: bool,
    #[serde(default, deserialize_with = "or_default")]
    groups: Vec<Value>,
    #[serde(default, deserialize_with = "or_default")]
    user_permissions: Vec<Value>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

pub(crate) struct Django<R> {
    objects: Objects<R>,
    /// The names of groups, by their keys as text.
    groups: HashMap<String, String>,
}

enum Objects<R> {
    Lines(Lines<R>),
    List(Elements<R>),
}

impl<R: BufRead> Django<R> {
    pub(crate) fn read(mut input: R) -> Result<Self, ReadError> {
        let is_list = input.fill_buf()?.trim_ascii_start().starts_with(b"[");
        let objects =
            if is_list { Objects::List(Elements::new(input, "users")) } else { Objects::Lines(Lines::new(input)) };
        Ok(Self { objects, groups: HashMap::new() })
    }

    fn next_row(&mut self) -> Result<Option<Row>, ReadError> {
        loop {
            let next = match &mut self.objects {
                Objects::Lines(lines) => lines.next()?,
                Objects::List(elements) => elements.next()?,
            };
            let Some((line, text)) = next else { return Ok(None) };
            let Some(text) = text else { return Ok(Some(Row::too_long(line))) };
            let object = match json::parse::<Object>(&text) {
                Ok(object) => object,
                Err(error) => return Ok(Some(Row::refused(line, error))),
            };
            if object.model.ends_with(".group") {
                self.learn(&object);
            } else if is_user(&object) {
                return Ok(Some(self.row(line, object)));
            }
        }
    }

    fn learn(&mut self, group: &Object) {
        if let Some(name) = group.fields.get("name").and_then(Value::as_str)
            && self.groups.len() < MAX_GROUPS
        {
            self.groups.insert(group.pk.to_string(), name.to_owned());
        }
    }

    fn row(&self, line: u64, object: Object) -> Row {
        match User::deserialize(object.fields) {
            Ok(user) => Row::of(line, self.record(&object.pk, user)),
            // The error would repeat a value.
            Err(_) => Row::refused(line, FieldError::new("fields", "has a value of a wrong type")),
        }
    }

    fn record(&self, key: &Value, user: User) -> Record {
        let mut record = Record::new(user.email);
        record.name(Known {
            first: user.first_name.as_deref(),
            last: user.last_name.as_deref(),
            whole: user.name.as_deref(),
        });
        record.foreign_id = match key {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        record.username = user.others.get("username").and_then(Value::as_str).map(str::to_owned);
        record.status = status(user.is_active == Some(false));
        if user.is_active.is_none() {
            // The user may be disabled: a model of a program can have another field for that.
            record.left_out.push("is_active: not in the file".to_owned());
        }
        // Django marks a password that is not set by an exclamation mark and random letters.
        record.password = if user.password.starts_with('!') { ForeignPassword::None } else { hash(&user.password) };
        record.roles.extend(user.is_staff.then(|| "staff".to_owned()));
        record.roles.extend(user.is_superuser.then(|| "superuser".to_owned()));
        let groups = user.groups.len();
        record.groups = user.groups.iter().filter_map(|group| self.name_of(group)).collect();
        let unknown = groups - record.groups.len();
        record.leave_out("groups whose names are not in the file above the user", unknown);
        record.leave_out("permissions of its own", user.user_permissions.len());
        record.attributes = user.others;
        record
    }

    /// Returns the name of a group: of its key, or of its natural key, which is a list of the name.
    fn name_of(&self, group: &Value) -> Option<String> {
        match group {
            Value::Array(natural) => natural.first().and_then(Value::as_str).map(str::to_owned),
            key => self.groups.get(&key.to_string()).cloned(),
        }
    }
}

/// Whether an object is a user, also of a model that replaces Django's.
fn is_user(object: &Object) -> bool {
    let has = |name: &str| object.fields.get(name).is_some_and(Value::is_string);
    object.model == "auth.user" || (object.model.ends_with("user") && has("password") && has("email"))
}

impl<R: BufRead> Iterator for Django<R> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_row().transpose()
    }
}
