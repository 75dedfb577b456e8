#![cfg(test)]

use axum::http::StatusCode;
use chrono::TimeDelta;
use iam_core::access_request::NewAccessRequest;
use iam_core::access_review::{NewAccessReview, NewDecision, ReviewDecision};
use iam_core::assignment::NewAssignment;
use iam_core::eligibility::{Eligibility, EligibilityPatch, Eligible, NewEligibility};
use iam_core::organization::NewOrganization;
use iam_core::page::PageRequest;
use iam_core::role::NewRole;
use iam_core::{Caller, OrganizationId, RoleId, UserId};

use crate::app::{App, EMAIL, PASSWORD, person};

const LIST: &str = "/console/eligibilities";
const NEW: &str = "/console/eligibilities/new";
const GRACE: &str = "grace@example.com";

/// A console with an administrator that is signed in, and Grace.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    grace: UserId,
    north: OrganizationId,
}

async fn signed() -> Signed {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person(GRACE, "Grace")).await.unwrap().id;
    let new = NewOrganization { name: "North".into(), ..NewOrganization::default() };
    let north = app.iam.organizations().create(&ada, new).await.unwrap().organization.id;
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, grace, north }
}

impl Signed {
    async fn role(&self, name: &str) -> RoleId {
        self.app.iam.roles().by_name(&self.ada, name).await.unwrap().unwrap().id
    }

    /// Lets Grace ask for AUDITOR.
    async fn make(&self) -> Eligibility {
        let new = NewEligibility::of_user(self.role("AUDITOR").await, self.grace);
        self.app.iam.eligibilities().create(&self.ada, new).await.unwrap()
    }

    async fn all(&self) -> Vec<Eligibility> {
        let found = self.app.iam.eligibilities().list(&self.ada, PageRequest::default()).await.unwrap().items;
        found.into_iter().map(|listed| listed.eligibility).collect()
    }
}

#[tokio::test]
async fn an_eligibility_is_made_changed_and_removed() {
    let signed = signed().await;
    let Signed { app, cookie, north, .. } = &signed;
    let none = app.get(LIST, cookie).await.body;
    assert!(none.contains("There is no eligibility yet") && none.contains(NEW), "{none}");
    let fields = [
        ("role", "organization admin"),
        ("organization", "north"),
        ("who", "holders"),
        ("heldRole", "MEMBER"),
        // The field that is hidden then.
        ("user", GRACE),
        ("maxSeconds", "3600"),
        ("approvals", "2"),
        ("approverRole", "AUDITOR"),
        ("until", "2026-06-30T12:00"),
    ];
    let made = app.post_signed(NEW, cookie, &fields).await;
    assert_eq!(made.status, StatusCode::SEE_OTHER, "{}", made.body);
    let stored = signed.all().await.remove(0);
    assert_eq!(made.location(), format!("{LIST}/{}?done=created", stored.id));
    assert_eq!(stored.eligible, Eligible::HoldersOf(signed.role("MEMBER").await));
    assert_eq!((stored.organization_id, stored.max_seconds, stored.approvals), (Some(*north), 3_600, 2));
    assert_eq!(stored.approver_role_id, Some(signed.role("AUDITOR").await));
    let page = app.get(made.location(), cookie).await;
    for part in [
        "The eligibility is created",
        "the holders of MEMBER",
        "the holders of AUDITOR",
        "ORGANIZATION_ADMIN",
        "North",
        "1 hour",
        r#"value="2026-06-30T12:00""#,
        r#"<option value="2" selected>Two other people</option>"#,
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    let list = app.get(LIST, cookie).await.body;
    assert!(
        list.contains("the holders of MEMBER") && list.contains("2 other people") && list.contains("2026-06-30"),
        "{list}"
    );

    let path = format!("{LIST}/{}", stored.id);
    let version = page.hidden("version");
    let wider =
        [("maxSeconds", "7200"), ("approvals", "1"), ("approverRole", ""), ("until", ""), ("version", &*version)];
    let saved = app.post_signed(&path, cookie, &wider).await;
    assert_eq!(saved.location(), format!("{path}?done=saved"), "{}", saved.body);
    let after = signed.all().await.remove(0);
    assert_eq!((after.max_seconds, after.approvals), (7_200, 1));
    assert_eq!((after.approver_role_id, after.expires_at), (None, None));
    for action in ["", "/delete"] {
        let late = app.post_signed(&format!("{path}{action}"), cookie, &wider).await;
        assert_eq!(late.status, StatusCode::PRECONDITION_FAILED, "{action}");
        let again = format!(r#"<a href="{path}">Open it again</a>"#);
        assert!(late.body.contains("The eligibility has changed") && late.body.contains(&again), "{}", late.body);
    }
    let version = app.get(&path, cookie).await.hidden("version");
    let removed = app.post_signed(&format!("{path}/delete"), cookie, &[("version", &version)]).await;
    let list = app.get(removed.location(), cookie).await.body;
    assert!(list.contains("The eligibility is removed") && signed.all().await.is_empty(), "{list}");
}

#[tokio::test]
async fn a_typed_text_that_only_one_matches_names_it() {
    let signed = signed().await;
    let [role, user] = ["audit", "grac"];
    let made = signed.app.post_signed(NEW, &signed.cookie, &[("role", role), ("user", user)]).await;
    assert_eq!(made.status, StatusCode::SEE_OTHER, "{}", made.body);
    let stored = signed.all().await.remove(0);
    assert_eq!(stored.role_id, signed.role("AUDITOR").await);
    assert_eq!(stored.eligible, Eligible::User(signed.grace));
    // Several roles have this in their names, and an empty field means none.
    for role in ["admin", ""] {
        let refused = signed.app.post_signed(NEW, &signed.cookie, &[("role", role), ("user", user)]).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{role}: {}", refused.body);
        assert!(refused.body.contains(r#"id="role-error""#), "{role}: {}", refused.body);
    }
}

#[tokio::test]
async fn a_page_says_how_many_can_ask_and_decide() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace, north } = &signed;
    let [auditor, member] = [signed.role("AUDITOR").await, signed.role("MEMBER").await];
    let new = NewEligibility { held_role: Some(member), user: None, ..NewEligibility::of_user(auditor, *grace) };
    let made = app.iam.eligibilities().create(ada, new).await.unwrap();
    let give = async |organization| {
        let new = NewAssignment { user: *grace, role: member, organization, expires_at: None };
        app.iam.assignments().create(ada, new).await.unwrap();
    };
    let path = format!("{LIST}/{}", made.id);
    give(Some(*north)).await;
    let page = app.get(&path, cookie).await.body;
    for part in [
        "No user holds MEMBER in the whole tenant, so no user can request access now. Roles in organizations do not count.",
        "<dt>Eligible now</dt><dd>0 people</dd>",
        "<dt>Approvers now</dt><dd>1 person: ada@example.com</dd>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    give(None).await;
    let page = app.get(&path, cookie).await.body;
    assert!(page.contains("<dt>Eligible now</dt><dd>1 person</dd>"), "{page}");
    assert!(!page.contains("No user holds") && !page.contains("Too few users"), "{page}");
    let patch = EligibilityPatch { approvals: Some(2), ..EligibilityPatch::default() };
    app.iam.eligibilities().update(ada, made.id, patch).await.unwrap();
    let page = app.get(&path, cookie).await.body;
    assert!(page.contains("Too few users can decide now"), "{page}");
}

#[tokio::test]
async fn who_narrows_an_eligibility_is_told_which_requests_ask_for_too_much() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    let made = signed.make().await;
    let path = format!("{LIST}/{}", made.id);
    let new = NewAccessRequest {
        eligibility: made.id,
        seconds: Some(3_600),
        reason: "Disk".into(),
        ticket: None,
        starts_at: None,
    };
    app.iam.access_requests().create(&app.caller(GRACE).await, new).await.unwrap();
    let save = async |seconds: &str| {
        let page = app.get(&path, cookie).await;
        let link = format!("/console/access-requests?show=all&#38;role={}", made.role_id);
        assert!(page.body.contains(&link), "{}", page.body);
        let version = page.hidden("version");
        let fields = [("maxSeconds", seconds), ("approvals", "1"), ("version", &*version)];
        let saved = app.post_signed(&path, cookie, &fields).await;
        app.get(saved.location(), cookie).await.body
    };
    let page = save("7200").await;
    assert!(page.contains("The changes are saved") && !page.contains("waiting request"), "{page}");
    let page = save("300").await;
    assert!(page.contains("1 waiting request asks for more than this eligibility allows now"), "{page}");
}

#[tokio::test]
async fn an_eligibility_that_has_ended_says_so() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace, .. } = &signed;
    let expires_at = Some(app.iam.now() + TimeDelta::minutes(5));
    let new = NewEligibility { expires_at, ..NewEligibility::of_user(signed.role("AUDITOR").await, *grace) };
    let made = app.iam.eligibilities().create(ada, new).await.unwrap().id;
    assert!(!app.get(LIST, cookie).await.body.contains("status ENDED"));
    app.clock.advance(TimeDelta::minutes(5));
    assert!(app.get(LIST, cookie).await.body.contains(r#"<span class="status ENDED">Ended</span>"#));
    let page = app.get(&format!("{LIST}/{made}"), cookie).await.body;
    assert!(page.contains("This eligibility has ended"), "{page}");
}

#[tokio::test]
async fn the_page_of_a_role_leads_to_its_eligibilities() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace, .. } = &signed;
    let new = NewRole { name: "ENGINEER".into(), permissions: vec!["users:read".into()], ..NewRole::default() };
    let role = app.iam.roles().create(ada, new).await.unwrap().id;
    let path = format!("/console/roles/{role}");
    let form = format!("{NEW}?role={role}");
    let page = app.get(&path, cookie).await;
    assert!(page.body.contains(&form), "{}", page.body);
    assert!(app.get(&form, cookie).await.body.contains(r#"value="ENGINEER""#));
    assert!(!page.body.contains("Can be requested by"), "{}", page.body);
    let approver =
        app.iam.roles().create(ada, NewRole { name: "APPROVER".into(), ..NewRole::default() }).await.unwrap();
    let new = NewEligibility { approver_role: Some(approver.id), ..NewEligibility::of_user(role, *grace) };
    let made = app.iam.eligibilities().create(ada, new).await.unwrap().id;
    let shown = app.get(&path, cookie).await.body;
    let link = format!(r#"<a href="{LIST}/{made}">grace@example.com · the whole tenant</a>"#);
    assert!(shown.contains("Can be requested by") && shown.contains(&link), "{shown}");
    let deciding = app.get(&format!("/console/roles/{}", approver.id), cookie).await.body;
    let link = format!(r#"<a href="{LIST}/{made}">ENGINEER · the whole tenant</a>"#);
    for part in ["No permissions.", "Decides about requests for", &*link] {
        assert!(deciding.contains(part), "{part}: {deciding}");
    }
    app.person_with(ada, "alan@example.com", &["roles:read"]).await;
    let alan = app.sign_in("alan@example.com").await;
    assert!(!app.get(&path, &alan).await.body.contains("Can be requested by"));
    let refused = app.post_signed(&format!("{path}/delete"), cookie, &[("version", &page.hidden("version"))]).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.body.contains("Show eligibilities"), "{}", refused.body);
}

#[tokio::test]
async fn a_mistake_is_shown_at_its_field_and_nothing_typed_is_lost() {
    let signed = signed().await;
    for (field, wrong, named) in [
        ("role", "no such role", "role"),
        // This role is held in organizations only.
        ("role", "ORGANIZATION_ADMIN", "organization"),
        ("organization", "nowhere", "organization"),
        ("user", "", "user"),
        ("user", "nobody", "user"),
        ("who", "holders", "heldRole"),
        ("maxSeconds", "299", "maxSeconds"),
        ("maxSeconds", "long", "maxSeconds"),
        ("approvals", "3", "approvals"),
        ("approverRole", "no such role", "approverRole"),
        ("until", "2026-01-01T00:00", "until"),
        ("until", "soon", "until"),
    ] {
        let good = [("role", "AUDITOR"), ("user", GRACE), ("approvals", "2"), ("maxSeconds", "3600")];
        let kept = good.into_iter().filter(|(name, _)| *name != field);
        let fields: Vec<(&str, &str)> = kept.chain([(field, wrong)]).collect();
        let answer = signed.app.post_signed(NEW, &signed.cookie, &fields).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{field} {wrong}: {}", answer.body);
        assert!(answer.body.contains(&format!(r#"id="{named}-error""#)), "{field} {wrong}: {}", answer.body);
        let other = if field == "user" { r#"value="AUDITOR""# } else { r#"value="grace@example.com""# };
        assert!(answer.body.contains(other), "{field}: {}", answer.body);
    }
    assert!(signed.all().await.is_empty());
}

#[tokio::test]
async fn what_gives_more_needs_a_recent_proof_and_less_does_not() {
    let signed = signed().await;
    let made = signed.make().await;
    let path = format!("{LIST}/{}", made.id);
    signed.app.clock.advance(TimeDelta::minutes(11));
    let change = async |seconds: &str, more: &[(&str, &str)]| {
        let version = signed.app.get(&path, &signed.cookie).await.hidden("version");
        let fields =
            [("maxSeconds", seconds), ("approvals", "1"), ("approverRole", ""), ("until", ""), ("version", &*version)];
        signed.app.post_signed(&path, &signed.cookie, &[&fields[..], more].concat()).await
    };
    assert_eq!(change("3600", &[]).await.status, StatusCode::SEE_OTHER);
    let waiting = change("7200", &[]).await;
    assert_eq!(waiting.status, StatusCode::FORBIDDEN);
    assert!(waiting.body.contains("proof-password") && waiting.hidden("maxSeconds") == "7200", "{}", waiting.body);
    assert_eq!(change("7200", &[("proof-password", PASSWORD)]).await.status, StatusCode::SEE_OTHER);
    assert_eq!(signed.all().await[0].max_seconds, 7_200);
}

#[tokio::test]
async fn who_may_only_read_sees_no_forms_and_others_see_nothing() {
    let signed = signed().await;
    let Signed { app, ada, .. } = &signed;
    let made = signed.make().await;
    // A change that another client made is shown as it is.
    let odd = EligibilityPatch { max_seconds: Some(5_000), ..EligibilityPatch::default() };
    app.iam.eligibilities().update(ada, made.id, odd).await.unwrap();
    let path = format!("{LIST}/{}", made.id);
    let page = app.get(&path, &signed.cookie).await.body;
    assert!(page.contains(r#"<option value="5000" selected>1 hour 23 minutes 20 seconds"#), "{page}");
    app.person_with(ada, "mary@example.com", &["eligibilities:read"]).await;
    let mary = app.sign_in("mary@example.com").await;
    let page = app.get(&path, &mary).await;
    assert!(page.status == StatusCode::OK && page.body.contains("AUDITOR"), "{}", page.body);
    assert!(!page.body.contains(&format!(r#"action="{path}"#)), "{}", page.body);
    assert!(!app.get(LIST, &mary).await.body.contains(NEW));
    let version = app.get(&path, &signed.cookie).await.hidden("version");
    for path in [format!("{path}/delete"), path.clone(), NEW.to_owned()] {
        let fields = [("role", "AUDITOR"), ("user", GRACE), ("maxSeconds", "300"), ("version", &*version)];
        let refused = app.post_signed(&path, &mary, &fields).await;
        assert!(matches!(refused.status, StatusCode::FORBIDDEN | StatusCode::BAD_REQUEST), "{path}: {}", refused.body);
    }
    assert_eq!(signed.all().await.len(), 1);
    let grace = app.sign_in(GRACE).await;
    for path in [LIST, &*path] {
        assert_eq!(app.get(path, &grace).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert!(!app.get("/console", &grace).await.body.contains(LIST));
}

#[tokio::test]
async fn a_review_shows_an_eligibility_in_words_and_removes_it() {
    let signed = signed().await;
    let Signed { app, ada, cookie, north, .. } = &signed;
    let (role, held) = (signed.role("ORGANIZATION_ADMIN").await, signed.role("MEMBER").await);
    let of_grace = NewEligibility { organization: Some(*north), ..NewEligibility::of_user(role, signed.grace) };
    app.iam.eligibilities().create(ada, of_grace).await.unwrap();
    let of_holders = NewEligibility { user: None, held_role: Some(held), ..of_grace };
    app.iam.eligibilities().create(ada, of_holders).await.unwrap();
    let due_at = "2026-02-28T12:00:00Z".parse().unwrap();
    let (organization, roles, users) = (Some(*north), Vec::new(), Vec::new());
    let new = NewAccessReview { name: "North".into(), organization, roles, users, due_at };
    let review = app.iam.access_reviews().create(ada, new).await.unwrap().review.id;
    let path = format!("/console/access-reviews/{review}");
    let page = app.get(&path, cookie).await.body;
    for part in ["eligible for ORGANIZATION_ADMIN · North", "<strong>the holders of MEMBER</strong>", "Eligible since"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    let items = app.iam.access_reviews().all_items(ada, review, None).await.unwrap();
    assert_eq!(items.len(), 2);
    for listed in &items {
        let item = format!("{path}/items/{}", listed.item.id());
        let decided = app.post_signed(&item, cookie, &[("decision", "REVOKE"), ("reason", "")]).await;
        assert_eq!(decided.status, StatusCode::SEE_OTHER, "{}", decided.body);
    }
    let completed = app.post_signed(&format!("{path}/complete"), cookie, &[]).await;
    let page = app.get(completed.location(), cookie).await.body;
    assert!(page.contains("Revoked.") && signed.all().await.is_empty(), "{page}");
    // A user decides about none by which it may ask itself.
    let own = NewEligibility { user: ada.user(), ..of_grace };
    let own = app.iam.eligibilities().create(ada, own).await.unwrap().id;
    let new = NewAccessReview { name: "Own".into(), organization, roles: Vec::new(), users: Vec::new(), due_at };
    let review = app.iam.access_reviews().create(ada, new).await.unwrap().review.id;
    let page = app.get(&format!("/console/access-reviews/{review}"), cookie).await.body;
    assert!(
        page.contains("This is your own role, or one for which you are eligible") && !page.contains("hx-post"),
        "{page}"
    );
    let decision = NewDecision { decision: ReviewDecision::Keep, reason: None };
    assert!(app.iam.access_reviews().decide(ada, review, own, decision).await.is_err());
}
