//! `POST /auth/introspect` (RFC 7662, `docs/http-api.md#introspection`).

use serde_json::{Value, json};

use crate::api_key::text;
use crate::app::{TestApp, shown};
use crate::people::{Person, claims};
use crate::request::Response;

in_memory![
    a_live_access_token_is_described,
    a_live_key_is_described,
    a_secret_in_its_overlap_ends_with_the_overlap,
    everything_else_is_inactive,
    a_form_is_accepted,
    invalid_bodies_are_refused,
    it_needs_the_permission_in_the_whole_tenant,
];

async fn introspect(app: &TestApp, by: &Person, token: &str) -> Response {
    app.post("/auth/introspect").by(by).json(&json!({ "token": token })).send().await
}

async fn a_live_access_token_is_described(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let mut expected = claims(&bob.access);
    let members = expected.as_object_mut().unwrap();
    members.remove("nbf");
    members.extend([("active".to_owned(), json!(true)), ("token_type".to_owned(), json!("Bearer"))]);
    let answer = app.unrecorded(&ada, introspect(&app, &ada, &bob.access)).await;
    assert_eq!(answer.ok(), expected);
    assert_eq!((&expected["sub"], &expected["sid"]), (&json!(bob.user), &json!(bob.session)));
}

async fn a_live_key_is_described(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &[]).await;
    let key = app.key(&ada, &robot, &json!({})).await;
    let now = app.iam.now();
    let expected = json!({
        "active": true, "token_type": "Bearer", "sub": robot, "tenantId": ada.tenant, "iss": "iam",
        "apiKeyId": key["id"], "iat": now.timestamp(), "exp": (now + chrono::TimeDelta::days(90)).timestamp(),
    });
    assert_eq!(introspect(&app, &ada, text(&key)).await.ok(), expected);
}

async fn a_secret_in_its_overlap_ends_with_the_overlap(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &[]).await;
    let now = app.iam.now();
    let end = now + chrono::TimeDelta::hours(1);
    for (key_end, overlap, expected) in [(None, 60, now + chrono::TimeDelta::minutes(1)), (Some(end), 86_400, end)] {
        let members = key_end.map_or(json!({}), |end| json!({ "expiresAt": shown(end) }));
        let first = app.key(&ada, &robot, &members).await;
        let rotate = format!("/api-keys/{}/rotate", first["id"].as_str().unwrap());
        let second = app.post(&rotate).by(&ada).json(&json!({ "overlapSeconds": overlap })).send().await.ok();
        assert_eq!(introspect(&app, &ada, text(&first)).await.ok()["exp"], json!(expected.timestamp()));
        let end_of_key = key_end.unwrap_or(now + chrono::TimeDelta::days(90));
        assert_eq!(introspect(&app, &ada, text(&second)).await.ok()["exp"], json!(end_of_key.timestamp()));
    }
}

async fn everything_else_is_inactive(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let bob = app.colleague(&ada, "bob@example.com").await;
    let ended = app.login(&bob).await;
    app.post("/auth/logout").by(&ended).send().await.no_content();
    let [suspended, robot] = [app.colleague(&ada, "carol@example.com").await, ada.clone()];
    app.set_status(&ada, &suspended.user, "SUSPENDED").await;
    let key = app.key(&ada, &robot.user, &json!({})).await;
    app.delete(&format!("/api-keys/{}", key["id"].as_str().unwrap())).by(&ada).send().await.no_content();
    let foreign_key = app.key(&eve, &eve.user, &json!({})).await;
    let altered = format!("{}x", bob.access);
    for token in [
        &ended.access,
        &suspended.access,
        text(&key),
        &eve.access,
        text(&foreign_key),
        &bob.refresh,
        &altered,
        "iamk_x",
        "x",
        "\u{0}",
    ] {
        assert_eq!(introspect(&app, &ada, token).await.ok(), json!({ "active": false }), "{token}");
    }
    assert_eq!(introspect(&app, &ada, &bob.access).await.ok()["active"], true);
    app.pass(chrono::TimeDelta::minutes(15));
    let ada = app.login(&ada).await;
    assert_eq!(introspect(&app, &ada, &bob.access).await.ok(), json!({ "active": false }));
}

async fn a_form_is_accepted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let form = async |content_type: &str, body: String| {
        let request = app.post("/auth/introspect").by(&ada).header("content-type", content_type);
        request.body(body).send().await
    };
    const FORM: &str = "application/x-www-form-urlencoded";
    let token = format!("token={}&token_type_hint=access_token", ada.access);
    for content_type in [FORM, "application/x-www-form-urlencoded; charset=utf-8"] {
        assert_eq!(form(content_type, token.clone()).await.ok()["active"], true);
    }
    assert_eq!(form(FORM, "token=%00".into()).await.ok(), json!({ "active": false }));
    assert_eq!(form(FORM, String::new()).await.invalid_fields(), ["token"]);
    assert_eq!(form(FORM, "token=a&tokens=b".into()).await.invalid_fields(), ["tokens"]);
    assert_eq!(form(FORM, "token=a&token=b".into()).await.invalid_fields(), ["token"]);
    form("text/plain", token.clone()).await.problem("unsupported-media-type");
    let anonymous = app.post("/auth/introspect").header("content-type", FORM).body(token);
    anonymous.send().await.problem("unauthorized");
}

async fn invalid_bodies_are_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (body, field) in [
        (json!({}), "token"),
        (json!({ "token": "" }), "token"),
        (json!({ "token": 7 }), "token"),
        (json!({ "token": "x", "client_id": "y" }), "client_id"),
    ] {
        let answer = app.post("/auth/introspect").by(&ada).json(&body).send().await;
        assert_eq!(answer.invalid_fields(), [field], "{body}");
    }
    let hinted = json!({ "token": ada.access, "token_type_hint": Value::Null });
    app.post("/auth/introspect").by(&ada).json(&hinted).send().await.ok();
}

async fn it_needs_the_permission_in_the_whole_tenant(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let branch = app.organization(&ada, "branch").await;
    let local = app.colleague_in(&ada, branch, "local@example.com", &["sessions:read"]).await;
    introspect(&app, &local, &local.access).await.lacks("sessions:read");
    let gateway = app.robot(&ada, &["sessions:read"]).await;
    let key = app.key(&ada, &gateway, &json!({ "permissions": ["sessions:read"] })).await;
    let answer = app.post("/auth/introspect").bearer(text(&key)).json(&json!({ "token": ada.access })).send().await;
    assert_eq!(answer.ok()["sub"], ada.user);
}
