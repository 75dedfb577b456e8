//! Whether a person can ask for access.

use iam_core::{Caller, Error, Iam};

/// Whether there is a role for which a person may ask. Who acts as another user does not ask.
pub(crate) async fn may_ask(iam: &Iam, caller: &Caller) -> Result<bool, Error> {
    Ok(caller.impersonator().is_none() && !iam.eligibilities().own(caller).await?.is_empty())
}
