//! What proves the log: `/audit-logs/checkpoint`, `/audit-logs/{id}/proof` and `/audit-logs/consistency-proof`.

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
use crate::extract::{Authenticated, Params, PathId, Query};
use crate::openapi::{AUDIT_LOGS, Problems};
use crate::page::number;
use crate::problem::Problem;

/// What the log is at this moment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditCheckpoint)]
pub(crate) struct CheckpointDto {
    /// The name of the tenant's log.
    #[schema(example = "iam/019bb3f0-7b2e-7a44-9d41-5d1a5a4c1c10/019bb3f0-7b2e-7a44-9d41-5d1a5a4c1c11")]
    origin: String,
    /// How many entries are sealed.
    tree_size: u64,
    /// The root hash of the tree over them, in base64.
    root_hash: String,
    /// The same three in a signed note: all that is to be kept.
    checkpoint: String,
    /// The key that signs the notes, as `<name>+<identifier>+<key>`. Keep it once, apart from the notes.
    verifier_key: String,
    /// The entries that are not sealed yet, at most a hundred, those that have waited longest first.
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
            unsealed: state.unsealed.into_iter().map(AuditEntryId::as_uuid).collect(),
        }
    }
}

/// That an entry stands in the log.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditInclusionProof)]
pub(crate) struct InclusionProofDto {
    entry_id: Uuid,
    /// The place of the entry in the sequence of the tenant's entries, counted from zero.
    leaf_index: u64,
    /// The size of the tree that it is proven to stand in.
    tree_size: u64,
    /// The root hash of that tree, in base64.
    root_hash: String,
    /// The audit path from the leaf to the root, in base64.
    hashes: Vec<String>,
    /// What the log commits to: the canonical JSON text of the entry, with its personal values withheld.
    statement: String,
    openings: OpeningsDto,
}

/// What was withheld in a statement; a part is null once it was erased.
#[derive(Serialize, ToSchema)]
#[schema(as = AuditOpenings)]
pub(crate) struct OpeningsDto {
    /// The personal values among metadata, new value and old value.
    #[schema(required)]
    details: Option<OpeningDto>,
    /// The client's address, then its user agent.
    #[schema(required)]
    origin: Option<OpeningDto>,
}

/// With what a commitment can be checked.
#[derive(Serialize, ToSchema)]
#[schema(as = AuditOpening)]
pub(crate) struct OpeningDto {
    /// 16 bytes, in base64.
    salt: String,
    /// In the order in which they are withheld.
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

/// That a log is the continuation of what it was.
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
    /// The proof, in base64.
    hashes: Vec<String>,
}

impl From<ConsistencyProof> for ConsistencyProofDto {
    fn from(ConsistencyProof { from, to, root, hashes, .. }: ConsistencyProof) -> Self {
        Self { from, to, root_hash: root.to_string(), hashes: hashes.iter().map(TreeHash::to_string).collect() }
    }
}

/// Get the present checkpoint
///
/// Every entry becomes a leaf of the tenant's Merkle tree (RFC 6962 §2.1) within a second or so; the checkpoint says how
/// many did, and the root of their tree. It is a note with an Ed25519 signature (<https://c2sp.org/signed-note>) around
/// three lines (<https://c2sp.org/tlog-checkpoint>): the origin, the size, the root hash in base64. The key's name is the
/// origin. `Accept: text/plain` gives the note by itself.
///
/// Whoever keeps a checkpoint, where nobody who can change the database can change it too, can tell later whether any
/// entry under it was changed, removed, inserted or moved: by the proof of the entry, and by the consistency proof from
/// that checkpoint to the present one. Nothing protects entries that are newer than the newest checkpoint that somebody
/// keeps.
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

/// In which tree to prove an entry.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct InclusionQuery {
    /// That of so many entries, for instance the size in a checkpoint that somebody kept; all that are sealed where it
    /// is absent.
    #[param(value_type = Option<u64>, minimum = 1)]
    tree_size: Option<String>,
}

/// Prove that an entry stands in the log
///
/// It takes SHA-256, base64 and a checkpoint of size `treeSize` to check:
///
/// 1. The digest of the entry is SHA-256 of the bytes of `statement`.
/// 2. The leaf hash is SHA-256 of the byte 0x00, `leafIndex` as 8 bytes big-endian, and the digest.
/// 3. The hash of an inner node is SHA-256 of the byte 0x01, the left hash and the right hash. `hashes` leads from the
///    leaf to the root, as in RFC 6962 §2.1.1 (RFC 9162 §2.1.3.2 has the same in steps): begin with *r* = the leaf hash,
///    *i* = `leafIndex`, *n* = `treeSize` − 1. For each hash *h*, before which *n* must not be 0: if *i* is odd or
///    *i* = *n*, then *r* = node(*h*, *r*), and while *i* is even and not 0, halve *i* and *n*; else
///    *r* = node(*r*, *h*). Then halve *i* and *n*. All halves are rounded down. In the end *n* must be 0, and *r* is
///    the root hash.
/// 4. The root hash must be the one in the checkpoint, and the checkpoint be signed with the key of the log.
///
/// **The statement** is JSON without blanks, with sorted keys: `action`, `correlationId`, `createdAt`, `details`, `id`,
/// `metadata`, `newValue`, `oldValue`, `organizationId`, `origin`, `resourceId`, `resourceType`, `tenantId`, `userId` as
/// the entry shows them (`organizationId` is what the filter of that name looks at), and `version`, which is 1. Two
/// things are withheld in it. Either can be erased from the entry: its opening is null then, the entry shows `[ERASED]`
/// or null in its place, and the statement with all its proofs is what it was.
///
/// - `details` commits to the personal values. Within `metadata`, `newValue` and `oldValue`, in this order, from one end
///   to the other and at any depth, `[PERSONAL]` stands in the place of each value of a field that is named `email`,
///   `firstName`, `lastName`, `fullName`, `displayName`, `phone`, `phoneNumber`, `address` or `ipAddress`, whatever
///   its case and underscores, and in entries about a TENANT also of `name` and `slug`.
/// - `origin` commits to the client's address and user agent, which are missing in the statement.
///
/// **A commitment** is SHA-256, in hexadecimal digits, of the 16 bytes of the opening's `salt` and the canonical JSON
/// array of its `values`. Canonical JSON has no blanks; the keys of objects are sorted by code points; strings are
/// escaped only where they must be, as in RFC 8785 §3.2.2.2; a number without fraction and exponent stands as it is, and
/// any other in scientific form with the fewest digits that tell it from every other double: `1.5e-7`, `1e0`.
///
/// An entry that is not sealed yet is a 409: try again in a second. `treeSize` must be greater than `leafIndex`.
#[utoipa::path(
    get,
    path = "/audit-logs/{id}/proof",
    operation_id = "proveAuditLog",
    tag = AUDIT_LOGS,
    params(("id" = Uuid, Path, description = "The entry"), InclusionQuery),
    responses((status = 200, description = "The proof", body = InclusionProofDto), Problems),
    extensions(("x-required-permission" = json!("audit-logs:read"))),
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

/// Between which trees to prove consistency.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConsistencyQuery {
    /// The size in the older checkpoint.
    #[param(value_type = u64, required, minimum = 0, example = 1)]
    from: Option<String>,
    /// The size in the newer checkpoint; all that is sealed where it is absent.
    #[param(value_type = Option<u64>, minimum = 0)]
    to: Option<String>,
}

/// Prove that the log only grew
///
/// That the tree of the first `to` entries starts with that of the first `from`: nothing under the older checkpoint was
/// changed, removed, inserted or moved. `hashes` is the proof of RFC 6962 §2.1.2; it is empty where `from` is 0, of which
/// everything is a continuation, and where `from` equals `to`, when the root hashes must be equal. Any other is checked
/// so (RFC 9162 §2.1.4.2 has the same in steps), with node hashes as in the proof of an entry:
///
/// Where `from` is a power of two, put the older root hash in front. Begin with *a* = *b* = the first hash,
/// *i* = `from` − 1, *n* = `to` − 1, and while *i* is odd, halve *i* and *n*. For each further hash *h*, before which *n*
/// must not be 0: if *i* is odd or *i* = *n*, then *a* = node(*h*, *a*) and *b* = node(*h*, *b*), and while *i* is even
/// and not 0, halve *i* and *n*; else *b* = node(*b*, *h*). Then halve *i* and *n*. All halves are rounded down. In the
/// end *n* must be 0, *a* the older root hash, and *b* the newer.
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
