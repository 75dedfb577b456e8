//! The descriptions of the properties in the OpenAPI document: a sentence and an example for each.
//!
//! A property means the same in all schemas, so `properties.json` says it once, by the property's name. An entry for
//! `Schema.property` goes first. A description that a schema has itself stays. Identifiers are those of the tenant that
//! `iam-server demo` creates, so that every example of a request succeeds there.

use std::collections::BTreeMap;
use std::mem;

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::ArrayItems;
use utoipa::openapi::{Components, RefOr, Schema};

type Schemas = BTreeMap<String, RefOr<Schema>>;

#[derive(Deserialize)]
struct Texts {
    properties: BTreeMap<String, Entry>,
    /// The example of `{id}`, by the beginning of a path. The longest one counts.
    ids: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Entry {
    description: Option<String>,
    #[serde(default, deserialize_with = "present")]
    example: Option<Value>,
}

/// Keeps null, which is an example, too.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Adds the sentences and the examples of properties, and the examples of requests.
///
/// # Errors
///
/// An error if `properties.json` is invalid, which a test would find.
pub(crate) fn describe_properties<'a>(
    operations: impl Iterator<Item = (&'a str, &'a mut Operation)>,
    components: &mut Components,
) -> serde_json::Result<()> {
    let texts: Texts = serde_json::from_str(include_str!("properties.json"))?;
    for (name, schema) in &mut components.schemas {
        texts.describe(name, schema);
    }
    for (path, operation) in operations {
        if let Some(RefOr::T(body)) = &mut operation.request_body {
            for content in body.content.values_mut() {
                if let RefOr::T(content) = content
                    && let Some(schema) = &content.schema
                {
                    content.example = Some(example_of(schema, &components.schemas));
                }
            }
        }
        for parameter in operation.parameters.iter_mut().flatten() {
            if let RefOr::T(parameter) = parameter
                && parameter.parameter_in == ParameterIn::Path
            {
                let example = texts.id(path, &parameter.name).map(|id| json!(id));
                *parameter = ParameterBuilder::from(mem::take(parameter)).example(example).build();
            }
        }
    }
    Ok(())
}

impl Texts {
    /// Returns the example of a parameter of a path. Of several parameters, only the last one depends on the text after
    /// it.
    fn id(&self, path: &str, name: &str) -> Option<&str> {
        let parameter = format!("{{{name}}}");
        let path = match path.split_once(&parameter) {
            Some((before, after)) if after.contains('{') => path.get(..before.len() + parameter.len()).unwrap_or(path),
            _ => path,
        };
        self.ids.iter().rfind(|(beginning, _)| path.starts_with(beginning.as_str())).map(|(_, id)| id.as_str())
    }

    /// Describes the properties of a schema, and of all schemas in it.
    fn describe(&self, name: &str, schema: &mut RefOr<Schema>) {
        let RefOr::T(schema) = schema else { return };
        match schema {
            Schema::Object(object) => {
                for (property, schema) in &mut object.properties {
                    self.describe_property(name, property, schema);
                    self.describe(name, schema);
                }
            }
            Schema::Array(array) => {
                if let ArrayItems::RefOrSchema(items) = &mut array.items {
                    // A generic schema such as `Collection_User` has its items inline.
                    self.describe(name.rsplit('_').next().unwrap_or(name), items);
                }
            }
            Schema::OneOf(schemas) => schemas.items.iter_mut().for_each(|schema| self.describe(name, schema)),
            Schema::AllOf(schemas) => schemas.items.iter_mut().for_each(|schema| self.describe(name, schema)),
            Schema::AnyOf(schemas) => schemas.items.iter_mut().for_each(|schema| self.describe(name, schema)),
            _ => {}
        }
    }

    fn describe_property(&self, schema_name: &str, name: &str, schema: &mut RefOr<Schema>) {
        let entries = [self.properties.get(&format!("{schema_name}.{name}")), self.properties.get(name)];
        let text = || entries.into_iter().flatten().find_map(|entry| entry.description.clone());
        let has_parts = has_parts(schema);
        let (description, example) = match schema {
            RefOr::Ref(reference) => {
                if reference.description.is_empty() {
                    reference.description = text().unwrap_or_default();
                }
                return;
            }
            RefOr::T(Schema::Object(schema)) => (&mut schema.description, &mut schema.example),
            RefOr::T(Schema::Array(schema)) => (&mut schema.description, &mut schema.example),
            RefOr::T(Schema::OneOf(schema)) => {
                // utoipa writes the sentence of a property that can be null beside the reference.
                for item in &mut schema.items {
                    if let RefOr::Ref(reference) = item
                        && !reference.description.is_empty()
                    {
                        schema.description = Some(mem::take(&mut reference.description));
                    }
                }
                (&mut schema.description, &mut schema.example)
            }
            RefOr::T(Schema::AllOf(schema)) => (&mut schema.description, &mut schema.example),
            RefOr::T(Schema::AnyOf(schema)) => (&mut schema.description, &mut schema.example),
            RefOr::T(_) => return,
        };
        *description = description.take().or_else(text);
        if !has_parts {
            let entry = || entries.into_iter().flatten().find_map(|entry| entry.example.clone());
            *example = example.take().or_else(entry);
        }
    }
}

/// Whether the example of a schema is that of its parts: of its properties, of its items, or of another schema.
fn has_parts(schema: &RefOr<Schema>) -> bool {
    match schema {
        RefOr::Ref(_) | RefOr::T(Schema::AllOf(_)) => true,
        RefOr::T(Schema::Object(object)) => !object.properties.is_empty(),
        RefOr::T(Schema::Array(array)) => {
            matches!(&array.items, ArrayItems::RefOrSchema(items) if has_parts(items))
        }
        // Null, or a schema of its own.
        RefOr::T(Schema::OneOf(one)) => one.items.iter().any(|item| matches!(item, RefOr::Ref(_))),
        RefOr::T(_) => false,
    }
}

/// Returns the example of a schema: its own, or the examples of its parts together.
fn example_of(schema: &RefOr<Schema>, schemas: &Schemas) -> Value {
    match schema {
        RefOr::Ref(reference) => {
            let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
            schemas.get(name).map(|schema| example_of(schema, schemas)).unwrap_or_default()
        }
        RefOr::T(Schema::Object(object)) => object.example.clone().unwrap_or_else(|| {
            object.properties.iter().map(|(name, schema)| (name.clone(), example_of(schema, schemas))).collect()
        }),
        RefOr::T(Schema::Array(array)) => array.example.clone().unwrap_or_else(|| match &array.items {
            ArrayItems::RefOrSchema(items) => json!([example_of(items, schemas)]),
            _ => json!([]),
        }),
        RefOr::T(Schema::OneOf(one)) => one.example.clone().unwrap_or_else(|| {
            one.items
                .iter()
                .find(|item| matches!(item, RefOr::Ref(_)))
                .map(|item| example_of(item, schemas))
                .unwrap_or_default()
        }),
        RefOr::T(_) => Value::Null,
    }
}
