//! Insiders: administrators of one tenant with many permissions, who must not do more than these permit.

use std::num::NonZeroU32;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_axum::rate_limit::{MemoryRateLimiter, RateLimits};
use iam_core::tenant::Quota;
use iam_core::{Caller, Iam};
use serde_json::{Value, json};

use super::Company;
use crate::access_table::{fresh, fresh_email};
use crate::app::{TestApp, shown};
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, profile, with};
use crate::request::each;

in_memory![
    a_weaker_caller_cannot_change_the_email_of_a_stronger_user,
    a_weaker_caller_cannot_change_the_external_id_of_a_stronger_user,
    a_changed_address_is_unverified,
    a_filter_reveals_nothing_outside_the_visible_scope,
    an_administrator_ends_all_sessions_of_a_user,
    an_export_stops_when_the_permission_or_the_session_ends,
    erasing_a_puppet_account_erases_nothing_of_other_users,
    a_user_cannot_imitate_trusted_code_in_the_audit_log,
    a_suspended_tenant_has_no_sessions_and_no_logins,
    quotas_are_enforced,
    a_user_holds_as_many_roles_as_its_quota_allows,
    events_of_a_tenant_have_a_limit_in_bytes,
];

async fn a_weaker_caller_cannot_change_the_email_of_a_stronger_user(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["users:update", "users:read", "roles:read"]).await;
    let redirect =
        |victim: &str| app.patch(&format!("/users/{victim}")).by(&mallory).json(&json!({ "email": fresh_email() }));
    let stronger = company.employee(&["users:delete"]).await;
    let elsewhere = company.member(company.north, &["organizations:read"]).await;
    for victim in [&company.ada, &stronger, &elsewhere] {
        let before = app.user(&company.ada, &victim.user).await;
        redirect(&victim.user).send().await.escalates();
        assert_eq!(app.user(&company.ada, &victim.user).await, before);
        // Other fields and the unchanged address are allowed: they do not affect who controls the account.
        let harmless = json!({ "firstName": "Renamed", "email": victim.email });
        app.patch(&format!("/users/{}", victim.user)).by(&mallory).json(&harmless).send().await.ok();
    }
    // A grant in a suspended organization counts, too: the organization may be reactivated.
    let suspended = app.below(&company.ada, company.north, "suspended").await;
    let member = company.member(suspended, &["users:delete"]).await;
    company.suspend(suspended).await;
    redirect(&member.user).send().await.escalates();
    // The check also applies if the request changes the status, too, and if the user is suspended.
    let both = json!({ "email": fresh_email(), "status": "SUSPENDED" });
    app.patch(&format!("/users/{}", stronger.user)).by(&mallory).json(&both).send().await.escalates();
    app.set_status(&company.ada, &stronger.user, "SUSPENDED").await;
    redirect(&stronger.user).send().await.escalates();
    let weaker = company.employee(&["users:read"]).await;
    redirect(&weaker.user).send().await.ok();
    redirect(&company.user_without_roles().await.user).send().await.ok();
    // A change of the caller's own address needs only the permission, not the escalation check.
    redirect(&mallory.user).send().await.ok();
}

async fn a_weaker_caller_cannot_change_the_external_id_of_a_stronger_user(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["users:update", "users:read", "roles:read"]).await;
    let set = |by: &Person, victim: &str, id: Value| {
        app.patch(&format!("/users/{victim}")).by(by).json(&json!({ "externalId": id }))
    };
    let new = || json!(fresh("external-"));
    let stronger = company.employee(&["users:delete"]).await;
    let elsewhere = company.member(company.north, &["organizations:read"]).await;
    for victim in [&company.ada, &stronger, &elsewhere] {
        set(&mallory, &victim.user, new()).send().await.escalates();
        set(&company.ada, &victim.user, new()).send().await.ok();
        let before = app.user(&company.ada, &victim.user).await;
        for id in [new(), Value::Null] {
            set(&mallory, &victim.user, id).send().await.escalates();
        }
        assert_eq!(app.user(&company.ada, &victim.user).await, before);
        // The identifier that it has is no change.
        set(&mallory, &victim.user, before["externalId"].clone()).send().await.ok();
    }
    app.set_status(&company.ada, &stronger.user, "SUSPENDED").await;
    set(&mallory, &stronger.user, new()).send().await.escalates();
    let weaker = company.employee(&["users:read"]).await;
    set(&mallory, &weaker.user, new()).send().await.ok();
    set(&mallory, &mallory.user, new()).send().await.ok();
}

async fn a_changed_address_is_unverified(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.users().verify_email(&system, "Grace@Example.com").await.unwrap();
    let verified_at = app.user(&ada, &grace).await["emailVerifiedAt"].clone();
    assert_eq!(verified_at, app.now());
    let entry = &app.audit(&ada, &[("action", "EMAIL_VERIFIED"), ("resourceType", "USER")]).await[0];
    assert_eq!((&entry["resourceId"], &entry["oldValue"]), (&json!(grace), &json!({ "emailVerifiedAt": null })));
    assert_eq!((&entry["newValue"]["emailVerifiedAt"], &entry["metadata"]["system"]), (&verified_at, &json!("test")));
    let again = app.unrecorded(&ada, app.iam.users().verify_email(&system, "grace@example.com")).await;
    again.unwrap();
    let patch = async |body: Value| app.patch(&format!("/users/{grace}")).by(&ada).json(&body).send().await.ok();
    patch(json!({ "email": "grace@example.com", "lastName": "Hopper" })).await;
    assert_eq!(app.user(&ada, &grace).await["emailVerifiedAt"], verified_at);
    patch(json!({ "email": "other@example.com" })).await;
    assert_eq!(app.user(&ada, &grace).await["emailVerifiedAt"], Value::Null);
    let entry = &app.audit(&ada, &[("action", "UPDATE"), ("resourceId", &grace)]).await[0];
    assert_eq!(entry["metadata"]["changedFields"], json!(["email", "emailVerifiedAt"]));
    assert_eq!(entry["newValue"], json!({ "email": "other@example.com", "emailVerifiedAt": null }));
}

async fn a_filter_reveals_nothing_outside_the_visible_scope(app: TestApp) {
    let company = Company::on(&app).await;
    let below = app.below(&company.ada, company.north, "below").await;
    let mallory = company.member(company.north, &["users:read", "organizations:read", "role-assignments:read"]).await;
    let both = company.member(company.north, &[]).await;
    for organization in [company.south, company.root, below] {
        app.assign(&company.ada, &both.user, "MEMBER", Some(organization), None).await;
    }
    let found = async |organization: String| {
        let list = app.get("/users").query("organizationId", &organization).by(&mallory).send().await.ok();
        assert_eq!(list["pagination"]["total"], list["data"].as_array().unwrap().len());
        each(&list, "id").contains(&both.user)
    };
    assert!(found(company.north.to_string()).await && found(below.to_string()).await);
    for organization in [company.south, company.root] {
        assert!(!found(organization.to_string()).await, "{organization}");
    }
    assert!(!found(company.ada.tenant.clone()).await, "no organization has this id");
    // The other filters and the embedded names show only assignments in the visible scope.
    for (name, value) in [("userId", both.user.clone()), ("organizationId", company.south.to_string())] {
        let list = app.get("/role-assignments").query(name, &value).by(&mallory).send().await.ok();
        assert!(!list.to_string().contains("south") && !list.to_string().contains("company"), "{list}");
    }
    let roles = app.get(&format!("/users/{}/roles", both.user)).by(&mallory).send().await.ok();
    assert!(!roles.to_string().contains("south") && !roles.to_string().contains("company"), "{roles}");
}

async fn an_administrator_ends_all_sessions_of_a_user(app: TestApp) {
    let company = Company::on(&app).await;
    let victim = company.member(company.north, &[]).await;
    app.set_home(&company.ada, &victim.user, Some(company.north)).await;
    let other = app.login(&victim).await;
    let logout = |user: &str| format!("/users/{user}/logout-all");
    let south = company.member(company.south, &["sessions:delete"]).await;
    company.attacked_by(app.post(&logout(&victim.user)).by(&south)).await.problem("not-found");
    let reader = company.employee(&["sessions:read", "users:*"]).await;
    company.attacked_by(app.post(&logout(&victim.user)).by(&reader)).await.lacks("sessions:delete");
    assert!(app.knows(&victim).await && app.knows(&other).await);
    let north = company.member(company.north, &["sessions:delete"]).await;
    app.post(&logout(&victim.user)).by(&north).send().await.no_content();
    assert!(!app.knows(&victim).await && !app.knows(&other).await && app.knows(&north).await);
    let refresh = app.post("/auth/refresh").json(&json!({ "refreshToken": other.refresh })).send().await;
    refresh.problem("unauthorized");
    app.post(&logout(&reader.user)).by(&reader).send().await.no_content();
    assert!(!app.knows(&reader).await);
}

async fn an_export_stops_when_the_permission_or_the_session_ends(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let eve = app.colleague(&ada, "eve@example.com").await;
    let role = app.permit(&eve, &["audit-logs:read"]).await;
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    for _ in 0..250 {
        log(&app.iam, &system).await;
    }
    let path = format!("/role-assignments/{role}");
    for (meanwhile, is_lost) in [
        (app.get("/users").by(&ada), false),
        (app.delete(&path).by(&ada), true),
        (app.post("/auth/logout").by(&eve), true),
    ] {
        if is_lost && !app.get("/audit-logs").by(&eve).send().await.text().contains("data") {
            app.permit(&eve, &["audit-logs:read"]).await;
        }
        let mut stream = app.get("/audit-logs/export").by(&eve).stream().await;
        let first = futures_util::StreamExt::next(&mut stream).await.unwrap().unwrap();
        assert!(!first.is_empty());
        meanwhile.send().await;
        let mut broke_off = false;
        while let Some(bytes) = futures_util::StreamExt::next(&mut stream).await {
            broke_off |= bytes.is_err();
        }
        assert_eq!(broke_off, is_lost);
    }
}

async fn log(iam: &Iam, caller: &Caller) {
    let (action, resource_type) = ("SENT".to_owned(), "INVOICE".to_owned());
    let event = iam_core::audit::NewEvent { action, resource_type, ..Default::default() };
    iam.audit().log(caller, event).await.unwrap();
}

/// The caller may create, delete and erase users. It creates a puppet account whose name consists of words in another
/// user's address, and which has that address for a while.
async fn erasing_a_puppet_account_erases_nothing_of_other_users(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    app.attempt_at(&ada.tenant, "grace@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    app.pass(TimeDelta::minutes(1));
    let readdress = async |user: &str, email: &str| {
        app.patch(&format!("/users/{user}")).by(&ada).json(&json!({ "email": email })).send().await.ok();
    };
    let puppet = json!({ "firstName": "Example", "lastName": "Com" });
    let puppet = with(profile("puppet@example.org"), &puppet);
    let puppet = app.post("/users").by(&ada).json(&puppet).send().await.created();
    let puppet = puppet["id"].as_str().unwrap();
    readdress(&grace, "elsewhere@example.com").await;
    readdress(puppet, "grace@example.com").await;
    app.pass(TimeDelta::minutes(1));
    readdress(puppet, "puppet@example.org").await;
    readdress(&grace, "grace@example.com").await;
    app.pass(TimeDelta::minutes(1));
    app.attempt_at(&ada.tenant, "grace@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    app.delete(&format!("/users/{puppet}")).by(&ada).send().await.no_content();

    let failures = async || app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await;
    let before = failures().await;
    assert_eq!(before.len(), 2);
    app.post("/audit-logs/erasures").by(&ada).json(&json!({ "userId": puppet })).send().await.ok();
    assert_eq!(failures().await, before);
}

/// Only entries of trusted code have `metadata.system`.
async fn a_user_cannot_imitate_trusted_code_in_the_audit_log(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let event = |metadata: Value| json!({ "action": "SENT", "resourceType": "INVOICE", "metadata": metadata });
    let before = app.audit(&ada, &[]).await;
    let imitation = event(json!({ "system": "nightly import" }));
    let refused = app.post("/audit-logs").by(&ada).json(&imitation).send().await;
    assert_eq!((refused.invalid_fields(), app.audit(&ada, &[]).await), (vec!["metadata.system".to_owned()], before));
    app.post("/audit-logs").by(&ada).json(&event(json!({ "of": { "system": "x" } }))).send().await.created();
}

async fn a_suspended_tenant_has_no_sessions_and_no_logins(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let eve = app.register("eve@example.com").await;
    let other = app.login(&ada).await;
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.tenants().suspend(&system).await.unwrap();
    assert!(!app.knows(&ada).await && !app.knows(&other).await && app.knows(&eve).await);
    for person in [&ada, &other] {
        let refresh = app.post("/auth/refresh").json(&json!({ "refreshToken": person.refresh })).send().await;
        refresh.problem("unauthorized");
    }
    for attempt in [app.attempt("ada@example.com", PASSWORD), app.attempt_at(&ada.tenant, "ada@example.com", PASSWORD)]
    {
        let problem = attempt.send().await.problem("forbidden");
        assert!(problem["detail"].as_str().unwrap().contains("tenant is suspended"), "{problem}");
    }
    for attempt in [app.attempt("ada@example.com", "wrong"), app.attempt_at(&ada.tenant, "ada@example.com", "wrong")] {
        attempt.send().await.problem("unauthorized");
    }
    // A session that began at the instant of the suspension is refused, too, and stays ended.
    app.iam.tenants().reactivate(&system).await.unwrap();
    assert!(!app.knows(&ada).await);
    let ada = app.login(&ada).await;
    let actions = |entries: Vec<Value>| -> Vec<(String, Value)> {
        let told = |entry: &Value| (entry["action"].as_str().unwrap().to_owned(), entry["newValue"]["status"].clone());
        entries.iter().map(told).collect()
    };
    let history = actions(app.history(&ada, &ada.tenant).await);
    let update = |status: &str| ("UPDATE".to_owned(), json!(status));
    assert_eq!(history[..2], [update("ACTIVE"), update("SUSPENDED")]);
    let failures = app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await;
    let reasons: Vec<&Value> = failures.iter().map(|entry| &entry["metadata"]["reason"]).collect();
    assert_eq!(reasons, ["INVALID_PASSWORD", "INVALID_PASSWORD", "TENANT_SUSPENDED", "TENANT_SUSPENDED"]);
    let ended = app.audit(&ada, &[("action", "LOGOUT")]).await;
    assert!(
        ended.iter().all(|entry| entry["metadata"]["reason"] == "TENANT_SUSPENDED") && ended.len() == 2,
        "{ended:?}"
    );
    let shown = app.get(&format!("/tenants/{}", ada.tenant)).by(&ada).send().await.ok();
    assert_eq!(shown["status"], "ACTIVE");
    let user = app.iam.authenticate(&ada.access, Default::default()).await.unwrap();
    assert!(app.iam.tenants().suspend(&user).await.is_err(), "a user cannot suspend a tenant");
}

async fn quotas_are_enforced(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let permissions = app.get("/permissions").by(&ada).send().await.ok()["pagination"]["total"].as_u64().unwrap() + 1;
    let quota = Quota { users: 2, organizations: 1, roles: 5, assignments: 3, permissions, ..Quota::default() };
    let app = app.with_settings(|settings| settings.quota = quota).await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    app.organization(&ada, "only").await;
    let role = app.role(&ada, "FIFTH", &[]).await;
    let assign = |user: &str| json!({ "userId": user, "roleId": role });
    app.post("/role-assignments").by(&ada).json(&assign(&grace)).send().await.created();
    let refused = async |path: &str, body: Value, quota: &str| {
        let before = app.audit(&ada, &[]).await;
        let detail = app.post(path).by(&ada).json(&body).send().await.detail("conflict");
        assert!(detail.contains(quota), "{detail}");
        assert_eq!(app.audit(&ada, &[]).await, before);
    };
    refused("/users", profile("third@example.com"), "quota of 2 users").await;
    refused("/organizations", json!({ "name": "Another" }), "quota of 1 organizations").await;
    refused("/roles", json!({ "name": "SIXTH" }), "quota of 5 roles").await;
    app.post("/permissions").by(&ada).json(&json!({ "name": "orders:read" })).send().await.created();
    refused("/permissions", json!({ "name": "orders:list" }), &format!("quota of {permissions} permissions")).await;
    let bulk =
        json!({ "assignments": [assign(&ada.user), { "userId": grace, "roleId": app.role_id(&ada, "MEMBER").await }] });
    refused("/role-assignments/bulk", bulk, "quota of 3 role assignments").await;
    app.post("/role-assignments").by(&ada).json(&assign(&ada.user)).send().await.created();
    // A soft-deleted user is still stored and counts.
    app.delete(&format!("/users/{grace}")).by(&ada).send().await.no_content();
    refused("/users", profile("third@example.com"), "quota of 2 users").await;
}

/// Without the quota, every question about the rights of one user would take long.
async fn a_user_holds_as_many_roles_as_its_quota_allows(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    let app = app.with_settings(|settings| settings.quota.user_assignments = 2).await;
    let (first, second) = (app.role(&ada, "FIRST", &[]).await, app.role(&ada, "SECOND", &[]).await);
    let third = app.role(&ada, "THIRD", &[]).await;
    let soon = shown(app.iam.now() + TimeDelta::minutes(1));
    let assign = |role: &str| json!({ "userId": grace, "roleId": role });
    let brief = json!({ "userId": grace, "roleId": first, "expiresAt": soon });
    let brief = app.post("/role-assignments").by(&ada).json(&brief).send().await.created();
    app.post("/role-assignments").by(&ada).json(&assign(&second)).send().await.created();
    let quota = "the tenant has reached its quota of 2 role assignments of one user.";
    let refused = app.post("/role-assignments").by(&ada).json(&assign(&third)).send().await.detail("conflict");
    assert_eq!(refused, quota);
    let bulk = json!({ "assignments": [{ "userId": ada.user, "roleId": third }, assign(&third)] });
    let refused = app.post("/role-assignments/bulk").by(&ada).json(&bulk).send().await.detail("conflict");
    assert!(refused.contains(quota), "{refused}");
    let preview =
        app.post("/role-assignments").query("preview", "true").by(&ada).json(&assign(&third)).send().await.ok();
    let detail = preview["problem"]["detail"].as_str().unwrap().to_lowercase();
    assert_eq!((&preview["allowed"], detail.as_str()), (&json!(false), quota));
    app.clock.advance(TimeDelta::minutes(2));
    app.post("/role-assignments").by(&ada).json(&assign(&third)).send().await.created();
    let path = format!("/role-assignments/{}", brief["id"].as_str().unwrap());
    let renewed = app.patch(&path).by(&ada).json(&json!({ "expiresAt": null })).send().await.detail("conflict");
    assert_eq!(renewed, quota);
}

/// Without the limit, one tenant could fill the disk with the events of its applications.
async fn events_of_a_tenant_have_a_limit_in_bytes(app: TestApp) {
    let company = Company::on(&app).await;
    let (one, other) = (company.employee(&["audit-logs:create"]).await, company.employee(&["audit-logs:create"]).await);
    let (unprivileged, stranger) = (company.user_without_roles().await, app.register("mallory@example.net").await);
    let limits = RateLimits { events: NonZeroU32::new(16).unwrap(), ..RateLimits::default() };
    let limiter = MemoryRateLimiter::with_clock(limits, app.clock.clone());
    let limited = app.with_http_settings(|settings| settings.rate_limiter = Some(Arc::new(limiter)));
    let record = async |person, kib: usize| {
        let text = "x".repeat(kib * 1024 - 20);
        let event = json!({ "action": "SENT", "resourceType": "LETTER", "metadata": { "text": text } });
        limited.post("/audit-logs").by(person).json(&event).send().await
    };
    // A caller who may not record events uses up nothing.
    for _ in 0..3 {
        record(&unprivileged, 12).await.problem("forbidden");
    }
    record(&one, 12).await.created();
    let refused = record(&other, 6).await;
    refused.problem("rate-limited");
    assert_eq!(refused.header("retry-after"), Some("8"));
    record(&other, 4).await.created();
    record(&stranger, 12).await.created();
    app.pass(TimeDelta::seconds(8));
    record(&other, 3).await.problem("rate-limited");
    record(&other, 2).await.created();
}
