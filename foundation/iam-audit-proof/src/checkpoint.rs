//! Signed checkpoints: the state of a tenant's log at one moment, in the formats that witnesses and other tools read:
//! <https://c2sp.org/tlog-checkpoint> inside <https://c2sp.org/signed-note>, signed with Ed25519. The same key signs
//! excuses: statements in the log that say which data may be missing.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, ParsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use iam_model::audit::{Digest, Frontier, LogHead, TreeHash};
use iam_model::id::{KeyId, TenantId};

/// The state of a log: the number of its entries and the root hash of their tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The name of the log. It ends with the tenant's identifier.
    pub origin: String,
    /// The number of entries.
    pub size: u64,
    /// The root hash of their tree.
    pub root: TreeHash,
}

/// The text of the checkpoint. The signature covers this text.
impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}\n{}\n", self.origin, self.size, self.root)
    }
}

/// The reason why a text is not a checkpoint of this log that this installation signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The text is not a signed note that contains a checkpoint.
    #[error("is not a signed checkpoint")]
    Malformed,
    /// The checkpoint is of another log: that of another tenant or of another installation.
    #[error("is a checkpoint of another log")]
    OtherLog,
    /// The note has no valid signature by this installation's key.
    #[error("is not signed with the key of this log")]
    Signature,
}

/// A checkpoint and the signed note that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignedCheckpoint {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The note: the text, an empty line, and the signature.
    pub note: String,
}

/// The number of the algorithm, Ed25519, in key identifiers and encoded keys.
const ALGORITHM: u8 = 1;

/// The start of each signature line.
const SIGNATURE: &str = "\u{2014} ";

/// The key that signs the checkpoints and the excuses of all tenants' logs.
pub struct LogKey {
    pair: Ed25519KeyPair,
    verifier: VerifierKey,
}

impl LogKey {
    /// Names the logs after the key. Each installation has its own key, and the key never changes.
    #[must_use]
    pub fn new(pair: Ed25519KeyPair, id: KeyId) -> Self {
        let public = pair.public_key().as_ref().to_vec();
        Self { pair, verifier: VerifierKey { origin: format!("iam/{id}"), public } }
    }

    /// The public half of the key.
    #[must_use]
    pub fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    /// Signs a checkpoint over a tenant's sequenced entries.
    #[must_use]
    pub fn sign(&self, tenant: TenantId, frontier: &Frontier) -> SignedCheckpoint {
        let origin = self.verifier.origin(tenant);
        let identifier = self.verifier.identifier(&origin);
        let checkpoint = Checkpoint { origin, size: frontier.size(), root: frontier.root() };
        let text = checkpoint.to_string();
        let signature = self.pair.sign(text.as_bytes());
        let signature = STANDARD.encode([&identifier, signature.as_ref()].concat());
        let note = format!("{text}\n{SIGNATURE}{} {signature}\n", checkpoint.origin);
        SignedCheckpoint { checkpoint, note }
    }

    /// Signs an excuse for missing data in a tenant's log.
    pub(crate) fn sign_excuse(&self, tenant: TenantId, excuse: &[u8]) -> String {
        STANDARD.encode(self.pair.sign(&self.verifier.excuse_text(tenant, excuse)))
    }

    /// Derives a secret for another purpose of this installation. Ed25519 always gives the same signature for the
    /// same text, and the signature cannot be computed without the key. The first line of the text is not the name of
    /// any log.
    #[must_use]
    pub fn derive(&self, what: &str) -> [u8; 32] {
        let text = format!("{}/derive\n{what}\n", self.verifier.origin);
        Digest::of(&[self.pair.sign(text.as_bytes()).as_ref()]).0
    }
}

/// The public half of a [`LogKey`]. It verifies the signatures of the key, for any tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    /// The prefix of the names of all logs.
    origin: String,
    public: Vec<u8>,
}

/// The text is not the verifier key of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the verifier key of a log: <name>+<identifier>+<key>")]
pub struct VerifierKeyError;

/// Reads the text that [`VerifierKey::for_tenant`] returns, for whichever tenant.
impl FromStr for VerifierKey {
    type Err = VerifierKeyError;

    fn from_str(text: &str) -> Result<Self, VerifierKeyError> {
        let parse = || {
            let (name, rest) = text.split_once('+')?;
            let (_, encoded) = rest.split_once('+')?;
            let (origin, tenant) = name.rsplit_once('/')?;
            let bytes = STANDARD.decode(encoded).ok()?;
            let public = bytes.strip_prefix(&[ALGORITHM])?.to_vec();
            let key = Self { origin: origin.to_owned(), public };
            (key.for_tenant(tenant.parse().ok()?) == text).then_some(key)
        };
        parse().ok_or(VerifierKeyError)
    }
}

impl VerifierKey {
    /// Returns the name of a tenant's log. The key that signs the log has the same name.
    fn origin(&self, tenant: TenantId) -> String {
        format!("{}/{tenant}", self.origin)
    }

    /// Returns the key of a tenant's log in the format of signed notes: `<name>+<identifier>+<key>`.
    #[must_use]
    pub fn for_tenant(&self, tenant: TenantId) -> String {
        let origin = self.origin(tenant);
        let [a, b, c, d] = self.identifier(&origin);
        format!("{origin}+{a:02x}{b:02x}{c:02x}{d:02x}+{}", STANDARD.encode(self.encoded()))
    }

    /// Returns the checkpoint in a note that this key has signed. The note may also contain signatures by other keys.
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the note is not such a checkpoint of this tenant's log.
    pub fn open(&self, tenant: TenantId, note: &str) -> Result<Checkpoint, CheckpointError> {
        let (checkpoint, text, signatures) = parse(note).ok_or(CheckpointError::Malformed)?;
        if checkpoint.origin != self.origin(tenant) {
            return Err(CheckpointError::OtherLog);
        }
        let identifier = self.identifier(&checkpoint.origin);
        let is_ours = |line: &str| {
            let (name, signature) = line.strip_prefix(SIGNATURE)?.split_once(' ')?;
            let signature = STANDARD.decode(signature).ok()?;
            let signature = signature.strip_prefix(&identifier)?;
            (name == checkpoint.origin && self.has_signed_text(text.as_bytes(), signature)).then_some(())
        };
        if !signatures.lines().any(|line| is_ours(line).is_some()) {
            return Err(CheckpointError::Signature);
        }
        Ok(checkpoint)
    }

    /// Returns whether a log matches its own checkpoint. A checkpoint cannot be written without the key.
    #[must_use]
    pub fn has_signed(&self, log: &LogHead) -> bool {
        let LogHead { tenant_id, frontier, note, .. } = log;
        if frontier.size() == 0 {
            return note.is_empty();
        }
        self.open(*tenant_id, note).is_ok_and(|said| said.size == frontier.size() && said.root == frontier.root())
    }

    pub(crate) fn has_signed_excuse(&self, tenant: TenantId, excuse: &[u8], signature: &str) -> bool {
        let signature = STANDARD.decode(signature);
        signature.is_ok_and(|signature| self.has_signed_text(&self.excuse_text(tenant, excuse), &signature))
    }

    fn has_signed_text(&self, text: &[u8], signature: &[u8]) -> bool {
        let key = ParsedPublicKey::new(&ED25519, &self.public);
        key.is_ok_and(|key| key.verify_sig(text, signature).is_ok())
    }

    /// The text that is signed for an excuse. Its first line is not the name of any log, so that no excuse can be
    /// taken for a checkpoint.
    fn excuse_text(&self, tenant: TenantId, excuse: &[u8]) -> Vec<u8> {
        [format!("{}/excuse\n", self.origin(tenant)).as_bytes(), excuse].concat()
    }

    fn encoded(&self) -> Vec<u8> {
        [&[ALGORITHM], self.public.as_slice()].concat()
    }

    fn identifier(&self, name: &str) -> [u8; 4] {
        let Digest([a, b, c, d, ..]) = Digest::of(&[name.as_bytes(), b"\n", &self.encoded()]);
        [a, b, c, d]
    }
}

/// Returns the tenant whose log a checkpoint claims to describe. This does not verify the checkpoint.
#[must_use]
pub fn tenant_of(note: &str) -> Option<TenantId> {
    let (checkpoint, ..) = parse(note)?;
    checkpoint.origin.rsplit_once('/')?.1.parse().ok()
}

/// Splits a note into the checkpoint, the signed text, and the signature lines.
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
    use crate::testing::log_key;

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
            let verifier = StandardVerifier::new(&key().verifier().for_tenant(tenant(1))).unwrap();
            let note = Note::from_bytes(signed.note.as_bytes()).unwrap();
            let (verified, _) = note.verify(&VerifierList::new(vec![Box::new(verifier)])).unwrap();
            assert_eq!(verified.len(), 1);
            let theirs = tlog_tiles::Checkpoint::from_bytes(note.text()).unwrap();
            assert_eq!(theirs.origin(), format!("iam/{}/{}", Uuid::from_u128(9), tenant(1)));
            assert_eq!((theirs.size(), theirs.hash().0), (size, signed.checkpoint.root.0));
        }
    }

    #[test]
    fn a_checkpoint_opens_only_for_its_log_and_only_unchanged() {
        let signed = key().sign(tenant(1), &frontier(5));
        assert_eq!(key().verifier().open(tenant(1), &signed.note), Ok(signed.checkpoint));
        assert_eq!(tenant_of(&signed.note), Some(tenant(1)));
        assert_eq!(key().verifier().open(tenant(2), &signed.note), Err(CheckpointError::OtherLog));
        assert_eq!(log_key(8).verifier().open(tenant(1), &signed.note), Err(CheckpointError::Signature));
        for at in 0..signed.note.len() {
            let mut mangled = signed.note.clone().into_bytes();
            mangled[at] ^= 1;
            let mangled = String::from_utf8_lossy(&mangled).into_owned();
            assert!(key().verifier().open(tenant(1), &mangled).is_err(), "{mangled}");
        }
    }

    #[test]
    fn a_verifier_key_is_read_back_and_verifies_the_logs_of_all_tenants() {
        let text = key().verifier().for_tenant(tenant(1));
        let read: VerifierKey = text.parse().unwrap();
        assert_eq!(&read, key().verifier());
        let signed = key().sign(tenant(2), &frontier(5));
        assert_eq!(read.open(tenant(2), &signed.note), Ok(signed.checkpoint));
        for at in 0..text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[at] ^= 1;
            assert_eq!(String::from_utf8_lossy(&damaged).parse::<VerifierKey>(), Err(VerifierKeyError), "{at}");
        }
    }

    #[test]
    fn an_excuse_is_valid_only_in_its_log_and_is_not_a_checkpoint() {
        let signature = key().sign_excuse(tenant(1), b"until 5");
        assert!(key().verifier().has_signed_excuse(tenant(1), b"until 5", &signature));
        assert!(!key().verifier().has_signed_excuse(tenant(1), b"until 6", &signature));
        assert!(!key().verifier().has_signed_excuse(tenant(2), b"until 5", &signature));
        assert!(!log_key(8).verifier().has_signed_excuse(tenant(1), b"until 5", &signature));
        for no_signature in ["", "AAAA", &signature[1..], "?"] {
            assert!(!key().verifier().has_signed_excuse(tenant(1), b"until 5", no_signature), "{no_signature}");
        }
        let SignedCheckpoint { checkpoint, note } = key().sign(tenant(1), &frontier(5));
        let (_, signature) = note.trim_end().rsplit_once(' ').unwrap();
        let signature = STANDARD.encode(&STANDARD.decode(signature).unwrap()[4..]);
        let text = checkpoint.to_string();
        let (_, rest) = text.split_once('\n').unwrap();
        for excuse in [text.as_bytes(), rest.as_bytes()] {
            assert!(!key().verifier().has_signed_excuse(tenant(1), excuse, &signature), "{text}");
        }
    }

    #[test]
    fn a_checkpoint_may_carry_signatures_of_witnesses() {
        let signed = key().sign(tenant(1), &frontier(5));
        let note = format!("{}\u{2014} witness.example AAAAAA==\n", signed.note);
        assert_eq!(key().verifier().open(tenant(1), &note), Ok(signed.checkpoint));
    }
}
