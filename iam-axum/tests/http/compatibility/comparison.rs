//! Finds the changes in an OpenAPI document that break clients of an older one. docs/versioning.md says what clients
//! may rely on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::openapi::resolved;

/// The direction of a value. Requests may only become more permissive, responses only more exact.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Request,
    Response,
}

/// Every change in the newer document that breaks a client of the older one, with its place in the document.
pub(super) fn breaks(old: &Value, new: &Value) -> Vec<String> {
    let mut comparison = Comparison { old, new, compared: BTreeSet::new(), breaks: Vec::new() };
    comparison.documents();
    comparison.breaks
}

struct Comparison<'a> {
    old: &'a Value,
    new: &'a Value,
    /// The pairs of schemas that were already compared, so that the comparison of a recursive schema ends.
    compared: BTreeSet<(String, String, bool)>,
    breaks: Vec<String>,
}

impl<'a> Comparison<'a> {
    fn report(&mut self, place: &str, what: impl std::fmt::Display) {
        self.breaks.push(format!("{place}: {what}"));
    }

    fn documents(&mut self) {
        let (old, new) = (self.old, self.new);
        if old["servers"] != new["servers"] {
            self.report("servers", "another prefix");
        }
        for (path, item) in members(&old["paths"]) {
            if item["servers"] != new["paths"][path]["servers"] {
                self.report(path, "another prefix");
            }
            for method in ["get", "post", "put", "patch", "delete"] {
                let place = format!("{} {path}", method.to_uppercase());
                match (item.get(method), new["paths"][path].get(method)) {
                    (Some(old), Some(new)) => self.operations(&place, old, new),
                    (Some(_), None) => self.report(&place, "removed"),
                    (None, _) => {}
                }
            }
        }
    }

    fn operations(&mut self, place: &str, old: &'a Value, new: &'a Value) {
        if old["operationId"] != new["operationId"] {
            self.report(place, "another operationId");
        }
        let permissions = [old, new].map(|operation| operation["x-required-permission"].as_str().unwrap_or_default());
        let is_less = permissions[1] == "public" || permissions[1] == "session" && permissions[0] != "public";
        if permissions[0] != permissions[1] && !is_less {
            self.report(place, "another permission is required");
        }
        let [was, is] = [(old, self.old), (new, self.new)]
            .map(|(operation, document)| ways(operation.get("security").unwrap_or(&document["security"])));
        if was.iter().any(|way| !is.contains(way)) {
            self.report(place, "a way to authenticate was removed");
        }
        self.parameters(place, &old["parameters"], &new["parameters"]);
        self.bodies(place, &old["requestBody"], &new["requestBody"]);
        for (status, response) in members(&old["responses"]) {
            let place = format!("{place} {status}");
            match new["responses"].get(status) {
                Some(new) => self.responses(&place, response, new),
                None => self.report(&place, "removed"),
            }
        }
    }

    fn parameters(&mut self, place: &str, old: &'a Value, new: &'a Value) {
        let same = |a: &Value, b: &Value| a["name"] == b["name"] && a["in"] == b["in"];
        for was in items(old) {
            let place = format!("{place} {}", was["name"]);
            match items(new).iter().find(|is| same(is, was)) {
                Some(is) => self.schemas(&place, &was["schema"], &is["schema"], Direction::Request),
                None => self.report(&place, "removed"),
            }
        }
        for is in items(new).iter().filter(|is| is["required"] == true) {
            if !items(old).iter().any(|was| same(was, is) && was["required"] == true) {
                self.report(place, format_args!("{} is required", is["name"]));
            }
        }
    }

    fn bodies(&mut self, place: &str, old: &'a Value, new: &'a Value) {
        if new["required"] == true && old["required"] != true {
            self.report(place, "a body is required");
        }
        self.contents(place, &old["content"], &new["content"], Direction::Request);
    }

    fn responses(&mut self, place: &str, old: &'a Value, new: &'a Value) {
        let (old, new) = (resolved(self.old, old), resolved(self.new, new));
        for (name, header) in members(&old["headers"]) {
            let place = format!("{place} {name}");
            match new["headers"].get(name) {
                Some(new) => self.schemas(&place, &header["schema"], &new["schema"], Direction::Response),
                None => self.report(&place, "removed"),
            }
        }
        self.contents(place, &old["content"], &new["content"], Direction::Response);
    }

    fn contents(&mut self, place: &str, old: &'a Value, new: &'a Value, direction: Direction) {
        for (media_type, content) in members(old) {
            let place = format!("{place} {media_type}");
            match new.get(media_type) {
                Some(new) => self.schemas(&place, &content["schema"], &new["schema"], direction),
                None => self.report(&place, "removed"),
            }
        }
    }

    fn schemas(&mut self, place: &str, old: &'a Value, new: &'a Value, direction: Direction) {
        if let (Some(was), Some(is)) = (old["$ref"].as_str(), new["$ref"].as_str()) {
            let pair = (was.to_owned(), is.to_owned(), direction == Direction::Request);
            if !self.compared.insert(pair) {
                return;
            }
        }
        let (was, is) = (alternatives(self.old, old), alternatives(self.new, new));
        if let ([was], [is]) = (was.as_slice(), is.as_slice()) {
            self.flat_schemas(place, was, is, direction);
            return;
        }
        // Every request that was accepted must still be accepted. Every response must have been possible before.
        let (these, those) = if direction == Direction::Request { (was, is) } else { (is, was) };
        for this in &these {
            let is_covered = those.iter().any(|that| {
                let (was, is) = if direction == Direction::Request { (this, that) } else { (that, this) };
                let mut attempt = Comparison { compared: self.compared.clone(), breaks: Vec::new(), ..*self };
                attempt.flat_schemas(place, was, is, direction);
                attempt.breaks.is_empty()
            });
            if !is_covered {
                self.report(place, "other alternatives");
            }
        }
    }

    fn flat_schemas(&mut self, place: &str, was: &Flat<'a>, is: &Flat<'a>, direction: Direction) {
        // The wide schema must allow everything that the narrow schema allows.
        let (wide, narrow) = if direction == Direction::Request { (is, was) } else { (was, is) };
        if !wide.allows_every_type_of(narrow) {
            self.report(place, "another type");
        }
        for limit in ["minLength", "minItems", "minimum", "maxLength", "maxItems", "maximum"] {
            if !wide.is_within(narrow, limit) {
                self.report(place, format_args!("another {limit}"));
            }
        }
        for exact in ["format", "pattern", "additionalProperties"] {
            // A keyword that allows everything means the same as a missing keyword.
            let allowed = wide.get(exact).filter(|allowed| **allowed != json!(true) && **allowed != json!({}));
            if allowed.is_some() && allowed != narrow.get(exact) {
                self.report(place, format_args!("another {exact}"));
            }
        }
        if let Some(values) = wide.get("enum")
            && narrow
                .get("enum")
                .is_none_or(|new_values| items(new_values).iter().any(|value| !items(values).contains(value)))
        {
            self.report(place, "other enum values");
        }
        for name in wide.required.difference(&narrow.required) {
            let what = if direction == Direction::Request { "is required" } else { "may be missing" };
            self.report(place, format_args!("{name} {what}"));
        }
        for (name, property) in &was.properties {
            let place = format!("{place} {name}");
            match is.properties.get(name) {
                Some(new) => self.schemas(&place, property, new, direction),
                None => self.report(&place, "removed"),
            }
        }
        if let (Some(old), Some(new)) = (was.get("items"), is.get("items")) {
            self.schemas(&format!("{place}[]"), old, new, direction);
        }
    }
}

/// A schema without references and alternatives: the keywords of all schemas that apply together.
#[derive(Default)]
struct Flat<'a> {
    parts: Vec<&'a Value>,
    properties: BTreeMap<&'a str, &'a Value>,
    required: BTreeSet<&'a str>,
}

impl<'a> Flat<'a> {
    fn add(&mut self, document: &'a Value, schema: &'a Value) {
        let schema = resolved(document, schema);
        self.parts.push(schema);
        self.properties.extend(members(&schema["properties"]));
        self.required.extend(items(&schema["required"]).iter().filter_map(Value::as_str));
        for part in items(&schema["allOf"]) {
            self.add(document, part);
        }
    }

    fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.parts.iter().find_map(|part| part.get(keyword))
    }

    /// The allowed types. None means every type.
    fn types(&self) -> Option<Vec<&'a str>> {
        let named = self.get("type")?;
        Some(named.as_str().map_or_else(|| items(named).iter().filter_map(Value::as_str).collect(), |one| vec![one]))
    }

    fn allows_every_type_of(&self, narrow: &Self) -> bool {
        let Some(allowed) = self.types() else { return true };
        let is_allowed = |name: &&str| allowed.contains(name) || *name == "integer" && allowed.contains(&"number");
        narrow.types().is_some_and(|types| types.iter().all(is_allowed))
    }

    fn is_within(&self, narrow: &Self, limit: &str) -> bool {
        let [Some(allowed), given] = [self, narrow].map(|flat| flat.get(limit).and_then(Value::as_f64)) else {
            return true;
        };
        given.is_some_and(|given| if limit.starts_with("min") { given >= allowed } else { given <= allowed })
    }
}

/// The alternatives that a schema allows, without references.
fn alternatives<'a>(document: &'a Value, schema: &'a Value) -> Vec<Flat<'a>> {
    let schema = resolved(document, schema);
    let listed = ["oneOf", "anyOf"].iter().flat_map(|keyword| items(&schema[keyword]));
    // Only a request with the parameter `preview` gets a preview.
    let listed: Vec<&Value> = listed.filter(|listed| listed["$ref"] != "#/components/schemas/Preview").collect();
    if listed.is_empty() {
        let mut flat = Flat::default();
        flat.add(document, schema);
        return vec![flat];
    }
    listed.into_iter().flat_map(|schema| alternatives(document, schema)).collect()
}

/// The members of an object. Empty for any other value.
fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, member)| (name.as_str(), member))
}

/// The items of an array. Empty for any other value.
fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the ways to authenticate. No way, and the empty way, both mean that no token is needed.
fn ways(security: &Value) -> Vec<Value> {
    let ways = items(security);
    if ways.is_empty() { vec![json!({})] } else { ways.to_vec() }
}
