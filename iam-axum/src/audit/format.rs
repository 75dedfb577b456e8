use iam_core::audit::EventFormat;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EventFormatDto {
    Native,
    Ocsf,
}

impl From<EventFormat> for EventFormatDto {
    fn from(format: EventFormat) -> Self {
        match format {
            EventFormat::Native => Self::Native,
            EventFormat::Ocsf => Self::Ocsf,
        }
    }
}

impl From<EventFormatDto> for EventFormat {
    fn from(format: EventFormatDto) -> Self {
        match format {
            EventFormatDto::Native => Self::Native,
            EventFormatDto::Ocsf => Self::Ocsf,
        }
    }
}
