//! The permissions that guards require of a request, for the code that checks them again.

use iam_core::permission::Permission;
use iam_core::{Caller, Iam, OrganizationId};

use crate::problem::Problem;

/// A permission that a guard has required of the sender of a request.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    pub(crate) permission: Permission,
    pub(crate) organization: Option<OrganizationId>,
}

/// The permissions that all guards before have required.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demands(Vec<Demand>);

impl Demand {
    pub(crate) async fn check(&self, iam: &Iam, caller: &Caller) -> Result<(), Problem> {
        Ok(iam.access().require(caller, self.permission.clone(), self.organization).await?)
    }
}

impl Demands {
    pub(crate) fn push(&mut self, demand: Demand) {
        self.0.push(demand);
    }

    /// Checks the permissions of a caller who was authenticated again.
    pub(crate) async fn check(&self, iam: &Iam, caller: &Caller) -> Result<(), Problem> {
        for demand in &self.0 {
            demand.check(iam, caller).await?;
        }
        Ok(())
    }
}
