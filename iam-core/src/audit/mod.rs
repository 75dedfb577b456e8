//! The audit log: what happened, to what, by whom, with the values before and after (`interface.md` §2.6, §6).
//!
//! Nobody writes entries. A [`Change`](crate::Change) says what it records, and
//! [`UnitOfWork`](crate::UnitOfWork) commits both or neither.

mod cursor;
mod record;
mod service;
mod store;

use std::borrow::Cow;

use serde_json::{Map, Value};

pub use cursor::Cursor;
pub(crate) use record::Attribution;
pub(crate) use record::Record;
pub use service::Audit;
pub use store::AuditStore;

use crate::caller::{CorrelationId, RequestContext};
use crate::clock::Timestamp;
use crate::id::{AuditEntryId, TenantId, UserId};

/// One thing that happened. Entries are never changed.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// Names the entry; newer entries have greater identifiers.
    pub id: AuditEntryId,
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// What happened, for instance `USER_SUSPENDED`.
    pub action: Cow<'static, str>,
    /// What kind of thing it happened to.
    pub resource_type: ResourceType,
    /// Which one; `None` for a failed login.
    pub resource_id: Option<String>,
    /// Who did it; `None` for trusted code and for a failed login.
    pub user_id: Option<UserId>,
    /// The values before, of the changed fields only.
    pub old_value: Option<Map<String, Value>>,
    /// The values after, of the changed fields only.
    pub new_value: Option<Map<String, Value>>,
    /// Whatever else is worth keeping.
    pub metadata: Map<String, Value>,
    /// The request in which it happened.
    pub context: RequestContext,
    /// When it happened.
    pub created_at: Timestamp,
}

/// What kind of thing an entry, or an error, is about: upper snake case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceType(Cow<'static, str>);

impl ResourceType {
    /// A user of the tenant.
    pub const USER: Self = Self(Cow::Borrowed("USER"));
    /// An organization of the tenant.
    pub const ORGANIZATION: Self = Self(Cow::Borrowed("ORGANIZATION"));
    /// The tenant itself.
    pub const TENANT: Self = Self(Cow::Borrowed("TENANT"));
    /// A role.
    pub const ROLE: Self = Self(Cow::Borrowed("ROLE"));
    /// A permission of the catalogue.
    pub const PERMISSION: Self = Self(Cow::Borrowed("PERMISSION"));
    /// A role assignment.
    pub const ROLE_ASSIGNMENT: Self = Self(Cow::Borrowed("ROLE_ASSIGNMENT"));
    /// A login session.
    pub const SESSION: Self = Self(Cow::Borrowed("SESSION"));

    /// The word that stands for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The word for people: `Role assignment` for `ROLE_ASSIGNMENT`.
    #[must_use]
    pub fn title(&self) -> String {
        let words = self.0.replace('_', " ").to_lowercase();
        let mut letters = words.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }
}

impl From<String> for ResourceType {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

/// What the service records (`decisions.md` §6), by the names it stores.
pub mod action {
    /// Something was made.
    pub const CREATE: &str = "CREATE";
    /// Fields were changed.
    pub const UPDATE: &str = "UPDATE";
    /// Something was deleted, softly where it is kept.
    pub const DELETE: &str = "DELETE";
    /// A user lost the right to log in for a while.
    pub const USER_SUSPENDED: &str = "USER_SUSPENDED";
    /// A suspended user got it back.
    pub const USER_REACTIVATED: &str = "USER_REACTIVATED";
    /// A session began.
    pub const LOGIN: &str = "LOGIN";
    /// A login was refused.
    pub const LOGIN_FAILURE: &str = "LOGIN_FAILURE";
    /// A session ended.
    pub const LOGOUT: &str = "LOGOUT";
    /// A refresh token was exchanged.
    pub const TOKEN_REFRESH: &str = "TOKEN_REFRESH";
    /// A user changed its password.
    pub const PASSWORD_CHANGE: &str = "PASSWORD_CHANGE";
    /// A user got a role.
    pub const ROLE_ASSIGNED: &str = "ROLE_ASSIGNED";
    /// A user lost a role.
    pub const ROLE_REVOKED: &str = "ROLE_REVOKED";
}

/// Which entries a list shows; every part that is set must match.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// This action; `SUSPEND` and `REACTIVATE` find what is stored as `USER_SUSPENDED` and `USER_REACTIVATED`.
    pub action: Option<String>,
    /// This kind of thing.
    pub resource_type: Option<String>,
    /// This very thing.
    pub resource_id: Option<String>,
    /// Done by this user.
    pub user_id: Option<UserId>,
    /// In this request.
    pub correlation_id: Option<CorrelationId>,
    /// At this moment or later.
    pub from: Option<Timestamp>,
    /// At this moment or earlier.
    pub until: Option<Timestamp>,
}

impl AuditFilter {
    /// The same filter by the names that are stored.
    fn by_stored_names(mut self) -> Self {
        match self.action.as_deref() {
            Some("SUSPEND") => self.action = Some(action::USER_SUSPENDED.to_owned()),
            Some("REACTIVATE") => self.action = Some(action::USER_REACTIVATED.to_owned()),
            _ => {}
        }
        self
    }

    /// Whether an entry passes, for stores that filter in memory.
    #[must_use]
    pub fn matches(&self, entry: &AuditEntry) -> bool {
        let wanted = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
        wanted(&self.action, &entry.action)
            && wanted(&self.resource_type, entry.resource_type.as_str())
            && self.resource_id.as_ref().is_none_or(|wanted| entry.resource_id.as_ref() == Some(wanted))
            && self.user_id.is_none_or(|wanted| entry.user_id == Some(wanted))
            && self.correlation_id.as_ref().is_none_or(|wanted| entry.context.correlation_id.as_ref() == Some(wanted))
            && self.from.is_none_or(|from| from <= entry.created_at)
            && self.until.is_none_or(|until| entry.created_at <= until)
    }
}

/// A page of entries, newest first.
#[derive(Clone, Debug)]
pub struct AuditPage {
    /// The entries.
    pub entries: Vec<AuditEntry>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<Cursor>,
}

/// The entries of one unit of work, for a store to write as it commits.
///
/// Only [`UnitOfWork`](crate::UnitOfWork) makes one, from the changes that were written.
#[derive(Debug)]
pub struct AuditBatch(pub(crate) Vec<AuditEntry>);

impl AuditBatch {
    /// The entries, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[AuditEntry] {
        &self.0
    }

    /// The entries themselves, oldest first.
    #[must_use]
    pub fn into_entries(self) -> Vec<AuditEntry> {
        self.0
    }
}
