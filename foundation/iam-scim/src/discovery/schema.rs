use iam_model::attribute::AttributeType;
use serde_json::{Map, Value, json};

use crate::custom::{CustomAttribute, CustomSchema};
use crate::urn;

/// Returns the schemas (RFC 7643, section 7): what is kept, and nothing else, with the extension of the tenant if it is
/// not empty. The `id` of each, which is its URN, is
/// the last segment of its URL.
#[must_use]
pub fn schemas(base: &str, custom: &CustomSchema) -> Vec<Value> {
    let user = Schema { urn: urn::USER, name: "User", description: "A person", attributes: user_attributes() };
    let enterprise = Schema {
        urn: urn::ENTERPRISE_USER,
        name: "EnterpriseUser",
        description: "What a company says of a person",
        attributes: enterprise_attributes(),
    };
    let group =
        Schema { urn: urn::GROUP, name: "Group", description: "A group of users", attributes: group_attributes() };
    let mut schemas = vec![user, group, enterprise];
    if !custom.is_empty() {
        let attributes = custom.attributes().iter().map(custom_attribute).collect();
        let description = "What the tenant says of a person";
        schemas.push(Schema { urn: urn::CUSTOM_USER, name: "TenantUser", description, attributes });
    }
    schemas.into_iter().map(|schema| schema.render(base)).collect()
}

fn custom_attribute(attribute: &CustomAttribute) -> Attribute {
    let name = attribute.name.as_str();
    let exact = |attribute: Attribute| attribute.with("caseExact", true).with("uniqueness", "none");
    match attribute.kind {
        AttributeType::Number => Attribute::new(name, "decimal", "A number").with("uniqueness", "none"),
        AttributeType::Boolean => Attribute::new(name, "boolean", "True or false"),
        AttributeType::Strings => exact(Attribute::new(name, "string", "A list of texts").with("multiValued", true)),
        AttributeType::String | AttributeType::Object => exact(Attribute::new(name, "string", "A text")),
    }
}

struct Schema {
    urn: &'static str,
    name: &'static str,
    description: &'static str,
    attributes: Vec<Attribute>,
}

impl Schema {
    fn render(self, base: &str) -> Value {
        json!({
            "schemas": [urn::SCHEMA],
            "id": self.urn,
            "name": self.name,
            "description": self.description,
            "attributes": rendered(self.attributes),
            "meta": { "resourceType": "Schema", "location": format!("{base}/Schemas/{}", self.urn) },
        })
    }
}

/// The definition of an attribute. None of its members is null, because clients refuse that.
struct Attribute(Map<String, Value>);

impl Attribute {
    fn new(name: &str, kind: &str, description: &str) -> Self {
        let attribute = Self(Map::new()).with("name", name).with("type", kind).with("multiValued", false);
        let attribute = attribute.with("description", description).with("required", false);
        attribute.with("mutability", "readWrite").with("returned", "default")
    }

    fn text(name: &str, description: &str) -> Self {
        Self::new(name, "string", description).with("caseExact", false).with("uniqueness", "none")
    }

    /// The URL of a user.
    fn reference(description: &str) -> Self {
        let reference = Self::new("$ref", "reference", description).with("referenceTypes", json!(["User"]));
        reference.with("caseExact", true).with("uniqueness", "none")
    }

    fn complex(name: &str, description: &str, parts: Vec<Self>) -> Self {
        Self::new(name, "complex", description).with("subAttributes", rendered(parts))
    }

    /// A list of objects.
    fn list(name: &str, description: &str, parts: Vec<Self>) -> Self {
        Self::complex(name, description, parts).with("multiValued", true)
    }

    fn required(self) -> Self {
        self.with("required", true)
    }

    /// Written with its element, and never changed in it.
    fn immutable(self) -> Self {
        self.with("mutability", "immutable")
    }

    fn canonical(self, values: &[&str]) -> Self {
        self.with("canonicalValues", json!(values))
    }

    fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.0.insert(member.to_owned(), value.into());
        self
    }
}

fn rendered(attributes: Vec<Attribute>) -> Value {
    attributes.into_iter().map(|attribute| Value::Object(attribute.0)).collect()
}

fn user_attributes() -> Vec<Attribute> {
    let name = vec![
        Attribute::text("formatted", "The whole name"),
        Attribute::text("familyName", "The family name"),
        Attribute::text("givenName", "The given name"),
    ];
    let user_name = "The name of the user in the directory, unique there without regard to case";
    vec![
        Attribute::text("userName", user_name).required().with("uniqueness", "server"),
        Attribute::complex("name", "The parts of the name of the person", name),
        Attribute::text("displayName", "The name that is shown"),
        Attribute::text("title", "The title"),
        Attribute::text("preferredLanguage", "The languages of the person"),
        Attribute::text("locale", "Where the person is, for the format of dates and numbers"),
        Attribute::text("timezone", "The time zone"),
        Attribute::new("active", "boolean", "Whether the user can log in").required(),
        Attribute::list(
            "emails",
            "The e-mail addresses, of which the primary one is the address of the account",
            values("The address", &["work", "home", "other"]),
        )
        .required(),
        Attribute::list(
            "phoneNumbers",
            "The phone numbers",
            values("The number", &["work", "home", "mobile", "fax", "pager", "other"]),
        ),
    ]
}

/// The parts of an element that has a value and a type.
fn values(description: &str, types: &[&str]) -> Vec<Attribute> {
    vec![
        Attribute::text("value", description).required(),
        Attribute::text("type", "What it is for").canonical(types),
        Attribute::new("primary", "boolean", "Whether it is the preferred one"),
    ]
}

fn enterprise_attributes() -> Vec<Attribute> {
    let manager =
        vec![Attribute::text("value", "The identifier of the manager"), Attribute::reference("The URL of the manager")];
    vec![
        Attribute::text("employeeNumber", "The number of the person in the company"),
        Attribute::text("costCenter", "The cost center"),
        Attribute::text("organization", "The organization"),
        Attribute::text("division", "The division"),
        Attribute::text("department", "The department"),
        Attribute::complex("manager", "The manager of the person", manager),
    ]
}

fn group_attributes() -> Vec<Attribute> {
    let members = vec![
        Attribute::text("value", "The identifier of the user").immutable(),
        Attribute::reference("The URL of the user").immutable(),
        Attribute::text("type", "What the member is").immutable().canonical(&["User"]),
    ];
    vec![
        Attribute::text("displayName", "The name of the group, unique in the directory without regard to case")
            .required(),
        Attribute::list("members", "The users of the group", members),
    ]
}
