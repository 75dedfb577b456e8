#![cfg(test)]

mod groups;

use axum::http::StatusCode;
use chrono::TimeDelta;
use iam_core::api_key::NewApiKey;
use iam_core::assignment::{Assignment, NewAssignment};
use iam_core::directory::{
    DeletedUsers, Directory, DirectoryGroup, DirectoryPatch, GroupResource, NewDirectory, UserResource,
};
use iam_core::identity_provider::{IdentityProvider, NewIdentityProvider};
use iam_core::page::PageRequest;
use iam_core::role::{NewRole, PlacedRole};
use iam_core::user::{NewServiceAccount, User, UserFilter, UserKind, UserSort, UserStatus};
use iam_core::{Caller, DirectoryId, RequestContext, RoleId, UserId};
use serde_json::json;

use crate::app::{Answer, App, EMAIL, PASSWORD, person};

const LIST: &str = "/console/directories";
const NEW: &str = "/console/directories/new";

/// What the service account of [`signed`] may do: everything that MEMBER may do, too.
const PROVISIONER: [&str; 3] = ["organizations:read", "role-assignments:*", "users:*"];

/// A console with an administrator that is signed in, and a directory.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    directory: Directory,
    /// The directory, by a key of its account.
    entra: Caller,
}

async fn signed() -> Signed {
    with_directory(App::empty().await).await
}

async fn with_directory(app: App) -> Signed {
    let ada = app.register(EMAIL).await;
    let permissions = PROVISIONER.map(str::to_owned).into();
    let role = NewRole { name: "PROVISIONER".into(), permissions, ..NewRole::default() };
    let role = app.iam.roles().create(&ada, role).await.unwrap().id;
    let account = account(&app, &ada, "Robot <1>").await;
    let new = NewAssignment { user: account, role, organization: None, expires_at: None };
    app.iam.assignments().create(&ada, new).await.unwrap();
    let directory = directory(&app, &ada, "Entra <1>", account).await;
    let system = Caller::system(ada.tenant(), "test");
    let key = NewApiKey { name: "entra".into(), ..NewApiKey::default() };
    let key = app.iam.api_keys().create(&system, account, key).await.unwrap();
    let entra = app.iam.authenticate(key.token.expose(), RequestContext::default()).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, directory, entra }
}

async fn account(app: &App, ada: &Caller, name: &str) -> UserId {
    let new = NewServiceAccount { name: name.to_owned() };
    app.iam.users().create_service_account(ada, new).await.unwrap().id
}

async fn directory(app: &App, ada: &Caller, name: &str, service_account: UserId) -> Directory {
    let new = NewDirectory { name: name.to_owned(), service_account, identity_provider: None, adopt: false };
    app.iam.directories().create(ada, new).await.unwrap()
}

/// Returns the service accounts of the tenant, newest first.
async fn accounts(app: &App, ada: &Caller) -> Vec<User> {
    let filter = UserFilter { kind: Some(UserKind::Service), ..UserFilter::default() };
    let page = PageRequest::new(1, 100).unwrap();
    app.iam.users().list(ada, &filter, UserSort::default(), page).await.unwrap().items
}

async fn directories(app: &App, ada: &Caller) -> Vec<Directory> {
    let all = app.iam.directories().list(ada).await.unwrap();
    all.into_iter().map(|(directory, _)| directory).collect()
}

/// Returns the key that a page shows.
fn key_in(page: &str) -> String {
    let (_, rest) = page.split_once("<code>iamk_").unwrap_or_else(|| panic!("no key: {page}"));
    format!("iamk_{}", rest.split('<').next().unwrap())
}

impl Signed {
    fn path(&self, action: &str) -> String {
        format!("{LIST}/{}{action}", self.directory.id)
    }

    fn path_of(&self, group: &DirectoryGroup, action: &str) -> String {
        self.path(&format!("/groups/{}{action}", group.id))
    }

    async fn stored(&self) -> Directory {
        self.app.iam.directories().get(&self.ada, self.directory.id).await.unwrap().0
    }

    async fn stored_group(&self, group: &DirectoryGroup) -> DirectoryGroup {
        self.app.iam.directories().group(&self.ada, self.directory.id, group.id).await.unwrap()
    }

    async fn page(&self) -> Answer {
        self.app.get(&self.path(""), &self.cookie).await
    }

    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.app.post_signed(path, &self.cookie, fields).await
    }

    /// Lets the directory make a user.
    async fn user(&self, name: &str) -> UserId {
        let body = json!({ "userName": format!("{name}@example.com"), "externalId": name });
        let resource = UserResource::parse(&body).unwrap();
        self.app.iam.provisioning().create(&self.entra, resource).await.unwrap().0.user.id
    }

    /// Lets the directory make a group.
    async fn group(&self, name: &str, members: &[UserId]) -> DirectoryGroup {
        let members = Some(members.iter().map(ToString::to_string).collect());
        let resource = GroupResource { display_name: name.to_owned(), external_id: None, members };
        self.app.iam.provisioning().create_group(&self.entra, &resource).await.unwrap()
    }

    async fn role(&self, name: &str) -> RoleId {
        self.app.iam.roles().by_name(&self.ada, name).await.unwrap().unwrap().id
    }

    /// Gives the members of a group the role MEMBER.
    async fn map(&self, group: &DirectoryGroup) {
        let grants = vec![PlacedRole { role_id: self.role("MEMBER").await, organization_id: None }];
        self.app.iam.directories().set_grants(&self.ada, self.directory.id, group.id, grants).await.unwrap();
    }

    async fn held(&self, user: UserId) -> Vec<Assignment> {
        let grants = self.app.iam.assignments().of_user(&self.ada, user).await.unwrap();
        grants.into_iter().map(|grant| grant.assignment).collect()
    }
}

#[tokio::test]
async fn an_empty_list_says_what_a_directory_is_and_what_to_do() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let answer = app.get(LIST, &cookie).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.body.contains("There is no directory yet") && answer.body.contains("SCIM 2.0"), "{}", answer.body);
    assert!(answer.body.contains(NEW) && answer.body.contains(r#"/directories" aria-current="page">"#));
}

#[tokio::test]
async fn the_list_shows_what_each_directory_is_and_has_sent() {
    let signed = signed().await;
    let Signed { app, ada, cookie, entra, .. } = &signed;
    let list = app.get(LIST, cookie).await.body;
    assert!(list.contains("Entra &#60;1&#62;</a>") && list.contains("Robot &#60;1&#62;</a>"), "{list}");
    assert!(list.contains(r#"data-label="Last request">Never</td>"#), "{list}");
    assert!(list.contains(r#"data-label="Takes over users">no</td>"#), "{list}");
    let refusal = Some((409, "userName: taken"));
    app.iam.provisioning().record_request(entra, "POST /Users", refusal).await.unwrap();
    let adopting = DirectoryPatch { adopt: Some(true), ..DirectoryPatch::default() };
    app.iam.directories().update(ada, signed.directory.id, adopting).await.unwrap();
    let list = app.get(LIST, cookie).await.body;
    assert!(list.contains("2026-01-31 09:15 UTC") && list.contains(r#"data-label="Refused">1</td>"#), "{list}");
    assert!(list.contains(r#"data-label="Takes over users">yes</td>"#), "{list}");
}

#[tokio::test]
async fn a_new_directory_has_a_new_account_and_a_key_that_is_shown_once() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    let form = app.get(NEW, cookie).await.body;
    assert!(form.contains(r#"value="new" checked"#) && form.contains("From then on, the directory changes"), "{form}");
    let fields = [
        ("name", "Okta"),
        ("account", "new"),
        ("serviceAccountId", ""),
        ("role", "provisioner"),
        ("expiresAt", "2026-12-31"),
        ("identityProviderId", ""),
    ];
    let answer = signed.post(NEW, &fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let made = directories(app, ada).await.into_iter().find(|made| made.name.as_str() == "Okta").unwrap();
    let path = format!("{LIST}/{}", made.id);
    assert_eq!(answer.location(), format!("{path}/key"));
    let account = app.iam.users().get(ada, made.service_account_id).await.unwrap();
    assert!(account.service_name().is_some_and(|name| name.as_str() == "Okta") && !made.adopt);
    let held = signed.held(account.id).await;
    assert_eq!(held.iter().map(|held| held.role_id).collect::<Vec<_>>(), [signed.role("PROVISIONER").await]);

    let cookies = answer.cookies(cookie);
    let shown = app.get(answer.location(), &cookies).await;
    assert!(shown.body.contains("It is not shown again"), "{}", shown.body);
    let okta = app.iam.authenticate(&key_in(&shown.body), RequestContext::default()).await.unwrap();
    assert_eq!(app.iam.provisioning().directory(&okta).await.unwrap().id, made.id);
    let key = app.iam.api_keys().list(ada, account.id).await.unwrap().remove(0);
    assert_eq!(key.expires_at.to_rfc3339(), "2027-01-01T00:00:00+00:00");
    let permissions = key.permissions.unwrap();
    assert_eq!(permissions.iter().map(|pattern| pattern.as_str()).collect::<Vec<_>>(), PROVISIONER);
    let again = app.get(&format!("{path}/key"), &shown.cookies(&cookies)).await;
    assert_eq!(again.location(), format!("{path}?done=created"));

    let page = app.get(again.location(), cookie).await.body;
    assert!(page.contains("The directory is created.") && !page.contains("iamk_"), "{page}");
    assert!(page.contains(r#"<code class="secret">http://iam.example.com/scim/v2</code>"#), "{page}");
    for text in ["Tenant URL", "Secret token", "SCIM connector base URL", "<dd>userName</dd>", "HTTP Header"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(page.contains("No request has arrived yet"), "{page}");
}

#[tokio::test]
async fn a_key_of_a_new_directory_is_not_shown_to_the_next_session() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    let answer = signed.post(NEW, &[("name", "Okta"), ("account", "new"), ("role", "PROVISIONER")]).await;
    let kept = answer.cookies(cookie);
    let key = kept.split("; ").find(|pair| pair.contains("api-key")).unwrap();
    let next = app.sign_in(EMAIL).await;
    let shown = app.get(answer.location(), &format!("{next}; {key}")).await;
    assert!(shown.location().ends_with("?done=created") && !shown.body.contains("iamk_"), "{}", shown.body);
}

#[tokio::test]
async fn an_account_that_exists_is_chosen_with_a_key_or_without() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    let okta = account(app, ada, "Okta robot").await;
    let offered = app.get("/console/pick/service-accounts?serviceAccountId=okta", cookie).await.body;
    assert!(offered.contains(&okta.to_string()) && !offered.contains("Robot &#60;1&#62;"), "{offered}");
    // A person is offered by no field for accounts.
    assert!(!app.get("/console/pick/service-accounts?serviceAccountId=ada", cookie).await.body.contains("<option"));
    let named = [("name", "Okta"), ("account", "known-key"), ("serviceAccountId", "okta ROBOT")];
    let answer = signed.post(NEW, &named).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert!(answer.location().ends_with("?done=created"), "{}", answer.location());
    assert!(app.iam.api_keys().list(ada, okta).await.unwrap().is_empty() && signed.held(okta).await.is_empty());
    // An account has one directory. A refused form gives it no role.
    let chosen = okta.to_string();
    let keyed = [("name", "Two"), ("account", "new-key"), ("serviceAccountId", &*chosen), ("role", "PROVISIONER")];
    let answer = signed.post(NEW, &keyed).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.body.contains("belongs to another directory"), "{}", answer.body);
    assert!(answer.body.contains(r#"value="new-key" checked"#) && answer.body.contains(r#"value="Two""#));
    assert!(signed.held(okta).await.is_empty());
    // Who holds the role already keeps it.
    let third = account(app, ada, "Third").await;
    let new =
        NewAssignment { user: third, role: signed.role("PROVISIONER").await, organization: None, expires_at: None };
    app.iam.assignments().create(ada, new).await.unwrap();
    let keyed = [("name", "Three"), ("account", "new-key"), ("serviceAccountId", "third"), ("role", "PROVISIONER")];
    let answer = signed.post(NEW, &keyed).await;
    let shown = app.get(answer.location(), &answer.cookies(cookie)).await;
    let caller = app.iam.authenticate(&key_in(&shown.body), RequestContext::default()).await.unwrap();
    assert_eq!((caller.user(), signed.held(third).await.len()), (Some(third), 1));
}

#[tokio::test]
async fn a_mistake_is_shown_at_its_field_and_makes_nothing() {
    let signed = signed().await;
    let Signed { app, ada, .. } = &signed;
    let before = (accounts(app, ada).await.len(), directories(app, ada).await);
    let good = [
        ("name", "<b>Okta"),
        ("account", "new"),
        ("serviceAccountId", ""),
        ("role", "PROVISIONER"),
        ("expiresAt", ""),
        ("identityProviderId", ""),
    ];
    for (field, wrong) in [
        ("name", ""),
        ("role", ""),
        ("role", "no such role"),
        ("role", "ORGANIZATION_ADMIN"),
        ("expiresAt", "tomorrow"),
        ("expiresAt", "2026-01-01"),
        ("expiresAt", "2036-01-01"),
        ("identityProviderId", "x"),
    ] {
        let kept = good.into_iter().filter(|(name, _)| *name != field);
        let fields: Vec<(&str, &str)> = kept.chain([(field, wrong), ("adopt", "1")]).collect();
        let answer = signed.post(NEW, &fields).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{field}: {}", answer.body);
        assert!(answer.body.contains(&format!(r#"id="{field}-error""#)), "{field}: {}", answer.body);
        assert!(field == "name" || answer.body.contains(r#"value="&#60;b&#62;Okta""#), "{}", answer.body);
        assert!(answer.body.contains(r#"aria-describedby="adopt-warning" checked"#), "{field}: {}", answer.body);
    }
    for (choice, chosen) in [("known-key", ""), ("new-key", "no such account"), ("known-key", "ada@example.com")] {
        let fields = [("name", "Okta"), ("account", choice), ("serviceAccountId", chosen), ("role", "PROVISIONER")];
        let answer = signed.post(NEW, &fields).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{chosen}: {}", answer.body);
        assert!(answer.body.contains(r#"id="serviceAccountId-error""#), "{chosen}: {}", answer.body);
    }
    let person = ada.user().unwrap().to_string();
    let fields = [("name", "Okta"), ("account", "known-key"), ("serviceAccountId", &*person)];
    let answer = signed.post(NEW, &fields).await;
    assert!(answer.body.contains("Existing service account must be a service account"), "{}", answer.body);
    assert_eq!((accounts(app, ada).await.len(), directories(app, ada).await), before);
}

#[tokio::test]
async fn an_account_that_was_made_before_a_refusal_is_chosen_and_made_no_second_time() {
    let signed = signed().await;
    let Signed { app, ada, .. } = &signed;
    let mut last = signed.directory.id;
    for number in 2..=Directory::MAX {
        let account = account(app, ada, &format!("Robot {number}")).await;
        last = directory(app, ada, &format!("Directory {number}"), account).await.id;
    }
    let number = accounts(app, ada).await.len();
    app.clock.advance(TimeDelta::seconds(1));
    let answer = signed.post(NEW, &[("name", "Okta"), ("account", "new"), ("role", "PROVISIONER")]).await;
    assert_eq!(answer.status, StatusCode::CONFLICT, "{}", answer.body);
    assert!(answer.body.contains("The service account is created, and chosen below."), "{}", answer.body);
    assert!(answer.body.contains("maximum number of directories"), "{}", answer.body);
    let made = accounts(app, ada).await;
    let account = made[0].id.to_string();
    assert_eq!((made.len(), signed.held(made[0].id).await), (number + 1, vec![]));
    assert!(answer.body.contains(r#"value="new-key" checked"#), "{}", answer.body);
    assert!(answer.body.contains(&format!(r#"value="{account}""#)), "{}", answer.body);

    app.iam.directories().delete(ada, last, DeletedUsers::Keep).await.unwrap();
    let again = [("name", "Okta"), ("account", "new-key"), ("serviceAccountId", &*account), ("role", "PROVISIONER")];
    let answer = signed.post(NEW, &again).await;
    assert!(answer.location().ends_with("/key"), "{}", answer.body);
    assert_eq!((accounts(app, ada).await.len(), signed.held(made[0].id).await.len()), (number + 1, 1));
}

#[tokio::test]
async fn a_new_key_asks_for_a_recent_proof_before_anything_is_made() {
    let signed = signed().await;
    let Signed { app, ada, .. } = &signed;
    let before = accounts(app, ada).await.len();
    app.clock.advance(TimeDelta::minutes(11));
    let fields = [("name", "Okta"), ("account", "new"), ("role", "PROVISIONER")];
    let answer = signed.post(NEW, &fields).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);
    assert!(answer.body.contains("proof-password") && answer.hidden("name") == "Okta", "{}", answer.body);
    assert_eq!(accounts(app, ada).await.len(), before);
    let proven = [&fields[..], &[("proof-password", PASSWORD)]].concat();
    let answer = signed.post(NEW, &proven).await;
    assert!(answer.location().ends_with("/key"), "{}", answer.body);
    assert_eq!(accounts(app, ada).await.len(), before + 1);
}

#[tokio::test]
async fn a_directory_is_changed_unless_another_change_came_first() {
    let app = App::with_federation().await;
    let signed = with_directory(app).await;
    let Signed { app, ada, .. } = &signed;
    let new = NewIdentityProvider {
        name: "Acme <1>".into(),
        issuer: "https://login.example.com".into(),
        client_id: "iam".into(),
        ..NewIdentityProvider::default()
    };
    let provider: IdentityProvider = app.iam.identity_providers().create(ada, new).await.unwrap();
    let version = signed.page().await.hidden("version");
    let id = provider.id.to_string();
    let fields = [("name", "Staff"), ("identityProviderId", &*id), ("adopt", "1"), ("version", &*version)];
    let answer = signed.post(&signed.path(""), &fields).await;
    assert_eq!(answer.location(), signed.path("?done=saved"), "{}", answer.body);
    let stored = signed.stored().await;
    assert_eq!((stored.name.as_str(), stored.identity_provider_id, stored.adopt), ("Staff", Some(provider.id), true));
    let page = signed.page().await.body;
    assert!(page.contains(&format!(r#"value="{id}" selected>Acme &#60;1&#62;"#)), "{page}");
    let answer = signed.post(&signed.path(""), &fields).await;
    assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
    let again = format!(r#"<a href="{}">Open it again</a>"#, signed.path(""));
    assert!(answer.body.contains("The directory has changed since") && answer.body.contains(&again));
    assert_eq!(answer.hidden("version"), version);
    let version = signed.page().await.hidden("version");
    let empty = [("name", ""), ("identityProviderId", &*id), ("adopt", "1"), ("version", &*version)];
    let answer = signed.post(&signed.path(""), &empty).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(r#"id="name-error""#), "{}", answer.body);
    assert_eq!(signed.stored().await, stored);
    // What is left out is turned off.
    let without = [("name", "Staff"), ("identityProviderId", ""), ("version", &*version)];
    assert_eq!(signed.post(&signed.path(""), &without).await.status, StatusCode::SEE_OTHER);
    let stored = signed.stored().await;
    assert!(!stored.adopt && stored.identity_provider_id.is_none());
}

#[tokio::test]
async fn to_adopt_asks_for_a_recent_proof_and_a_name_does_not() {
    let signed = signed().await;
    signed.app.clock.advance(TimeDelta::minutes(11));
    let version = signed.page().await.hidden("version");
    let renamed = [("name", "Staff"), ("identityProviderId", ""), ("version", &*version)];
    assert_eq!(signed.post(&signed.path(""), &renamed).await.status, StatusCode::SEE_OTHER);
    let version = signed.page().await.hidden("version");
    let adopting = [("name", "Staff"), ("identityProviderId", ""), ("adopt", "1"), ("version", &*version)];
    let answer = signed.post(&signed.path(""), &adopting).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains("proof-password") && !signed.stored().await.adopt, "{}", answer.body);
}

#[tokio::test]
async fn refusals_are_shown_with_their_reasons_and_never_as_markup() {
    let signed = signed().await;
    let Signed { app, entra, .. } = &signed;
    app.iam.provisioning().record_request(entra, "GET /Users", None).await.unwrap();
    let page = signed.page().await.body;
    assert!(page.contains("None of its requests was refused") && !page.contains("No request has arrived"), "{page}");
    let refusal = Some((409, "userName: <b>taken</b>"));
    app.iam.provisioning().record_request(entra, "POST /Users", refusal).await.unwrap();
    let page = signed.page().await.body;
    for text in ["<code>POST /Users</code>", r#"data-label="Status">409</td>"#, "userName: &#60;b&#62;taken"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(page.contains("2026-01-31 09:15 UTC") && !page.contains("<b>"), "{page}");
}

#[tokio::test]
async fn the_overview_shows_a_directory_whose_requests_were_refused_lately() {
    let signed = signed().await;
    let Signed { app, cookie, entra, .. } = &signed;
    app.iam.provisioning().record_request(entra, "GET /Users", None).await.unwrap();
    assert!(!app.get("/console", cookie).await.body.contains("hand-directories"));
    let refusal = Some((409, "userName: taken"));
    app.iam.provisioning().record_request(entra, "POST /Users", refusal).await.unwrap();
    let body = app.get("/console", cookie).await.body;
    let line = format!(r#"<a href="{}">Entra &#60;1&#62;</a> · 1 request</span>"#, signed.path(""));
    assert!(body.contains("Requests of 1 directory were refused") && body.contains(&line), "{body}");
    app.clock.advance(TimeDelta::days(8));
    let cookie = app.sign_in(EMAIL).await;
    assert!(!app.get("/console", &cookie).await.body.contains("hand-directories"));
}

#[tokio::test]
async fn a_directory_is_removed_after_a_choice_and_a_preview() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    let grace = signed.user("grace").await;
    let finance = signed.group("Finance", &[grace]).await;
    signed.map(&finance).await;
    let version = signed.page().await.hidden("version");
    let path = signed.path("/delete");
    let answer = signed.post(&path, &[("version", &version)]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(r#"<p id="users-error" class="error">"#), "{}", answer.body);
    let fields = [("users", "suspend"), ("version", &*version)];
    let preview = signed.post(&path, &fields).await;
    assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
    assert!(preview.body.contains("Remove directory Entra &#60;1&#62;"), "{}", preview.body);
    assert!(preview.body.contains("1 user loses permissions"), "{}", preview.body);
    assert!(preview.body.contains("grace@example.com") && preview.body.contains("<del>Loses</del>"));
    assert_eq!((preview.hidden("users"), preview.hidden("version")), ("suspend".into(), version.clone()));
    assert_eq!((directories(app, ada).await.len(), signed.held(grace).await.len()), (1, 1), "nothing is removed yet");
    let stale = [("users", "suspend"), ("version", ""), ("confirmed", "yes")];
    assert_eq!(signed.post(&path, &stale).await.status, StatusCode::PRECONDITION_FAILED);
    let confirmed = [&fields[..], &[("confirmed", "yes")]].concat();
    let answer = signed.post(&path, &confirmed).await;
    let list = app.get(answer.location(), cookie).await.body;
    assert!(list.contains("The directory is removed") && list.contains("There is no directory yet"), "{list}");
    let grace = app.iam.users().get(ada, grace).await.unwrap();
    assert_eq!((grace.status, signed.held(grace.id).await), (UserStatus::Suspended, vec![]));
}

#[tokio::test]
async fn a_directory_is_removed_and_its_users_stay() {
    let signed = signed().await;
    let Signed { app, ada, .. } = &signed;
    let grace = signed.user("grace").await;
    let version = signed.page().await.hidden("version");
    let fields = [("users", "keep"), ("version", &*version), ("confirmed", "yes")];
    let answer = signed.post(&signed.path("/delete"), &fields).await;
    assert_eq!(answer.location(), "/console/directories?done=removed");
    assert_eq!(app.iam.users().get(ada, grace).await.unwrap().status, UserStatus::Active);
    assert!(directories(app, ada).await.is_empty());
}

#[tokio::test]
async fn who_may_only_see_directories_sees_no_forms() {
    let signed = signed().await;
    let Signed { app, ada, .. } = &signed;
    let finance = signed.group("Finance", &[]).await;
    signed.map(&finance).await;
    app.person_with(ada, "mary@example.com", &["directories:read", "roles:read"]).await;
    let mary = app.sign_in("mary@example.com").await;
    let list = app.get(LIST, &mary).await.body;
    assert!(list.contains("Entra &#60;1&#62;</a>") && !list.contains(NEW), "{list}");
    let page = app.get(&signed.path(""), &mary).await.body;
    assert!(page.contains("SCIM connector base URL") && page.contains("None: people sign in"), "{page}");
    assert!(!page.contains(">Save</button>") && !page.contains("/delete") && !page.contains("Remove"), "{page}");
    let group = app.get(&signed.path_of(&finance, ""), &mary).await.body;
    assert!(group.contains("<li>MEMBER · the whole tenant</li>") && !group.contains("Show the effects"), "{group}");
    // Who may remove a directory, and may not change users, is not offered to suspend them.
    app.person_with(ada, "alan@example.com", &["directories:read", "directories:delete", "directories:create"]).await;
    let alan = app.sign_in("alan@example.com").await;
    let page = app.get(&signed.path(""), &alan).await.body;
    assert!(page.contains(r#"value="keep""#) && !page.contains(r#"value="suspend""#), "{page}");
    let form = app.get(NEW, &alan).await.body;
    assert!(form.contains(r#"id="serviceAccountId""#) && !form.contains(r#"name="account""#), "{form}");
    assert!(!form.contains(r#"id="adopt""#) && form.contains("You may not see the identity providers"), "{form}");
    let account = account(app, ada, "Third").await.to_string();
    let answer = app.post_signed(NEW, &alan, &[("name", "Third"), ("serviceAccountId", &*account)]).await;
    assert!(answer.location().ends_with("?done=created"), "{}", answer.body);
}

#[tokio::test]
async fn the_console_refuses_what_the_api_refuses_for_directories() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    let finance = signed.group("Finance", &[]).await;
    app.iam.users().create(ada, person("grace@example.com", "Grace")).await.unwrap();
    let version = signed.page().await.hidden("version");
    let account = signed.directory.service_account_id.to_string();
    let new = [("name", "Stolen"), ("account", "known-key"), ("serviceAccountId", &*account)];
    let fields = [("name", "Stolen"), ("users", "keep"), ("confirmed", "yes"), ("version", &*version)];
    let grants = [("roles", "1"), ("role-0", "MEMBER"), ("confirmed", "yes"), ("version", &*version)];
    let grace = app.sign_in("grace@example.com").await;
    app.register("eve@example.org").await;
    let stranger = app.sign_in("eve@example.org").await;
    assert!(!app.get("/console", &grace).await.body.contains(LIST));
    assert_eq!(app.get(LIST, &grace).await.status, StatusCode::FORBIDDEN);
    assert_eq!(app.post_signed(NEW, &grace, &new).await.status, StatusCode::FORBIDDEN);
    // The account of another tenant does not exist.
    assert_eq!(app.post_signed(NEW, &stranger, &new).await.status, StatusCode::NOT_FOUND);
    let group = format!("/groups/{}", finance.id);
    for (action, fields) in [("", &fields), ("/delete", &fields), (&*group, &grants)] {
        for (other, status) in [(&grace, StatusCode::FORBIDDEN), (&stranger, StatusCode::NOT_FOUND)] {
            let answer = app.post_signed(&signed.path(action), other, fields).await;
            assert_eq!(answer.status, status, "{action}: {}", answer.body);
        }
        // A form needs its token.
        assert_eq!(app.post(&signed.path(action), cookie, fields).await.status, StatusCode::FORBIDDEN, "{action}");
    }
    for action in ["", "/groups", &group] {
        assert_eq!(app.get(&signed.path(action), &grace).await.status, StatusCode::FORBIDDEN, "{action}");
        assert_eq!(app.get(&signed.path(action), &stranger).await.status, StatusCode::NOT_FOUND, "{action}");
    }
    assert_eq!(signed.stored().await, signed.directory);
    assert_eq!(signed.stored_group(&finance).await, finance);
    let unknown: DirectoryId = "01900000-0000-7000-8000-000000000000".parse().unwrap();
    for path in [format!("{LIST}/{unknown}"), signed.path(&format!("/groups/{unknown}")), signed.path("/groups/x")] {
        assert_eq!(app.get(&path, cookie).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}
