//! From the tree of the parser to a condition. The parser bounds its depth at 64 levels, so these functions may call
//! themselves.

use iam_model::directory::Condition;
use scim_v2::filter::{AttrExp, AttrPath, CompValue, CompareOp, Filter, ValFilter, ValuePath};

use crate::error::ScimError;

/// What a kind of resources has.
pub(super) struct Words<T> {
    /// Whether it has an attribute.
    pub(super) knows: fn(&AttrPath) -> bool,
    /// Reads a comparison, or refuses it.
    pub(super) term: fn(&AttrExp) -> Result<Condition<T>, ScimError>,
    /// Reads a filter of the values of an attribute, or refuses it.
    pub(super) values: fn(&ValuePath) -> Result<Condition<T>, ScimError>,
}

/// Returns the condition of a filter. Attributes that only another kind of resources has are absent.
pub(super) fn condition<T>(
    filter: &Filter,
    words: &Words<T>,
    is_of_another: fn(&AttrPath) -> bool,
) -> Result<Condition<T>, ScimError> {
    let is_absent = |path: &AttrPath| !(words.knows)(path) && is_of_another(path);
    match filter {
        Filter::And(all) => {
            let all: Result<Vec<_>, _> = all.iter().map(|one| condition(one, words, is_of_another)).collect();
            all.map(Condition::All)
        }
        Filter::Or(any) => {
            let any: Result<Vec<_>, _> = any.iter().map(|one| condition(one, words, is_of_another)).collect();
            any.map(Condition::Any)
        }
        Filter::Not(inner) => Ok(negated(condition(inner, words, is_of_another)?)),
        Filter::Attr(expression) if is_absent(path(expression)) => Ok(of_absent(expression)),
        Filter::Attr(expression) => (words.term)(expression),
        Filter::ValuePath(path) if is_absent(&path.attr) => Ok(never()),
        Filter::ValuePath(path) => (words.values)(path),
    }
}

/// Returns the condition of a filter of the values of an attribute.
pub(super) fn values<T>(
    filter: &ValFilter,
    term: fn(&AttrExp) -> Result<Condition<T>, ScimError>,
) -> Result<Condition<T>, ScimError> {
    match filter {
        ValFilter::And(all) => {
            let all: Result<Vec<_>, _> = all.iter().map(|one| values(one, term)).collect();
            all.map(Condition::All)
        }
        ValFilter::Or(any) => {
            let any: Result<Vec<_>, _> = any.iter().map(|one| values(one, term)).collect();
            any.map(Condition::Any)
        }
        ValFilter::Not(inner) => Ok(negated(values(inner, term)?)),
        ValFilter::Attr(expression) => term(expression),
    }
}

/// Returns the attribute of an expression.
pub(super) fn path(expression: &AttrExp) -> &AttrPath {
    match expression {
        AttrExp::Present(path) | AttrExp::Comparison(path, _, _) => path,
    }
}

/// The condition that never holds.
pub(super) fn never<T>() -> Condition<T> {
    Condition::Any(Vec::new())
}

/// The opposite of a condition.
pub(super) fn negated<T>(condition: Condition<T>) -> Condition<T> {
    Condition::Not(Box::new(condition))
}

/// An attribute that is not there differs from every value.
fn of_absent<T>(expression: &AttrExp) -> Condition<T> {
    match expression {
        AttrExp::Comparison(_, CompareOp::Ne, CompValue::Null) => never(),
        AttrExp::Comparison(_, CompareOp::Ne, _) | AttrExp::Comparison(_, CompareOp::Eq, CompValue::Null) => {
            Condition::always()
        }
        AttrExp::Present(_) | AttrExp::Comparison(..) => never(),
    }
}
