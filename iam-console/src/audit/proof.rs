//! The data with which a script checks the log itself: the signed checkpoint, and proofs.

use axum::Json;
use axum::extract::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use iam_axum::{PathId, Problem};
use iam_core::AuditEntryId;
use iam_core::audit::{Opening, TreeHash, canonical_json};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;

#[derive(Serialize)]
pub(super) struct CheckpointJson {
    /// The signed note.
    note: String,
    /// The key that verifies it.
    key: String,
}

pub(super) async fn checkpoint(
    State(console): State<Console>,
    signed_in: SignedIn,
) -> Result<Json<CheckpointJson>, Problem> {
    let state = console.iam.audit().checkpoint(&signed_in.caller).await?;
    Ok(Json(CheckpointJson { note: state.signed.note, key: state.verifier_key }))
}

#[derive(Deserialize)]
pub(super) struct Size {
    size: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct InclusionJson {
    index: u64,
    size: u64,
    hashes: Vec<String>,
    statement: String,
    /// The values that the statement withholds, by the name of their commitment.
    openings: Vec<OpeningJson>,
}

#[derive(Serialize)]
pub(super) struct OpeningJson {
    commitment: &'static str,
    salt: String,
    /// The values as the text that was hashed: a script would change some numbers if it parsed and wrote them.
    values: String,
}

impl OpeningJson {
    fn of(commitment: &'static str, opening: Option<Opening>) -> Option<Self> {
        let Opening { salt, values } = opening?;
        let values = String::from_utf8(canonical_json(&Value::Array(values))).ok()?;
        Some(Self { commitment, salt: STANDARD.encode(salt), values })
    }
}

pub(super) async fn inclusion(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AuditEntryId>,
    Query(Size { size }): Query<Size>,
) -> Result<Json<InclusionJson>, Problem> {
    let proof = console.iam.audit().prove_inclusion(&signed_in.caller, id, size).await?;
    let openings = proof.entry.openings();
    let openings =
        [OpeningJson::of("details", openings.details), OpeningJson::of("origin", openings.origin)].into_iter();
    Ok(Json(InclusionJson {
        index: proof.index,
        size: proof.size,
        hashes: texts(&proof.hashes),
        statement: proof.entry.statement(),
        openings: openings.flatten().collect(),
    }))
}

#[derive(Deserialize)]
pub(super) struct Sizes {
    from: u64,
    to: u64,
}

#[derive(Serialize)]
pub(super) struct ConsistencyJson {
    hashes: Vec<String>,
}

pub(super) async fn consistency(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(Sizes { from, to }): Query<Sizes>,
) -> Result<Json<ConsistencyJson>, Problem> {
    let proof = console.iam.audit().prove_consistency(&signed_in.caller, from, Some(to)).await?;
    Ok(Json(ConsistencyJson { hashes: texts(&proof.hashes) }))
}

fn texts(hashes: &[TreeHash]) -> Vec<String> {
    hashes.iter().map(TreeHash::to_string).collect()
}
