#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode};
use chrono::TimeDelta;
use iam_core::access_request::{AccessRequest, AccessRequestStatus, NewAccessRequest};
use iam_core::assignment::Assignment;
use iam_core::eligibility::{Eligibility, EligibilityPatch, NewEligibility};
use iam_core::organization::NewOrganization;
use iam_core::role::{NewRole, RolePatch};
use iam_core::version::Precondition;
use iam_core::{AccessRequestId, Caller, OrganizationId, RoleId, UserId};

use crate::app::{Answer, App, EMAIL, PASSWORD, person, request};

const LIST: &str = "/console/access-requests";
const NEW: &str = "/console/access-requests/new";
const GRACE: &str = "grace@example.com";

/// A console with an administrator, and Grace, who has no role and may ask for ENGINEER in a branch, with one approval.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    grace: UserId,
    grace_cookie: String,
    branch: OrganizationId,
    role: RoleId,
    eligibility: Eligibility,
}

async fn signed() -> Signed {
    signed_in_to(App::empty().await).await
}

async fn signed_in_to(app: App) -> Signed {
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person(GRACE, "Grace")).await.unwrap().id;
    let new = NewOrganization { name: "Branch <1>".into(), slug: None, parent: None };
    let branch = app.iam.organizations().create(&ada, new).await.unwrap().organization.id;
    let permissions = vec!["users:read".to_owned()];
    let new = NewRole { name: "ENGINEER".into(), permissions, ..NewRole::default() };
    let role = app.iam.roles().create(&ada, new).await.unwrap().id;
    let new = NewEligibility { organization: Some(branch), ..NewEligibility::of_user(role, grace) };
    let eligibility = app.iam.eligibilities().create(&ada, new).await.unwrap();
    let (cookie, grace_cookie) = (app.sign_in(EMAIL).await, app.sign_in(GRACE).await);
    Signed { app, ada, cookie, grace, grace_cookie, branch, role, eligibility }
}

impl Signed {
    /// Lets Grace ask.
    async fn ask(&self) -> AccessRequest {
        let (seconds, reason, ticket) = (Some(3_600), "Disk <full>".to_owned(), Some("OPS-7".to_owned()));
        let new = NewAccessRequest { eligibility: self.eligibility.id, seconds, reason, ticket, starts_at: None };
        self.app.iam.access_requests().create(&self.app.caller(GRACE).await, new).await.unwrap()
    }

    fn path(&self, request: AccessRequestId, action: &str) -> String {
        format!("{LIST}/{request}{action}")
    }

    async fn page(&self, request: AccessRequestId) -> Answer {
        self.app.get(&self.path(request, ""), &self.cookie).await
    }

    /// Sends a decision of Ada about what her page shows now.
    async fn decide(&self, request: AccessRequestId, action: &str, more: &[(&str, &str)]) -> Answer {
        let version = self.page(request).await.hidden("version");
        let fields = [&[("version", &*version)][..], more].concat();
        self.app.post_signed(&self.path(request, action), &self.cookie, &fields).await
    }

    async fn stored(&self, request: AccessRequestId) -> AccessRequest {
        self.app.iam.access_requests().get(&self.ada, request).await.unwrap().request
    }

    async fn held(&self) -> Vec<Assignment> {
        let grants = self.app.iam.assignments().of_user(&self.ada, self.grace).await.unwrap();
        grants.into_iter().map(|grant| grant.assignment).collect()
    }
}

#[tokio::test]
async fn a_user_asks_another_one_approves_and_the_user_ends_it() {
    let signed = signed().await;
    let Signed { app, cookie, grace_cookie, eligibility, .. } = &signed;
    let none = app.get(LIST, grace_cookie).await.body;
    assert_eq!((none.contains("You have not requested access"), none.matches(NEW).count()), (true, 2), "{none}");
    let overview = app.get("/console", grace_cookie).await.body;
    assert!(overview.contains("You can request one") && overview.contains(NEW), "{overview}");
    let refused = app.get("/console/audit", grace_cookie).await;
    assert!(refused.body.contains("It needs audit-logs:read") && refused.body.contains(NEW), "{}", refused.body);
    // Who cannot ask is not led there by an empty list.
    assert_eq!(app.get(LIST, cookie).await.body.matches(NEW).count(), 1);
    let choice = app.get(NEW, grace_cookie).await.body;
    let address = format!("{NEW}?eligibility={}", eligibility.id);
    for part in [&*address, "ENGINEER", "Branch &#60;1&#62;", "8 hours"] {
        assert!(choice.contains(part), "{part}: {choice}");
    }
    let form = app.get(&address, grace_cookie).await;
    assert!(form.body.contains(r#"<option value="28800" selected>8 hours</option>"#), "{}", form.body);
    assert!(!form.body.contains(r#"value="86400""#), "{}", form.body);

    let id = form.hidden("eligibility");
    let fields = [("eligibility", &*id), ("seconds", "3600"), ("reason", "Disk <full>"), ("ticket", "OPS-7")];
    let preview = app.post_signed(NEW, grace_cookie, &fields).await;
    assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
    for part in [
        "Request ENGINEER in Branch &#60;1&#62; for 1 hour",
        "after another person has approved",
        "No messages are sent here: tell the approvers yourself.",
        r#"<a href="/console/account">You</a>"#,
        "<ins>Gains</ins> 1 permission in Branch &#60;1&#62; · for 1 hour from the approval",
        r#"name="reason" value="Disk &#60;full&#62;""#,
    ] {
        assert!(preview.body.contains(part), "{part}: {}", preview.body);
    }
    assert!(!preview.body.contains("decide about it now"), "{}", preview.body);
    let back = app.post_signed(NEW, grace_cookie, &[&fields[..], &[("again", "yes")]].concat()).await;
    assert!(back.body.contains(r#"<option value="3600" selected>"#), "{}", back.body);
    assert!(app.get(LIST, grace_cookie).await.body.contains("0 access requests"));

    let sent = app.post_signed(NEW, grace_cookie, &[&fields[..], &[("confirmed", "yes")]].concat()).await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.body);
    let asked: AccessRequestId = sent.location().split(['/', '?']).nth(3).unwrap().parse().unwrap();
    let own = app.get(sent.location(), grace_cookie).await.body;
    for part in ["The request is sent", "Pending", "Disk &#60;full&#62;", "OPS-7", "0 of 1", "Cancel request"] {
        assert!(own.contains(part), "{part}: {own}");
    }
    assert!(!own.contains("/approve") && !own.contains("Gains"), "{own}");

    let overview = app.get("/console", grace_cookie).await.body;
    assert!(overview.contains(&signed.path(asked, "")) && overview.contains("Pending"), "{overview}");
    assert!(app.get("/console", cookie).await.body.contains("1 access request waits for your decision"));
    let list = app.get(&format!("{LIST}?show=to-decide"), cookie).await.body;
    assert!(list.contains(r#"<span class="count">1</span>"#), "{list}");
    assert!(list.contains(&signed.path(asked, "")) && list.contains(GRACE), "{list}");
    let page = signed.page(asked).await.body;
    for part in ["<ins>Gains</ins> 1 permission in Branch &#60;1&#62;", "/approve", "/deny", "1 hour"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let approved = signed.decide(asked, "/approve", &[("reason", "Go <on>")]).await;
    assert_eq!(approved.location(), signed.path(asked, "?done=approved"), "{}", approved.body);
    let page = app.get(approved.location(), cookie).await.body;
    for part in ["Your approval is saved", "Active", "Go &#60;on&#62;", "by you", "1 of 1"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let own = app.get(&signed.path(asked, ""), grace_cookie).await.body;
    assert!(own.contains("by ada@example.com"), "{own}");
    assert_eq!(signed.held().await[0].access_request_id, Some(asked));

    let overview = app.get("/console", grace_cookie).await.body;
    assert!(overview.contains("Temporary access") && overview.contains(&signed.path(asked, "/end")), "{overview}");
    let in_force = app.get(&format!("{LIST}?show=in-force"), grace_cookie).await.body;
    assert!(in_force.contains(&signed.path(asked, "/end")), "{in_force}");
    let ended = app.post_signed(&signed.path(asked, "/end"), grace_cookie, &[]).await;
    let page = app.get(ended.location(), grace_cookie).await.body;
    assert!(page.contains("The access has ended") && page.contains("by you") && !page.contains("/end\""), "{page}");
    assert!(signed.held().await.is_empty());
    let overview = app.get("/console", grace_cookie).await.body;
    assert!(!overview.contains(&signed.path(asked, "")) && overview.contains(NEW), "{overview}");

    let log = app.get("/console/audit", cookie).await.body;
    for sentence in [
        "grace@example.com requested the role ENGINEER in Branch &#60;1&#62;",
        "ada@example.com approved the role ENGINEER",
        "grace@example.com got the role ENGINEER in Branch &#60;1&#62; by an access request",
        "grace@example.com ended the access of grace@example.com by the role ENGINEER",
        "ada@example.com made grace@example.com eligible for the role ENGINEER",
    ] {
        assert!(log.contains(sentence), "{sentence}: {log}");
    }
}

#[tokio::test]
async fn a_mistake_is_shown_at_its_field_and_nothing_typed_is_lost() {
    let signed = signed().await;
    let id = signed.eligibility.id.to_string();
    for (field, wrong, text) in [
        ("reason", " ", "Reason must be 1 to 500 characters"),
        ("ticket", &*"x".repeat(201), "Ticket must be at most 200 characters"),
        ("seconds", "28801", "At most 8 hours now."),
        ("seconds", "long", "Duration must be a whole number"),
        ("startsAt", "2026-01-31T09:00", "Start (UTC) must be in the future"),
        ("startsAt", "soon", "Start (UTC) must be a day and a time"),
    ] {
        let good = [("eligibility", &*id), ("reason", "Disk"), ("ticket", "OPS-7")];
        let kept = good.into_iter().filter(|(name, _)| *name != field);
        let fields: Vec<(&str, &str)> = kept.chain([(field, wrong)]).collect();
        let answer = signed.app.post_signed(NEW, &signed.grace_cookie, &fields).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{field} {wrong}: {}", answer.body);
        assert!(
            answer.body.contains(&format!(r#"id="{field}-error" class="error">{text}"#)),
            "{text}: {}",
            answer.body
        );
        let other = if field == "reason" { r#"value="OPS-7""# } else { "Disk</textarea>" };
        assert!(answer.body.contains(other), "{}", answer.body);
        assert!(answer.body.contains(r#"<option value="28800" selected>"#), "{}", answer.body);
    }
    let unknown = signed.ada.tenant().to_string();
    let unknown = [("eligibility", &*unknown), ("reason", "Disk")];
    let answer = signed.app.post_signed(NEW, &signed.grace_cookie, &unknown).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains("You are not eligible for this role there"), "{}", answer.body);
}

#[tokio::test]
async fn an_open_request_is_shown_before_the_same_is_asked_again() {
    let signed = signed().await;
    let Signed { app, grace_cookie, eligibility, .. } = &signed;
    let id = eligibility.id.to_string();
    let form = format!("{NEW}?eligibility={id}");
    let asked = signed.ask().await.id;
    let open = signed.path(asked, "\"");
    let choice = app.get(NEW, grace_cookie).await.body;
    assert!(choice.contains(&open) && !choice.contains(&form), "{choice}");
    assert!(app.get(&form, grace_cookie).await.body.contains(&open));
    let again = app.post_signed(NEW, grace_cookie, &[("eligibility", &*id), ("reason", "Disk")]).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    for part in ["You have an open request for this role there", &*open] {
        assert!(again.body.contains(part), "{part}: {}", again.body);
    }
    // A closed one can be asked again, with the same words.
    app.post_signed(&signed.path(asked, "/cancel"), grace_cookie, &[]).await;
    let page = app.get(&signed.path(asked, ""), grace_cookie).await.body;
    let link = format!("{form}&amp;request={asked}");
    assert!(page.contains(&link), "{page}");
    assert!(!signed.page(asked).await.body.contains(&link), "only the person itself asks");
    let filled = app.get(&link.replace("&amp;", "&"), grace_cookie).await.body;
    for part in ["Disk &#60;full&#62;</textarea>", r#"value="OPS-7""#, r#"<option value="3600" selected>"#] {
        assert!(filled.contains(part), "{part}: {filled}");
    }
}

#[tokio::test]
async fn a_person_checks_what_it_asks_for_and_when_it_begins() {
    let signed = signed().await;
    let Signed { app, grace_cookie, eligibility, .. } = &signed;
    let id = eligibility.id.to_string();
    let day = (app.iam.now() + TimeDelta::days(2)).format("%Y-%m-%d").to_string();
    let begin = format!("{day}T09:00");
    let fields = [("eligibility", &*id), ("reason", "Two\r\nlines"), ("ticket", "OPS-7"), ("startsAt", &*begin)];
    let preview = app.post_signed(NEW, grace_cookie, &fields).await;
    for part in [
        "Access that you gain",
        "<dt>Reason</dt><dd>Two lines</dd>",
        "<dt>Ticket</dt><dd>OPS-7</dd>",
        &*format!(r#"<dt>Not before</dt><dd><time datetime="{day}T09:00:00.000Z">{day} 09:00 UTC</time></dd>"#),
        "The time runs from the moment below, or from the approval if that is later",
    ] {
        assert!(preview.body.contains(part), "{part}: {}", preview.body);
    }
}

#[tokio::test]
async fn who_asks_is_told_that_too_few_can_decide() {
    let signed = signed_in_to(App::with_mail().await).await;
    let Signed { app, ada, grace_cookie, role, grace, .. } = &signed;
    let new = NewEligibility { approvals: Some(2), ..NewEligibility::of_user(*role, *grace) };
    let id = app.iam.eligibilities().create(ada, new).await.unwrap().id.to_string();
    let fields = [("eligibility", &*id), ("reason", "Disk")];
    let preview = app.post_signed(NEW, grace_cookie, &fields).await.body;
    let too_few = "2 approvals are needed, but only 1 other user can decide about it now.";
    for part in [too_few, "The approvers get a message about your request."] {
        assert!(preview.contains(part), "{part}: {preview}");
    }
    assert!(!preview.contains(EMAIL), "who asks may not know who decides: {preview}");
    let sent = app.post_signed(NEW, grace_cookie, &[&fields[..], &[("confirmed", "yes")]].concat()).await;
    let page = app.get(sent.location(), grace_cookie).await.body;
    assert!(page.contains(too_few), "{page}");
    app.person_with(ada, "alan@example.com", &["access-requests:update"]).await;
    let page = app.get(sent.location(), grace_cookie).await.body;
    assert!(!page.contains("decide about it now"), "{page}");
}

#[tokio::test]
async fn the_address_of_an_action_leads_to_the_request() {
    let signed = signed().await;
    let asked = signed.ask().await.id;
    for action in ["/approve", "/deny", "/cancel", "/end"] {
        let opened = signed.app.get(&signed.path(asked, action), &signed.cookie).await;
        assert_eq!(opened.status, StatusCode::SEE_OTHER, "{action}: {}", opened.body);
        assert_eq!(opened.location(), signed.path(asked, ""), "{action}");
    }
}

#[tokio::test]
async fn a_decision_is_about_what_the_page_has_shown() {
    let signed = signed().await;
    let Signed { app, ada, cookie, role, .. } = &signed;
    let asked = signed.ask().await.id;
    let version = signed.page(asked).await.hidden("version");
    let permissions = Some(vec!["users:read".to_owned(), "users:update".to_owned()]);
    app.iam.roles().update(ada, *role, RolePatch { permissions, ..RolePatch::default() }).await.unwrap();
    let fields = [("version", &*version), ("reason", "Go on")];
    let late = app.post_signed(&signed.path(asked, "/approve"), cookie, &fields).await;
    assert_eq!(late.status, StatusCode::PRECONDITION_FAILED, "{}", late.body);
    let again = format!(r#"<a href="{}">Open it again</a>"#, signed.path(asked, ""));
    assert!(late.body.contains(&again) && late.body.contains(r#"value="Go on""#), "{}", late.body);
    assert!(signed.stored(asked).await.decisions.is_empty());
    let long = "x".repeat(501);
    for (wrong, text) in [(&*long, "500 characters"), (" ", "Reason must say why you deny")] {
        let refused = signed.decide(asked, "/deny", &[("reason", wrong)]).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        let is_at_field = refused.body.contains(r#"id="reason-error""#) && refused.body.contains(text);
        assert!(is_at_field && refused.body.contains(wrong), "{}", refused.body);
        assert!(refused.body.contains(r#"<details class="confirm" open><summary>Deny"#), "{}", refused.body);
    }
    let denied = signed.decide(asked, "/deny", &[("reason", "Not now")]).await;
    let page = app.get(denied.location(), &signed.grace_cookie).await.body;
    assert!(page.contains("Denied") && page.contains("Not now") && !page.contains("/cancel"), "{page}");
    assert_eq!(signed.stored(asked).await.status, AccessRequestStatus::Denied);
    // The first page tells the person who asked, for a week.
    let overview = app.get("/console", &signed.grace_cookie).await.body;
    assert!(overview.contains(&signed.path(asked, "")) && overview.contains("Not now"), "{overview}");
    app.clock.advance(TimeDelta::days(8));
    let later = app.sign_in(GRACE).await;
    assert!(!app.get("/console", &later).await.body.contains("Not now"));
}

#[tokio::test]
async fn a_page_says_what_is_so_now_and_not_what_was_so_after_an_action() {
    let signed = signed().await;
    let Signed { app, ada, grace_cookie, role, grace, .. } = &signed;
    let asked = signed.ask().await.id;
    let (sent, approved) = (signed.path(asked, "?done=asked"), signed.path(asked, "?done=approved"));
    let body = async |path: &str| app.get(path, grace_cookie).await.body;
    assert!(body(&sent).await.contains("The request is sent."));
    signed.decide(asked, "/approve", &[]).await;
    for (path, text) in [(&sent, "You have ENGINEER until <time"), (&approved, "grace@example.com has ENGINEER until")]
    {
        let page = body(path).await;
        assert!(page.contains(text) && !page.contains("The request is sent"), "{page}");
        assert!(page.contains("<dt>Started</dt>") && page.contains("<dt>Ends</dt>"), "{page}");
    }
    app.post_signed(&signed.path(asked, "/end"), grace_cookie, &[]).await;
    let again = app.post_signed(&signed.path(asked, "/end"), grace_cookie, &[]).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(again.body.contains("The access has ended already."), "{}", again.body);
    let page = body(&sent).await;
    for part in ["<dt>Started</dt>", "<dt>Planned end</dt>", "<dt>Ended</dt>"] {
        assert!(page.contains(part) && !page.contains("You have ENGINEER"), "{part}: {page}");
    }
    let new = NewEligibility { approvals: Some(0), ..NewEligibility::of_user(*role, *grace) };
    let eligibility = app.iam.eligibilities().create(ada, new).await.unwrap().id;
    let starts_at = Some(app.iam.now() + TimeDelta::days(1));
    let new = NewAccessRequest { eligibility, seconds: None, reason: "Disk".into(), ticket: None, starts_at };
    let later = app.iam.access_requests().create(&app.caller(GRACE).await, new).await.unwrap().id;
    let page = body(&signed.path(later, "?done=asked")).await;
    assert!(page.contains("You get ENGINEER on <time") && !page.contains("0 of 0"), "{page}");
    let overview = body("/console").await;
    assert!(overview.contains("starts <time datetime=\"2026-02-01T09:15"), "{overview}");
    app.post_signed(&signed.path(later, "/cancel"), grace_cookie, &[]).await;
    assert!(body(&signed.path(later, "")).await.contains("<dt>Planned start</dt>"));
}

#[tokio::test]
async fn a_decision_that_comes_too_late_is_told_what_has_become_of_the_request() {
    let signed = signed().await;
    let Signed { app, cookie, grace_cookie, .. } = &signed;
    let asked = signed.ask().await.id;
    let version = signed.page(asked).await.hidden("version");
    app.post_signed(&signed.path(asked, "/cancel"), grace_cookie, &[]).await;
    let late = app.post_signed(&signed.path(asked, "/approve"), cookie, &[("version", &version)]).await;
    assert_eq!(late.status, StatusCode::PRECONDITION_FAILED, "{}", late.body);
    assert!(late.body.contains("grace@example.com has cancelled this request"), "{}", late.body);
}

#[tokio::test]
async fn an_approval_for_an_earlier_role_is_marked_until_the_request_is_decided() {
    let signed = signed().await;
    let Signed { app, ada, role, grace, .. } = &signed;
    let new = NewEligibility { approvals: Some(2), ..NewEligibility::of_user(*role, *grace) };
    let eligibility = app.iam.eligibilities().create(ada, new).await.unwrap().id;
    let (seconds, reason) = (None, "Disk".to_owned());
    let new = NewAccessRequest { eligibility, seconds, reason, ticket: None, starts_at: None };
    let asked = app.iam.access_requests().create(&app.caller(GRACE).await, new).await.unwrap().id;
    app.person_with(ada, "alan@example.com", &["access-requests:update"]).await;
    let alan = app.caller("alan@example.com").await;
    let rename = async |name: &str| {
        let patch = RolePatch { name: Some(name.to_owned()), ..RolePatch::default() };
        app.iam.roles().update(ada, *role, patch).await.unwrap();
    };
    let approved = signed.decide(asked, "/approve", &[]).await;
    let page = app.get(approved.location(), &signed.cookie).await.body;
    assert!(page.contains("Your approval is saved") && page.contains("1 of 2"), "{page}");
    rename("ENGINEER_NOW").await;
    let page = app.get(approved.location(), &signed.cookie).await.body;
    for part in ["0 of 2", "does not count any more: the role has changed since", "decide again", "/approve"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Your approval is saved"), "{page}");
    signed.decide(asked, "/approve", &[]).await;
    app.iam.access_requests().approve(&alan, asked, None, &Precondition::Exists).await.unwrap();
    rename("ENGINEER_LATER").await;
    let page = signed.page(asked).await.body;
    assert!(page.contains("2 of 2") && !page.contains("does not count any more"), "{page}");
}

#[tokio::test]
async fn ones_own_access_for_a_time_needs_no_hand() {
    let signed = signed().await;
    let Signed { app, ada, cookie, role, grace, .. } = &signed;
    let elevate = async |user: UserId, by: &Caller| {
        let new = NewEligibility { approvals: Some(0), ..NewEligibility::of_user(*role, user) };
        let eligibility = app.iam.eligibilities().create(ada, new).await.unwrap().id;
        let new = NewAccessRequest { eligibility, seconds: None, reason: "Disk".into(), ticket: None, starts_at: None };
        app.iam.access_requests().create(by, new).await.unwrap();
    };
    elevate(ada.user().unwrap(), ada).await;
    let overview = app.get("/console", cookie).await.body;
    assert!(overview.contains("Temporary access") && !overview.contains("hand-assignments"), "{overview}");
    elevate(*grace, &app.caller(GRACE).await).await;
    assert!(app.get("/console", cookie).await.body.contains("hand-assignments"));
}

/// A person who may look nothing up decides, and reads names in place of identifiers.
#[tokio::test]
async fn the_names_of_what_a_request_mentions_are_shown_to_all_who_see_it() {
    let signed = signed().await;
    let Signed { app, ada, role, branch, grace, .. } = &signed;
    app.person_with(ada, "alan@example.com", &[]).await;
    let approver_role = app.iam.roles().by_name(ada, "ALAN").await.unwrap().map(|role| role.id);
    let new = NewEligibility { organization: Some(*branch), approver_role, ..NewEligibility::of_user(*role, *grace) };
    let eligibility = app.iam.eligibilities().create(ada, new).await.unwrap().id;
    let (seconds, reason) = (None, "Disk".to_owned());
    let new = NewAccessRequest { eligibility, seconds, reason, ticket: None, starts_at: None };
    let asked = app.iam.access_requests().create(&app.caller(GRACE).await, new).await.unwrap().id;
    let alan = app.sign_in("alan@example.com").await;
    let page = app.get(&signed.path(asked, ""), &alan).await;
    for part in ["the holders of ALAN", "<ins>Gains</ins> 1 permission in Branch &#60;1&#62;", "<li>grace@example.com"]
    {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    let fields = [("version", &*page.hidden("version"))];
    app.post_signed(&signed.path(asked, "/approve"), &alan, &fields).await;
    let own = app.get(&signed.path(asked, ""), &signed.grace_cookie).await.body;
    assert!(own.contains("by alan@example.com") && own.contains("the holders of ALAN"), "{own}");
    assert!(app.get(&signed.path(asked, ""), &alan).await.body.contains("by you"));
}

#[tokio::test]
async fn a_decision_needs_a_recent_proof_which_keeps_the_form() {
    let signed = signed().await;
    let asked = signed.ask().await.id;
    signed.app.clock.advance(TimeDelta::minutes(11));
    let waiting = signed.decide(asked, "/approve", &[("reason", "Go on")]).await;
    assert_eq!(waiting.status, StatusCode::FORBIDDEN);
    assert!(waiting.body.contains("proof-password") && waiting.hidden("reason") == "Go on", "{}", waiting.body);
    let action = format!(r#"action="{}""#, signed.path(asked, "/approve"));
    assert!(waiting.body.contains(&action), "{}", waiting.body);
    let approved = signed.decide(asked, "/approve", &[("reason", "Go on"), ("proof-password", PASSWORD)]).await;
    assert_eq!(approved.status, StatusCode::SEE_OTHER, "{}", approved.body);
    assert_eq!(signed.stored(asked).await.status, AccessRequestStatus::Active);
}

#[tokio::test]
async fn what_the_services_refuse_is_said_on_the_page() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace_cookie, eligibility, .. } = &signed;
    let asked = signed.ask().await.id;
    let version = signed.page(asked).await.hidden("version");
    // One's own request, and one of another person that cannot become effective any more.
    let own = app.post_signed(&signed.path(asked, "/approve"), grace_cookie, &[("version", &version)]).await;
    assert_eq!(own.status, StatusCode::FORBIDDEN);
    assert!(own.body.contains("You cannot decide about your own access request"), "{}", own.body);
    app.iam.eligibilities().delete(ada, eligibility.id).await.unwrap();
    let page = signed.page(asked).await.body;
    let nothing = "This request can no longer take effect";
    assert!(page.contains(nothing) && page.contains("Close request") && !page.contains("/deny"), "{page}");
    let own = app.get(&signed.path(asked, ""), grace_cookie).await.body;
    assert!(own.contains(nothing) && !own.contains("Close request"), "{own}");
    assert!(own.contains("The eligibility by which the person asked has ended."), "{own}");
    let gone = signed.decide(asked, "/approve", &[]).await;
    assert_eq!(gone.status, StatusCode::CONFLICT);
    assert!(gone.body.contains("The request is cancelled:") && gone.body.contains("Cancelled"), "{}", gone.body);
    let because = "Cancelled by the service: the eligibility or the role has changed since";
    for path in [signed.path(asked, ""), LIST.to_owned()] {
        let body = app.get(&path, grace_cookie).await.body;
        assert!(body.contains(because) && !body.contains("by ada@"), "{path}: {body}");
    }
    let late = app.post_signed(&signed.path(asked, "/cancel"), grace_cookie, &[]).await;
    assert_eq!(late.status, StatusCode::CONFLICT);
    assert!(late.body.contains("neither pending nor approved for later"), "{}", late.body);
    let ended = app.post_signed(&signed.path(asked, "/end"), cookie, &[]).await;
    assert!(ended.status == StatusCode::CONFLICT && ended.body.contains("is not active"), "{}", ended.body);
}

#[tokio::test]
async fn who_decides_closes_a_request_that_comes_to_nothing() {
    let signed = signed().await;
    let asked = signed.ask().await.id;
    let narrow = EligibilityPatch { max_seconds: Some(300), ..EligibilityPatch::default() };
    signed.app.iam.eligibilities().update(&signed.ada, signed.eligibility.id, narrow).await.unwrap();
    assert!(signed.page(asked).await.body.contains("The eligibility allows at most 5 minutes now."));
    let closed = signed.decide(asked, "/approve", &[("closes", "yes")]).await;
    assert_eq!(closed.location(), signed.path(asked, "?done=cancelled"), "{}", closed.body);
    let page = signed.app.get(closed.location(), &signed.cookie).await.body;
    assert!(page.contains("The request is cancelled") && page.contains("Cancelled by the service"), "{page}");
    assert_eq!(signed.stored(asked).await.closed_by, None);
}

#[tokio::test]
async fn a_request_is_taken_back_and_others_do_not_see_it() {
    let signed = signed().await;
    let asked = signed.ask().await.id;
    signed.app.iam.users().create(&signed.ada, person("mary@example.com", "Mary")).await.unwrap();
    let mary = signed.app.sign_in("mary@example.com").await;
    assert_eq!(signed.app.get(&signed.path(asked, ""), &mary).await.status, StatusCode::NOT_FOUND);
    assert!(!signed.app.get(&format!("{LIST}?show=all"), &mary).await.body.contains("ENGINEER"));
    assert!(signed.app.get(NEW, &mary).await.body.contains("There is no role that you can request"));
    let cancelled = signed.app.post_signed(&signed.path(asked, "/cancel"), &signed.grace_cookie, &[]).await;
    let page = signed.app.get(cancelled.location(), &signed.grace_cookie).await.body;
    assert!(page.contains("The request is cancelled") && !page.contains("/cancel\""), "{page}");
    // Another person gives a reason, which the one who has asked reads.
    let asked = signed.ask().await.id;
    let page = signed.page(asked).await.body;
    assert!(page.contains(r#"name="closeReason""#) && page.contains(r#"name="reason""#), "{page}");
    let own = signed.app.get(&signed.path(asked, ""), &signed.grace_cookie).await.body;
    assert!(own.contains("/cancel\"") && !own.contains("closeReason"), "{own}");
    let long = "x".repeat(501);
    let refused =
        signed.app.post_signed(&signed.path(asked, "/cancel"), &signed.cookie, &[("closeReason", &long)]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(
        refused.body.contains(r#"id="closeReason-error""#) && refused.body.contains(r#""confirm" open>"#),
        "{}",
        refused.body
    );
    let fields = [("closeReason", "Not <now>")];
    signed.app.post_signed(&signed.path(asked, "/cancel"), &signed.cookie, &fields).await;
    let page = signed.app.get(&signed.path(asked, ""), &signed.grace_cookie).await.body;
    assert!(page.contains("by ada@example.com") && page.contains("Not &#60;now&#62;"), "{page}");
    // Who may only read has no forms.
    signed.app.person_with(&signed.ada, "alan@example.com", &["access-requests:read"]).await;
    let asked = signed.ask().await.id;
    let alan = signed.app.sign_in("alan@example.com").await;
    let page = signed.app.get(&signed.path(asked, ""), &alan).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(!page.body.contains("/approve") && !page.body.contains("/cancel\""), "{}", page.body);
}

#[tokio::test]
async fn the_list_of_all_has_filters_and_no_other_parameter() {
    let signed = signed().await;
    let Signed { app, cookie, role, branch, .. } = &signed;
    let asked = signed.ask().await.id;
    let row = signed.path(asked, "\"");
    for (query, expected) in [
        ("", true),
        ("&status=PENDING", true),
        ("&status=ACTIVE", false),
        ("&user=grace@example.com", true),
        ("&user=ada@example.com", false),
        (&*format!("&role={role}"), true),
        (&*format!("&organization={branch}"), true),
        ("&from=2026-01-31&until=2026-01-31", true),
        ("&from=2026-02-01", false),
        ("&until=2026-01-30", false),
    ] {
        let body = app.get(&format!("{LIST}?show=all{query}"), cookie).await.body;
        assert_eq!(body.contains(&row), expected, "{query}: {body}");
        let none = body.contains("No access request matches");
        assert_eq!(none, !expected, "{query}: {body}");
    }
    let own = app.get(&format!("{LIST}?show=own"), cookie).await.body;
    assert!(!own.contains(&row), "the first list has one's own: {own}");
    let all = app.get(&format!("{LIST}?show=all"), cookie).await.body;
    assert!(all.contains(r#"<span class="hint">Requested <time datetime="2026-01-31T09:15"#), "{all}");
    assert!(all.contains("/console/audit?resource=ACCESS_REQUEST&amp;action=CREATE"), "{all}");
    for wrong in ["show=some", "show=all&sort=x", "show=all&status=OPEN", "show=all&user=nobody", "show=all&from=x"] {
        assert_eq!(app.get(&format!("{LIST}?{wrong}"), cookie).await.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    let sent = request(Method::GET, &format!("{LIST}?show=all"), cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await.body;
    assert!(part.contains(&row) && part.contains(">1 access request</p>") && !part.contains("<html"), "{part}");
}

#[tokio::test]
async fn the_page_opens_with_what_waits_for_the_person_unless_it_waits_itself() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace_cookie, role, .. } = &signed;
    let row = signed.path(signed.ask().await.id, "\"");
    let opens_with_it = async |cookie: &str| app.get(LIST, cookie).await.body.contains(&row);
    assert!(opens_with_it(cookie).await && opens_with_it(grace_cookie).await);
    let new = NewEligibility::of_user(*role, ada.user().unwrap());
    let eligibility = app.iam.eligibilities().create(ada, new).await.unwrap().id;
    let new = NewAccessRequest { eligibility, seconds: None, reason: "Disk".into(), ticket: None, starts_at: None };
    app.iam.access_requests().create(ada, new).await.unwrap();
    assert!(!opens_with_it(cookie).await);
}

#[tokio::test]
async fn a_person_who_acts_as_another_is_told_that_it_cannot_ask_or_decide() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace, eligibility, .. } = &signed;
    let act = format!("/console/users/{grace}/act");
    let acting = app.post_signed(&act, cookie, &[("reason", "A question"), ("seconds", "900")]).await.cookies("");
    let choice = app.get(NEW, &acting).await.body;
    assert!(
        choice.contains("You are acting as another user, and cannot request") && !choice.contains("?eligibility="),
        "{choice}"
    );
    let id = eligibility.id.to_string();
    let refused = app.post_signed(NEW, &acting, &[("eligibility", &id), ("reason", "Disk")]).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(refused.body.contains("You are acting as another user"), "{}", refused.body);
    app.person_with(ada, "alan@example.com", &["access-requests:*"]).await;
    let alan = app.caller("alan@example.com").await;
    let asked = signed.ask().await.id;
    let version = app.iam.access_requests().get(&alan, asked).await.unwrap().version.to_string();
    let act = format!("/console/users/{}/act", alan.user().unwrap());
    let acting = app.post_signed(&act, cookie, &[("reason", "A question"), ("seconds", "900")]).await.cookies("");
    let page = app.get(&signed.path(asked, ""), &acting).await;
    assert!(page.status == StatusCode::OK && !page.body.contains("/approve"), "{}", page.body);
    let refused = app.post_signed(&signed.path(asked, "/approve"), &acting, &[("version", &version)]).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(refused.body.contains("You are acting as another user"), "{}", refused.body);
    assert!(signed.stored(asked).await.decisions.is_empty());
}

#[tokio::test]
async fn an_assignment_by_a_request_says_so_and_its_end_is_that_of_the_request() {
    let signed = signed().await;
    let Signed { app, cookie, grace, .. } = &signed;
    let asked = signed.ask().await.id;
    signed.decide(asked, "/approve", &[]).await;
    let held = signed.held().await.remove(0).id;
    let assignment = format!("/console/assignments/{held}");
    for path in [
        format!("/console/users/{grace}"),
        format!("/console/assignments?user={grace}"),
        format!("/console/access?user={grace}&permission=users:read&organization={}", signed.branch),
    ] {
        let body = app.get(&path, cookie).await.body;
        assert!(body.contains("by an access request"), "{path}: {body}");
    }
    let user = app.get(&format!("/console/users/{grace}"), cookie).await.body;
    assert!(user.contains(&format!("{LIST}?show=all&amp;user={grace}")), "{user}");
    let page = app.get(&format!("{assignment}?user={grace}"), cookie).await.body;
    assert!(page.contains(&signed.path(asked, "\"")) && page.contains("It ends with the request"), "{page}");
    assert!(page.contains("/revoke?") && !page.contains("/end?"), "{page}");
    let fields = [("until", "2026-12-31T00:00"), ("confirmed", "yes")];
    let refused = app.post_signed(&format!("{assignment}/end?user={grace}"), cookie, &fields).await;
    assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.body);
    assert!(refused.body.contains("End the request instead"), "{}", refused.body);
    app.post_signed(&format!("{assignment}/revoke?user={grace}"), cookie, &[("confirmed", "yes")]).await;
    assert_eq!(signed.stored(asked).await.status, AccessRequestStatus::Ended);
}

#[tokio::test]
async fn a_request_keeps_the_name_of_a_role_that_is_deleted() {
    let signed = signed().await;
    let Signed { app, ada, grace_cookie, eligibility, role, .. } = &signed;
    let asked = signed.ask().await.id;
    signed.decide(asked, "/deny", &[("reason", "No")]).await;
    app.iam.eligibilities().delete(ada, eligibility.id).await.unwrap();
    app.iam.roles().delete(ada, *role).await.unwrap();
    for path in [signed.path(asked, ""), LIST.to_owned()] {
        let body = app.get(&path, grace_cookie).await.body;
        assert!(body.contains("ENGINEER (deleted)"), "{path}: {body}");
    }
    let log = app.get("/console/audit", &signed.cookie).await.body;
    assert!(log.contains("grace@example.com requested the role ENGINEER in"), "{log}");
}
