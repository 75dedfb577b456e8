#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode};
use iam_core::access_review::NewAccessReview;
use iam_core::organization::NewOrganization;
use iam_core::role::PlacedRole;

use super::{Signed, signed};
use crate::app::request;

#[tokio::test]
async fn groups_are_listed_searched_and_have_pages() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    let path = signed.path("/groups");
    let empty = app.get(&path, cookie).await.body;
    assert!(empty.contains("The directory has sent no group yet") && empty.contains("0 groups"), "{empty}");
    let grace = signed.user("grace").await;
    let finance = signed.group("<b>Finance", &[grace]).await;
    signed.map(&finance).await;
    for number in 0..30 {
        signed.group(&format!("Team {number}"), &[]).await;
    }
    let first = app.get(&path, cookie).await.body;
    assert!(first.contains("31 groups") && first.contains("Page 1 of 2"), "{first}");
    assert!(first.contains("&#60;b&#62;Finance</a>") && !first.contains("<b>"), "{first}");
    assert!(first.contains(r#"data-label="Members">1</td>"#), "{first}");
    assert!(first.contains(r#"data-label="Roles of the members">MEMBER · the whole tenant</td>"#), "{first}");
    assert!(first.contains(r#"data-label="Roles of the members">none</td>"#), "{first}");
    let found = app.get(&format!("{path}?search=TEAM"), cookie).await.body;
    assert!(found.contains("30 groups") && found.contains("search=TEAM&#38;page=2"), "{found}");
    let sent = request(Method::GET, &format!("{path}?search=finance"), cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await.body;
    assert!(part.contains("Finance") && !part.contains("<html"), "{part}");
    assert!(part.contains(r#"<p id="found" hx-swap-oob="innerHTML">1 group</p>"#), "{part}");
    let none = app.get(&format!("{path}?search=zzz"), cookie).await.body;
    assert!(none.contains("No group matches") && none.contains("Show all groups"), "{none}");
    assert_eq!(app.get(&format!("{path}?page=0"), cookie).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(app.get(&format!("{path}?serach=x"), cookie).await.status, StatusCode::BAD_REQUEST);
    assert!(signed.page().await.body.contains(&format!(r#"<a href="{path}">31 groups</a>"#)));
}

#[tokio::test]
async fn the_roles_of_a_group_are_previewed_and_then_saved() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    let north = NewOrganization { name: "North".into(), ..NewOrganization::default() };
    let north = app.iam.organizations().create(ada, north).await.unwrap().organization.id;
    let grace = signed.user("grace").await;
    let finance = signed.group("Finance <1>", &[grace]).await;
    let path = signed.path_of(&finance, "");
    let page = app.get(&path, cookie).await;
    assert!(page.body.contains("<h1>Finance &#60;1&#62;</h1>") && page.body.contains("<dd>1</dd>"), "{}", page.body);
    let version = page.hidden("version");
    let more = [("roles", "1"), ("role-0", "MEMBER"), ("more", "1"), ("version", &*version)];
    let answer = signed.post(&path, &more).await;
    assert!(answer.body.contains(r#"id="role-1""#) && !answer.body.contains(r#"id="role-2""#), "{}", answer.body);
    assert!(answer.body.contains(r#"value="MEMBER""#), "{}", answer.body);

    let fields =
        [("roles", "2"), ("role-0", "member"), ("organization-0", "north"), ("role-1", ""), ("version", &*version)];
    let preview = signed.post(&path, &fields).await;
    assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
    assert!(preview.body.contains("Change the roles of group Finance &#60;1&#62;"), "{}", preview.body);
    assert!(preview.body.contains("1 user gains permissions"), "{}", preview.body);
    assert!(preview.body.contains("<ins>Gains</ins> 2 permissions in North"), "{}", preview.body);
    assert!(preview.body.contains("Users whom the directory adds to the group later"), "{}", preview.body);
    assert_eq!((signed.held(grace).await, signed.stored_group(&finance).await.grants), (vec![], vec![]));
    let again = [&fields[..], &[("again", "yes")]].concat();
    let back = signed.post(&path, &again).await;
    assert!(back.body.contains(r#"value="north""#) && back.hidden("version") == version, "{}", back.body);
    let confirmed = [&fields[..], &[("confirmed", "yes")]].concat();
    let answer = signed.post(&path, &confirmed).await;
    assert_eq!(answer.location(), signed.path_of(&finance, "?done=saved"), "{}", answer.body);
    let expected = [PlacedRole { role_id: signed.role("MEMBER").await, organization_id: Some(north) }];
    assert_eq!(signed.stored_group(&finance).await.grants, expected);
    assert_eq!(signed.held(grace).await[0].directory_group_id, Some(finance.id));
    let page = app.get(answer.location(), cookie).await.body;
    assert!(page.contains("The changes are saved") && page.contains(r#"value="MEMBER""#), "{page}");

    // The same roles need no preview, and a form of before is refused.
    let version = app.get(&path, cookie).await.hidden("version");
    let mut same = fields;
    same[4].1 = &version;
    assert_eq!(signed.post(&path, &same).await.status, StatusCode::SEE_OTHER);
    let late = signed.post(&path, &fields).await;
    assert_eq!(late.status, StatusCode::PRECONDITION_FAILED);
    let again = format!(r#"<a href="{path}">Open it again</a>"#);
    assert!(late.body.contains("The group has changed since") && late.body.contains(&again), "{}", late.body);
    let none = [("roles", "1"), ("role-0", ""), ("version", &*version)];
    let preview = signed.post(&path, &none).await.body;
    assert!(preview.contains("<del>Loses</del> 2 permissions in North"), "{preview}");
    let log = app.get("/console/audit", cookie).await.body;
    for text in
        ["created the group Finance &#60;1&#62;", "changed the group", "granted the role MEMBER to grace@example.com"]
    {
        assert!(log.contains(text), "{text}: {log}");
    }
}

#[tokio::test]
async fn a_mistake_in_the_roles_of_a_group_stands_in_its_row() {
    let signed = signed().await;
    let finance = signed.group("Finance", &[]).await;
    let path = signed.path_of(&finance, "");
    let version = signed.app.get(&path, &signed.cookie).await.hidden("version");
    for (field, wrong, named) in [
        ("role-2", "no such role", "role-2"),
        ("organization-2", "nowhere", "organization-2"),
        ("organization-1", "north", "role-1"),
        // Twice the same.
        ("role-2", "member", "role-2"),
    ] {
        let good = [("roles", "3"), ("role-0", "MEMBER"), ("role-2", "PROVISIONER"), ("version", &*version)];
        let kept = good.into_iter().filter(|(name, _)| *name != field);
        let fields: Vec<(&str, &str)> = kept.chain([(field, wrong)]).collect();
        let answer = signed.post(&path, &fields).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{field} {wrong}: {}", answer.body);
        assert!(answer.body.contains(&format!(r#"id="{named}-error""#)), "{field} {wrong}: {}", answer.body);
        assert!(answer.body.contains(r#"value="MEMBER""#), "{}", answer.body);
    }
    assert!(signed.stored_group(&finance).await.grants.is_empty());
}

#[tokio::test]
async fn a_group_gives_no_more_than_the_account_of_its_directory_holds() {
    let signed = signed().await;
    let finance = signed.group("Finance", &[]).await;
    let path = signed.path_of(&finance, "");
    let version = signed.app.get(&path, &signed.cookie).await.hidden("version");
    let fields = [("roles", "1"), ("role-0", "AUDITOR"), ("version", &*version)];
    for confirmed in [&[][..], &[("confirmed", "yes")]] {
        let answer = signed.post(&path, &[&fields[..], confirmed].concat()).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);
        let text = "The service account of the directory does not hold what this role grants: it lacks";
        assert!(answer.body.contains(text) && !answer.body.contains("you do not hold"), "{}", answer.body);
        assert!(answer.body.contains(r#"value="AUDITOR""#), "{}", answer.body);
    }
    assert!(signed.stored_group(&finance).await.grants.is_empty());
}

#[tokio::test]
async fn a_role_that_a_group_gives_names_the_group_and_is_not_changed_by_hand() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    let grace = signed.user("grace").await;
    let finance = signed.group("Finance <1>", &[grace]).await;
    signed.map(&finance).await;
    let held = signed.held(grace).await.remove(0);
    let named =
        format!(r#"<a href="{}">by group Finance &#60;1&#62; of Entra &#60;1&#62;</a>"#, signed.path_of(&finance, ""));
    let due_at = "2026-02-28T12:00:00Z".parse().unwrap();
    let new = NewAccessReview { name: "All".into(), organization: None, roles: vec![], users: vec![], due_at };
    let review = app.iam.access_reviews().create(ada, new).await.unwrap().review.id;
    let assignment = format!("/console/assignments/{}", held.id);
    let pages = [
        format!("/console/users/{grace}"),
        format!("/console/assignments?user={grace}"),
        format!("{assignment}?user={grace}"),
        format!("/console/access?user={grace}&permission=users:read"),
        format!("/console/access-reviews/{review}"),
    ];
    for path in &pages {
        let body = app.get(path, cookie).await.body;
        assert!(body.contains(&named) && !body.contains("<1>"), "{path}: {body}");
        assert!(!body.contains(&format!("{assignment}/revoke")), "{path}: {body}");
        assert!(!body.contains(&format!("{assignment}/end")), "{path}: {body}");
    }
    for (action, fields) in [("revoke", &[][..]), ("end", &[("until", "2026-12-31T00:00")][..])] {
        let answer = signed.post(&format!("{assignment}/{action}?user={grace}"), fields).await;
        assert_eq!(answer.status, StatusCode::CONFLICT, "{action}: {}", answer.body);
        assert!(answer.body.contains("A group of a directory gives this role."), "{action}: {}", answer.body);
    }
    assert_eq!(signed.held(grace).await, [held]);
    // Who may not see directories sees that a group gives it, and not which.
    app.person_with(ada, "mary@example.com", &["users:read", "role-assignments:read"]).await;
    let mary = app.sign_in("mary@example.com").await;
    let body = app.get(&pages[0], &mary).await.body;
    assert!(body.contains("by a group of a directory") && !body.contains("Finance"), "{body}");
}
