use std::collections::HashSet;

use iam_model::audit::EventPattern;
use iam_model::manifest::ManifestItemKind;
use iam_model::validate::Description;
use iam_model::webhook::{Webhook, WebhookUrl};

use crate::manifest::document::ManifestWebhook;
use crate::manifest::plan::planner::{Planner, differing};
use crate::manifest::state::webhook;
use crate::manifest::step::Operation;
use crate::webhook::{NewWebhook, WebhookPatch};

impl Planner<'_> {
    pub(super) fn webhooks(&mut self, wanted: &[ManifestWebhook]) {
        let (state, mut seen) = (self.state, HashSet::new());
        for (number, wanted) in wanted.iter().enumerate() {
            let at = format!("webhooks[{number}]");
            let url: Option<WebhookUrl> = self.check(&at, "url", &wanted.url);
            let description: Option<Description> = self.check(&at, "description", &wanted.description);
            let mut types: Vec<EventPattern> = Vec::with_capacity(wanted.types.len());
            for (number, pattern) in wanted.types.iter().enumerate() {
                let pattern: Option<EventPattern> = self.check(&at, &format!("types[{number}]"), pattern);
                types.extend(pattern);
            }
            let (Some(url), Some(description)) = (url, description) else { continue };
            if types.len() < wanted.types.len() || !self.is_first(&mut seen, &at, "url", url.as_str()) {
                continue;
            }
            let wanted = ManifestWebhook {
                url: url.to_string(),
                types: types.iter().map(ToString::to_string).collect(),
                format: wanted.format,
                description: description.to_string(),
                enabled: wanted.enabled,
            };
            match state.webhooks.get(url.as_str()).map(Vec::as_slice) {
                None | Some([]) => {
                    let new = NewWebhook {
                        url: wanted.url.clone(),
                        types: wanted.types.clone(),
                        format: wanted.format,
                        description: wanted.description.clone(),
                        enabled: wanted.enabled.unwrap_or(true),
                    };
                    self.create(ManifestItemKind::Webhook, &wanted.url, at, &wanted, Operation::CreateWebhook(new));
                }
                Some([existing]) => self.webhook(at, &wanted, existing),
                Some(_) => self.fields.reject(&format!("{at}.url"), "is the address of several webhooks"),
            }
        }
    }

    fn webhook(&mut self, at: String, wanted: &ManifestWebhook, existing: &Webhook) {
        self.named.insert(existing.id.into());
        let before = webhook(existing);
        let enabled = differing(wanted.enabled, existing.enabled);
        let after = ManifestWebhook {
            enabled: Some(enabled.unwrap_or(existing.enabled)).filter(|enabled| !enabled),
            ..wanted.clone()
        };
        let patch = WebhookPatch {
            url: None,
            types: differing(Some(after.types.clone()), before.types.clone()),
            format: differing(Some(after.format), before.format),
            description: differing(Some(after.description.clone()), before.description.clone()),
            enabled,
        };
        let (id, operation) = (existing.id.into(), Operation::UpdateWebhook(existing.id, patch));
        self.update(ManifestItemKind::Webhook, id, (&after.url, at), &before, &after, operation);
    }
}
