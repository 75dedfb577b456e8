//! Attributes of users, and the rules of a tenant for them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The attributes of a user.
pub(crate) type Attributes = BTreeMap<&'static str, Value>;

/// The type of the values of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Truth,
    Texts,
    Object,
}

impl Kind {
    fn admits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Truth => value.is_boolean(),
            Self::Texts => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Self::Object => value.is_object(),
        }
    }
}

/// What a tenant has defined of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) key: &'static str,
    pub(crate) kind: Kind,
    pub(crate) searchable: bool,
    pub(crate) person_reads: bool,
    pub(crate) person_writes: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) definitions: Vec<Definition>,
    /// Whether no other key gets a value.
    pub(crate) refuses_others: bool,
}

impl Rules {
    fn definition(&self, key: &str) -> Option<&Definition> {
        self.definitions.iter().find(|definition| definition.key == key)
    }

    /// Whether a key can get a value.
    pub(crate) fn admit(&self, key: &str, value: &Value) -> bool {
        self.definition(key).map_or(!self.refuses_others, |definition| definition.kind.admits(value))
    }

    /// Whether the person sees its own value.
    pub(crate) fn show(&self, key: &str) -> bool {
        self.definition(key).is_some_and(|definition| definition.person_reads || definition.person_writes)
    }

    /// Whether the person changes its own value.
    pub(crate) fn let_write(&self, key: &str) -> bool {
        self.definition(key).is_some_and(|definition| definition.person_writes)
    }

    /// The value that a search for a text means. `None` if the key is not searchable, or if its values are of another
    /// type.
    pub(crate) fn searched(&self, key: &str, text: &str) -> Option<Value> {
        let definition = self.definition(key).filter(|definition| definition.searchable)?;
        match definition.kind {
            Kind::Text => Some(json!(text)),
            Kind::Number => text.parse().ok().map(|number: f64| json!(number)),
            Kind::Truth => text.parse().ok().map(|truth: bool| json!(truth)),
            Kind::Texts | Kind::Object => None,
        }
    }
}

/// Whether two values are the same. Numbers are compared by value.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}
