#![cfg(test)]

use chrono::TimeDelta;
use iam_core::api_key::NewApiKey;
use iam_core::assignment::NewAssignment;
use iam_core::organization::NewOrganization;

use crate::app::{App, EMAIL, person};

#[tokio::test]
async fn the_overview_counts_users_and_sign_ins() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    app.iam.users().suspend(&ada, grace.id).await.unwrap();
    app.post("/console/sign-in", "", &[("email", EMAIL), ("password", "Wr0ng-pass!")]).await;
    app.clock.advance(TimeDelta::days(1));
    let cookie = app.sign_in(EMAIL).await;
    let body = app.get("/console", &cookie).await.body;
    assert!(body.contains("<text x=\"-8\" y=\"6\" text-anchor=\"end\">1</text>"), "{body}");
    assert!(body.contains("/console/users?status=SUSPENDED\">Suspended</a>: <strong>1</strong>"), "{body}");
    // The registration is a sign-in, too.
    assert!(body.contains("<th scope=\"row\">2026-01-31</th><td>1</td><td>1</td>"), "{body}");
    assert!(body.contains("<th scope=\"row\">2026-02-01</th><td>1</td><td>0</td>"), "{body}");
}

#[tokio::test]
async fn a_new_tenant_sees_the_first_steps_until_it_has_an_organization_or_a_second_user() {
    let with_steps = async |app: &App, cookie: &str| app.get("/console", cookie).await.body.contains("First steps");
    for is_organization in [true, false] {
        let app = App::empty().await;
        let ada = app.register(EMAIL).await;
        let cookie = app.sign_in(EMAIL).await;
        assert!(with_steps(&app, &cookie).await);
        if is_organization {
            let north = NewOrganization { name: "North".into(), ..NewOrganization::default() };
            app.iam.organizations().create(&ada, north).await.unwrap();
        } else {
            app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
        }
        assert!(!with_steps(&app, &cookie).await, "{is_organization}");
    }
}

#[tokio::test]
async fn who_may_see_nothing_has_an_overview_of_itself() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let cookie = app.sign_in("grace@example.com").await;
    let body = app.get("/console", &cookie).await.body;
    assert!(body.contains("None of your API keys ends") && !body.contains("id=\"log\""), "{body}");
    assert!(!body.contains("Role assignments that end") && !body.contains("Invitations that wait"), "{body}");
    assert!(
        body.contains("You have no roles") && !body.contains(r#"class="chart""#) && !body.contains("status=ACTIVE"),
        "{body}"
    );
}

#[tokio::test]
async fn the_overview_shows_what_ends_soon() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    let body = app.get("/console", &cookie).await.body;
    assert!(body.contains("No role assignment ends within 30 days") && !body.contains("Your API keys"), "{body}");
    assert!(body.contains("No invitation waits"), "{body}");
    for (role, days) in [("MEMBER", 7), ("AUDITOR", 8), ("USER_ADMIN", 31)] {
        let Some(role) = app.iam.roles().by_name(&ada, role).await.unwrap() else { continue };
        let expires_at = Some(app.iam.now() + TimeDelta::days(days));
        let new = NewAssignment { user: grace.id, role: role.id, organization: None, expires_at };
        app.iam.assignments().create(&ada, new).await.unwrap();
    }
    for (name, days) in [("Soon & sure", 3), ("Later", 60)] {
        let expires_at = Some(app.iam.now() + TimeDelta::days(days));
        let new = NewApiKey { name: name.into(), expires_at, ..NewApiKey::default() };
        app.iam.api_keys().create(&ada, ada.user().unwrap(), new).await.unwrap();
    }
    let body = app.get("/console", &cookie).await.body;
    assert!(body.contains("within 7 days: 1; within 30 days: 2."), "{body}");
    assert!(body.find("MEMBER · the whole tenant").unwrap() < body.find("AUDITOR · the whole tenant").unwrap());
    assert!(body.contains("Soon &#38; sure") && !body.contains("Later"), "{body}");
}

#[tokio::test]
async fn the_overview_shows_how_far_the_log_is_behind() {
    let app = App::empty().await;
    app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    let body = app.get("/console", &cookie).await.body;
    assert!(body.contains("<strong class=\"large\">5</strong> entries were recorded."), "{body}");
    assert!(body.contains("They can be checked within a minute") && !body.contains("too long"), "{body}");
    app.clock.advance(TimeDelta::minutes(2));
    let body = app.get("/console", &cookie).await.body;
    assert!(body.contains("cannot be checked yet: 5,") && body.contains("takes too long"), "{body}");
    app.iam.sequence_audit_logs().await.unwrap();
    let body = app.get("/console", &cookie).await.body;
    assert!(
        body.contains("All of them can be checked") && body.contains("<strong class=\"large\">5</strong>"),
        "{body}"
    );
    app.sign_in(EMAIL).await;
    let body = app.get("/console", &cookie).await.body;
    assert!(body.contains("<strong class=\"large\">6</strong>"), "{body}");
    assert!(body.contains("The newest one can be checked within a minute, the others now."), "{body}");
}
