//! Service accounts and API keys (`docs/http-api.md#api-keys`).

use chrono::TimeDelta;
use futures_util::future::join_all;
use iam_core::OrganizationId;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::mail::kinds;
use crate::people::{PASSWORD, Person, profile, with};
use crate::request::{Response, each, members};

in_memory![
    a_service_account_has_a_name_instead_of_an_email,
    a_service_account_is_listed_by_its_kind,
    a_service_account_is_renamed_and_gets_no_email,
    a_service_account_never_logs_in,
    assignments_show_the_name_of_a_service_account,
    a_key_is_shown_once,
    a_key_expires_after_90_days_and_at_most_365,
    creation_names_every_invalid_field,
    a_user_has_20_keys,
    a_refused_key_has_one_answer,
    a_key_does_what_its_user_may_do_at_that_moment,
    a_key_has_no_more_than_its_permissions,
    a_key_counts_only_in_its_organization_and_below,
    a_question_by_a_key_is_about_the_key,
    a_key_cannot_manage_sessions_credentials_or_keys,
    the_caller_by_key_is_told_so,
    a_key_of_another_user_names_permissions_that_its_maker_holds,
    keys_of_other_users_need_a_recent_authentication,
    a_person_is_told_of_its_new_key,
    a_reset_password_revokes_the_keys_whose_secret_the_user_has_known,
    a_key_gets_narrower_but_never_wider,
    a_change_of_a_key_honours_the_version,
    rotation_keeps_the_id_and_ends_the_former_secret_after_the_overlap,
    everything_by_key_is_recorded_with_its_id,
    the_last_use_is_written_once_an_hour,
    the_keys_of_a_deleted_user_are_gone,
    a_repeated_creation_of_a_service_account_makes_one,
    a_key_sends_a_body_with_its_present_rights,
    an_id_that_is_no_uuid_is_named,
    service_accounts_count_towards_the_quota_of_users,
];

impl TestApp {
    /// Creates a service account with a role of these permissions in the whole tenant.
    pub(crate) async fn robot(&self, administrator: &Person, permissions: &[&str]) -> String {
        let body = json!({ "name": "Importer" });
        let account = self.post("/service-accounts").by(administrator).json(&body).send().await.created();
        let account = account["id"].as_str().unwrap().to_owned();
        let role = crate::access_table::fresh("ROBOT_");
        self.role(administrator, &role, permissions).await;
        self.assign(administrator, &account, &role, None, None).await;
        account
    }

    /// Makes a key of a user. Returns the answer.
    pub(crate) async fn key(&self, by: &Person, user: &str, members: &Value) -> Value {
        self.try_key(by, user, members).await.created()
    }

    /// Asks for a key of a user: one of another user has every permission, if the members do not name some.
    async fn try_key(&self, by: &Person, user: &str, members: &Value) -> Response {
        let named = if by.user == user { json!({}) } else { json!({ "permissions": ["*"] }) };
        let body = with(with(json!({ "name": "nightly" }), &named), members);
        self.post(&format!("/users/{user}/api-keys")).by(by).json(&body).send().await
    }
}

/// The text of a key that was just made.
pub(crate) fn text(key: &Value) -> &str {
    key["key"].as_str().unwrap()
}

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

async fn get(app: &TestApp, path: &str, key: &Value) -> Response {
    app.get(path).bearer(text(key)).send().await
}

async fn is_accepted(app: &TestApp, key: &str) -> bool {
    let answer = app.get("/auth/me").bearer(key).send().await;
    assert!(matches!(answer.status(), 200 | 401), "{}", answer.text());
    answer.status() == 200
}

async fn a_service_account_has_a_name_instead_of_an_email(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let create = async |body: Value| app.post("/service-accounts").by(&ada).json(&body).send().await;
    let account = create(json!({ "name": "  Importer " })).await.created();
    let expected = json!({
        "id": account["id"], "kind": "SERVICE", "name": "Importer", "emailVerifiedAt": null, "externalId": null,
        "homeOrganizationId": null, "tenantId": ada.tenant, "status": "ACTIVE", "lastLoginAt": null, "createdAt": app.now(), "updatedAt": app.now(),
    });
    assert_eq!(account, expected);
    assert_eq!(app.user(&ada, id(&account)).await, expected);
    let entries = app.history(&ada, id(&account)).await;
    assert_eq!(
        entries[0]["newValue"],
        json!({ "kind": "SERVICE", "name": "Importer", "homeOrganizationId": null, "status": "ACTIVE" })
    );
    assert_eq!(create(json!({})).await.invalid_fields(), ["name"]);
    assert_eq!(create(json!({ "name": "x".repeat(101) })).await.invalid_fields(), ["name"]);
    assert_eq!(create(json!({ "name": "x", "email": "x@example.com" })).await.invalid_fields(), ["email"]);
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["users:read", "users:update", "api-keys:create"]).await;
    app.post("/service-accounts").by(&bob).json(&json!({ "name": "x" })).send().await.lacks("users:create");
}

async fn a_service_account_is_listed_by_its_kind(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &[]).await;
    let list = async |kind: &str| app.get("/users").query("kind", kind).by(&ada).send().await;
    let services = list("SERVICE").await.ok();
    let listed = json!({ "id": robot, "kind": "SERVICE", "name": "Importer", "status": "ACTIVE", "lastLoginAt": null });
    assert_eq!((&services["data"], &services["pagination"]["total"]), (&json!([listed]), &json!(1)));
    let people = list("HUMAN").await.ok();
    assert_eq!((each(&people, "email"), &people["data"][0]["kind"]), (vec![ada.email.clone()], &json!("HUMAN")));
    assert_eq!(app.get("/users").by(&ada).send().await.ok()["pagination"]["total"], 2);
    assert_eq!(list("ROBOT").await.invalid_fields(), ["kind"]);
}

async fn a_service_account_is_renamed_and_gets_no_email(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &[]).await;
    let patch = async |id: &str, body: Value| app.patch(&format!("/users/{id}")).by(&ada).json(&body).send().await;
    let renamed = patch(&robot, json!({ "name": "Exporter" })).await.ok();
    assert_eq!(members(&renamed), ["id", "kind", "name", "status", "updatedAt"]);
    assert_eq!(app.user(&ada, &robot).await["name"], "Exporter");
    let changes = &app.history(&ada, &robot).await[0];
    assert_eq!(
        (&changes["oldValue"], &changes["newValue"]),
        (&json!({ "name": "Importer" }), &json!({ "name": "Exporter" }))
    );
    for field in ["email", "firstName", "lastName"] {
        assert_eq!(patch(&robot, json!({ field: "x@example.com" })).await.invalid_fields(), [field]);
    }
    assert_eq!(patch(&ada.user, json!({ "name": "Ada" })).await.invalid_fields(), ["name"]);
}

async fn a_service_account_never_logs_in(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["*"]).await;
    let email = format!("{robot}@service.invalid");
    app.attempt_at(&ada.tenant, &email, PASSWORD).send().await.problem("unauthorized");
    app.attempt_at(&ada.tenant, "Importer", PASSWORD).send().await;
    assert_eq!(app.user(&ada, &robot).await["lastLoginAt"], Value::Null);
    app.post(&format!("/users/{robot}/password-reset")).by(&ada).send_in_race().await;
    assert_eq!(app.get(&format!("/users/{robot}/sessions")).by(&ada).send().await.ok()["data"], json!([]));
}

async fn assignments_show_the_name_of_a_service_account(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &[]).await;
    let list = app.get("/role-assignments").query("userId", &robot).by(&ada).send().await.ok();
    assert_eq!(list["data"][0]["user"], json!({ "id": robot, "name": "Importer" }));
    let list = app.get("/role-assignments").query("userId", &ada.user).by(&ada).send().await.ok();
    assert_eq!(list["data"][0]["user"], json!({ "id": ada.user, "email": ada.email }));
}

async fn a_key_is_shown_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["users:read"]).await;
    let branch = app.organization(&ada, "branch").await;
    let expires_at = shown(app.iam.now() + TimeDelta::days(7));
    let given = json!({ "permissions": ["users:*"], "organizationId": branch, "expiresAt": expires_at });
    let mut key = app.key(&ada, &robot, &given).await;
    let expected = json!({
        "id": key["id"], "userId": robot, "name": "nightly", "prefix": format!("iamk_{}", id(&key)), "key": key["key"],
        "permissions": ["users:*"], "organizationId": branch, "expiresAt": expires_at, "createdAt": app.now(),
        "createdBy": ada.user, "lastUsedAt": null,
    });
    assert_eq!(key, expected);
    let (prefix, secret) = text(&key).rsplit_once('_').unwrap();
    assert!(prefix == key["prefix"] && secret.len() == 72 && secret.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let secret = secret.to_owned();
    key.as_object_mut().unwrap().remove("key");
    let read = app.get(&format!("/api-keys/{}", id(&key))).by(&ada).send().await;
    assert_eq!(read.ok(), key);
    let list = app.get(&format!("/users/{robot}/api-keys")).by(&ada).send().await;
    assert_eq!(list.ok(), json!({ "data": [key] }));
    let log = app.audit(&ada, &[]).await;
    for shown in [read.text(), list.text(), json!(log).to_string()] {
        assert!(!shown.contains(&secret));
    }
}

async fn a_key_expires_after_90_days_and_at_most_365(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["users:read"]).await;
    let now = app.iam.now();
    let key = app.key(&ada, &robot, &json!({})).await;
    assert_eq!(key["expiresAt"], shown(now + TimeDelta::days(90)));
    let year = now + TimeDelta::days(365);
    assert_eq!(app.key(&ada, &robot, &json!({ "expiresAt": shown(year) })).await["expiresAt"], shown(year));
    for refused in [now, year + TimeDelta::milliseconds(1)] {
        let answer = app.try_key(&ada, &robot, &json!({ "expiresAt": shown(refused) })).await;
        assert_eq!(answer.invalid_fields(), ["expiresAt"]);
    }
    app.pass(TimeDelta::days(90) - TimeDelta::milliseconds(1));
    assert!(is_accepted(&app, text(&key)).await);
    app.pass(TimeDelta::milliseconds(1));
    assert!(!is_accepted(&app, text(&key)).await);
}

async fn creation_names_every_invalid_field(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let cases = [
        (json!({ "name": "", "permissions": ["users"] }), vec!["name", "permissions[0]"]),
        (json!({ "organizationId": "x", "expiresAt": "soon" }), vec!["organizationId", "expiresAt"]),
        (json!({ "permissions": "users:read" }), vec!["permissions"]),
        (json!({ "scopes": [] }), vec!["scopes"]),
    ];
    for (members, fields) in cases {
        assert_eq!(app.try_key(&ada, &ada.user, &members).await.invalid_fields(), fields, "{members}");
    }
    let unknown = json!({ "organizationId": ada.user });
    assert_eq!(app.try_key(&ada, &ada.user, &unknown).await.fields("not-found"), ["organizationId"]);
    app.try_key(&ada, &ada.tenant, &json!({})).await.problem("not-found");
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.set_status(&ada, &bob, "SUSPENDED").await;
    app.try_key(&ada, &bob, &json!({})).await.problem("conflict");
}

async fn a_user_has_20_keys(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &[]).await;
    let mut answers = Vec::new();
    for _ in 0..18 {
        answers.push(app.key(&ada, &robot, &json!({})).await);
    }
    let racing = join_all((0..4).map(|_| async {
        let body = json!({ "name": "racing", "permissions": [] });
        app.post(&format!("/users/{robot}/api-keys")).by(&ada).json(&body).send_in_race().await.status()
    }));
    let mut racing = racing.await;
    racing.sort_unstable();
    assert_eq!(racing, [201, 201, 409, 409]);
    app.delete(&format!("/api-keys/{}", id(&answers[0]))).by(&ada).send().await.no_content();
    app.key(&ada, &robot, &json!({})).await;
    app.try_key(&ada, &robot, &json!({})).await.problem("conflict");
    // Expired keys count until they are revoked.
    app.pass(TimeDelta::days(90));
    let ada = app.login(&ada).await;
    app.try_key(&ada, &robot, &json!({})).await.problem("conflict");
}

async fn a_refused_key_has_one_answer(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let key_of = async |user: &str, members: Value| app.key(&ada, user, &members).await;
    let robots = [app.robot(&ada, &[]).await, app.robot(&ada, &[]).await, app.robot(&ada, &[]).await];
    let [robot, suspended, deleted] = &robots;
    let good = key_of(robot, json!({})).await;
    let revoked = key_of(robot, json!({})).await;
    let expired = key_of(robot, json!({ "expiresAt": shown(app.iam.now() + TimeDelta::minutes(1)) })).await;
    let [of_suspended, of_deleted] = [key_of(suspended, json!({})).await, key_of(deleted, json!({})).await];
    assert!(is_accepted(&app, text(&revoked)).await && is_accepted(&app, text(&of_suspended)).await);
    app.delete(&format!("/api-keys/{}", id(&revoked))).by(&ada).send().await.no_content();
    app.set_status(&ada, suspended, "SUSPENDED").await;
    app.delete(&format!("/users/{deleted}")).by(&ada).send().await.no_content();
    app.pass(TimeDelta::minutes(1));
    let (head, tail) = text(&good).split_at(text(&good).len() - 20);
    let altered = format!("{head}{}", tail.chars().rev().collect::<String>());
    let other_secret = {
        let (of_id, _) = text(&good).rsplit_once('_').unwrap();
        let (_, secret) = text(&of_suspended).rsplit_once('_').unwrap();
        format!("{of_id}_{secret}")
    };
    let expected = app.get("/auth/me").bearer(text(&revoked)).send().await;
    let challenge = expected.header("www-authenticate").unwrap().to_owned();
    assert_eq!(challenge, r#"Bearer error="invalid_token""#);
    let expected = expected.detail("unauthorized");
    for refused in [
        text(&revoked),
        text(&expired),
        text(&of_suspended),
        text(&of_deleted),
        &altered,
        &other_secret,
        "iamk_",
        "iamk_x_y",
        good["prefix"].as_str().unwrap(),
    ] {
        let answer = app.get("/auth/me").bearer(refused).send().await;
        assert_eq!(answer.detail("unauthorized"), expected, "{refused}");
        assert_eq!(answer.header("www-authenticate"), Some(&*challenge), "{refused}");
    }
    assert!(is_accepted(&app, text(&good)).await);
}

async fn a_key_does_what_its_user_may_do_at_that_moment(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["users:read"]).await;
    // What the user does not hold yet is taken, and gives nothing.
    let key = app.key(&ada, &robot, &json!({ "permissions": ["users:read", "roles:read"] })).await;
    get(&app, "/users", &key).await.ok();
    get(&app, "/roles", &key).await.lacks("roles:read");
    let assignment = app.assign(&ada, &robot, "AUDITOR", None, None).await;
    get(&app, "/roles", &key).await.ok();
    get(&app, "/audit-logs", &key).await.lacks("audit-logs:read");
    app.delete(&format!("/role-assignments/{assignment}")).by(&ada).send().await.no_content();
    get(&app, "/roles", &key).await.lacks("roles:read");
    app.set_status(&ada, &robot, "SUSPENDED").await;
    get(&app, "/users", &key).await.problem("unauthorized");
    app.set_status(&ada, &robot, "ACTIVE").await;
    get(&app, "/users", &key).await.ok();
}

async fn a_key_has_no_more_than_its_permissions(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let key = app.key(&ada, &ada.user, &json!({ "permissions": ["users:read"] })).await;
    get(&app, "/users", &key).await.ok();
    app.post("/users").bearer(text(&key)).json(&profile("eve@example.com")).send().await.lacks("users:create");
    // What a user may do to itself without a permission, its key may not.
    get(&app, &format!("/users/{}/sessions", ada.user), &key).await.lacks("sessions:read");
    get(&app, &format!("/users/{}/api-keys", ada.user), &key).await.lacks("api-keys:read");
    let nothing = app.key(&ada, &ada.user, &json!({ "permissions": [] })).await;
    get(&app, "/users", &nothing).await.lacks("users:read");
    let everything = app.key(&ada, &ada.user, &json!({})).await;
    assert_eq!(everything["permissions"], Value::Null);
    app.post("/users").bearer(text(&everything)).json(&profile("bob@example.com")).send().await.created();
    // A key cannot give what it does not have itself.
    let giver = app.key(&ada, &ada.user, &json!({ "permissions": ["role-assignments:create", "users:read"] })).await;
    let role = app.role_id(&ada, "AUDITOR").await;
    let bob = app.add_user(&ada, "carol@example.com").await;
    let body = json!({ "userId": bob, "roleId": role });
    app.post("/role-assignments").bearer(text(&giver)).json(&body).send().await.escalates();
}

async fn a_key_counts_only_in_its_organization_and_below(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let company = app.organization(&ada, "company").await;
    let branch = app.below(&ada, company, "branch").await;
    let team = app.below(&ada, branch, "team").await;
    let key = app.key(&ada, &ada.user, &json!({ "organizationId": branch })).await;
    let sees = async |at: OrganizationId| get(&app, &format!("/organizations/{at}"), &key).await.status();
    assert_eq!((sees(branch).await, sees(team).await, sees(company).await), (200, 200, 404));
    let me = get(&app, "/auth/me", &key).await.ok();
    assert_eq!(me["permissions"]["tenant"], json!([]));
    get(&app, "/audit-logs", &key).await.problem("forbidden");
    app.patch(&format!("/organizations/{branch}")).by(&ada).json(&json!({ "parentId": null })).send().await.ok();
    assert_eq!((sees(branch).await, sees(company).await), (200, 404));
    app.delete(&format!("/organizations/{team}")).by(&ada).send().await.no_content();
    app.delete(&format!("/organizations/{branch}")).by(&ada).send().await.no_content();
    assert_eq!(get(&app, "/users", &key).await.ok()["data"], json!([]));
}

async fn a_question_by_a_key_is_about_the_key(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let narrow = app.key(&ada, &ada.user, &json!({ "permissions": ["users:read"] })).await;
    let reader = app.key(&ada, &ada.user, &json!({ "permissions": ["role-assignments:read"] })).await;
    let ask = async |key: &Value, user: Option<&str>| {
        let body = json!({ "permission": "roles:read", "userId": user });
        app.post("/authz/check").bearer(text(key)).json(&body).send().await
    };
    assert_eq!(ask(&narrow, None).await.ok()["allowed"], false);
    // Its user is another user for it.
    ask(&narrow, Some(&ada.user)).await.lacks("role-assignments:read");
    assert_eq!(ask(&reader, None).await.ok()["allowed"], false);
    assert_eq!(ask(&reader, Some(&ada.user)).await.ok()["allowed"], true);
}

async fn a_key_cannot_manage_sessions_credentials_or_keys(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let key = app.key(&ada, &ada.user, &json!({})).await;
    let of_ada = format!("/users/{}/api-keys", ada.user);
    let rotate = format!("/api-keys/{}/rotate", id(&key));
    let changed = json!({ "currentPassword": PASSWORD, "newPassword": "An0ther$ecret" });
    for (path, body) in [
        ("/auth/password", changed),
        ("/auth/email", json!({ "newEmail": "new@example.com", "currentPassword": PASSWORD })),
        ("/auth/step-up", json!({ "password": PASSWORD })),
        ("/auth/factors/totp", json!({ "name": "Phone" })),
        ("/auth/factors/passkeys/options", Value::Null),
        ("/auth/factors/recovery-codes", Value::Null),
        ("/auth/logout", Value::Null),
        ("/auth/logout-all", Value::Null),
        (&of_ada, json!({ "name": "another" })),
        (&rotate, json!({})),
    ] {
        let request = app.post(path).bearer(text(&key));
        let request = if body.is_null() { request } else { request.json(&body) };
        let answer = request.send_in_race().await;
        assert_eq!(answer.status(), 403, "{path}: {}", answer.text());
    }
    app.get("/auth/factors").bearer(text(&key)).send_in_race().await.problem("forbidden");
    assert!(app.knows(&ada).await);
    app.attempt(&ada.email, PASSWORD).send().await.ok();
    assert_eq!(app.get(&of_ada).by(&ada).send().await.ok()["data"].as_array().unwrap().len(), 1);
}

async fn the_caller_by_key_is_told_so(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["users:read", "roles:read"]).await;
    let key = app.key(&ada, &robot, &json!({ "permissions": ["users:*"] })).await;
    let me = get(&app, "/auth/me", &key).await.ok();
    assert_eq!(me["apiKey"], json!({ "id": key["id"], "name": "nightly", "expiresAt": key["expiresAt"] }));
    assert_eq!((&me["session"], &me["amr"], &me["authTime"]), (&Value::Null, &json!([]), &Value::Null));
    assert_eq!((&me["user"]["id"], &me["user"]["name"]), (&json!(robot), &json!("Importer")));
    assert_eq!((&me["tenant"]["id"], &me["permissions"]["tenant"]), (&json!(ada.tenant), &json!(["users:read"])));
    let me = app.get("/auth/me").by(&ada).send().await.ok();
    assert!(me.get("apiKey").is_none() && me["session"]["id"] == ada.session);
}

async fn a_key_of_another_user_names_permissions_that_its_maker_holds(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &[]).await;
    let path = format!("/users/{robot}/api-keys");
    let create = async |by: &Person, body: Value| app.post(&path).by(by).json(&body).send().await;
    for body in [json!({ "name": "key" }), json!({ "name": "key", "permissions": null })] {
        assert_eq!(create(&ada, body).await.invalid_fields(), ["permissions"]);
    }
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["api-keys:create", "users:read"]).await;
    app.unrecorded(&ada, create(&bob, json!({ "name": "key", "permissions": ["*"] }))).await.escalates();
    let beyond = json!({ "name": "key", "permissions": ["users:read", "users:update"] });
    app.unrecorded(&ada, create(&bob, beyond)).await.escalates();
    let key = create(&bob, json!({ "name": "key", "permissions": ["users:read"] })).await.created();
    // The account becomes an administrator. The key that Bob may know does not.
    app.assign(&ada, &robot, "TENANT_ADMIN", None, None).await;
    get(&app, "/users", &key).await.ok();
    get(&app, "/roles", &key).await.lacks("roles:read");
}

async fn keys_of_other_users_need_a_recent_authentication(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["users:read"]).await;
    let key = app.key(&ada, &robot, &json!({})).await;
    app.pass(TimeDelta::minutes(11));
    let rotate = format!("/api-keys/{}/rotate", id(&key));
    let refused = async || {
        app.try_key(&ada, &robot, &json!({})).await.problem("insufficient-authentication");
        app.post(&rotate).by(&ada).json(&json!({})).send().await.problem("insufficient-authentication");
    };
    app.unrecorded(&ada, refused()).await;
    app.post("/auth/step-up").by(&ada).json(&json!({ "password": PASSWORD })).send().await.no_content();
    app.key(&ada, &robot, &json!({})).await;
    app.post(&rotate).by(&ada).json(&json!({})).send().await.ok();
}

async fn a_person_is_told_of_its_new_key(app: TestApp) {
    let app = app.with_mail().await;
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let robot = app.robot(&ada, &[]).await;
    app.mails().await;
    app.key(&ada, &robot, &json!({})).await;
    app.key(&ada, &bob.user, &json!({})).await;
    app.key(&bob, &bob.user, &json!({})).await;
    let told = (MailKind::ApiKeyCreated, "bob@example.com");
    assert_eq!(kinds(&app.mails().await), [told, told]);
}

async fn a_reset_password_revokes_the_keys_whose_secret_the_user_has_known(app: TestApp) {
    let app = app.with_mail().await;
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["users:read"]).await;
    let [own, given] = [app.key(&bob, &bob.user, &json!({})).await, app.key(&ada, &bob.user, &json!({})).await];
    // A thief of the session has a secret, although an administrator rotates the key after it.
    let rotated = app.key(&ada, &bob.user, &json!({})).await;
    let rotate = format!("/api-keys/{}/rotate", id(&rotated));
    let known = app.post(&rotate).by(&bob).json(&json!({})).send().await.ok();
    app.post(&rotate).by(&ada).json(&json!({ "overlapSeconds": 86_400 })).send().await.ok();
    assert!(is_accepted(&app, text(&known)).await);
    app.mails().await;
    let forgot = json!({ "email": bob.email, "tenant": bob.tenant });
    app.post("/auth/password/forgot").json(&forgot).send().await.accepted();
    let body = json!({ "token": app.token(MailKind::Reset, &bob.email).await, "newPassword": "N3w&Password" });
    app.post("/auth/password/reset").json(&body).send().await.no_content();
    assert!(!is_accepted(&app, text(&own)).await && !is_accepted(&app, text(&known)).await);
    assert!(is_accepted(&app, text(&given)).await, "an administrator has made it");
    let entry = &app.history(&ada, id(&own)).await[0];
    assert_eq!((&entry["action"], &entry["resourceType"]), (&json!("DELETE"), &json!("API_KEY")));
}

async fn a_key_gets_narrower_but_never_wider(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["users:read"]).await;
    let key = app.key(&ada, &robot, &json!({ "permissions": ["users:*", "roles:read"] })).await;
    let patch = async |body: Value| app.patch(&format!("/api-keys/{}", id(&key))).by(&ada).json(&body).send().await;
    let narrower = json!({ "name": "hourly", "permissions": ["users:read"], "expiresAt": shown(app.iam.now() + TimeDelta::days(1)) });
    let changed = patch(narrower.clone()).await.ok();
    for (name, value) in narrower.as_object().unwrap() {
        assert_eq!(&changed[name], value);
    }
    assert!(changed.get("key").is_none());
    let later = shown(app.iam.now() + TimeDelta::days(2));
    for (body, field) in [
        (json!({ "permissions": ["users:*"] }), "permissions"),
        (json!({ "permissions": ["users:read", "roles:read"] }), "permissions"),
        (json!({ "expiresAt": later }), "expiresAt"),
        (json!({ "name": "" }), "name"),
        (json!({ "organizationId": null }), "organizationId"),
    ] {
        assert_eq!(patch(body.clone()).await.invalid_fields(), [field], "{body}");
    }
    assert_eq!(app.unrecorded(&ada, patch(narrower)).await.ok(), changed);
    get(&app, "/users", &key).await.ok();
    patch(json!({ "permissions": [] })).await.ok();
    get(&app, "/users", &key).await.lacks("users:read");
}

async fn a_change_of_a_key_honours_the_version(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let key = app.key(&ada, &ada.user, &json!({})).await;
    let path = format!("/api-keys/{}", id(&key));
    let read = app.get(&path).by(&ada).send().await;
    let tag = read.header("etag").unwrap().to_owned();
    assert_eq!(app.get(&path).by(&ada).header("if-none-match", &tag).send().await.status(), 304);
    let patch = async |name: &str| {
        app.patch(&path).by(&ada).header("if-match", &tag).json(&json!({ "name": name })).send().await
    };
    assert_ne!(patch("first").await.header("etag").unwrap(), tag);
    patch("second").await.problem("precondition-failed");
    assert_eq!(app.get(&path).by(&ada).send().await.ok()["name"], "first");
    let refused = app.delete(&path).by(&ada).header("if-match", &tag).send().await;
    assert_eq!(refused.invalid_fields(), ["If-Match"]);
}

async fn rotation_keeps_the_id_and_ends_the_former_secret_after_the_overlap(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["users:read"]).await;
    let first = app.key(&ada, &robot, &json!({})).await;
    let rotate =
        async |body: Value| app.post(&format!("/api-keys/{}/rotate", id(&first))).by(&ada).json(&body).send().await;
    let second = rotate(json!({ "overlapSeconds": 60 })).await.ok();
    assert_eq!((&second["id"], &second["prefix"], &second["name"]), (&first["id"], &first["prefix"], &first["name"]));
    assert_ne!(second["key"], first["key"]);
    assert!(is_accepted(&app, text(&first)).await && is_accepted(&app, text(&second)).await);
    app.pass(TimeDelta::seconds(60));
    assert!(!is_accepted(&app, text(&first)).await && is_accepted(&app, text(&second)).await);
    let third = rotate(json!({})).await.ok();
    assert!(!is_accepted(&app, text(&second)).await && is_accepted(&app, text(&third)).await);
    for overlap in [json!(86_401), json!(-1), json!("60"), json!(0.5)] {
        let refused = rotate(json!({ "overlapSeconds": overlap })).await;
        assert_eq!(refused.invalid_fields(), ["overlapSeconds"], "{overlap}");
    }
    rotate(json!({ "overlapSeconds": 86_400 })).await.ok();
    let entry = &app.history(&ada, id(&first)).await[0];
    assert_eq!((&entry["action"], &entry["resourceType"]), (&json!("UPDATE"), &json!("API_KEY")));
}

async fn everything_by_key_is_recorded_with_its_id(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["users:create", "audit-logs:create"]).await;
    let key = app.key(&ada, &robot, &json!({})).await;
    let made = app.post("/users").bearer(text(&key)).json(&profile("bob@example.com")).send().await.created();
    let event = json!({ "action": "SENT", "resourceType": "LETTER", "metadata": { "apiKeyId": "forged" } });
    let event = app.post("/audit-logs").bearer(text(&key)).json(&event).send().await;
    for entry in app.audit(&ada, &[("userId", &robot)]).await {
        assert_eq!(entry["metadata"]["apiKeyId"], key["id"], "{entry}");
    }
    assert_eq!(app.history(&ada, id(&made)).await[0]["userId"], robot);
    assert!(matches!(event.status(), 201 | 400), "{}", event.text());
}

async fn the_last_use_is_written_once_an_hour(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let key = app.key(&ada, &ada.user, &json!({})).await;
    let last_use = async || {
        get(&app, "/users", &key).await.ok();
        app.get(&format!("/api-keys/{}", id(&key))).by(&ada).send().await.ok()["lastUsedAt"].clone()
    };
    let first = app.now();
    assert_eq!(last_use().await, first);
    app.pass(TimeDelta::minutes(10));
    assert_eq!(last_use().await, first);
    app.pass(TimeDelta::minutes(50));
    let ada = app.login(&ada).await;
    get(&app, "/users", &key).await.ok();
    let read = app.get(&format!("/api-keys/{}", id(&key))).by(&ada).send().await.ok();
    assert_eq!(read["lastUsedAt"], app.now());
}

async fn the_keys_of_a_deleted_user_are_gone(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &[]).await;
    let key = app.key(&ada, &robot, &json!({})).await;
    app.delete(&format!("/users/{robot}")).by(&ada).send().await.no_content();
    app.get(&format!("/api-keys/{}", id(&key))).by(&ada).send().await.problem("not-found");
    app.set_status(&ada, &robot, "ACTIVE").await;
    assert!(!is_accepted(&app, text(&key)).await);
    let log = app.history(&ada, id(&key)).await;
    assert_eq!(each(&json!({ "data": log }), "action"), ["DELETE", "CREATE"]);
}

async fn a_repeated_creation_of_a_service_account_makes_one(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let create = async || {
        let body = json!({ "name": "Importer" });
        app.post("/service-accounts").by(&ada).header("idempotency-key", "once").json(&body).send().await
    };
    let first = create().await;
    let again = app.unrecorded(&ada, create()).await;
    assert_eq!(first.created(), again.created());
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
}

/// A client that sends the head of a request and then its body must not use a key that was revoked meanwhile.
async fn a_key_sends_a_body_with_its_present_rights(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["users:create"]).await;
    let key = app.key(&ada, &robot, &json!({})).await;
    let request = app.post("/users").bearer(text(&key)).json(&profile("eve@example.com"));
    let revoke = async || app.delete(&format!("/api-keys/{}", id(&key))).by(&ada).send().await.no_content();
    request.send_after(revoke()).await.problem("unauthorized");
}

async fn an_id_that_is_no_uuid_is_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for path in ["/api-keys/x", "/users/x/api-keys"] {
        assert_eq!(app.get(path).by(&ada).send().await.invalid_fields(), ["id"], "{path}");
    }
}

async fn service_accounts_count_towards_the_quota_of_users(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let full = app.with_settings(|settings| settings.quota.users = 1).await;
    let create = full.post("/service-accounts").by(&ada).json(&json!({ "name": "Importer" })).send();
    full.unrecorded(&ada, create).await.problem("conflict");
}
