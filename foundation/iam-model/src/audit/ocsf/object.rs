//! The objects of the schema, with the attributes that an entry can fill. An attribute without a value is absent.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::audit::ocsf::class::Choice;
use crate::audit::record::{ACTOR, API_KEY, SYSTEM};
use crate::audit::{AuditEntry, ResourceType, ShownEntry};
use crate::id::{AuditEntryId, TenantId};

/// The version of the schema.
const VERSION: &str = "1.6.0";

/// The name of this service, as product, vendor and service.
const PRODUCT: &str = "iam";

/// The name in an object that the schema requires, and of which an entry knows nothing.
const UNKNOWN: &str = Choice::UNKNOWN.1;

#[derive(Debug, Serialize)]
pub(super) struct Metadata<'a> {
    version: &'static str,
    product: Product,
    uid: AuditEntryId,
    event_code: String,
    log_name: &'static str,
    tenant_uid: TenantId,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_uid: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Product {
    name: &'static str,
    vendor_name: &'static str,
    version: &'static str,
}

impl<'a> Metadata<'a> {
    pub(super) fn of(entry: &'a AuditEntry) -> Self {
        Self {
            version: VERSION,
            product: Product { name: PRODUCT, vendor_name: PRODUCT, version: env!("CARGO_PKG_VERSION") },
            uid: entry.id,
            event_code: entry.event_type(),
            log_name: "audit",
            tenant_uid: entry.tenant_id,
            correlation_uid: entry.context.correlation_id.as_ref().map(|id| id.as_str()),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Service {
    name: &'static str,
}

impl Service {
    pub(super) const THIS: Self = Self { name: PRODUCT };
}

/// A user. It has at least one of the two identifiers.
#[derive(Debug, Serialize)]
pub(super) struct User<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    programmatic_credentials: Option<[Credential<'a>; 1]>,
}

#[derive(Debug, Serialize)]
struct Credential<'a> {
    uid: &'a str,
    r#type: &'static str,
}

impl<'a> User<'a> {
    pub(super) fn new(uid: Option<Cow<'a, str>>, name: Option<&'a str>) -> Self {
        let name = if uid.is_none() { name.or(Some(UNKNOWN)) } else { name };
        Self { uid, name, programmatic_credentials: None }
    }
}

/// Who acts: a user, by a session or by an API key, or trusted code for a reason.
#[derive(Debug, Serialize)]
pub(super) struct Actor<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<User<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_name: Option<&'a str>,
}

impl<'a> Actor<'a> {
    pub(super) const UNKNOWN: Self = Self { user: None, app_name: Some(UNKNOWN) };

    /// Returns the actor; `None` for a client that has not authenticated.
    pub(super) fn of(entry: &'a AuditEntry) -> Option<Self> {
        let programmatic_credentials =
            text(&entry.metadata, API_KEY).map(|uid| [Credential { uid, r#type: "API key" }]);
        // Who acts as another user is the one who acts.
        let user =
            text(&entry.metadata, ACTOR).map(Into::into).or_else(|| entry.user_id.map(|user| user.to_string().into()));
        let user = user.map(|user| User { programmatic_credentials, ..User::new(Some(user), None) });
        let app_name = text(&entry.metadata, SYSTEM);
        (user.is_some() || app_name.is_some()).then_some(Self { user, app_name })
    }
}

/// Where a request came from.
#[derive(Debug, Serialize)]
pub(super) struct Endpoint {
    #[serde(skip_serializing_if = "Option::is_none")]
    ip: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'static str>,
}

impl Endpoint {
    pub(super) const UNKNOWN: Self = Self { ip: None, name: Some(UNKNOWN) };

    pub(super) fn of(entry: &AuditEntry) -> Option<Self> {
        let ip = entry.context.ip_address?.to_string();
        Some(Self { ip: Some(ip), name: None })
    }
}

#[derive(Debug, Serialize)]
pub(super) struct HttpRequest<'a> {
    user_agent: &'a str,
}

impl<'a> HttpRequest<'a> {
    pub(super) fn of(entry: &'a AuditEntry) -> Option<Self> {
        Some(Self { user_agent: entry.context.user_agent.as_ref()?.as_str() })
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Session<'a> {
    uid: &'a str,
}

impl<'a> Session<'a> {
    pub(super) fn of(entry: &'a AuditEntry) -> Option<Self> {
        let uid = entry.resource_id.as_deref().filter(|_| entry.resource_type == ResourceType::SESSION)?;
        Some(Self { uid })
    }
}

/// A resource, with its values before and after.
#[derive(Debug, Serialize)]
pub(super) struct Resource<'a> {
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Difference<'a>>,
}

#[derive(Debug, Serialize)]
struct Difference<'a> {
    before: Option<&'a Map<String, Value>>,
    after: Option<&'a Map<String, Value>>,
}

impl<'a> Resource<'a> {
    pub(super) fn of(entry: &'a AuditEntry) -> Self {
        let (uid, r#type) = (entry.resource_id.as_deref(), entry.resource_type.as_str());
        let (before, after) = (entry.old_value.as_ref(), entry.new_value.as_ref());
        let data = (before.is_some() || after.is_some()).then_some(Difference { before, after });
        Self { r#type, uid, name: name_without(uid, r#type), data }
    }
}

/// What an administrator manages, with its values at one time.
#[derive(Debug, Serialize)]
pub(super) struct Entity<'a> {
    r#type: &'a str,
    type_id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Map<String, Value>>,
}

impl<'a> Entity<'a> {
    pub(super) fn of(entry: &'a AuditEntry, values: Option<&'a Map<String, Value>>) -> Self {
        const GROUP: u32 = 3;
        const ORGANIZATION: u32 = 4;
        let (uid, r#type) = (entry.resource_id.as_deref(), entry.resource_type.as_str());
        let type_id = if entry.resource_type == ResourceType::ORGANIZATION {
            ORGANIZATION
        } else if entry.resource_type == ResourceType::DIRECTORY_GROUP {
            GROUP
        } else {
            Choice::OTHER.0
        };
        let name = values.and_then(|values| text(values, "name")).or_else(|| name_without(uid, r#type));
        Self { r#type, type_id, uid, name, data: values }
    }
}

/// Returns the name of a resource without an identifier, because the schema requires one of both.
fn name_without<'a>(uid: Option<&str>, resource_type: &'a str) -> Option<&'a str> {
    uid.is_none().then_some(resource_type)
}

#[derive(Debug, Serialize)]
pub(super) struct Api<'a> {
    operation: &'a str,
}

impl<'a> Api<'a> {
    pub(super) fn of(entry: &'a AuditEntry) -> Self {
        Self { operation: &entry.action }
    }
}

/// The entry itself, with everything for which the schema has no attribute.
#[derive(Debug, Serialize)]
pub(super) struct Unmapped<'a> {
    #[serde(flatten)]
    pub(super) entry: ShownEntry<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cursor: Option<String>,
}

/// Returns a text of a JSON object.
pub(super) fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str()
}
