#![cfg(test)]

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use chrono::TimeDelta;
use iam_core::assignment::NewAssignment;
use iam_core::user::{User, UserStatus};
use iam_core::{AssignmentId, Caller, UserId};
use tokio::time::sleep;

use crate::app::{Answer, App, EMAIL, PASSWORD, person, request};

const RUNS: &str = "/console/runs";

/// A console with an administrator that is signed in, and two other users.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    grace: User,
    alan: User,
}

async fn signed() -> Signed {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let alan = app.iam.users().create(&ada, person("alan@example.com", "Alan")).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, grace, alan }
}

impl Signed {
    async fn status(&self, user: &User) -> UserStatus {
        self.app.iam.users().get(&self.ada, user.id).await.unwrap().status
    }

    async fn assign(&self, user: UserId, role: &str) -> AssignmentId {
        let role = self.app.iam.roles().by_name(&self.ada, role).await.unwrap().unwrap().id;
        let new = NewAssignment { user, role, organization: None, expires_at: None };
        self.app.iam.assignments().create(&self.ada, new).await.unwrap().id
    }

    async fn roles(&self, user: UserId) -> Vec<String> {
        let held = self.app.iam.assignments().of_user(&self.ada, user).await.unwrap();
        held.iter().map(|grant| grant.role.name.to_string()).collect()
    }

    /// Sends a selection.
    async fn select(&self, action: &str, selected: &[String]) -> Answer {
        let mut fields = vec![("action", action)];
        fields.extend(selected.iter().map(|text| ("selected", text.as_str())));
        self.app.post_signed(RUNS, &self.cookie, &fields).await
    }

    /// Sends the form of a page again, with more fields.
    async fn send(&self, page: &Answer, more: &[(&str, &str)]) -> Answer {
        let kept = hidden(&page.body);
        let mut fields: Vec<(&str, &str)> = kept.iter().map(|(name, value)| (&**name, &**value)).collect();
        fields.extend_from_slice(more);
        self.app.post(RUNS, &self.cookie, &fields).await
    }

    /// Confirms a preview. Returns the page of the run after its end.
    async fn run(&self, preview: &Answer) -> Answer {
        let begun = self.send(preview, &[("confirmed", "yes")]).await;
        assert_eq!(begun.status, StatusCode::SEE_OTHER, "{}", begun.body);
        self.end_of(begun.location()).await
    }

    async fn end_of(&self, path: &str) -> Answer {
        for _ in 0..1_000 {
            let shown = self.app.get(path, &self.cookie).await;
            assert_eq!(shown.status, StatusCode::OK, "{}", shown.body);
            if !shown.body.contains("hx-trigger=\"every") {
                return shown;
            }
            sleep(Duration::from_millis(5)).await;
        }
        panic!("the run does not end")
    }
}

/// Returns the hidden fields of the first form that leads to a run.
fn hidden(body: &str) -> Vec<(String, String)> {
    let (_, form) = body.split_once(&format!(r#"action="{RUNS}""#)).unwrap_or_else(|| panic!("no form: {body}"));
    let (form, _) = form.split_once("</form>").unwrap();
    let fields = form.split(r#"<input type="hidden" name=""#).skip(1);
    let field = |text: &str| {
        let (name, rest) = text.split_once(r#"" value=""#).unwrap();
        (name.to_owned(), rest.split('"').next().unwrap().to_owned())
    };
    fields.map(field).collect()
}

fn ids(users: &[&User]) -> Vec<String> {
    users.iter().map(|user| user.id.to_string()).collect()
}

#[tokio::test]
async fn a_list_has_boxes_for_those_who_can_do_something_with_many() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace, .. } = &signed;
    let held = signed.assign(grace.id, "MEMBER").await;
    let boxes = |value: String| format!(r#"form="many" name="selected" value="{value}""#);
    let users = app.get("/console/users", cookie).await.body;
    assert!(users.contains(&boxes(grace.id.to_string())) && users.contains(r#"<form id="many""#), "{users}");
    let assignments = app.get("/console/assignments", cookie).await.body;
    assert!(assignments.contains(&boxes(format!("{held}/{}", grace.id))), "{assignments}");
    // What was held at another moment cannot end now.
    let past = app.get("/console/assignments?at=2026-01-31T09:15", cookie).await.body;
    assert!(past.contains("grace@example.com") && !past.contains(r#"name="selected""#), "{past}");
    app.person_with(ada, "reader@example.com", &["users:read", "role-assignments:read"]).await;
    let reader = app.sign_in("reader@example.com").await;
    for path in ["/console/users", "/console/assignments"] {
        let page = app.get(path, &reader).await.body;
        assert!(page.contains("grace@example.com") && !page.contains(r#"name="selected""#), "{page}");
        assert!(!page.contains(r#"<form id="many""#), "{page}");
    }
}

#[tokio::test]
async fn a_long_list_is_shown_with_100_lines() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    for number in 0..26 {
        let user = app.iam.users().create(ada, person(&format!("user{number}@example.com"), "Many")).await.unwrap();
        signed.assign(user.id, "MEMBER").await;
    }
    for path in ["/console/users?search=many", "/console/assignments?role="] {
        let short = app.get(path, cookie).await.body;
        assert_eq!(short.matches(r#"name="selected""#).count(), 25, "{path}");
        assert!(short.contains("page=1&#38;lines=100"), "{short}");
        let long = app.get(&format!("{path}&lines=100"), cookie).await.body;
        assert!(long.matches(r#"name="selected""#).count() > 25, "{path}");
        assert!(long.contains(r#"<input type="hidden" name="lines" value="100">"#), "{long}");
        assert_eq!(app.get(&format!("{path}&lines=1000"), cookie).await.status, StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn a_preview_says_what_happens_and_who_is_left_out_and_changes_nothing() {
    let signed = signed().await;
    let Signed { app, ada, grace, alan, .. } = &signed;
    signed.assign(grace.id, "MEMBER").await;
    app.iam.users().suspend(ada, alan.id).await.unwrap();
    let mut selected = ids(&[grace, alan]);
    selected.push(ada.user().unwrap().to_string());
    let preview = signed.select("suspend", &selected).await;
    assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
    for text in [
        "<h1>Suspend 1 user</h1>",
        "grace@example.com",
        "The user is suspended already.",
        "This is your own account.",
        "1 user loses permissions",
    ] {
        assert!(preview.body.contains(text), "{text}: {}", preview.body);
    }
    assert_eq!(signed.status(grace).await, UserStatus::Active);
    let ended = signed.run(&preview).await;
    assert!(ended.body.contains("1 of 1 done"), "{}", ended.body);
    assert_eq!(signed.status(grace).await, UserStatus::Suspended);
}

#[tokio::test]
async fn a_step_that_is_refused_does_not_stop_the_others_and_what_was_done_is_undone() {
    let signed = signed().await;
    let Signed { ada, grace, .. } = &signed;
    let own = ada.user().unwrap();
    let of_grace = signed.assign(grace.id, "TENANT_ADMIN").await;
    let held = signed.app.iam.assignments().of_user(ada, own).await.unwrap().remove(0).assignment.id;
    let member = signed.assign(grace.id, "MEMBER").await;
    // Each of the two administrators could go alone. That the first is gone decides about the second.
    let selected = [format!("{of_grace}/{}", grace.id), format!("{held}/{own}"), format!("{member}/{}", grace.id)];
    let preview = signed.select("revoke", &selected).await;
    assert!(preview.body.contains("<h1>Revoke 3 assignments</h1>"), "{}", preview.body);
    let ended = signed.run(&preview).await;
    assert!(ended.body.contains("2 of 3 done, 1 not done"), "{}", ended.body);
    assert!(ended.body.contains("The last active administrator of a tenant"), "{}", ended.body);
    assert!(signed.roles(grace.id).await.is_empty());

    let preview = signed.send(&ended, &[]).await;
    assert!(preview.body.contains("<h1>Add 2 role assignments</h1>"), "{}", preview.body);
    assert!(signed.roles(grace.id).await.is_empty());
    let ended = signed.run(&preview).await;
    assert!(ended.body.contains("2 of 2 done"), "{}", ended.body);
    let mut roles = signed.roles(grace.id).await;
    roles.sort();
    assert_eq!(roles, ["MEMBER", "TENANT_ADMIN"]);
}

#[tokio::test]
async fn a_form_that_is_sent_twice_is_one_run() {
    let signed = signed().await;
    let Signed { app, ada, grace, .. } = &signed;
    let preview = signed.select("suspend", &ids(&[grace])).await;
    let first = signed.send(&preview, &[("confirmed", "yes")]).await;
    signed.end_of(first.location()).await;
    app.iam.users().reactivate(ada, grace.id).await.unwrap();
    let second = signed.send(&preview, &[("confirmed", "yes")]).await;
    assert_eq!((second.status, second.location()), (StatusCode::SEE_OTHER, first.location()));
    signed.end_of(second.location()).await;
    assert_eq!(signed.status(grace).await, UserStatus::Active);
    // After its end is forgotten, the preview is shown again.
    app.clock.advance(TimeDelta::hours(1));
    let cookie = app.sign_in(EMAIL).await;
    let token = app.form_token(&cookie).await;
    let mut fields = hidden(&preview.body);
    fields.retain(|(name, _)| name != "form-token");
    let mut fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    fields.extend([("confirmed", "yes"), ("form-token", &*token)]);
    let late = app.post(RUNS, &cookie, &fields).await;
    assert_eq!(late.status, StatusCode::CONFLICT, "{}", late.body);
    assert!(late.body.contains("this preview is too old"), "{}", late.body);
    assert_eq!(signed.status(grace).await, UserStatus::Active);
}

#[tokio::test]
async fn a_run_is_shown_to_the_person_who_began_it_until_it_is_seen() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace, alan } = &signed;
    const HINT: &str = "A bulk action of yours";
    signed.assign(alan.id, "TENANT_ADMIN").await;
    let other = app.sign_in("alan@example.com").await;
    let preview = signed.select("suspend", &ids(&[grace])).await;
    let begun = signed.send(&preview, &[("confirmed", "yes")]).await;
    let path = begun.location();
    assert!(app.get("/console", cookie).await.body.contains(HINT));
    assert!(app.get("/console/runs", cookie).await.body.contains(path));

    let foreign = app.get(path, &other).await;
    assert_eq!(foreign.status, StatusCode::NOT_FOUND);
    assert!(foreign.body.contains("This server does not know the bulk action"), "{}", foreign.body);
    assert!(!foreign.body.contains("grace@example.com"), "{}", foreign.body);
    assert!(!app.get("/console/runs", &other).await.body.contains(path));
    assert!(!app.get("/console", &other).await.body.contains(HINT));

    signed.end_of(path).await;
    assert!(!app.get("/console", cookie).await.body.contains(HINT));
    // The list shows the end, too. And a person can close the hint.
    for leave in ["list", "close"] {
        let preview = signed.select("reactivate", &ids(&[grace])).await;
        let path = signed.send(&preview, &[("confirmed", "yes")]).await.location().to_owned();
        assert!(app.get("/console", cookie).await.body.contains(HINT), "{leave}");
        if leave == "close" {
            let closed = app.post_signed("/console/runs/seen", cookie, &[("before", "/console/users")]).await;
            assert_eq!(closed.location(), "/console/users");
        }
        while leave == "list" && app.get(RUNS, cookie).await.body.matches("1 of 1 done").count() < 2 {
            sleep(Duration::from_millis(5)).await;
        }
        assert!(!app.get("/console", cookie).await.body.contains(HINT), "{leave}");
        signed.end_of(&path).await;
        app.iam.users().suspend(ada, grace.id).await.unwrap();
    }
    let part = request(Method::GET, path, cookie).header("hx-request", "true").body(Body::empty()).unwrap();
    let part = app.send(part).await.body;
    assert!(part.contains("1 of 1 done") && !part.contains("<html"), "{part}");
    // What an earlier process has begun is not known, and the page stops to ask.
    let unknown = request(Method::GET, "/console/runs/1-x", cookie).header("hx-request", "true");
    let unknown = app.send(unknown.body(Body::empty()).unwrap()).await;
    assert_eq!(unknown.status, StatusCode::OK);
    assert!(unknown.body.contains("is in the audit log") && !unknown.body.contains("hx-trigger"));
    assert_eq!(app.iam.users().get(ada, grace.id).await.unwrap().status, UserStatus::Suspended);
}

#[tokio::test]
async fn a_confirmation_is_of_what_the_preview_has_shown() {
    let signed = signed().await;
    let Signed { app, cookie, grace, alan, .. } = &signed;
    let preview = signed.select("suspend", &ids(&[grace])).await;
    let both = alan.id.to_string();
    for more in [("selected", &*both), ("action", "end-sessions")] {
        let kept = hidden(&preview.body);
        let fields = kept
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .filter(|(name, _)| *name != "action" || more.0 != "action");
        let fields: Vec<(&str, &str)> = fields.chain([more, ("confirmed", "yes")]).collect();
        let answer = app.post(RUNS, cookie, &fields).await;
        assert_eq!(answer.status, StatusCode::CONFLICT, "{more:?}: {}", answer.body);
        assert!(answer.body.contains("the preview of something else"), "{}", answer.body);
    }
    assert_eq!(
        app.post_signed("/console/runs?x=1", cookie, &[("action", "suspend")]).await.status,
        StatusCode::BAD_REQUEST
    );
    assert!(app.get(RUNS, cookie).await.body.contains("You have started no bulk action"));
    assert_eq!(signed.status(grace).await, UserStatus::Active);
}

#[tokio::test]
async fn an_action_has_1_to_100_selected_lines() {
    let signed = signed().await;
    let lines: Vec<String> = (0..101).map(|id| format!("01890a5d-ac96-774b-bcce-{id:012}")).collect();
    let answer = signed.select("suspend", &lines).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("Selection: must be at most 100 lines"), "{}", answer.body);
    assert_eq!(signed.select("suspend", &lines[..100]).await.status, StatusCode::OK);
    for (action, selected) in [("suspend", &[][..]), ("delete", &lines[..1]), ("suspend", &["x".to_owned()][..])] {
        assert_eq!(signed.select(action, selected).await.status, StatusCode::BAD_REQUEST, "{action}: {selected:?}");
    }
}

#[tokio::test]
async fn what_is_of_another_tenant_does_not_exist() {
    let signed = signed().await;
    let Signed { app, grace, .. } = &signed;
    let eve = app.register("eve@example.org").await;
    let user = eve.user().unwrap();
    let held = app.iam.assignments().of_user(&eve, user).await.unwrap().remove(0).assignment.id;
    let cases = [
        ("suspend", user.to_string()),
        ("end-sessions", user.to_string()),
        ("revoke", format!("{held}/{user}")),
        ("revoke", format!("{held}/{}", grace.id)),
        ("change-end", format!("{held}/{user}/2027-01-31T00:00:00Z")),
    ];
    for (action, selected) in cases {
        let preview = signed.select(action, &[selected]).await;
        assert_eq!(preview.status, StatusCode::OK, "{action}");
        assert!(preview.body.contains("There is nothing to do.") && preview.body.contains("not found."), "{action}");
        assert!(!preview.body.contains("eve@example.org") && !preview.body.contains(r#"name="confirmed""#), "{action}");
        // The preview of nothing confirms nothing else.
        let mut fields = hidden(&preview.body);
        fields.iter_mut().filter(|(name, _)| name == "leftOut").for_each(|(name, _)| "selected".clone_into(name));
        let mut fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        fields.push(("confirmed", "yes"));
        let again = app.post(RUNS, &signed.cookie, &fields).await;
        assert_eq!(again.status, StatusCode::CONFLICT, "{action}: {}", again.body);
        assert!(again.body.contains("There is nothing to do."), "{action}: {}", again.body);
    }
    assert!(app.iam.users().get(&eve, user).await.unwrap().status == UserStatus::Active);
    assert_eq!(app.iam.assignments().of_user(&eve, user).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_person_without_the_permission_is_refused() {
    let signed = signed().await;
    let Signed { app, ada, grace, .. } = &signed;
    app.person_with(ada, "reader@example.com", &["users:read"]).await;
    let reader = app.sign_in("reader@example.com").await;
    let user = grace.id.to_string();
    for action in ["suspend", "reactivate", "end-sessions"] {
        let fields = [("action", action), ("selected", &*user)];
        let answer = app.post_signed(RUNS, &reader, &fields).await;
        let is_active = action == "reactivate";
        // That a user is active already is no secret for who sees it.
        let expected = if is_active { StatusCode::OK } else { StatusCode::FORBIDDEN };
        assert_eq!(answer.status, expected, "{action}");
        assert!(!answer.body.contains(r#"name="confirmed""#), "{action}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_role_is_assigned_to_many_and_a_mistake_loses_nothing() {
    let signed = signed().await;
    let Signed { grace, alan, .. } = &signed;
    signed.assign(alan.id, "MEMBER").await;
    let typing = signed.select("assign", &ids(&[grace, alan])).await;
    assert!(typing.body.contains(r#"name="role""#), "{}", typing.body);
    let wrong = [("role", "NOTHING"), ("organization", ""), ("until", "2026-12-31T00:00")];
    let refused = signed.send(&typing, &wrong).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("role-error") && refused.body.contains(r#"value="2026-12-31T00:00""#));
    let right = [("role", "member"), ("organization", ""), ("until", "2026-12-31T00:00")];
    let preview = signed.send(&refused, &right).await;
    assert!(preview.body.contains("<h1>Add 1 role assignment</h1>"), "{}", preview.body);
    assert!(preview.body.contains("The user already holds this role"), "{}", preview.body);
    // A person who goes back has all of them again.
    let again = signed.send(&preview, &[("again", "yes")]).await;
    assert_eq!(hidden(&again.body).iter().filter(|(name, _)| name == "selected").count(), 2, "{}", again.body);
    assert!(again.body.contains(r#"value="member""#), "{}", again.body);
    let ended = signed.run(&preview).await;
    assert!(ended.body.contains("1 of 1 done"), "{}", ended.body);
    assert_eq!(signed.roles(grace.id).await, ["MEMBER"]);

    let preview = signed.send(&ended, &[]).await;
    assert!(preview.body.contains("<h1>Revoke 1 assignment</h1>"), "{}", preview.body);
    signed.run(&preview).await;
    assert!(signed.roles(grace.id).await.is_empty());
    assert_eq!(signed.roles(alan.id).await, ["MEMBER"]);
}

#[tokio::test]
async fn the_end_of_many_assignments_is_changed_and_changed_back() {
    let signed = signed().await;
    let Signed { app, ada, grace, .. } = &signed;
    let held = signed.assign(grace.id, "MEMBER").await;
    let end = async || app.iam.assignments().of_user(ada, grace.id).await.unwrap().remove(0).assignment.expires_at;
    let typing = signed.select("change-end", &[format!("{held}/{}", grace.id)]).await;
    let preview = signed.send(&typing, &[("until", "2026-12-31T00:00")]).await;
    assert!(preview.body.contains("<h1>Change the end of 1 assignment</h1>"), "{}", preview.body);
    let ended = signed.run(&preview).await;
    assert!(end().await.is_some());
    let preview = signed.send(&ended, &[]).await;
    signed.run(&preview).await;
    assert_eq!(end().await, None);
}

#[tokio::test]
async fn the_end_of_sessions_asks_for_a_recent_proof_and_keeps_the_selection() {
    let signed = signed().await;
    let Signed { app, cookie, grace, alan, .. } = &signed;
    let other = app.sign_in("grace@example.com").await;
    app.clock.advance(TimeDelta::minutes(11));
    let asked = signed.select("end-sessions", &ids(&[grace, alan])).await;
    assert_eq!(asked.status, StatusCode::FORBIDDEN);
    assert!(asked.body.contains(r#"name="proof-password""#), "{}", asked.body);
    let preview = signed.send(&asked, &[("proof-password", PASSWORD)]).await;
    assert!(preview.body.contains("<h1>End the sessions of 2 users</h1>"), "{}", preview.body);
    assert!(!app.get("/console", &other).await.is_to_sign_in());
    let ended = signed.run(&preview).await;
    assert!(ended.body.contains("2 of 2 done"), "{}", ended.body);
    assert!(app.get("/console", &other).await.is_to_sign_in());
    assert_eq!(app.get("/console", cookie).await.status, StatusCode::OK);
}
