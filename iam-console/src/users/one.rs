use std::collections::BTreeSet;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::access::Permission;
use iam_core::clock::Timestamp;
use iam_core::permission;
use iam_core::session::Session;
use iam_core::user::{User, UserPatch, UserStatus, UserWithAttributes};
use iam_core::version::Precondition;
use iam_core::{Caller, Error, ExternalId, FieldError, Iam, OrganizationId, SessionId, UserId};
use serde::Deserialize;

use crate::attributes::{self, AttributeFields};
use crate::confirm;
use crate::device::{Device, devices};
use crate::form::Form;
use crate::keys::{self, Keys};
use crate::picker;
use crate::problem::{if_allowed, refused_form, refused_in_place};
use crate::query::Query;
use crate::rights::held;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::users::rights::UserRights;
use crate::users::{EXTERNAL_ID, HOME, time_line};
use crate::view::{Field, Frame, page};

#[derive(Template)]
#[template(path = "user.html")]
pub(super) struct UserPage {
    frame: Frame,
    notice: &'static str,
    pub(super) error: String,
    user: User,
    /// The version that the person has seen: a form that is shown again must not replace values that it does not show.
    version: String,
    /// The name of the home; `None` for the tenant.
    home: Option<String>,
    fields: Vec<Field>,
    attributes: AttributeFields,
    /// `None` if the caller may not see them.
    rights: Option<UserRights>,
    /// The sentences of the audit log, and their moments. `None` if the caller may not read it.
    time_line: Option<Vec<time_line::Day>>,
    now: Timestamp,
    /// The devices on which the user is signed in. `None` if the caller may not see its sessions.
    devices: Option<Vec<Device>>,
    current: Option<SessionId>,
    keys: Keys,
    /// The field for the reason to act as the user; `None` if the person may not.
    pub(super) act: Option<Field>,
    is_changeable: bool,
    /// The organizations to which the person's right to change users is limited, if this user is not within them.
    only_in: String,
    may_end_sessions: bool,
    /// Whether the user has a second factor. `None` for the person itself, for a service account, and if the caller may
    /// not know it.
    has_factor: Option<bool>,
    /// What the person can do with the account.
    actions: Vec<Offered>,
}

/// What the person can do with the account of the user, on a page that asks for its confirmation.
struct Offered {
    /// The end of its address.
    path: &'static str,
    text: &'static str,
    is_dangerous: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

impl Done {
    fn notice(&self) -> &'static str {
        match &*self.done {
            "created" => text::t("user-created"),
            "saved" => text::t("saved"),
            "suspended" => text::t("user-suspended"),
            "reactivated" => text::t("user-reactivated"),
            "deleted" => text::t("user-deleted"),
            "restored" => text::t("user-restored"),
            "signed-out" => text::t("sessions-ended"),
            "session-ended" => text::t("session-was-ended"),
            "assigned" => text::t("role-assigned"),
            "revoked" => text::t("role-revoked"),
            "end-changed" => text::t("end-changed"),
            "key-revoked" => text::t("key-revoked"),
            "factors-reset" => text::t("factors-reset"),
            "reset-sent" => text::t("reset-sent"),
            _ => "",
        }
    }
}

impl UserPage {
    /// Whether a session is the one of this page.
    fn is_current(&self, session: &Session) -> bool {
        self.current == Some(session.id)
    }
}

/// Returns the page of a user, with the typed values instead of the names and the e-mail that the user has.
pub(super) async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    id: UserId,
    (form, errors): (Option<&Form>, &[FieldError]),
) -> Result<UserPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let UserWithAttributes { user, attributes, .. } = iam.users().get_with_attributes(caller, id).await?;
    let defined = iam.users().attribute_definitions(caller).await?;
    let field = |field: Field, value: &str| {
        let typed = form.map_or(value, |form| form.get(&field.name)).to_owned();
        field.filled(&typed).with_errors(errors)
    };
    let frame = signed_in.frame(console).await?;
    let home = home_of(&console.iam, caller, &user).await?;
    let mut fields = if user.service_name().is_some() {
        vec![field(Field::text("name", text::t("name")), user.first_name.as_str())]
    } else {
        vec![
            field(Field::text("firstName", text::t("first-name")), user.first_name.as_str()),
            field(Field::text("lastName", text::t("last-name")), user.last_name.as_str()),
            field(Field::email().completed_as("off"), user.email.as_str()),
            field(
                Field::text(EXTERNAL_ID, text::t("external-id")).optional().with_hint(text::t("external-id-hint")),
                user.external_id.as_ref().map_or("", ExternalId::as_str),
            ),
        ]
    };
    if frame.may_everywhere(&permission::USERS_UPDATE) {
        let home = field(Field::text(HOME, text::t("home")).optional().with_hint(text::t("home-or-tenant")), &home);
        fields.push(picker::of_organization(console, home));
    }
    let (is_self, is_deleted) = (caller.user() == Some(id), user.status == UserStatus::Inactive);
    let needed =
        [permission::USERS_UPDATE, permission::USERS_DELETE, permission::USERS_CREATE, permission::SESSIONS_DELETE];
    // A permission that is held in organizations is for the users whose home is there.
    let [may_update, may_delete, may_create, may_end] = held(iam, caller, user.home_organization_id, needed).await?;
    let has_factor = match may_update && !is_self && !is_deleted && user.service_name().is_none() {
        true => if_allowed(iam.factors().has_any(caller, id).await)?,
        false => None,
    };
    let keys = Keys::of(console, signed_in, &frame, id).await?;
    let grants = if_allowed(iam.assignments().of_user(caller, id).await)?;
    let time_line = time_line::read(iam, caller, &user, grants.as_deref().unwrap_or_default()).await?;
    let rights = match grants {
        Some(grants) => Some(UserRights::read(console, caller, id, grants).await?),
        None => None,
    };
    let devices = if_allowed(iam.sessions().list_with_actors(caller, id).await)?.map(devices);
    let (may_end_sessions, is_changeable) = (is_self || may_end, may_update && !is_deleted);
    let is_signed_in = devices.as_ref().is_some_and(|devices| !devices.is_empty());
    let (is_active, is_person) = (user.status == UserStatus::Active, user.service_name().is_none());
    let (changes_other, is_suspended) = (is_changeable && !is_self, user.status == UserStatus::Suspended);
    let sends_reset = changes_other && is_active && is_person && iam.sends_mail();
    let offers = [
        (sends_reset, "password-reset", text::t("send-reset"), false),
        (may_end_sessions && is_signed_in, "sign-out", text::t("end-all-sessions"), true),
        (changes_other && is_person && has_factor != Some(false), "reset-factors", text::t("reset-factors"), true),
        (changes_other && is_active, "suspend", text::t("suspend"), true),
        (changes_other && is_suspended, "reactivate", text::t("reactivate"), false),
        (may_create && is_deleted, "restore", text::t("restore"), false),
        (may_delete && !is_self && !is_deleted, "delete", text::t("delete"), true),
    ];
    let actions = offers.into_iter().filter(|(is_offered, ..)| *is_offered);
    let actions = actions.map(|(_, path, text, is_dangerous)| Offered { path, text, is_dangerous });
    Ok(UserPage {
        notice: "",
        error: String::new(),
        home: Some(home).filter(|home| !home.is_empty()),
        fields,
        attributes: AttributeFields::of(&defined, &attributes, (form, errors)),
        rights,
        time_line,
        now: iam.now(),
        devices,
        current: caller.require_user().ok().map(|(_, session)| session),
        keys: if is_deleted { keys.of_deleted() } else { keys },
        act: reason_to_act(&frame, &user, is_self),
        is_changeable,
        only_in: if may_update { String::new() } else { places_of(&frame, &permission::USERS_UPDATE) },
        may_end_sessions,
        actions: actions.collect(),
        has_factor,
        frame,
        version: form.map_or_else(|| user.version.to_string(), |form| form.get("version").to_owned()),
        user,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
    Query(done): Query<Done>,
) -> Result<Response, Problem> {
    let shown = page_of(&console, &signed_in, id, (None, &[])).await?;
    page(StatusCode::OK, &UserPage { notice: done.notice(), ..shown })
}

pub(super) async fn update(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let (users, caller) = (console.iam.users(), &signed_in.caller);
    let UserWithAttributes { user, attributes, .. } = users.get_with_attributes(caller, id).await?;
    // Only what differs: a call that names the e-mail needs more rights.
    let changed =
        |name: &str, value: &str| form.given(name).filter(|typed| typed != value).or_else(|| emptied(&form, name));
    let precondition = Precondition::OneOf(form.get("version").parse().into_iter().collect());
    let attempt = async {
        let patch = UserPatch {
            email: changed("email", user.email.as_str()),
            first_name: changed("firstName", user.first_name.as_str()),
            last_name: changed("lastName", user.last_name.as_str()),
            name: changed("name", user.first_name.as_str()),
            external_id: new_external_id(&user, &form),
            home: new_home(&console.iam, caller, &user, &form).await?,
            attributes: attributes::changes(&users.attribute_definitions(caller).await?, &attributes, &form)?,
            ..UserPatch::default()
        };
        users.update_if(caller, id, patch, &precondition).await
    };
    match attempt.await {
        Ok(_) => Ok(back(&console, id, "saved")),
        Err(error) => {
            let is_late = matches!(error, Error::PreconditionFailed);
            refused_form(error, async |errors, error| {
                let error = if is_late { text::t("changed-meanwhile").to_owned() } else { error };
                Ok(UserPage { error, ..page_of(&console, &signed_in, id, (Some(&form), &errors)).await? })
            })
            .await
        }
    }
}

/// How many organizations a page names.
const PLACES: usize = 5;

/// Returns the names of the organizations in which a person holds a permission.
fn places_of(frame: &Frame, permission: &Permission) -> String {
    let grants = frame.session.iter().filter_map(|session| session.grants.as_ref()).flatten();
    let allowing = grants.filter(|grant| grant.role.permissions.allows(permission));
    let places = allowing.filter_map(|grant| grant.organization.as_ref());
    let names: BTreeSet<String> = places.map(|organization| organization.name.clone()).collect();
    names.into_iter().take(PLACES).collect::<Vec<_>>().join(", ")
}

/// Returns how the page names the home of a user, or its id if the person may not see it. Empty for the tenant.
async fn home_of(iam: &Iam, caller: &Caller, user: &User) -> Result<String, Error> {
    let home = user.home_organization_id.map(|home| home.to_string()).unwrap_or_default();
    picker::shown_organization(iam, caller, &home).await
}

/// Returns the home that a person has chosen, if it differs from the one that the page has shown.
async fn new_home(
    iam: &Iam,
    caller: &Caller,
    user: &User,
    form: &Form,
) -> Result<Option<Option<OrganizationId>>, Error> {
    let typed = form.get(HOME).trim();
    if !form.has(HOME) || typed == home_of(iam, caller, user).await? {
        return Ok(None);
    }
    picker::organization(iam, caller, HOME, typed).await.map(Some)
}

/// Returns the external identifier that a person has typed, if it differs from the one that the page has shown.
fn new_external_id(user: &User, form: &Form) -> Option<Option<String>> {
    let typed = form.given(EXTERNAL_ID);
    let is_same = typed.as_deref() == user.external_id.as_ref().map(ExternalId::as_str);
    (form.has(EXTERNAL_ID) && !is_same).then_some(typed)
}

/// Returns an empty text for a field that the person has emptied, so that the service returns its error.
fn emptied(form: &Form, name: &str) -> Option<String> {
    (form.has(name) && form.given(name).is_none()).then(String::new)
}

pub(super) async fn end_session(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let result = match form.get("session").parse::<SessionId>() {
        Ok(session) => console.iam.sessions().terminate(&signed_in.caller, session).await,
        Err(invalid) => Err(Error::field("session", invalid.to_string())),
    };
    answer(&console, &signed_in, id, result.map(|()| "session-ended")).await
}

pub(super) async fn revoke_key(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    if !confirm::is_confirmed(&form) {
        return keys::ask(&console, &signed_in, id, form).await;
    }
    let result = keys::revoke(&console, &signed_in, &form).await;
    answer(&console, &signed_in, id, result.map(|()| "key-revoked")).await
}

/// Leads back to the page of the user, or shows there why the call was refused.
async fn answer(
    console: &Console,
    signed_in: &SignedIn,
    id: UserId,
    result: Result<&'static str, Error>,
) -> Result<Response, Problem> {
    match result {
        Ok(done) => Ok(back(console, id, done)),
        Err(error) => {
            let shown = page_of(console, signed_in, id, (None, &[])).await?;
            refused_in_place(error, |error| UserPage { error, ..shown })
        }
    }
}

pub(super) fn back(console: &Console, id: UserId, done: &str) -> Response {
    Redirect::to(&format!("{}/users/{id}?done={done}", console.base())).into_response()
}

/// Returns the field for the reason, if the person may act as users and can act as this one.
fn reason_to_act(frame: &Frame, user: &User, is_self: bool) -> Option<Field> {
    let may_act = frame.acting().is_none() && frame.may_everywhere(&permission::IMPERSONATIONS_CREATE);
    let is_possible = !is_self && user.status == UserStatus::Active && user.service_name().is_none();
    (may_act && is_possible).then(|| Field::text("reason", text::t("reason")).with_hint(text::t("act-reason-hint")))
}
