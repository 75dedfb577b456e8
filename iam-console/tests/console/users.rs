#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode};
use chrono::TimeDelta;
use iam_core::access_request::NewAccessRequest;
use iam_core::assignment::NewAssignment;
use iam_core::audit::NewEvent;
use iam_core::eligibility::NewEligibility;
use iam_core::organization::NewOrganization;
use iam_core::role::NewRole;
use iam_core::user::{User, UserPatch, UserStatus};
use iam_core::version::Precondition;
use iam_core::{Caller, RequestContext};

use crate::app::{App, EMAIL, PASSWORD, person, request};

/// A console with an administrator that is signed in, and another user.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    grace: User,
}

async fn signed() -> Signed {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, grace }
}

impl Signed {
    fn path(&self, action: &str) -> String {
        format!("/console/users/{}{action}", self.grace.id)
    }

    async fn status(&self) -> UserStatus {
        self.app.iam.users().get(&self.ada, self.grace.id).await.unwrap().status
    }
}

#[tokio::test]
async fn a_search_shows_who_matches_and_an_empty_list_says_what_to_do() {
    let Signed { app, cookie, .. } = signed().await;
    let all = app.get("/console/users", &cookie).await;
    assert_eq!(all.status, StatusCode::OK);
    assert!(all.body.contains("Grace Lovelace") && all.body.contains("Ada Lovelace"), "{}", all.body);
    assert!(all.body.contains("2 users"), "{}", all.body);
    let found = app.get("/console/users?search=GRAC&status=ACTIVE", &cookie).await;
    assert!(found.body.contains("Grace Lovelace") && !found.body.contains(">Ada Lovelace</a>"), "{}", found.body);
    assert!(found.body.contains(r#"value="GRAC""#));
    let none = app.get("/console/users?status=SUSPENDED", &cookie).await;
    assert!(none.body.contains("No user matches") && none.body.contains("/console/users/new"), "{}", none.body);
}

#[tokio::test]
async fn while_a_person_types_only_the_list_is_sent() {
    let Signed { app, cookie, .. } = signed().await;
    let sent = request(Method::GET, "/console/users?search=grace", &cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await;
    assert!(part.body.contains("Grace") && !part.body.contains("<html"), "{}", part.body);
    // The live region stays in the page, and gets another text.
    assert!(part.body.contains(r#"<p id="found" hx-swap-oob="innerHTML">1 user</p>"#), "{}", part.body);
    assert!(!part.body.contains("role=\"status\""), "{}", part.body);
    // A part of a page that needs a session leads the whole page to sign-in.
    let sent = request(Method::GET, "/console/users", "").header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await;
    assert_eq!(part.status, StatusCode::NO_CONTENT);
    assert_eq!(part.headers["hx-redirect"], "/console/sign-in?ended=1");
}

#[tokio::test]
async fn a_long_list_has_pages() {
    let Signed { app, ada, cookie, .. } = signed().await;
    for number in 0..30 {
        app.iam.users().create(&ada, person(&format!("user{number}@example.com"), "Many")).await.unwrap();
    }
    let first = app.get("/console/users?search=many", &cookie).await;
    assert!(first.body.contains("Page 1 of 2") && first.body.contains("search=many&#38;page=2"), "{}", first.body);
    let second = app.get("/console/users?search=many&page=2", &cookie).await;
    assert!(second.body.contains("Page 2 of 2") && !second.body.contains("page=3"), "{}", second.body);
    assert_eq!(app.get("/console/users?page=0", &cookie).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_user_is_created_and_a_mistake_loses_nothing_that_was_typed() {
    let Signed { app, ada, cookie, .. } = signed().await;
    let path = "/console/users/new";
    let bad = [("firstName", "Alan"), ("lastName", "Turing"), ("email", "alan"), ("password", "short")];
    let answer = app.post_signed(path, &cookie, &bad).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(r#"value="Turing""#) && answer.body.contains("email-error"), "{}", answer.body);
    assert!(!answer.body.contains(r#"value="short""#));
    let taken = [("firstName", "Alan"), ("lastName", "Turing"), ("email", EMAIL), ("password", PASSWORD)];
    let answer = app.post_signed(path, &cookie, &taken).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.body.contains(r#"value="Turing""#) && answer.body.contains("already exists"), "{}", answer.body);
    let good = [("firstName", "Alan"), ("lastName", "Turing"), ("email", "alan@example.com"), ("password", PASSWORD)];
    let answer = app.post_signed(path, &cookie, &good).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let shown = app.get(answer.location(), &cookie).await;
    assert!(shown.body.contains("Alan Turing") && shown.body.contains("The user is created"), "{}", shown.body);
    assert_eq!(
        app.iam.users().list(&ada, &Default::default(), Default::default(), Default::default()).await.unwrap().total,
        3
    );
}

#[tokio::test]
async fn a_profile_is_changed_unless_another_change_came_first() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace } = &signed;
    let version = app.get(&signed.path(""), cookie).await.hidden("version");
    let typed =
        [("firstName", "Grace"), ("lastName", "Hopper"), ("email", "grace@example.com"), ("version", &*version)];
    let answer = app.post_signed(&signed.path(""), cookie, &typed).await;
    assert_eq!(answer.location(), format!("/console/users/{}?done=saved", grace.id));
    assert_eq!(app.iam.users().get(ada, grace.id).await.unwrap().last_name.as_str(), "Hopper");
    let late =
        [("firstName", "Amazing"), ("lastName", "Hopper"), ("email", "grace@example.com"), ("version", &*version)];
    let answer = app.post_signed(&signed.path(""), cookie, &late).await;
    assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
    assert!(answer.body.contains(r#"value="Amazing""#), "{}", answer.body);
    let again = format!(r#"<a href="{}">Open it again</a>"#, signed.path(""));
    assert!(answer.body.contains(&again), "{}", answer.body);
    // A second attempt does not replace what its page does not show.
    assert_eq!(answer.hidden("version"), version);
    let without = &late[..3];
    assert_eq!(app.post_signed(&signed.path(""), cookie, without).await.status, StatusCode::PRECONDITION_FAILED);
    let empty = [("firstName", " "), ("lastName", "Hopper"), ("email", "grace@example.com")];
    let answer = app.post_signed(&signed.path(""), cookie, &empty).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("firstName-error"), "{}", answer.body);
}

/// The home is a field for people who may change it, and a line of the page for all others.
#[tokio::test]
async fn a_home_is_given_and_taken_where_the_permission_is_for_the_whole_tenant() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace } = &signed;
    let new = |name: &str| NewOrganization { name: name.to_owned(), ..NewOrganization::default() };
    let north = app.iam.organizations().create(ada, new("North")).await.unwrap().organization.id;
    let home = async || app.iam.users().get(ada, grace.id).await.unwrap().home_organization_id;
    let save = async |home: &str| {
        let page = app.get(&signed.path(""), cookie).await;
        assert!(page.body.contains(r#"name="homeOrganizationId""#), "{}", page.body);
        let names = [("firstName", "Grace"), ("lastName", "Lovelace"), ("email", "grace@example.com")];
        let (version, mut typed) = (page.hidden("version"), names.to_vec());
        typed.extend([("version", &*version), ("homeOrganizationId", home)]);
        app.post_signed(&signed.path(""), cookie, &typed).await
    };
    let answer = save("nowhere").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("homeOrganizationId-error") && answer.body.contains(r#"value="nowhere""#));
    assert!(app.get(&signed.path(""), cookie).await.body.contains("Home organization: the whole tenant"));
    assert_eq!(save("North").await.status, StatusCode::SEE_OTHER);
    assert_eq!(home().await, Some(north));
    assert!(app.get(&signed.path(""), cookie).await.body.contains("Home organization: North"));
    // What the page shows is no change.
    assert_eq!(save("north").await.status, StatusCode::SEE_OTHER);
    assert_eq!(home().await, Some(north));
    assert_eq!(save("").await.status, StatusCode::SEE_OTHER);
    assert_eq!(home().await, None);

    let typed = [("firstName", "Alan"), ("lastName", "Turing"), ("email", "alan@example.com"), ("password", PASSWORD)];
    let mut typed = typed.to_vec();
    typed.push(("homeOrganizationId", "north"));
    let answer = app.post_signed("/console/users/new", cookie, &typed).await;
    let alan = answer.location().split(['/', '?']).find_map(|part| part.parse().ok()).unwrap();
    assert_eq!(app.iam.users().get(ada, alan).await.unwrap().home_organization_id, Some(north));

    // An administrator of the organization sees the home, and cannot change it.
    let role = NewRole { name: "KEEPER".to_owned(), permissions: vec!["users:*".to_owned()], ..NewRole::default() };
    let role = app.iam.roles().create(ada, role).await.unwrap().id;
    let item = NewAssignment { user: grace.id, role, organization: Some(north), expires_at: None };
    app.iam.assignments().create(ada, item).await.unwrap();
    let keeper = app.sign_in("grace@example.com").await;
    let path = format!("/console/users/{alan}");
    let page = app.get(&path, &keeper).await;
    assert!(
        page.body.contains("Home organization: ") && !page.body.contains(r#"name="homeOrganizationId""#),
        "{}",
        page.body
    );
    let version = page.hidden("version");
    let names = [("firstName", "Al"), ("lastName", "Turing"), ("email", "alan@example.com"), ("version", &*version)];
    let mut stolen = names.to_vec();
    stolen.push(("homeOrganizationId", ""));
    assert_eq!(app.post_signed(&path, &keeper, &stolen).await.status, StatusCode::FORBIDDEN);
    assert_eq!(app.post_signed(&path, &keeper, &names).await.status, StatusCode::SEE_OTHER);
    // A user of the whole tenant who holds a role there is seen, and not changed.
    let eve = app.iam.users().create(ada, person("eve@example.com", "Eve")).await.unwrap().id;
    let member = app.iam.roles().by_name(ada, "MEMBER").await.unwrap().unwrap().id;
    let item = NewAssignment { user: eve, role: member, organization: Some(north), expires_at: None };
    app.iam.assignments().create(ada, item).await.unwrap();
    let page = app.get(&format!("/console/users/{eve}"), &keeper).await;
    assert!(
        page.status == StatusCode::OK && page.body.contains("You may change only users whose home"),
        "{}",
        page.body
    );
    for form in [r#"id="factors""#, "/suspend", "/delete", r#"name="version""#] {
        assert!(!page.body.contains(form), "{form}: {}", page.body);
    }
}

#[tokio::test]
async fn an_external_id_is_shown_changed_and_removed() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace } = &signed;
    let stored = async || app.iam.users().get(ada, grace.id).await.unwrap().external_id.map(|id| id.to_string());
    let save = async |id: &str| {
        let version = app.get(&signed.path(""), cookie).await.hidden("version");
        let names = [("firstName", "Grace"), ("lastName", "Lovelace"), ("email", "grace@example.com")];
        let typed = [names.as_slice(), &[("version", &*version), ("externalId", id)]].concat();
        app.post_signed(&signed.path(""), cookie, &typed).await
    };
    assert_eq!(save(" 00u1 ").await.status, StatusCode::SEE_OTHER);
    assert_eq!(stored().await.as_deref(), Some("00u1"));
    let page = app.get(&signed.path(""), cookie).await.body;
    assert!(page.contains(r#"name="externalId""#) && page.contains(r#"value="00u1""#), "{page}");
    let taken = save(EMAIL).await;
    assert_eq!(taken.status, StatusCode::CONFLICT);
    assert!(taken.body.contains("e-mail of another user"), "{}", taken.body);
    app.clock.advance(TimeDelta::minutes(11));
    // What the page shows is no change, and needs no recent proof.
    assert_eq!(save("00u1").await.status, StatusCode::SEE_OTHER);
    assert_eq!(save("").await.status, StatusCode::FORBIDDEN);
    let cookie = app.sign_in(EMAIL).await;
    let version = app.get(&signed.path(""), &cookie).await.hidden("version");
    let typed = [("version", &*version), ("firstName", "Grace"), ("lastName", "Lovelace"), ("externalId", "")];
    let typed = [typed.as_slice(), &[("email", "grace@example.com")]].concat();
    assert_eq!(app.post_signed(&signed.path(""), &cookie, &typed).await.status, StatusCode::SEE_OTHER);
    assert_eq!(stored().await, None);
}

#[tokio::test]
async fn a_new_email_asks_for_a_recent_proof_and_is_then_saved() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace } = &signed;
    app.clock.advance(TimeDelta::minutes(11));
    let version = app.get(&signed.path(""), cookie).await.hidden("version");
    let typed =
        [("firstName", "Grace"), ("lastName", "Lovelace"), ("email", "hopper@example.com"), ("version", &*version)];
    let answer = app.post_signed(&signed.path(""), cookie, &typed).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert_eq!(answer.hidden("email"), "hopper@example.com");
    let proven = [typed.as_slice(), &[("proof-password", PASSWORD)]].concat();
    let answer = app.post_signed(&signed.path(""), cookie, &proven).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert_eq!(app.iam.users().get(ada, grace.id).await.unwrap().email.as_str(), "hopper@example.com");
}

#[tokio::test]
async fn a_user_is_suspended_reactivated_deleted_and_restored() {
    let signed = signed().await;
    let steps = [
        ("/suspend", UserStatus::Suspended),
        ("/reactivate", UserStatus::Active),
        ("/delete", UserStatus::Inactive),
        ("/restore", UserStatus::Active),
    ];
    for (action, status) in steps {
        let (path, before) = (signed.path(action), signed.status().await);
        let asked = signed.app.post_signed(&path, &signed.cookie, &[]).await;
        assert_eq!((asked.status, signed.status().await), (StatusCode::OK, before), "{action}: {}", asked.body);
        assert!(asked.body.contains("grace@example.com</h1>"), "{action}: {}", asked.body);
        assert!(asked.body.contains(&format!(r#"<a class="button plain" href="{}">Cancel</a>"#, signed.path(""))));
        let answer = signed.app.post_signed(&path, &signed.cookie, &[("confirmed", "yes")]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{action}: {}", answer.body);
        assert_eq!(signed.status().await, status, "{action}");
        let shown = signed.app.get(answer.location(), &signed.cookie).await;
        assert!(shown.body.contains(r#"<p class="notice" role="status">"#), "{}", shown.body);
    }
}

#[tokio::test]
async fn a_deleted_user_is_offered_only_what_works() {
    let signed = signed().await;
    let offered = ["name=\"version\"", "/api-keys/new", "/suspend\"", "/assignments/new", "/delete\""];
    let before = signed.app.get(&signed.path(""), &signed.cookie).await.body;
    assert!(offered.iter().all(|part| before.contains(part)), "{before}");
    signed.app.iam.users().delete(&signed.ada, signed.grace.id).await.unwrap();
    let after = signed.app.get(&signed.path(""), &signed.cookie).await.body;
    for part in offered {
        assert!(!after.contains(part), "{part}: {after}");
    }
    assert!(after.contains("/restore\""), "{after}");
}

#[tokio::test]
async fn the_last_administrator_stays_and_the_page_says_why() {
    let Signed { app, ada, cookie, .. } = signed().await;
    let path = format!("/console/users/{}/delete", ada.user().unwrap());
    let answer = app.post_signed(&path, &cookie, &[]).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.body.contains(r#"<p class="error" role="alert">"#), "{}", answer.body);
}

#[tokio::test]
async fn sessions_are_shown_and_ended() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    let other = app.sign_in("grace@example.com").await;
    let shown = app.get(&signed.path(""), cookie).await;
    assert!(shown.body.contains("192.0.2.7"), "{}", shown.body);
    let session = shown.hidden("session");
    let answer = app.post_signed(&signed.path("/end-session"), cookie, &[("session", &session)]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert!(app.get("/console", &other).await.is_to_sign_in());
    let other = app.sign_in("grace@example.com").await;
    let asked = app.post_signed(&signed.path("/sign-out"), cookie, &[]).await;
    assert!(asked.body.contains("End all sessions of grace@example.com"), "{}", asked.body);
    assert!(!app.get("/console", &other).await.is_to_sign_in());
    app.post_signed(&signed.path("/sign-out"), cookie, &[("confirmed", "yes")]).await;
    assert!(app.get("/console", &other).await.is_to_sign_in());
    assert!(app.get(&signed.path(""), cookie).await.body.contains("not signed in anywhere"));
}

#[tokio::test]
async fn sessions_are_grouped_by_device() {
    let signed = signed().await;
    let Signed { app, cookie, grace, .. } = &signed;
    for agent in [
        "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Firefox/143.0",
        "Mozilla/5.0 (X11; Linux x86_64) Chrome/141.0.0.0 Safari/537.36",
    ] {
        let user_agent = Some(iam_core::UserAgent::new(agent));
        let context = RequestContext { user_agent, ..RequestContext::default() };
        let login =
            iam_core::session::Login { email: grace.email.as_str().into(), password: PASSWORD.into(), tenant: None };
        app.iam.sessions().login(&context, login).await.unwrap();
        app.clock.advance(TimeDelta::seconds(1));
    }
    let body = app.get(&signed.path(""), cookie).await.body;
    let (first, rest) = body.split_once("<h3>Chrome on Linux</h3>").unwrap();
    let (chrome, firefox) = rest.split_once("<h3>Firefox on Windows</h3>").unwrap();
    let count = |part: &str| part.matches(r#"name="session""#).count();
    assert_eq!((count(first), count(chrome), count(firefox)), (0, 2, 1), "the device that was used last comes first");
}

#[tokio::test]
async fn what_a_user_may_do_is_shown_at_each_place_with_what_comes_from_above() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace } = &signed;
    let new = |name: &str, parent| NewOrganization { name: name.to_owned(), slug: None, parent };
    let company = app.iam.organizations().create(ada, new("Company", None)).await.unwrap().organization.id;
    let north = app.iam.organizations().create(ada, new("North", Some(company))).await.unwrap().organization.id;
    for (name, permission, organization) in [("DESK", "roles:read", north), ("KEEPER", "users:*", company)] {
        let new = NewRole { name: name.into(), permissions: vec![permission.into()], ..NewRole::default() };
        let role = app.iam.roles().create(ada, new).await.unwrap().id;
        let new = NewAssignment { user: grace.id, role, organization: Some(organization), expires_at: None };
        app.iam.assignments().create(ada, new).await.unwrap();
    }
    let body = app.get(&signed.path(""), cookie).await.body;
    let (_, at_company) = body.split_once("<h3>Company</h3>").unwrap();
    let (at_company, at_north) = at_company.split_once("<h3>North</h3>").unwrap();
    assert!(at_company.contains("<strong>KEEPER</strong>") && !at_company.contains("DESK"), "{at_company}");
    assert!(at_north.contains("<strong>DESK</strong>") && !at_north.contains("<strong>KEEPER"), "{at_north}");
    let inherited = r#"<div>KEEPER <span class="hint">inherited from above: Company</span></div>"#;
    assert!(at_north.contains(inherited) && !at_company.contains("inherited"), "{body}");
    let id = grace.id;
    let why = format!(r#"href="/console/access?user={id}&#38;permission=roles%3Aread&#38;organization={north}""#);
    assert!(at_north.contains(&why), "{at_north}");
    // A pattern is no question.
    assert!(at_company.contains("users:*") && !at_company.contains("permission=users"), "{at_company}");
    // What a role allows is for those who may read roles.
    app.person_with(ada, "mary@example.com", &["users:read", "role-assignments:read"]).await;
    let mary = app.sign_in("mary@example.com").await;
    let body = app.get(&signed.path(""), &mary).await.body;
    assert!(body.contains("<strong>KEEPER</strong>") && !body.contains("users:*"), "{body}");
}

#[tokio::test]
async fn the_time_line_has_what_a_user_did_and_what_was_done_to_it() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace } = &signed;
    app.clock.advance(TimeDelta::seconds(1));
    let member = app.iam.roles().by_name(ada, "MEMBER").await.unwrap().unwrap().id;
    let new = NewAssignment { user: grace.id, role: member, organization: None, expires_at: None };
    app.iam.assignments().create(ada, new).await.unwrap();
    app.clock.advance(TimeDelta::seconds(1));
    let her = app.sign_in("grace@example.com").await;
    let body = app.get(&signed.path(""), cookie).await.body;
    let (_, line) = body.split_once(r#"<h3><time datetime="2026-01-31">2026-01-31</time> UTC</h3>"#).unwrap();
    let line = line.split("</ol>").next().unwrap();
    let said: Vec<&str> = line.split("<li>").skip(1).map(|item| item.split(" <span").next().unwrap()).collect();
    // Names lead to their pages, except to this one.
    let ada_link = format!(r#"<a href="/console/users/{}">ada@example.com</a>"#, ada.user().unwrap());
    let role_link = format!(r#"<a href="/console/roles/{member}">MEMBER</a>"#);
    let expected = [
        "grace@example.com signed in".to_owned(),
        format!("{ada_link} assigned the role {role_link} to grace@example.com in the whole tenant"),
        format!("{ada_link} created the user grace@example.com"),
    ];
    assert_eq!(said, expected);
    // No link leads to what the reader may not open.
    app.person_with(ada, "mary@example.com", &["users:read", "audit-logs:read", "role-assignments:read"]).await;
    let mary = app.sign_in("mary@example.com").await;
    let seen = app.get(&signed.path(""), &mary).await.body;
    assert!(seen.contains(&format!("{ada_link} assigned the role MEMBER to")), "{seen}");
    assert!(body.contains(r##"<a href="#time-line">"##), "{body}");
    assert!(body.contains(&format!("/console/audit?user={}", grace.id)), "{body}");
    // It is for those who may read the log.
    let page = app.get(&format!("/console/users/{}", ada.user().unwrap()), &her).await;
    assert!(page.status == StatusCode::OK && !page.body.contains("time-line"), "{}", page.body);
    for _ in 0..21 {
        let event = NewEvent { action: "SENT".into(), resource_type: "INVOICE".into(), ..NewEvent::default() };
        app.iam.audit().log(ada, event).await.unwrap();
    }
    let own = app.get(&format!("/console/users/{}", ada.user().unwrap()), cookie).await.body;
    assert_eq!(own.matches("recorded INVOICE SENT").count(), 20);
}

#[tokio::test]
async fn the_time_line_has_failed_sign_ins_and_decisions_about_requests_by_day() {
    let signed = signed().await;
    let Signed { app, ada, grace, .. } = &signed;
    let role = app.iam.roles().by_name(ada, "MEMBER").await.unwrap().unwrap().id;
    let new = NewEligibility::of_user(role, grace.id);
    let eligibility = app.iam.eligibilities().create(ada, new).await.unwrap().id;
    let new = NewAccessRequest { eligibility, seconds: None, reason: "Disk".into(), ticket: None, starts_at: None };
    let asked = app.iam.access_requests().create(&app.caller("grace@example.com").await, new).await.unwrap().id;
    app.iam.access_requests().deny(ada, asked, Some("No"), &Precondition::Exists).await.unwrap();
    app.clock.advance(TimeDelta::days(1));
    for email in ["grace@example.com", EMAIL] {
        let wrong = [("email", email), ("password", "wrong")];
        assert!(!app.post("/console/sign-in", "", &wrong).await.status.is_redirection(), "{email}");
    }
    let cookie = app.sign_in(EMAIL).await;
    let body = app.get(&signed.path(""), &cookie).await.body;
    let (newest, older) = body.split_once(r#"<time datetime="2026-01-31">"#).unwrap();
    let (_, newest) = newest.split_once(r#"<time datetime="2026-02-01">"#).unwrap();
    assert!(newest.contains(r#"<li class="failed">A sign-in as grace@example.com failed"#), "{newest}");
    assert_eq!(newest.matches("<li").count(), 1, "the failure of another user is not here: {newest}");
    assert!(older.contains("ada@example.com</a> denied the role"), "{older}");
}

#[tokio::test]
async fn the_console_refuses_what_the_api_refuses() {
    let signed = signed().await;
    let Signed { app, ada, grace, .. } = &signed;
    let cookie = app.sign_in("grace@example.com").await;
    for path in ["/console/users", &format!("/console/users/{}", ada.user().unwrap())] {
        assert_eq!(app.get(path, &cookie).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    let fields = [("firstName", "A"), ("lastName", "B"), ("email", "new@example.com"), ("password", PASSWORD)];
    assert_eq!(app.post_signed("/console/users/new", &cookie, &fields).await.status, StatusCode::FORBIDDEN);
    let member = app.iam.roles().by_name(ada, "MEMBER").await.unwrap().unwrap();
    let new = NewAssignment { user: grace.id, role: member.id, organization: None, expires_at: None };
    app.iam.assignments().create(ada, new).await.unwrap();
    assert_eq!(app.get("/console/users", &cookie).await.status, StatusCode::OK);
    for action in ["", "/suspend", "/reactivate", "/delete", "/restore", "/sign-out"] {
        let path = format!("/console/users/{}{action}", ada.user().unwrap());
        let answer = app.post_signed(&path, &cookie, &[("firstName", "Eve")]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{action}: {}", answer.body);
    }
    // A user of another tenant does not exist.
    let eve = app.register("eve@example.org").await;
    let path = format!("/console/users/{}", eve.user().unwrap());
    assert_eq!(app.get(&path, &signed.cookie).await.status, StatusCode::NOT_FOUND);
    assert_eq!(app.post_signed(&format!("{path}/delete"), &signed.cookie, &[]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn names_of_users_are_never_markup() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace } = &signed;
    let name = r#"<img src=x onerror=alert(1)>""#;
    let patch = UserPatch { first_name: Some(name.into()), ..UserPatch::default() };
    app.iam.users().update(ada, grace.id, patch).await.unwrap();
    for path in ["/console/users?search=%3Cimg%20src", &*signed.path("")] {
        let body = app.get(path, cookie).await.body;
        assert!(!body.contains("<img") && body.contains("onerror"), "{body}");
    }
    let agent = RequestContext { user_agent: Some(iam_core::UserAgent::new("<b>x</b>")), ..RequestContext::default() };
    let login =
        iam_core::session::Login { email: grace.email.as_str().into(), password: PASSWORD.into(), tenant: None };
    app.iam.sessions().login(&agent, login).await.unwrap();
    let body = app.get(&signed.path(""), cookie).await.body;
    assert!(!body.contains("<b>x") && body.contains("&#60;b&#62;x"), "{body}");
}

#[tokio::test]
async fn an_old_page_does_not_lift_a_suspension() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace } = &signed;
    app.iam.users().suspend(ada, grace.id).await.unwrap();
    let answer = app.post_signed(&signed.path("/restore"), cookie, &[]).await;
    assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
    assert_eq!(app.iam.users().get(ada, grace.id).await.unwrap().status, UserStatus::Suspended);
}

#[tokio::test]
async fn an_administrator_sends_a_link_for_a_new_password_if_there_is_mail() {
    let app = App::with_mail().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    let path = format!("/console/users/{}/password-reset", grace.id);
    let shown = app.get(&format!("/console/users/{}", grace.id), &cookie).await.body;
    assert!(shown.contains(&path), "{shown}");
    let asked = app.post_signed(&path, &cookie, &[]).await;
    assert!(asked.status == StatusCode::OK && asked.body.contains("grace@example.com</h1>"), "{}", asked.body);
    let answer = app.post_signed(&path, &cookie, &[("confirmed", "yes")]).await;
    assert_eq!(answer.location(), format!("/console/users/{}?done=reset-sent", grace.id));
    let her = app.sign_in("grace@example.com").await;
    let mine = format!("/console/users/{}/password-reset", ada.user().unwrap());
    assert_eq!(app.post_signed(&mine, &her, &[]).await.status, StatusCode::FORBIDDEN);
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    assert_eq!(app.post_signed(&path, &eve, &[]).await.status, StatusCode::NOT_FOUND);

    let without = signed().await;
    let shown = without.app.get(&without.path(""), &without.cookie).await.body;
    assert!(!shown.contains("password-reset"), "{shown}");
}

#[tokio::test]
async fn pages_hide_what_a_person_holds_no_permission_for() {
    let Signed { app, ada, cookie, grace } = signed().await;
    let all = ["users", "invitations", "roles", "assignments", "organizations", "audit", "access-reviews", "webhooks"];
    let links = |page: &str| -> Vec<&str> {
        all.into_iter().filter(|path| page.contains(&format!(r#"<a href="/console/{path}""#))).collect()
    };
    assert_eq!(links(&app.get("/console", &cookie).await.body), all);
    let her = app.sign_in("grace@example.com").await;
    assert_eq!(links(&app.get("/console", &her).await.body), [""; 0]);
    let member = app.iam.roles().by_name(&ada, "MEMBER").await.unwrap().unwrap().id;
    let new = NewAssignment { user: grace.id, role: member, organization: None, expires_at: None };
    app.iam.assignments().create(&ada, new).await.unwrap();
    let list = app.get("/console/users", &her).await.body;
    assert_eq!(links(&list), ["users", "organizations"]);
    assert!(!list.contains("/console/users/new") && !list.contains("/console/users/import"), "{list}");
    let path = format!("/console/users/{}", ada.user().unwrap());
    let page = app.get(&path, &her).await.body;
    assert!(page.contains("<dd>ada@example.com</dd>") && !page.contains("/console/audit"), "{page}");
    let refused = app.get("/console/audit", &her).await;
    assert_eq!((refused.status, links(&refused.body)), (StatusCode::FORBIDDEN, vec!["users", "organizations"]));
    for action in ["suspend", "delete", "sign-out", "end-session", "reset-factors", "api-keys/new"] {
        assert!(!page.contains(&format!("{path}/{action}\"")), "{action}: {page}");
    }
}
