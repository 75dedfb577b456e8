//! Signed checkpoints: what a tenant's log was at some moment, in the forms that witnesses and other tools read:
//! <https://c2sp.org/tlog-checkpoint> inside <https://c2sp.org/signed-note>, signed with Ed25519. The same key signs
//! what excuses that something is missing in a log.

use std::fmt;

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, ParsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Digest, Frontier, TreeHash};
use crate::id::{KeyId, TenantId};

/// What a log was: its first so many entries, by the root of their tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// Names the log, and ends with the tenant's identifier.
    pub origin: String,
    /// How many entries.
    pub size: u64,
    /// The root of their tree.
    pub root: TreeHash,
}

/// The checkpoint's text, which is what is signed.
impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}\n{}\n", self.origin, self.size, self.root)
    }
}

/// Why a text is no checkpoint that this installation signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// It is no signed note with a checkpoint in it.
    #[error("it is no signed checkpoint")]
    Malformed,
    /// It is of a log that is not one of this installation.
    #[error("it is of another log")]
    OtherLog,
    /// This installation's key has not signed it.
    #[error("it is not signed with the key of this log")]
    Signature,
}

/// A checkpoint with the note in which it is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignedCheckpoint {
    /// What it says.
    pub checkpoint: Checkpoint,
    /// The note: the text, an empty line, and the signature.
    pub note: String,
}

/// The algorithm's number in key identifiers and encoded keys: Ed25519.
const ALGORITHM: u8 = 1;
/// How the line of a signature starts.
const SIGNATURE: &str = "\u{2014} ";

/// The key that signs the checkpoints of all tenants' logs, and what excuses that something is missing in them.
pub(crate) struct LogKey {
    pair: Ed25519KeyPair,
    /// What the names of all logs start with.
    origin: String,
}

impl LogKey {
    /// The logs are named after the key, which is the installation's own and stays.
    pub(crate) fn new(pair: Ed25519KeyPair, id: KeyId) -> Self {
        Self { pair, origin: format!("iam/{id}") }
    }

    /// The name of a tenant's log, and of the key that signs it.
    pub(super) fn origin(&self, tenant: TenantId) -> String {
        format!("{}/{tenant}", self.origin)
    }

    /// The public key in the form of signed notes: `<name>+<identifier>+<key>`.
    pub(super) fn verifier_key(&self, tenant: TenantId) -> String {
        let origin = self.origin(tenant);
        let [a, b, c, d] = self.identifier(&origin);
        format!("{origin}+{a:02x}{b:02x}{c:02x}{d:02x}+{}", STANDARD.encode(self.encoded()))
    }

    pub(super) fn sign(&self, tenant: TenantId, frontier: &Frontier) -> SignedCheckpoint {
        let origin = self.origin(tenant);
        let identifier = self.identifier(&origin);
        let checkpoint = Checkpoint { origin, size: frontier.size(), root: frontier.root() };
        let text = checkpoint.to_string();
        let signature = self.pair.sign(text.as_bytes());
        let signature = STANDARD.encode([&identifier, signature.as_ref()].concat());
        let note = format!("{text}\n{SIGNATURE}{} {signature}\n", checkpoint.origin);
        SignedCheckpoint { checkpoint, note }
    }

    /// The checkpoint in a note that this key has signed; signatures by others may stand beside it.
    pub(super) fn open(&self, tenant: TenantId, note: &str) -> Result<Checkpoint, CheckpointError> {
        let (checkpoint, text, signatures) = parse(note).ok_or(CheckpointError::Malformed)?;
        if checkpoint.origin != self.origin(tenant) {
            return Err(CheckpointError::OtherLog);
        }
        let key = ParsedPublicKey::new(&ED25519, self.pair.public_key()).map_err(|_| CheckpointError::Signature)?;
        let identifier = self.identifier(&checkpoint.origin);
        let is_ours = |line: &str| {
            let (name, signature) = line.strip_prefix(SIGNATURE)?.split_once(' ')?;
            let signature = STANDARD.decode(signature).ok()?;
            let signature = signature.strip_prefix(&identifier)?;
            (name == checkpoint.origin && key.verify_sig(text.as_bytes(), signature).is_ok()).then_some(())
        };
        if !signatures.lines().any(|line| is_ours(line).is_some()) {
            return Err(CheckpointError::Signature);
        }
        Ok(checkpoint)
    }

    /// The signature of what excuses that something is missing in a tenant's log.
    pub(super) fn sign_excuse(&self, tenant: TenantId, excuse: &[u8]) -> String {
        STANDARD.encode(self.pair.sign(&self.excuse_text(tenant, excuse)))
    }

    pub(super) fn has_signed_excuse(&self, tenant: TenantId, excuse: &[u8], signature: &str) -> bool {
        let Ok(signature) = STANDARD.decode(signature) else { return false };
        let key = ParsedPublicKey::new(&ED25519, self.pair.public_key());
        key.is_ok_and(|key| key.verify_sig(&self.excuse_text(tenant, excuse), &signature).is_ok())
    }

    /// What is signed of an excuse. No log has the name in its first line, so that none can be taken for a checkpoint.
    fn excuse_text(&self, tenant: TenantId, excuse: &[u8]) -> Vec<u8> {
        [format!("{}/excuse\n", self.origin(tenant)).as_bytes(), excuse].concat()
    }

    /// A secret for something else of this installation: what Ed25519 signs of the same text is always the same, and nobody
    /// can tell it without the key. No log has the name in its first line.
    pub(crate) fn derive(&self, what: &str) -> [u8; 32] {
        Digest::of(&[self.pair.sign(format!("{}/derive\n{what}\n", self.origin).as_bytes()).as_ref()]).0
    }

    fn encoded(&self) -> Vec<u8> {
        [&[ALGORITHM], self.pair.public_key().as_ref()].concat()
    }

    fn identifier(&self, name: &str) -> [u8; 4] {
        let Digest([a, b, c, d, ..]) = Digest::of(&[name.as_bytes(), b"\n", &self.encoded()]);
        [a, b, c, d]
    }
}

/// The tenant whose log a checkpoint says that it is of; nothing of it is proven by this.
#[must_use]
pub fn tenant_of(note: &str) -> Option<TenantId> {
    let (checkpoint, ..) = parse(note)?;
    checkpoint.origin.rsplit_once('/')?.1.parse().ok()
}

/// A note in its parts: the checkpoint, the text that is signed, and the lines of signatures.
fn parse(note: &str) -> Option<(Checkpoint, &str, &str)> {
    let (text, signatures) = note.split_at_checked(note.find("\n\n")? + 1)?;
    let mut lines = text.lines();
    let origin = lines.next().filter(|origin| !origin.is_empty())?.to_owned();
    let size = lines.next()?;
    let parsed = size.parse::<u64>().ok().filter(|parsed| parsed.to_string() == size)?;
    let root = STANDARD.decode(lines.next()?).ok()?.try_into().ok()?;
    Some((Checkpoint { origin, size: parsed, root: TreeHash(root) }, text, signatures))
}

#[cfg(test)]
mod tests {
    use signed_note::{Note, StandardVerifier, VerifierList};
    use uuid::Uuid;

    use super::*;
    use crate::audit::testing::log_key;

    fn key() -> LogKey {
        log_key(7)
    }

    fn tenant(number: u128) -> TenantId {
        TenantId::from_uuid(Uuid::from_u128(number))
    }

    fn frontier(size: u64) -> Frontier {
        let mut frontier = Frontier::default();
        for number in 0..size {
            frontier.append(TreeHash::of_leaf(number, Digest([1; 32])));
        }
        frontier
    }

    #[test]
    fn an_independent_implementation_reads_and_verifies_a_checkpoint() {
        for size in [0, 1, 5] {
            let signed = key().sign(tenant(1), &frontier(size));
            let verifier = StandardVerifier::new(&key().verifier_key(tenant(1))).unwrap();
            let note = Note::from_bytes(signed.note.as_bytes()).unwrap();
            let (verified, _) = note.verify(&VerifierList::new(vec![Box::new(verifier)])).unwrap();
            assert_eq!(verified.len(), 1);
            let theirs = tlog_tiles::Checkpoint::from_bytes(note.text()).unwrap();
            assert_eq!(theirs.origin(), format!("iam/{}/{}", Uuid::from_u128(9), tenant(1)));
            assert_eq!((theirs.size(), theirs.hash().0), (size, signed.checkpoint.root.0));
        }
    }

    #[test]
    fn a_checkpoint_opens_for_its_log_alone_and_no_byte_of_it_can_change() {
        let signed = key().sign(tenant(1), &frontier(5));
        assert_eq!(key().open(tenant(1), &signed.note), Ok(signed.checkpoint));
        assert_eq!(tenant_of(&signed.note), Some(tenant(1)));
        assert_eq!(key().open(tenant(2), &signed.note), Err(CheckpointError::OtherLog));
        assert_eq!(log_key(8).open(tenant(1), &signed.note), Err(CheckpointError::Signature));
        for at in 0..signed.note.len() {
            let mut mangled = signed.note.clone().into_bytes();
            mangled[at] ^= 1;
            let mangled = String::from_utf8_lossy(&mangled).into_owned();
            assert!(key().open(tenant(1), &mangled).is_err(), "{mangled}");
        }
    }

    #[test]
    fn an_excuse_is_signed_for_its_log_alone_and_is_no_checkpoint() {
        let signature = key().sign_excuse(tenant(1), b"until 5");
        assert!(key().has_signed_excuse(tenant(1), b"until 5", &signature));
        assert!(!key().has_signed_excuse(tenant(1), b"until 6", &signature));
        assert!(!key().has_signed_excuse(tenant(2), b"until 5", &signature));
        assert!(!log_key(8).has_signed_excuse(tenant(1), b"until 5", &signature));
        for no_signature in ["", "AAAA", &signature[1..], "?"] {
            assert!(!key().has_signed_excuse(tenant(1), b"until 5", no_signature), "{no_signature}");
        }
        let SignedCheckpoint { checkpoint, note } = key().sign(tenant(1), &frontier(5));
        let (_, signature) = note.trim_end().rsplit_once(' ').unwrap();
        let signature = STANDARD.encode(&STANDARD.decode(signature).unwrap()[4..]);
        let text = checkpoint.to_string();
        let (_, rest) = text.split_once('\n').unwrap();
        for excuse in [text.as_bytes(), rest.as_bytes()] {
            assert!(!key().has_signed_excuse(tenant(1), excuse, &signature), "{text}");
        }
    }

    #[test]
    fn signatures_of_witnesses_may_stand_beside_it() {
        let signed = key().sign(tenant(1), &frontier(5));
        let note = format!("{}\u{2014} witness.example AAAAAA==\n", signed.note);
        assert_eq!(key().open(tenant(1), &note), Ok(signed.checkpoint));
    }
}
