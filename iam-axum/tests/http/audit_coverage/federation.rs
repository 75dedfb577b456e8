//! Logins by a provider.

use serde_json::json;
use test_support::identity_provider::ISSUER;

use super::{Fixture, entry};
use crate::access_table::fresh_email;
use crate::app::REDIRECT;
use crate::federation::VERIFIER;

pub(super) async fn discover(fixture: &Fixture<'_>) {
    let discover = |email: &str| fixture.app.post("/auth/federation/discover").json(&json!({ "email": email }));
    fixture.records(discover(&fixture.ada.email), 200, []).await;
    fixture.refuses(discover("x"), "validation-error").await;
}

pub(super) async fn start(fixture: &Fixture<'_>) {
    let Fixture { app, ada, .. } = fixture;
    let provider = app.social_provider(&ada.tenant).await;
    let challenge = iam_core::federation::code_challenge(VERIFIER);
    let body = json!({ "providerId": provider, "redirectUri": REDIRECT, "codeChallenge": challenge });
    fixture.records(app.post("/auth/federation/start").json(&body), 200, []).await;
    fixture.refuses(app.post("/auth/federation/start").json(&json!({})), "validation-error").await;
    fixture.records(app.post("/auth/identities/start").by(ada).json(&body), 200, []).await;
    fixture.refuses(app.post("/auth/identities/start").by(ada).json(&json!({})), "validation-error").await;
}

pub(super) async fn finish(fixture: &Fixture<'_>) {
    let Fixture { app, ada, .. } = fixture;
    let provider = app.social_provider(&ada.tenant).await;
    let (email, subject) = (fresh_email(), "248289761001");
    let code = app.federated_code(&provider, &json!({ "email": email, "sub": subject })).await;
    let finish = |code: &str, verifier: &str| {
        app.post("/auth/federation/finish").json(&json!({ "code": code, "codeVerifier": verifier }))
    };
    fixture.refuses(finish("x", VERIFIER), "validation-error").await;
    let (answer, correlation_id) = fixture.answer(finish(&code, VERIFIER), 200).await;
    let user = answer.json()["user"]["id"].as_str().unwrap().to_owned();
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    let of = |resource_type: &str| {
        let found = entries.iter().find(|entry| entry["resourceType"] == resource_type).unwrap();
        found["resourceId"].as_str().unwrap().to_owned()
    };
    let profile = json!({
        "email": email,
        "firstName": "Grace",
        "lastName": "Hopper",
        "homeOrganizationId": null,
        "status": "ACTIVE",
        "password": "[REDACTED]",
    });
    let identity = json!({ "providerId": provider, "issuer": ISSUER, "subject": subject, "email": email });
    let expected = [
        entry("CREATE", "USER", user.clone(), user.clone()).creating(profile),
        entry("CREATE", "IDENTITY", of("IDENTITY"), user.clone())
            .creating(identity)
            .metadata(json!({ "targetUserId": user })),
        entry("LOGIN", "SESSION", of("SESSION"), user.clone())
            .metadata(json!({ "method": "federation", "providerId": provider })),
    ];
    fixture.compare(&entries, &correlation_id, &ada.tenant, &expected);
}

pub(super) async fn unlink(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let provider = app.social_provider(&ada.tenant).await;
    let path = format!("/identities/{}", app.linked(&provider, ada).await);
    fixture.refuses(app.delete(&path).by(bob), "forbidden").await;
    let identity = json!({
        "providerId": provider, "issuer": ISSUER, "subject": ada.user, "email": "grace@example.com",
    });
    let id = path.rsplit('/').next().unwrap().to_owned();
    let removed = entry("DELETE", "IDENTITY", id, ada.user.clone())
        .deleting(identity)
        .metadata(json!({ "targetUserId": ada.user }));
    fixture.records(app.delete(&path).by(ada), 204, [removed]).await;
}

pub(super) async fn log_out(fixture: &Fixture<'_>) {
    let Fixture { app, ada, .. } = fixture;
    let provider = app.social_provider(&ada.tenant).await;
    let path = format!("/auth/federation/backchannel-logout/{provider}");
    let log_out = |token: String| app.post(&path).form(&json!({ "logout_token": token }));
    // Sessions that end are recorded; see
    // `federation::logout::a_logout_at_the_provider_ends_the_sessions_that_it_names`.
    fixture.records(log_out(app.logout_token()), 200, []).await;
    fixture.refuses(log_out("x".to_owned()), "validation-error").await;
}
