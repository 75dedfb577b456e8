//! `GET /directories/{id}/groups` (`docs/directories.md#mapping-a-group`).

use serde_json::json;

use super::Company;
use crate::app::TestApp;
use crate::request::each;

on_every_store![
    "the store searches, orders and pages";
    groups_are_listed_by_name,
    groups_are_found_by_a_part_of_their_name,
    groups_come_in_pages,
];

async fn groups_are_listed_by_name(app: TestApp) {
    let company = Company::of(&app).await;
    assert_eq!(company.get("").send().await.ok()["data"], json!([]));
    for name in ["support", "Sales", "admins"] {
        company.group(name, &[]).await;
    }
    let list = company.get("").send().await.ok();
    assert_eq!(each(&list, "displayName"), ["admins", "Sales", "support"]);
    assert_eq!((&list["pagination"]["total"], &list["pagination"]["limit"]), (&json!(3), &json!(20)));
}

async fn groups_are_found_by_a_part_of_their_name(app: TestApp) {
    let company = Company::of(&app).await;
    for name in ["Sales", "Sales EU", "r_d 100%"] {
        company.group(name, &[]).await;
    }
    for (search, expected) in [
        ("", &["r_d 100%", "Sales", "Sales EU"][..]),
        ("SAL", &["Sales", "Sales EU"]),
        ("eu", &["Sales EU"]),
        ("r_d", &["r_d 100%"]),
        ("%", &["r_d 100%"]),
        ("s_les", &[]),
    ] {
        let list = company.get("").query("search", search).send().await.ok();
        assert_eq!(each(&list, "displayName"), expected, "{search}");
        assert_eq!(list["pagination"]["total"], expected.len(), "{search}");
    }
}

async fn groups_come_in_pages(app: TestApp) {
    let company = Company::of(&app).await;
    for name in ["A", "B", "C"] {
        company.group(name, &[]).await;
    }
    for (query, expected, has_next) in
        [("?limit=2", &["A", "B"][..], true), ("?limit=2&page=2", &["C"], false), ("?limit=2&page=3", &[], false)]
    {
        let list = company.get(query).send().await.ok();
        assert_eq!(each(&list, "displayName"), expected, "{query}");
        assert_eq!(list["pagination"]["total"], 3);
        assert_eq!(list["pagination"]["hasNext"], has_next, "{query}");
    }
    for (query, field) in [("?limit=0", "limit"), ("?page=x", "page"), ("?limit=101", "limit"), ("?name=x", "name")] {
        assert_eq!(company.get(query).send().await.invalid_fields(), [field], "{query}");
    }
}
