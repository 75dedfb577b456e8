//! The tenants on which a sweep works, one after the other.

use std::collections::HashSet;

use iam_model::error::{Error, Result};
use iam_model::id::TenantId;

/// The number of tenants that a sweep reads at once.
const AT_ONCE: u32 = 100;

/// What a sweep has done in the tenants that have work. One that has failed does not stop the others, and is left out
/// for the rest of the sweep: the store may find it first again and again.
#[derive(Default)]
pub(crate) struct DueTenants {
    done: u64,
    left_out: HashSet<TenantId>,
    failure: Option<Error>,
}

impl DueTenants {
    /// How many tenants the store has to find, so that others are among them than those that are left out.
    pub(crate) fn limit(&self) -> u32 {
        AT_ONCE.saturating_add(u32::try_from(self.left_out.len()).unwrap_or(u32::MAX))
    }

    /// Returns which of the tenants that the store has found are worked on next.
    pub(crate) fn select(&self, mut found: Vec<TenantId>) -> Vec<TenantId> {
        found.retain(|tenant| !self.left_out.contains(tenant));
        found
    }

    /// Takes the number of things that were done in a tenant. One in which nothing was left to do is left out, too: a
    /// replica of the database may be late.
    pub(crate) fn worked(&mut self, tenant: TenantId, outcome: Result<u64>) {
        match outcome {
            Ok(0) => {
                self.left_out.insert(tenant);
            }
            Ok(count) => self.done += count,
            Err(error) => {
                self.left_out.insert(tenant);
                self.failure = Some(error);
            }
        }
    }

    /// Returns the number of things that were done in all tenants, or the last failure.
    pub(crate) fn finish(self) -> Result<u64> {
        self.failure.map_or(Ok(self.done), Err)
    }
}

#[cfg(test)]
mod tests {
    use iam_model::access::testing::id;

    use super::*;

    #[test]
    fn tenants_that_fail_do_not_keep_a_sweep_from_the_others() {
        let (last, new): (TenantId, TenantId) = (id("last"), id("new"));
        let mut due: Vec<TenantId> = (0..AT_ONCE).map(|number| id(&number.to_string())).collect();
        due.push(last);
        let mut sweep = DueTenants::default();
        let select = |sweep: &DueTenants, due: &[TenantId]| {
            sweep.select(due.iter().take(sweep.limit() as usize).copied().collect())
        };
        for tenant in select(&sweep, &due) {
            sweep.worked(tenant, Err(Error::internal("test", "it fails")));
        }
        assert_eq!(select(&sweep, &due), [last]);
        sweep.worked(last, Ok(7));
        // It is found until nothing is left to do.
        assert_eq!(select(&sweep, &due), [last]);
        sweep.worked(last, Ok(0));
        due.push(new);
        assert_eq!(select(&sweep, &due), [new]);
        sweep.worked(new, Ok(0));
        assert_eq!(select(&sweep, &due), []);
        assert_eq!(sweep.done, 7);
        assert!(sweep.finish().is_err());
    }
}
