use scim_v2::filter::ValFilter;

use crate::attribute::{self, Attribute, Kind, Part};
use crate::error::ScimError;
use crate::filter::value_path;
use crate::name::{Name, Schema, shown};
use crate::urn;

/// What a path names (RFC 7644, section 3.5.2).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    pub(super) target: Target,
    /// The filter of the elements that are meant.
    pub(super) filter: Option<ValFilter>,
}

/// An attribute of users, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    UserName,
    ExternalId,
    Active,
    /// What only the service writes.
    ReadOnly(&'static str),
    /// The whole extension for companies.
    Extension,
    Whole(&'static Attribute),
    Part(&'static Attribute, &'static Part),
    /// An attribute that is not kept.
    Unknown,
}

impl Path {
    /// Reads the path of a change.
    pub(super) fn parse(text: &str) -> Result<Self, ScimError> {
        if !text.contains('[') {
            return Self::plain(text);
        }
        let path = value_path(text)?;
        let attribute = path.attr.to_string();
        let Some(mut name) = Name::parse(&attribute) else { return Self::of_another_schema(&attribute) };
        if let Some(sub) = path.sub_attr {
            if name.sub.is_some() {
                return Err(invalid(&attribute));
            }
            name.sub = Some(sub.to_ascii_lowercase());
        }
        let target = target(&name)?;
        let has_elements = match target {
            Target::Whole(attribute) | Target::Part(attribute, _) => attribute.kind != Kind::Text,
            Target::Unknown => true,
            Target::UserName | Target::ExternalId | Target::Active | Target::ReadOnly(_) | Target::Extension => false,
        };
        if has_elements { Ok(Self { target, filter: Some(path.filter) }) } else { Err(invalid(&attribute)) }
    }

    /// Reads a path without a filter.
    fn plain(text: &str) -> Result<Self, ScimError> {
        match Name::parse(text) {
            Some(name) => Ok(Self { target: target(&name)?, filter: None }),
            None => Self::of_another_schema(text),
        }
    }

    /// An extension of which nothing is kept.
    fn of_another_schema(text: &str) -> Result<Self, ScimError> {
        const PREFIX: &str = "urn:";
        let is_urn = text.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX));
        if is_urn {
            Ok(Self { target: Target::Unknown, filter: None })
        } else {
            // The text may be anything, so the error does not repeat it.
            Err(ScimError::invalid_path("path is not of the grammar of RFC 7644, section 3.5.2"))
        }
    }

    /// Returns what a member of a whole user names. One that is not known is ignored.
    pub(super) fn of_member(name: &str) -> Self {
        let is_known = |name: &Name| {
            // Attributes of the extension stand inside its member, or have its URN.
            name.schema.is_some() || attribute::named(name).is_none_or(|found| found.schema == Schema::User)
        };
        let target = Name::parse(name).filter(is_known).and_then(|name| target(&name).ok());
        Self { target: target.unwrap_or(Target::Unknown), filter: None }
    }

    /// Returns what a member of the extension names. One that is not known is ignored.
    pub(super) fn of_extension(name: &str) -> Self {
        let path = Self::plain(&format!("{}:{name}", urn::ENTERPRISE_USER));
        path.unwrap_or(Self { target: Target::Unknown, filter: None })
    }

    /// Whether only the service writes it.
    pub(super) fn is_read_only(&self) -> bool {
        matches!(self.target, Target::ReadOnly(_))
    }
}

fn target(name: &Name) -> Result<Target, ScimError> {
    if name.schema == Some(Schema::Group) {
        return Err(invalid(&name.attribute));
    }
    if name.attribute.is_empty() {
        let is_extension = name.schema == Some(Schema::Enterprise);
        return Ok(if is_extension { Target::Extension } else { Target::Unknown });
    }
    if let Some(target) = of_resource(name) {
        let has_parts = target == Target::ReadOnly("meta") || target == Target::ReadOnly("groups");
        return if name.sub.is_none() || has_parts { Ok(target) } else { Err(invalid(&name.attribute)) };
    }
    let Some(attribute) = attribute::named(name) else { return Ok(Target::Unknown) };
    match (attribute.kind, name.sub.as_deref()) {
        (_, None) => Ok(Target::Whole(attribute)),
        (Kind::Text, Some(_)) => Err(invalid(&name.attribute)),
        (Kind::Complex(parts) | Kind::Reference(parts) | Kind::Values(parts), Some(sub)) => {
            let part = attribute::part(parts, sub);
            Ok(part.map_or(Target::Unknown, |part| Target::Part(attribute, part)))
        }
    }
}

/// The attributes that have fields of their own, or that only the service writes.
fn of_resource(name: &Name) -> Option<Target> {
    if !matches!(name.schema, None | Some(Schema::User)) {
        return None;
    }
    Some(match name.attribute.as_str() {
        "username" => Target::UserName,
        "externalid" => Target::ExternalId,
        "active" => Target::Active,
        "id" => Target::ReadOnly("id"),
        "meta" => Target::ReadOnly("meta"),
        "schemas" => Target::ReadOnly("schemas"),
        "groups" => Target::ReadOnly("groups"),
        _ => return None,
    })
}

fn invalid(name: &str) -> ScimError {
    ScimError::invalid_path(format!("path names no attribute of users: {}", shown(name)))
}
