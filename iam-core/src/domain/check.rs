//! Looks for the records of domains.

use std::time::Duration;

use futures_util::future::try_join_all;
use iam_model::change::DomainChange;
use iam_model::domain::{Domain, DomainFinding, LookupError, TxtResolver};
use iam_model::error::{Conflict, Error, Result};
use tokio::time::timeout;

use crate::caller::Caller;
use crate::iam::Iam;

/// How long the DNS may take to answer.
const LOOKUP_LIMIT: Duration = Duration::from_secs(10);

/// How many domains are checked at the same time: name servers that do not answer delay the others little.
const BATCH: u32 = 16;

/// Asks the DNS for the record of a domain.
pub(super) async fn look_up(resolver: &dyn TxtResolver, domain: &Domain) -> DomainFinding {
    let answer = timeout(LOOKUP_LIMIT, resolver.txt(&domain.record_name())).await;
    let answer = answer.unwrap_or_else(|_| Err(LookupError("the DNS did not answer in time".to_owned())));
    DomainFinding::of(domain, &answer)
}

impl Iam {
    /// Looks for the records of the VERIFIED domains of all tenants that were not checked for a day, and returns how many
    /// were checked. A domain without its record for seven days is PENDING afterwards. Those that trusted code has
    /// verified are left out. Without a [`TxtResolver`], does nothing. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store). Domains that were checked before stay checked.
    pub async fn check_domains(&self) -> Result<u64> {
        let Some(resolver) = self.0.resolver.as_deref() else { return Ok(0) };
        let mut checked = 0;
        loop {
            let due = self.0.store.domains_to_check(self.now() - Domain::CHECKED_EVERY, BATCH).await?;
            try_join_all(due.iter().map(async |domain| {
                let finding = look_up(resolver, domain).await;
                self.note(domain, &finding).await
            }))
            .await?;
            checked += due.len() as u64;
            if due.len() < BATCH as usize {
                return Ok(checked);
            }
        }
    }

    /// Keeps what was found in place of the record of a domain, unless the domain has become PENDING or was removed
    /// meanwhile.
    async fn note(&self, domain: &Domain, finding: &DomainFinding) -> Result<()> {
        let caller = Caller::system(domain.tenant_id, "domain check");
        let mut work = self.0.begin(&caller).await?;
        let before = work.reads().lock_domain(domain.id).await?;
        let Some(before) = before.filter(|before| before.verified_at.is_some()) else { return Ok(()) };
        let after = before.checked(finding, work.now());
        let applied = work.apply(DomainChange::Check { before: Box::new(before), after }).await;
        match applied {
            // The domain goes with its tenant. Those of others are still checked.
            Err(Error::Conflict(Conflict::TenantDeletionBegun)) => Ok(()),
            Err(error) => Err(error),
            Ok(()) => work.commit().await,
        }
    }
}
