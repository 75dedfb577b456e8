#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode};
use chrono::TimeDelta;
use iam_core::assignment::NewAssignment;
use iam_core::organization::NewOrganization;

use crate::app::{App, EMAIL, person, request};

/// Returns the links of the filters in force, each with its text.
fn chips(body: &str) -> Vec<(String, String)> {
    let links = body.split("<a class=\"chip\" href=\"").skip(1);
    links
        .map(|link| {
            let (address, rest) = link.split_once("\">").unwrap();
            let (text, _) = rest.split_once("</a>").unwrap();
            let text = text.split_once("</span>").map_or(text, |(_, text)| text);
            let text = text.split_once(" <span").map_or(text, |(text, _)| text);
            (address.replace("&#38;", "&"), text.to_owned())
        })
        .collect()
}

#[tokio::test]
async fn each_filter_of_a_list_is_shown_and_can_be_removed() {
    let app = App::with_mail().await;
    let ada = app.register(EMAIL).await;
    let new = NewOrganization { name: "North".into(), ..NewOrganization::default() };
    let north = app.iam.organizations().create(&ada, new).await.unwrap().organization.id;
    let member = app.iam.roles().by_name(&ada, "MEMBER").await.unwrap().unwrap().id;
    let cookie = app.sign_in(EMAIL).await;
    let ada_id = ada.user().unwrap();
    let cases = [
        ("users?search=ada&status=ACTIVE".to_owned(), vec!["Search: ada", "Status: Active"]),
        ("users?kind=HUMAN".to_owned(), vec!["Type: People"]),
        ("users?hasFactor=false".to_owned(), vec!["Second factor: None"]),
        ("roles?search=member".to_owned(), vec!["Search: member"]),
        ("assignments?ends=30".to_owned(), vec!["Ends: within 30 days"]),
        ("organizations?search=north&status=ACTIVE".to_owned(), vec!["Search: north", "Status: Active"]),
        ("invitations?status=PENDING".to_owned(), vec!["Status: Pending"]),
        (
            format!("assignments?user={ada_id}&role={member}&organization={north}&at=2026-01-31T09:15"),
            vec!["User: ada@example.com", "Role: MEMBER", "Organization: North", "As of: 2026-01-31 09:15 UTC"],
        ),
        (format!("access-requests?status=PENDING&role={member}&show=all"), vec!["Status: Pending", "Role: MEMBER"]),
        (
            "audit?user=ada%40example.com&action=LOGIN&from=2026-01-31".to_owned(),
            vec!["Actor: ada@example.com", "Action: Signed in", "From (UTC): 2026-01-31"],
        ),
    ];
    for (address, expected) in cases {
        let body = app.get(&format!("/console/{address}"), &cookie).await.body;
        let mut shown = chips(&body);
        let (none, text) = shown.pop().unwrap();
        assert_eq!(text, "Remove all filters", "{address}: {body}");
        assert_eq!(shown.iter().map(|(_, text)| &**text).collect::<Vec<_>>(), expected, "{address}");
        let path = address.split('?').next().unwrap();
        let kept = if address.ends_with("&show=all") { "?show=all" } else { "" };
        assert_eq!(none, format!("/console/{path}{kept}"));
        assert!(chips(&app.get(&none, &cookie).await.body).is_empty(), "{none}");
        // A link leads to the list with the other filters.
        for (number, (without, _)) in shown.iter().enumerate() {
            let answer = app.get(without, &cookie).await;
            assert_eq!(answer.status, StatusCode::OK, "{without}");
            let mut left: Vec<String> = chips(&answer.body).into_iter().map(|(_, text)| text).collect();
            left.pop();
            let others = expected.iter().enumerate().filter(|(other, _)| *other != number);
            assert_eq!(left, others.map(|(_, text)| *text).collect::<Vec<_>>(), "{without}");
        }
    }
}

#[tokio::test]
async fn a_chip_names_nothing_that_the_caller_may_not_see() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let member = app.iam.roles().by_name(&ada, "MEMBER").await.unwrap().unwrap().id;
    app.person_with(&ada, "reader@example.com", &["role-assignments:read"]).await;
    let new = NewAssignment { user: ada.user().unwrap(), role: member, organization: None, expires_at: None };
    app.iam.assignments().create(&ada, new).await.unwrap();
    let cookie = app.sign_in("reader@example.com").await;
    let ada_id = ada.user().unwrap();
    let body = app.get(&format!("/console/assignments?user={ada_id}&role={member}"), &cookie).await.body;
    let shown: Vec<String> = chips(&body).into_iter().map(|(_, text)| text).collect();
    assert_eq!(shown, [format!("User: {ada_id}"), format!("Role: {member}"), "Remove all filters".to_owned()]);
}

#[tokio::test]
async fn the_list_that_a_filter_changes_has_its_chips() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let sent = request(Method::GET, "/console/users?search=%3Cb%3E&status=&sortBy=email", &cookie);
    let part = app.send(sent.header("hx-request", "true").body(Body::empty()).unwrap()).await.body;
    let expected = [
        ("/console/users?sortBy=email".to_owned(), "Search: &#60;b&#62;".to_owned()),
        ("/console/users?sortBy=email".to_owned(), "Remove all filters".to_owned()),
    ];
    assert_eq!(chips(&part), expected, "{part}");
    let page = app.get("/console/users", &cookie).await.body;
    assert!(chips(&page).is_empty() && page.contains("data-link"), "{page}");
}

/// Returns the heads that sort a list: their addresses, and the values of `aria-sort`.
fn heads(body: &str) -> Vec<(String, &str)> {
    let (_, head) = body.split_once("<thead>").unwrap();
    let (head, _) = head.split_once("</thead>").unwrap();
    let cells = head.split("<th scope=\"col\"").skip(1).filter(|cell| cell.contains("<a href"));
    cells
        .map(|cell| {
            let (before, link) = cell.split_once("<a href=\"").unwrap();
            let sorted = before.split_once("aria-sort=\"").map_or("", |(_, rest)| rest.split('"').next().unwrap());
            (link.split('"').next().unwrap().replace("&#38;", "&"), sorted)
        })
        .collect()
}

/// Whether the texts are in this order.
fn are_in_order(body: &str, texts: [&str; 3]) -> bool {
    let (_, body) = body.split_once("<tbody>").unwrap();
    let found = texts.map(|text| body.find(text).unwrap_or_else(|| panic!("{text}: {body}")));
    found.is_sorted()
}

#[tokio::test]
async fn users_are_sorted_by_their_columns_with_the_filter() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    for (email, name) in [("a@example.com", "Xenia"), ("b@example.com", "Yan"), ("c@example.com", "Zoe")] {
        app.clock.advance(TimeDelta::minutes(1));
        app.iam.users().create(&ada, person(email, name)).await.unwrap();
    }
    let cookie = app.sign_in(EMAIL).await;
    let newest = app.get("/console/users?search=lovelace&page=1", &cookie).await.body;
    assert!(are_in_order(&newest, ["Zoe", "Yan", "Xenia"]), "{newest}");
    let links = heads(&newest);
    assert_eq!(links.iter().map(|(_, sorted)| *sorted).collect::<Vec<_>>(), ["", "", "", "descending"]);
    let by_name = &links[0].0;
    assert_eq!(by_name, "/console/users?search=lovelace&sortBy=firstName&sortOrder=asc");
    let ascending = app.get(by_name, &cookie).await.body;
    assert!(are_in_order(&ascending, ["Xenia", "Yan", "Zoe"]), "{ascending}");
    // What is typed next keeps the order.
    assert!(ascending.contains(r#"<input type="hidden" name="sortBy" value="firstName">"#), "{ascending}");
    let (back, sorted) = &heads(&ascending)[0];
    assert_eq!((&**back, *sorted), ("/console/users?search=lovelace&sortBy=firstName&sortOrder=desc", "ascending"));
    let descending = app.get(back, &cookie).await.body;
    assert!(are_in_order(&descending, ["Zoe", "Yan", "Xenia"]), "{descending}");
    for number in 0..30 {
        app.iam.users().create(&ada, person(&format!("user{number}@example.com"), "Many")).await.unwrap();
    }
    let many = app.get(back, &cookie).await.body;
    assert!(many.contains("sortBy=firstName&#38;sortOrder=desc&#38;page=2"), "{many}");
}

#[tokio::test]
async fn organizations_that_are_found_are_sorted_by_name_or_age() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    for name in ["Branch C", "Branch A", "Branch B"] {
        app.clock.advance(TimeDelta::minutes(1));
        let new = NewOrganization { name: name.into(), ..NewOrganization::default() };
        app.iam.organizations().create(&ada, new).await.unwrap();
    }
    let cookie = app.sign_in(EMAIL).await;
    let by_name = app.get("/console/organizations?search=branch", &cookie).await.body;
    assert!(are_in_order(&by_name, ["Branch A", "Branch B", "Branch C"]), "{by_name}");
    let links = heads(&by_name);
    let expected = [
        ("/console/organizations?search=branch&sortBy=name&sortOrder=desc".to_owned(), "ascending"),
        ("/console/organizations?search=branch&sortBy=createdAt&sortOrder=asc".to_owned(), ""),
    ];
    assert_eq!(links, expected);
    let by_age = app.get(&links[1].0, &cookie).await.body;
    assert!(are_in_order(&by_age, ["Branch C", "Branch A", "Branch B"]), "{by_age}");
}
