//! The settings of the tenant, and how long it keeps its audit log.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::{Extension, Router, routing::get, routing::post};
use iam_axum::Problem;
use iam_core::attribute::{AttributeDefinition, AttributeDefinitions, AttributeType, UnregisteredAttributes};
use iam_core::audit::Retention;
use iam_core::factor::SecondFactorPolicy;
use iam_core::tenant::{
    AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy, Tenant, TenantDeletion, TenantPatch,
};
use iam_core::version::Precondition;
use iam_core::{AttributeKey, Error, FieldError};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::form::Form;
use crate::problem::{if_allowed, refused_form};
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Field, Frame, page};

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/tenant", get(show).post(update))
        .route("/tenant/retention", post(set_retention))
        .route("/tenant/retention/apply", post(apply_retention))
}

const USER_ATTRIBUTES: &str = "userAttributes";
const ORGANIZATION_ATTRIBUTES: &str = "organizationAttributes";
const UNREGISTERED_ATTRIBUTES: &str = "unregisteredAttributes";

/// The members that each definition of an attribute has.
const REQUIRED: [&str; 2] = ["key", "type"];
/// Examples of definitions, of users and of organizations.
const USER_EXAMPLE: &str = r#"[
  {"key": "costCentre", "type": "STRING", "searchable": true, "inToken": true},
  {"key": "nickname", "type": "STRING", "personWrites": true}
]"#;
const ORGANIZATION_EXAMPLE: &str = r#"[
  {"key": "region", "type": "STRING", "searchable": true},
  {"key": "opened", "type": "NUMBER"}
]"#;

#[derive(Template)]
#[template(path = "tenant.html")]
struct TenantPage {
    frame: Frame,
    notice: String,
    error: String,
    /// `None` if the caller may not see it.
    tenant: Option<TenantForm>,
    /// `None` if the caller may not see it.
    retention: Option<RetentionForm>,
    /// The deletion that the operator has scheduled.
    deletion: Option<TenantDeletion>,
    /// How many people would have to set up a second factor. Empty if there is none, or the caller may not see it.
    without_factor: String,
}

/// The tenant, with the fields of its form.
struct TenantForm {
    tenant: Tenant,
    /// The version that the person has seen: a form that is shown again must not replace values that it does not show.
    version: String,
    fields: [Field; 2],
    password_policy: String,
    password_policy_error: String,
    second_factor: String,
    second_factor_error: String,
    grace: Field,
    password_login: String,
    password_login_error: String,
    email_login: String,
    email_login_error: String,
    authzen_identifiers: String,
    authzen_identifiers_error: String,
    user_attributes: Field,
    organization_attributes: Field,
    unregistered_attributes: String,
    unregistered_attributes_error: String,
}

struct RetentionForm {
    retention: Retention,
    days: Field,
}

/// A form that is shown again: the typed values, and their errors.
#[derive(Clone, Copy)]
struct Typed<'a> {
    form: &'a Form,
    errors: &'a [FieldError],
}

/// The form that a person has sent.
#[derive(Clone, Copy)]
enum Sent<'a> {
    Nothing,
    Tenant(Typed<'a>),
    Retention(Typed<'a>),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Done {
    done: String,
    removed: Option<u64>,
}

impl Done {
    fn notice(&self) -> String {
        match (&*self.done, self.removed) {
            ("saved", _) => text::t("saved").to_owned(),
            ("applied", Some(removed)) => text::entries_removed(removed),
            _ => String::new(),
        }
    }
}

impl TenantForm {
    fn of(tenant: Tenant, typed: Option<Typed<'_>>) -> Self {
        // Each part of the settings is a form of its own. What it does not have is shown as it is stored.
        let value = |name: &str, stored: &str| {
            typed.filter(|typed| typed.form.has(name)).map_or(stored, |typed| typed.form.get(name)).to_owned()
        };
        let errors = typed.map_or(&[][..], |typed| typed.errors);
        let field = |field: Field, stored: &str| {
            let value = value(&field.name, stored);
            field.filled(&value).with_errors(errors)
        };
        let error_of = |name, label| Field::text(name, label).with_errors(errors).error;
        let definitions = |name: &'static str, label: &'static str, hint: &str, stored: &AttributeDefinitions| Field {
            error: errors_of_definitions(name, label, errors),
            ..field(Field::text(name, label).optional().with_hint(hint), &text_of(stored))
        };
        let grace = Field { kind: "number", ..Field::text("secondFactorGraceDays", text::t("grace-days")) };
        Self {
            version: value("version", &tenant.version.to_string()),
            fields: [
                field(Field::text("name", text::t("tenant-name")), tenant.name.as_str()),
                field(
                    Field::text("slug", text::t("slug")).with_hint(text::t("tenant-slug-hint")),
                    tenant.slug.as_str(),
                ),
            ],
            password_policy: value("passwordPolicy", tenant.password_policy.as_str()),
            password_policy_error: error_of("passwordPolicy", text::t("password-policy")),
            second_factor: value("secondFactor", tenant.second_factor.as_str()),
            second_factor_error: error_of("secondFactor", text::t("second-factors")),
            grace: field(
                grace.with_hint(text::t("grace-days-hint")),
                &tenant.second_factor_grace_days.days().to_string(),
            ),
            password_login: value("passwordLogin", tenant.password_login.as_str()),
            password_login_error: error_of("passwordLogin", text::t("password-login")),
            email_login: value("emailLogin", tenant.email_login.as_str()),
            email_login_error: error_of("emailLogin", text::t("email-login")),
            authzen_identifiers: value("authzenIdentifiers", tenant.authzen_identifiers.as_str()),
            authzen_identifiers_error: error_of("authzenIdentifiers", text::t("authzen-identifiers")),
            user_attributes: definitions(
                USER_ATTRIBUTES,
                text::t("user-attributes"),
                text::t("user-attributes-hint"),
                &tenant.user_attributes,
            ),
            organization_attributes: definitions(
                ORGANIZATION_ATTRIBUTES,
                text::t("organization-attributes"),
                text::t("organization-attributes-hint"),
                &tenant.organization_attributes,
            ),
            unregistered_attributes: value(UNREGISTERED_ATTRIBUTES, tenant.unregistered_attributes.as_str()),
            unregistered_attributes_error: error_of(UNREGISTERED_ATTRIBUTES, text::t("unregistered-attributes")),
            tenant,
        }
    }
}

impl RetentionForm {
    fn of(retention: Retention, typed: Option<Typed<'_>>) -> Self {
        let field = Field { kind: "number", ..Field::text("retentionDays", text::t("retention-days")) };
        let field = field.optional().with_hint(text::t("retention-hint"));
        // A retention that is still to come is what the person has set last.
        let set = retention.pending.as_ref().map(|pending| pending.days).or(retention.days);
        let days = match typed {
            Some(Typed { form, errors }) => field.filled(form.get("retentionDays")).with_errors(errors),
            None => field.filled(&set.map_or_else(String::new, |days| days.to_string())),
        };
        Self { retention, days }
    }
}

async fn page_of(console: &Console, signed_in: &SignedIn, sent: Sent<'_>) -> Result<TenantPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let (of_tenant, of_retention) = match sent {
        Sent::Nothing => (None, None),
        Sent::Tenant(typed) => (Some(typed), None),
        Sent::Retention(typed) => (None, Some(typed)),
    };
    let tenant = if_allowed(iam.tenants().get(caller, caller.tenant()).await)?;
    let retention = if_allowed(iam.audit().retention(caller).await)?;
    let deletion = if_allowed(iam.tenants().deletion(caller, caller.tenant()).await)?.flatten();
    let counted = if_allowed(iam.factors().count_people(caller).await)?;
    let without_factor = counted.and_then(|counted| {
        let without = counted.without_factor().filter(|without| *without > 0)?;
        Some(text::must_set_up_factor(without, counted.people))
    });
    Ok(TenantPage {
        frame: signed_in.frame(console).await?,
        notice: String::new(),
        error: String::new(),
        tenant: tenant.map(|tenant| TenantForm::of(tenant, of_tenant)),
        retention: retention.map(|retention| RetentionForm::of(retention, of_retention)),
        deletion,
        without_factor: without_factor.unwrap_or_default(),
    })
}

async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(done): Query<Done>,
) -> Result<Response, Problem> {
    let shown = page_of(&console, &signed_in, Sent::Nothing).await?;
    page(StatusCode::OK, &TenantPage { notice: done.notice(), ..shown })
}

async fn update(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let caller = &signed_in.caller;
    let precondition = Precondition::OneOf(form.get("version").parse().into_iter().collect());
    let result = match patch(&form) {
        Ok(patch) => console.iam.tenants().update_if(caller, caller.tenant(), patch, &precondition).await,
        Err(error) => Err(error),
    };
    match result {
        Ok(_) => Ok(back(&console, "done=saved")),
        Err(error) => {
            let is_late = matches!(error, Error::PreconditionFailed);
            refused_form(error, async |errors, error| {
                let error = if is_late { text::t("tenant-changed-meanwhile").to_owned() } else { error };
                let sent = Sent::Tenant(Typed { form: &form, errors: &errors });
                Ok(TenantPage { error, ..page_of(&console, &signed_in, sent).await? })
            })
            .await
        }
    }
}

/// Reads the settings that a form has. The others stay as they are.
fn patch(form: &Form) -> Result<TenantPatch, Error> {
    let has_grace = form.has("secondFactorGraceDays");
    Ok(TenantPatch {
        name: form.has("name").then(|| form.get("name").to_owned()),
        slug: form.has("slug").then(|| form.get("slug").trim().to_owned()),
        password_policy: chosen(form, "passwordPolicy")?,
        second_factor: chosen(form, "secondFactor")?,
        second_factor_grace_days: has_grace.then(|| number(form, "secondFactorGraceDays")).transpose()?,
        password_login: chosen(form, "passwordLogin")?,
        email_login: chosen(form, "emailLogin")?,
        authzen_identifiers: chosen(form, "authzenIdentifiers")?,
        user_attributes: definitions(form, USER_ATTRIBUTES)?,
        organization_attributes: definitions(form, ORGANIZATION_ATTRIBUTES)?,
        unregistered_attributes: chosen(form, UNREGISTERED_ATTRIBUTES)?,
    })
}

/// Reads what a person has chosen. `None` if the form has no field for it.
fn chosen<T: std::str::FromStr>(form: &Form, name: &str) -> Result<Option<T>, Error> {
    if !form.has(name) {
        return Ok(None);
    }
    form.get(name).parse().map(Some).map_err(|_| Error::field(name, text::t("must-be-chosen")))
}

/// Reads the definitions of attributes that a person has typed. `None` if the form has no field for them.
fn definitions(form: &Form, name: &str) -> Result<Option<Vec<AttributeDefinition>>, Error> {
    if !form.has(name) {
        return Ok(None);
    }
    let Some(text) = form.given(name) else { return Ok(Some(Vec::new())) };
    let read = iam_json::from_slice(text.as_bytes());
    read.map(Some).map_err(|error| match errors_in(name, text.as_bytes()) {
        errors if errors.is_empty() => Error::field(name, text::must_be_definitions(error.line(), error.column())),
        errors => Error::Validation(errors),
    })
}

/// Returns what is wrong with each definition of a list, if it is a list in JSON.
fn errors_in(name: &str, json: &[u8]) -> Vec<FieldError> {
    let definitions: Vec<Value> = iam_json::from_slice(json).unwrap_or_default();
    let mut errors = Vec::new();
    for (number, definition) in definitions.iter().enumerate() {
        let wrong = match definition {
            Value::Object(members) => errors_of_members(members),
            _ => vec![("", text::t("must-be-object").to_owned())],
        };
        errors.extend(
            wrong.into_iter().map(|(member, message)| FieldError::new(format!("{name}[{number}].{member}"), message)),
        );
    }
    errors
}

/// Returns the members of a definition that are missing, wrong or unknown, each with what is wrong.
fn errors_of_members(members: &Map<String, Value>) -> Vec<(&str, String)> {
    let mut errors = Vec::new();
    for member in REQUIRED {
        if !members.contains_key(member) {
            errors.push((member, text::t("must-be-given").to_owned()));
        }
    }
    for (member, value) in members {
        let wrong = match (&**member, value) {
            ("key", Value::String(key)) => key.parse::<AttributeKey>().err().map(|error| error.to_string()),
            ("type", Value::String(kind)) => kind.parse::<AttributeType>().err().map(|error| error.to_string()),
            ("key" | "type", _) => Some(text::t("must-be-quoted").to_owned()),
            ("searchable" | "personReads" | "personWrites" | "inToken", Value::Bool(_)) => None,
            ("searchable" | "personReads" | "personWrites" | "inToken", _) => Some(text::t("must-be-truth").to_owned()),
            _ => Some(text::t("no-member").to_owned()),
        };
        errors.extend(wrong.map(|message| (member.as_str(), message)));
    }
    errors
}

/// Returns definitions as a person reads them, one in a line; empty if there is none.
fn text_of(definitions: &AttributeDefinitions) -> String {
    let lines = definitions.iter().filter_map(|definition| serde_json::to_string(definition).ok());
    let lines: Vec<String> = lines.map(|line| format!("  {line}")).collect();
    if lines.is_empty() { String::new() } else { format!("[\n{}\n]", lines.join(",\n")) }
}

/// Returns the errors of a list of definitions. An error about one of them says which one it is.
fn errors_of_definitions(name: &str, label: &str, errors: &[FieldError]) -> String {
    let texts = errors.iter().filter_map(|error| {
        let place = error.field.strip_prefix(name)?;
        let Some((number, field)) = place.strip_prefix('[').and_then(|place| place.split_once(']')) else {
            return place.is_empty().then(|| text::about(label, &error.message));
        };
        let number = number.parse::<usize>().ok()?;
        Some(format!("{} {}", text::definition(number + 1), text::about(field.trim_start_matches('.'), &error.message)))
    });
    texts.collect::<Vec<_>>().join(" ")
}

fn number<N: std::str::FromStr>(form: &Form, name: &str) -> Result<N, Error> {
    form.get(name).trim().parse().map_err(|_| Error::field(name, text::t("must-be-a-number")))
}

async fn set_retention(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let days = match form.given("retentionDays") {
        Some(_) => number(&form, "retentionDays").map(Some),
        None => Ok(None),
    };
    let result = match days {
        Ok(days) => console.iam.audit().set_retention(&signed_in.caller, days).await,
        Err(error) => Err(error),
    };
    match result {
        Ok(_) => Ok(back(&console, "done=saved")),
        Err(error) => refuse_retention(&console, &signed_in, &form, error).await,
    }
}

async fn apply_retention(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    match console.iam.audit().apply_retention(&signed_in.caller).await {
        Ok(removed) => Ok(back(&console, &format!("done=applied&removed={removed}"))),
        Err(error) => refuse_retention(&console, &signed_in, &form, error).await,
    }
}

async fn refuse_retention(
    console: &Console,
    signed_in: &SignedIn,
    form: &Form,
    error: Error,
) -> Result<Response, Problem> {
    refused_form(error, async |errors, error| {
        let sent = Sent::Retention(Typed { form, errors: &errors });
        // The form that applies the retention has no field.
        let sent = if form.has("retentionDays") { sent } else { Sent::Nothing };
        Ok(TenantPage { error, ..page_of(console, signed_in, sent).await? })
    })
    .await
}

fn back(console: &Console, query: &str) -> Response {
    Redirect::to(&format!("{}/tenant?{query}", console.base())).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_are_definitions() {
        for example in [USER_EXAMPLE, ORGANIZATION_EXAMPLE] {
            let read: Vec<AttributeDefinition> = iam_json::from_slice(example.as_bytes()).unwrap();
            assert_eq!(read.len(), 2, "{example}");
        }
    }
}
