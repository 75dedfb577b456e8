//! Homes: whom an administrator of an organization reaches (`docs/http-api.md#homes`).

use iam_core::OrganizationId;
use iam_core::mail::MailKind;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::app::TestApp;
use crate::people::{PASSWORD, Person, profile, with};
use crate::request::{Request, Response, each_sorted};

in_memory_with_mail![
    a_role_gives_no_power_over_a_person,
    home_and_all_roles_must_be_within,
    who_sees_the_user_gets_403_and_others_404,
    a_home_alone_shows_the_user,
    a_home_in_a_suspended_organization_is_reached_from_above,
    only_a_tenant_wide_permission_sets_the_home,
    a_home_is_an_organization_of_the_tenant_that_is_not_inactive,
    a_new_user_and_a_new_service_account_get_a_home,
    the_home_is_recorded,
    an_invited_person_gets_the_topmost_organization_as_home,
    a_move_takes_homes_along,
    a_deleted_organization_leaves_its_homes_to_its_parent,
    a_refused_deletion_moves_no_home,
    a_deleted_user_keeps_its_home,
];

impl TestApp {
    /// Gives a user a home.
    pub(crate) async fn set_home(&self, administrator: &Person, user: &str, home: Option<OrganizationId>) {
        let body = json!({ "homeOrganizationId": home });
        self.patch(&format!("/users/{user}")).by(administrator).json(&body).send().await.ok();
    }

    /// The home of a user.
    async fn home(&self, reader: &Person, user: &str) -> Value {
        self.user(reader, user).await["homeOrganizationId"].clone()
    }
}

/// Everything that mallory can do to the victim, and the permission that it needs.
fn deeds<'a>(app: &'a TestApp, fixture: &Fixture) -> Vec<(&'static str, Request<'a>)> {
    let Fixture { north: place, mallory: by, victim: of, key, .. } = fixture;
    let user = format!("/users/{}", of.user);
    let patch = |body: Value| app.patch(&user).by(by).json(&body);
    let post = |path: &str| app.post(&format!("{user}/{path}")).by(by);
    let new_key = json!({ "name": "key", "permissions": ["organizations:read"], "organizationId": place });
    let key = format!("/api-keys/{key}");
    vec![
        ("users:update", patch(json!({ "firstName": "Renamed" }))),
        ("users:update", patch(json!({ "email": crate::access_table::fresh_email() }))),
        ("users:update", patch(json!({ "externalId": crate::access_table::fresh("external-") }))),
        ("users:update", post("password-reset")),
        ("sessions:read", app.get(&format!("{user}/sessions")).by(by)),
        ("sessions:delete", app.delete(&format!("/sessions/{}", of.session)).by(by)),
        ("sessions:delete", post("logout-all")),
        ("api-keys:read", app.get(&format!("{user}/api-keys")).by(by)),
        ("api-keys:read", app.get(&key).by(by)),
        ("api-keys:create", post("api-keys").json(&new_key)),
        ("api-keys:update", app.patch(&key).by(by).json(&json!({ "name": "other" }))),
        ("api-keys:update", app.post(&format!("{key}/rotate")).by(by).json(&json!({}))),
        ("api-keys:delete", app.delete(&key).by(by)),
        ("users:update", app.delete(&format!("{user}/factors")).by(by)),
        ("users:update", post("suspend")),
        ("users:update", post("reactivate")),
        ("users:update", patch(json!({ "status": "SUSPENDED" }))),
        ("users:update", patch(json!({ "status": "INACTIVE" }))),
        ("users:delete", app.delete(&user).by(by)),
    ]
}

/// An administrator of `north`, which is above `branch`, and a person of the tenant with a key.
struct Fixture {
    ada: Person,
    north: OrganizationId,
    branch: OrganizationId,
    south: OrganizationId,
    mallory: Person,
    victim: Person,
    key: String,
}

async fn fixture(app: &TestApp) -> Fixture {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let branch = app.below(&ada, north, "branch").await;
    let south = app.organization(&ada, "south").await;
    let mallory = app.colleague_in(&ada, north, "mallory@example.com", &["*"]).await;
    let victim = app.colleague(&ada, "victim@example.com").await;
    let key = json!({ "permissions": ["organizations:read"], "organizationId": north });
    let key = app.key(&ada, &victim.user, &key).await;
    let key = key["id"].as_str().unwrap().to_owned();
    Fixture { ada, north, branch, south, mallory, victim, key }
}

async fn a_role_gives_no_power_over_a_person(app: TestApp) {
    let s = fixture(&app).await;
    for (_, request) in deeds(&app, &s) {
        request.send().await.problem("not-found");
    }
    let role = json!({
        "userId": s.victim.user, "roleId": app.role_id(&s.ada, "MEMBER").await, "organizationId": s.branch,
    });
    app.post("/role-assignments").by(&s.mallory).json(&role).send().await.created();
    let before = (app.user(&s.ada, &s.victim.user).await, app.audit(&s.ada, &[]).await);
    for (permission, request) in deeds(&app, &s) {
        request.send().await.lacks(permission);
    }
    app.user(&s.mallory, &s.victim.user).await;
    assert_eq!((app.user(&s.ada, &s.victim.user).await, app.audit(&s.ada, &[]).await), before);
    assert!(app.knows(&s.victim).await);
    // It may do all of it where a caller with the permission for the whole tenant has set the home.
    app.set_home(&s.ada, &s.victim.user, Some(s.north)).await;
    for (permission, request) in deeds(&app, &s) {
        let answer = request.send().await;
        assert!(answer.status() < 300, "{permission}: {}", answer.text());
    }
    assert_eq!(app.user(&s.ada, &s.victim.user).await["status"], "INACTIVE");
}

async fn home_and_all_roles_must_be_within(app: TestApp) {
    let s = fixture(&app).await;
    let soon = Some(app.iam.now() + chrono::TimeDelta::hours(1));
    let (north, branch, south) = (Some(s.north), Some(s.branch), Some(s.south));
    for (number, (home, roles, is_permitted)) in [
        (north, vec![], true),
        (branch, vec![], true),
        (branch, vec![north, branch], true),
        (None, vec![north], false),
        (None, vec![north, branch], false),
        (south, vec![north], false),
        (branch, vec![south], false),
        (branch, vec![north, south], false),
        (branch, vec![None], false),
        (branch, vec![north, None], false),
    ]
    .into_iter()
    .enumerate()
    {
        let user = app.add_user(&s.ada, &format!("user{number}@example.com")).await;
        app.set_home(&s.ada, &user, home).await;
        for place in &roles {
            app.assign(&s.ada, &user, "MEMBER", *place, soon).await;
        }
        let rename = async || {
            let body = json!({ "firstName": crate::access_table::fresh("Grace ") });
            app.patch(&format!("/users/{user}")).by(&s.mallory).json(&body).send().await
        };
        match is_permitted {
            true => drop(rename().await.ok()),
            false => rename().await.lacks("users:update"),
        }
    }
}

async fn who_sees_the_user_gets_403_and_others_404(app: TestApp) {
    let s = fixture(&app).await;
    let rename = async |by: &Person| {
        app.patch(&format!("/users/{}", s.victim.user)).by(by).json(&json!({ "firstName": "X" })).send().await
    };
    let unseen = app.colleague_in(&s.ada, s.north, "unseen@example.com", &["users:update"]).await;
    rename(&unseen).await.problem("not-found");
    app.permit_in(&unseen, s.south, &["users:read"]).await;
    rename(&unseen).await.problem("not-found");
    app.set_home(&s.ada, &s.victim.user, Some(s.south)).await;
    rename(&unseen).await.lacks("users:update");
    rename(&s.mallory).await.problem("not-found");
    app.permit(&s.mallory, &["users:read"]).await;
    rename(&s.mallory).await.lacks("users:update");
    // A user that does not exist is missing for all of them.
    let missing = format!("/users/{}", Uuid::now_v7());
    app.patch(&missing).by(&s.mallory).json(&json!({ "firstName": "X" })).send().await.problem("not-found");
}

async fn a_home_alone_shows_the_user(app: TestApp) {
    let s = fixture(&app).await;
    let reads = ["users:read", "role-assignments:read"];
    let bob = app.colleague_in(&s.ada, s.north, "bob@example.com", &reads).await;
    let seen = async |query: &[(&str, &str)]| {
        let request =
            query.iter().fold(app.get("/users").by(&bob), |request, (name, value)| request.query(name, value));
        let body = request.send().await.ok();
        assert_eq!(body["pagination"]["total"], body["data"].as_array().unwrap().len());
        each_sorted(&body, "email")
    };
    let path = format!("/users/{}", s.victim.user);
    assert_eq!(seen(&[]).await, ["bob@example.com", "mallory@example.com"]);
    app.get(&path).by(&bob).send().await.problem("not-found");
    app.get(&format!("{path}/roles")).by(&bob).send().await.problem("not-found");
    for home in [s.north, s.branch] {
        app.set_home(&s.ada, &s.victim.user, Some(home)).await;
        assert_eq!(app.home(&bob, &s.victim.user).await, json!(home));
        assert_eq!(seen(&[]).await, ["bob@example.com", "mallory@example.com", "victim@example.com"]);
        assert_eq!(seen(&[("search", "vict")]).await, ["victim@example.com"]);
        assert_eq!(app.get(&format!("{path}/roles")).by(&bob).send().await.ok()["data"], json!([]));
        // The home is no membership by a role.
        assert!(!seen(&[("organizationId", &home.to_string())]).await.contains(&"victim@example.com".to_owned()));
    }
    app.set_home(&s.ada, &s.victim.user, Some(s.south)).await;
    assert_eq!(seen(&[]).await, ["bob@example.com", "mallory@example.com"]);
    app.get(&path).by(&bob).send().await.problem("not-found");
}

async fn a_home_in_a_suspended_organization_is_reached_from_above(app: TestApp) {
    let s = fixture(&app).await;
    app.set_home(&s.ada, &s.victim.user, Some(s.branch)).await;
    let kim = app.colleague_in(&s.ada, s.branch, "kim@example.com", &["users:*"]).await;
    let suspend = json!({ "status": "SUSPENDED" });
    app.patch(&format!("/organizations/{}", s.branch)).by(&s.ada).json(&suspend).send().await.ok();
    let path = format!("/users/{}", s.victim.user);
    app.patch(&path).by(&s.mallory).json(&json!({ "firstName": "Vera" })).send().await.ok();
    app.patch(&path).by(&kim).json(&json!({ "firstName": "Vi" })).send().await.lacks("users:update");
}

async fn only_a_tenant_wide_permission_sets_the_home(app: TestApp) {
    let s = fixture(&app).await;
    let patch = async |by: &Person, body: Value| {
        app.patch(&format!("/users/{}", s.victim.user)).by(by).json(&body).send().await
    };
    app.set_home(&s.ada, &s.victim.user, Some(s.branch)).await;
    app.permit(&s.mallory, &["users:read"]).await;
    for home in [json!(s.north), json!(s.south), Value::Null, json!(Uuid::now_v7().to_string())] {
        let refused = app.unrecorded(&s.ada, patch(&s.mallory, json!({ "homeOrganizationId": home }))).await;
        refused.lacks("users:update");
    }
    assert_eq!(app.home(&s.ada, &s.victim.user).await, json!(s.branch));
    // The home that it has is no change.
    patch(&s.mallory, json!({ "homeOrganizationId": s.branch, "firstName": "Vera" })).await.ok();
    let helper = app.colleague_who_may(&s.ada, "helper@example.com", &["users:update"]).await;
    patch(&helper, json!({ "homeOrganizationId": s.north })).await.ok();
    assert_eq!(app.home(&s.ada, &s.victim.user).await, json!(s.north));
    app.unrecorded(&s.ada, patch(&helper, json!({ "homeOrganizationId": s.north }))).await.ok();
    patch(&helper, json!({ "homeOrganizationId": null })).await.ok();
    assert_eq!(app.home(&s.ada, &s.victim.user).await, Value::Null);
}

async fn a_home_is_an_organization_of_the_tenant_that_is_not_inactive(app: TestApp) {
    let s = fixture(&app).await;
    let other = app.register("other@example.org").await;
    let foreign = app.organization(&other, "foreign").await;
    app.delete(&format!("/organizations/{}", s.branch)).by(&s.ada).send().await.no_content();
    let requests = |home: Value| {
        let home = json!({ "homeOrganizationId": home });
        let user = with(profile(&crate::access_table::fresh_email()), &home);
        [
            app.patch(&format!("/users/{}", s.victim.user)).by(&s.ada).json(&home),
            app.post("/users").by(&s.ada).json(&user),
            app.post("/service-accounts").by(&s.ada).json(&with(json!({ "name": "Robot" }), &home)),
        ]
    };
    let before = app.audit(&s.ada, &[]).await;
    for request in requests(json!(foreign)).into_iter().chain(requests(json!(Uuid::now_v7().to_string()))) {
        assert_eq!(request.send().await.fields("not-found"), ["homeOrganizationId"]);
    }
    for request in requests(json!(s.branch)) {
        request.send().await.problem("conflict");
    }
    for request in requests(json!("north")) {
        assert_eq!(request.send().await.invalid_fields(), ["homeOrganizationId"]);
    }
    assert_eq!(app.audit(&s.ada, &[]).await, before);
}

async fn a_new_user_and_a_new_service_account_get_a_home(app: TestApp) {
    let s = fixture(&app).await;
    let home = json!({ "homeOrganizationId": s.branch });
    let post = async |path: &str, body: &Value| app.post(path).by(&s.ada).json(body).send().await.created();
    for body in [json!({}), json!({ "homeOrganizationId": null })] {
        let user = post("/users", &with(profile(&crate::access_table::fresh_email()), &body)).await;
        assert_eq!(user["homeOrganizationId"], Value::Null);
        let robot = post("/service-accounts", &with(json!({ "name": "Robot" }), &body)).await;
        assert_eq!(robot["homeOrganizationId"], Value::Null);
    }
    let grace = post("/users", &with(profile("grace@example.com"), &home)).await;
    let robot = post("/service-accounts", &with(json!({ "name": "Robot" }), &home)).await;
    for made in [&grace, &robot] {
        assert_eq!(made["homeOrganizationId"], json!(s.branch));
        let id = made["id"].as_str().unwrap();
        assert_eq!(app.home(&s.mallory, id).await, json!(s.branch));
        app.delete(&format!("/users/{id}")).by(&s.mallory).send().await.no_content();
    }
}

async fn the_home_is_recorded(app: TestApp) {
    let s = fixture(&app).await;
    let body = with(profile("grace@example.com"), &json!({ "homeOrganizationId": s.branch }));
    let grace = app.post("/users").by(&s.ada).json(&body).send().await.created()["id"].as_str().unwrap().to_owned();
    app.set_home(&s.ada, &grace, None).await;
    let entries = app.history(&s.ada, &grace).await;
    let [cleared, created] = &entries[..] else { panic!("two entries: {entries:?}") };
    assert_eq!(created["newValue"]["homeOrganizationId"], json!(s.branch));
    assert_eq!(
        (&cleared["action"], &cleared["metadata"]["changedFields"]),
        (&json!("UPDATE"), &json!(["homeOrganizationId"]))
    );
    assert_eq!(cleared["oldValue"], json!({ "homeOrganizationId": s.branch }));
    assert_eq!(cleared["newValue"], json!({ "homeOrganizationId": null }));
}

async fn an_invited_person_gets_the_topmost_organization_as_home(app: TestApp) {
    let s = fixture(&app).await;
    let (member, soon) = (app.role_id(&s.ada, "MEMBER").await, app.iam.now() + chrono::TimeDelta::hours(1));
    let (north, branch, south) = (Some(s.north), Some(s.branch), Some(s.south));
    for (number, (places, expected)) in [
        (vec![], None),
        (vec![None], None),
        (vec![branch], branch),
        (vec![branch, north], north),
        (vec![branch, south], None),
        (vec![branch, None], None),
    ]
    .into_iter()
    .enumerate()
    {
        let role = |place: &Option<OrganizationId>| {
            // A role that has expired meanwhile still says for what the person was invited.
            let expires_at = place.is_none().then(|| crate::app::shown(soon));
            json!({ "roleId": member, "organizationId": place, "expiresAt": expires_at })
        };
        let email = format!("invited{number}@example.com");
        let roles: Vec<Value> = places.iter().map(role).collect();
        app.invite(&s.ada, &json!({ "email": email, "roles": roles })).await;
        let token = app.token(MailKind::Invitation, &email).await;
        app.pass(chrono::TimeDelta::hours(if number == 5 { 2 } else { 0 }));
        let body = json!({ "token": token, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
        let accepted = app.post("/invitations/accept").json(&body).send().await.created();
        assert_eq!(accepted["user"]["homeOrganizationId"], json!(expected), "{places:?}");
    }
}

async fn a_move_takes_homes_along(app: TestApp) {
    let s = fixture(&app).await;
    let bob = app.colleague_in(&s.ada, s.south, "bob@example.com", &["users:*"]).await;
    app.set_home(&s.ada, &s.victim.user, Some(s.branch)).await;
    let rename = async |by: &Person| {
        let body = json!({ "firstName": crate::access_table::fresh("Grace ") });
        app.patch(&format!("/users/{}", s.victim.user)).by(by).json(&body).send().await
    };
    rename(&s.mallory).await.ok();
    rename(&bob).await.problem("not-found");
    let to_south = json!({ "parentId": s.south });
    app.patch(&format!("/organizations/{}", s.branch)).by(&s.ada).json(&to_south).send().await.ok();
    assert_eq!(app.home(&s.ada, &s.victim.user).await, json!(s.branch));
    rename(&bob).await.ok();
    rename(&s.mallory).await.problem("not-found");
}

async fn a_deleted_organization_leaves_its_homes_to_its_parent(app: TestApp) {
    let s = fixture(&app).await;
    let patch = async |id: OrganizationId, status: &str| -> Response {
        app.patch(&format!("/organizations/{id}")).by(&s.ada).json(&json!({ "status": status })).send().await
    };
    app.set_home(&s.ada, &s.victim.user, Some(s.branch)).await;
    let delete = format!("/organizations/{}", s.branch);
    app.delete(&delete).by(&s.ada).query("preview", "true").send().await.ok();
    assert_eq!(app.home(&s.ada, &s.victim.user).await, json!(s.branch));
    let version = app.user(&s.ada, &s.victim.user).await["updatedAt"].clone();
    app.pass(chrono::TimeDelta::seconds(1));
    app.delete(&delete).by(&s.ada).send().await.no_content();
    let user = app.user(&s.ada, &s.victim.user).await;
    assert_eq!(user["homeOrganizationId"], json!(s.north));
    assert_ne!(user["updatedAt"], version);
    let entry = app.history(&s.ada, &s.victim.user).await.remove(0);
    assert_eq!((&entry["action"], &entry["userId"]), (&json!("UPDATE"), &json!(s.ada.user)));
    assert_eq!(entry["oldValue"], json!({ "homeOrganizationId": s.branch }));
    assert_eq!(entry["newValue"], json!({ "homeOrganizationId": s.north }));
    assert_eq!(entry["metadata"]["changedFields"], json!(["homeOrganizationId"]));
    app.patch(&format!("/users/{}", s.victim.user)).by(&s.mallory).json(&json!({ "firstName": "V" })).send().await.ok();
    // A restored organization gets no user back.
    patch(s.branch, "ACTIVE").await.ok();
    assert_eq!(app.home(&s.ada, &s.victim.user).await, json!(s.north));
    // Above a root is the tenant.
    patch(s.branch, "INACTIVE").await.ok();
    patch(s.north, "INACTIVE").await.ok();
    assert_eq!(app.home(&s.ada, &s.victim.user).await, Value::Null);
}

async fn a_refused_deletion_moves_no_home(app: TestApp) {
    let s = fixture(&app).await;
    app.set_home(&s.ada, &s.victim.user, Some(s.north)).await;
    let path = format!("/organizations/{}", s.north);
    app.unrecorded(&s.ada, app.delete(&path).by(&s.ada).send()).await.problem("conflict");
    assert_eq!(app.home(&s.ada, &s.victim.user).await, json!(s.north));
}

async fn a_deleted_user_keeps_its_home(app: TestApp) {
    let s = fixture(&app).await;
    app.set_home(&s.ada, &s.victim.user, Some(s.branch)).await;
    app.delete(&format!("/users/{}", s.victim.user)).by(&s.mallory).send().await.no_content();
    let user = app.user(&s.mallory, &s.victim.user).await;
    assert_eq!((&user["status"], &user["homeOrganizationId"]), (&json!("INACTIVE"), &json!(s.branch)));
    // Restoring needs a permission for the whole tenant, as creating does.
    let restore = json!({ "status": "ACTIVE" });
    let path = format!("/users/{}", s.victim.user);
    app.patch(&path).by(&s.mallory).json(&restore).send().await.lacks("users:create");
    app.patch(&path).by(&s.ada).json(&restore).send().await.ok();
    app.patch(&path).by(&s.mallory).json(&json!({ "firstName": "Vera" })).send().await.ok();
}
