//! Fields in which a person chooses a user, a service account, an organization or a role: while the person types, the
//! browser offers matches. The person can also type a name that is not offered.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use iam_axum::Problem;
use iam_core::organization::{OrganizationFilter, OrganizationSort, OrganizationSortKey, OrganizationStatus};
use iam_core::page::{PageRequest, SortOrder};
use iam_core::search::MAX_WORDS;
use iam_core::text::folded;
use iam_core::user::{User, UserFilter, UserKind, UserSort, UserStatus};
use iam_core::{Caller, Email, Error, FieldError, Iam, OrganizationId, RoleId, UserId};

use crate::person::name_of;
use crate::problem::if_allowed;
use crate::query::OneParameter;
use crate::roles;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, page};

/// How many are offered.
const OFFERED: u32 = 20;
/// Among how many that match the one is searched that a person has named exactly.
const SEARCHED: u32 = 100;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/pick/users", get(offer_users))
        .route("/pick/organizations", get(offer_organizations))
        .route("/pick/roles", get(offer_roles))
        .route("/pick/service-accounts", get(offer_accounts))
}

/// Makes a field one in which a person chooses a user.
pub(crate) fn of_user(console: &Console, field: Field) -> Field {
    offering(console, "users", text::t("part-of-name-or-email"), field.with_hint(text::t("pick-user")))
}

/// Makes a field one in which a person chooses an organization.
pub(crate) fn of_organization(console: &Console, field: Field) -> Field {
    offering(console, "organizations", text::t("part-of-name"), field)
}

/// Makes a field one in which a person chooses a role.
pub(crate) fn of_role(console: &Console, field: Field) -> Field {
    offering(console, "roles", text::t("part-of-name"), field)
}

/// Makes a field one in which a person chooses a service account.
pub(crate) fn of_service_account(console: &Console, field: Field) -> Field {
    offering(console, "service-accounts", text::t("part-of-name"), field)
}

fn offering(console: &Console, kind: &str, placeholder: &'static str, field: Field) -> Field {
    Field { offered_at: format!("{}/pick/{kind}", console.base()), placeholder, ..field }
}

/// Returns the field for an organization, or for the whole tenant if it is empty.
pub(crate) async fn of_place(
    console: &Console,
    caller: &Caller,
    text: &str,
    errors: &[FieldError],
) -> Result<Field, Error> {
    let field = Field::text("organization", text::t("organization")).optional();
    let shown = shown_organization(&console.iam, caller, text).await?;
    let field = field.with_hint(text::t("organization-or-tenant")).filled(&shown).with_errors(errors);
    Ok(Field { placeholder: text::t("empty-whole-tenant"), ..of_organization(console, field) })
}

/// The typed text: the only value of the query, under the name of its field.
type Typed = OneParameter;

fn text_of(OneParameter(typed): Typed) -> String {
    typed.trim().to_owned()
}

#[derive(Template)]
#[template(path = "picker-options.html")]
struct Options {
    /// Each with the value that the field gets, and the text beside it.
    options: Vec<(String, String)>,
}

async fn offer_users(State(console): State<Console>, signed_in: SignedIn, typed: Typed) -> Result<Response, Problem> {
    let found = matching_users(&console.iam, &signed_in.caller, text_of(typed), OFFERED).await;
    let found = if_allowed(found)?.unwrap_or_default();
    let options = found.iter().map(|user| match user.service_name() {
        Some(name) if means_only_one(name.as_str(), &found) => {
            (name.to_string(), text::t("service-account").to_owned())
        }
        Some(name) => (user.id.to_string(), format!("{name} ({})", text::t("service-account"))),
        None => (user.email.as_str().to_owned(), name_of(user)),
    });
    page(StatusCode::OK, &Options { options: options.collect() })
}

async fn offer_organizations(
    State(console): State<Console>,
    signed_in: SignedIn,
    typed: Typed,
) -> Result<Response, Problem> {
    let found = matching_organizations(&console.iam, &signed_in.caller, text_of(typed), OFFERED).await;
    let options = if_allowed(found)?.unwrap_or_default().into_iter().map(|found| {
        let name =
            if found.is_suspended { format!("{} · {}", found.name, text::t("is-suspended")) } else { found.name };
        (found.slug, name)
    });
    page(StatusCode::OK, &Options { options: options.collect() })
}

async fn offer_roles(State(console): State<Console>, signed_in: SignedIn, typed: Typed) -> Result<Response, Problem> {
    let text = text_of(typed);
    let roles = if_allowed(roles::all(&console.iam, &signed_in.caller).await)?.unwrap_or_default().into_iter();
    let matching = roles.filter(|role| roles::is_named_with(role, &text));
    let options = matching.take(OFFERED as usize);
    let options = options.map(|role| (role.name.as_str().to_owned(), roles::text_of(&role.scope).to_owned()));
    page(StatusCode::OK, &Options { options: options.collect() })
}

async fn offer_accounts(
    State(console): State<Console>,
    signed_in: SignedIn,
    typed: Typed,
) -> Result<Response, Problem> {
    let found = matching_accounts(&console.iam, &signed_in.caller, text_of(typed), OFFERED).await;
    let named = |account: User| Some((account.id.to_string(), account.service_name()?.to_string()));
    let options = if_allowed(found)?.unwrap_or_default().into_iter().filter_map(named);
    page(StatusCode::OK, &Options { options: options.collect() })
}

/// Returns the newest users with all of these words.
pub(crate) async fn matching_users(iam: &Iam, caller: &Caller, search: String, limit: u32) -> Result<Vec<User>, Error> {
    let filter = UserFilter { search: Some(first_words(&search)), ..UserFilter::default() };
    Ok(iam.users().list(caller, &filter, UserSort::default(), PageRequest::new(1, limit)?).await?.items)
}

/// Returns the service accounts that are ACTIVE.
async fn matching_accounts(iam: &Iam, caller: &Caller, search: String, limit: u32) -> Result<Vec<User>, Error> {
    let (kind, status) = (Some(UserKind::Service), Some(UserStatus::Active));
    let filter = UserFilter { search: Some(first_words(&search)), kind, status, ..UserFilter::default() };
    Ok(iam.users().list(caller, &filter, UserSort::default(), PageRequest::new(1, limit)?).await?.items)
}

/// The names of an organization.
pub(crate) struct Named {
    pub(crate) id: OrganizationId,
    pub(crate) slug: String,
    pub(crate) name: String,
    is_suspended: bool,
}

/// Returns the first organizations with all of these words, by their names.
pub(crate) async fn matching_organizations(
    iam: &Iam,
    caller: &Caller,
    search: String,
    limit: u32,
) -> Result<Vec<Named>, Error> {
    let filter = OrganizationFilter { search: Some(first_words(&search)), ..OrganizationFilter::default() };
    let found = iam.organizations().list(caller, &filter, by_name(), PageRequest::new(1, limit)?).await?.items;
    let named = found.into_iter().map(|found| Named {
        id: found.organization.id,
        slug: found.organization.slug.to_string(),
        name: found.organization.name.to_string(),
        is_suspended: found.organization.status == OrganizationStatus::Suspended,
    });
    Ok(named.collect())
}

/// Returns as many words as a search may have. A longer name is compared as a whole.
pub(crate) fn first_words(text: &str) -> String {
    text.split_whitespace().take(MAX_WORDS).collect::<Vec<_>>().join(" ")
}

/// Whether a name means one of these users alone. One that could be an e-mail or an id means the user who has it.
fn means_only_one(name: &str, users: &[User]) -> bool {
    let is_name = name.parse::<Email>().is_err() && name.parse::<UserId>().is_err();
    is_name && only(users.iter().filter(|user| same(&name_of(user), name))).is_some()
}

/// The order of organizations in which a person finds them.
pub(crate) fn by_name() -> OrganizationSort {
    OrganizationSort { by: OrganizationSortKey::Name, order: SortOrder::Ascending }
}

fn same(one: &str, other: &str) -> bool {
    folded(one) == folded(other)
}

/// Returns the only element that a name means, if there is exactly one.
fn only<T>(mut named: impl Iterator<Item = T>) -> Option<T> {
    named.next().filter(|_| named.next().is_none())
}

/// Returns the only match of a text that a person has typed, if it is no name: the only one that the field offers.
fn only_match<T>(text: &str, found: impl Iterator<Item = T>) -> Option<T> {
    only(found).filter(|_| !text.is_empty())
}

/// Returns the user that a person has named by its e-mail, its id, a name that no other user has, or by a text that only
/// one user matches.
pub(crate) async fn user(iam: &Iam, caller: &Caller, text: &str) -> Result<UserId, Error> {
    let text = text.trim();
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    match matching_users(iam, caller, text.to_owned(), SEARCHED).await {
        Ok(found) => {
            let key = text.parse::<Email>().ok().map(|email| email.key());
            let by_email = found.iter().find(|user| Some(user.email.key()) == key);
            let by_name = || only(found.iter().filter(|user| same(&name_of(user), text)));
            // An address of which another one has a part is no mistake that this mends.
            let by_match = || only_match(text, found.iter()).filter(|_| key.is_none());
            let named = by_email.or_else(by_name).or_else(by_match).map(|user| user.id);
            named.ok_or_else(|| Error::field("user", text::t("no-such-user")))
        }
        Err(Error::Forbidden(_)) => Err(Error::field("user", text::t("user-by-id"))),
        Err(error) => Err(error),
    }
}

/// Returns the organization that a person has named by its short name, its id, a name that no other organization has, or
/// by a text that only one matches. `None` if the text is empty.
pub(crate) async fn organization(
    iam: &Iam,
    caller: &Caller,
    field: &str,
    text: &str,
) -> Result<Option<OrganizationId>, Error> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(id) = text.parse() {
        return Ok(Some(id));
    }
    match matching_organizations(iam, caller, text.to_owned(), SEARCHED).await {
        Ok(found) => {
            let by_slug = found.iter().find(|one| same(&one.slug, text));
            let by_name = || only(found.iter().filter(|one| same(&one.name, text)));
            let by_match = || only_match(text, found.iter());
            let named = by_slug.or_else(by_name).or_else(by_match).map(|one| Some(one.id));
            named.ok_or_else(|| Error::field(field, text::t("no-such-organization")))
        }
        Err(Error::Forbidden(_)) => Err(Error::field(field, text::t("organization-by-id"))),
        Err(error) => Err(error),
    }
}

/// Returns the role that a person has named by its name, in any case and with spaces, by its id, or by a part of its name
/// that no other role has.
pub(crate) async fn role(iam: &Iam, caller: &Caller, field: &str, text: &str) -> Result<RoleId, Error> {
    let text = text.trim();
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    match iam.roles().by_name(caller, &roles::name_of(text)).await {
        Ok(Some(role)) => Ok(role.id),
        Ok(None) => {
            let all = if_allowed(roles::all(iam, caller).await)?.unwrap_or_default();
            let named = only_match(text, all.iter().filter(|role| roles::is_named_with(role, text)));
            named.map(|role| role.id).ok_or_else(|| Error::field(field, text::t("no-such-role")))
        }
        Err(Error::Forbidden(_)) => Err(Error::field(field, text::t("role-by-id"))),
        Err(error) => Err(error),
    }
}

/// Returns the service account that a person has named by its id, or by a name that no other active one has.
pub(crate) async fn service_account(iam: &Iam, caller: &Caller, field: &str, text: &str) -> Result<UserId, Error> {
    let text = text.trim();
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    match matching_accounts(iam, caller, text.to_owned(), SEARCHED).await {
        Ok(found) => {
            let is_named = |account: &&User| account.service_name().is_some_and(|name| same(name.as_str(), text));
            let named = only(found.iter().filter(is_named)).map(|account| account.id);
            named.ok_or_else(|| Error::field(field, text::t("no-such-account")))
        }
        Err(Error::Forbidden(_)) => Err(Error::field(field, text::t("account-by-id"))),
        Err(error) => Err(error),
    }
}

/// Returns the text of a field for a user that a link names by its id: the e-mail, if there is one to see, or the name of
/// a service account, if it means no other user.
pub(crate) async fn shown_user(iam: &Iam, caller: &Caller, text: &str) -> Result<String, Error> {
    let Ok(id) = text.parse::<UserId>() else { return Ok(text.to_owned()) };
    let Some(found) = if_allowed(iam.users().get(caller, id).await)? else { return Ok(text.to_owned()) };
    let Some(name) = found.service_name() else { return Ok(found.email.as_str().to_owned()) };
    match user(iam, caller, name.as_str()).await {
        Ok(meant) if meant == id => Ok(name.to_string()),
        Ok(_) | Err(Error::Validation(_)) => Ok(text.to_owned()),
        Err(error) => Err(error),
    }
}

/// Returns the text of a field for an organization that a link names by its id, if the caller may see it: the name, or
/// the slug if the name means another one.
pub(crate) async fn shown_organization(iam: &Iam, caller: &Caller, text: &str) -> Result<String, Error> {
    let Ok(id) = text.parse::<OrganizationId>() else { return Ok(text.to_owned()) };
    let found = if_allowed(iam.organizations().get(caller, id).await)?;
    let found = found.map(|found| found.organization).filter(|found| !found.status.is_inactive());
    let Some(found) = found else { return Ok(text.to_owned()) };
    match organization(iam, caller, "organization", found.name.as_str()).await {
        Ok(Some(meant)) if meant == id => Ok(found.name.as_str().to_owned()),
        Ok(_) | Err(Error::Validation(_)) => Ok(found.slug.as_str().to_owned()),
        Err(error) => Err(error),
    }
}

/// Returns the text of a filter for a role that a link names by its id: the name, if the caller may see it.
pub(crate) async fn shown_role(iam: &Iam, caller: &Caller, text: &str) -> Result<String, Error> {
    let Ok(id) = text.parse::<RoleId>() else { return Ok(text.to_owned()) };
    let role = if_allowed(iam.roles().get(caller, id).await)?;
    Ok(role.map_or_else(|| text.to_owned(), |role| role.name.as_str().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{only, only_match};

    #[test]
    fn a_name_that_two_have_means_none_of_them() {
        assert_eq!(only(["a"].into_iter()), Some("a"));
        assert_eq!(only(["a", "a"].into_iter()), None);
        assert_eq!(only([""; 0].into_iter()), None);
        // An empty field names nothing, although a tenant has only one.
        assert_eq!(only_match("", ["a"].into_iter()), None);
        assert_eq!(only_match("x", ["a"].into_iter()), Some("a"));
    }
}
