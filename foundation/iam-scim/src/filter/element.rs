//! Filters of the elements of one resource, which a change brings in its path. The parser bounds their depth at 64
//! levels, so these functions may call themselves.

use iam_model::directory::TextOperator;
use iam_model::text::folded;
use scim_v2::filter::{AttrExp, AttrPath, CompValue, CompareOp, ValFilter};
use serde_json::{Map, Value};

use crate::filter::compare::{boolean_of, text_operator};

/// Whether an element meets a filter.
pub(crate) fn matches(filter: &ValFilter, element: &Map<String, Value>) -> bool {
    match filter {
        ValFilter::And(all) => all.iter().all(|one| matches(one, element)),
        ValFilter::Or(any) => any.iter().any(|one| matches(one, element)),
        ValFilter::Not(inner) => !matches(inner, element),
        ValFilter::Attr(expression) => passes(expression, element),
    }
}

/// Returns the values that every element which meets a filter has. `None` if the filter says more than that they are
/// equal, so that no element can be made of it.
pub(crate) fn asserted(filter: &ValFilter) -> Option<Vec<(&str, Value)>> {
    match filter {
        ValFilter::And(all) => {
            let mut values = Vec::new();
            for one in all {
                values.extend(asserted(one)?);
            }
            Some(values)
        }
        ValFilter::Attr(AttrExp::Comparison(path, CompareOp::Eq, value)) => {
            let value = match value {
                CompValue::Str(text) => Value::String(text.clone()),
                CompValue::True => Value::Bool(true),
                CompValue::False => Value::Bool(false),
                CompValue::Number(number) => Value::Number(number.clone()),
                CompValue::Null => return None,
            };
            Some(vec![(path.name.as_str(), value)])
        }
        ValFilter::Attr(_) | ValFilter::Not(_) | ValFilter::Or(_) => None,
    }
}

fn passes(expression: &AttrExp, element: &Map<String, Value>) -> bool {
    match expression {
        AttrExp::Present(path) => found(path, element).is_some(),
        AttrExp::Comparison(path, operator, value) => {
            // One that is absent is false.
            let is_primary = path.name.eq_ignore_ascii_case("primary");
            let absent = Some(Value::Bool(false)).filter(|_| is_primary && *value != CompValue::Null);
            compares(found(path, element).or(absent.as_ref()), operator, value)
        }
    }
}

fn found<'e>(path: &AttrPath, element: &'e Map<String, Value>) -> Option<&'e Value> {
    let is_plain = path.uri.is_none() && path.sub_attr.is_none();
    let (_, value) = element.iter().find(|(name, _)| is_plain && name.eq_ignore_ascii_case(&path.name))?;
    Some(value)
}

fn compares(found: Option<&Value>, operator: &CompareOp, value: &CompValue) -> bool {
    let differs = |is_equal: bool| match operator {
        CompareOp::Eq => is_equal,
        CompareOp::Ne => !is_equal,
        _ => false,
    };
    match (found, value) {
        (found, CompValue::Null) => differs(found.is_none()),
        (Some(Value::Bool(is)), value) => differs(boolean_of(value) == Some(*is)),
        (found, CompValue::Str(value)) => {
            let text = found.and_then(Value::as_str).map(folded);
            text_operator(operator).holds(text.as_deref(), &folded(value))
        }
        _ => text_operator(operator) == TextOperator::Differs,
    }
}
