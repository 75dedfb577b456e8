//! Codes that work once: those of authenticator apps and of messages, and recovery codes
//! (`docs/http-api.md#second-factors`).

mod mailed;
mod recovery;
mod totp;
mod typed;

pub(crate) use crate::one_time::mailed::{code_of, eight_digits};
pub(crate) use crate::one_time::recovery::{RECOVERY_CODES, hash_of, new_recovery_code};
pub(crate) use crate::one_time::totp::{new_secret, otpauth_uri, six_digits, step_of, text_of};
