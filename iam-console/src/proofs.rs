//! The fields in which a person proves who it is.

use iam_core::factor::webauthn::AuthenticationResponse;
use iam_core::factor::{AuthenticationMethod, FactorList};
use iam_core::session::{FactorProof, StepUp};
use iam_core::{Error, Unauthenticated};

use crate::form::Form;
use crate::text;

const PASSWORD: &str = "proof-password";
const CODE: &str = "proof-code";
const RECOVERY_CODE: &str = "proof-recovery-code";
/// The answer of a browser to the options of a passkey, as JSON.
pub(crate) const CREDENTIAL: &str = "proof-credential";

/// The proofs that a form asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proofs {
    pub(crate) password: bool,
    pub(crate) code: bool,
    pub(crate) recovery_code: bool,
    pub(crate) passkey: bool,
    error: Option<ProofError>,
}

/// The error of the proof in a field.
#[derive(Clone, Debug)]
pub(crate) struct ProofError {
    field: &'static str,
    text: String,
}

impl ProofError {
    pub(crate) fn new(field: &'static str, text: impl Into<String>) -> Self {
        Self { field, text: text.into() }
    }

    /// The refusal of a proof.
    pub(crate) fn of(field: &'static str, error: &Error) -> Self {
        match error {
            Error::Unauthenticated(Unauthenticated::SecondFactor) => Self::new(field, text::t("wrong-code")),
            Error::Validation(_) => Self::new(field, text::t("code-is-none")),
            error => Self::new(field, text::of_service(&error.to_string())),
        }
    }
}

impl Proofs {
    /// The proofs by these methods.
    pub(crate) fn of(methods: &[AuthenticationMethod]) -> Self {
        let has = |method| methods.contains(&method);
        Self {
            password: has(AuthenticationMethod::Password),
            code: has(AuthenticationMethod::Totp),
            recovery_code: has(AuthenticationMethod::RecoveryCode),
            passkey: has(AuthenticationMethod::Passkey),
            error: None,
        }
    }

    /// The proofs of a user: its second factors, or its password if it has none.
    pub(crate) fn of_factors(list: &FactorList) -> Self {
        let mut methods: Vec<AuthenticationMethod> = list.factors.iter().map(|factor| factor.kind.method()).collect();
        if methods.is_empty() {
            methods.push(AuthenticationMethod::Password);
        } else if list.recovery_codes_left > 0 {
            methods.push(AuthenticationMethod::RecoveryCode);
        }
        Self::of(&methods)
    }

    /// The proofs by the methods with these names.
    pub(crate) fn named(names: &str) -> Self {
        let methods: Vec<AuthenticationMethod> = names.split(' ').filter_map(|name| name.parse().ok()).collect();
        Self::of(&methods)
    }

    /// Shows the error of a proof beside its field.
    pub(crate) fn with(self, error: ProofError) -> Self {
        Self { error: Some(error), ..self }
    }

    /// Returns the error of the proof in a field; empty if there is none.
    pub(crate) fn error_in(&self, field: &str) -> &str {
        self.error.as_ref().filter(|error| error.field == field).map_or("", |error| &error.text)
    }

    /// Whether the proof in a field was refused, and not that by a passkey.
    pub(crate) fn has_error_in_field(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.field != CREDENTIAL)
    }

    pub(crate) fn is_passkey_only(&self) -> bool {
        self.passkey && !self.code && !self.recovery_code
    }
}

/// Returns the proof by a second factor that a form has, and its field.
pub(crate) fn typed_factor(form: &Form) -> Result<(&'static str, FactorProof), ProofError> {
    if form.has(CREDENTIAL) {
        let credential = iam_json::from_slice(form.get(CREDENTIAL).as_bytes()).ok();
        let response = credential.and_then(|json| AuthenticationResponse::from_json(&json).ok());
        let response = response.ok_or_else(|| ProofError::new(CREDENTIAL, text::t("passkey-unusable")))?;
        return Ok((CREDENTIAL, FactorProof::Passkey(Box::new(response))));
    }
    if let Some(recovery_code) = form.given(RECOVERY_CODE) {
        return Ok((RECOVERY_CODE, FactorProof::RecoveryCode(recovery_code.into())));
    }
    let code = form.get(CODE).trim();
    if code.is_empty() {
        let (field, text) = if form.has(CODE) {
            (CODE, text::t("code-missing"))
        } else {
            (RECOVERY_CODE, text::t("recovery-code-missing"))
        };
        return Err(ProofError::new(field, text));
    }
    Ok((CODE, FactorProof::Code(code.into())))
}

/// Takes the proof of a step-up out of a form, if there is one, with its field.
pub(crate) fn take_step_up(form: &mut Form) -> Option<Result<(&'static str, StepUp), ProofError>> {
    let has = |name| form.has(name);
    let proof = if has(PASSWORD) {
        if form.get(PASSWORD).is_empty() {
            Err(ProofError::new(PASSWORD, text::t("password-missing")))
        } else {
            Ok((PASSWORD, StepUp::Password(form.get(PASSWORD).into())))
        }
    } else if has(CODE) || has(RECOVERY_CODE) || has(CREDENTIAL) {
        typed_factor(form).map(|(field, proof)| (field, StepUp::Factor(proof)))
    } else {
        return None;
    };
    form.remove(&[PASSWORD, CODE, RECOVERY_CODE, CREDENTIAL]);
    Some(proof)
}
