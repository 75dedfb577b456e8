use crate::urn;

/// The schemas whose attributes have names here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schema {
    User,
    Enterprise,
    Group,
}

impl Schema {
    const ALL: [Self; 3] = [Self::User, Self::Enterprise, Self::Group];

    fn urn(self) -> &'static str {
        match self {
            Self::User => urn::USER,
            Self::Enterprise => urn::ENTERPRISE_USER,
            Self::Group => urn::GROUP,
        }
    }
}

/// The name of an attribute (RFC 7644, section 3.10). Names have no case, so this one is in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// The schema by whose URN the name begins.
    pub(crate) schema: Option<Schema>,
    /// The attribute. It is empty if the text is the URN of a schema and nothing else.
    pub(crate) attribute: String,
    /// The attribute inside.
    pub(crate) sub: Option<String>,
}

impl Name {
    /// Reads a name. `None` if it is none, or if it begins by the URN of another schema.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        for schema in Schema::ALL {
            let Some(rest) = without_prefix(text, schema.urn()) else { continue };
            if rest.is_empty() {
                return Some(Self { schema: Some(schema), attribute: String::new(), sub: None });
            }
            // The URN has a dot itself, so it goes before the name is split.
            if let Some(rest) = rest.strip_prefix(':') {
                return Self::bare(rest, Some(schema));
            }
        }
        Self::bare(text, None)
    }

    fn bare(text: &str, schema: Option<Schema>) -> Option<Self> {
        let (attribute, sub) = match text.split_once('.') {
            Some((attribute, sub)) => (attribute, Some(sub)),
            None => (text, None),
        };
        let is_valid = is_name(attribute) && sub.is_none_or(|sub| is_name(sub.strip_prefix('$').unwrap_or(sub)));
        is_valid.then(|| Self {
            schema,
            attribute: attribute.to_ascii_lowercase(),
            sub: sub.map(str::to_ascii_lowercase),
        })
    }
}

fn without_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-'))
}

/// Returns a name of a client for the text of an error.
pub(crate) fn shown(name: &str) -> String {
    const MAX: usize = 100;
    name.chars().take(MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(Option<Schema>, String, Option<String>)> {
        Name::parse(text).map(|name| (name.schema, name.attribute, name.sub))
    }

    #[test]
    fn the_longest_urn_goes_first() {
        let name = |schema: Option<Schema>, attribute: &str, sub: Option<&str>| {
            Some((schema, attribute.to_owned(), sub.map(str::to_owned)))
        };
        let enterprise = "URN:ietf:params:scim:schemas:extension:enterprise:2.0:User";
        assert_eq!(parsed("userName"), name(None, "username", None));
        assert_eq!(parsed("manager.$ref"), name(None, "manager", Some("$ref")));
        assert_eq!(
            parsed(&format!("{}:name.givenName", urn::USER)),
            name(Some(Schema::User), "name", Some("givenname"))
        );
        assert_eq!(parsed(enterprise), name(Some(Schema::Enterprise), "", None));
        let manager = format!("{enterprise}:Manager.value");
        assert_eq!(parsed(&manager), name(Some(Schema::Enterprise), "manager", Some("value")));
        for text in ["", ".", "a.", ".a", "a.b.c", "1a", "é", "$ref", "a b", "urn:other:a", &format!("{enterprise}:")]
        {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
