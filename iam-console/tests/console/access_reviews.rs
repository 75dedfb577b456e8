#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use chrono::TimeDelta;
use iam_core::access_review::{AccessReviewStatus, NewAccessReview, NewDecision, ReviewDecision};
use iam_core::assignment::{Assignment, NewAssignment};
use iam_core::organization::NewOrganization;
use iam_core::role::NewRole;
use iam_core::user::User;
use iam_core::{AccessReviewId, Caller, OrganizationId};

use crate::app::{Answer, App, EMAIL, ORIGIN, form, person};

/// A console with an administrator that is signed in, and Grace, who is a MEMBER in an organization.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    grace: User,
    branch: OrganizationId,
    membership: Assignment,
}

async fn signed() -> Signed {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let new = NewOrganization { name: "Branch <1>".into(), slug: None, parent: None };
    let branch = app.iam.organizations().create(&ada, new).await.unwrap().organization.id;
    let member = app.iam.roles().by_name(&ada, "MEMBER").await.unwrap().unwrap();
    let new = NewAssignment { user: grace.id, role: member.id, organization: Some(branch), expires_at: None };
    let membership = app.iam.assignments().create(&ada, new).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, grace, branch, membership }
}

impl Signed {
    /// Begins a review of the whole tenant.
    async fn begin(&self, name: &str) -> AccessReviewId {
        let due_at = "2026-02-28T12:00:00Z".parse().unwrap();
        let new = NewAccessReview { name: name.into(), organization: None, roles: vec![], users: vec![], due_at };
        self.app.iam.access_reviews().create(&self.ada, new).await.unwrap().review.id
    }

    /// Begins a review that is about the role of Grace alone.
    async fn begin_small(&self) -> AccessReviewId {
        let due_at = "2026-02-28T12:00:00Z".parse().unwrap();
        let (organization, users) = (Some(self.branch), vec![self.grace.id]);
        let new = NewAccessReview { name: "Small".into(), organization, roles: vec![], users, due_at };
        self.app.iam.access_reviews().create(&self.ada, new).await.unwrap().review.id
    }

    async fn decide(&self, review: AccessReviewId, decision: ReviewDecision) {
        let decision = NewDecision { decision, reason: None };
        self.app.iam.access_reviews().decide(&self.ada, review, self.membership.id, decision).await.unwrap();
    }

    async fn status(&self, review: AccessReviewId) -> AccessReviewStatus {
        self.app.iam.access_reviews().get(&self.ada, review).await.unwrap().review.status
    }

    /// Creates Mary, who holds a role with these permissions and no other one. Returns her cookie.
    async fn mary_may(&self, permissions: &[&str]) -> String {
        let mary = self.app.iam.users().create(&self.ada, person("mary@example.com", "Mary")).await.unwrap();
        let permissions = permissions.iter().map(ToString::to_string).collect();
        let new = NewRole { name: "REVIEWER".into(), permissions, ..NewRole::default() };
        let role = self.app.iam.roles().create(&self.ada, new).await.unwrap();
        let new = NewAssignment { user: mary.id, role: role.id, organization: None, expires_at: None };
        self.app.iam.assignments().create(&self.ada, new).await.unwrap();
        self.app.sign_in("mary@example.com").await
    }

    fn item(&self, review: AccessReviewId) -> String {
        format!("/console/access-reviews/{review}/items/{}", self.membership.id)
    }

    /// Sends a form as htmx does, for a part of the page.
    async fn post_part(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.app.form_token(&self.cookie).await;
        let fields = [fields, &[("form-token", &*token)]].concat();
        let mut sent: Request<Body> = form(path, &self.cookie, &fields);
        sent.headers_mut().insert("hx-request", "true".parse().unwrap());
        self.app.send(sent).await
    }
}

#[tokio::test]
async fn a_review_is_begun_decided_and_completed_and_shows_what_became_of_it() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace, branch, membership } = &signed;
    let none = app.get("/console/access-reviews", cookie).await;
    assert!(
        none.body.contains("There are no access reviews yet") && none.body.contains("/access-reviews/new"),
        "{}",
        none.body
    );
    let member = membership.role_id.to_string();
    let typed =
        [("name", "Spring"), ("dueAt", "2026-02-28"), ("organizationId", &*branch.to_string()), ("roleIds", &*member)];
    let begun = app.post_signed("/console/access-reviews/new", cookie, &typed).await;
    assert_eq!(begun.status, StatusCode::SEE_OTHER, "{}", begun.body);
    let page = app.get(begun.location(), cookie).await.body;
    for part in
        ["The review has started", "Spring", "grace@example.com", "MEMBER", "Branch &#60;1&#62;", "0 of 1 decided"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("2026-02-28T23:59:59.999Z") && page.contains("One item has no decision yet"), "{page}");
    let not_yet = r#"<button type="button" disabled aria-describedby="not-yet">Complete review…"#;
    assert!(page.contains(not_yet) && !page.contains("/complete\""), "{page}");
    let id: AccessReviewId = begun.location().split(['/', '?']).nth(3).unwrap().parse().unwrap();

    let fields = [("decision", "REVOKE"), ("reason", "Has left."), ("shown", "UNDECIDED"), ("page", "1")];
    let decided = app.post_signed(&signed.item(id), cookie, &fields).await;
    assert_eq!(decided.location(), format!("/console/access-reviews/{id}?decision=UNDECIDED&page=1&done=decided"));
    let page = app.get(decided.location(), cookie).await.body;
    assert!(page.contains("No item matches") && page.contains("Items that are revoked: 1"), "{page}");
    let page = app.get(&format!("/console/access-reviews/{id}?decision=REVOKE"), cookie).await.body;
    assert!(page.contains(r#"value="Has left.""#) && page.contains(r#"aria-pressed="true">Revoke"#), "{page}");

    let completed = app.post_signed(&format!("/console/access-reviews/{id}/complete"), cookie, &[]).await;
    let page = app.get(completed.location(), cookie).await.body;
    assert!(page.contains("Revoked.") && page.contains("Has left."), "{page}");
    assert!(!page.contains("hx-post") && !page.contains("/complete"), "{page}");
    assert!(app.iam.assignments().of_user(ada, grace.id).await.unwrap().is_empty());
    let list = app.get("/console/access-reviews?status=COMPLETED", cookie).await.body;
    assert!(list.contains("Spring") && list.contains("1 of 1"), "{list}");
    let list = app.get("/console/access-reviews?status=OPEN", cookie).await.body;
    assert!(!list.contains("Spring") && list.contains("Show all reviews"), "{list}");
}

#[tokio::test]
async fn a_decision_in_place_returns_the_item_and_the_progress() {
    let signed = signed().await;
    let id = signed.begin_small().await;
    let part = signed.post_part(&signed.item(id), &[("decision", "KEEP"), ("reason", "<i>fine</i>")]).await;
    assert_eq!(part.status, StatusCode::OK, "{}", part.body);
    assert!(part.body.starts_with(&format!(r#"<li id="item-{}">"#, signed.membership.id)), "{}", part.body);
    assert!(
        part.body.contains(r#"id="state" hx-swap-oob="true""#) && part.body.contains("1 of 1 decided"),
        "{}",
        part.body
    );
    let actions = r#"id="review-actions" class="actions" hx-swap-oob="true""#;
    assert!(part.body.contains(actions) && part.body.contains("/complete\""), "{}", part.body);
    assert!(part.body.contains("&#60;i&#62;fine") && !part.body.contains("<i>"), "{}", part.body);
    assert!(
        part.body.contains("Saved: Keep, grace@example.com, MEMBER") && part.body.contains("· ada@example.com"),
        "{}",
        part.body
    );
    assert!(!part.body.contains("<html"), "{}", part.body);
    let refused = signed.post_part(&signed.item(id), &[("decision", "MAYBE")]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains(r#"class="error""#) && !refused.body.contains("<html"), "{}", refused.body);
}

#[tokio::test]
async fn the_selected_items_are_kept_unless_they_are_decided_meanwhile() {
    let signed = signed().await;
    let Signed { app, ada, cookie, membership, .. } = &signed;
    let mary = app.iam.users().create(ada, person("mary@example.com", "Mary")).await.unwrap().id;
    let new = NewAssignment { user: mary, role: membership.role_id, organization: None, expires_at: None };
    let of_mary = app.iam.assignments().create(ada, new).await.unwrap().id.to_string();
    let id = signed.begin("All").await;
    let path = format!("/console/access-reviews/{id}");
    let page = app.get(&path, cookie).await.body;
    assert_eq!(page.matches(r#"name="selected""#).count(), 2, "one's own item is not among them: {page}");
    signed.decide(id, ReviewDecision::Revoke).await;
    let fields = [("selected", &*membership.id.to_string()), ("selected", &*of_mary)];
    let kept = app.post_signed(&format!("{path}/keep"), cookie, &fields).await;
    assert_eq!(kept.status, StatusCode::SEE_OTHER, "{}", kept.body);
    let page = app.get(kept.location(), cookie).await.body;
    assert!(page.contains("The decision is saved") && !page.contains(r#"name="selected""#), "{page}");
    let progress = app.iam.access_reviews().get(ada, id).await.unwrap().progress;
    assert_eq!((progress.keep, progress.revoke, progress.undecided), (1, 1, 1));
}

#[tokio::test]
async fn a_refused_review_keeps_what_was_typed() {
    let signed = signed().await;
    let Signed { app, cookie, branch, membership, .. } = &signed;
    let (branch, role) = (branch.to_string(), membership.role_id.to_string());
    let chosen = [("organizationId", &*branch), ("roleIds", &*role)];
    for (name, due, field, text) in [
        (" ", "2026-02-28", "name", "Name must"),
        ("Spring", "2026-01-30", "dueAt", "Due date must be in the future"),
        ("Spring", "soon", "dueAt", "Due date must be a day"),
    ] {
        let typed = [&[("name", name), ("dueAt", due)], &chosen[..]].concat();
        let answer = app.post_signed("/console/access-reviews/new", cookie, &typed).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{due}");
        assert!(
            answer.body.contains(&format!(r#"id="{field}-error" class="error">{text}"#)),
            "{text}: {}",
            answer.body
        );
        for id in [&branch, &role] {
            assert!(answer.body.contains(&format!(r#"value="{id}" checked"#)), "{}", answer.body);
        }
    }
    let unknown = membership.id.to_string();
    for field in ["organizationId", "roleIds"] {
        let typed = [("name", "Spring"), ("dueAt", "2026-02-28"), (field, &*unknown)];
        let answer = app.post_signed("/console/access-reviews/new", cookie, &typed).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{field}");
        assert!(
            answer.body.contains(r#"role="alert""#) && answer.body.contains(r#"value="Spring""#),
            "{}",
            answer.body
        );
    }
    let many = vec![("roleIds", &*role); 101];
    let typed = [&[("name", "Spring"), ("dueAt", "2026-02-28")], &many[..]].concat();
    let answer = app.post_signed("/console/access-reviews/new", cookie, &typed).await;
    assert!(answer.body.contains(r#"id="roles-error" class="error">Roles must"#), "{}", answer.body);
}

#[tokio::test]
async fn an_organization_is_searched_with_and_without_a_script() {
    let signed = signed().await;
    let Signed { app, ada, cookie, branch, .. } = &signed;
    for number in 0..21 {
        let new = NewOrganization { name: format!("Shop {number}"), slug: None, parent: None };
        app.iam.organizations().create(ada, new).await.unwrap();
    }
    let part = app.get("/console/access-reviews/organizations?search=branch", cookie).await.body;
    assert!(part.contains("Branch &#60;1&#62;") && !part.contains("Shop") && !part.contains("<html"), "{part}");
    let part =
        app.get(&format!("/console/access-reviews/organizations?search=shop&organizationId={branch}"), cookie).await;
    let radio = format!(r#"value="{branch}" checked> <span class="named">Branch &#60;1&#62;"#);
    assert!(part.body.contains(&radio) && part.body.contains("There are more"), "{}", part.body);
    let part = app.get("/console/access-reviews/organizations?search=nowhere", cookie).await.body;
    assert!(part.contains("No organization matches") && part.contains(">0 organizations</p>"), "{part}");
    let typed = [("name", "Spring"), ("dueAt", "2026-02-28"), ("search", "branch"), ("find", "organizations")];
    let answer = app.post_signed("/console/access-reviews/new", cookie, &typed).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.body.contains(r#"value="Spring""#) && answer.body.contains("Branch &#60;1&#62;"), "{}", answer.body);
    assert!(!answer.body.contains("Shop"), "{}", answer.body);
}

#[tokio::test]
async fn a_refused_decision_is_explained_at_its_item() {
    let signed = signed().await;
    let id = signed.begin("<b>All</b>").await;
    let page = signed.app.get(&format!("/console/access-reviews/{id}"), &signed.cookie).await.body;
    assert!(page.contains("&#60;b&#62;All") && !page.contains("<b>"), "{page}");
    // A user has no form for its own role, and a form of another page does not help.
    assert_eq!((page.matches("This is your own role").count(), page.matches("hx-post").count()), (1, 1), "{page}");
    let own = signed.app.iam.assignments().of_user(&signed.ada, signed.ada.user().unwrap()).await.unwrap();
    let path = format!("/console/access-reviews/{id}/items/{}", own[0].assignment.id);
    let answer = signed.app.post_signed(&path, &signed.cookie, &[("decision", "KEEP")]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains(r#"<p class="error" role="alert">"#), "{}", answer.body);
    let long = "x".repeat(501);
    for (decision, reason, expected) in [("KEEP", &*long, "Reason must"), ("MAYBE", "because", "Decision must")] {
        let fields = [("decision", decision), ("reason", reason)];
        let answer = signed.app.post_signed(&signed.item(id), &signed.cookie, &fields).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        let error = format!(r#"<p id="error-{}" class="error">{expected}"#, signed.membership.id);
        assert!(answer.body.contains(&error), "{}", answer.body);
        assert!(answer.body.contains(&format!(r#"value="{reason}""#)), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_review_with_open_items_is_not_completed_and_a_closed_one_stays_closed() {
    let signed = signed().await;
    let id = signed.begin_small().await;
    let path = |action: &str| format!("/console/access-reviews/{id}/{action}");
    let answer = signed.app.post_signed(&path("complete"), &signed.cookie, &[]).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(
        answer.body.contains(r#"<p class="error" role="alert">"#) && answer.body.contains("grace@"),
        "{}",
        answer.body
    );
    let answer = signed.app.post_signed(&path("cancel"), &signed.cookie, &[]).await;
    let page = signed.app.get(answer.location(), &signed.cookie).await.body;
    assert!(page.contains("The review is cancelled") && !page.contains("hx-post"), "{page}");
    assert_eq!(signed.status(id).await, AccessReviewStatus::Cancelled);
    for path in [path("complete"), path("cancel"), signed.item(id)] {
        let answer = signed.app.post_signed(&path, &signed.cookie, &[("decision", "KEEP")]).await;
        assert_eq!(answer.status, StatusCode::CONFLICT, "{path}");
    }
}

#[tokio::test]
async fn an_assignment_that_cannot_be_revoked_is_named() {
    let signed = signed().await;
    let id = signed.begin_small().await;
    signed.decide(id, ReviewDecision::Revoke).await;
    let cookie = signed.mary_may(&["access-reviews:*"]).await;
    let answer = signed.app.post_signed(&format!("/console/access-reviews/{id}/complete"), &cookie, &[]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains(r#"role="alert">grace@example.com, MEMBER: "#), "{}", answer.body);
    assert_eq!(signed.status(id).await, AccessReviewStatus::Open);
}

#[tokio::test]
async fn who_may_only_read_sees_no_forms_and_others_see_nothing() {
    let signed = signed().await;
    let id = signed.begin_small().await;
    let path = format!("/console/access-reviews/{id}");
    let cookie = signed.app.sign_in("grace@example.com").await;
    for path in ["/console/access-reviews", &*path, &*format!("{path}/items.csv")] {
        assert_eq!(signed.app.get(path, &cookie).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    let cookie = signed.mary_may(&["access-reviews:read"]).await;
    let page = signed.app.get(&path, &cookie).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(page.body.contains("may not decide in it") && !page.body.contains("hx-post"), "{}", page.body);
    // Names that are no part of the review are ids for her.
    let (branch, ada) = (signed.branch.to_string(), signed.ada.user().unwrap().to_string());
    assert!(
        page.body.contains(&format!("<dd>{branch}</dd>")) && page.body.contains(&format!("by {ada}")),
        "{}",
        page.body
    );
    assert!(!page.body.contains(EMAIL), "{}", page.body);
    for action in ["/complete", "/cancel", &*format!("/items/{}", signed.membership.id)] {
        let answer = signed.app.post_signed(&format!("{path}{action}"), &cookie, &[("decision", "KEEP")]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{action}");
    }
    let answer = signed.app.get("/console/access-reviews/new", &cookie).await;
    assert!(answer.body.contains("may not see the roles") && answer.body.contains("may not see the organizations"));
    let typed = [("name", "Spring"), ("dueAt", "2026-02-28")];
    let answer = signed.app.post_signed("/console/access-reviews/new", &cookie, &typed).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains(r#"value="Spring""#), "{}", answer.body);
}

#[tokio::test]
async fn a_review_of_another_tenant_does_not_exist() {
    let signed = signed().await;
    let id = signed.begin_small().await;
    signed.app.register("eve@example.org").await;
    let eve = signed.app.sign_in("eve@example.org").await;
    let path = format!("/console/access-reviews/{id}");
    for path in [path.clone(), format!("{path}/items.csv")] {
        assert_eq!(signed.app.get(&path, &eve).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    for path in [signed.item(id), format!("{path}/keep"), format!("{path}/complete"), format!("{path}/cancel")] {
        let answer = signed.app.post_signed(&path, &eve, &[("decision", "KEEP")]).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        let without_token = signed.app.post(&path, &signed.cookie, &[("decision", "KEEP")]).await;
        assert_eq!(without_token.status, StatusCode::FORBIDDEN, "{path}");
    }
    let organization = signed.branch.to_string();
    let typed = [("name", "Spring"), ("dueAt", "2026-02-28"), ("organizationId", &*organization)];
    let answer = signed.app.post_signed("/console/access-reviews/new", &eve, &typed).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert!(!answer.body.contains("Branch"), "{}", answer.body);
    let list = signed.app.get("/console/access-reviews", &eve).await.body;
    assert!(!list.contains("Small"), "{list}");
    assert_eq!(signed.status(id).await, AccessReviewStatus::Open);
}

#[tokio::test]
async fn a_form_of_another_origin_decides_nothing() {
    let signed = signed().await;
    let id = signed.begin_small().await;
    let token = signed.app.form_token(&signed.cookie).await;
    let mut sent = form(&signed.item(id), &signed.cookie, &[("decision", "REVOKE"), ("form-token", &token)]);
    sent.headers_mut().insert(header::ORIGIN, "https://evil.example".parse().unwrap());
    assert_ne!(ORIGIN, "https://evil.example");
    assert_eq!(signed.app.send(sent).await.status, StatusCode::FORBIDDEN);
    let progress = signed.app.iam.access_reviews().get(&signed.ada, id).await.unwrap().progress;
    assert_eq!(progress.undecided, 1);
}

#[tokio::test]
async fn the_items_are_downloaded_as_the_api_writes_them() {
    let signed = signed().await;
    let id = signed.begin("All").await;
    signed.decide(id, ReviewDecision::Keep).await;
    let file = |decision: &str| format!("/console/access-reviews/{id}/items.csv?decision={decision}");
    let all = signed.app.get(&file(""), &signed.cookie).await;
    assert_eq!(all.headers[header::CONTENT_TYPE], "text/csv; charset=utf-8");
    assert!(all.headers[header::CONTENT_DISPOSITION].to_str().unwrap().starts_with("attachment"));
    assert_eq!(all.body.lines().count(), 3, "{}", all.body);
    let kept = signed.app.get(&file("KEEP"), &signed.cookie).await.body;
    assert!(kept.lines().count() == 2 && kept.contains("grace@example.com,"), "{kept}");
    let request = crate::app::request(Method::GET, &file(""), "").body(Body::empty()).unwrap();
    assert!(signed.app.send(request).await.is_to_sign_in());
}

#[tokio::test]
async fn lists_of_reviews_and_of_items_have_pages() {
    let signed = signed().await;
    let Signed { app, ada, cookie, membership, branch, .. } = &signed;
    let mut last = None;
    for number in 0..26 {
        let user = app.iam.users().create(ada, person(&format!("u{number}@example.com"), "User")).await.unwrap();
        let role = membership.role_id;
        let new = NewAssignment { user: user.id, role, organization: Some(*branch), expires_at: None };
        app.iam.assignments().create(ada, new).await.unwrap();
        last = Some(signed.begin(&format!("Review {number}")).await);
    }
    let next_of = |body: &str| {
        let (_, rest) = body.split_once(r#"rel="next" href=""#).expect("a next page");
        rest.split('"').next().unwrap().replace("&#38;", "&")
    };
    let first = app.get("/console/access-reviews?status=OPEN", cookie).await.body;
    assert_eq!(first.matches("<tr><td>").count(), 25);
    let second = app.get(&next_of(&first), cookie).await.body;
    assert!(second.matches("<tr><td>").count() == 1 && second.contains(r#"rel="prev""#), "{second}");
    let path = format!("/console/access-reviews/{}?decision=UNDECIDED", last.unwrap());
    let first = app.get(&path, cookie).await.body;
    assert_eq!(first.matches("<li id=\"item-").count(), 25);
    let second = app.get(&next_of(&first), cookie).await.body;
    assert_eq!(second.matches("<li id=\"item-").count(), 28 - 25, "{second}");
    assert!(second.contains(r#"name="page" value="2""#) && second.contains(r#"name="shown" value="UNDECIDED""#));
}

#[tokio::test]
async fn the_overview_shows_reviews_that_are_due_and_have_undecided_items() {
    let signed = signed().await;
    let app = &signed.app;
    let review = signed.begin_small().await;
    assert!(!app.get("/console", &signed.cookie).await.body.contains("hand-reviews"));
    app.clock.advance(TimeDelta::days(22));
    let (ada, cookie) = (app.caller(EMAIL).await, app.sign_in(EMAIL).await);
    let body = app.get("/console", &cookie).await.body;
    let line = format!(r#"<a href="/console/access-reviews/{review}">Small</a> · 1 undecided</span>"#);
    assert!(body.contains("1 access review with undecided items") && body.contains(&line), "{body}");
    let keep = NewDecision { decision: ReviewDecision::Keep, reason: None };
    app.iam.access_reviews().decide(&ada, review, signed.membership.id, keep).await.unwrap();
    assert!(!app.get("/console", &cookie).await.body.contains("hand-reviews"));
}
