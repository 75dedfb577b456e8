use super::{AuditFilter, AuditPage, Cursor};
use crate::access::permission;
use crate::caller::Caller;
use crate::error::Result;
use crate::iam::Inner;
use crate::page::check_limit;
use crate::validate::Fields;

/// Reads the audit log; see [`Iam::audit`](crate::Iam::audit).
#[derive(Clone, Copy)]
pub struct Audit<'a>(pub(crate) &'a Inner);

impl Audit<'_> {
    /// The entries that pass a filter, newest first: at most `limit` (1–100) from after the cursor on.
    ///
    /// Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](crate::Error::Forbidden) without the permission,
    /// [`Error::Validation`](crate::Error::Validation) naming `limit`.
    pub async fn list(
        &self,
        caller: &Caller,
        filter: AuditFilter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<AuditPage> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let mut fields = Fields::default();
        check_limit(&mut fields, limit);
        fields.finish()?;
        let filter = filter.by_stored_names();
        // One more than asked for tells whether another page follows.
        let mut entries = self.0.store.audit_entries(caller.tenant(), &filter, after, limit + 1).await?;
        let has_next = entries.len() > limit as usize;
        entries.truncate(limit as usize);
        let next = entries.last().filter(|_| has_next).map(Cursor::after);
        Ok(AuditPage { entries, next })
    }
}
