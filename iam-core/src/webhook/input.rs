use iam_model::audit::{EventFormat, EventPattern};
use iam_model::clock::Timestamp;
use iam_model::error::Result;
use iam_model::id::{TenantId, UserId, WebhookId};
use iam_model::validate::{Description, Fields};
use iam_model::version::Version;
use iam_model::webhook::{AddressPolicy, Webhook, WebhookSalt, WebhookUrl};

/// The input for a new webhook, as typed; see [`Webhooks::create`](crate::webhook::Webhooks::create).
#[derive(Clone, Debug)]
pub struct NewWebhook {
    /// Where it sends events: an address with `https`, at most 2,048 characters.
    pub url: String,
    /// Which events it sends: 1–100 patterns such as `USER.CREATE` or `USER.*`.
    pub types: Vec<String>,
    /// How it writes them.
    pub format: EventFormat,
    /// At most 500 characters.
    pub description: String,
    /// Whether it sends events from the start.
    pub enabled: bool,
}

/// A webhook that is enabled, has no description, and sends entries as the API shows them.
impl Default for NewWebhook {
    fn default() -> Self {
        Self {
            url: String::new(),
            types: Vec::new(),
            format: EventFormat::default(),
            description: String::new(),
            enabled: true,
        }
    }
}

/// A [`NewWebhook`] with valid fields.
pub(super) struct ValidWebhook {
    url: WebhookUrl,
    types: Vec<EventPattern>,
    format: EventFormat,
    description: Description,
    enabled: bool,
}

impl NewWebhook {
    pub(super) fn validate(self, policy: AddressPolicy) -> Result<ValidWebhook> {
        let mut fields = Fields::default();
        let url = check_url(&mut fields, &self.url, policy);
        let types = check_types(&mut fields, &self.types);
        let description = fields.check("description", self.description.parse());
        match (url, description) {
            (Some(url), Some(description)) if fields.is_empty() => {
                Ok(ValidWebhook { url, types, format: self.format, description, enabled: self.enabled })
            }
            _ => Err(fields.into_error().into()),
        }
    }
}

impl ValidWebhook {
    pub(super) fn webhook(
        self,
        id: WebhookId,
        tenant_id: TenantId,
        salt: [u8; 32],
        (created_at, created_by): (Timestamp, Option<UserId>),
    ) -> Webhook {
        Webhook {
            id,
            tenant_id,
            url: self.url,
            types: self.types,
            format: self.format,
            description: self.description,
            enabled: self.enabled,
            salt: WebhookSalt { current: salt, former: None },
            created_at,
            created_by,
            version: Version::FIRST,
        }
    }
}

/// Changes of a webhook. A field that is `None` stays unchanged.
#[derive(Clone, Debug, Default)]
pub struct WebhookPatch {
    /// An address with `https`, at most 2,048 characters.
    pub url: Option<String>,
    /// All its patterns after the change, 1–100.
    pub types: Option<Vec<String>>,
    /// How it writes them after the change.
    pub format: Option<EventFormat>,
    /// At most 500 characters.
    pub description: Option<String>,
    /// Whether it sends events. One that is switched on continues with the events since it was switched off.
    pub enabled: Option<bool>,
}

/// A [`WebhookPatch`] with valid fields.
pub(super) struct ValidPatch {
    url: Option<WebhookUrl>,
    types: Option<Vec<EventPattern>>,
    format: Option<EventFormat>,
    description: Option<Description>,
    enabled: Option<bool>,
}

impl WebhookPatch {
    pub(super) fn validate(self, policy: AddressPolicy) -> Result<ValidPatch> {
        let mut fields = Fields::default();
        let url = self.url.and_then(|url| check_url(&mut fields, &url, policy));
        let types = self.types.map(|types| check_types(&mut fields, &types));
        let description = fields.check_optional("description", self.description.as_deref());
        fields.finish()?;
        Ok(ValidPatch { url, types, format: self.format, description, enabled: self.enabled })
    }
}

impl ValidPatch {
    /// Returns the webhook after the change.
    pub(super) fn apply(self, before: &Webhook) -> Webhook {
        let after = Webhook {
            url: self.url.unwrap_or_else(|| before.url.clone()),
            types: self.types.unwrap_or_else(|| before.types.clone()),
            format: self.format.unwrap_or(before.format),
            description: self.description.unwrap_or_else(|| before.description.clone()),
            enabled: self.enabled.unwrap_or(before.enabled),
            ..before.clone()
        };
        if after == *before { after } else { after.changed() }
    }
}

fn check_url(fields: &mut Fields, text: &str, policy: AddressPolicy) -> Option<WebhookUrl> {
    let url = text.parse::<WebhookUrl>();
    fields.check("url", url.and_then(|url| url.check(policy).map(|()| url)))
}

fn check_types(fields: &mut Fields, texts: &[String]) -> Vec<EventPattern> {
    if texts.is_empty() || texts.len() > Webhook::MAX_TYPES {
        fields.reject("types", format!("must have 1 to {} items", Webhook::MAX_TYPES));
        return Vec::new();
    }
    let parse = |(number, text): (usize, &String)| fields.check(&format!("types[{number}]"), text.parse());
    texts.iter().enumerate().filter_map(parse).collect()
}
