//! The API keys of a user: a part of its page and of the account of a person, a form for a new one, and its secret.

use std::collections::BTreeSet;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use iam_axum::{PathId, Problem};
use iam_core::api_key::{ApiKey, NewApiKey};
use iam_core::assignment::Grant;
use iam_core::audit::ResourceType;
use iam_core::permission::{self, PermissionPattern, PermissionSet};
use iam_core::{ApiKeyId, Caller, Error, FieldError, Iam, UserId};

use crate::catalogue::{Catalogue, Group};
use crate::confirm::{self, Pending};
use crate::cookie::TemporaryCookie;
use crate::day::end_of_day;
use crate::form::Form;
use crate::once::{self, Once};
use crate::person;
use crate::picker;
use crate::problem::{collected, if_allowed, refused_form};
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Field, Frame, errors_of_list, page};

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/users/{id}/api-keys/new", get(show_new).post(create))
        .route("/users/{id}/api-keys/created", get(show_created))
}

/// The part of a page that shows the keys of a user.
#[derive(Template)]
#[template(path = "keys.html")]
pub(crate) struct Keys {
    iam: Iam,
    base: String,
    form_token: String,
    user: UserId,
    /// The address of the form that revokes a key.
    revoke: String,
    /// `None` if the caller may not see them.
    keys: Option<Vec<ApiKey>>,
    /// What the user holds now. `None` if no key has only some permissions, or if the caller may not see it.
    held: Option<PermissionSet>,
    may_create: bool,
    may_revoke: bool,
}

impl Keys {
    pub(crate) async fn of(
        console: &Console,
        signed_in: &SignedIn,
        frame: &Frame,
        user: UserId,
    ) -> Result<Self, Error> {
        let keys = if_allowed(console.iam.api_keys().list(&signed_in.caller, user).await)?;
        let (iam, base) = (console.iam.clone(), console.base().to_owned());
        let revoke = format!("{base}{}/revoke-key", signed_in.home_of(user));
        let is_own = signed_in.caller.user() == Some(user);
        let is_limited = keys.iter().flatten().any(|key| key.permissions.is_some());
        let held = if is_limited { held_by(&iam, &signed_in.caller, frame, user).await? } else { None };
        Ok(Self {
            iam,
            base,
            form_token: signed_in.form_token.clone(),
            user,
            revoke,
            keys,
            held,
            may_create: is_own || frame.may(&permission::API_KEYS_CREATE),
            may_revoke: is_own || frame.may(&permission::API_KEYS_DELETE),
        })
    }

    /// The keys of a user that gets no other key, because it is deleted.
    pub(crate) fn of_deleted(self) -> Self {
        Self { may_create: false, ..self }
    }

    fn prefix(&self, key: &ApiKey) -> String {
        self.iam.api_keys().prefix(key.id)
    }

    fn is_live(&self, key: &ApiKey) -> bool {
        key.is_live(self.iam.now())
    }

    /// How many of the permissions of a key its user holds now. Empty if it holds all, or if that is not known.
    fn holds(&self, key: &ApiKey) -> String {
        let (Some(held), Some(permissions)) = (&self.held, &key.permissions) else { return String::new() };
        let all = permissions.iter().count();
        let now = permissions.iter().filter(|pattern| holds_some(held, pattern)).count();
        if now == all { String::new() } else { text::key_holds(now, all) }
    }
}

/// Returns what a user holds now, in any place. `None` if the caller may not see all of it.
async fn held_by(iam: &Iam, caller: &Caller, frame: &Frame, user: UserId) -> Result<Option<PermissionSet>, Error> {
    if caller.user() != Some(user) && !frame.may_everywhere(&permission::ROLE_ASSIGNMENTS_READ) {
        return Ok(None);
    }
    Ok(if_allowed(iam.assignments().of_user(caller, user).await)?.map(|grants| permissions_of(&grants)))
}

/// Returns the permissions of role assignments. What an access request has given does not count for keys.
fn permissions_of(grants: &[Grant]) -> PermissionSet {
    let counted = grants.iter().filter(|grant| grant.assignment.is_standing() && grant.is_lineage_active());
    counted.flat_map(|grant| grant.role.permissions.iter()).cloned().collect()
}

/// Whether these permissions have something of what a pattern means.
fn holds_some(held: &PermissionSet, pattern: &PermissionPattern) -> bool {
    let pattern: PermissionSet = [pattern.clone()].into_iter().collect();
    !held.intersection(&pattern).is_empty()
}

/// Returns the permissions that a new key can have: those that its maker holds in some place, and those that are chosen.
/// One that the user of the key does not hold says so.
async fn offered(
    console: &Console,
    caller: &Caller,
    frame: &Frame,
    user: UserId,
    chosen: &BTreeSet<String>,
) -> Result<Vec<Group>, Error> {
    let grants = frame.session.as_ref().and_then(|session| session.grants.as_deref());
    let of_maker = grants.map(permissions_of);
    let of_user = held_by(&console.iam, caller, frame, user).await?;
    let mut groups = Catalogue::read(&console.iam, caller).await?.choices(chosen);
    for group in &mut groups {
        group.choices.retain_mut(|choice| {
            let pattern = choice.name.parse::<PermissionPattern>().ok();
            let is_in = |held: &PermissionSet| pattern.as_ref().is_some_and(|pattern| held.covers(pattern));
            let lacks = |held: &PermissionSet| pattern.as_ref().is_some_and(|pattern| !holds_some(held, pattern));
            if of_user.as_ref().is_some_and(lacks) {
                choice.text = text::not_held_now(&choice.text);
            }
            choice.is_chosen || of_maker.as_ref().is_none_or(is_in)
        });
    }
    groups.retain(|group| !group.choices.is_empty());
    Ok(groups)
}

#[derive(Template)]
#[template(path = "key-new.html")]
struct NewKeyPage {
    frame: Frame,
    error: String,
    title: String,
    /// The pages above it: their addresses below the path of the console, and their names.
    trail: Vec<(String, String)>,
    back: String,
    name: Field,
    groups: Vec<Group>,
    permissions_hint: &'static str,
    permissions_error: String,
    /// Where and until when the key can be used.
    limits: [Field; 2],
}

/// Returns the title and the trail of the pages of a new key. Those of another user name it, if the caller may see it.
async fn heading(
    console: &Console,
    signed_in: &SignedIn,
    user: UserId,
) -> Result<(String, Vec<(String, String)>), Error> {
    let back = signed_in.home_of(user);
    if signed_in.caller.user() == Some(user) {
        return Ok((text::t("new-key").to_owned(), vec![(back, text::t("my-account").to_owned())]));
    }
    let Some(found) = if_allowed(console.iam.users().get(&signed_in.caller, user).await)? else {
        return Ok((text::t("new-key").to_owned(), Vec::new()));
    };
    let name = person::name_of(&found);
    let users = ("/users".to_owned(), text::t("users").to_owned());
    Ok((text::new_key_for(&name), vec![users, (back, name)]))
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    user: UserId,
    (form, errors, error): (&Form, &[FieldError], String),
) -> Result<NewKeyPage, Problem> {
    // The same refusal as for the list of its keys: a page about a user of another tenant does not exist.
    console.iam.api_keys().list(&signed_in.caller, user).await?;
    let frame = signed_in.frame(console).await?;
    let (title, trail) = heading(console, signed_in, user).await?;
    let typed = chosen(form);
    let groups = offered(console, &signed_in.caller, &frame, user, &typed.iter().cloned().collect()).await?;
    let is_own = signed_in.caller.is_in_session_of(user);
    let organization = Field::text("organizationId", text::t("organization")).optional();
    let organization = organization.with_hint(text::t("key-organization-hint"));
    let limits = [
        picker::of_organization(console, organization),
        Field { kind: "date", ..Field::text("expiresAt", text::t("last-day")) }
            .optional()
            .with_hint(text::t("key-expiry-hint")),
    ];
    Ok(NewKeyPage {
        frame,
        error,
        title,
        trail,
        back: signed_in.home_of(user),
        name: Field::text("name", text::t("name")).with_hint(text::t("key-name-hint")).shown(form, errors),
        groups,
        permissions_hint: if is_own {
            text::t("key-permissions-hint")
        } else {
            text::t("key-permissions-of-other-hint")
        },
        permissions_error: errors_of_list("permissions", text::t("permissions"), &typed, errors),
        limits: limits.map(|field| field.shown(form, errors)),
    })
}

/// Returns the permissions that a person has chosen for a key.
fn chosen(form: &Form) -> Vec<String> {
    form.all("permission").map(str::to_owned).collect()
}

async fn show_new(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(user): PathId<UserId>,
) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, user, (&Form::default(), &[], String::new())).await?)
}

async fn issue(console: &Console, signed_in: &SignedIn, user: UserId, form: &Form) -> Result<String, Error> {
    let permissions = Some(chosen(form)).filter(|chosen| !chosen.is_empty());
    let mut errors = Vec::new();
    if permissions.is_none() && !signed_in.caller.is_in_session_of(user) {
        errors.push(FieldError::new("permissions", text::t("key-needs-permissions")));
    }
    let typed = form.get("organizationId");
    let organization = picker::organization(&console.iam, &signed_in.caller, "organizationId", typed).await;
    let organization = collected(organization, &mut errors)?.flatten();
    let expires_at = collected(end_of_day("expiresAt", form.given("expiresAt")), &mut errors)?.flatten();
    if !errors.is_empty() {
        return Err(Error::Validation(errors));
    }
    let new = NewApiKey { name: form.get("name").to_owned(), permissions, organization, expires_at };
    let issued = console.iam.api_keys().create(&signed_in.caller, user, new).await?;
    Ok(issued.token.expose().to_owned())
}

async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(user): PathId<UserId>,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    match issue(&console, &signed_in, user, &form).await {
        Ok(key) => {
            let path = format!("/users/{user}/api-keys/created");
            Ok(once::lead_to(&console, &signed_in, &parts, (TemporaryCookie::ApiKey, &[&key]), &path))
        }
        Err(error) => {
            let shown =
                async |errors: Vec<FieldError>, text| page_of(&console, &signed_in, user, (&form, &errors, text)).await;
            refused_form(error, shown).await
        }
    }
}

/// Shows a new key, once.
async fn show_created(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(user): PathId<UserId>,
    parts: Parts,
) -> Result<Response, Problem> {
    let (title, trail) = heading(&console, &signed_in, user).await?;
    let (temporary, intro, back) = (TemporaryCookie::ApiKey, text::t("key-once"), signed_in.home_of(user));
    let once = Once { temporary, title, trail, intro, file: "", back };
    once::show(&console, &signed_in, &parts, once).await
}

/// Returns the page that asks whether the key of a user that a form names is to be revoked.
pub(crate) async fn ask(
    console: &Console,
    signed_in: &SignedIn,
    user: UserId,
    form: Form,
) -> Result<Response, Problem> {
    let keys = console.iam.api_keys().list(&signed_in.caller, user).await?;
    let key = keys.into_iter().find(|key| key.id.to_string() == form.get("key"));
    let key = key.ok_or(Error::NotFound(ResourceType::API_KEY))?;
    let back = format!("{}{}", console.base(), signed_in.home_of(user));
    let pending = Pending {
        title: text::revoke_key(key.name.as_str()),
        note: text::t("revoke-key-what"),
        button: text::t("revoke-key"),
        is_dangerous: true,
        action: format!("{back}/revoke-key"),
        back,
        has_form: false,
    };
    confirm::ask_untried(console, signed_in, form, pending).await
}

/// Revokes the key that a form names.
pub(crate) async fn revoke(console: &Console, signed_in: &SignedIn, form: &Form) -> Result<(), Error> {
    match form.get("key").parse::<ApiKeyId>() {
        Ok(key) => console.iam.api_keys().delete(&signed_in.caller, key).await,
        Err(invalid) => Err(Error::field("key", invalid.to_string())),
    }
}
