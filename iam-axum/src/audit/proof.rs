//! The proofs of the log: `/audit-logs/checkpoint`, `/audit-logs/{id}/proof` and `/audit-logs/consistency-proof`.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use iam_core::audit::{Checkpoint, ConsistencyProof, InclusionProof, LogState, Opening, Openings, TreeHash};
use iam_core::{AuditEntryId, Iam};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::accept::prefers;
use crate::description::{AUDIT_LOGS, Problems};
use crate::extract::{Authenticated, Params, PathId, Query};
use crate::page::number;
use crate::problem::Problem;

/// The present state of the tenant's log.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditCheckpoint)]
pub(crate) struct CheckpointDto {
    /// The name of the tenant's log.
    #[schema(example = "iam/019bb3f0-7b2e-7a44-9d41-5d1a5a4c1c10/019bb3f0-7b2e-7a44-9d41-5d1a5a4c1c11")]
    origin: String,
    /// The size of the Merkle tree: how many entries have a leaf in it.
    tree_size: u64,
    /// The root hash of this tree, in base64.
    root_hash: String,
    /// The origin, the tree size and the root hash as a signed note. Of a checkpoint, you need to keep only this
    /// note.
    checkpoint: String,
    /// The key that verifies the signatures of the notes, as `<name>+<identifier>+<key>`. Keep it once, separately
    /// from the notes.
    verifier_key: String,
    /// The ids of pending entries, which have no leaf in the tree yet: at most 100, the longest waiting first.
    unsealed: Vec<Uuid>,
}

impl From<LogState> for CheckpointDto {
    fn from(state: LogState) -> Self {
        let Checkpoint { origin, size, root, .. } = state.signed.checkpoint;
        Self {
            origin,
            tree_size: size,
            root_hash: root.to_string(),
            checkpoint: state.signed.note,
            verifier_key: state.verifier_key,
            unsealed: state.pending.into_iter().map(AuditEntryId::as_uuid).collect(),
        }
    }
}

/// The proof that an entry is in the log.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditInclusionProof)]
pub(crate) struct InclusionProofDto {
    entry_id: Uuid,
    /// The sequence number of the entry among the tenant's entries, from 0.
    leaf_index: u64,
    /// The size of the tree in which the proof shows the entry.
    tree_size: u64,
    /// The root hash of that tree, in base64.
    root_hash: String,
    /// The audit path from the leaf to the root, in base64.
    hashes: Vec<String>,
    /// The text that the log commits to: the canonical JSON text of the entry, with its personal values withheld.
    statement: String,
    openings: OpeningsDto,
}

/// The values that are withheld in a statement. A part is null after it was erased.
#[derive(Serialize, ToSchema)]
#[schema(as = AuditOpenings)]
pub(crate) struct OpeningsDto {
    /// The personal values in `metadata`, `newValue` and `oldValue`.
    #[schema(required)]
    details: Option<OpeningDto>,
    /// The client's IP address, then its user agent.
    #[schema(required)]
    origin: Option<OpeningDto>,
}

/// The salt and the values that you need to check a commitment.
#[derive(Serialize, ToSchema)]
#[schema(as = AuditOpening)]
pub(crate) struct OpeningDto {
    /// 16 bytes, in base64.
    salt: String,
    /// The withheld values, in the order in which the statement withholds them.
    #[schema(value_type = Vec<Value>)]
    values: Vec<Value>,
}

impl From<InclusionProof> for InclusionProofDto {
    fn from(proof: InclusionProof) -> Self {
        Self {
            entry_id: proof.entry.id.as_uuid(),
            leaf_index: proof.index,
            tree_size: proof.size,
            root_hash: proof.root.to_string(),
            hashes: proof.hashes.iter().map(TreeHash::to_string).collect(),
            statement: proof.entry.statement(),
            openings: proof.entry.openings().into(),
        }
    }
}

impl From<Openings> for OpeningsDto {
    fn from(Openings { details, origin }: Openings) -> Self {
        Self { details: details.map(OpeningDto::from), origin: origin.map(OpeningDto::from) }
    }
}

impl From<Opening> for OpeningDto {
    fn from(Opening { salt, values }: Opening) -> Self {
        Self { salt: STANDARD.encode(salt), values }
    }
}

/// The proof that a newer state of a log continues an older one.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditConsistencyProof)]
pub(crate) struct ConsistencyProofDto {
    /// The size of the smaller tree.
    from: u64,
    /// The size of the larger tree.
    to: u64,
    /// The root hash of the larger tree, in base64.
    root_hash: String,
    /// The hashes of the proof, in base64.
    hashes: Vec<String>,
}

impl From<ConsistencyProof> for ConsistencyProofDto {
    fn from(ConsistencyProof { from, to, root, hashes, .. }: ConsistencyProof) -> Self {
        Self { from, to, root_hash: root.to_string(), hashes: hashes.iter().map(TreeHash::to_string).collect() }
    }
}

/// Get the present checkpoint
///
/// Every entry becomes a leaf of the tenant's Merkle tree (RFC 6962 §2.1) within about a second. The checkpoint gives
/// the number of leaves and the root hash of the tree. It is a note with an Ed25519 signature
/// (<https://c2sp.org/signed-note>) and three lines of text (<https://c2sp.org/tlog-checkpoint>): the origin, the
/// size, and the root hash in base64. The key's name is the origin. With `Accept: text/plain`, the response is the
/// note alone.
///
/// Keep checkpoints in a place where a person who can change the database cannot change them. Then you can find out
/// later whether an entry under a checkpoint was changed, removed, inserted or moved: check the proof of the entry,
/// and the consistency proof from that checkpoint to the present one. Entries that are newer than the newest
/// checkpoint that you keep are not protected.
#[utoipa::path(
    get,
    path = "/audit-logs/checkpoint",
    operation_id = "getAuditCheckpoint",
    tag = AUDIT_LOGS,
    responses(
        (
            status = 200,
            description = "The checkpoint",
            content((CheckpointDto = "application/json"), (String = "text/plain")),
        ),
        Problems,
    ),
    extensions(("x-required-permission" = json!("audit-logs:read"))),
)]
pub(crate) async fn checkpoint(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let state = iam.audit().checkpoint(&caller).await?;
    if prefers(&headers, "text/plain", "application/json") {
        return Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], state.signed.note).into_response());
    }
    Ok(Json(CheckpointDto::from(state)).into_response())
}

/// The tree in which to prove an entry.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct InclusionQuery {
    /// The size of the tree in which to prove the entry, for instance the size in a checkpoint that you kept. If it
    /// is absent, the present tree is used.
    #[param(value_type = Option<u64>, minimum = 1)]
    tree_size: Option<String>,
}

/// Prove that an entry is in the log
///
/// To check the proof, you need SHA-256, base64 and a checkpoint of size `treeSize`:
///
/// 1. Compute the digest of the entry: SHA-256 of the bytes of `statement`.
/// 2. Compute the leaf hash: SHA-256 of the byte 0x00, `leafIndex` as 8 bytes big-endian, and the digest.
/// 3. Compute the root hash from the leaf hash and `hashes`, which lead from the leaf to the root as in RFC 6962
///    §2.1.1. RFC 9162 §2.1.3.2 describes the same steps. node(*left*, *right*), the hash of an inner node, is
///    SHA-256 of the byte 0x01, the left hash and the right hash. All halves are rounded down. Begin with *r* = the
///    leaf hash, *i* = `leafIndex` and *n* = `treeSize` − 1. For each hash *h* in `hashes`:
///
///    - Check that *n* is not 0.
///    - If *i* is odd or *i* = *n*, set *r* = node(*h*, *r*); then, while *i* is even and not 0, halve *i* and *n*.
///    - Otherwise set *r* = node(*r*, *h*).
///    - In both cases, halve *i* and *n* now.
///
///    In the end *n* must be 0, and *r* is the root hash.
/// 4. Check that the root hash is the one in the checkpoint, and that the checkpoint is signed with the key of the
///    log.
///
/// **The statement** is JSON without blanks, with sorted keys: `action`, `correlationId`, `createdAt`, `details`,
/// `id`, `metadata`, `newValue`, `oldValue`, `organizationId`, `origin`, `resourceId`, `resourceType`, `tenantId`,
/// `userId` and `version`. `details` and `origin` are commitments, `organizationId` is the value that the filter of
/// that name compares, and `version` is 1. The other fields are as the entry shows them, except for withheld values.
///
/// Two groups of values are withheld in the statement. Each group can be erased from the entry: then its opening is
/// null, the entry shows `[ERASED]` or null in place of the values, and the statement and all its proofs stay the
/// same.
///
/// - `details` commits to the personal values: those of fields that are named `email`, `firstName`, `lastName`,
///   `fullName`, `displayName`, `phone`, `phoneNumber`, `address` or `ipAddress`, in any case and with any
///   underscores; in entries about a TENANT also those of `name` and `slug`; and in the old and new values of entries
///   about a FACTOR or an API_KEY also that of `name`. In the statement, `[PERSONAL]` replaces each of these values, at
///   any depth. The order of the values is `metadata`, `newValue`, `oldValue`, and
///   within each of them from start to end.
/// - `origin` commits to the client's address and user agent, which are not in the statement.
///
/// **A commitment** is SHA-256, in hexadecimal digits, of the 16 bytes of the opening's `salt`, followed by the
/// canonical JSON array of its `values`. Canonical JSON has no blanks. The keys of objects are sorted by code points.
/// Strings are escaped only where necessary, as in RFC 8785 §3.2.2.2. A number without fraction and exponent is
/// written as it is. Any other number is written in scientific form, with the fewest digits that distinguish it from
/// every other double: `1.5e-7`, `1e0`.
///
/// If the entry is pending, which means that it has no leaf in the tree yet, the response is a 409: try again in a
/// second. `treeSize` must be greater than `leafIndex`.
#[utoipa::path(
    get,
    path = "/audit-logs/{id}/proof",
    operation_id = "proveAuditLog",
    tag = AUDIT_LOGS,
    params(("id" = Uuid, Path, description = "The entry"), InclusionQuery),
    responses((status = 200, description = "The proof", body = InclusionProofDto), Problems),
    extensions(("x-required-permission" = json!("audit-logs:read")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn inclusion(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<AuditEntryId>,
    Query(InclusionQuery { tree_size }): Query<InclusionQuery>,
) -> Result<Json<InclusionProofDto>, Problem> {
    let mut params = Params::default();
    let size = number(&mut params, "treeSize", tree_size.as_deref());
    params.finish()?;
    Ok(Json(iam.audit().prove_inclusion(&caller, id, size).await?.into()))
}

/// The trees between which to prove consistency.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConsistencyQuery {
    /// The size in the older checkpoint.
    #[param(value_type = u64, required, minimum = 0, example = 1)]
    from: Option<String>,
    /// The size in the newer checkpoint. If it is absent, the present tree is used.
    #[param(value_type = Option<u64>, minimum = 0)]
    to: Option<String>,
}

/// Prove that the log only grew
///
/// Proves that the tree of the first `to` entries starts with the tree of the first `from` entries: no entry under
/// the older checkpoint was changed, removed, inserted or moved. `hashes` is the proof of RFC 6962 §2.1.2. It is
/// empty in two cases:
///
/// - `from` is 0: every log continues the empty log.
/// - `from` equals `to`: the two root hashes must be equal.
///
/// Check any other proof in these steps, which RFC 9162 §2.1.4.2 also describes. node(*left*, *right*) is as in the
/// proof of an entry. All halves are rounded down.
///
/// 1. If `from` is a power of two, put the older root hash in front of `hashes`.
/// 2. Begin with *a* = *b* = the first hash, *i* = `from` − 1 and *n* = `to` − 1. While *i* is odd, halve *i* and
///    *n*.
/// 3. For each further hash *h*:
///
///    - Check that *n* is not 0.
///    - If *i* is odd or *i* = *n*, set *a* = node(*h*, *a*) and *b* = node(*h*, *b*); then, while *i* is even and
///      not 0, halve *i* and *n*.
///    - Otherwise set *b* = node(*b*, *h*).
///    - In both cases, halve *i* and *n* now.
/// 4. In the end, *n* must be 0, *a* must be the older root hash, and *b* the newer one.
#[utoipa::path(
    get,
    path = "/audit-logs/consistency-proof",
    operation_id = "proveAuditConsistency",
    tag = AUDIT_LOGS,
    params(ConsistencyQuery),
    responses((status = 200, description = "The proof", body = ConsistencyProofDto), Problems),
    extensions(("x-required-permission" = json!("audit-logs:read"))),
)]
pub(crate) async fn consistency(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(ConsistencyQuery { from, to }): Query<ConsistencyQuery>,
) -> Result<Json<ConsistencyProofDto>, Problem> {
    let mut params = Params::default();
    let from = number(&mut params, "from", Some(from.as_deref().unwrap_or_default()));
    let to = number(&mut params, "to", to.as_deref());
    params.finish()?;
    let Some(from) = from else { return Err(Problem::invalid_field("from", "is required")) };
    Ok(Json(iam.audit().prove_consistency(&caller, from, to).await?.into()))
}
