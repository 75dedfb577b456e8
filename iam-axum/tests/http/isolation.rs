//! For a caller, the resources of another tenant do not exist (interface §5.5).

use axum::http::Method;
use serde_json::json;

use crate::app::TestApp;

on_every_store![
    ids_of_another_tenant_are_not_found_on_any_path,
    lists_show_only_the_callers_tenant,
    a_filter_by_an_id_of_another_tenant_finds_nothing,
    audit_entries_of_another_tenant_are_not_shown,
    a_forged_tenant_id_gives_no_access,
];

async fn ids_of_another_tenant_are_not_found_on_any_path(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let victim = app.colleague(&ada, "victim@example.com").await;
    let (user, session, tenant) = (&victim.user, &victim.session, &victim.tenant);
    let (role, organization) = (app.role(&ada, "CLERK", &[]).await, app.organization(&ada, "sales").await);
    let assignment = app.assign(&ada, user, "MEMBER", Some(organization), None).await;
    let permission = app.post("/permissions").by(&ada).json(&json!({ "name": "orders:refund" })).send().await.created();
    let permission = permission["id"].as_str().unwrap();
    app.sequence().await;
    let key = app.key(&ada, user, &json!({})).await["id"].as_str().unwrap().to_owned();
    let webhook = json!({ "url": "https://example.com", "types": ["USER.*"] });
    let webhook = app.post("/webhooks").by(&ada).json(&webhook).send().await.created();
    let webhook = webhook["id"].as_str().unwrap();
    let before = (app.user(&ada, user).await, app.audit(&ada, &[]).await);
    let entry = before.1[0]["id"].as_str().unwrap();
    let requests = [
        (Method::GET, format!("/users/{user}")),
        (Method::PATCH, format!("/users/{user}")),
        (Method::DELETE, format!("/users/{user}")),
        (Method::POST, format!("/users/{user}/suspend")),
        (Method::POST, format!("/users/{user}/reactivate")),
        (Method::GET, format!("/users/{user}/sessions")),
        (Method::GET, format!("/users/{user}/roles")),
        (Method::DELETE, format!("/sessions/{session}")),
        (Method::GET, format!("/users/{user}/api-keys")),
        (Method::POST, format!("/users/{user}/api-keys")),
        (Method::GET, format!("/api-keys/{key}")),
        (Method::PATCH, format!("/api-keys/{key}")),
        (Method::DELETE, format!("/api-keys/{key}")),
        (Method::POST, format!("/api-keys/{key}/rotate")),
        (Method::GET, format!("/webhooks/{webhook}")),
        (Method::PATCH, format!("/webhooks/{webhook}")),
        (Method::DELETE, format!("/webhooks/{webhook}")),
        (Method::POST, format!("/webhooks/{webhook}/rotate-secret")),
        (Method::POST, format!("/webhooks/{webhook}/test")),
        (Method::GET, format!("/webhooks/{webhook}/deliveries")),
        (Method::GET, format!("/tenants/{tenant}")),
        (Method::PATCH, format!("/tenants/{tenant}")),
        (Method::GET, format!("/roles/{role}")),
        (Method::PATCH, format!("/roles/{role}")),
        (Method::DELETE, format!("/roles/{role}")),
        (Method::DELETE, format!("/permissions/{permission}")),
        (Method::PATCH, format!("/role-assignments/{assignment}")),
        (Method::DELETE, format!("/role-assignments/{assignment}")),
        (Method::GET, format!("/organizations/{organization}")),
        (Method::PATCH, format!("/organizations/{organization}")),
        (Method::DELETE, format!("/organizations/{organization}")),
        (Method::GET, format!("/organizations/{organization}/tree")),
        (Method::GET, format!("/organizations/{organization}/children")),
        (Method::GET, format!("/organizations/{organization}/ancestors")),
        (Method::GET, format!("/audit-logs/{entry}")),
        (Method::GET, format!("/audit-logs/{entry}/proof")),
    ];
    for (method, path) in requests {
        let request = app.request(method.clone(), &format!("/api/v1{path}")).by(&eve);
        let body = if path.ends_with("/api-keys") { json!({ "name": "key" }) } else { json!({}) };
        let has_body = method == Method::PATCH || path.contains("api-keys") && method == Method::POST;
        let request = if has_body { request.json(&body) } else { request };
        request.send().await.problem("not-found");
    }
    assert!(app.knows(&victim).await);
    assert_eq!((app.user(&ada, &victim.user).await, app.audit(&ada, &[]).await), before);
}

async fn lists_show_only_the_callers_tenant(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    for (person, email) in [(&ada, "ada@example.com"), (&eve, "eve@example.com")] {
        let body = app.get("/users").by(person).send().await.ok();
        assert_eq!((&body["data"][0]["email"], &body["pagination"]["total"]), (&json!(email), &json!(1)));
    }
    app.role(&ada, "CLERK", &[]).await;
    app.organization(&ada, "sales").await;
    app.post("/permissions").by(&ada).json(&json!({ "name": "orders:refund" })).send().await.created();
    for (path, total) in [("/roles", 4), ("/permissions", 48), ("/role-assignments", 1), ("/organizations", 0)] {
        assert_eq!(app.get(path).by(&eve).send().await.ok()["pagination"]["total"], total, "{path}");
        assert_ne!(app.get(path).by(&ada).send().await.ok()["data"], app.get(path).by(&eve).send().await.ok()["data"]);
    }
}

async fn a_filter_by_an_id_of_another_tenant_finds_nothing(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let sales = app.organization(&ada, "sales").await;
    app.assign(&ada, &ada.user, "MEMBER", Some(sales), None).await;
    let listed = app.get("/users").by(&eve).query("organizationId", &sales.to_string()).send().await.ok();
    assert_eq!(listed["data"], json!([]));
    for (name, value) in [("userId", &ada.user), ("resourceId", &ada.user), ("resourceId", &ada.tenant)] {
        assert!(app.audit(&eve, &[(name, value)]).await.is_empty());
    }
}

async fn audit_entries_of_another_tenant_are_not_shown(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    for person in [&ada, &eve] {
        let entries = app.audit(person, &[]).await;
        assert_eq!(entries.len(), 4);
        assert!(entries.iter().all(|entry| entry["tenantId"] == person.tenant));
    }
}

async fn a_forged_tenant_id_gives_no_access(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    for header in ["x-tenant-id", "tenant-id", "x-forwarded-host"] {
        let request = app.get(&format!("/users/{}", ada.user)).by(&eve).header(header, &ada.tenant);
        request.send().await.problem("not-found");
    }
    let body = json!({ "firstName": "Mine", "tenantId": ada.tenant });
    let refused = app.patch(&format!("/users/{}", eve.user)).by(&eve).json(&body).send().await;
    assert_eq!(refused.invalid_fields(), ["tenantId"]);
}
