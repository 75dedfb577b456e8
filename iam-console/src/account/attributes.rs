//! The attributes of the person, as far as the tenant lets it change them.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::Error;

use super::{AccountPage, back, page_with};
use crate::attributes::own_changes;
use crate::form::Form;
use crate::problem::refused_form;
use crate::session::{SignedIn, WithoutFactor};
use crate::state::Console;
use crate::text;

pub(super) async fn change(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    match save(&console, &signed_in, &form).await {
        Ok(()) => Ok(back(&console, "attributes")),
        Err(error) => {
            let is_late = matches!(error, Error::PreconditionFailed);
            let person = WithoutFactor::from(signed_in);
            refused_form(error, async |errors, error| {
                let error = if is_late { text::t("changed-since").to_owned() } else { error };
                Ok(AccountPage { error, ..page_with(&console, &person, (Some(&form), &errors)).await? })
            })
            .await
        }
    }
}

/// Changes what differs from the present values. A form of an earlier version is refused: it would bring back values
/// that were replaced since.
async fn save(console: &Console, signed_in: &SignedIn, form: &Form) -> Result<(), Error> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let me = iam.sessions().me(caller).await?;
    if form.get("version") != me.user.version.to_string() {
        return Err(Error::PreconditionFailed);
    }
    let attributes = me.attributes.unwrap_or_default();
    if let Some(changes) = own_changes(&me.tenant.user_attributes, &attributes, form)? {
        iam.users().update_own_attributes(caller, &changes).await?;
    }
    Ok(())
}
