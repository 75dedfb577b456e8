use std::collections::BTreeSet;

use crate::error::ScimError;
use crate::filter::value_path;
use crate::group::member::named;
use crate::name::{Name, Schema, shown};

/// What a path names (RFC 7644, section 3.5.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    DisplayName,
    ExternalId,
    /// All members.
    Members,
    /// The members that a filter names.
    Named(BTreeSet<String>),
    /// What only the service writes.
    ReadOnly(&'static str),
    /// An attribute that is not kept.
    Unknown,
}

impl Target {
    /// Reads the path of a change, or a member of a whole group.
    pub(super) fn parse(text: &str) -> Result<Self, ScimError> {
        if !text.contains('[') {
            return Self::plain(text);
        }
        let path = value_path(text)?;
        match (Self::plain(&path.attr.to_string())?, path.attr.sub_attr, path.sub_attr) {
            (Self::Members, None, None) => Ok(Self::Named(named(&path.filter)?)),
            (Self::Members, None, Some(sub)) if sub.eq_ignore_ascii_case("value") => {
                Ok(Self::Named(named(&path.filter)?))
            }
            (Self::Members | Self::Unknown, _, _) => Ok(Self::Unknown),
            _ => Err(ScimError::invalid_path("path has a filter of an attribute that is no list")),
        }
    }

    fn plain(text: &str) -> Result<Self, ScimError> {
        const PREFIX: &str = "urn:";
        let Some(name) = Name::parse(text) else {
            let is_urn = text.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX));
            // The text may be anything, so the error does not repeat it.
            let grammar = || ScimError::invalid_path("path is not of the grammar of RFC 7644, section 3.5.2");
            return is_urn.then_some(Self::Unknown).ok_or_else(grammar);
        };
        let invalid = || ScimError::invalid_path(format!("path names no attribute of groups: {}", shown(text)));
        if !matches!(name.schema, None | Some(Schema::Group)) {
            return Err(invalid());
        }
        match (name.attribute.as_str(), name.sub.as_deref()) {
            ("displayname", None) => Ok(Self::DisplayName),
            ("externalid", None) => Ok(Self::ExternalId),
            ("members", None | Some("value")) => Ok(Self::Members),
            ("id", None) => Ok(Self::ReadOnly("id")),
            ("schemas", None) => Ok(Self::ReadOnly("schemas")),
            ("meta", _) => Ok(Self::ReadOnly("meta")),
            ("displayname" | "externalid" | "id" | "schemas", Some(_)) => Err(invalid()),
            _ => Ok(Self::Unknown),
        }
    }
}
