//! The API keys of a user: a part of its page and of the account of a person, a form for a new one, and its secret.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use iam_axum::{PathId, Problem};
use iam_core::api_key::{ApiKey, NewApiKey};
use iam_core::audit::ResourceType;
use iam_core::permission;
use iam_core::{ApiKeyId, Error, FieldError, Iam, UserId};

use crate::confirm::{self, Pending};
use crate::cookie::TemporaryCookie;
use crate::day::end_of_day;
use crate::form::Form;
use crate::once::{self, Once};
use crate::picker;
use crate::problem::{collected, if_allowed, refused_form};
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Field, Frame, page};

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
        Ok(Self {
            iam,
            base,
            form_token: signed_in.form_token.clone(),
            user,
            revoke,
            keys,
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
}

#[derive(Template)]
#[template(path = "key-new.html")]
struct NewKeyPage {
    frame: Frame,
    error: String,
    back: String,
    fields: Vec<Field>,
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    user: UserId,
    (form, errors, error): (&Form, &[FieldError], String),
) -> Result<NewKeyPage, Problem> {
    // The same refusal as for the list of its keys: a page about a user of another tenant does not exist.
    console.iam.api_keys().list(&signed_in.caller, user).await?;
    let organization = Field::text("organizationId", text::t("organization")).optional();
    let organization = organization.with_hint(text::t("key-organization-hint"));
    let permissions = Field::text("permissions", text::t("key-permissions"));
    let permissions = if signed_in.caller.is_in_session_of(user) {
        permissions.optional().with_hint(text::t("key-permissions-hint"))
    } else {
        permissions.with_hint(text::t("key-permissions-of-other-hint"))
    };
    let fields = [
        Field::text("name", text::t("name")).with_hint(text::t("key-name-hint")),
        permissions,
        picker::of_organization(console, organization),
        Field { kind: "date", ..Field::text("expiresAt", text::t("last-day")) }
            .optional()
            .with_hint(text::t("key-expiry-hint")),
    ];
    Ok(NewKeyPage {
        frame: signed_in.frame(console).await?,
        error,
        back: signed_in.home_of(user),
        fields: fields.map(|field| field.shown(form, errors)).into(),
    })
}

async fn show_new(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(user): PathId<UserId>,
) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, user, (&Form::default(), &[], String::new())).await?)
}

async fn issue(console: &Console, signed_in: &SignedIn, user: UserId, form: &Form) -> Result<String, Error> {
    let permissions = form.given("permissions").map(|typed| {
        typed.split([' ', ',', ';', '\n']).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect()
    });
    let mut errors = Vec::new();
    let typed = form.get("organizationId");
    let organization = picker::organization(&console.iam, &signed_in.caller, "organizationId", typed).await;
    let organization = collected(organization, &mut errors)?.flatten();
    let expires_at = collected(end_of_day("expiresAt", form.given("expiresAt")), &mut errors)?.flatten();
    if !errors.is_empty() {
        return Err(Error::Validation(errors));
    }
    let new = NewApiKey { name: form.get("name").to_owned(), permissions, organization, expires_at };
    let issued = console.iam.api_keys().create(&signed_in.caller, user, new).await.map_err(as_typed)?;
    Ok(issued.token.expose().to_owned())
}

/// Names the fields of an error as the form does, which has one field for all permissions.
fn as_typed(error: Error) -> Error {
    let Error::Validation(errors) = error else { return error };
    let renamed = errors.into_iter().map(|error| {
        let field = error.field.split('[').next().unwrap_or_default().to_owned();
        FieldError { field, ..error }
    });
    Error::Validation(renamed.collect())
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
    let (title, intro) = (text::t("new-key"), text::t("key-once"));
    let once = Once { temporary: TemporaryCookie::ApiKey, title, intro, file: "", back: signed_in.home_of(user) };
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
