//! Codes that work once: those of authenticator apps, and recovery codes (`docs/http-api.md#second-factors`).

mod recovery;
mod totp;
mod typed;

pub(crate) use crate::one_time::recovery::{RECOVERY_CODES, hash_of, new_recovery_code};
pub(crate) use crate::one_time::totp::{new_secret, otpauth_uri, six_digits, step_of, text_of};
