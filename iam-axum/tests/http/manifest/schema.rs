//! The schema of a manifest.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{apply, export, shops};
use crate::app::TestApp;
use crate::openapi::document;

in_memory![all_fields_of_the_schema_are_fields_of_a_manifest];

/// The names of the members of a value, at every depth, with those of the items of lists.
fn paths(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| paths(item, at, found)),
        Value::Object(members) => {
            for (name, value) in members {
                found.push(format!("{at}.{name}"));
                paths(value, &format!("{at}.{name}"), found);
            }
        }
        _ => {}
    }
}

/// The names of the properties of a schema, in the same way.
fn properties(schemas: &Value, schema: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        return properties(schemas, &schemas[name], at, found);
    }
    if !schema["items"].is_null() {
        properties(schemas, &schema["items"], at, found);
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        found.push(format!("{at}.{name}"));
        properties(schemas, schema, &format!("{at}.{name}"), found);
    }
}

async fn all_fields_of_the_schema_are_fields_of_a_manifest(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.domain(&ada, "example.com").await;
    let mut manifest = shops();
    manifest["identityProviders"][0]["domains"] = json!(["example.com"]);
    apply(&app, &ada, &manifest).await.ok();
    let document = document();
    let schemas = &document["components"]["schemas"];
    let (mut described, mut exported) = (Vec::new(), Vec::new());
    properties(schemas, &schemas["Manifest"], "", &mut described);
    paths(&export(&app, &ada).await, "", &mut exported);
    // No answer has a secret.
    described.retain(|name| name != ".identityProviders.clientSecret");
    for names in [&mut described, &mut exported] {
        names.sort_unstable();
        names.dedup();
    }
    assert_eq!(described, exported);
}

/// The schemas that a value must satisfy together, at every depth, by their paths.
fn combined<'d>(value: &'d Value, at: &str, found: &mut Vec<(String, &'d Vec<Value>)>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(number, item)| combined(item, &format!("{at}/{number}"), found));
        }
        Value::Object(members) => {
            for (name, value) in members {
                if name == "allOf"
                    && let Value::Array(schemas) = value
                {
                    found.push((at.to_owned(), schemas));
                }
                combined(value, &format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// A value has one type, so schemas of two types together accept nothing.
#[test]
fn schemas_that_are_combined_have_the_same_type() {
    let document = document();
    let mut found = Vec::new();
    combined(&document, "", &mut found);
    assert!(!found.is_empty());
    for (at, schemas) in found {
        let mut types: Vec<&str> = schemas.iter().filter_map(|schema| schema["type"].as_str()).collect();
        types.dedup();
        assert!(types.len() <= 1, "{at}: {types:?}");
    }
}

/// The published JSON Schema of a manifest: those of the OpenAPI document that it needs. A secret may also be named, as
/// in the files of the command.
/// `IAM_UPDATE_MANIFEST_SCHEMA=1` writes it again.
#[test]
fn the_published_schema_is_that_of_the_openapi_document() {
    let document = document();
    let mut definitions = Map::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        if name.starts_with("Manifest") && name != "ManifestChange" {
            definitions.insert(name.clone(), schema.clone());
        }
    }
    let secret = &mut definitions["ManifestIdentityProvider"]["properties"]["clientSecret"];
    let named = |name: &str, description: &str| {
        json!({
            "type": "object",
            "description": description,
            "properties": { name: { "type": "string", "minLength": 1 } },
            "required": [name],
            "additionalProperties": false,
        })
    };
    *secret = json!({
        "description": "The secret of this service at the provider: its name in a file, the secret itself over HTTP.",
        "anyOf": [
            named("env", "In a file: the environment variable that has the secret. It does not begin with IAM_."),
            named("file", "In a file: the path of the file that has the secret, from the folder of the manifest."),
            secret.take(),
        ],
    });
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": "#/$defs/Manifest",
        "$defs": definitions,
    });
    let text = serde_json::to_string_pretty(&schema).unwrap().replace("#/components/schemas/", "#/$defs/");
    let text = format!("{text}\n");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tenant-manifest.schema.json");
    if std::env::var_os("IAM_UPDATE_MANIFEST_SCHEMA").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let hint = "run `IAM_UPDATE_MANIFEST_SCHEMA=1 cargo test -p iam-axum the_published_schema`";
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text, "{hint}");
}
