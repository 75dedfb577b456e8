//! The secrets of webhooks and the signatures made with them, by Standard Webhooks 1.0.
//!
//! A secret is a MAC of the webhook's identifier and a random salt under a key of the installation. So it can be
//! computed again for each request, and no row contains it.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use iam_model::clock::Timestamp;
use iam_model::secret::WebhookSecret;
use iam_model::webhook::Webhook;
use zeroize::Zeroizing;

use crate::token::opaque::Secret;

const PREFIX: &str = "whsec_";

/// The key that makes the secrets of webhooks.
pub(crate) struct WebhookKey(hmac::Key);

impl WebhookKey {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, &secret))
    }

    /// Returns the present secret of a webhook.
    pub(crate) fn secret(&self, webhook: &Webhook) -> WebhookSecret {
        let secret = self.secret_bytes(webhook, &webhook.salt.current);
        let text = Zeroizing::new(STANDARD.encode(secret.as_slice()));
        format!("{PREFIX}{}", text.as_str()).into()
    }

    /// Returns the header `webhook-signature` of a request: a signature with each secret that signs at its time.
    pub(crate) fn signatures(&self, webhook: &Webhook, now: Timestamp, id: &str, body: &[u8]) -> String {
        let timestamp = now.timestamp().to_string();
        let signature = |salt: &[u8; 32]| {
            let secret = self.secret_bytes(webhook, salt);
            let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_slice()));
            for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
                context.update(part);
            }
            format!("v1,{}", STANDARD.encode(context.sign()))
        };
        webhook.salts(now).map(signature).collect::<Vec<_>>().join(" ")
    }

    fn secret_bytes(&self, webhook: &Webhook, salt: &[u8; 32]) -> Secret {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(webhook.tenant_id.as_uuid().as_bytes());
        context.update(webhook.id.as_uuid().as_bytes());
        context.update(salt);
        let mut secret = Zeroizing::new([0; 32]);
        secret.copy_from_slice(context.sign().as_ref());
        secret
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use iam_model::audit::EventFormat;
    use iam_model::clock::Clock as _;
    use iam_model::clock::testing::FixedClock;
    use iam_model::id::TenantId;
    use iam_model::version::Version;
    use iam_model::webhook::{FormerSalt, WebhookSalt};
    use uuid::Uuid;

    use super::*;

    fn webhook(tenant: u128, id: u128, salt: u8) -> Webhook {
        Webhook {
            id: Uuid::from_u128(id).into(),
            tenant_id: TenantId::from(Uuid::from_u128(tenant)),
            url: "https://example.com/hook".parse().unwrap(),
            types: vec!["USER.*".parse().unwrap()],
            format: EventFormat::Native,
            description: "".parse().unwrap(),
            enabled: true,
            salt: WebhookSalt { current: [salt; 32], former: None },
            created_at: now(),
            created_by: None,
            version: Version::FIRST,
        }
    }

    fn now() -> Timestamp {
        FixedClock::at("2026-01-31T09:15:00Z").now()
    }

    #[test]
    fn every_webhook_installation_and_rotation_has_another_secret() {
        let key = WebhookKey::new([3; 32]);
        let secrets = [
            key.secret(&webhook(1, 2, 3)),
            key.secret(&webhook(4, 2, 3)),
            key.secret(&webhook(1, 4, 3)),
            key.secret(&webhook(1, 2, 4)),
            WebhookKey::new([4; 32]).secret(&webhook(1, 2, 3)),
        ];
        for (number, secret) in secrets.iter().enumerate() {
            let encoded = secret.expose().strip_prefix("whsec_").unwrap();
            assert_eq!(STANDARD.decode(encoded).unwrap().len(), 32);
            assert!(secrets.iter().skip(number + 1).all(|other| other.expose() != secret.expose()), "{number}");
        }
        assert_eq!(key.secret(&webhook(1, 2, 3)).expose(), secrets[0].expose());
    }

    #[test]
    fn a_request_is_signed_with_the_present_and_the_former_secret() {
        let key = WebhookKey::new([3; 32]);
        let until = now() + TimeDelta::seconds(1);
        let former = FormerSalt { salt: [9; 32], until };
        let rotated = Webhook { salt: WebhookSalt { current: [3; 32], former: Some(former) }, ..webhook(1, 2, 3) };
        let signed = |webhook: &Webhook, now, id, body: &[u8]| key.signatures(webhook, now, id, body);
        let [present, past] = [3, 9].map(|salt| signed(&webhook(1, 2, salt), now(), "msg", b"{}"));
        assert_ne!(present, past);
        assert_eq!(signed(&rotated, now(), "msg", b"{}"), format!("{present} {past}"));
        let later = signed(&rotated, until, "msg", b"{}");
        assert_eq!(later, signed(&webhook(1, 2, 3), until, "msg", b"{}"));
        for other in [later, signed(&rotated, now(), "msg2", b"{}"), signed(&rotated, now(), "msg", b"[]")] {
            assert_ne!(other.split(' ').next(), Some(present.as_str()));
        }
    }

    /// The example of Standard Webhooks 1.0 in its reference libraries: the same secret gives the same signature.
    #[test]
    fn a_signature_is_that_of_the_standard() {
        let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = b"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{\"test\": 2432232314}";
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &secret), signed);
        assert_eq!(STANDARD.encode(tag), "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
