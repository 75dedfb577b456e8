//! The authenticator data: statements of the authenticator about the credential and the user (Level 3 §6.1).

use aws_lc_rs::digest::{SHA256, digest};

use crate::Refusal;
use crate::cbor::{read, read_map};
use crate::credential::MAX_ID;

// Bits of the flags.
const USER_PRESENT: u8 = 1 << 0;
const USER_VERIFIED: u8 = 1 << 2;
const BACKUP_ELIGIBLE: u8 = 1 << 3;
const BACKED_UP: u8 = 1 << 4;
const ATTESTED_CREDENTIAL: u8 = 1 << 6;
const EXTENSIONS: u8 = 1 << 7;

pub(crate) struct AuthenticatorData<'a> {
    rp_id_hash: &'a [u8; 32],
    flags: u8,
    pub(crate) counter: u32,
    /// Present in a registration, absent in an authentication.
    pub(crate) attested: Option<AttestedCredential<'a>>,
}

impl<'a> AuthenticatorData<'a> {
    /// Reads authenticator data that fill the bytes. Extensions are read only to find their end: none is requested,
    /// but an authenticator may send some.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let malformed = Refusal::AuthenticatorData;
        let (rp_id_hash, rest) = bytes.split_first_chunk().ok_or(malformed)?;
        let ([flags], rest) = rest.split_first_chunk().ok_or(malformed)?;
        let (counter, mut rest) = rest.split_first_chunk().ok_or(malformed)?;
        let mut attested = None;
        if flags & ATTESTED_CREDENTIAL != 0 {
            let (credential, after) = AttestedCredential::read(rest).ok_or(malformed)?;
            (attested, rest) = (Some(credential), after);
        }
        if flags & EXTENSIONS != 0 {
            (_, rest) = read_map(rest).ok_or(malformed)?;
        }
        if !rest.is_empty() {
            return Err(Refusal::TrailingBytes);
        }
        Ok(Self { rp_id_hash, flags: *flags, counter: u32::from_be_bytes(*counter), attested })
    }

    /// Verifies the relying party and the flags (Level 3 §7.1 and §7.2, from the step of `rpIdHash` to that of the
    /// flags BE and BS).
    pub(crate) fn verify(&self, rp_id: &str) -> Result<(), Refusal> {
        if digest(&SHA256, rp_id.as_bytes()).as_ref() != self.rp_id_hash {
            return Err(Refusal::RelyingParty);
        }
        if !self.has(USER_PRESENT) {
            return Err(Refusal::UserPresence);
        }
        if !self.has(USER_VERIFIED) {
            return Err(Refusal::UserVerification);
        }
        if self.is_backed_up() && !self.is_backup_eligible() {
            return Err(Refusal::Backup);
        }
        Ok(())
    }

    pub(crate) fn is_backup_eligible(&self) -> bool {
        self.has(BACKUP_ELIGIBLE)
    }

    pub(crate) fn is_backed_up(&self) -> bool {
        self.has(BACKED_UP)
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Attested credential data (Level 3 §6.5.1), without the model of the authenticator: it is not attested.
pub(crate) struct AttestedCredential<'a> {
    pub(crate) id: &'a [u8],
    /// The COSE key in CBOR, which is not yet checked.
    pub(crate) public_key: &'a [u8],
}

impl<'a> AttestedCredential<'a> {
    fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (_aaguid, rest) = bytes.split_first_chunk::<16>()?;
        let (length, rest) = rest.split_first_chunk()?;
        let length = usize::from(u16::from_be_bytes(*length));
        if length == 0 || length > MAX_ID {
            return None;
        }
        let (id, rest) = rest.split_at_checked(length)?;
        // Only the value itself says where it ends.
        let (_, after) = read(rest)?;
        let public_key = rest.strip_suffix(after)?;
        Some((Self { id, public_key }, after))
    }
}
