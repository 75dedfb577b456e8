//! Codes that work once: those of authenticator apps, and recovery codes (`factors.md`).

mod encryption;
mod recovery;
mod totp;

pub(crate) use crate::one_time::encryption::TotpCipher;
pub(crate) use crate::one_time::recovery::{RECOVERY_CODES, hash_of, new_recovery_code};
pub(crate) use crate::one_time::totp::{new_secret, otpauth_uri, step_of, text_of};
