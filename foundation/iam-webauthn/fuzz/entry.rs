//! What a stranger can send: the response of a browser, as JSON or with one of its members as any bytes. The fuzz targets
//! and a bounded test of the crate share it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use iam_webauthn::{AuthenticationResponse, Ceremony, Credential, RegistrationResponse, RelyingParty};
use serde_json::{Value, json};

/// The ceremonies of the vectors, and the responses that they accept.
const VECTORS: &str = include_str!("../tests/webauthn/vectors/passkey.json");

/// A ceremony that waits for the response of a browser.
pub(crate) struct Waiting {
    rp: RelyingParty,
    owner: Vec<u8>,
    credential: Credential,
    registration: (Ceremony, Value),
    authentication: (Ceremony, Value),
}

impl Waiting {
    /// Begins a registration and an authentication whose responses are known.
    pub(crate) fn begin() -> Self {
        let file: Value = serde_json::from_str(VECTORS).expect("the vectors are JSON");
        let vector = &file["vectors"][0];
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let bytes = |value: &Value| URL_SAFE_NO_PAD.decode(text(value)).expect("base64url");
        let challenge = |ceremony: &Value| bytes(&ceremony["challenge"]).try_into().expect("32 bytes");
        let rp =
            RelyingParty::new(text(&file["id"]), "Example", [text(&file["origin"]).as_str()]).expect("valid names");
        let owner = vector["userHandle"].as_str().map_or_else(|| b"user".to_vec(), |_| bytes(&vector["userHandle"]));
        let credential: Credential = serde_json::from_value(vector["credential"].clone()).expect("a credential");
        let user = iam_webauthn::User { handle: &owner, name: "name", display_name: "" };
        let (registration, authentication) = (&vector["registration"], &vector["authentication"]);
        let (_, registering) = rp.begin_registration(challenge(registration), user, &[]).expect("valid options");
        let allowed = std::slice::from_ref(&credential);
        let (_, authenticating) = rp.begin_authentication(challenge(authentication), Some(allowed));
        Self {
            rp,
            owner,
            registration: (registering, registration["response"].clone()),
            authentication: (authenticating, authentication["response"].clone()),
            credential,
        }
    }

    /// The responses that are accepted, as a browser sends them.
    pub(crate) fn accepted(&self) -> [&Value; 2] {
        [&self.registration.1, &self.authentication.1]
    }

    /// Verifies bytes as the whole response to both ceremonies. Returns whether one of them accepts it.
    pub(crate) fn verify_json(&self, bytes: &[u8]) -> bool {
        let Ok(json) = serde_json::from_slice::<Value>(bytes) else { return false };
        self.registers(&json) | self.authenticates(&json)
    }

    /// Verifies bytes as a member of a response that is otherwise right. The first byte chooses the member.
    pub(crate) fn verify_member(&self, bytes: &[u8]) -> bool {
        const MEMBERS: [&str; 5] =
            ["attestationObject", "clientDataJSON", "authenticatorData", "signature", "userHandle"];
        let Some((chosen, bytes)) = bytes.split_first() else { return false };
        let member = MEMBERS[usize::from(*chosen) % MEMBERS.len()];
        let with = |response: &Value| {
            let mut response = response.clone();
            response["response"][member] = json!(URL_SAFE_NO_PAD.encode(bytes));
            response
        };
        self.registers(&with(&self.registration.1)) | self.authenticates(&with(&self.authentication.1))
    }

    fn registers(&self, json: &Value) -> bool {
        RegistrationResponse::from_json(json).is_ok_and(|response| {
            let _challenge = response.claimed_challenge();
            self.rp.finish_registration(&self.registration.0, &self.owner, &response).is_ok()
        })
    }

    fn authenticates(&self, json: &Value) -> bool {
        AuthenticationResponse::from_json(json).is_ok_and(|response| {
            let _claims =
                (response.claimed_challenge(), response.claimed_credential_id(), response.claimed_user_handle());
            let verified =
                self.rp.finish_authentication(&self.authentication.0, &self.credential, &self.owner, &response);
            verified.is_ok()
        })
    }
}
