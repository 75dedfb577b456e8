use serde_json::{Map, Value};

use crate::attribute;
use crate::error::ScimError;
use crate::name::{Name, Schema};
use crate::urn;

/// The maximum number of names in a request.
const MAX: usize = 100;

/// Which attributes an answer has (RFC 7644, section 3.9). It always has `id` and `schemas`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection(Choice);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Choice {
    #[default]
    All,
    Only(Vec<Path>),
    Without(Vec<Path>),
}

/// The names of a member, of a member inside of it, and so on, in lower case: three at most.
type Path = Vec<String>;

impl Projection {
    /// Returns the choice of the parameters `attributes` and `excludedAttributes`. Unknown names are ignored.
    ///
    /// # Errors
    ///
    /// 400 `invalidValue` if both are given, or more than 100 names.
    pub fn new<N: AsRef<str>>(attributes: &[N], excluded: &[N]) -> Result<Self, ScimError> {
        if attributes.len().max(excluded.len()) > MAX {
            return Err(ScimError::invalid_value(format!("at most {MAX} attributes can be named")));
        }
        let paths = |names: &[N]| -> Vec<Path> { names.iter().filter_map(|name| path(name.as_ref().trim())).collect() };
        match (attributes.is_empty(), excluded.is_empty()) {
            (true, true) => Ok(Self(Choice::All)),
            (false, true) => Ok(Self(Choice::Only(paths(attributes)))),
            (true, false) => Ok(Self(Choice::Without(paths(excluded)))),
            (false, false) => {
                Err(ScimError::invalid_value("attributes and excludedAttributes cannot be used together"))
            }
        }
    }

    /// Whether an attribute is shown, for instance `members`, which is not read otherwise.
    #[must_use]
    pub fn shows(&self, attribute: &str) -> bool {
        let is_first = |path: &Path| path.first().is_some_and(|first| first.eq_ignore_ascii_case(attribute));
        match &self.0 {
            Choice::All => true,
            Choice::Only(paths) => paths.iter().any(is_first),
            Choice::Without(paths) => !paths.iter().any(|path| path.len() == 1 && is_first(path)),
        }
    }

    /// Leaves out of a resource what is not shown.
    #[must_use]
    pub fn apply(&self, resource: Value) -> Value {
        let (paths, is_wanted) = match &self.0 {
            Choice::All => return resource,
            Choice::Only(paths) => (paths, true),
            Choice::Without(paths) => (paths, false),
        };
        let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
        match resource {
            Value::Object(mut members) => {
                members.retain(|name, value| is_always_shown(name) || is_left(name, value, &paths, is_wanted));
                Value::Object(members)
            }
            other => other,
        }
    }
}

/// Returns the path of a name.
fn path(name: &str) -> Option<Path> {
    let name = Name::parse(name)?;
    let is_of_extension = name.schema == Some(Schema::Enterprise)
        || attribute::named(&name).is_some_and(|found| found.schema == Schema::Enterprise);
    let urn = is_of_extension.then(|| urn::ENTERPRISE_USER.to_ascii_lowercase());
    let attribute = Some(name.attribute).filter(|attribute| !attribute.is_empty());
    let path: Path = [urn, attribute, name.sub].into_iter().flatten().collect();
    Some(path).filter(|path| !path.is_empty())
}

fn is_always_shown(name: &str) -> bool {
    name == "id" || name == "schemas"
}

/// Whether a member is left, and leaves out what is not shown inside of it. Every call has shorter paths.
fn is_left(name: &str, value: &mut Value, paths: &[&[String]], is_wanted: bool) -> bool {
    let below = paths.iter().filter_map(|path| path.split_first());
    let below = below.filter(|(first, _)| first.eq_ignore_ascii_case(name)).map(|(_, below)| below);
    let below: Vec<&[String]> = below.collect();
    if below.iter().any(|path| path.is_empty()) {
        return is_wanted;
    }
    if below.is_empty() {
        return !is_wanted;
    }
    let is_object_left = |members: &mut Map<String, Value>| {
        members.retain(|name, value| is_left(name, value, &below, is_wanted));
        !members.is_empty()
    };
    match value {
        Value::Object(members) => is_object_left(members),
        Value::Array(values) => {
            values.retain_mut(|value| value.as_object_mut().is_none_or(is_object_left));
            !values.is_empty()
        }
        _ => !is_wanted,
    }
}
