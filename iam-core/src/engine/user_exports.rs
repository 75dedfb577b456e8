//! The limits of the running exports of what is held about users.
//!
//! Such an export reads the whole log. Without a limit, one user could begin a hundred of them, and each waits for its
//! turn among the long reads of its tenant.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iam_model::error::{Error, Result};
use iam_model::id::{TenantId, UserId};

/// The maximum number of running exports of all users of one tenant, in this process. One user runs one.
const MAX_OF_TENANT: usize = 4;

/// The users who run an export.
#[derive(Default)]
pub(crate) struct UserExports(Mutex<HashSet<(TenantId, UserId)>>);

/// A running export. Its user can begin another one when this is dropped.
#[must_use = "the export counts until this is dropped"]
pub(crate) struct RunningExport {
    exports: Arc<UserExports>,
    /// `None` for trusted code, whose exports are not counted.
    of: Option<(TenantId, UserId)>,
}

impl UserExports {
    /// Counts an export of a user until the returned value is dropped.
    ///
    /// Fails with [`Error::TooManyExports`].
    pub(crate) fn begin(self: &Arc<Self>, of: Option<(TenantId, UserId)>) -> Result<RunningExport> {
        if let Some(of) = of {
            let mut running = self.lock();
            let of_tenant = running.iter().filter(|(tenant, _)| *tenant == of.0).count();
            if of_tenant >= MAX_OF_TENANT || !running.insert(of) {
                return Err(Error::TooManyExports);
            }
        }
        Ok(RunningExport { exports: Arc::clone(self), of })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<(TenantId, UserId)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningExport {
    fn drop(&mut self) {
        if let Some(of) = &self.of {
            self.exports.lock().remove(of);
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn user(tenant: u128, user: u128) -> Option<(TenantId, UserId)> {
        Some((Uuid::from_u128(tenant).into(), Uuid::from_u128(user).into()))
    }

    #[test]
    fn a_user_runs_one_export_and_a_tenant_a_few() {
        let exports = Arc::new(UserExports::default());
        let begin = |of| exports.begin(of);
        let mut running: Vec<_> = (0..MAX_OF_TENANT as u128).map(|id| begin(user(1, id)).unwrap()).collect();
        assert!(matches!(begin(user(1, 0)), Err(Error::TooManyExports)));
        assert!(matches!(begin(user(1, 9)), Err(Error::TooManyExports)));
        let _other = begin(user(2, 0)).unwrap();
        let _trusted = [begin(None).unwrap(), begin(None).unwrap()];
        running.pop();
        assert!(begin(user(1, 0)).is_err(), "its own still runs");
        drop(begin(user(1, 9)).unwrap());
    }
}
