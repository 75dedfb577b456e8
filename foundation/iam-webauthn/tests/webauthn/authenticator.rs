//! A software authenticator, with the browser before it. A test changes a part of what they send.

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::{Value as Cbor, cbor};
use iam_webauthn::{
    Authenticated, AuthenticationResponse, Credential, Refusal, RegistrationResponse, RelyingParty, User,
};
use serde_json::{Value, json};

pub(crate) const ORIGIN: &str = "https://login.example.com";
pub(crate) const RP_ID: &str = "example.com";
pub(crate) const OWNER: &[u8] = b"user 1";

// Flags of the authenticator data.
pub(crate) const UP: u8 = 0x01;
pub(crate) const UV: u8 = 0x04;
pub(crate) const BE: u8 = 0x08;
pub(crate) const BS: u8 = 0x10;
pub(crate) const AT: u8 = 0x40;
pub(crate) const ED: u8 = 0x80;

pub(crate) fn relying_party() -> RelyingParty {
    RelyingParty::new(RP_ID, "Example", [ORIGIN, "https://example.com:8443"]).unwrap()
}

pub(crate) fn user() -> User<'static> {
    User { handle: OWNER, name: "ada@example.com", display_name: "Ada" }
}

pub(crate) fn base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn encode(value: &Cbor) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

pub(crate) enum Key {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Rs256(RsaKeyPair),
}

impl Key {
    pub(crate) fn es256() -> Self {
        Self::Es256(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap())
    }

    pub(crate) fn eddsa() -> Self {
        Self::EdDsa(Ed25519KeyPair::generate().unwrap())
    }

    pub(crate) fn rs256() -> Self {
        Self::Rs256(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())
    }

    /// The public key as a COSE key.
    pub(crate) fn cose(&self) -> Cbor {
        match self {
            Self::Es256(pair) => {
                let point = pair.public_key().as_ref();
                let (x, y) = (bytes(&point[1..33]), bytes(&point[33..]));
                cbor!({ 1 => 2, 3 => -7, -1 => 1, -2 => x, -3 => y }).unwrap()
            }
            Self::EdDsa(pair) => {
                let x = bytes(pair.public_key().as_ref());
                cbor!({ 1 => 1, 3 => -8, -1 => 6, -2 => x }).unwrap()
            }
            Self::Rs256(pair) => {
                // In DER: two headers and a zero, the modulus of 256 bytes, a header, the exponent of 3 bytes.
                let der = pair.public_key().as_ref();
                let (n, e) = (bytes(&der[9..265]), bytes(&der[267..]));
                cbor!({ 1 => 3, 3 => -257, -1 => n, -2 => e }).unwrap()
            }
        }
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Es256(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::EdDsa(pair) => pair.sign(message).as_ref().to_vec(),
            Self::Rs256(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
        }
    }
}

pub(crate) fn bytes(bytes: &[u8]) -> Cbor {
    Cbor::Bytes(bytes.to_vec())
}

/// The authenticator data, in parts.
#[derive(Clone)]
pub(crate) struct Data {
    pub(crate) rp_id: String,
    pub(crate) flags: u8,
    pub(crate) counter: u32,
    /// What follows the counter.
    pub(crate) rest: Vec<u8>,
}

impl Data {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let hash = digest(&SHA256, self.rp_id.as_bytes());
        [hash.as_ref(), &[self.flags], &self.counter.to_be_bytes(), &self.rest].concat()
    }
}

/// Attested credential data without the key.
pub(crate) fn attested(id: &[u8]) -> Vec<u8> {
    [&[7; 16], u16::try_from(id.len()).unwrap().to_be_bytes().as_slice(), id].concat()
}

/// The members of an attestation object.
pub(crate) fn attestation_object(data: Cbor) -> Vec<(Cbor, Cbor)> {
    cbor!({ "fmt" => "none", "attStmt" => {}, "authData" => data }).unwrap().into_map().unwrap()
}

/// What a browser sends to finish a registration.
pub(crate) struct Registration {
    pub(crate) id: Vec<u8>,
    pub(crate) client_data: Value,
    pub(crate) data: Data,
    /// The attested identifier and key.
    pub(crate) attested_id: Vec<u8>,
    pub(crate) key: Vec<u8>,
    /// The attestation object, after the authenticator data were put into it.
    pub(crate) wrap: fn(Cbor) -> Vec<u8>,
    pub(crate) transports: Value,
}

impl Registration {
    /// Answers the options.
    pub(crate) fn of(key: &Key, id: &[u8], options: &Value) -> Self {
        Self {
            id: id.to_vec(),
            client_data: client_data("webauthn.create", options),
            data: Data {
                rp_id: options["rp"]["id"].as_str().unwrap().to_owned(),
                flags: UP | UV | AT,
                counter: 0,
                rest: Vec::new(),
            },
            attested_id: id.to_vec(),
            key: encode(&key.cose()),
            wrap: |data| encode(&Cbor::Map(attestation_object(data))),
            transports: json!(["internal"]),
        }
    }

    pub(crate) fn json(&self) -> Value {
        let mut data = self.data.clone();
        if data.flags & AT != 0 {
            data.rest = [attested(&self.attested_id), self.key.clone(), data.rest].concat();
        }
        json!({
            "id": base64url(&self.id),
            "rawId": base64url(&self.id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": base64url(self.client_data.to_string()),
                "attestationObject": base64url((self.wrap)(bytes(&data.bytes()))),
                "transports": self.transports,
            },
        })
    }
}

/// What a browser sends to finish an authentication.
pub(crate) struct Authentication {
    pub(crate) id: Vec<u8>,
    pub(crate) client_data: Value,
    pub(crate) data: Data,
    pub(crate) user_handle: Option<Vec<u8>>,
}

impl Authentication {
    /// Answers the options.
    pub(crate) fn of(id: &[u8], options: &Value) -> Self {
        Self {
            id: id.to_vec(),
            client_data: client_data("webauthn.get", options),
            data: Data {
                rp_id: options["rpId"].as_str().unwrap().to_owned(),
                flags: UP | UV,
                counter: 1,
                rest: Vec::new(),
            },
            user_handle: Some(OWNER.to_vec()),
        }
    }

    /// Signs the parts as they are now.
    pub(crate) fn json(&self, key: &Key) -> Value {
        let (client_data, data) = (self.client_data.to_string(), self.data.bytes());
        let signature = key.sign(&[&data, digest(&SHA256, client_data.as_bytes()).as_ref()].concat());
        json!({
            "id": base64url(&self.id),
            "rawId": base64url(&self.id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": base64url(client_data),
                "authenticatorData": base64url(data),
                "signature": base64url(signature),
                "userHandle": self.user_handle.as_ref().map(base64url),
            },
        })
    }
}

fn client_data(kind: &str, options: &Value) -> Value {
    json!({ "type": kind, "challenge": options["challenge"], "origin": ORIGIN, "crossOrigin": false })
}

/// A key and the credential that was registered for it.
pub(crate) struct Passkey {
    pub(crate) key: Key,
    pub(crate) credential: Credential,
}

impl Passkey {
    pub(crate) fn register(key: Key, id: &[u8]) -> Self {
        let credential = register(&key, id, |_| {}).unwrap();
        Self { key, credential }
    }

    /// Authenticates without a user name, by a response of which something was changed.
    pub(crate) fn authenticate(&self, change: impl FnOnce(&mut Authentication)) -> Result<Authenticated, Refusal> {
        let rp = relying_party();
        let (options, ceremony) = rp.begin_authentication([2; 32], None);
        let mut response = Authentication::of(&self.credential.id, &options);
        change(&mut response);
        let response = AuthenticationResponse::from_json(&response.json(&self.key))?;
        rp.finish_authentication(&ceremony, &self.credential, OWNER, &response)
    }
}

/// Registers a key by a response of which something was changed.
pub(crate) fn register(key: &Key, id: &[u8], change: impl FnOnce(&mut Registration)) -> Result<Credential, Refusal> {
    let rp = relying_party();
    let (options, ceremony) = rp.begin_registration([1; 32], user(), &[])?;
    let mut response = Registration::of(key, id, &options);
    change(&mut response);
    rp.finish_registration(&ceremony, OWNER, &RegistrationResponse::from_json(&response.json())?)
}

/// One passkey of each algorithm.
pub(crate) static PASSKEYS: LazyLock<[Passkey; 3]> = LazyLock::new(|| {
    [Key::es256(), Key::eddsa(), Key::rs256()].map(|key| {
        let id = digest(&SHA256, &encode(&key.cose()));
        Passkey::register(key, id.as_ref())
    })
});

/// The passkey for tests that do not depend on the algorithm.
pub(crate) fn passkey() -> &'static Passkey {
    &PASSKEYS[0]
}
