//! Access tokens, signed by the keys of RFC 8037 and RFC 8032.
#![cfg(test)]

use iam_client::{Client, Expected, Tenants, TokenVerifier};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, get_current_timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fake::{Fake, Reply};

/// Private keys, each with its public half.
pub(crate) const FIRST: Key = Key {
    private: [
        0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49,
        0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
    ],
    public: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
};
pub(crate) const SECOND: Key = Key {
    private: [
        0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3, 0x46, 0xec, 0x11, 0x4e, 0x0f, 0x5b, 0x8a,
        0x31, 0x9f, 0x35, 0xab, 0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb,
    ],
    public: "PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw",
};

pub(crate) const TENANT: Uuid = Uuid::from_u128(1);
pub(crate) const USER: Uuid = Uuid::from_u128(2);

pub(crate) struct Key {
    private: [u8; 32],
    pub(crate) public: &'static str,
}

impl Key {
    pub(crate) fn jwk(&self, kid: &str) -> Value {
        json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": kid, "x": self.public })
    }

    fn encoding_key(&self) -> EncodingKey {
        // PKCS #8 of an Ed25519 key (RFC 8410).
        let mut der = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
        der.extend(self.private);
        EncodingKey::from_ed_der(&der)
    }

    /// A token that is valid for `TENANT`, after a change.
    pub(crate) fn token(&self, kid: &str, change: impl FnOnce(&mut Header, &mut Value)) -> String {
        let mut header = Header { kid: Some(kid.to_owned()), ..Header::new(Algorithm::EdDSA) };
        let mut claims = claims();
        change(&mut header, &mut claims);
        encode(&header, &claims, &self.encoding_key()).unwrap()
    }
}

pub(crate) fn claims() -> Value {
    let now = get_current_timestamp();
    json!({
        "iss": "iam", "aud": "iam", "sub": USER, "sid": Uuid::from_u128(3), "jti": Uuid::from_u128(4), "tenantId": TENANT,
        "iat": now, "nbf": now, "exp": now + 900, "amr": ["pwd", "otp", "mfa"], "auth_time": now,
    })
}

pub(crate) fn expected() -> Expected {
    Expected { issuer: "iam".into(), audience: "iam".into(), tenants: Tenants::One(TENANT) }
}

/// A server whose keys are these.
pub(crate) async fn publishes(keys: Value) -> Fake {
    Fake::start(move |_, _| {
        let reply = Reply::json(200, &json!({ "keys": keys }));
        async { reply }
    })
    .await
}

pub(crate) fn verifier(fake: &Fake) -> TokenVerifier {
    TokenVerifier::new(&Client::builder(format!("{}/api/v1", fake.url)).build().unwrap(), expected())
}
