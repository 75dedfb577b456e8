//! Independent implementations accept the checkpoints and proofs of the audit log. The tests use only the public
//! interface.

use std::sync::Arc;

use iam_core::audit::NewEvent;
use iam_core::{Caller, Iam, TenantId};
use iam_store_memory::MemoryStore;
use serde_json::{Value, json};
use signed_note::{Note, StandardVerifier, VerifierList};
use tlog_tiles::Checkpoint;
use tlog_tiles::tlog::{Hash, RecordProof, TreeProof, check_record, check_tree, record_hash};

/// Creates a log that grows to each of these sizes, and returns its checkpoint at each size. Then `pending` entries
/// follow, which are not sequenced.
async fn log(sizes: &[u64], pending: usize) -> (Iam, Caller, Vec<Checkpoint>) {
    let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
    let caller = Caller::system(TenantId::from_uuid("019bb3f0-7b2e-7a44-9d41-5d1a5a4c1c11".parse().unwrap()), "test");
    let (mut checkpoints, mut size) = (Vec::new(), 0);
    for next in sizes {
        for number in size..*next {
            log_event(&iam, &caller, number).await;
        }
        size = *next;
        while iam.sequence_audit_logs().await.unwrap().entries > 0 {}
        checkpoints.push(checkpoint(&iam, &caller).await);
    }
    for number in 0..pending {
        log_event(&iam, &caller, size + number as u64).await;
    }
    (iam, caller, checkpoints)
}

async fn log_event(iam: &Iam, caller: &Caller, number: u64) {
    let metadata = json!({ "number": number, "email": "ada@example.com" }).as_object().cloned().unwrap();
    let (action, resource_type) = ("SENT".to_owned(), "INVOICE".to_owned());
    iam.audit().log(caller, NewEvent { action, resource_type, resource_id: None, metadata }).await.unwrap();
}

/// Returns the current checkpoint, verified with the key that is published with it.
async fn checkpoint(iam: &Iam, caller: &Caller) -> Checkpoint {
    let state = iam.audit().checkpoint(caller).await.unwrap();
    let verifier = StandardVerifier::new(&state.verifier_key).unwrap();
    let note = Note::from_bytes(state.signed.note.as_bytes()).unwrap();
    let (verified, _) = note.verify(&VerifierList::new(vec![Box::new(verifier)])).unwrap();
    assert_eq!(verified.len(), 1);
    Checkpoint::from_bytes(note.text()).unwrap()
}

fn tlog_hashes(hashes: Vec<iam_core::audit::TreeHash>) -> Vec<Hash> {
    hashes.into_iter().map(|hash| Hash(hash.0)).collect()
}

#[tokio::test]
async fn every_entry_is_included_in_every_later_checkpoint() {
    let (iam, caller, checkpoints) = log(&[1, 2, 7, 255, 256, 300], 2).await;
    let mut entries = iam.audit().export(&caller, Default::default(), None, "test").await.unwrap();
    let mut proven = 0;
    loop {
        let page = entries.next(&iam).await.unwrap();
        if page.is_empty() {
            break;
        }
        for entry in page {
            for checkpoint in &checkpoints {
                let Ok(proof) = iam.audit().prove_inclusion(&caller, entry.id, Some(checkpoint.size())).await else {
                    continue;
                };
                // The rest uses only the shown entry and SHA-256.
                let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, proof.entry.statement().as_bytes());
                let leaf = record_hash(&[&proof.index.to_be_bytes()[..], digest.as_ref()].concat());
                let hashes: RecordProof = tlog_hashes(proof.hashes);
                check_record(&hashes, checkpoint.size(), *checkpoint.hash(), proof.index, leaf).unwrap();
                proven += 1;
            }
        }
    }
    assert_eq!(proven, 1 + 2 + 7 + 255 + 256 + 300);
}

#[tokio::test]
async fn every_checkpoint_is_consistent_with_all_earlier_ones() {
    let (iam, caller, checkpoints) = log(&[1, 2, 7, 255, 256, 300], 2).await;
    for new in &checkpoints {
        for old in checkpoints.iter().filter(|old| old.size() <= new.size()) {
            let proof = iam.audit().prove_consistency(&caller, old.size(), Some(new.size())).await.unwrap();
            let hashes: TreeProof = tlog_hashes(proof.hashes);
            check_tree(&hashes, new.size(), *new.hash(), old.size(), *old.hash()).unwrap();
        }
    }
}

#[tokio::test]
async fn a_statement_contains_the_entry_and_commits_to_its_details() {
    let (iam, caller, _) = log(&[1], 0).await;
    let entry = iam.audit().list(&caller, Default::default(), None, 1).await.unwrap().entries.remove(0);
    let statement: Value = serde_json::from_str(&entry.statement()).unwrap();
    assert_eq!(statement["metadata"], json!({ "email": "[PERSONAL]", "number": 0, "system": "test" }));
    let details = entry.openings().details.unwrap();
    let text = serde_json::to_string(&details.values).unwrap();
    assert_eq!(text, r#"["ada@example.com"]"#);
    let commitment = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &[&details.salt, text.as_bytes()].concat());
    let hex: String = commitment.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(statement["details"], hex);
}

#[tokio::test]
async fn a_log_of_several_pages_is_verified_to_its_end() {
    let (iam, caller, checkpoints) = log(&[1, 2_000, 4_001], 2_001).await;
    let kept = iam.audit().checkpoint(&caller).await.unwrap().signed.note;
    let found = iam.audit().verify(&caller, &[kept]).await.unwrap();
    assert_eq!(found.findings, []);
    assert_eq!((found.sequenced, found.removed, found.pending), (4_001, 0, 2_001));
    assert_eq!(found.root.0, checkpoints[2].hash().0);
}
