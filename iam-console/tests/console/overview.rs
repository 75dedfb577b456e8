#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode};
use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::api_key::NewApiKey;
use iam_core::assignment::NewAssignment;
use iam_core::factor::SecondFactorPolicy;
use iam_core::organization::NewOrganization;
use iam_core::role::NewRole;
use iam_core::tenant::TenantPatch;
use iam_core::user::NewServiceAccount;

use crate::app::{App, EMAIL, person, request};

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
    assert!(
        body.contains("<strong class=\"large\">1</strong> <a href=\"/console/users?status=SUSPENDED\">Suspended</a>"),
        "{body}"
    );
    assert!(body.contains("hx-get=\"/console/charts\"") && !body.contains("class=\"chart\""), "{body}");
    let page = app.get("/console/charts", &cookie).await.body;
    // The registration is a sign-in, too.
    for part in [
        "<text x=\"-8\" y=\"6\" text-anchor=\"end\">1</text>",
        "<title>2026-01-31 · Sign-ins: 1, Failed attempts: 1</title>",
        "<th scope=\"row\">2026-01-31</th><td>1</td><td>1</td>",
        "<th scope=\"row\">2026-02-01</th><td>1</td><td>0</td>",
        // One person has signed in twice in this week.
        "<th scope=\"row\">2026-01-26</th><td>1</td></tr>",
        "<strong class=\"large\">0 %</strong> · Active people with a second factor: 0 of 1",
        "<nav",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let sent = request(Method::GET, "/console/charts", &cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await.body;
    assert!(part.starts_with("<section") && part.contains("2026-01-31 ·") && !part.contains("<nav"), "{part}");
}

#[tokio::test]
async fn a_person_sees_the_charts_of_what_it_may_read_in_the_whole_tenant() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    for (email, permission, sees_log) in
        [("audit@example.com", "audit-logs:read", true), ("users@example.com", "users:read", false)]
    {
        app.person_with(&ada, email, &[permission]).await;
        let cookie = app.sign_in(email).await;
        assert!(app.get("/console", &cookie).await.body.contains("/console/charts"), "{permission}");
        let page = app.get("/console/charts", &cookie).await.body;
        assert_eq!((page.contains("id=\"sign-ins\""), page.contains("id=\"people\"")), (sees_log, sees_log), "{page}");
        assert_eq!(page.contains("id=\"share\""), !sees_log, "{page}");
    }
    let north = NewOrganization { name: "North".into(), ..NewOrganization::default() };
    let north = app.iam.organizations().create(&ada, north).await.unwrap().organization.id;
    let permissions = vec!["audit-logs:read".to_owned(), "users:read".to_owned()];
    let role = NewRole { name: "NORTH".into(), permissions, ..NewRole::default() };
    let role = app.iam.roles().create(&ada, role).await.unwrap().id;
    let user = app.iam.users().create(&ada, person("north@example.com", "Nora")).await.unwrap().id;
    let new = NewAssignment { user, role, organization: Some(north), expires_at: None };
    app.iam.assignments().create(&ada, new).await.unwrap();
    let cookie = app.sign_in("north@example.com").await;
    assert!(!app.get("/console", &cookie).await.body.contains("/console/charts"));
    assert_eq!(app.get("/console/charts", &cookie).await.status, StatusCode::FORBIDDEN);
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
    assert!(body.contains("Nothing needs your attention") && !body.contains("id=\"log\""), "{body}");
    assert!(
        body.contains("You have no roles") && !body.contains("/charts") && !body.contains("status=ACTIVE"),
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
    assert!(body.contains("Nothing needs your attention") && !body.contains("id=\"hand-"), "{body}");
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
    let robot = NewServiceAccount { name: "Robot".into() };
    let robot = app.iam.users().create_service_account(&ada, robot).await.unwrap().id;
    let (permissions, expires_at) = (Some(vec!["users:read".to_owned()]), Some(app.iam.now() + TimeDelta::days(30)));
    let new = NewApiKey { name: "Nightly".into(), permissions, expires_at, ..NewApiKey::default() };
    app.iam.api_keys().create(&ada, robot, new).await.unwrap();
    let body = app.get("/console", &cookie).await.body;
    assert!(body.contains("1 role assignment ends within 7 days, 2 within 30 days"), "{body}");
    assert!(body.contains(">in 7 days</time>") && body.contains(">in 8 days</time>"), "{body}");
    for (days, found) in [(7, "1 assignment<"), (30, "2 assignments<")] {
        let list = app.get(&format!("/console/assignments?ends={days}"), &cookie).await.body;
        assert!(list.contains(found), "{days}: {list}");
    }
    assert!(body.contains(r#"href="/console/assignments?ends=30""#), "{body}");
    assert_eq!(app.get("/console/assignments?ends=31", &cookie).await.status, StatusCode::BAD_REQUEST);
    assert!(body.find("MEMBER · the whole tenant").unwrap() < body.find("AUDITOR · the whole tenant").unwrap());
    assert!(body.contains("2 API keys end within 30 days") && !body.contains("Later"), "{body}");
    let own = format!("<a href=\"/console/account\">Soon &#38; sure</a> · {EMAIL}</span>");
    let of_robot = format!("<a href=\"/console/users/{robot}\">Nightly</a> · Robot</span>");
    assert!(body.find(&own).unwrap() < body.find(&of_robot).unwrap(), "{body}");

    // Without the permission, a person sees its own keys.
    app.iam.users().create(&ada, person("mary@example.com", "Mary")).await.unwrap();
    let mary = app.caller("mary@example.com").await;
    let new = NewApiKey { name: "Mine".into(), expires_at, ..NewApiKey::default() };
    app.iam.api_keys().create(&mary, mary.user().unwrap(), new).await.unwrap();
    let cookie = app.sign_in("mary@example.com").await;
    let body = app.get("/console", &cookie).await.body;
    assert!(body.contains("1 of your API keys ends within 30 days") && body.contains("Mine"), "{body}");
    assert!(!body.contains("Nightly") && !body.contains("Soon &#38; sure"), "{body}");
}

#[tokio::test]
async fn the_overview_counts_people_without_a_factor_where_one_is_required() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    assert!(!app.get("/console", &cookie).await.body.contains("hand-factors"));
    let (second_factor, second_factor_grace_days) = (Some(SecondFactorPolicy::Required), Some(10));
    let patch = TenantPatch { second_factor, second_factor_grace_days, ..TenantPatch::default() };
    app.iam.tenants().update(&Caller::system(ada.tenant(), "test"), ada.tenant(), patch).await.unwrap();
    let body = app.get("/console", &cookie).await.body;
    let list = "/console/users?status=ACTIVE&#38;hasFactor=false";
    let link = format!(r#"<a href="{list}">2 of 2 active people have no second factor</a>"#);
    assert!(body.contains(&link), "{body}");
    let found = app.get(&list.replace("&#38;", "&"), &cookie).await.body;
    assert!(found.contains("2 users"), "{found}");
    assert!(app.get("/console/users?hasFactor=true", &cookie).await.body.contains("No user matches"));
    let grace = app.sign_in("grace@example.com").await;
    assert!(!app.get("/console", &grace).await.body.contains("hand-factors"));
    // Who may only read users sees how many they are, and not who.
    app.person_with(&ada, "reader@example.com", &["users:read"]).await;
    let reader = app.sign_in("reader@example.com").await;
    let body = app.get("/console", &reader).await.body;
    assert!(body.contains("3 of 3 active people have no second factor") && !body.contains("hasFactor"), "{body}");
    assert!(!app.get("/console/users", &reader).await.body.contains("hasFactor"));
    assert_eq!(app.get("/console/users?hasFactor=false", &reader).await.status, StatusCode::FORBIDDEN);
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
    assert!(body.contains("cannot be checked yet: 5</a>") && body.contains("takes too long"), "{body}");
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
