//! The names of the values in entries (`docs/audit.md#what-is-recorded`): those of the fields that were created or
//! changed.

use axum::http::Method;
use serde_json::Value;

use crate::app::TestApp;
use crate::openapi::{document, operations, resolved};
use crate::permissions::Fixture;

on_every_store_with_mail!["the store writes and reads the values"; the_values_of_entries_have_the_names_of_the_interface];

/// The schemas of a resource, by its type in the log. A password is a field of the request alone.
fn schemas(resource_type: &str) -> &'static [&'static str] {
    match resource_type {
        "USER" => &["User", "NewUser"],
        "ORGANIZATION" => &["Organization"],
        "TENANT" => &["Tenant"],
        "ROLE" => &["Role"],
        "PERMISSION" => &["Permission"],
        "ROLE_ASSIGNMENT" => &["RoleAssignment"],
        "SESSION" => &["Session"],
        "AUDIT_LOG" => &["AuditRetention"],
        "INVITATION" => &["Invitation"],
        "FACTOR" => &["Factor"],
        "API_KEY" => &["ApiKey"],
        "WEBHOOK" => &["Webhook"],
        "DOMAIN" => &["Domain"],
        "LEGAL_HOLD" => &["LegalHold"],
        "IDENTITY" => &["List_Identity"],
        "IDENTITY_PROVIDER" => &["IdentityProvider"],
        "DIRECTORY" => &["UpdatedDirectory"],
        "DIRECTORY_GROUP" => &["DirectoryGroup"],
        "ACCESS_REVIEW" => &["AccessReview", "AccessReviewItem"],
        "ELIGIBILITY" => &["Eligibility"],
        // A request keeps what its eligibility said of those who decide.
        "ACCESS_REQUEST" => &["AccessRequest", "Eligibility"],
        _ => &[],
    }
}

async fn the_values_of_entries_have_the_names_of_the_interface(app: TestApp) {
    let document = document();
    let has = |schema: &str, field: &str| {
        let schema = &document["components"]["schemas"][schema];
        assert!(!schema.is_null());
        // Some resources appear in lists alone.
        let schema = schema.pointer("/properties/data/items").unwrap_or(schema);
        schema["properties"].get(field).is_some()
    };
    let mut types = std::collections::BTreeSet::new();
    for operation in operations(&document).into_iter().filter(|operation| operation.method != Method::GET) {
        let fixture = Fixture::set(&app, &operation).await;
        // The operation may end the session of its caller.
        let reader = app.administrator_beside(&fixture.administrator).await;
        let request = fixture.request(&app, &document, &operation);
        let is_public = operation.required_permission() == "public";
        let request = if is_public { request } else { request.by(&fixture.administrator) };
        let correlation_id = "the-operation";
        let answer = request.header("x-correlation-id", correlation_id).send().await;
        assert!((200..400).contains(&answer.status()), "{operation}: {}", answer.text());
        let entries = app.audit(&reader, &[("correlationId", correlation_id)]).await;
        for entry in &entries {
            let resource_type = entry["resourceType"].as_str().unwrap();
            let fields = [&entry["oldValue"], &entry["newValue"]].into_iter().filter_map(Value::as_object).flatten();
            for (field, _) in fields {
                let is_named = schemas(resource_type).iter().any(|schema| has(schema, field));
                assert!(is_named, "{operation}: {field} of {entry}");
                types.insert(resource_type.to_owned());
            }
        }
        // What a request creates is on record under the names of the request.
        let made = entries.iter().rfind(|entry| entry["action"] == "CREATE");
        let schema = &operation.description["requestBody"]["content"]["application/json"]["schema"];
        let is_creation = operation.description["responses"].get("201").is_some() && !is_public;
        if let (Some(made), true) = (made, is_creation && !schema.is_null()) {
            for (field, _) in resolved(&document, schema)["properties"].as_object().unwrap() {
                // The proof of a passkey is no field of it. A secret is never recorded. The smallest user has no external
                // identifier and no attributes, which are recorded where they are set.
                let is_left_out = ["credential", "clientSecret", "externalId", "attributes"].contains(&field.as_str());
                // Every entry of an access request says why, also those of changes.
                let is_recorded = [&made["newValue"], &made["metadata"]].iter().any(|of| of.get(field).is_some());
                assert!(is_left_out || is_recorded, "{operation}: {field} is not in {made}");
            }
        }
    }
    let all = [
        "ACCESS_REQUEST",
        "ACCESS_REVIEW",
        "API_KEY",
        "AUDIT_LOG",
        "DIRECTORY",
        "DIRECTORY_GROUP",
        "DOMAIN",
        "ELIGIBILITY",
        "FACTOR",
        "IDENTITY",
        "IDENTITY_PROVIDER",
        "INVITATION",
        "LEGAL_HOLD",
        "ORGANIZATION",
        "PERMISSION",
        "ROLE",
        "ROLE_ASSIGNMENT",
        "TENANT",
        "USER",
        "WEBHOOK",
    ];
    assert!(types.iter().map(String::as_str).eq(all), "{types:?}");
}
