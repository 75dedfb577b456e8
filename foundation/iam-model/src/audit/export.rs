use serde_json::{Map, Value, json};

use crate::audit::AuditFilter;
use crate::clock::shown;

/// An export of the log, as its audit entry records it.
#[derive(Clone, Debug)]
pub struct Export {
    /// The filter for the exported entries.
    filter: AuditFilter,
    /// The format, for instance `text/csv`.
    format: String,
    /// Whether the export continues from a cursor.
    resumed: bool,
}

impl Export {
    /// Describes an export of the entries that pass the filter.
    #[must_use]
    pub fn new(filter: AuditFilter, format: String, resumed: bool) -> Self {
        Self { filter, format, resumed }
    }

    pub(crate) fn metadata(&self) -> Map<String, Value> {
        let AuditFilter { action, resource_type, resource_id, user_id, organization_id, correlation_id, from, until } =
            &self.filter;
        let filter = json!({
            "action": action,
            "resourceType": resource_type,
            "resourceId": resource_id,
            "userId": user_id,
            "organizationId": organization_id,
            "correlationId": correlation_id.as_ref().map(crate::context::CorrelationId::as_str),
            "startDate": from.map(shown),
            "endDate": until.map(shown),
        });
        let filter = filter.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        let filter: Map<String, Value> = filter.map(|(name, value)| (name.clone(), value.clone())).collect();
        Map::from_iter([
            ("format".to_owned(), Value::from(self.format.as_str())),
            ("resumed".to_owned(), Value::from(self.resumed)),
            ("filter".to_owned(), Value::Object(filter)),
        ])
    }
}
