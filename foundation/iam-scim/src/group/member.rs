use std::collections::BTreeSet;

use scim_v2::filter::{AttrExp, CompValue, CompareOp, ValFilter};
use serde_json::Value;

use crate::error::ScimError;
use crate::value::{member, text};

/// Reads the identifiers of members: a list of objects or texts, or one of them. What else a member has is ignored.
pub(super) fn members(value: &Value) -> Result<BTreeSet<String>, ScimError> {
    match value {
        Value::Null => Ok(BTreeSet::new()),
        Value::Array(members) => members.iter().map(identifier).collect(),
        one => Ok(BTreeSet::from([identifier(one)?])),
    }
}

fn identifier(value: &Value) -> Result<String, ScimError> {
    let value = match value {
        Value::Object(one) => {
            let kind = member(one, "type").and_then(Value::as_str).unwrap_or_default();
            if kind.eq_ignore_ascii_case("group") {
                return Err(ScimError::invalid_value("members must be users: groups in groups are not kept"));
            }
            member(one, "value").unwrap_or(&Value::Null)
        }
        other => other,
    };
    let identifier = text("members.value", value)?.filter(|identifier| !identifier.is_empty());
    identifier.ok_or_else(|| ScimError::invalid_value("members.value is required"))
}

/// Returns the members that a filter names by their identifiers: `value eq "…"`, several of them joined by `or`. The
/// parser bounds its depth at 64 levels, so this function may call itself.
pub(super) fn named(filter: &ValFilter) -> Result<BTreeSet<String>, ScimError> {
    match filter {
        ValFilter::Or(any) => {
            let mut members = BTreeSet::new();
            for one in any {
                members.extend(named(one)?);
            }
            Ok(members)
        }
        ValFilter::Attr(AttrExp::Comparison(path, CompareOp::Eq, CompValue::Str(identifier)))
            if path.uri.is_none() && path.sub_attr.is_none() && path.name.eq_ignore_ascii_case("value") =>
        {
            Ok(BTreeSet::from([identifier.clone()]))
        }
        ValFilter::Attr(_) | ValFilter::Not(_) | ValFilter::And(_) => {
            Err(ScimError::invalid_path("path selects members by value eq and or only"))
        }
    }
}
