use iam_model::directory::{Condition, GroupSortField, GroupTest, UserSortField, UserTest, UserText};
use iam_model::page::SortOrder;
use iam_scim::query::{GroupQuery, Parameters, UserQuery, projection};
use iam_scim::{Projection, ScimError, list_response};
use serde_json::{Value, json};

use crate::{ENTERPRISE, USER, kind};

fn query(pairs: &[(&str, &str)]) -> Result<UserQuery, ScimError> {
    Parameters::from_pairs(pairs.iter().copied())?.of_users()
}

fn search(body: &Value) -> Result<UserQuery, ScimError> {
    Parameters::from_search(body)?.of_users()
}

fn search_all(body: &Value) -> Result<(UserQuery, GroupQuery), ScimError> {
    Parameters::from_search(body)?.of_all()
}

#[test]
fn a_query_without_parameters_is_of_all() {
    let expected = UserQuery {
        condition: Condition::always(),
        start_index: 1,
        count: 100,
        sort: (UserSortField::Created, SortOrder::Ascending),
        projection: Projection::default(),
    };
    assert_eq!(query(&[]), Ok(expected.clone()));
    assert_eq!(query(&[("aadOptscim062020", ""), ("", ""), ("attributes", ""), ("sortBy", "")]), Ok(expected.clone()));
    assert_eq!(search(&json!({ "filter": null, "other": {} })), Ok(expected));
    assert_eq!(Parameters::default().of_groups().unwrap().sort.0, GroupSortField::Created);
}

#[test]
fn pages_are_bounded() {
    for (start_index, count, expected) in [
        ("1", "2", (1, 2)),
        ("0", "0", (1, 0)),
        ("-5", "-1", (1, 0)),
        ("201", "1000", (201, 200)),
        ("9223372036854775807", "200", (9_223_372_036_854_775_807, 200)),
    ] {
        let query = query(&[("startIndex", start_index), ("COUNT", count)]).unwrap();
        assert_eq!((query.start_index, query.count), expected);
    }
    let query = search(&json!({ "startIndex": 3, "count": "4" })).unwrap();
    assert_eq!((query.start_index, query.count), (3, 4));
}

#[test]
fn users_and_groups_are_sorted() {
    for (by, order, expected) in [
        ("userName", "ascending", (UserSortField::Text(UserText::UserName), SortOrder::Ascending)),
        ("NAME.familyName", "Descending", (UserSortField::Text(UserText::FamilyName), SortOrder::Descending)),
        ("meta.lastModified", "", (UserSortField::LastModified, SortOrder::Ascending)),
        ("meta.created", "descending", (UserSortField::Created, SortOrder::Descending)),
        ("", "descending", (UserSortField::Created, SortOrder::Ascending)),
    ] {
        assert_eq!(query(&[("sortBy", by), ("sortOrder", order)]).unwrap().sort, expected, "{by}");
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    for pairs in [
        [("count", "x"), ("", "")],
        [("startIndex", "99999999999999999999"), ("", "")],
        [("sortBy", "title"), ("", "")],
        [("sortBy", "emails"), ("", "")],
        [("sortBy", "userName"), ("sortOrder", "up")],
        [("attributes", "userName"), ("excludedAttributes", "emails")],
    ] {
        assert_eq!(kind(&query(&pairs).unwrap_err()), "invalidValue", "{pairs:?}");
    }
    let many = vec!["a"; 101].join(",");
    assert_eq!(kind(&query(&[("attributes", many.as_str())]).unwrap_err()), "invalidValue");
    for pairs in [
        vec![("filter", "")],
        vec![("filter", "title pr"), ("attributes", "id")],
        vec![("filter", "userName pr"), ("Filter", "displayName pr")],
    ] {
        assert_eq!(kind(&query(&pairs).unwrap_err()), "invalidFilter", "{pairs:?}");
    }
    for (body, expected) in [
        (json!([]), "invalidSyntax"),
        (json!({ "filter": ["userName pr"] }), "invalidFilter"),
        (json!({ "filter": true }), "invalidFilter"),
        (json!({ "filter": 1 }), "invalidFilter"),
        (json!({ "count": 1.5 }), "invalidValue"),
        (json!({ "sortBy": {} }), "invalidValue"),
    ] {
        assert_eq!(kind(&search(&body).unwrap_err()), expected, "{body}");
    }
}

/// At the root, attributes that only one kind of resources has are absent in the other one.
#[test]
fn everything_is_searched_together() {
    let search = |filter: &str| search_all(&json!({ "filter": filter, "attributes": ["externalId"] }));
    let never = Condition::Any(Vec::new());
    let (users, groups) = search(r#"userName eq "x""#).unwrap();
    assert!(matches!(users.condition, Condition::Test(UserTest::Text { field: UserText::UserName, .. })));
    assert_eq!(groups.condition, never);
    let (_, groups) = search(r#"not (userName eq "x")"#).unwrap();
    assert_eq!(groups.condition, Condition::Not(Box::new(never.clone())));
    assert_eq!(search(r#"userName ne "x""#).unwrap().1.condition, Condition::always());
    assert_eq!(search(r#"emails[type eq "x"]"#).unwrap().1.condition, never);
    let (users, groups) = search(r#"members eq "x""#).unwrap();
    assert_eq!(users.condition, Condition::Any(Vec::new()));
    assert_eq!(groups.condition, Condition::Test(GroupTest::Member("x".to_owned())));
    assert_eq!(kind(&search("title pr").unwrap_err()), "invalidFilter");

    let (users, groups) = search_all(&json!({ "sortBy": "userName", "sortOrder": "descending" })).unwrap();
    assert_eq!(users.sort, (UserSortField::Text(UserText::UserName), SortOrder::Descending));
    assert_eq!(groups.sort, (GroupSortField::Created, SortOrder::Ascending));
    assert_eq!(kind(&search_all(&json!({ "sortBy": "title" })).unwrap_err()), "invalidValue");
}

fn resource() -> Value {
    json!({
        "schemas": [USER, ENTERPRISE], "id": "77c", "userName": "ana",
        "name": { "givenName": "Ana", "familyName": "Ruiz" },
        "emails": [{ "value": "a", "type": "work" }, { "value": "b" }],
        ENTERPRISE: { "department": "Care", "manager": { "value": "b", "$ref": "u" } },
        "meta": { "resourceType": "User", "version": "1" },
    })
}

#[test]
fn an_answer_has_what_is_asked_for() {
    let only = |names: &str| projection([("attributes", names)]).unwrap().apply(resource());
    let with = |members: Value| {
        let mut expected = json!({ "schemas": [USER, ENTERPRISE], "id": "77c" });
        expected.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        expected
    };
    for (names, expected) in [
        ("userName".to_owned(), json!({ "userName": "ana" })),
        ("USERNAME , unknown, a b".to_owned(), json!({ "userName": "ana" })),
        ("unknown".to_owned(), json!({})),
        (format!("{USER}:userName"), json!({ "userName": "ana" })),
        ("name.givenName".to_owned(), json!({ "name": { "givenName": "Ana" } })),
        ("name,name.givenName".to_owned(), json!({ "name": { "givenName": "Ana", "familyName": "Ruiz" } })),
        ("emails.type".to_owned(), json!({ "emails": [{ "type": "work" }] })),
        ("emails.display".to_owned(), json!({})),
        ("department".to_owned(), json!({ ENTERPRISE: { "department": "Care" } })),
        (format!("{ENTERPRISE}:manager.value"), json!({ ENTERPRISE: { "manager": { "value": "b" } } })),
        (ENTERPRISE.to_lowercase(), json!({ ENTERPRISE: resource()[ENTERPRISE] })),
        ("meta.version".to_owned(), json!({ "meta": { "version": "1" } })),
    ] {
        assert_eq!(only(&names), with(expected), "{names}");
    }
}

#[test]
fn an_answer_lacks_what_is_excluded() {
    let without = |names: &str| projection([("excludedAttributes", names)]).unwrap().apply(resource());
    let lacks = |names: &[&str], changed: Value| {
        let mut expected = resource();
        let members = expected.as_object_mut().unwrap();
        names.iter().for_each(|name| drop(members.remove(*name)));
        members.extend(changed.as_object().unwrap().clone());
        expected
    };
    assert_eq!(without("id,schemas,unknown,userName.x"), resource());
    assert_eq!(without("Name, meta"), lacks(&["name", "meta"], json!({})));
    assert_eq!(without("name.givenName,name.familyName"), lacks(&["name"], json!({})));
    assert_eq!(without("emails.value"), lacks(&[], json!({ "emails": [{ "type": "work" }] })));
    let extension = json!({ ENTERPRISE: { "department": "Care", "manager": { "value": "b" } } });
    assert_eq!(without(&format!("{ENTERPRISE}:manager.$ref")), lacks(&[], extension));
    assert_eq!(without(ENTERPRISE), lacks(&[ENTERPRISE], json!({})));
}

#[test]
fn what_is_not_shown_needs_not_be_read() {
    let of = |name: &str, names: &str| projection([(name, names)]).unwrap();
    assert!(Projection::default().shows("members"));
    assert!(of("attributes", "Members").shows("members"));
    assert!(of("attributes", "members.value").shows("members"));
    assert!(!of("attributes", "displayName").shows("members"));
    assert!(!of("excludedAttributes", "members").shows("members"));
    assert!(of("excludedAttributes", "members.type").shows("members"));
}

#[test]
fn a_list_has_the_form_of_the_protocol() {
    let schemas = ["urn:ietf:params:scim:api:messages:2.0:ListResponse"];
    let expected = json!({
        "schemas": schemas, "totalResults": 7, "startIndex": 3, "itemsPerPage": 1, "Resources": [{ "id": "77c" }],
    });
    assert_eq!(list_response(vec![json!({ "id": "77c" })], 7, 3), expected);
    assert_eq!(list_response(Vec::new(), 7, 1)["Resources"], json!([]));
}
