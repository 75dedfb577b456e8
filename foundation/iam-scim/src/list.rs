use serde_json::{Value, json};

use crate::urn;

/// Returns the answer to a query (RFC 7644, section 3.4.2): a page of resources, with the number of all that match and
/// the position of the first one, from 1.
#[must_use]
pub fn list_response(resources: Vec<Value>, total: u64, start_index: u64) -> Value {
    let mut response = json!({
        "schemas": [urn::LIST_RESPONSE],
        "totalResults": total,
        "startIndex": start_index,
        "itemsPerPage": resources.len(),
    });
    if let Some(members) = response.as_object_mut() {
        members.insert("Resources".to_owned(), Value::Array(resources));
    }
    response
}
