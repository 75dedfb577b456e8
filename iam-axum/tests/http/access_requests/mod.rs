//! Access requests: users ask for a role for a time, and others agree (`docs/access-requests.md#requests`).

mod abuse;
mod decision;
mod ending;
mod list;
mod mail;
mod race;
mod standing;

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::api_key::text;
use crate::app::{TestApp, shown};
use crate::idempotency::was_replayed;
use crate::people::{Person, says, with};
use crate::request::{Request, Response, members};

in_memory![
    a_request_says_what_it_asks_for,
    missing_invalid_and_unknown_fields_are_named,
    the_bounds_are_allowed,
    it_needs_a_session_that_has_authenticated_recently,
    only_who_is_eligible_asks,
    a_user_has_one_open_request_by_each_eligibility,
    a_user_has_twenty_open_requests,
    a_role_that_the_user_holds_there_is_a_conflict,
    a_repeated_request_asks_once,
    without_approvals_it_is_active_at_once,
    a_preview_shows_what_would_be_gained,
    a_preview_that_is_refused_names_the_rule,
    what_happens_to_it_is_recorded,
];

impl TestApp {
    /// Asks for the role of an eligibility, with these members beside the smallest body.
    pub(crate) fn asks(&self, by: &Person, eligibility: &str, members: &Value) -> Request<'_> {
        let body = with(json!({ "eligibilityId": eligibility, "reason": "The disk is full." }), members);
        self.post("/access-requests").by(by).json(&body)
    }

    /// Asks for the role of an eligibility. Returns the id of the request.
    pub(crate) async fn access_request(&self, by: &Person, eligibility: &str) -> String {
        let made = self.asks(by, eligibility, &json!({})).send().await.created();
        made["id"].as_str().unwrap().to_owned()
    }

    /// Approves (`approve`) or refuses (`deny`) a request.
    pub(crate) fn decides(&self, by: &Person, request: &str, how: &str) -> Request<'_> {
        self.post(&format!("/access-requests/{request}/{how}")).by(by).json(&json!({}))
    }

    /// Ends (`end`) what a request gives, or takes it back (`cancel`).
    pub(crate) fn closes(&self, by: &Person, request: &str, how: &str) -> Request<'_> {
        self.post(&format!("/access-requests/{request}/{how}")).by(by)
    }

    async fn read_request(&self, by: &Person, id: &str) -> Response {
        self.get(&format!("/access-requests/{id}")).by(by).send().await
    }
}

/// A tenant in which Grace may ask for the role KEEPER, which reads users, and Carol decides.
pub(crate) struct Shop<'a> {
    pub(crate) app: &'a TestApp,
    /// The administrator.
    pub(crate) ada: Person,
    pub(crate) grace: Person,
    pub(crate) carol: Person,
    pub(crate) role: String,
    pub(crate) eligibility: String,
}

impl<'a> Shop<'a> {
    pub(crate) async fn of(app: &'a TestApp) -> Self {
        Self::with(app, &json!({})).await
    }

    /// The same, with these members of the eligibility.
    pub(crate) async fn with(app: &'a TestApp, members: &Value) -> Self {
        let ada = app.register("ada@example.com").await;
        let grace = app.colleague(&ada, "grace@example.com").await;
        let carol = app.colleague_who_may(&ada, "carol@example.com", &["access-requests:update"]).await;
        let role = app.role(&ada, "KEEPER", &["users:read"]).await;
        let body = with(json!({ "roleId": role, "userId": grace.user }), members);
        let eligibility = app.eligibility(&ada, &body).await;
        Self { app, ada, grace, carol, role, eligibility }
    }

    /// Grace asks. Returns the id of the request.
    pub(crate) async fn ask(&self) -> String {
        self.app.access_request(&self.grace, &self.eligibility).await
    }

    /// Grace asks, and Carol approves. Returns the request.
    pub(crate) async fn elevate(&self) -> Value {
        let request = self.ask().await;
        let approved = self.app.decides(&self.carol, &request, "approve").send().await.ok();
        assert_eq!(approved["status"], "ACTIVE");
        approved
    }

    /// A request, as the administrator sees it.
    pub(crate) async fn request(&self, id: &str) -> Value {
        self.app.read_request(&self.ada, id).await.ok()
    }

    pub(crate) async fn status(&self, id: &str) -> String {
        self.request(id).await["status"].as_str().unwrap().to_owned()
    }

    /// Whether Grace reads users: what the role permits.
    pub(crate) async fn may_read(&self) -> bool {
        let answer = self.app.get("/users").by(&self.grace).send().await;
        assert!(matches!(answer.status(), 200 | 403), "{}", answer.text());
        answer.status() == 200
    }

    /// The role assignments of a user.
    pub(crate) async fn held(&self, user: &str) -> Vec<Value> {
        let held = self.app.get(&format!("/users/{user}/roles")).by(&self.ada).send().await.ok();
        held["data"].as_array().unwrap().clone()
    }

    /// The only entry of the log about a resource with this action.
    async fn entry(&self, id: &str, action: &str) -> Value {
        let mut entries = self.app.audit(&self.ada, &[("resourceId", id), ("action", action)]).await;
        assert_eq!(entries.len(), 1, "{action}: {entries:?}");
        entries.remove(0)
    }
}

/// The id of an answer.
pub(crate) fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

async fn a_request_says_what_it_asks_for(app: TestApp) {
    let shop = Shop::of(&app).await;
    let starts_at = shown(app.iam.now() + TimeDelta::days(1));
    let members = json!({ "seconds": 600, "reason": " The disk is full. ", "ticket": "OPS-7", "startsAt": starts_at });
    let made = app.asks(&shop.grace, &shop.eligibility, &members).send().await.created();
    let expected = json!({
        "id": made["id"],
        "status": "PENDING",
        "eligibilityId": shop.eligibility,
        "roleId": shop.role,
        "roleName": "KEEPER",
        "organizationId": null,
        "requestedBy": shop.grace.user,
        "reason": "The disk is full.",
        "ticket": "OPS-7",
        "seconds": 600,
        "approvalsNeeded": 1,
        "decisions": [],
        "assignmentId": null,
        "startsAt": starts_at,
        "endsAt": null,
        "lapsesAt": shown(app.iam.now() + TimeDelta::hours(72)),
        "createdAt": app.now(),
        "closedAt": null,
        "closedBy": null,
        "closeReason": null,
        "cancelCause": null,
    });
    assert_eq!(made, expected);
    let named = json!({
        "user": { "id": shop.grace.user, "email": "grace@example.com" },
        "role": { "id": shop.role, "name": "KEEPER" },
    });
    assert_eq!(app.read_request(&shop.grace, id(&made)).await.ok(), with(expected, &named));
    assert!(!shop.may_read().await);
}

async fn missing_invalid_and_unknown_fields_are_named(app: TestApp) {
    let shop = Shop::of(&app).await;
    let in_days = |days: i64| shown(app.iam.now() + TimeDelta::days(days) + TimeDelta::milliseconds(1));
    for (members, fields) in [
        (json!({ "eligibilityId": "x", "startsAt": "soon" }), vec!["eligibilityId", "startsAt"]),
        (json!({ "reason": " " }), vec!["reason"]),
        (json!({ "reason": "x".repeat(501), "ticket": "x".repeat(201) }), vec!["reason", "ticket"]),
        (json!({ "seconds": 59 }), vec!["seconds"]),
        (json!({ "seconds": 28_801 }), vec!["seconds"]),
        (json!({ "seconds": 60.5 }), vec!["seconds"]),
        (json!({ "startsAt": app.now() }), vec!["startsAt"]),
        (json!({ "startsAt": in_days(30) }), vec!["startsAt"]),
        (json!({ "roleId": shop.role }), vec!["roleId"]),
    ] {
        let request = app.asks(&shop.grace, &shop.eligibility, &members);
        assert_eq!(app.unrecorded(&shop.ada, request.send()).await.invalid_fields(), fields, "{members}");
    }
    let empty = app.post("/access-requests").by(&shop.grace).json(&json!({})).send().await;
    assert_eq!(empty.invalid_fields(), ["eligibilityId"]);
    let unknown = app.asks(&shop.grace, &shop.role, &json!({})).send().await;
    assert_eq!(unknown.fields("not-found"), ["eligibilityId"]);
    let request = shop.ask().await;
    for body in [json!({ "reason": "x".repeat(501) }), json!({ "reason": 7 })] {
        let decide = app.post(&format!("/access-requests/{request}/approve")).by(&shop.carol).json(&body);
        assert_eq!(decide.send().await.invalid_fields(), ["reason"]);
    }
    let get = async |path: &str| app.get(path).by(&shop.ada).send().await.invalid_fields();
    assert_eq!(get("/access-requests?toDecide=maybe&status=OPEN&page=0").await, ["page", "toDecide", "status"]);
    assert_eq!(get("/access-requests?startDate=yesterday&endDate=2026-02-30").await, ["startDate", "endDate"]);
    let ids = "/access-requests?userId=x&roleId=y&organizationId=z";
    assert_eq!(get(ids).await, ["userId", "roleId", "organizationId"]);
    assert_eq!(get("/access-requests/x").await, ["id"]);
}

async fn the_bounds_are_allowed(app: TestApp) {
    let shop = Shop::of(&app).await;
    let starts_at = shown(app.iam.now() + TimeDelta::days(30));
    for members in [
        json!({ "seconds": 60, "reason": "x", "ticket": null, "startsAt": null }),
        json!({ "seconds": 28_800, "reason": "x".repeat(500), "ticket": "x".repeat(200), "startsAt": starts_at }),
        json!({ "seconds": null, "ticket": " " }),
    ] {
        let made = app.asks(&shop.grace, &shop.eligibility, &members).send().await.created();
        app.closes(&shop.grace, id(&made), "cancel").send().await.ok();
        if members["seconds"].is_null() {
            assert_eq!((&made["seconds"], &made["ticket"]), (&json!(28_800), &Value::Null));
        }
    }
}

async fn it_needs_a_session_that_has_authenticated_recently(app: TestApp) {
    let shop = Shop::of(&app).await;
    let key = app.key(&shop.grace, &shop.grace.user, &json!({})).await;
    let by_key = Person { access: text(&key).to_owned(), ..shop.grace.clone() };
    let refused = app.asks(&by_key, &shop.eligibility, &json!({})).send().await;
    assert!(refused.detail("forbidden").contains("api key"));
    let acting = app.acting(&shop.ada, &shop.grace).await;
    let refused = app.asks(&acting, &shop.eligibility, &json!({})).send().await;
    assert!(refused.detail("forbidden").contains("act as another user"));
    app.age(&shop.grace).await;
    let refused = app.asks(&shop.grace, &shop.eligibility, &json!({})).send().await;
    refused.problem("insufficient-authentication");
    app.access_request(&app.login(&shop.grace).await, &shop.eligibility).await;
}

async fn only_who_is_eligible_asks(app: TestApp) {
    let shop = Shop::of(&app).await;
    let bob = app.colleague(&shop.ada, "bob@example.com").await;
    let refused = app.asks(&bob, &shop.eligibility, &json!({})).send().await;
    assert!(refused.detail("forbidden").contains("not eligible"));
    let held = app.role(&shop.ada, "HELD", &[]).await;
    let [root, leaf] = app.chain(&shop.ada, "place").await;
    let body = json!({ "roleId": shop.role, "organizationId": root, "heldRoleId": held });
    let of_holders = app.eligibility(&shop.ada, &body).await;
    let ask = async || app.asks(&bob, &of_holders, &json!({})).send().await;
    ask().await.problem("forbidden");
    // In that place or above, and not below.
    app.assign(&shop.ada, &bob.user, "HELD", Some(leaf), None).await;
    ask().await.problem("forbidden");
    app.assign(&shop.ada, &bob.user, "HELD", Some(root), None).await;
    assert_eq!(ask().await.created()["organizationId"], json!(root));
    // Not when it has expired.
    let expires_at = shown(app.iam.now() + TimeDelta::minutes(5));
    let body = json!({ "roleId": shop.role, "userId": bob.user, "expiresAt": expires_at });
    let ends = app.eligibility(&shop.ada, &body).await;
    app.pass(TimeDelta::minutes(5));
    app.asks(&bob, &ends, &json!({})).send().await.problem("forbidden");
}

async fn a_user_has_one_open_request_by_each_eligibility(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "maxSeconds": 300 })).await;
    let again = async || app.asks(&shop.grace, &shop.eligibility, &json!({})).send().await;
    let pending = shop.ask().await;
    again().await.problem("conflict");
    app.closes(&shop.grace, &pending, "cancel").send().await.ok();
    let denied = shop.ask().await;
    app.decides(&shop.carol, &denied, "deny").send().await.ok();
    let starts_at = shown(app.iam.now() + TimeDelta::minutes(1));
    let later = app.asks(&shop.grace, &shop.eligibility, &json!({ "startsAt": starts_at })).send().await.created();
    assert_eq!(app.decides(&shop.carol, id(&later), "approve").send().await.ok()["status"], "APPROVED");
    again().await.problem("conflict");
    app.closes(&shop.grace, id(&later), "cancel").send().await.ok();
    let active = shop.elevate().await;
    again().await.problem("conflict");
    // Its time passes, whether or not that is written.
    app.pass(TimeDelta::minutes(5));
    again().await.created();
    assert_eq!(shop.status(id(&active)).await, "ENDED");
    // Another eligibility for the same role is another one.
    let body = json!({ "roleId": shop.role, "userId": shop.grace.user });
    let other = app.eligibility(&shop.ada, &body).await;
    app.access_request(&shop.grace, &other).await;
}

async fn a_user_has_twenty_open_requests(app: TestApp) {
    let shop = Shop::of(&app).await;
    let mut first = None;
    for _ in 0..20 {
        let body = json!({ "roleId": shop.role, "userId": shop.grace.user });
        let eligibility = app.eligibility(&shop.ada, &body).await;
        let request = app.access_request(&shop.grace, &eligibility).await;
        first.get_or_insert(request);
    }
    let refused = app.asks(&shop.grace, &shop.eligibility, &json!({})).send().await;
    assert!(refused.detail("conflict").contains("maximum"));
    app.closes(&shop.grace, &first.unwrap(), "cancel").send().await.ok();
    shop.ask().await;
}

async fn a_role_that_the_user_holds_there_is_a_conflict(app: TestApp) {
    let shop = Shop::of(&app).await;
    let branch = app.organization(&shop.ada, "branch").await;
    let held = app.assign(&shop.ada, &shop.grace.user, "KEEPER", None, None).await;
    app.asks(&shop.grace, &shop.eligibility, &json!({})).send().await.problem("conflict");
    // In another place, it is another one.
    let body = json!({ "roleId": shop.role, "userId": shop.grace.user, "organizationId": branch });
    let there = app.eligibility(&shop.ada, &body).await;
    app.access_request(&shop.grace, &there).await;
    app.delete(&format!("/role-assignments/{held}")).by(&shop.ada).send().await.no_content();
    shop.ask().await;
}

async fn a_repeated_request_asks_once(app: TestApp) {
    let shop = Shop::of(&app).await;
    let ask = async |members: Value| {
        app.asks(&shop.grace, &shop.eligibility, &members).header("idempotency-key", "one").send().await
    };
    let first = ask(json!({})).await;
    app.pass(TimeDelta::seconds(1));
    let again = app.unrecorded(&shop.ada, ask(json!({}))).await;
    assert_eq!((again.created(), was_replayed(&again)), (first.created(), true));
    ask(json!({ "seconds": 60 })).await.problem("idempotency-key-reused");
}

async fn without_approvals_it_is_active_at_once(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "approvals": 0, "maxSeconds": 600 })).await;
    let made = app.asks(&shop.grace, &shop.eligibility, &json!({})).send().await.created();
    let ends_at = shown(app.iam.now() + TimeDelta::seconds(600));
    assert_eq!((&made["status"], &made["approvalsNeeded"]), (&json!("ACTIVE"), &json!(0)));
    assert_eq!((&made["startsAt"], &made["endsAt"]), (&json!(app.now()), &json!(ends_at)));
    let held = shop.held(&shop.grace.user).await;
    assert_eq!((&held[0]["id"], &held[0]["accessRequestId"]), (&made["assignmentId"], &made["id"]));
    assert_eq!((&held[0]["expiresAt"], &held[0]["createdBy"]), (&json!(ends_at), &json!(shop.grace.user)));
    assert!(shop.may_read().await);
    app.closes(&shop.grace, id(&made), "end").send().await.ok();
    // Later, if it is wanted later.
    let starts_at = shown(app.iam.now() + TimeDelta::minutes(1));
    let later = app.asks(&shop.grace, &shop.eligibility, &json!({ "startsAt": starts_at })).send().await.created();
    assert_eq!((&later["status"], &later["startsAt"]), (&json!("APPROVED"), &json!(starts_at)));
    assert!(!shop.may_read().await);
}

async fn a_preview_shows_what_would_be_gained(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "maxSeconds": 600 })).await;
    let request = app.asks(&shop.grace, &shop.eligibility, &json!({})).query("preview", "true");
    let shown_preview = app.unrecorded(&shop.ada, request.send()).await.ok();
    let row = json!({
        "userId": shop.grace.user, "organizationId": null, "permission": "users:read", "change": "GAINED", "via": [],
        "from": app.now(), "until": shown(app.iam.now() + TimeDelta::seconds(600)),
    });
    let expected = json!({ "allowed": true, "users": 1, "changes": [row], "truncated": false });
    assert_eq!(shown_preview, expected);
    let list = app.get("/access-requests").by(&shop.grace).send().await.ok();
    assert_eq!(list["pagination"]["total"], 0);
    assert!(shop.held(&shop.grace.user).await.is_empty());
}

async fn a_preview_that_is_refused_names_the_rule(app: TestApp) {
    let shop = Shop::of(&app).await;
    let preview = async |by: &Person| app.asks(by, &shop.eligibility, &json!({})).query("preview", "true").send().await;
    // Who is not eligible learns nothing by a preview.
    let bob = app.colleague(&shop.ada, "bob@example.com").await;
    preview(&bob).await.problem("forbidden");
    shop.ask().await;
    let refused = preview(&shop.grace).await.ok();
    assert_eq!((&refused["allowed"], &refused["problem"]["status"]), (&json!(false), &json!(409)));
    assert_eq!(members(&refused), ["allowed", "changes", "problem", "truncated", "users"]);
}

async fn what_happens_to_it_is_recorded(app: TestApp) {
    let shop = Shop::of(&app).await;
    let members = json!({ "ticket": "OPS-7", "seconds": 600 });
    let made = app.asks(&shop.grace, &shop.eligibility, &members).send().await.created();
    let request = id(&made);
    app.pass(TimeDelta::milliseconds(1));
    let decide = app.post(&format!("/access-requests/{request}/approve")).by(&shop.carol);
    let approved = decide.json(&json!({ "reason": "It is." })).send().await.ok();
    app.pass(TimeDelta::milliseconds(1));
    app.closes(&shop.grace, request, "end").send().await.ok();
    let entries = app.history(&shop.ada, request).await;
    let by = [(&shop.grace, "ENDED"), (&shop.carol, "APPROVED"), (&shop.grace, "CREATE")];
    assert_eq!(entries.len(), by.len());
    for (entry, (by, action)) in entries.iter().zip(by) {
        says(entry, by, action, "ACCESS_REQUEST", request);
        let why = [("reason", "The disk is full."), ("ticket", "OPS-7"), ("targetUserId", shop.grace.user.as_str())];
        assert!(why.iter().all(|(name, value)| entry["metadata"][name] == *value), "{entry}");
    }
    assert_eq!(entries[1]["metadata"]["decisionReason"], "It is.");
    let assignment = approved["assignmentId"].as_str().unwrap();
    let entries = app.history(&shop.ada, assignment).await;
    says(&entries[1], &shop.carol, "ROLE_ASSIGNED", "ROLE_ASSIGNMENT", assignment);
    says(&entries[0], &shop.grace, "ROLE_REVOKED", "ROLE_ASSIGNMENT", assignment);
    assert!(entries.iter().all(|entry| entry["metadata"]["accessRequestId"] == request), "{entries:?}");
    assert_eq!(entries[1]["metadata"]["approvedBy"], json!([shop.carol.user]));
    assert_eq!(entries[0]["metadata"]["reason"], "ENDED");
}
