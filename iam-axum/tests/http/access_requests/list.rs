//! Who sees which requests (`docs/access-requests.md#who-sees-requests`).

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{Shop, id};
use crate::api_key::text;
use crate::app::TestApp;
use crate::people::Person;
use crate::request::each;

in_memory![
    a_user_sees_its_own_requests,
    a_reader_sees_those_in_its_organizations,
    those_who_decide_see_them,
    lists_filter_and_page,
    a_list_to_decide_has_what_the_caller_can_decide_now,
    the_status_counts_at_its_instant,
    a_key_sees_what_its_permission_shows,
    another_tenant_finds_none,
];

/// The ids of the requests that a caller sees, newest first.
async fn seen(app: &TestApp, by: &Person, query: &str) -> Vec<String> {
    each(&app.get(&format!("/access-requests{query}")).by(by).send().await.ok(), "id")
}

/// Makes an eligibility for a user, and asks by it. Returns the id of the request.
async fn asked(shop: &Shop<'_>, user: &Person, members: Value) -> String {
    let body = crate::people::with(json!({ "roleId": shop.role, "userId": user.user }), &members);
    let eligibility = shop.app.eligibility(&shop.ada, &body).await;
    // Lists show the newest first.
    shop.app.pass(TimeDelta::milliseconds(1));
    shop.app.access_request(user, &eligibility).await
}

async fn a_user_sees_its_own_requests(app: TestApp) {
    let shop = Shop::of(&app).await;
    let bob = app.colleague(&shop.ada, "bob@example.com").await;
    let own = shop.ask().await;
    let other = asked(&shop, &bob, json!({})).await;
    assert_eq!(seen(&app, &shop.grace, "").await, std::slice::from_ref(&own));
    assert_eq!(seen(&app, &bob, "").await, std::slice::from_ref(&other));
    assert_eq!(seen(&app, &shop.ada, "").await, [other.clone(), own.clone()]);
    app.read_request(&shop.grace, &other).await.problem("not-found");
    app.read_request(&shop.grace, &own).await.ok();
}

async fn a_reader_sees_those_in_its_organizations(app: TestApp) {
    let shop = Shop::of(&app).await;
    let [root, leaf] = app.chain(&shop.ada, "place").await;
    let wide = shop.ask().await;
    let above = asked(&shop, &shop.grace, json!({ "organizationId": root })).await;
    let below = asked(&shop, &shop.grace, json!({ "organizationId": leaf })).await;
    let in_leaf = app.colleague_in(&shop.ada, leaf, "leaf@example.com", &["access-requests:read"]).await;
    let in_root = app.colleague_in(&shop.ada, root, "root@example.com", &["access-requests:read"]).await;
    let everywhere = app.colleague_who_may(&shop.ada, "all@example.com", &["access-requests:read"]).await;
    assert_eq!(seen(&app, &in_leaf, "").await, std::slice::from_ref(&below));
    assert_eq!(seen(&app, &in_root, "").await, [below.clone(), above.clone()]);
    assert_eq!(seen(&app, &everywhere, "").await, [below.clone(), above.clone(), wide.clone()]);
    app.read_request(&in_leaf, &above).await.problem("not-found");
    app.read_request(&in_root, &wide).await.problem("not-found");
    app.read_request(&in_root, &below).await.ok();
    // To see is not to decide.
    assert!(seen(&app, &everywhere, "?toDecide=true").await.is_empty());
}

async fn those_who_decide_see_them(app: TestApp) {
    let shop = Shop::of(&app).await;
    let approver = app.role(&shop.ada, "APPROVER", &[]).await;
    let holder = app.colleague(&shop.ada, "holder@example.com").await;
    app.assign(&shop.ada, &holder.user, "APPROVER", None, None).await;
    let by_permission = shop.ask().await;
    let by_role = asked(&shop, &shop.grace, json!({ "approverRoleId": approver })).await;
    assert_eq!(seen(&app, &shop.carol, "").await, std::slice::from_ref(&by_permission));
    assert_eq!(seen(&app, &holder, "").await, std::slice::from_ref(&by_role));
    app.read_request(&holder, &by_permission).await.problem("not-found");
    // Also after the decision.
    app.decides(&holder, &by_role, "deny").send().await.ok();
    assert_eq!(seen(&app, &holder, "").await, std::slice::from_ref(&by_role));
    app.read_request(&holder, &by_role).await.ok();
}

async fn lists_filter_and_page(app: TestApp) {
    let shop = Shop::of(&app).await;
    let branch = app.organization(&shop.ada, "branch").await;
    let other_role = app.role(&shop.ada, "OTHER", &[]).await;
    let bob = app.colleague(&shop.ada, "bob@example.com").await;
    let wide = shop.ask().await;
    let there = asked(&shop, &shop.grace, json!({ "organizationId": branch })).await;
    let of_bob = asked(&shop, &bob, json!({})).await;
    let other = asked(&shop, &bob, json!({ "roleId": other_role })).await;
    app.decides(&shop.carol, &other, "approve").send().await.ok();
    app.decides(&shop.carol, &there, "deny").send().await.ok();
    for (query, expected) in [
        (String::new(), vec![&other, &of_bob, &there, &wide]),
        ("?status=PENDING".into(), vec![&of_bob, &wide]),
        ("?status=ACTIVE".into(), vec![&other]),
        ("?status=DENIED".into(), vec![&there]),
        ("?status=LAPSED".into(), vec![]),
        (format!("?userId={}", bob.user), vec![&other, &of_bob]),
        (format!("?roleId={other_role}"), vec![&other]),
        (format!("?organizationId={branch}"), vec![&there]),
        (format!("?userId={}&status=PENDING&roleId={}", shop.grace.user, shop.role), vec![&wide]),
        (format!("?userId={}&organizationId={branch}", bob.user), vec![]),
        ("?toDecide=false".into(), vec![&other, &of_bob, &there, &wide]),
    ] {
        let expected: Vec<String> = expected.into_iter().cloned().collect();
        assert_eq!(seen(&app, &shop.ada, &query).await, expected, "{query}");
    }
    let made = each(&app.get("/access-requests").by(&shop.ada).send().await.ok(), "createdAt");
    for (query, expected) in [
        (format!("?startDate={}", made[1]), vec![&other, &of_bob]),
        (format!("?endDate={}", made[1]), vec![&of_bob, &there, &wide]),
        (format!("?startDate={0}&endDate={0}", made[2]), vec![&there]),
        (format!("?startDate={}&userId={}", made[2], bob.user), vec![&other, &of_bob]),
        ("?startDate=2026-01-31&endDate=2026-01-31".into(), vec![&other, &of_bob, &there, &wide]),
        ("?endDate=2026-01-30".into(), vec![]),
    ] {
        let expected: Vec<String> = expected.into_iter().cloned().collect();
        assert_eq!(seen(&app, &shop.ada, &query).await, expected, "{query}");
    }
    let page = app.get("/access-requests?limit=2&page=2").by(&shop.ada).send().await.ok();
    assert_eq!((each(&page, "id"), &page["pagination"]["total"]), (vec![there, wide], &json!(4)));
}

async fn a_list_to_decide_has_what_the_caller_can_decide_now(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "approvals": 2 })).await;
    let carol = &shop.carol;
    let bob = app.colleague(&shop.ada, "bob@example.com").await;
    let decided = shop.ask().await;
    let open = asked(&shop, &bob, json!({})).await;
    let own = asked(&shop, carol, json!({})).await;
    let closed = asked(&shop, &app.colleague(&shop.ada, "dan@example.com").await, json!({})).await;
    let to_decide = async |by: &Person| seen(&app, by, "?toDecide=true").await;
    assert_eq!(to_decide(carol).await, [closed.clone(), open.clone(), decided.clone()]);
    app.decides(carol, &decided, "approve").send().await.ok();
    app.decides(carol, &closed, "deny").send().await.ok();
    assert_eq!(to_decide(carol).await, std::slice::from_ref(&open));
    // Another one can still approve what carol has, and what carol asks for.
    assert_eq!(to_decide(&shop.ada).await, [own.clone(), open.clone(), decided.clone()]);
    assert!(to_decide(&shop.grace).await.is_empty());
    let total = app.get("/access-requests?toDecide=true").by(carol).send().await.ok()["pagination"]["total"].clone();
    assert_eq!(total, 1);
    // What is listed can be decided.
    for request in to_decide(carol).await {
        app.decides(carol, &request, "approve").send().await.ok();
    }
    app.pass(TimeDelta::hours(72));
    assert!(to_decide(&app.login(&shop.ada).await).await.is_empty());
}

async fn the_status_counts_at_its_instant(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "maxSeconds": 300 })).await;
    let active = shop.elevate().await;
    app.pass(TimeDelta::seconds(300));
    let found = app.get("/access-requests?status=ENDED").by(&shop.ada).send().await.ok();
    assert_eq!((each(&found, "id"), &found["data"][0]["status"]), (vec![id(&active).to_owned()], &json!("ENDED")));
    assert!(seen(&app, &shop.ada, "?status=ACTIVE").await.is_empty());
}

async fn a_key_sees_what_its_permission_shows(app: TestApp) {
    let shop = Shop::of(&app).await;
    let request = shop.ask().await;
    let by_key = async |person: &Person| {
        let key = app.key(person, &person.user, &json!({})).await;
        Person { access: text(&key).to_owned(), ..person.clone() }
    };
    // A program of the user asks for nothing and decides nothing.
    for person in [&shop.grace, &shop.carol] {
        let key = by_key(person).await;
        assert!(seen(&app, &key, "").await.is_empty());
        app.read_request(&key, &request).await.problem("not-found");
    }
    let key = by_key(&shop.ada).await;
    assert_eq!(seen(&app, &key, "").await, std::slice::from_ref(&request));
    app.read_request(&key, &request).await.ok();
}

async fn another_tenant_finds_none(app: TestApp) {
    let shop = Shop::of(&app).await;
    let request = shop.ask().await;
    let eve = app.register("eve@example.net").await;
    assert!(seen(&app, &eve, "").await.is_empty());
    assert!(seen(&app, &eve, &format!("?userId={}", shop.grace.user)).await.is_empty());
    app.read_request(&eve, &request).await.problem("not-found");
    app.asks(&eve, &shop.eligibility, &json!({})).send().await.problem("not-found");
}
