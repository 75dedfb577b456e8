use std::fmt;
use std::marker::PhantomData;

use axum::body::Bytes;
use axum::extract::{FromRef, FromRequest, Request};
use iam_core::authzen::{Resource, Subject};
use iam_core::{Caller, Iam};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use crate::extract::{JSON, call, check_syntax, is_of_type, of_the_whole, parse_fields, require_object, without_place};
use crate::problem::{Kind, Problem};

/// The sender of a request, its body, and the text of the body.
///
/// Fields that are not known are ignored. No object may have two of the same name: a gateway in front may have checked
/// the other one.
pub(crate) struct Sent<T>(pub(super) Caller, pub(super) T, pub(super) Bytes);

impl<S, T> FromRequest<S> for Sent<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
    Iam: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let other_type = |problem: Problem| {
            let is_of_type = problem.is_of(Kind::UnsupportedMediaType);
            if is_of_type { of_the_whole("must be application/json") } else { problem }
        };
        let sent = call(request, state, |headers| is_of_type(headers, JSON)).await;
        let (caller, bytes) = sent.map_err(other_type)?;
        require_object(&bytes)?;
        if let Err(error) = iam_json::check_unique_names(&bytes) {
            check_syntax(&bytes)?;
            // Its error names the field.
            parse_fields::<T>(&bytes)?;
            return Err(if error.is_data() {
                of_the_whole("has an object with two fields of the same name")
            } else {
                // In a field that has no effect: a text that is not UTF-8, an endless number, too many levels.
                of_the_whole(&format!("cannot be read: {}", without_place(&error)))
            });
        }
        Ok(Self(caller, parse_fields(&bytes)?, bytes))
    }
}

/// A part of a body that is an object. For a struct alone, serde would also accept an array, with one item for each
/// field.
pub(super) struct Strict<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Strict<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Strict<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Strict<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members)).map(Strict)
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// An object whose members have no effect.
pub(super) type NoEffect = Strict<IgnoredAny>;

/// Who does something.
#[derive(Deserialize, ToSchema)]
#[schema(as = AuthzenSubject)]
pub(super) struct SubjectDto {
    /// Only subjects of the type `user` exist: people and service accounts.
    #[serde(rename = "type")]
    #[schema(example = "user")]
    kind: String,
    /// Names the user, as the tenant has set in `authzenIdentifiers`.
    #[schema(example = "019bb179-10a0-7000-8000-dadadadadada")]
    id: String,
    /// They have no effect.
    #[schema(value_type = Option<Object>)]
    #[expect(dead_code, reason = "only its type is checked")]
    properties: Option<NoEffect>,
}

impl SubjectDto {
    pub(super) fn subject(&self) -> Subject<'_> {
        Subject { kind: &self.kind, id: &self.id }
    }
}

/// What is done.
#[derive(Deserialize, ToSchema)]
#[schema(as = AuthzenAction)]
pub(super) struct ActionDto {
    /// The action of a permission: the part after the colon.
    #[schema(example = "create")]
    pub(super) name: String,
    /// They have no effect.
    #[schema(value_type = Option<Object>)]
    #[expect(dead_code, reason = "only its type is checked")]
    properties: Option<NoEffect>,
}

/// With what it is done.
#[derive(Deserialize, ToSchema)]
#[schema(as = AuthzenResource)]
pub(super) struct ResourceDto {
    /// The resource of a permission: the part before the colon.
    #[serde(rename = "type")]
    #[schema(example = "orders")]
    kind: String,
    /// Of the type `organization`, names the organization in which the action is done. Otherwise it has no effect.
    #[schema(example = "019bb17d-a480-7000-8000-dadadadadada")]
    id: String,
    /// Where the resource is.
    #[schema(value_type = Option<ResourcePropertiesDto>)]
    properties: Option<Strict<ResourcePropertiesDto>>,
}

/// The properties of a resource. Further ones have no effect.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuthzenResourceProperties)]
struct ResourcePropertiesDto {
    /// Names the organization of the resource, as the tenant has set in `authzenIdentifiers`. Absent or null means
    /// tenant-wide. An organization is its own.
    #[schema(example = "019bb170-d340-7000-8000-dadadadadada")]
    organization_id: Option<String>,
}

impl ResourceDto {
    pub(super) fn resource(&self) -> Resource<'_> {
        let organization =
            self.properties.as_ref().and_then(|Strict(properties)| properties.organization_id.as_deref());
        Resource { kind: &self.kind, id: &self.id, organization }
    }
}

/// A type of what is searched. An `id` has no effect.
#[derive(Deserialize, ToSchema)]
#[schema(as = AuthzenType)]
pub(super) struct TypeDto {
    /// The type: `user` for subjects, `organization` for resources. There is nothing of another one.
    #[serde(rename = "type")]
    #[schema(example = "user")]
    pub(super) kind: String,
}
