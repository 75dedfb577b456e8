//! What a filter of groups can have.

use iam_model::directory::{Condition, GroupMoment, GroupSortField, GroupTest, GroupText};
use scim_v2::filter::{AttrExp, AttrPath, CompValue, CompareOp, ValFilter, ValuePath};

use crate::error::ScimError;
use crate::filter::compare::{expression, incomparable, moment, text, text_operator, unknown};
use crate::filter::translate::{Words, negated, path};
use crate::name::{Name, Schema};

pub(super) const WORDS: Words<GroupTest> = Words { knows, term, values };

#[derive(Clone, Copy)]
enum Field {
    Text(GroupText),
    Moment(GroupMoment),
    Meta,
    Members,
}

fn field(name: &Name) -> Option<Field> {
    if !matches!(name.schema, None | Some(Schema::Group)) {
        return None;
    }
    Some(match (name.attribute.as_str(), name.sub.as_deref()) {
        ("id", None) => Field::Text(GroupText::Id),
        ("externalid", None) => Field::Text(GroupText::ExternalId),
        ("displayname", None) => Field::Text(GroupText::DisplayName),
        ("members", None | Some("value")) => Field::Members,
        ("meta", None) => Field::Meta,
        ("meta", Some("created")) => Field::Moment(GroupMoment::Created),
        ("meta", Some("lastmodified")) => Field::Moment(GroupMoment::LastModified),
        _ => return None,
    })
}

fn field_at(path: &AttrPath) -> Option<Field> {
    Name::parse(&path.to_string()).as_ref().and_then(field)
}

fn knows(path: &AttrPath) -> bool {
    field_at(path).is_some()
}

/// Returns the field by which groups are sorted, by its name.
pub(crate) fn sort(name: &str) -> Option<GroupSortField> {
    match field(&Name::parse(name)?)? {
        Field::Text(text) => Some(GroupSortField::Text(text)),
        Field::Moment(GroupMoment::Created) => Some(GroupSortField::Created),
        Field::Moment(GroupMoment::LastModified) => Some(GroupSortField::LastModified),
        Field::Meta | Field::Members => None,
    }
}

fn term(term: &AttrExp) -> Result<Condition<GroupTest>, ScimError> {
    let path = path(term);
    let field = field_at(path).ok_or_else(|| unknown(path))?;
    expression(term, || present(field), |operator, value| compared(field, path, operator, value))
}

fn present(field: Field) -> Condition<GroupTest> {
    match field {
        Field::Text(text) => Condition::Test(GroupTest::Present(text)),
        Field::Moment(_) | Field::Meta => Condition::always(),
        Field::Members => Condition::Test(GroupTest::HasMembers),
    }
}

fn compared(
    field: Field,
    path: &AttrPath,
    operator: &CompareOp,
    value: &CompValue,
) -> Result<Condition<GroupTest>, ScimError> {
    Ok(Condition::Test(match field {
        Field::Text(field) => GroupTest::Text { field, operator: text_operator(operator), value: text(path, value)? },
        Field::Moment(field) => {
            let (order, value) = moment(path, operator, value)?;
            GroupTest::Moment { field, order, value }
        }
        Field::Meta => return Err(incomparable(path, "a value, because it has parts")),
        Field::Members => return member(path, operator, value),
    }))
}

/// A list differs from a value if none of its elements equals it.
fn member(path: &AttrPath, operator: &CompareOp, value: &CompValue) -> Result<Condition<GroupTest>, ScimError> {
    let is_member = Condition::Test(GroupTest::Member(text(path, value)?));
    match operator {
        CompareOp::Eq => Ok(is_member),
        CompareOp::Ne => Ok(negated(is_member)),
        _ => Err(incomparable(path, "a value by another operator than eq and ne")),
    }
}

fn values(values_path: &ValuePath) -> Result<Condition<GroupTest>, ScimError> {
    match field_at(&values_path.attr) {
        Some(Field::Members) if values_path.attr.sub_attr.is_none() => members(&values_path.filter, &values_path.attr),
        _ => Err(unknown(&values_path.attr)),
    }
}

/// Reads a filter of one member. Stores find groups by one identifier at a time, so there is neither `and` nor `not`.
fn members(filter: &ValFilter, attribute: &AttrPath) -> Result<Condition<GroupTest>, ScimError> {
    match filter {
        ValFilter::Or(any) => {
            let any: Result<Vec<_>, _> = any.iter().map(|one| members(one, attribute)).collect();
            any.map(Condition::Any)
        }
        ValFilter::Attr(AttrExp::Comparison(path, CompareOp::Eq, value)) if is_value(path) => {
            member(path, &CompareOp::Eq, value)
        }
        ValFilter::Attr(_) | ValFilter::Not(_) | ValFilter::And(_) => {
            Err(incomparable(attribute, "other filters than value eq and or"))
        }
    }
}

fn is_value(path: &AttrPath) -> bool {
    path.uri.is_none() && path.sub_attr.is_none() && path.name.eq_ignore_ascii_case("value")
}
