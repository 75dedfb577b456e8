//! The limits of the running exports of what is held about users.
//!
//! Such an export reads the whole log. Without a limit, one user could begin a hundred of them, and each waits for its
//! turn among the long reads of its tenant. An export lasts as long as its reader reads. So those who export what is
//! held about others must not keep a person from what is held about itself: each person has a place of its own for that.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iam_model::error::{Error, Result};
use iam_model::id::{TenantId, UserId};

/// The maximum number of running exports about others by all users of one tenant, in this process. One user runs one.
const MAX_OF_TENANT: usize = 4;

/// A user who runs an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Exporter {
    pub(crate) tenant: TenantId,
    pub(crate) user: UserId,
    /// Whether the export is about this user itself.
    pub(crate) is_own: bool,
}

/// The users who run an export.
#[derive(Default)]
pub(crate) struct UserExports(Mutex<HashSet<Exporter>>);

/// A running export. Its user can begin another one when this is dropped.
#[must_use = "the export counts until this is dropped"]
pub(crate) struct RunningExport {
    exports: Arc<UserExports>,
    /// `None` for trusted code, whose exports are not counted.
    of: Option<Exporter>,
}

impl UserExports {
    /// Counts an export of a user until the returned value is dropped.
    ///
    /// Fails with [`Error::TooManyExports`].
    pub(crate) fn begin(self: &Arc<Self>, of: Option<Exporter>) -> Result<RunningExport> {
        if let Some(of) = of {
            let mut running = self.lock();
            let of_tenant = running.iter().filter(|running| running.tenant == of.tenant && !running.is_own).count();
            if (!of.is_own && of_tenant >= MAX_OF_TENANT) || !running.insert(of) {
                return Err(Error::TooManyExports);
            }
        }
        Ok(RunningExport { exports: Arc::clone(self), of })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Exporter>> {
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

    fn user(tenant: u128, user: u128) -> Option<Exporter> {
        Some(Exporter { tenant: Uuid::from_u128(tenant).into(), user: Uuid::from_u128(user).into(), is_own: false })
    }

    fn itself(tenant: u128, id: u128) -> Option<Exporter> {
        user(tenant, id).map(|of| Exporter { is_own: true, ..of })
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

    #[test]
    fn exports_about_others_keep_no_person_from_its_own() {
        let exports = Arc::new(UserExports::default());
        let begin = |of| exports.begin(of);
        let _own: Vec<_> = (0..10).map(|id| begin(itself(1, id)).unwrap()).collect();
        let _others: Vec<_> = (0..MAX_OF_TENANT as u128).map(|id| begin(user(1, id)).unwrap()).collect();
        assert!(begin(user(1, 9)).is_err());
        assert!(begin(itself(1, 0)).is_err());
        drop(begin(itself(1, 10)).unwrap());
        drop(begin(itself(1, 10)).unwrap());
    }
}
