//! Operators and values of comparisons.

use chrono::{DateTime, Utc};
use iam_model::clock::{Timestamp, cut};
use iam_model::directory::{Condition, Order, TextOperator};
use scim_v2::filter::{AttrExp, AttrPath, CompValue, CompareOp};

use crate::error::ScimError;
use crate::filter::translate::negated;
use crate::name::shown;
use crate::value::boolean;

/// Reads an expression: whether its attribute is present, or else how it compares. A null is what is not present.
pub(super) fn expression<T>(
    expression: &AttrExp,
    present: impl FnOnce() -> Condition<T>,
    compared: impl FnOnce(&CompareOp, &CompValue) -> Result<Condition<T>, ScimError>,
) -> Result<Condition<T>, ScimError> {
    match expression {
        AttrExp::Present(_) | AttrExp::Comparison(_, CompareOp::Ne, CompValue::Null) => Ok(present()),
        AttrExp::Comparison(_, CompareOp::Eq, CompValue::Null) => Ok(negated(present())),
        AttrExp::Comparison(_, operator, value) => compared(operator, value),
    }
}

/// Returns how texts are compared.
pub(super) fn text_operator(operator: &CompareOp) -> TextOperator {
    match operator {
        CompareOp::Eq => TextOperator::Equals,
        CompareOp::Ne => TextOperator::Differs,
        CompareOp::Co => TextOperator::Contains,
        CompareOp::Sw => TextOperator::StartsWith,
        CompareOp::Ew => TextOperator::EndsWith,
        CompareOp::Gt => TextOperator::Sorted(Order::Greater),
        CompareOp::Ge => TextOperator::Sorted(Order::GreaterOrEqual),
        CompareOp::Lt => TextOperator::Sorted(Order::Less),
        CompareOp::Le => TextOperator::Sorted(Order::LessOrEqual),
    }
}

/// Returns the value of a comparison with a text.
pub(super) fn text(path: &AttrPath, value: &CompValue) -> Result<String, ScimError> {
    match value {
        // Databases have no text with this character, and refuse it.
        CompValue::Str(text) if text.contains('\0') => Err(incomparable(path, "a text with the character U+0000")),
        CompValue::Str(text) => Ok(text.clone()),
        _ => Err(incomparable(path, "what is no text")),
    }
}

/// Returns the boolean for which a comparison holds.
pub(super) fn flag(path: &AttrPath, operator: &CompareOp, value: &CompValue) -> Result<bool, ScimError> {
    let value = boolean_of(value).ok_or_else(|| incomparable(path, "what is no boolean"))?;
    match operator {
        CompareOp::Eq => Ok(value),
        CompareOp::Ne => Ok(!value),
        _ => Err(incomparable(path, "a boolean by another operator than eq and ne")),
    }
}

/// Returns how a moment compares, and with what. A text without an offset is in UTC.
pub(super) fn moment(
    path: &AttrPath,
    operator: &CompareOp,
    value: &CompValue,
) -> Result<(Order, Timestamp), ScimError> {
    let order = match operator {
        CompareOp::Eq => Order::Equal,
        CompareOp::Ne => Order::NotEqual,
        CompareOp::Gt => Order::Greater,
        CompareOp::Ge => Order::GreaterOrEqual,
        CompareOp::Lt => Order::Less,
        CompareOp::Le => Order::LessOrEqual,
        CompareOp::Co | CompareOp::Sw | CompareOp::Ew => {
            return Err(incomparable(path, "a moment by an operator for texts"));
        }
    };
    let CompValue::Str(text) = value else { return Err(incomparable(path, "what is no moment")) };
    let moment = DateTime::parse_from_rfc3339(text).or_else(|_| DateTime::parse_from_rfc3339(&format!("{text}Z")));
    let moment = moment.map_err(|_| incomparable(path, "what is no moment"))?;
    Ok((order, cut(moment.with_timezone(&Utc))))
}

/// Returns a boolean, which Entra sends as a text.
pub(super) fn boolean_of(value: &CompValue) -> Option<bool> {
    match value {
        CompValue::True => Some(true),
        CompValue::False => Some(false),
        CompValue::Str(text) => boolean(text),
        CompValue::Null | CompValue::Number(_) => None,
    }
}

/// The error for an attribute that filters do not have.
pub(super) fn unknown(path: &AttrPath) -> ScimError {
    ScimError::invalid_filter(format!("nothing is found by the attribute {}", shown(&path.to_string())))
}

/// The error for an attribute that is compared with something else.
pub(super) fn incomparable(path: &AttrPath, with: &str) -> ScimError {
    ScimError::invalid_filter(format!("{} cannot be compared with {with}", shown(&path.to_string())))
}
