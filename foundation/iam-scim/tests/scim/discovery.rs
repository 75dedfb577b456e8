use iam_scim::CustomSchema;
use iam_scim::discovery::{resource_types, schemas, service_provider_config};
use serde_json::Value;

use crate::{BASE, ENTERPRISE, GROUP, USER};

fn names(attributes: &Value) -> Vec<&str> {
    attributes.as_array().unwrap().iter().map(|attribute| attribute["name"].as_str().unwrap()).collect()
}

/// The names of the required attributes, with those inside.
fn required(attributes: &Value, prefix: &str, found: &mut Vec<String>) {
    for attribute in attributes.as_array().unwrap() {
        let name = format!("{prefix}{}", attribute["name"].as_str().unwrap());
        if let Some(parts) = attribute.get("subAttributes") {
            required(parts, &format!("{name}."), found);
        }
        if attribute["required"] == true {
            found.push(name);
        }
    }
}

fn assert_no_null(value: &Value) {
    match value {
        Value::Null => panic!("clients refuse null"),
        Value::Array(all) => all.iter().for_each(assert_no_null),
        Value::Object(all) => all.values().for_each(assert_no_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn what_is_announced_is_what_is_kept() {
    let schemas = schemas(BASE, &CustomSchema::default());
    let ids: Vec<&str> = schemas.iter().map(|schema| schema["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [USER, GROUP, ENTERPRISE]);
    let of_user = [
        "userName",
        "name",
        "displayName",
        "title",
        "preferredLanguage",
        "locale",
        "timezone",
        "active",
        "emails",
        "phoneNumbers",
    ];
    assert_eq!(names(&schemas[0]["attributes"]), of_user);
    assert_eq!(names(&schemas[1]["attributes"]), ["displayName", "members"]);
    let of_company = ["employeeNumber", "costCenter", "organization", "division", "department", "manager"];
    assert_eq!(names(&schemas[2]["attributes"]), of_company);

    let mut found = Vec::new();
    schemas.iter().for_each(|schema| required(&schema["attributes"], "", &mut found));
    let expected = ["userName", "active", "emails.value", "emails", "phoneNumbers.value", "displayName"];
    assert_eq!(found, expected);
    let location = format!("{BASE}/Schemas/{ENTERPRISE}");
    assert_eq!(schemas[2]["meta"]["location"], location.as_str());
}

/// A client that makes a member from the schema needs an address that it may write.
#[test]
fn members_are_announced_with_their_url() {
    let schemas = schemas(BASE, &CustomSchema::default());
    let parts = &schemas[1]["attributes"][1]["subAttributes"];
    assert_eq!(names(parts), ["value", "$ref", "type"]);
    for part in parts.as_array().unwrap() {
        assert_eq!(part["mutability"], "immutable");
    }
    assert_eq!(parts[1]["referenceTypes"], serde_json::json!(["User"]));
    assert_eq!(parts[2]["canonicalValues"], serde_json::json!(["User"]));
}

#[test]
fn nothing_is_null() {
    schemas(BASE, &CustomSchema::default())
        .iter()
        .chain(&resource_types(BASE, &CustomSchema::default()))
        .for_each(assert_no_null);
    assert_no_null(&service_provider_config(BASE));
}

#[test]
fn every_schema_of_a_type_is_announced() {
    let types = resource_types(BASE, &CustomSchema::default());
    assert_eq!([&types[0]["endpoint"], &types[1]["endpoint"]], ["/Users", "/Groups"]);
    assert_eq!([&types[0]["schema"], &types[1]["schema"]], [USER, GROUP]);
    assert_eq!(types[0]["schemaExtensions"][0]["schema"], ENTERPRISE);
    assert_eq!(types[0]["schemaExtensions"][0]["required"], false);
    let config = service_provider_config(BASE);
    for (name, expected) in
        [("patch", true), ("bulk", false), ("filter", true), ("changePassword", false), ("sort", true), ("etag", true)]
    {
        assert_eq!(config[name]["supported"], expected, "{name}");
    }
    assert_eq!(config["filter"]["maxResults"], 200);
    assert_eq!(config["authenticationSchemes"][0]["type"], "oauthbearertoken");
}
