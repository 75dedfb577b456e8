use crate::audit::{AuditEntry, Cursor, action};
use crate::clock::Timestamp;
use crate::context::CorrelationId;
use crate::id::{OrganizationId, UserId};

/// Selects the entries of a list. An entry must match every field that is set.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Entries with this action; `SUSPEND` and `REACTIVATE` find entries that are stored as `USER_SUSPENDED` and
    /// `USER_REACTIVATED`.
    pub action: Option<String>,
    /// Entries about this resource type.
    pub resource_type: Option<String>,
    /// Entries about this resource.
    pub resource_id: Option<String>,
    /// Entries with this acting user.
    pub user_id: Option<UserId>,
    /// Entries about this organization, or about assignments in it.
    pub organization_id: Option<OrganizationId>,
    /// Entries of the request with this correlation id.
    pub correlation_id: Option<CorrelationId>,
    /// Entries created at this moment or later.
    pub from: Option<Timestamp>,
    /// Entries created at this moment or earlier.
    pub until: Option<Timestamp>,
}

impl AuditFilter {
    /// Returns the same filter with the stored name of the action.
    pub fn by_stored_names(mut self) -> Self {
        match self.action.as_deref() {
            Some("SUSPEND") => self.action = Some(action::USER_SUSPENDED.to_owned()),
            Some("REACTIVATE") => self.action = Some(action::USER_REACTIVATED.to_owned()),
            _ => {}
        }
        self
    }

    /// Returns whether an entry matches, for stores that filter in memory.
    #[must_use]
    pub fn matches(&self, entry: &AuditEntry) -> bool {
        let wanted = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
        wanted(&self.action, &entry.action)
            && wanted(&self.resource_type, entry.resource_type.as_str())
            && self.resource_id.as_ref().is_none_or(|wanted| entry.resource_id.as_ref() == Some(wanted))
            && self.user_id.is_none_or(|wanted| entry.user_id == Some(wanted))
            && self.organization_id.is_none_or(|wanted| entry.organization_id == Some(wanted))
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
    /// The position at which the next page starts; `None` at the end.
    pub next: Option<Cursor>,
}
