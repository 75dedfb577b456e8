//! Searches of groups, and of users and groups together (`docs/directories.md#queries`).

use axum::http::Method;
use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{ids, member_ids, path};
use crate::app::TestApp;
use crate::request::members;
use crate::scim::{GROUP, Staff};

on_every_store![
    "the store evaluates filters, sorts and skips";
    a_filter_finds_the_groups_that_meet_it,
    a_filter_that_cannot_be_used_is_400,
    groups_come_in_pages,
    groups_are_sorted,
    a_search_by_post_is_the_same,
    an_answer_shows_what_is_asked_for,
    a_search_of_everything_has_the_users_and_then_the_groups,
    a_search_of_everything_finds_by_what_only_one_kind_has,
];

const SALES: &str = "Sales";
const SUPPORT: &str = "support";
/// A name of signs that mean something in the patterns of databases.
const SIGNS: &str = "r_d 100%";

/// A directory with Grace and Alan, and with three groups, one a second: Sales of Grace, the support of both, and one
/// without members.
async fn company(app: &TestApp) -> (Staff<'_>, [Value; 2], [Value; 3]) {
    let staff = Staff::of(app).await;
    let [grace, alan] = [staff.made("grace", &json!({})).await, staff.made("alan", &json!({})).await];
    let members = [json!([{ "value": grace["id"] }]), json!([{ "value": alan["id"] }, { "value": grace["id"] }])];
    let [of_sales, of_support] = members;
    let mut groups = Vec::new();
    for body in [
        json!({ "displayName": SALES, "externalId": "id-sales", "members": of_sales }),
        json!({ "displayName": SUPPORT, "externalId": "a\"b\\c'", "members": of_support }),
        json!({ "displayName": SIGNS }),
    ] {
        app.pass(TimeDelta::seconds(1));
        groups.push(staff.post_group(&body).send().await.scim(201));
    }
    (staff, [grace, alan], groups.try_into().unwrap())
}

/// The names in a list: of groups, or of users.
fn names(list: &Value) -> Vec<&str> {
    let resources = list["Resources"].as_array().unwrap();
    assert_eq!(list["itemsPerPage"], resources.len());
    resources.iter().map(|one| one.get("displayName").or(one.get("userName")).unwrap().as_str().unwrap()).collect()
}

async fn list(staff: &Staff<'_>, query: &str) -> Value {
    let list = staff.get(&format!("/Groups?{query}")).send().await.scim(200);
    assert_eq!(list["schemas"], json!(["urn:ietf:params:scim:api:messages:2.0:ListResponse"]));
    list
}

async fn search_all(staff: &Staff<'_>, body: &Value) -> Value {
    staff.write(Method::POST, "/.search", body).send().await.scim(200)
}

async fn a_filter_finds_the_groups_that_meet_it(app: TestApp) {
    let (staff, [grace, alan], made) = company(&app).await;
    let [id, created] = [&made[1]["id"], &made[1]["meta"]["created"]].map(|text| text.as_str().unwrap());
    let (one, other) = (&grace["id"], &alan["id"]);
    let all = &[SALES, SUPPORT, SIGNS][..];
    for (filter, expected) in [
        (r#"displayName eq "SALES""#.to_owned(), &[SALES][..]),
        (r#"DISPLAYNAME EQ "sales""#.to_owned(), &[SALES]),
        (format!(r#"{GROUP}:displayName eq "Support""#), &[SUPPORT]),
        (r#"displayName eq "8b4ba5d4-6a2c-4a4d-9cf9-1b6a1d1f3c5d""#.to_owned(), &[]),
        (r#"displayName ne "sales""#.to_owned(), &[SUPPORT, SIGNS]),
        (r#"displayName co "UPP""#.to_owned(), &[SUPPORT]),
        (r#"displayName co "r_d""#.to_owned(), &[SIGNS]),
        (r#"displayName co "u_p""#.to_owned(), &[]),
        (r#"displayName co "s%s""#.to_owned(), &[]),
        (r#"displayName sw "SA""#.to_owned(), &[SALES]),
        (r#"displayName ew "%""#.to_owned(), &[SIGNS]),
        (r#"displayName gt "sales" and displayName lt "t""#.to_owned(), &[SUPPORT]),
        ("displayName pr".to_owned(), all),
        (r#"externalId eq "id-sales""#.to_owned(), &[SALES]),
        (r#"externalId eq "ID-sales""#.to_owned(), &[]),
        (r#"externalId eq "a\"b\\c'""#.to_owned(), &[SUPPORT]),
        (r#"externalId ne "id-sales""#.to_owned(), &[SUPPORT, SIGNS]),
        ("not (externalId pr)".to_owned(), &[SIGNS]),
        (format!(r#"id eq "{id}""#), &[SUPPORT]),
        (r#"id eq "77c""#.to_owned(), &[]),
        (format!("members.value eq {one}"), &[SALES, SUPPORT]),
        (format!("members eq {other}"), &[SUPPORT]),
        (format!("members[value eq {other}]"), &[SUPPORT]),
        (format!("members[value eq {one} or value eq {other}]"), &[SALES, SUPPORT]),
        (format!("members.value eq {one} and members.value eq {other}"), &[SUPPORT]),
        (format!("members.value ne {one}"), &[SIGNS]),
        (format!("not (members.value eq {other})"), &[SALES, SIGNS]),
        (r#"members.value eq "77c""#.to_owned(), &[]),
        ("members pr".to_owned(), &[SALES, SUPPORT]),
        ("not (members pr)".to_owned(), &[SIGNS]),
        (format!(r#"meta.created ge "{created}""#), &[SUPPORT, SIGNS]),
        (format!(r#"meta.created lt "{}""#, created.replace('Z', "+00:00")), &[SALES]),
        (format!(r#"meta.lastModified eq "{created}""#), &[SUPPORT]),
        (format!(r#"displayName eq "sales" or members.value eq {other}"#), &[SALES, SUPPORT]),
    ] {
        let found = staff.get("/Groups").query("filter", &filter).send().await.scim(200);
        assert_eq!(names(&found), expected, "{filter}");
        assert_eq!(found["totalResults"], expected.len(), "{filter}");
    }
}

/// A filter that is left out would show all groups.
async fn a_filter_that_cannot_be_used_is_400(app: TestApp) {
    let (staff, ..) = company(&app).await;
    for filter in [
        "",
        "displayName",
        r#"displayName = "sales""#,
        "displayName eq 7",
        r#"userName eq "grace""#,
        "active eq true",
        r#"members.display eq "grace""#,
        r#"members.value co "1""#,
        r#"members[type eq "User"]"#,
        r#"members[not (value eq "1")]"#,
        "grants pr",
        r#"meta.created gt "yesterday""#,
    ] {
        let answer = staff.get("/Groups?excludedAttributes=members").query("filter", filter).send().await;
        let detail = answer.refused(400, Some("invalidFilter"));
        assert!(!detail.contains("grace"), "{detail}");
    }
    let twice = staff.get("/Groups").query("filter", "members pr").query("filter", "externalId pr");
    twice.send().await.refused(400, Some("invalidFilter"));
}

async fn groups_come_in_pages(app: TestApp) {
    let (staff, ..) = company(&app).await;
    for (query, start, expected) in [
        ("", 1, &[SALES, SUPPORT, SIGNS][..]),
        ("count=2", 1, &[SALES, SUPPORT]),
        ("startIndex=2&count=1", 2, &[SUPPORT]),
        ("startIndex=3&count=200", 3, &[SIGNS]),
        ("startIndex=4&count=100", 4, &[]),
        ("startIndex=0&count=1", 1, &[SALES]),
        ("count=0", 1, &[]),
        ("count=-1", 1, &[]),
        ("count=100000", 1, &[SALES, SUPPORT, SIGNS]),
        ("startIndex=9223372036854775807", 9_223_372_036_854_775_807_u64, &[]),
    ] {
        let page = list(&staff, query).await;
        assert_eq!((names(&page).as_slice(), &page["totalResults"]), (expected, &json!(3)), "{query}");
        assert_eq!(page["startIndex"], start, "{query}");
    }
    staff.get("/Groups?count=x").send().await.refused(400, Some("invalidValue"));
}

async fn groups_are_sorted(app: TestApp) {
    let (staff, _, [sales, ..]) = company(&app).await;
    app.pass(TimeDelta::seconds(1));
    staff.patched(&sales, &json!([{ "op": "replace", "path": "displayName", "value": "SALES" }])).await;
    let sales = "SALES";
    for (query, expected) in [
        ("sortBy=displayName", [SIGNS, sales, SUPPORT]),
        ("sortBy=DISPLAYNAME&sortOrder=ascending", [SIGNS, sales, SUPPORT]),
        ("sortBy=displayName&sortOrder=descending", [SUPPORT, sales, SIGNS]),
        // A group without it comes last.
        ("sortBy=externalId", [SUPPORT, sales, SIGNS]),
        ("sortBy=meta.created&sortOrder=descending", [SIGNS, SUPPORT, sales]),
        ("sortBy=meta.lastModified", [SUPPORT, SIGNS, sales]),
        ("sortBy=id", [sales, SUPPORT, SIGNS]),
        ("sortOrder=descending", [sales, SUPPORT, SIGNS]),
    ] {
        assert_eq!(names(&list(&staff, query).await), expected, "{query}");
    }
    for query in ["sortBy=members", "sortBy=userName", "sortBy=displayName&sortOrder=up"] {
        staff.get(&format!("/Groups?{query}")).send().await.refused(400, Some("invalidValue"));
    }
}

async fn a_search_by_post_is_the_same(app: TestApp) {
    let (staff, ..) = company(&app).await;
    let body = json!({
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],
        "filter": "members pr",
        "sortBy": "displayName",
        "sortOrder": "descending",
        "startIndex": 1,
        "count": 1,
        "attributes": ["displayName", "members"],
    });
    let query = "filter=members%20pr&sortBy=displayName&sortOrder=descending&count=1&attributes=displayName,members";
    let expected = list(&staff, query).await;
    assert_eq!((names(&expected), &expected["totalResults"]), (vec![SUPPORT], &json!(2)));
    let search = async |body: &Value| staff.write(Method::POST, "/Groups/.search", body).send().await;
    assert_eq!(search(&body).await.scim(200), expected);
    assert_eq!(search(&json!({})).await.scim(200)["totalResults"], 3);
    search(&json!({ "filter": "userName pr" })).await.refused(400, Some("invalidFilter"));
    search(&json!([])).await.refused(400, Some("invalidSyntax"));
}

async fn an_answer_shows_what_is_asked_for(app: TestApp) {
    let (staff, [grace, _], [sales, ..]) = company(&app).await;
    let (at, everything) = (path(&sales), members(&sales));
    for (query, expected) in [
        ("attributes=displayName", vec!["displayName", "id", "schemas"]),
        ("attributes=DISPLAYNAME,%20members", vec!["displayName", "id", "members", "schemas"]),
        ("attributes=members.value", vec!["id", "members", "schemas"]),
        ("attributes=urn:ietf:params:scim:schemas:core:2.0:Group:displayName", vec!["displayName", "id", "schemas"]),
        ("attributes=nothing", vec!["id", "schemas"]),
        ("excludedAttributes=members", vec!["displayName", "externalId", "id", "meta", "schemas"]),
        ("excludedAttributes=id,schemas", everything.clone()),
        ("", everything.clone()),
    ] {
        let one = json!({ "Operations": [{ "op": "add", "path": "externalId", "value": "id-sales" }] });
        for answer in [
            staff.get(&format!("{at}?{query}")).send().await.scim(200),
            list(&staff, query).await["Resources"][0].clone(),
            staff.write(Method::PATCH, &format!("{at}?{query}"), &one).send().await.scim(200),
        ] {
            assert_eq!(members(&answer), expected, "{query}");
        }
    }
    let shown = staff.get(&format!("{at}?attributes=members.value")).send().await.scim(200);
    assert_eq!(shown["members"], json!([{ "value": grace["id"] }]));
    let shown = staff.get(&format!("{at}?excludedAttributes=members.$ref")).send().await.scim(200);
    assert_eq!(shown["members"], json!([{ "value": grace["id"], "type": "User" }]));
    let both = format!("{at}?attributes=members&excludedAttributes=displayName");
    let rename = json!({ "Operations": [{ "op": "replace", "path": "displayName", "value": "Other" }] });
    for request in [staff.get(&both), staff.write(Method::PATCH, &both, &rename)] {
        app.unrecorded(&staff.ada, request.send()).await.refused(400, Some("invalidValue"));
    }
}

async fn a_search_of_everything_has_the_users_and_then_the_groups(app: TestApp) {
    let (staff, [grace, alan], [sales, ..]) = company(&app).await;
    let everything = ["grace", "alan", SALES, SUPPORT, SIGNS];
    for (start, count, expected) in [
        (1, 100, &everything[..]),
        (1, 2, &everything[..2]),
        (2, 2, &everything[1..3]),
        (3, 1, &everything[2..3]),
        (4, 200, &everything[3..]),
        (6, 10, &[]),
        (1, 0, &[]),
    ] {
        let found = search_all(&staff, &json!({ "startIndex": start, "count": count })).await;
        assert_eq!((names(&found).as_slice(), &found["totalResults"]), (expected, &json!(5)), "{start} {count}");
        assert_eq!(found["startIndex"], start);
    }
    // Each kind is sorted by itself.
    let sorted = search_all(&staff, &json!({ "sortBy": "externalId", "sortOrder": "descending" })).await;
    assert_eq!(names(&sorted), ["grace", "alan", SIGNS, SALES, SUPPORT]);
    let found = search_all(&staff, &json!({ "excludedAttributes": ["members", "meta"] })).await;
    assert_eq!(members(&found["Resources"][2]), ["displayName", "externalId", "id", "schemas"]);
    let all = search_all(&staff, &json!({})).await;
    assert_eq!([&all["Resources"][0], &all["Resources"][1], &all["Resources"][2]], [&grace, &alan, &sales]);
    assert_eq!(member_ids(&all["Resources"][3]), ids(&[&grace, &alan]));
}

async fn a_search_of_everything_finds_by_what_only_one_kind_has(app: TestApp) {
    let (staff, [grace, _], [sales, ..]) = company(&app).await;
    for (filter, expected) in [
        (r#"userName eq "GRACE""#.to_owned(), &["grace"][..]),
        (r#"not (userName eq "grace")"#.to_owned(), &["alan", SALES, SUPPORT, SIGNS]),
        (format!("members.value eq {}", grace["id"]), &[SALES, SUPPORT]),
        (format!("id eq {} or id eq {}", sales["id"], grace["id"]), &["grace", SALES]),
        (r#"externalId eq "id-sales" or externalId eq "id-alan""#.to_owned(), &["alan", SALES]),
        (r#"displayName sw "s""#.to_owned(), &[SALES, SUPPORT]),
        ("active eq true".to_owned(), &["grace", "alan"]),
        (r#"emails[type eq "work"] and members pr"#.to_owned(), &[]),
    ] {
        let found = search_all(&staff, &json!({ "filter": filter })).await;
        assert_eq!(names(&found), expected, "{filter}");
        assert_eq!(found["totalResults"], expected.len(), "{filter}");
    }
    for filter in ["title pr", "members.display pr", ""] {
        let request = staff.write(Method::POST, "/.search", &json!({ "filter": filter }));
        request.send().await.refused(400, Some("invalidFilter"));
    }
}
