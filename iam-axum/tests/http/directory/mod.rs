//! Directories, as administrators make and change them (`docs/directories.md#making-a-directory`).

mod groups;

use axum::Router;
use axum::http::Method;
use chrono::TimeDelta;
use iam_core::Caller;
use serde_json::{Value, json};

use crate::access_table::fresh_email;
use crate::app::TestApp;
use crate::people::{Person, with};
use crate::request::{Response, each, members};

in_memory![
    a_directory_is_made_with_defaults,
    a_directory_shows_all_that_it_was_given,
    every_invalid_field_is_named,
    what_a_directory_names_must_exist,
    the_account_is_an_active_service_account,
    an_account_has_one_directory,
    a_tenant_has_ten_directories_at_most,
    a_repeated_request_makes_no_second_directory,
    directories_are_listed_by_name,
    a_change_changes_what_it_names,
    the_account_cannot_change,
    null_removes_the_provider,
    a_removed_provider_is_named_no_more,
    a_change_needs_the_version_that_it_names,
    a_removal_says_what_happens_to_the_users,
    the_users_of_a_removed_directory_stay_as_they_are,
    the_users_of_a_removed_directory_are_suspended,
    a_suspension_needs_the_permission_and_the_rights_of_the_users,
    the_last_administrator_is_not_suspended_with_a_directory,
    to_adopt_needs_further_permissions_and_a_fresh_session,
    no_api_key_lets_a_directory_adopt,
    another_tenant_finds_no_directory,
    the_address_is_that_of_the_host_that_the_client_names,
    the_address_begins_by_the_public_url,
    the_address_has_the_prefix_of_a_host_program,
];

impl TestApp {
    /// Makes a directory with these members in place of the smallest ones. Without an account among them, it has a new
    /// one without permissions.
    pub(crate) async fn directory(&self, by: &Person, members: &Value) -> Value {
        self.try_directory(by, members).await.created()
    }

    async fn try_directory(&self, by: &Person, members: &Value) -> Response {
        let mut body = json!({ "name": "Staff" });
        if members.get("serviceAccountId").is_none() {
            body["serviceAccountId"] = json!(self.robot(by, &[]).await);
        }
        self.post("/directories").by(by).json(&with(body, members)).send().await
    }

    async fn change_directory(&self, by: &Person, directory: &Value, change: &Value) -> Response {
        self.patch(&path(directory)).by(by).json(change).send().await
    }

    async fn remove_directory(&self, by: &Person, directory: &Value, users: &str) -> Response {
        self.delete(&format!("{}?users={users}", path(directory))).by(by).send().await
    }

    /// A user whom a directory has adopted, and who is logged in.
    async fn member(&self, by: &Person, directory: &Value) -> Person {
        let email = fresh_email();
        let person = self.colleague(by, &email).await;
        let key = self.key(by, directory["serviceAccountId"].as_str().unwrap(), &json!({})).await;
        let adopted = self.provision(key["key"].as_str().unwrap(), &json!({ "userName": email })).await;
        assert_eq!(adopted["id"], person.user);
        person
    }

    /// A directory that adopts people with addresses at `example.net`, such as that of [`fresh_email`].
    async fn adopting(&self, by: &Person) -> Value {
        let system = Caller::system(by.tenant.parse().unwrap(), "test");
        let domain = self.iam.domains().create(&system, "example.net").await.unwrap();
        self.iam.domains().trust(&system, domain.id).await.unwrap();
        let account = self.robot(by, &["users:*"]).await;
        self.directory(by, &json!({ "serviceAccountId": account, "adopt": true })).await
    }
}

fn path(directory: &Value) -> String {
    format!("/directories/{}", directory["id"].as_str().unwrap())
}

async fn get(app: &TestApp, by: &Person, directory: &Value) -> Response {
    app.get(&path(directory)).by(by).send().await
}

async fn a_directory_is_made_with_defaults(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let account = app.robot(&ada, &[]).await;
    let directory = app.directory(&ada, &json!({ "serviceAccountId": account })).await;
    let expected = json!({
        "id": directory["id"],
        "name": "Staff",
        "serviceAccountId": account,
        "identityProviderId": null,
        "scimUrl": "http://localhost/scim/v2",
        "adopt": false,
        "createdAt": app.now(),
        "updatedAt": app.now(),
        "lastRequestAt": null,
        "refusals": [],
    });
    assert_eq!(directory, expected);
    assert_eq!(get(&app, &ada, &directory).await.ok(), expected);
}

async fn a_directory_shows_all_that_it_was_given(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let provider = app.provider(&ada, &json!({})).await;
    let given = json!({ "name": "Entra", "identityProviderId": provider["id"], "adopt": true });
    let directory = app.directory(&ada, &given).await;
    assert_eq!(with(directory.clone(), &given), directory);
}

async fn every_invalid_field_is_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "", "serviceAccountId": "x", "identityProviderId": "y" });
    let ids = ["serviceAccountId", "identityProviderId"];
    assert_eq!(app.try_directory(&ada, &body).await.invalid_fields(), ids);
    assert_eq!(app.post("/directories").by(&ada).json(&json!({})).send().await.invalid_fields(), ["serviceAccountId"]);
    for name in [String::new(), " ".to_owned(), "x".repeat(121)] {
        assert_eq!(app.try_directory(&ada, &json!({ "name": name })).await.invalid_fields(), ["name"], "{name}");
    }
    let directory = app.directory(&ada, &json!({})).await;
    let change = json!({ "name": "", "identityProviderId": null });
    assert_eq!(app.change_directory(&ada, &directory, &change).await.invalid_fields(), ["name"]);
    let change = json!({ "identityProviderId": "y" });
    assert_eq!(app.change_directory(&ada, &directory, &change).await.invalid_fields(), ["identityProviderId"]);
}

async fn what_a_directory_names_must_exist(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.net").await];
    let (theirs, provider) = (app.robot(&eve, &[]).await, app.provider(&eve, &json!({})).await);
    let refused = async |members: Value| app.try_directory(&ada, &members).await.fields("not-found");
    for account in [&theirs, &ada.tenant] {
        assert_eq!(refused(json!({ "serviceAccountId": account })).await, ["serviceAccountId"]);
    }
    let change = json!({ "identityProviderId": provider["id"] });
    assert_eq!(refused(change.clone()).await, ["identityProviderId"]);
    let directory = app.directory(&ada, &json!({})).await;
    let answer = app.change_directory(&ada, &directory, &change).await;
    assert_eq!(answer.fields("not-found"), ["identityProviderId"]);
}

async fn the_account_is_an_active_service_account(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (person, robot) = (app.add_user(&ada, "bob@example.com").await, app.robot(&ada, &[]).await);
    app.set_status(&ada, &robot, "SUSPENDED").await;
    for account in [&person, &robot] {
        let answer = app.try_directory(&ada, &json!({ "serviceAccountId": account })).await;
        assert_eq!(answer.invalid_fields(), ["serviceAccountId"]);
    }
}

async fn an_account_has_one_directory(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let first = app.directory(&ada, &json!({})).await;
    let again = || json!({ "serviceAccountId": first["serviceAccountId"] });
    let detail = app.try_directory(&ada, &again()).await.detail("conflict");
    assert_eq!(detail, "the service account belongs to another directory.");
    app.remove_directory(&ada, &first, "keep").await.no_content();
    app.directory(&ada, &again()).await;
}

async fn a_tenant_has_ten_directories_at_most(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for _ in 0..10 {
        app.directory(&ada, &json!({})).await;
    }
    let detail = app.try_directory(&ada, &json!({})).await.detail("conflict");
    assert_eq!(detail, "the tenant has the maximum number of directories. remove one first.");
}

async fn a_repeated_request_makes_no_second_directory(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "Staff", "serviceAccountId": app.robot(&ada, &[]).await });
    let make = || app.post("/directories").by(&ada).header("idempotency-key", "one").json(&body);
    assert_eq!(make().send().await.created(), make().send().await.created());
}

async fn directories_are_listed_by_name(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let second = app.directory(&ada, &json!({ "name": "Second" })).await;
    let first = app.directory(&ada, &json!({ "name": "First" })).await;
    let list = || app.get("/directories").by(&ada);
    assert_eq!(list().send().await.ok(), json!({ "data": [first, second] }));
    app.remove_directory(&ada, &first, "keep").await.no_content();
    app.remove_directory(&ada, &first, "keep").await.problem("not-found");
    assert_eq!(each(&list().send().await.ok(), "name"), ["Second"]);
}

async fn a_change_changes_what_it_names(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let provider = app.provider(&ada, &json!({})).await;
    let mut directory = app.directory(&ada, &json!({})).await;
    for change in
        [json!({ "name": "People" }), json!({ "identityProviderId": provider["id"] }), json!({ "adopt": true })]
    {
        app.pass(TimeDelta::seconds(1));
        directory = with(with(directory, &change), &json!({ "updatedAt": app.now() }));
        let changed = app.change_directory(&ada, &directory, &change).await.ok();
        assert_eq!(with(directory.clone(), &changed), directory);
        // What the directory has sent is shown by a read.
        let left_out: Vec<&str> =
            members(&directory).into_iter().filter(|member| changed.get(*member).is_none()).collect();
        assert_eq!(left_out, ["lastRequestAt", "refusals"]);
        assert_eq!(get(&app, &ada, &directory).await.ok(), directory);
    }
    app.pass(TimeDelta::seconds(1));
    let same = json!({ "adopt": true });
    app.unrecorded(&ada, app.change_directory(&ada, &directory, &same)).await.ok();
    assert_eq!(get(&app, &ada, &directory).await.ok(), directory);
}

async fn the_account_cannot_change(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (directory, other) = (app.directory(&ada, &json!({})).await, app.robot(&ada, &[]).await);
    let refused = app.change_directory(&ada, &directory, &json!({ "serviceAccountId": other })).await;
    assert_eq!(refused.invalid_fields(), ["serviceAccountId"]);
}

async fn null_removes_the_provider(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let provider = app.provider(&ada, &json!({})).await;
    let directory = app.directory(&ada, &json!({ "identityProviderId": provider["id"] })).await;
    let change =
        async |change: Value| app.change_directory(&ada, &directory, &change).await.ok()["identityProviderId"].clone();
    assert_eq!(change(json!({ "name": "People" })).await, provider["id"]);
    assert_eq!(change(json!({ "identityProviderId": null })).await, Value::Null);
}

async fn a_removed_provider_is_named_no_more(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let provider = app.provider(&ada, &json!({})).await;
    let directory = app.directory(&ada, &json!({ "identityProviderId": provider["id"] })).await;
    let removed = app.delete(&format!("/identity-providers/{}", provider["id"].as_str().unwrap())).by(&ada);
    removed.send().await.no_content();
    assert_eq!(get(&app, &ada, &directory).await.ok()["identityProviderId"], Value::Null);
    let entries = app.history(&ada, directory["id"].as_str().unwrap()).await;
    assert_eq!(entries[0]["metadata"]["changedFields"], json!(["identityProviderId"]));
}

async fn a_change_needs_the_version_that_it_names(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let directory = app.directory(&ada, &json!({})).await;
    let tag = get(&app, &ada, &directory).await.header("etag").unwrap().to_owned();
    let known = app.get(&path(&directory)).by(&ada).header("if-none-match", &tag).send().await;
    assert_eq!(known.status(), 304);
    let change = || app.patch(&path(&directory)).by(&ada).header("if-match", &tag).json(&json!({ "name": "Other" }));
    change().send().await.ok();
    change().send().await.problem("precondition-failed");
    let remove = app.delete(&format!("{}?users=keep", path(&directory))).by(&ada).header("if-match", &tag);
    remove.send().await.problem("precondition-failed");
}

async fn a_removal_says_what_happens_to_the_users(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let directory = app.directory(&ada, &json!({})).await;
    assert_eq!(app.delete(&path(&directory)).by(&ada).send().await.invalid_fields(), ["users"]);
    for other in ["", "delete", "KEEP"] {
        assert_eq!(app.remove_directory(&ada, &directory, other).await.invalid_fields(), ["users"], "{other}");
    }
    app.remove_directory(&ada, &directory, "suspend").await.no_content();
}

async fn the_users_of_a_removed_directory_stay_as_they_are(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let directory = app.adopting(&ada).await;
    let bob = app.member(&ada, &directory).await;
    let before = app.user(&ada, &bob.user).await;
    app.remove_directory(&ada, &directory, "keep").await.no_content();
    assert_eq!(app.user(&ada, &bob.user).await, before);
    assert!(app.knows(&bob).await);
    // It belongs to no directory, so its external identifier is changed here.
    let change = app.patch(&format!("/users/{}", bob.user)).by(&ada).json(&json!({ "externalId": "00u1" }));
    change.send().await.ok();
}

async fn the_users_of_a_removed_directory_are_suspended(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let directory = app.adopting(&ada).await;
    let [bob, gone] = [app.member(&ada, &directory).await, app.member(&ada, &directory).await];
    let other = app.colleague(&ada, &fresh_email()).await;
    app.delete(&format!("/users/{}", gone.user)).by(&ada).send().await.no_content();
    app.remove_directory(&ada, &directory, "suspend").await.no_content();
    for (person, status) in [(&bob, "SUSPENDED"), (&gone, "INACTIVE"), (&other, "ACTIVE")] {
        assert_eq!(app.user(&ada, &person.user).await["status"], status);
    }
    assert!(!app.knows(&bob).await && app.knows(&other).await);
}

async fn a_suspension_needs_the_permission_and_the_rights_of_the_users(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let directory = app.adopting(&ada).await;
    let bob = app.member(&ada, &directory).await;
    app.permit(&bob, &["roles:read"]).await;
    let grace = app.colleague_who_may(&ada, "grace@example.com", &["directories:delete"]).await;
    app.remove_directory(&grace, &directory, "suspend").await.lacks("users:update");
    app.permit(&grace, &["users:update"]).await;
    app.unrecorded(&ada, app.remove_directory(&grace, &directory, "suspend")).await.escalates();
    app.permit(&grace, &["roles:read"]).await;
    app.remove_directory(&grace, &directory, "suspend").await.no_content();
    assert_eq!(app.user(&ada, &bob.user).await["status"], "SUSPENDED");
}

async fn the_last_administrator_is_not_suspended_with_a_directory(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let directory = app.adopting(&ada).await;
    let bob = app.member(&ada, &directory).await;
    app.assign(&ada, &bob.user, "TENANT_ADMIN", None, None).await;
    let grace = app.colleague_who_may(&ada, "grace@example.com", &["*"]).await;
    app.delete(&format!("/users/{}", ada.user)).by(&grace).send().await.no_content();
    app.unrecorded(&grace, app.remove_directory(&grace, &directory, "suspend")).await.problem("conflict");
    assert!(app.knows(&bob).await);
    app.remove_directory(&grace, &directory, "keep").await.no_content();
}

async fn to_adopt_needs_further_permissions_and_a_fresh_session(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let directory = app.directory(&ada, &json!({})).await;
    let accounts = [app.robot(&ada, &[]).await, app.robot(&ada, &[]).await];
    let make = async |by: &Person, adopt: bool, account: &str| {
        app.try_directory(by, &json!({ "adopt": adopt, "serviceAccountId": account })).await
    };
    let adopt = async |by: &Person| app.change_directory(by, &directory, &json!({ "adopt": true })).await;
    let grace = app.colleague_who_may(&ada, "grace@example.com", &["directories:create"]).await;
    make(&grace, true, &accounts[0]).await.lacks("directories:update");
    app.permit(&grace, &["directories:update"]).await;
    make(&grace, true, &accounts[0]).await.lacks("users:update");
    adopt(&grace).await.lacks("users:update");
    make(&grace, false, &accounts[0]).await.created();
    app.pass(TimeDelta::minutes(11));
    make(&ada, true, &accounts[1]).await.problem("insufficient-authentication");
    adopt(&ada).await.problem("insufficient-authentication");
    make(&ada, false, &accounts[1]).await.created();
    let renamed = app.change_directory(&ada, &directory, &json!({ "name": "People", "adopt": false })).await;
    assert_eq!(renamed.ok()["name"], "People");
}

async fn no_api_key_lets_a_directory_adopt(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let key = app.key(&ada, &ada.user, &json!({ "permissions": ["*"] })).await;
    let key = key["key"].as_str().unwrap();
    let body = json!({ "name": "Staff", "serviceAccountId": app.robot(&ada, &[]).await });
    let make = |body: &Value| app.post("/directories").bearer(key).json(body);
    make(&with(body.clone(), &json!({ "adopt": true }))).send().await.problem("forbidden");
    let directory = make(&body).send().await.created();
    app.patch(&path(&directory)).bearer(key).json(&json!({ "adopt": true })).send().await.problem("forbidden");
    app.patch(&path(&directory)).bearer(key).json(&json!({ "name": "People" })).send().await.ok();
    app.delete(&format!("{}?users=keep", path(&directory))).bearer(key).send().await.no_content();
}

async fn another_tenant_finds_no_directory(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.net").await];
    let directory = app.directory(&ada, &json!({})).await;
    get(&app, &eve, &directory).await.problem("not-found");
    app.change_directory(&eve, &directory, &json!({ "name": "Mine" })).await.problem("not-found");
    for users in ["keep", "suspend"] {
        app.remove_directory(&eve, &directory, users).await.problem("not-found");
    }
    assert_eq!(app.get("/directories").by(&eve).send().await.ok()["data"], json!([]));
}

async fn the_address_is_that_of_the_host_that_the_client_names(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let directory = app.directory(&ada, &json!({})).await;
    let shown = app.get(&path(&directory)).by(&ada).header("host", "iam.example:8443").send().await.ok();
    assert_eq!(shown["scimUrl"], "http://iam.example:8443/scim/v2");
}

async fn the_address_begins_by_the_public_url(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.directory(&ada, &json!({})).await;
    let set = |settings: &mut iam_axum::Settings| settings.public_url = Some("https://iam.example.com/base/".into());
    let app = app.with_http_settings(set);
    let list = app.get("/directories").by(&ada).header("host", "other.example").send().await.ok();
    assert_eq!(each(&list, "scimUrl"), ["https://iam.example.com/base/scim/v2"]);
}

async fn the_address_has_the_prefix_of_a_host_program(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.directory(&ada, &json!({})).await;
    let mut host = app.with_http_settings(|_| {});
    let router = iam_axum::router(app.iam.clone(), iam_axum::Settings::default());
    host.router = Router::new().nest("/iam/v1", router);
    let (_, list) = host.request(Method::GET, "/iam/v1/directories").by(&ada).send_to_host().await;
    assert_eq!(each(&list, "scimUrl"), ["http://localhost/iam/v1/scim/v2"]);
}
