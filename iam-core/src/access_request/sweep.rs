use iam_model::access_request::{AccessRequest, AccessRequestStatus, CancelCause};
use iam_model::change::AccessRequestEvent;
use iam_model::error::Result;
use iam_model::id::TenantId;

use crate::access_request::activation::{Basis, update};
use crate::access_request::closing::{cancel, settle};
use crate::access_request::notice::tell_of_closing;
use crate::assignment::ENDED_AT_ONCE;
use crate::caller::Caller;
use crate::due_tenants::DueTenants;
use crate::engine::{Engine, UnitOfWork};
use crate::iam::Iam;

/// The number of requests that one unit of work advances at most. It is bounded, like the number of assignments that
/// end, so that no unit of work holds the lock of a tenant for long.
const BATCH: u32 = 20;

impl Iam {
    /// Lets access requests of all tenants lapse, begin and end whose time has come, and returns how many. A request
    /// that was approved for later begins if it still could be approved, its role has not changed since, and those who
    /// approved it may still decide about it; otherwise it is cancelled. The users of requests that lapse or are
    /// cancelled are told by mail.
    ///
    /// A request lapses and an elevation ends at their instant, even before that is written. Only the beginning of
    /// those that were approved for later waits for this call: call it every second or so. Concurrent calls are
    /// allowed: each request is advanced and recorded once.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store) when the store fails. What was advanced before stays so. A
    /// failure in one tenant does not stop the others.
    pub async fn advance_access_requests(&self) -> Result<u64> {
        let iam = &*self.0;
        let mut sweep = DueTenants::default();
        loop {
            let due = iam.store.tenants_with_due_access_requests(iam.now(), sweep.limit()).await?;
            let tenants = sweep.select(due);
            if tenants.is_empty() {
                return sweep.finish();
            }
            for tenant in tenants {
                sweep.worked(tenant, advance_in_tenant(iam, tenant).await);
            }
        }
    }
}

async fn advance_in_tenant(iam: &Engine, tenant: TenantId) -> Result<u64> {
    let caller = Caller::system(tenant, "times of access requests");
    let mut advanced = 0;
    loop {
        let mut work = iam.begin(&caller).await?;
        work.lock_rights().await?;
        let now = work.now();
        let due = work.reads().due_access_requests(now, BATCH).await?;
        if due.is_empty() {
            return Ok(advanced);
        }
        let (mut count, mut closed) = (0, Vec::new());
        for request in due.iter().map(|request| request.id) {
            if work.ended_assignments() >= ENDED_AT_ONCE {
                break;
            }
            // One before it may have ended it.
            let found = work.reads().access_requests_by_id(&[request]).await?.pop();
            if let Some(request) = found.filter(|found| found.due_at().is_some_and(|due| due <= now))
                && advance(iam, &mut work, &request).await?
            {
                closed.push(request);
            }
            count += 1;
        }
        tell_of_closing(iam, &mut work, &closed).await?;
        work.commit().await?;
        advanced += count;
    }
}

/// Returns whether the request is closed without the access.
async fn advance(iam: &Engine, work: &mut UnitOfWork<'_>, request: &AccessRequest) -> Result<bool> {
    let lapses = request.status_at(work.now()) == AccessRequestStatus::Lapsed;
    if !settle(iam, work, request).await? || request.status != AccessRequestStatus::Approved {
        return Ok(lapses);
    }
    let basis = match Basis::of(work, request).await? {
        Ok(basis) => basis,
        Err(obstacle) => {
            cancel(work, request, obstacle.cause()).await?;
            return Ok(true);
        }
    };
    // The approvals were for what the role permitted then, and by those who decided then.
    let approved = basis.with_valid_approvals(work, request).await?;
    if !approved.has_approvals(basis.role_version()) {
        cancel(work, request, CancelCause::Outdated).await?;
        return Ok(true);
    }
    let start = |active| update(request, active, AccessRequestEvent::Started);
    basis.activate(iam, work, &approved, start).await?;
    Ok(false)
}
