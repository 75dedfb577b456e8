//! What a filter of users can have.

use iam_model::directory::{Condition, EmailField, EmailTest, UserMoment, UserSortField, UserTest, UserText};
use scim_v2::filter::{AttrExp, AttrPath, CompValue, CompareOp, ValuePath};

use crate::error::ScimError;
use crate::filter::compare::{expression, flag, incomparable, moment, text, text_operator, unknown};
use crate::filter::translate::{Words, negated, path, values};
use crate::name::{Name, Schema};

pub(super) const WORDS: Words<UserTest> = Words { knows, term, values: emails };

#[derive(Clone, Copy)]
enum Field {
    Text(UserText),
    Active,
    Moment(UserMoment),
    Name,
    Meta,
    Emails,
    Email(EmailPart),
}

#[derive(Clone, Copy)]
enum EmailPart {
    Text(EmailField),
    Primary,
}

fn field(name: &Name) -> Option<Field> {
    if !matches!(name.schema, None | Some(Schema::User)) {
        return None;
    }
    Some(match (name.attribute.as_str(), name.sub.as_deref()) {
        ("id", None) => Field::Text(UserText::Id),
        ("externalid", None) => Field::Text(UserText::ExternalId),
        ("username", None) => Field::Text(UserText::UserName),
        ("displayname", None) => Field::Text(UserText::DisplayName),
        ("name", None) => Field::Name,
        ("name", Some("givenname")) => Field::Text(UserText::GivenName),
        ("name", Some("familyname")) => Field::Text(UserText::FamilyName),
        ("name", Some("formatted")) => Field::Text(UserText::FormattedName),
        ("active", None) => Field::Active,
        ("emails", None) => Field::Emails,
        ("emails", Some(part)) => Field::Email(email_part(part)?),
        ("meta", None) => Field::Meta,
        ("meta", Some("created")) => Field::Moment(UserMoment::Created),
        ("meta", Some("lastmodified")) => Field::Moment(UserMoment::LastModified),
        _ => return None,
    })
}

fn email_part(name: &str) -> Option<EmailPart> {
    Some(match name {
        "value" => EmailPart::Text(EmailField::Value),
        "type" => EmailPart::Text(EmailField::Type),
        "primary" => EmailPart::Primary,
        _ => return None,
    })
}

fn field_at(path: &AttrPath) -> Option<Field> {
    Name::parse(&path.to_string()).as_ref().and_then(field)
}

fn knows(path: &AttrPath) -> bool {
    field_at(path).is_some()
}

/// Returns the field by which users are sorted, by its name.
pub(crate) fn sort(name: &str) -> Option<UserSortField> {
    match field(&Name::parse(name)?)? {
        Field::Text(text) => Some(UserSortField::Text(text)),
        Field::Moment(UserMoment::Created) => Some(UserSortField::Created),
        Field::Moment(UserMoment::LastModified) => Some(UserSortField::LastModified),
        Field::Active | Field::Name | Field::Meta | Field::Emails | Field::Email(_) => None,
    }
}

fn term(term: &AttrExp) -> Result<Condition<UserTest>, ScimError> {
    let path = path(term);
    let field = field_at(path).ok_or_else(|| unknown(path))?;
    expression(term, || present(field), |operator, value| compared(field, path, operator, value))
}

fn present(field: Field) -> Condition<UserTest> {
    let present = |text| Condition::Test(UserTest::Present(text));
    match field {
        Field::Text(text) => present(text),
        Field::Name => {
            Condition::Any([UserText::GivenName, UserText::FamilyName, UserText::FormattedName].map(present).into())
        }
        Field::Active | Field::Moment(_) | Field::Meta => Condition::always(),
        Field::Emails => Condition::Test(UserTest::Email(Condition::always())),
        Field::Email(part) => Condition::Test(UserTest::Email(email_present(part))),
    }
}

fn compared(
    field: Field,
    path: &AttrPath,
    operator: &CompareOp,
    value: &CompValue,
) -> Result<Condition<UserTest>, ScimError> {
    Ok(Condition::Test(match field {
        Field::Text(field) => UserTest::Text { field, operator: text_operator(operator), value: text(path, value)? },
        Field::Active => UserTest::Active(flag(path, operator, value)?),
        Field::Moment(field) => {
            let (order, value) = moment(path, operator, value)?;
            UserTest::Moment { field, order, value }
        }
        Field::Name | Field::Meta => return Err(incomparable(path, "a value, because it has parts")),
        Field::Emails => return email(EmailPart::Text(EmailField::Value), path, operator, value),
        Field::Email(part) => return email(part, path, operator, value),
    }))
}

/// A list differs from a value if none of its elements equals it.
fn email(
    part: EmailPart,
    path: &AttrPath,
    operator: &CompareOp,
    value: &CompValue,
) -> Result<Condition<UserTest>, ScimError> {
    let one = |operator: &CompareOp| -> Result<Condition<UserTest>, ScimError> {
        Ok(Condition::Test(UserTest::Email(email_compared(part, path, operator, value)?)))
    };
    if *operator == CompareOp::Ne { one(&CompareOp::Eq).map(negated) } else { one(operator) }
}

fn email_present(part: EmailPart) -> Condition<EmailTest> {
    match part {
        EmailPart::Text(field) => Condition::Test(EmailTest::Present(field)),
        // One that is absent is false.
        EmailPart::Primary => Condition::always(),
    }
}

fn email_compared(
    part: EmailPart,
    path: &AttrPath,
    operator: &CompareOp,
    value: &CompValue,
) -> Result<Condition<EmailTest>, ScimError> {
    Ok(Condition::Test(match part {
        EmailPart::Text(field) => {
            EmailTest::Text { field, operator: text_operator(operator), value: text(path, value)? }
        }
        EmailPart::Primary => EmailTest::Primary(flag(path, operator, value)?),
    }))
}

fn emails(values_path: &ValuePath) -> Result<Condition<UserTest>, ScimError> {
    match field_at(&values_path.attr) {
        Some(Field::Emails) => {
            let condition = values(&values_path.filter, email_term)?;
            Ok(Condition::Test(UserTest::Email(condition)))
        }
        _ => Err(unknown(&values_path.attr)),
    }
}

fn email_term(term: &AttrExp) -> Result<Condition<EmailTest>, ScimError> {
    let path = path(term);
    let is_plain = path.uri.is_none() && path.sub_attr.is_none();
    let part = email_part(&path.name.to_ascii_lowercase()).filter(|_| is_plain).ok_or_else(|| unknown(path))?;
    expression(term, || email_present(part), |operator, value| email_compared(part, path, operator, value))
}
