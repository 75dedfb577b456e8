//! The fields in which a person proves who it is.

use iam_core::factor::{AuthenticationMethod, FactorList};
use iam_core::session::{FactorProof, StepUp};

use crate::form::Form;

const PASSWORD: &str = "proof-password";
const CODE: &str = "proof-code";
const RECOVERY_CODE: &str = "proof-recovery-code";

/// The proofs that a form asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proofs {
    pub(crate) password: bool,
    pub(crate) code: bool,
    pub(crate) recovery_code: bool,
    passkey: bool,
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

    /// The proofs that a form has named with [`methods`](Self::methods).
    pub(crate) fn named(names: &str) -> Self {
        let methods: Vec<AuthenticationMethod> = names.split(' ').filter_map(|name| name.parse().ok()).collect();
        Self::of(&methods)
    }

    /// The names of the methods.
    pub(crate) fn methods(&self) -> String {
        let methods = [
            (self.password, AuthenticationMethod::Password),
            (self.code, AuthenticationMethod::Totp),
            (self.recovery_code, AuthenticationMethod::RecoveryCode),
            (self.passkey, AuthenticationMethod::Passkey),
        ];
        let names: Vec<&str> = methods.iter().filter(|(has, _)| *has).map(|(_, method)| method.as_str()).collect();
        names.join(" ")
    }

    pub(crate) fn is_passkey_only(&self) -> bool {
        self.passkey && !self.code && !self.recovery_code
    }
}

/// Returns the proof by a second factor that a person has typed.
pub(crate) fn typed_factor(form: &Form) -> FactorProof {
    let recovery_code = form.get(RECOVERY_CODE).trim();
    if recovery_code.is_empty() {
        let digits: String = form.get(CODE).chars().filter(|char| !char.is_whitespace()).collect();
        FactorProof::Code(digits.into())
    } else {
        FactorProof::RecoveryCode(recovery_code.into())
    }
}

/// Takes the proof of a step-up out of a form, if there is one.
pub(crate) fn take_step_up(form: &mut Form) -> Option<StepUp> {
    let has = |name| form.has(name);
    let proof = if has(PASSWORD) {
        StepUp::Password(form.get(PASSWORD).into())
    } else if has(CODE) || has(RECOVERY_CODE) {
        StepUp::Factor(typed_factor(form))
    } else {
        return None;
    };
    form.remove(&[PASSWORD, CODE, RECOVERY_CODE]);
    Some(proof)
}
