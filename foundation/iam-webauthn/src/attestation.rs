//! The attestation object of a registration (Level 3 §6.5.4).

use crate::Refusal;
use crate::cbor::read_map;

/// Returns the authenticator data of an attestation object that fills the bytes.
///
/// The statement, which would prove the model of the authenticator, is not verified. None is requested, but browsers
/// keep some (§5.1.3, "Create a New Credential"), and the policy accepts every model (§7.1, "Assess the attestation
/// trustworthiness").
pub(crate) fn authenticator_data(object: &[u8]) -> Result<Vec<u8>, Refusal> {
    let (object, rest) = read_map(object).ok_or(Refusal::AttestationObject)?;
    if !rest.is_empty() {
        return Err(Refusal::TrailingBytes);
    }
    let has_statement = object.get("fmt").is_some_and(ciborium::Value::is_text) && object.get("attStmt").is_some();
    let data = object.bytes("authData").filter(|_| has_statement);
    data.map(<[u8]>::to_vec).ok_or(Refusal::AttestationObject)
}
