//! The query of a page. As in the API, a parameter that a page does not have is refused, and one that is given twice: a
//! misspelt filter must not show everything.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use iam_axum::Problem;
use iam_core::{Error, FieldError};
use serde::de::{self, DeserializeOwned, Deserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::text;

/// The query of a page, which has the fields of this type and no others.
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        check(parts, fields_of::<T>())?;
        read(parts, state).await.map(Self)
    }
}

/// The query of a page that has the fields of both types.
pub(crate) struct Queries<T, U>(pub(crate) T, pub(crate) U);

impl<S: Send + Sync, T: DeserializeOwned + Send, U: DeserializeOwned + Send> FromRequestParts<S> for Queries<T, U> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        check(parts, &[fields_of::<T>(), fields_of::<U>()].concat())?;
        Ok(Self(read(parts, state).await?, read(parts, state).await?))
    }
}

/// A request that has no query: for a form, which changes something before [`shown`] would find out.
pub(crate) struct NoQuery;

impl<S: Send + Sync> FromRequestParts<S> for NoQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        check(parts, &[])?;
        Ok(Self)
    }
}

/// The only parameter of a query, under any name.
pub(crate) struct OneParameter(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for OneParameter {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let pairs = pairs(parts);
        let known: Vec<&str> = pairs.first().map(|(name, _)| &**name).into_iter().collect();
        check(parts, &known)?;
        Ok(Self(pairs.into_iter().next().map(|(_, value)| value).unwrap_or_default()))
    }
}

async fn read<S: Send + Sync, T: DeserializeOwned>(parts: &mut Parts, state: &S) -> Result<T, Problem> {
    iam_axum::Query::from_request_parts(parts, state).await.map(|iam_axum::Query(query)| query)
}

fn pairs(parts: &Parts) -> Vec<(String, String)> {
    parsed(parts.uri.query().unwrap_or_default().as_bytes())
}

/// Returns the fields of a query or a form, in their order.
pub(crate) fn parsed(text: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(text).into_owned().collect()
}

/// Writes fields as a query or a form has them.
pub(crate) fn written<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Returns the value of a filter, and `None` for an empty one. Another word than a value is refused.
pub(crate) fn filter<T: FromStr<Err: fmt::Display>>(name: &str, text: &str) -> Result<Option<T>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|error: T::Err| Error::field(name, error.to_string()))
}

/// Takes the query of a request as it is: for a page that only leads to another one.
pub(crate) fn accept(parts: &Parts) {
    if let Some(IsChecked(is_checked)) = parts.extensions.get() {
        is_checked.store(true, Ordering::Relaxed);
    }
}

/// Refuses the parameters that are not known, and those that are given twice.
fn check(parts: &Parts, known: &[&str]) -> Result<(), Problem> {
    accept(parts);
    refuse(&pairs(parts), |name| known.contains(&name), |_| false).map_err(Problem::from)
}

/// Fails if these fields have a name that is not known, or one twice that is no list.
pub(crate) fn refuse(
    fields: &[(String, String)],
    is_known: impl Fn(&str) -> bool,
    is_list: impl Fn(&str) -> bool,
) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for (name, _) in fields {
        if !is_known(name) {
            return Err(Error::field(name, text::t("not-of-this-page")));
        }
        if !seen.insert(name) && !is_list(name) {
            return Err(Error::field(name, text::t("given-twice")));
        }
    }
    Ok(())
}

/// Whether an extractor has checked the query of the request.
#[derive(Clone, Default)]
struct IsChecked(Arc<AtomicBool>);

/// Shows a page, unless the request has a query that the page does not read. A page changes nothing, so this is found
/// out afterwards.
pub(crate) async fn shown(mut request: Request, next: Next) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let name = form_urlencoded::parse(query.as_bytes()).next().map(|(name, _)| name.into_owned());
    let Some(name) = name else { return next.run(request).await };
    let checked = IsChecked::default();
    request.extensions_mut().insert(checked.clone());
    let response = next.run(request).await;
    if response.status().is_success() && !checked.0.load(Ordering::Relaxed) {
        let error = Error::Validation(vec![FieldError::new(name, text::t("not-of-this-page"))]);
        return Problem::from(error).into_response();
    }
    response
}

/// Returns the fields of a struct, which it asks its deserializer for.
fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    struct Asked<'a>(&'a mut &'static [&'static str]);

    #[derive(Debug)]
    struct Stopped;

    impl fmt::Display for Stopped {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("only the fields are of interest")
        }
    }

    impl std::error::Error for Stopped {}

    impl de::Error for Stopped {
        fn custom<M: fmt::Display>(_: M) -> Self {
            Self
        }
    }

    impl<'de> Deserializer<'de> for Asked<'_> {
        type Error = Stopped;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Stopped> {
            Err(Stopped)
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Stopped> {
            *self.0 = fields;
            Err(Stopped)
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut fields: &'static [&'static str] = &[];
    // It fails after the fields are known.
    let _ = T::deserialize(Asked(&mut fields));
    fields
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Params {
        search: String,
        sort_by: Option<u64>,
    }

    #[test]
    fn the_fields_of_a_type_are_known() {
        assert_eq!(fields_of::<Params>(), ["search", "sortBy"]);
    }

    #[test]
    fn an_unknown_field_and_a_field_twice_are_refused() {
        let refused = |query: &str| match refuse(
            &parsed(query.as_bytes()),
            |name| ["a", "list"].contains(&name),
            |name| name == "list",
        ) {
            Ok(()) => None,
            Err(Error::Validation(errors)) => Some(errors[0].field.clone()),
            Err(error) => panic!("{error}"),
        };
        for (query, field) in
            [("", None), ("a=1&list=1&list=2", None), ("b=1", Some("b")), ("A=1", Some("A")), ("a=1&a=1", Some("a"))]
        {
            assert_eq!(refused(query).as_deref(), field, "{query}");
        }
    }
}
