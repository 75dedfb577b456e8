use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::access::Permission;
use iam_core::api_key::{ApiKey, NewApiKey};
use iam_core::assignment::NewAssignment;
use iam_core::clock::Timestamp;
use iam_core::directory::NewDirectory;
use iam_core::permission::{API_KEYS_CREATE, DIRECTORIES_CREATE, ROLE_ASSIGNMENTS_CREATE, USERS_CREATE};
use iam_core::role::{Role, RoleScope};
use iam_core::session::FRESH;
use iam_core::user::NewServiceAccount;
use iam_core::{Conflict, DirectoryId, Error, FieldError, IdentityProviderId, OrganizationId, UserId};

use crate::cookie::TemporaryCookie;
use crate::day::end_of_day;
use crate::directories::{Fields, typed_provider};
use crate::form::Form;
use crate::once::{self, Once};
use crate::picker;
use crate::problem::{collected, refused_form};
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, Frame, page};

/// The field with the service account that a person has chosen.
const ACCOUNT: &str = "serviceAccountId";

/// Which service account a new directory gets, and whether a key is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AccountChoice {
    /// A new one with a new key.
    New,
    /// One that exists, with a new key.
    WithNewKey,
    /// One that exists, and whose key the person has.
    WithKey,
}

impl AccountChoice {
    const ALL: [Self; 3] = [Self::New, Self::WithNewKey, Self::WithKey];

    fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::WithNewKey => "new-key",
            Self::WithKey => "known-key",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::New => text::t("new-account"),
            Self::WithNewKey => text::t("account-with-new-key"),
            Self::WithKey => text::t("account-with-key"),
        }
    }

    /// Returns what the calls need that it leads to.
    fn needed(self) -> Vec<Permission> {
        match self {
            Self::New => vec![DIRECTORIES_CREATE, USERS_CREATE, ROLE_ASSIGNMENTS_CREATE, API_KEYS_CREATE],
            Self::WithNewKey => vec![DIRECTORIES_CREATE, ROLE_ASSIGNMENTS_CREATE, API_KEYS_CREATE],
            Self::WithKey => vec![DIRECTORIES_CREATE],
        }
    }

    /// Reads the choice of a form. A form without the choice makes nothing but the directory.
    fn of(form: &Form) -> Self {
        let typed = form.get("account");
        Self::ALL.into_iter().find(|choice| choice.as_str() == typed).unwrap_or(Self::WithKey)
    }
}

#[derive(Template)]
#[template(path = "directory-new.html")]
struct NewDirectoryPage {
    frame: Frame,
    error: String,
    fields: Fields,
    /// Whether the person can make a service account and a key. Otherwise it only chooses an account.
    makes_account: bool,
    choice: AccountChoice,
    account: Field,
    role: Field,
    last_day: Field,
}

impl NewDirectoryPage {
    fn choices(&self) -> [(&'static str, &'static str, bool); 3] {
        AccountChoice::ALL.map(|choice| (choice.as_str(), choice.text(), choice == self.choice))
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    (form, errors): (Option<&Form>, &[FieldError]),
) -> Result<NewDirectoryPage, Problem> {
    let frame = signed_in.frame(console).await?;
    let empty = Form::default();
    let shown = |field: Field| field.optional().shown(form.unwrap_or(&empty), errors);
    let account = Field::text(ACCOUNT, text::t("account-that-exists")).with_hint(text::t("pick-account"));
    let role = Field::text("role", text::t("role-of-account")).with_hint(text::t("role-of-account-hint"));
    let last_day = Field { kind: "date", ..Field::text("expiresAt", text::t("last-day-of-key")) };
    Ok(NewDirectoryPage {
        error: String::new(),
        fields: Fields::of(console, signed_in, &frame, None, (form, errors)).await?,
        makes_account: AccountChoice::New.needed().iter().all(|permission| frame.may_everywhere(permission)),
        choice: form.map_or(AccountChoice::New, AccountChoice::of),
        account: picker::of_service_account(console, shown(account)),
        role: picker::of_role(console, shown(role)),
        last_day: shown(last_day.with_hint(text::t("key-expiry-hint"))),
        frame,
    })
}

pub(super) async fn show(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, (None, &[])).await?)
}

pub(super) async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let mut made = None;
    let error = match make(&console, &signed_in, &form, &mut made).await {
        Ok(Made { directory, key: Some(key) }) => {
            let path = format!("/directories/{directory}/key");
            return Ok(once::lead_to(&console, &signed_in, &parts, (TemporaryCookie::ApiKey, &[&key]), &path));
        }
        Ok(Made { directory, key: None }) => {
            let lacks_key = AccountChoice::of(&form) != AccountChoice::WithKey;
            let done = if lacks_key { "without-key" } else { "created" };
            return Ok(Redirect::to(&format!("{}/directories/{directory}?done={done}", console.base())).into_response());
        }
        Err(error) => as_typed(error),
    };
    // The account is there, so the form must not make another one when it is sent again.
    let form = match made {
        Some(account) => {
            let chosen = form.replacing("account", AccountChoice::WithNewKey.as_str());
            chosen.replacing(ACCOUNT, account.to_string())
        }
        None => form,
    };
    refused_form(error, async |errors: Vec<FieldError>, error: String| {
        let error = match made {
            Some(_) if errors.is_empty() => text::account_is_made(&error),
            Some(_) => text::account_is_made(text::t("correct-fields")),
            None => error,
        };
        Ok(NewDirectoryPage { error, ..page_of(&console, &signed_in, (Some(&form), &errors)).await? })
    })
    .await
}

/// A new directory, with the text of the new key of its account.
struct Made {
    directory: DirectoryId,
    /// `None` if none was to be made, or if that has failed.
    key: Option<String>,
}

/// The values of a form.
struct Typed {
    choice: AccountChoice,
    /// The account that exists.
    account: Option<UserId>,
    /// The role that the account gets. Its permissions are those of the key.
    role: Option<Role>,
    expires_at: Option<Timestamp>,
    provider: Option<IdentityProviderId>,
}

impl Typed {
    /// Reads a form, and finds what is wrong before anything is made.
    async fn read(console: &Console, signed_in: &SignedIn, form: &Form) -> Result<Self, Error> {
        let (iam, caller, mut errors) = (&console.iam, &signed_in.caller, Vec::new());
        let choice = AccountChoice::of(form);
        let provider = collected(typed_provider(form), &mut errors)?.flatten();
        let account = if choice == AccountChoice::New {
            None
        } else {
            let account = picker::service_account(iam, caller, ACCOUNT, form.get(ACCOUNT)).await;
            collected(account, &mut errors)?
        };
        let (mut role, mut expires_at) = (None, None);
        if choice != AccountChoice::WithKey {
            role = collected(role_of_key(console, signed_in, form).await, &mut errors)?;
            expires_at = collected(expiry_of_key(form, iam.now()), &mut errors)?.flatten();
        }
        if !errors.is_empty() {
            return Err(Error::Validation(errors));
        }
        Ok(Self { choice, account, role, expires_at, provider })
    }
}

/// Returns the role that the account of a new key gets.
async fn role_of_key(console: &Console, signed_in: &SignedIn, form: &Form) -> Result<Role, Error> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let typed = form.given("role").ok_or_else(|| Error::field("role", text::t("role-missing")))?;
    let role = iam.roles().get(caller, picker::role(iam, caller, "role", &typed).await?).await?;
    if role.scope == RoleScope::Organization {
        return Err(Error::field("role", text::t("role-in-whole-tenant")));
    }
    if role.permissions.iter().next().is_none() {
        return Err(Error::field("role", text::t("role-without-permissions")));
    }
    Ok(role)
}

/// Returns when a new key expires. The service checks this too, but only after the directory is made.
fn expiry_of_key(form: &Form, now: Timestamp) -> Result<Option<Timestamp>, Error> {
    let expires_at = end_of_day("expiresAt", form.given("expiresAt"))?;
    match expires_at {
        Some(expiry) if expiry <= now => Err(Error::field("expiresAt", text::t("key-must-be-later"))),
        Some(expiry) if expiry > now + ApiKey::MAX_LIFETIME => {
            Err(Error::field("expiresAt", text::t("key-must-be-earlier")))
        }
        expires_at => Ok(expires_at),
    }
}

/// Makes the account, gives it its role, and makes the directory and the key, as far as the form asks for them. These
/// are calls of their own: if one after the first is refused, `made` has the new account.
async fn make(console: &Console, signed_in: &SignedIn, form: &Form, made: &mut Option<UserId>) -> Result<Made, Error> {
    let (iam, caller, name) = (&console.iam, &signed_in.caller, form.get("name").trim());
    let typed = Typed::read(console, signed_in, form).await?;
    let adopt = form.has("adopt");
    // Who may not finish makes nothing.
    for permission in typed.choice.needed() {
        iam.access().require(caller, permission, None::<OrganizationId>).await?;
    }
    if typed.choice != AccountChoice::WithKey || adopt || typed.provider.is_some() {
        // A proof that only a later call asks for would send the form again, and make the account twice.
        iam.sessions().require_fresh(caller, FRESH).await?;
    }
    let account = match typed.account {
        Some(account) => account,
        None => {
            let new = NewServiceAccount { name: name.to_owned() };
            let account = iam.users().create_service_account(caller, new).await?.id;
            *made = Some(account);
            account
        }
    };
    let new =
        NewDirectory { name: name.to_owned(), service_account: account, identity_provider: typed.provider, adopt };
    if let Some(role) = &typed.role {
        // An account whose directory is refused gets no role.
        iam.trial().directories().create(caller, new.clone()).await?;
        let new = NewAssignment { user: account, role: role.id, organization: None, expires_at: None };
        match iam.assignments().create(caller, new).await {
            Ok(_) | Err(Error::Conflict(Conflict::RoleHeld)) => {}
            Err(error) => return Err(error),
        }
    }
    let directory = iam.directories().create(caller, new).await?.id;
    let Some(role) = typed.role else { return Ok(Made { directory, key: None }) };
    let permissions = Some(role.permissions.iter().map(ToString::to_string).collect());
    let new = NewApiKey { name: name.to_owned(), permissions, organization: None, expires_at: typed.expires_at };
    // The directory is there, and its page leads to the keys of the account.
    let key = match iam.api_keys().create(caller, account, new).await {
        Ok(issued) => Some(issued.token.expose().to_owned()),
        Err(error) => {
            tracing::warn!(%error, "a new directory has no API key");
            None
        }
    };
    Ok(Made { directory, key })
}

/// Names the fields of an error as the form does.
fn as_typed(error: Error) -> Error {
    match error {
        Error::About { field, error } if field == "roleId" => Error::About { field: "role".to_owned(), error },
        error => error,
    }
}

/// Shows the new key of a directory, once.
pub(super) async fn show_key(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<DirectoryId>,
    parts: Parts,
) -> Result<Response, Problem> {
    let (title, intro) = (text::t("key-of-directory").to_owned(), text::t("key-of-directory-once"));
    let back = format!("/directories/{id}?done=created");
    let once = Once { temporary: TemporaryCookie::ApiKey, title, trail: Vec::new(), intro, file: "", back };
    once::show(&console, &signed_in, &parts, once).await
}
