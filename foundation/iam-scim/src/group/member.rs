use std::collections::BTreeSet;
use std::slice;

use iam_model::id::UserId;
use scim_v2::filter::{AttrExp, CompValue, CompareOp, ValFilter};
use serde_json::Value;

use crate::error::ScimError;
use crate::value::{member, text};

/// Reads the identifiers of members: a list of objects or texts, or one of them. What else a member has is ignored.
pub(super) fn members(value: &Value) -> Result<BTreeSet<String>, ScimError> {
    let listed = each(value);
    if listed.iter().any(is_group) {
        return Err(ScimError::invalid_value("members must be users: groups in groups are not kept"));
    }
    listed.iter().map(identifier).collect()
}

/// Reads the identifiers of members who are to be removed, as [`members`] does. A group is the member of no group.
pub(super) fn former_members(value: &Value) -> Result<BTreeSet<String>, ScimError> {
    each(value).iter().filter(|member| !is_group(member)).map(identifier).collect()
}

fn each(value: &Value) -> &[Value] {
    match value {
        Value::Null => &[],
        Value::Array(members) => members,
        one => slice::from_ref(one),
    }
}

fn is_group(value: &Value) -> bool {
    let kind = value.as_object().and_then(|one| member(one, "type")).and_then(Value::as_str);
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("group"))
}

fn identifier(value: &Value) -> Result<String, ScimError> {
    let value = match value {
        Value::Object(one) => member(one, "value").unwrap_or(&Value::Null),
        other => other,
    };
    let identifier = text("members.value", value)?.filter(|identifier| !identifier.is_empty());
    identifier.map(spelled).ok_or_else(|| ScimError::invalid_value("members.value is required"))
}

/// Returns the one spelling of an identifier, so that the same member is not another one in upper case.
fn spelled(identifier: String) -> String {
    identifier.parse::<UserId>().map_or(identifier, |id| id.to_string())
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
            Ok(BTreeSet::from([spelled(identifier.clone())]))
        }
        ValFilter::Attr(_) | ValFilter::Not(_) | ValFilter::And(_) => {
            Err(ScimError::invalid_path("path selects members by value eq and or only"))
        }
    }
}
