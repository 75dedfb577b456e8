//! Logouts at the provider (`docs/federation.md#logout`).

use serde_json::{Value, json};

use super::{Fixture, send_logout};
use crate::app::TestApp;
use crate::people::with;

in_memory_with_mail![
    a_logout_at_the_provider_ends_the_sessions_that_it_names,
    a_logout_token_works_once_and_must_be_one,
    a_logout_of_an_account_ends_its_sessions_without_a_name,
];

/// Sends a logout token that is accepted.
async fn log_out(fixture: &Fixture, members: &Value) {
    let answer = send_logout(fixture, &fixture.app.logout(members)).await;
    assert_eq!((answer.status(), answer.text().as_str()), (200, ""));
}

async fn a_logout_at_the_provider_ends_the_sessions_that_it_names(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let mut sessions = Vec::new();
    for claims in [
        json!({ "sid": "one" }),
        json!({ "sid": "two" }),
        json!({}),
        json!({ "sub": "other", "email": "o@example.com" }),
    ] {
        let token = fixture.log_in(&claims).await.ok()["accessToken"].as_str().unwrap().to_owned();
        sessions.push(token);
    }
    let live = async || {
        let mut live = Vec::new();
        for token in &sessions {
            live.push(fixture.app.get("/auth/me").bearer(token).send().await.status() == 200);
        }
        live
    };
    let subject = "248289761001";
    log_out(&fixture, &json!({ "sid": "one", "sub": subject })).await;
    assert_eq!(live().await, [false, true, true, true]);
    let entry = &fixture.app.audit(&fixture.ada, &[("action", "LOGOUT")]).await[0];
    assert_eq!(entry["metadata"]["reason"], "PROVIDER_LOGOUT");
    log_out(&fixture, &json!({ "sub": subject })).await;
    assert_eq!(live().await, [false, false, false, true]);
    for nothing in [json!({ "sub": "nobody" }), json!({ "sid": "one" }), json!({ "sid": "x".repeat(300) })] {
        log_out(&fixture, &nothing).await;
    }
    assert_eq!(live().await, [false, false, false, true]);
}

async fn a_logout_token_works_once_and_must_be_one(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let token = fixture.log_in(&json!({ "sid": "one" })).await.ok()["accessToken"].as_str().unwrap().to_owned();
    let now = fixture.app.iam.now().timestamp();
    for members in [
        json!({ "aud": "other" }),
        json!({ "iss": "https://evil.example" }),
        json!({ "iat": now - 600 }),
        json!({ "exp": now }),
        json!({ "jti": null }),
        json!({ "events": {} }),
        json!({ "nonce": "x" }),
        json!({ "sid": null }),
    ] {
        let members = with(json!({ "sid": "one" }), &members);
        let refused = send_logout(&fixture, &fixture.app.logout(&members)).await;
        assert_eq!(refused.invalid_fields(), ["logout_token"], "{members}");
    }
    for garbage in ["", "x", "a.b.c"] {
        assert_eq!(send_logout(&fixture, garbage).await.invalid_fields(), ["logout_token"]);
    }
    fixture.app.get("/auth/me").bearer(&token).send().await.ok();
    let once = fixture.app.logout(&json!({ "sid": "one" }));
    assert_eq!(send_logout(&fixture, &once).await.status(), 200);
    assert_eq!(send_logout(&fixture, &once).await.invalid_fields(), ["logout_token"]);
    let unknown = format!("/auth/federation/backchannel-logout/{}", fixture.ada.tenant);
    fixture.app.post(&unknown).form(&json!({ "logout_token": once })).send().await.problem("not-found");
}

async fn a_logout_of_an_account_ends_its_sessions_without_a_name(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let mut tokens = Vec::new();
    for claims in [json!({}), json!({ "sid": "one" })] {
        tokens.push(fixture.log_in(&claims).await.ok()["accessToken"].as_str().unwrap().to_owned());
    }
    let status = async |token: &str| fixture.app.get("/auth/me").bearer(token).send().await.status();
    // The session belongs to another person, as the token says.
    log_out(&fixture, &json!({ "sub": "another", "sid": "one" })).await;
    assert_eq!((status(&tokens[0]).await, status(&tokens[1]).await), (200, 200));
    log_out(&fixture, &json!({ "sub": "248289761001", "sid": "two" })).await;
    assert_eq!((status(&tokens[0]).await, status(&tokens[1]).await), (401, 200));
}
