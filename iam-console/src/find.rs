//! Find: pages of the console, users, roles, organizations and permissions by a part of their names, and what has an id by the id.
//! The services answer for the caller, so that nothing is found that the caller may not see.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::get;
use iam_axum::Problem;
use iam_core::access::Permission;
use iam_core::audit::AuditEntry;
use iam_core::permission::{self, RegisteredPermission};
use iam_core::role::Role;
use iam_core::search::SearchWord;
use iam_core::text::folded;
use iam_core::user::{User, UserStatus};
use iam_core::{AuditEntryId, Caller, Error, Iam, OrganizationId, RoleId, UserId};
use serde::Deserialize;

use crate::audit::sentence::{names_of, sentence};
use crate::catalogue;
use crate::picker::{Named, first_words, matching_organizations, matching_users};
use crate::problem::{if_allowed, is_for_part};
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::utc;
use crate::view::{Frame, page};
use crate::{person, roles, users};

/// How many results of each kind are shown.
const MOST: u32 = 5;

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/find", get(show))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Params {
    q: String,
}

#[derive(Template)]
#[template(path = "find.html")]
struct FindPage {
    frame: Frame,
    params: Params,
    found: String,
    groups: Vec<Group>,
}

/// The results in the palette that each page has.
#[derive(Template)]
#[template(path = "find-options.html")]
struct Options {
    found: String,
    groups: Vec<Group>,
}

/// The results of a kind.
struct Group {
    title: &'static str,
    results: Vec<Found>,
}

/// A result.
struct Found {
    address: String,
    name: String,
    /// What tells it from others with the same name; can be empty.
    detail: String,
    /// Names its element in the palette.
    number: usize,
}

impl Found {
    fn of(address: String, name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { address, name: name.into(), detail: detail.into(), number: 0 }
    }

    fn user(base: &str, user: &User) -> Self {
        let address = person::address_of(user);
        let detail = match user.status {
            UserStatus::Active => address,
            UserStatus::Suspended | UserStatus::Inactive => format!("{address} · {}", users::text_of(&user.status)),
        };
        Self::of(format!("{base}/users/{}", user.id), person::name_of(user), detail)
    }

    fn role(base: &str, role: &Role) -> Self {
        Self::of(format!("{base}/roles/{}", role.id), role.name.as_str(), text::of_service(role.description.as_str()))
    }

    fn permission(base: &str, permission: &RegisteredPermission) -> Self {
        let address = format!("{base}/permissions/{}", permission.id);
        Self::of(address, permission.name.as_str(), permission.description.as_str())
    }

    fn organization(base: &str, id: OrganizationId, name: &str, slug: &str) -> Self {
        Self::of(format!("{base}/organizations/{id}"), name, slug)
    }
}

/// Who is led to a page.
enum For {
    All,
    /// Who holds a permission in the whole tenant or at least in an organization.
    Holders(Permission),
    /// Who holds a permission in the whole tenant.
    HoldersInTenant(Permission),
}

/// The pages of the console that need no more to be opened, with their names.
fn all_pages() -> [(&'static str, &'static str, For); 35] {
    [
        ("", text::t("overview"), For::All),
        ("/users", text::t("users"), For::Holders(permission::USERS_READ)),
        ("/users?kind=SERVICE", text::t("service-accounts"), For::Holders(permission::USERS_READ)),
        ("/users/new", text::t("new-user"), For::Holders(permission::USERS_CREATE)),
        ("/users/import", text::t("import-users"), For::Holders(permission::USERS_CREATE)),
        ("/invitations", text::t("invitations"), For::Holders(permission::INVITATIONS_READ)),
        ("/invitations/new", text::t("invite"), For::Holders(permission::INVITATIONS_CREATE)),
        ("/roles", text::t("roles"), For::Holders(permission::ROLES_READ)),
        ("/roles/new", text::t("new-role"), For::HoldersInTenant(permission::ROLES_CREATE)),
        ("/assignments", text::t("assignments"), For::Holders(permission::ROLE_ASSIGNMENTS_READ)),
        ("/assignments/new", text::t("assign-role"), For::Holders(permission::ROLE_ASSIGNMENTS_CREATE)),
        ("/runs", text::t("runs"), For::All),
        ("/organizations", text::t("organizations"), For::Holders(permission::ORGANIZATIONS_READ)),
        ("/organizations/new", text::t("new-organization"), For::Holders(permission::ORGANIZATIONS_CREATE)),
        ("/access", text::t("access"), For::All),
        ("/access/who", text::t("who-may"), For::All),
        ("/access-requests", text::t("access-requests"), For::All),
        ("/access-requests/new", text::t("ask-for-access"), For::All),
        ("/eligibilities", text::t("eligibilities"), For::Holders(permission::ELIGIBILITIES_READ)),
        ("/eligibilities/new", text::t("new-eligibility"), For::Holders(permission::ELIGIBILITIES_CREATE)),
        ("/audit", text::t("audit-log"), For::Holders(permission::AUDIT_LOGS_READ)),
        ("/access-reviews", text::t("access-reviews"), For::Holders(permission::ACCESS_REVIEWS_READ)),
        ("/access-reviews/new", text::t("new-review"), For::Holders(permission::ACCESS_REVIEWS_CREATE)),
        ("/webhooks", text::t("webhooks"), For::Holders(permission::WEBHOOKS_READ)),
        ("/webhooks/new", text::t("new-webhook"), For::Holders(permission::WEBHOOKS_CREATE)),
        ("/domains", text::t("domains"), For::HoldersInTenant(permission::DOMAINS_READ)),
        ("/domains/new", text::t("new-domain"), For::HoldersInTenant(permission::DOMAINS_CREATE)),
        (
            "/identity-providers",
            text::t("identity-providers"),
            For::HoldersInTenant(permission::IDENTITY_PROVIDERS_READ),
        ),
        (
            "/identity-providers/new",
            text::t("new-identity-provider"),
            For::HoldersInTenant(permission::IDENTITY_PROVIDERS_CREATE),
        ),
        ("/directories", text::t("directories"), For::HoldersInTenant(permission::DIRECTORIES_READ)),
        ("/directories/new", text::t("new-directory"), For::HoldersInTenant(permission::DIRECTORIES_CREATE)),
        ("/tenant", text::t("tenant-settings"), For::Holders(permission::TENANTS_READ)),
        ("/account", text::t("my-account"), For::All),
        ("/account/password", text::t("change-password"), For::All),
        ("/account/email", text::t("change-email"), For::All),
    ]
}

/// Whether a text has all of these words.
fn has_all(text: &str, words: &[SearchWord]) -> bool {
    let text = folded(text);
    words.iter().all(|word| word.is_in(&text))
}

/// Returns the first results, those whose name has all of the words before the others.
fn first(found: impl Iterator<Item = Found>, words: &[SearchWord]) -> Vec<Found> {
    let mut found: Vec<Found> = found.collect();
    found.sort_by_key(|found| !has_all(&found.name, words));
    found.truncate(MOST as usize);
    found
}

fn pages(frame: &Frame, words: &[SearchWord]) -> Vec<Found> {
    let is_led = |who: &For| match who {
        For::All => true,
        For::Holders(permission) => frame.may(permission),
        For::HoldersInTenant(permission) => frame.may_everywhere(permission),
    };
    let matching = all_pages()
        .into_iter()
        .filter(|(path, name, who)| is_led(who) && has_all(&format!("{name} {}", text::other_words(path)), words));
    let found = matching.map(|(path, name, _)| {
        let address = if path.is_empty() { frame.home().to_owned() } else { format!("{}{path}", frame.base) };
        Found::of(address, name, "")
    });
    first(found, words)
}

/// Returns what has the words, by its kind.
async fn by_words(iam: &Iam, caller: &Caller, frame: &Frame, text: &str) -> Result<Vec<Group>, Error> {
    let (base, words) = (&*frame.base, SearchWord::all(text));
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let people = if_allowed(matching_users(iam, caller, text.to_owned(), MOST).await)?.unwrap_or_default();
    let held = if_allowed(roles::all(iam, caller).await)?.unwrap_or_default();
    let places = if_allowed(matching_organizations(iam, caller, text.to_owned(), MOST).await)?.unwrap_or_default();
    let held = held.iter().filter(|role| text::has_all(role.name.as_str(), role.description.as_str(), &words));
    let allowed = if_allowed(catalogue::all(iam, caller).await)?.unwrap_or_default();
    let allowed = allowed.iter().filter(|one| text::has_all(one.name.as_str(), one.description.as_str(), &words));
    let place = |found: &Named| Found::organization(base, found.id, &found.name, &found.slug);
    Ok(vec![
        Group { title: text::t("pages-of-console"), results: pages(frame, &words) },
        Group { title: text::t("users"), results: people.iter().map(|user| Found::user(base, user)).collect() },
        Group { title: text::t("roles"), results: first(held.map(|role| Found::role(base, role)), &words) },
        Group { title: text::t("organizations"), results: places.iter().map(place).collect() },
        Group {
            title: text::t("permissions"),
            results: first(allowed.map(|permission| Found::permission(base, permission)), &words),
        },
    ])
}

/// Returns what has an id, by its kind. Ids of different kinds have the same form.
async fn by_id(iam: &Iam, caller: &Caller, base: &str, id: UserId) -> Result<Vec<Group>, Error> {
    let any = id.as_uuid();
    let user = if_allowed(iam.users().get(caller, id).await)?;
    let role = if_allowed(iam.roles().get(caller, RoleId::from(any)).await)?;
    let place = if_allowed(iam.organizations().get(caller, OrganizationId::from(any)).await)?;
    let entry = match if_allowed(iam.audit().get(caller, AuditEntryId::from(any)).await)? {
        Some(entry) => Some(entry_found(iam, caller, base, &entry).await?),
        None => None,
    };
    let place = place.map(|place| place.organization);
    let place = place.map(|place| Found::organization(base, place.id, place.name.as_str(), place.slug.as_str()));
    Ok(vec![
        Group { title: text::t("users"), results: user.iter().map(|user| Found::user(base, user)).collect() },
        Group { title: text::t("roles"), results: role.iter().map(|role| Found::role(base, role)).collect() },
        Group { title: text::t("organizations"), results: place.into_iter().collect() },
        Group { title: text::t("audit-log"), results: entry.into_iter().collect() },
    ])
}

async fn entry_found(iam: &Iam, caller: &Caller, base: &str, entry: &AuditEntry) -> Result<Found, Error> {
    let names = names_of(iam, caller, std::slice::from_ref(entry)).await?;
    Ok(Found::of(format!("{base}/audit/{}", entry.id), sentence(entry, &names), utc(&entry.created_at)))
}

async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let frame = signed_in.frame(&console).await?;
    let text = first_words(&params.q);
    let mut groups = match text.parse::<UserId>() {
        Ok(id) => by_id(iam, caller, &frame.base, id).await?,
        Err(_) => by_words(iam, caller, &frame, &text).await?,
    };
    groups.retain(|group| !group.results.is_empty());
    for (number, found) in groups.iter_mut().flat_map(|group| &mut group.results).enumerate() {
        found.number = number;
    }
    let count = groups.iter().map(|group| group.results.len()).sum();
    let found = if text.is_empty() { String::new() } else { text::results(count) };
    if is_for_part(&headers) {
        return page(StatusCode::OK, &Options { found, groups });
    }
    page(StatusCode::OK, &FindPage { frame, params, found, groups })
}
