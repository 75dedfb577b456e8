use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::access::PermissionPattern;
use iam_core::audit::ResourceType;
use iam_core::permission::{PERMISSIONS_DELETE, ROLES_CREATE, ROLES_UPDATE, RegisteredPermission};
use iam_core::role::Role;
use iam_core::{Caller, Conflict, Error, Iam, PermissionId, RoleId};
use serde::Deserialize;

use crate::catalogue;
use crate::confirm::{self, Attempt, Outcome, Pending};
use crate::form::Form;
use crate::problem::if_allowed;
use crate::query::{Query, written};
use crate::roles;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "permission-one.html")]
struct PermissionPage {
    frame: Frame,
    notice: &'static str,
    permission: RegisteredPermission,
    /// The roles with the permission. `None` if the caller may not see roles.
    roles: Option<UsingRoles>,
    may_delete: bool,
}

/// The roles with a permission.
struct UsingRoles {
    /// Those that name it.
    naming: Vec<(RoleId, String)>,
    /// Those that have a wildcard for it, with the wildcard.
    by_wildcard: Vec<(RoleId, String, String)>,
    /// Those without it that can get it.
    others: Vec<(RoleId, String)>,
}

impl UsingRoles {
    fn of(permission: &RegisteredPermission, roles: Vec<Role>) -> Self {
        let (mut naming, mut by_wildcard, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let pattern = PermissionPattern::from(&permission.name);
        for role in roles {
            let name = role.name.to_string();
            if role.permissions.names(&permission.name) {
                naming.push((role.id, name));
            } else if let Some(wildcard) = role.permissions.iter().find(|held| held.covers(&pattern)) {
                by_wildcard.push((role.id, name, wildcard.as_str().to_owned()));
            } else if !role.system {
                others.push((role.id, name));
            }
        }
        Self { naming, by_wildcard, others }
    }
}

impl PermissionPage {
    fn may_update(&self) -> bool {
        self.frame.may_everywhere(&ROLES_UPDATE)
    }

    fn may_create(&self) -> bool {
        self.frame.may_everywhere(&ROLES_CREATE)
    }

    /// The query of the form of a role, in which this permission is chosen.
    fn chosen(&self) -> String {
        written([("permission", self.permission.name.as_str())])
    }

    /// The address of the question who holds the permission.
    fn who(&self) -> String {
        format!("{}/access/who?{}", self.frame.base, self.chosen())
    }
}

async fn find(iam: &Iam, caller: &Caller, id: PermissionId) -> Result<RegisteredPermission, Error> {
    let all = catalogue::all(iam, caller).await?;
    all.into_iter().find(|found| found.id == id).ok_or(Error::NotFound(ResourceType::PERMISSION))
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<PermissionId>,
    Query(Done { done }): Query<Done>,
) -> Result<Response, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let permission = find(iam, caller, id).await?;
    let roles = if_allowed(roles::all(iam, caller).await)?;
    let frame = signed_in.frame(&console).await?;
    let shown = PermissionPage {
        notice: if done == "created" { text::t("permission-created") } else { "" },
        roles: roles.map(|roles| UsingRoles::of(&permission, roles)),
        may_delete: !permission.system && frame.may_everywhere(&PERMISSIONS_DELETE),
        frame,
        permission,
    };
    page(StatusCode::OK, &shown)
}

pub(super) async fn delete(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<PermissionId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let caller = &signed_in.caller;
    let permission = find(&console.iam, caller, id).await?;
    let attempt = Attempt::of(&console, &form);
    let result = attempt.permissions().delete(caller, id).await;
    let address = format!("{}/permissions/{id}", console.base());
    let pending = Pending {
        title: text::delete_permission(permission.name.as_str()),
        note: text::t("delete-permission-note"),
        button: text::t("delete"),
        is_dangerous: true,
        action: format!("{address}/delete"),
        back: address,
        has_form: false,
    };
    match attempt.outcome(caller, result).await {
        Ok(Outcome::Changed) => {
            Ok(Redirect::to(&format!("{}/permissions?done=deleted", console.base())).into_response())
        }
        Ok(Outcome::Previewed(preview)) => confirm::ask(&console, &signed_in, form, pending, preview).await,
        Err(error) => {
            let mut facts = Vec::new();
            if matches!(error, Error::Conflict(Conflict::PermissionInUse)) {
                let roles = if_allowed(roles::all(&console.iam, caller).await)?.unwrap_or_default();
                let naming = UsingRoles::of(&permission, roles).naming.into_iter().map(|(_, name)| name);
                facts.push((text::t("roles-with-it"), naming.collect::<Vec<_>>().join(", ")));
            }
            facts.retain(|(_, names)| !names.is_empty());
            confirm::refuse_about(&console, &signed_in, pending, facts, error).await
        }
    }
}
