//! Entries as events of the [Open Cybersecurity Schema Framework](https://schema.ocsf.io/1.6.0) 1.6.0
//! (`docs/audit.md#forwarding-to-a-siem`), valid by its JSON schema.

mod class;
mod object;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::audit::ocsf::class::{Choice, Class};
use crate::audit::ocsf::object::{
    Actor, Api, Endpoint, Entity, HttpRequest, Metadata, Resource, Service, Session, Unmapped, User, text,
};
use crate::audit::{AuditEntry, Cursor, action};
use crate::session::EndReason;

/// An entry as an event of the Open Cybersecurity Schema Framework 1.6.0, to be written as JSON.
///
/// What an application has chosen in an event of its own, except its action, its type and its resource, is only in
/// `unmapped`, where the entry stays as the API shows it.
#[derive(Debug, Serialize)]
pub struct OcsfEvent<'a> {
    category_uid: u32,
    category_name: &'static str,
    class_uid: u32,
    class_name: &'static str,
    activity_id: u32,
    activity_name: &'a str,
    type_uid: u32,
    type_name: String,
    /// In milliseconds since 1970.
    time: i64,
    severity_id: u32,
    severity: &'static str,
    status_id: u32,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_detail: Option<&'a str>,
    metadata: Metadata<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Actor<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    src_endpoint: Option<Endpoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_request: Option<HttpRequest<'a>>,
    #[serde(flatten)]
    subject: Subject<'a>,
    unmapped: Unmapped<'a>,
}

/// The attributes that only one class has.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Subject<'a> {
    AccountChange {
        user: User<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        user_result: Option<User<'a>>,
    },
    Authentication {
        user: User<'a>,
        service: Service,
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<Session<'a>>,
    },
    EntityManagement {
        entity: Entity<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        entity_result: Option<Entity<'a>>,
    },
    UserAccess {
        user: User<'a>,
        privileges: Vec<&'a str>,
        resources: [Resource<'a>; 1],
    },
    ApiActivity {
        api: Api<'a>,
        resources: [Resource<'a>; 1],
    },
}

impl<'a> OcsfEvent<'a> {
    /// Returns an entry as an event.
    #[must_use]
    pub fn of(entry: &'a AuditEntry) -> Self {
        let class = Class::of(entry);
        let Choice(category_uid, category_name) = class.category();
        let activity = class.activity(&entry.action);
        let Choice(activity_id, caption) = activity;
        let Choice(severity_id, severity) = severity(class, entry);
        let Choice(status_id, status) = status(class, entry);
        // The schema requires both of an API Activity.
        let is_required = class == Class::ApiActivity;
        Self {
            category_uid,
            category_name,
            class_uid: class.uid(),
            class_name: class.caption(),
            activity_id,
            activity_name: if activity == Choice::OTHER { &entry.action } else { caption },
            type_uid: class.uid() * 100 + activity_id,
            type_name: format!("{}: {caption}", class.caption()),
            time: entry.created_at.timestamp_millis(),
            severity_id,
            severity,
            status_id,
            status,
            status_detail: text(&entry.metadata, "reason").filter(|_| is_failure(class, entry)),
            metadata: Metadata::of(entry),
            actor: Actor::of(entry).or(is_required.then_some(Actor::UNKNOWN)),
            src_endpoint: Endpoint::of(entry).or(is_required.then_some(Endpoint::UNKNOWN)),
            http_request: HttpRequest::of(entry),
            subject: Subject::of(class, entry),
            unmapped: Unmapped { entry: entry.into(), cursor: None },
        }
    }

    /// Adds `cursor` to `unmapped`: where an export continues after the entry.
    #[must_use]
    pub fn with_cursor(mut self, cursor: Cursor) -> Self {
        self.unmapped.cursor = Some(cursor.to_string());
        self
    }
}

impl<'a> Subject<'a> {
    fn of(class: Class, entry: &'a AuditEntry) -> Self {
        let metadata = &entry.metadata;
        let email = |values| text(values, "email");
        match class {
            Class::AccountChange => {
                let user = |name| User::new(entry.resource_id.as_deref().map(Into::into), name);
                let after = entry.new_value.as_ref();
                Self::AccountChange {
                    user: user(entry.old_value.as_ref().or(after).and_then(email)),
                    user_result: after.map(|values| user(email(values))),
                }
            }
            Class::Authentication => {
                let target = text(metadata, "targetUserId").map(Into::into);
                let user = target.or_else(|| entry.user_id.map(|user| user.to_string().into()));
                Self::Authentication {
                    user: User::new(user, email(metadata)),
                    service: Service::THIS,
                    session: Session::of(entry),
                }
            }
            Class::EntityManagement => {
                let (before, after) = (entry.old_value.as_ref(), entry.new_value.as_ref());
                Self::EntityManagement {
                    entity: Entity::of(entry, before),
                    entity_result: after.map(|values| Entity::of(entry, Some(values))),
                }
            }
            Class::UserAccess => Self::UserAccess {
                user: User::new(text(metadata, "targetUserId").map(Into::into), None),
                privileges: text(metadata, "roleName").into_iter().collect(),
                resources: [Resource::of(entry)],
            },
            Class::ApiActivity => Self::ApiActivity { api: Api::of(entry), resources: [Resource::of(entry)] },
        }
    }
}

fn is_failure(class: Class, entry: &AuditEntry) -> bool {
    class == Class::Authentication && entry.action == action::LOGIN_FAILURE
}

/// Returns the outcome. The service does not know that of an application's own event.
fn status(class: Class, entry: &AuditEntry) -> Choice {
    match class {
        Class::ApiActivity => Choice::UNKNOWN,
        _ if is_failure(class, entry) => Choice(2, "Failure"),
        _ => Choice(1, "Success"),
    }
}

/// Returns the severity: high for the two entries which say that a credential may have been copied.
fn severity(class: Class, entry: &AuditEntry) -> Choice {
    let is_reuse = || text(&entry.metadata, "reason") == Some(EndReason::TokenReuse.as_str());
    match (class, &*entry.action) {
        (Class::Authentication, action::LOGIN_FAILURE) => Choice(2, "Low"),
        (Class::Authentication, action::LOGOUT) if is_reuse() => Choice(4, "High"),
        (Class::EntityManagement, action::PASSKEY_COUNTER) => Choice(4, "High"),
        _ => Choice(1, "Informational"),
    }
}
