use iam_model::clock::{Timestamp, shown};
use serde_json::{Value, json};

/// What the service says of a resource (RFC 7643, section 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// When it was made.
    pub created: Timestamp,
    /// When it was changed last.
    pub last_modified: Timestamp,
    /// Its absolute URL.
    pub location: String,
    /// Its whole entity tag, as the header `ETag` has it, for instance `W/"7"`.
    pub version: String,
}

impl Meta {
    pub(crate) fn render(&self, resource_type: &str) -> Value {
        json!({
            "resourceType": resource_type,
            "created": shown(self.created),
            "lastModified": shown(self.last_modified),
            "location": self.location,
            "version": self.version,
        })
    }
}
