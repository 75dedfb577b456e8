//! `/audit-logs/checkpoint`, `/{id}/proof` and `/consistency-proof`, checked as a third party would: from the answers
//! alone, by independent implementations, and by the steps in the OpenAPI document.

use std::collections::HashSet;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use signed_note::{Note, StandardVerifier, VerifierList};
use tlog_tiles::Checkpoint;
use tlog_tiles::tlog::{Hash, RecordProof, TreeProof, check_record, check_tree, record_hash};

use super::event::edge_case_metadata;
use crate::app::TestApp;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, with};
use crate::request::members;

on_every_store![
    "the store keeps the hashes and reads ranges of them";
    a_third_party_verifies_every_entry_under_a_signed_checkpoint,
    a_third_party_verifies_that_the_log_only_grew,
    the_documented_steps_verify_the_same,
    the_openings_restore_the_entry,
    values_of_every_kind_are_proven,
    one_changed_byte_is_refused,
    an_empty_log_has_a_checkpoint,
    a_plain_text_checkpoint_is_only_the_note,
    the_proof_of_a_pending_entry_is_a_conflict,
    the_checkpoint_names_pending_entries,
    entries_are_sequenced_in_the_order_of_their_creation,
    an_entry_is_proven_under_every_checkpoint_that_covers_it,
    sizes_out_of_range_are_400_and_named,
    every_tenant_has_a_log_of_its_own,
    a_restart_changes_nothing,
];

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_else(|| panic!("no {member} in {value}"))
}

fn number(value: &Value, member: &str) -> u64 {
    value[member].as_u64().unwrap_or_else(|| panic!("no {member} in {value}"))
}

fn hash(text: &str) -> Hash {
    Hash::parse_hash(text).unwrap()
}

fn hashes(proof: &Value) -> Vec<Hash> {
    proof["hashes"].as_array().unwrap().iter().map(|text| hash(text.as_str().unwrap())).collect()
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    digest(&SHA256, &parts.concat()).as_ref().try_into().unwrap()
}

/// Verifies the signature of a checkpoint with this key. Returns its tree size and its root hash.
fn opened(note: &str, verifier_key: &str) -> Result<(u64, Hash), String> {
    let verifier = StandardVerifier::new(verifier_key).map_err(|error| format!("{error:?}"))?;
    let note = Note::from_bytes(note.as_bytes()).map_err(|error| format!("{error:?}"))?;
    let verifiers = VerifierList::new(vec![Box::new(verifier)]);
    let (verified, _) = note.verify(&verifiers).map_err(|error| format!("{error:?}"))?;
    let checkpoint = Checkpoint::from_bytes(note.text()).map_err(|error| format!("{error:?}"))?;
    assert_eq!(verified.len(), 1);
    Ok((checkpoint.size(), *checkpoint.hash()))
}

/// The content of the leaf of an entry.
fn leaf_of(proof: &Value) -> Vec<u8> {
    let digest = sha256(&[text(proof, "statement").as_bytes()]);
    [number(proof, "leafIndex").to_be_bytes().as_slice(), &digest].concat()
}

/// Whether a proof shows that the log of this checkpoint contains the statement.
fn is_included(proof: &Value, (size, root): (u64, Hash)) -> bool {
    let path: RecordProof = hashes(proof);
    let leaf = record_hash(&leaf_of(proof));
    check_record(&path, size, root, number(proof, "leafIndex"), leaf).is_ok()
}

/// Whether a proof shows that the newer of two checkpoints continues the older.
fn only_grew(proof: &Value, older: (u64, Hash), newer: (u64, Hash)) -> bool {
    let hashes: TreeProof = hashes(proof);
    check_tree(&hashes, newer.0, newer.1, older.0, older.1).is_ok()
}

async fn checkpoint(app: &TestApp, by: &Person) -> Value {
    app.get("/audit-logs/checkpoint").by(by).send().await.ok()
}

/// The tree size and the root hash of the current checkpoint, verified with the key from the same answer.
async fn current(app: &TestApp, by: &Person) -> (u64, Hash) {
    let state = checkpoint(app, by).await;
    opened(text(&state, "checkpoint"), text(&state, "verifierKey")).unwrap()
}

async fn prove(app: &TestApp, by: &Person, entry: &Value) -> Value {
    app.get(&format!("/audit-logs/{}/proof", text(entry, "id"))).by(by).send().await.ok()
}

async fn consistency(app: &TestApp, by: &Person, from: u64, to: u64) -> Value {
    let request = app.get("/audit-logs/consistency-proof").by(by);
    request.query("from", &from.to_string()).query("to", &to.to_string()).send().await.ok()
}

/// The administrator of a tenant whose audit log has entries of several kinds.
async fn administrator_with_entries(app: &TestApp) -> Person {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.attempt_at(&ada.tenant, "bob@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    let change = json!({ "email": "bob@example.net", "firstName": "Bob" });
    app.patch(&format!("/users/{}", bob.user)).by(&ada).header("user-agent", "ü/1").json(&change).send().await.ok();
    let body = json!({ "currentPassword": PASSWORD, "newPassword": PASSWORD });
    app.post("/auth/password").by(&bob).from("2001:db8::1").json(&body).send().await.no_content();
    app.patch(&format!("/tenants/{}", ada.tenant)).by(&ada).json(&json!({ "name": "Ada & Co" })).send().await.ok();
    ada
}

async fn a_third_party_verifies_every_entry_under_a_signed_checkpoint(app: TestApp) {
    let ada = administrator_with_entries(&app).await;
    app.sequence().await;
    let state = checkpoint(&app, &ada).await;
    assert_eq!(members(&state), ["checkpoint", "origin", "rootHash", "treeSize", "unsealed", "verifierKey"]);
    let (size, root) = opened(text(&state, "checkpoint"), text(&state, "verifierKey")).unwrap();
    assert_eq!((number(&state, "treeSize"), hash(text(&state, "rootHash"))), (size, root));
    let lines: Vec<&str> = text(&state, "checkpoint").lines().take(3).collect();
    assert_eq!(lines, [text(&state, "origin"), &size.to_string(), text(&state, "rootHash")]);
    assert!(text(&state, "origin").ends_with(&format!("/{}", ada.tenant)));
    let entries = app.audit(&ada, &[]).await;
    assert_eq!(size, entries.len() as u64);
    let mut leaf_indexes = HashSet::new();
    for entry in &entries {
        let proof = prove(&app, &ada, entry).await;
        let expected = ["entryId", "hashes", "leafIndex", "openings", "rootHash", "statement", "treeSize"];
        assert_eq!(members(&proof), expected);
        assert_eq!((text(&proof, "entryId"), number(&proof, "treeSize")), (text(entry, "id"), size));
        assert_eq!(hash(text(&proof, "rootHash")), root);
        assert!(is_included(&proof, (size, root)), "{proof}");
        assert!(leaf_indexes.insert(number(&proof, "leafIndex")), "two entries with the same leaf index");
    }
}

async fn a_third_party_verifies_that_the_log_only_grew(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut kept = Vec::new();
    for round in 0..12 {
        app.sequence().await;
        kept.push(current(&app, &ada).await);
        for _ in 0..round {
            app.login(&ada).await;
        }
    }
    for older in &kept {
        for newer in kept.iter().filter(|newer| newer.0 >= older.0) {
            let proof = consistency(&app, &ada, older.0, newer.0).await;
            assert_eq!(members(&proof), ["from", "hashes", "rootHash", "to"]);
            assert_eq!((number(&proof, "from"), number(&proof, "to")), (older.0, newer.0));
            assert_eq!(hash(text(&proof, "rootHash")), newer.1);
            assert!(only_grew(&proof, *older, *newer), "{proof}");
            let forged = (older.0, Hash([7; 32]));
            assert!(!only_grew(&proof, forged, *newer), "{proof}");
        }
    }
    let without_to = app.get("/audit-logs/consistency-proof?from=1").by(&ada).send().await.ok();
    assert_eq!(number(&without_to, "to"), kept.last().unwrap().0);
}

fn node(left: Hash, right: Hash) -> Hash {
    Hash(sha256(&[&[1], &left.0, &right.0]))
}

/// The root hash that the documented steps compute from an entry and its proof.
fn root_by_the_steps(proof: &Value) -> Option<Hash> {
    let mut root = Hash(sha256(&[&[0], &leaf_of(proof)]));
    let (mut index, mut last) = (number(proof, "leafIndex"), number(proof, "treeSize") - 1);
    for hash in hashes(proof) {
        if last == 0 {
            return None;
        }
        if index % 2 == 1 || index == last {
            root = node(hash, root);
            while index.is_multiple_of(2) && index != 0 {
                (index, last) = (index / 2, last / 2);
            }
        } else {
            root = node(root, hash);
        }
        (index, last) = (index / 2, last / 2);
    }
    (last == 0).then_some(root)
}

/// The older and the newer root hash that the documented steps compute.
fn roots_by_the_steps(proof: &Value, older: Hash) -> Option<(Hash, Hash)> {
    let (from, to) = (number(proof, "from"), number(proof, "to"));
    let mut hashes = hashes(proof);
    if from.is_power_of_two() {
        hashes.insert(0, older);
    }
    let mut hashes = hashes.into_iter();
    let first = hashes.next()?;
    let (mut old, mut new) = (first, first);
    let (mut index, mut last) = (from - 1, to - 1);
    while index % 2 == 1 {
        (index, last) = (index / 2, last / 2);
    }
    for hash in hashes {
        if last == 0 {
            return None;
        }
        if index % 2 == 1 || index == last {
            (old, new) = (node(hash, old), node(hash, new));
            while index.is_multiple_of(2) && index != 0 {
                (index, last) = (index / 2, last / 2);
            }
        } else {
            new = node(new, hash);
        }
        (index, last) = (index / 2, last / 2);
    }
    (last == 0).then_some((old, new))
}

async fn the_documented_steps_verify_the_same(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut kept: Vec<(u64, Hash)> = Vec::new();
    for _ in 0..14 {
        app.login(&ada).await;
        app.sequence().await;
        let newer = current(&app, &ada).await;
        for entry in app.audit(&ada, &[]).await {
            assert_eq!(root_by_the_steps(&prove(&app, &ada, &entry).await), Some(newer.1));
        }
        for older in &kept {
            let proof = consistency(&app, &ada, older.0, newer.0).await;
            assert_eq!(roots_by_the_steps(&proof, older.1), Some((older.1, newer.1)), "{proof}");
        }
        kept.push(newer);
    }
}

/// Canonical JSON, as the OpenAPI document defines it.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            let fields = fields.iter().map(|(name, value)| format!("{}:{}", json!(name), canonical(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Number(number) if number.is_f64() => format!("{:e}", number.as_f64().unwrap()),
        plain => plain.to_string(),
    }
}

fn hexadecimal(bytes: [u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the values of an opening, and checks that the statement commits to them.
fn values_of(statement: &Value, openings: &Value, part: &str) -> Vec<Value> {
    let opening = &openings[part];
    assert_eq!(members(opening), ["salt", "values"]);
    let salt = STANDARD.decode(text(opening, "salt")).unwrap();
    assert_eq!(salt.len(), 16);
    let commitment = sha256(&[&salt, canonical(&opening["values"]).as_bytes()]);
    assert_eq!(text(statement, part), hexadecimal(commitment), "{part} of {statement}");
    opening["values"].as_array().unwrap().clone()
}

/// Puts the withheld values back into the statement.
fn restored(statement: &Value, withheld: &mut impl Iterator<Item = Value>, further: &[&str]) -> Value {
    let is_personal = |name: &str| {
        let is_further = further.contains(&name);
        let name = name.replace('_', "").to_lowercase();
        let personal = [
            "email",
            "firstname",
            "lastname",
            "fullname",
            "displayname",
            "phone",
            "phonenumber",
            "address",
            "ipaddress",
        ];
        personal.contains(&name.as_str()) || is_further
    };
    match statement {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            let restore = |(name, value): (&String, &Value)| {
                if !is_personal(name) {
                    return (name.clone(), restored(value, withheld, further));
                }
                assert_eq!(value, "[PERSONAL]", "{name}");
                (name.clone(), withheld.next().expect("the opening has too few values"))
            };
            Value::Object(fields.into_iter().map(restore).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(|item| restored(item, withheld, further)).collect(),
        plain => plain.clone(),
    }
}

/// Restores the entry from its proof alone.
fn entry_of(proof: &Value) -> Value {
    let statement: Value = serde_json::from_str(text(proof, "statement")).unwrap();
    assert_eq!(canonical(&statement), text(proof, "statement"));
    assert_eq!(statement["version"], 1);
    let mut entry = statement.clone();
    let mut details = values_of(&statement, &proof["openings"], "details").into_iter();
    for part in ["metadata", "newValue", "oldValue"] {
        let further: &[&str] = match statement["resourceType"].as_str().unwrap() {
            "TENANT" => &["name", "slug"],
            "FACTOR" | "API_KEY" if part != "metadata" => &["name"],
            _ => &[],
        };
        entry[part] = restored(&statement[part], &mut details, further);
    }
    assert_eq!(details.next(), None, "the opening has too many values");
    let [address, agent] = <[Value; 2]>::try_from(values_of(&statement, &proof["openings"], "origin")).unwrap();
    (entry["ipAddress"], entry["userAgent"]) = (address, agent);
    for other in ["details", "origin", "organizationId", "version"] {
        entry.as_object_mut().unwrap().remove(other).unwrap();
    }
    entry
}

async fn the_openings_restore_the_entry(app: TestApp) {
    let ada = administrator_with_entries(&app).await;
    app.sequence().await;
    let entries = app.audit(&ada, &[]).await;
    for entry in &entries {
        let proof = prove(&app, &ada, entry).await;
        assert_eq!(&entry_of(&proof), entry);
        for personal in ["ada@", "bob@", "Ada", "Lovelace", "192.0.2.7", "2001:db8"] {
            assert!(!text(&proof, "statement").contains(personal), "{personal} in {proof}");
        }
    }
    let shown = json!(entries).to_string();
    assert!(["ada@", "bob@", "192.0.2.7", "2001:db8"].iter().all(|personal| shown.contains(personal)));
    let north = app.organization(&ada, "north").await;
    app.sequence().await;
    let made = prove(&app, &ada, &app.history(&ada, &north.to_string()).await[0]).await;
    let statement: Value = serde_json::from_str(text(&made, "statement")).unwrap();
    assert_eq!(statement["organizationId"], json!(north));
}

async fn values_of_every_kind_are_proven(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let personal = with(
        edge_case_metadata(),
        &json!({ "e_mail": 1, "Email": edge_case_metadata()["numbers"], "ADDRESS": edge_case_metadata() }),
    );
    for metadata in [edge_case_metadata(), personal, json!({ "phone": 1.0, "phone_number": null, "x": "[PERSONAL]" })] {
        let body = json!({ "action": "SENT", "resourceType": "INVOICE", "resourceId": "ü", "metadata": metadata });
        let entry = app.post("/audit-logs").by(&ada).json(&body).send().await.created();
        app.sequence().await;
        let proof = prove(&app, &ada, &entry).await;
        assert!(is_included(&proof, current(&app, &ada).await));
        assert_eq!(entry_of(&proof).to_string(), with(json!({}), &entry).to_string());
    }
}

async fn one_changed_byte_is_refused(app: TestApp) {
    let ada = administrator_with_entries(&app).await;
    app.sequence().await;
    let state = checkpoint(&app, &ada).await;
    let (note, key) = (text(&state, "checkpoint"), text(&state, "verifierKey"));
    let genuine = opened(note, key).unwrap();
    for at in 0..note.len() {
        let mut changed = note.as_bytes().to_vec();
        changed[at] ^= 1;
        let changed = String::from_utf8_lossy(&changed).into_owned();
        assert!(opened(&changed, key).is_err(), "{changed}");
    }
    let entry = &app.audit(&ada, &[("action", "UPDATE")]).await[0];
    let proof = prove(&app, &ada, entry).await;
    assert!(is_included(&proof, genuine));
    let statement = text(&proof, "statement");
    for at in 0..statement.len() {
        let mut changed = statement.as_bytes().to_vec();
        changed[at] ^= 1;
        let changed = with(proof.clone(), &json!({ "statement": String::from_utf8_lossy(&changed) }));
        assert!(!is_included(&changed, genuine), "{changed}");
    }
    for index in (0..genuine.0).filter(|index| *index != number(&proof, "leafIndex")) {
        assert!(!is_included(&with(proof.clone(), &json!({ "leafIndex": index })), genuine));
    }
    for at in 0..proof["hashes"].as_array().unwrap().len() {
        let mut changed = proof.clone();
        changed["hashes"][at] = json!(STANDARD.encode([at as u8; 32]));
        assert!(!is_included(&changed, genuine));
        changed["hashes"].as_array_mut().unwrap().remove(at);
        assert!(!is_included(&changed, genuine));
    }
}

async fn an_empty_log_has_a_checkpoint(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (size, root) = current(&app, &ada).await;
    assert_eq!((size, root), (0, Hash(sha256(&[]))));
    app.sequence().await;
    let proof = consistency(&app, &ada, 0, 4).await;
    assert_eq!((&proof["hashes"], hash(text(&proof, "rootHash"))), (&json!([]), current(&app, &ada).await.1));
    assert_eq!(hash(text(&consistency(&app, &ada, 0, 0).await, "rootHash")), root);
}

async fn a_plain_text_checkpoint_is_only_the_note(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.sequence().await;
    let note = checkpoint(&app, &ada).await["checkpoint"].clone();
    let get = |accept: &str| app.get("/audit-logs/checkpoint").by(&ada).header("accept", accept);
    for accept in ["text/plain", "application/json;q=0.1, text/*"] {
        assert_eq!(get(accept).send().await.ok_of("text/plain; charset=utf-8"), note);
    }
    for accept in ["*/*", "application/json", "text/html", "text/plain, application/json"] {
        assert_eq!(get(accept).send().await.ok()["checkpoint"], note);
    }
}

async fn the_proof_of_a_pending_entry_is_a_conflict(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let entry = &app.audit(&ada, &[]).await[0];
    let path = format!("/audit-logs/{}/proof", text(entry, "id"));
    let refused = app.get(&path).by(&ada).send().await;
    assert!(refused.detail("conflict").contains("no sequence number yet"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    app.sequence().await;
    assert!(is_included(&prove(&app, &ada, entry).await, current(&app, &ada).await));
    app.get(&format!("/audit-logs/{}/proof", ada.user)).by(&ada).send().await.problem("not-found");
    assert_eq!(app.get("/audit-logs/17/proof").by(&ada).send().await.invalid_fields(), ["id"]);
}

async fn the_checkpoint_names_pending_entries(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let ids = |entries: &[Value]| -> Vec<Value> { entries.iter().rev().map(|entry| entry["id"].clone()).collect() };
    assert_eq!(checkpoint(&app, &ada).await["unsealed"], json!(ids(&app.audit(&ada, &[]).await)));
    app.sequence().await;
    assert_eq!(checkpoint(&app, &ada).await["unsealed"], json!([]));
    for _ in 0..101 {
        app.pass(chrono::TimeDelta::milliseconds(1));
        app.login(&ada).await;
    }
    let waiting = ids(&app.audit(&ada, &[("startDate", "2026-01-31T09:15:00.124Z")]).await);
    assert_eq!(waiting.len(), 101);
    assert_eq!(checkpoint(&app, &ada).await["unsealed"], json!(waiting[..100]));
}

async fn entries_are_sequenced_in_the_order_of_their_creation(app: TestApp) {
    let ada = administrator_with_entries(&app).await;
    app.sequence().await;
    app.pass(chrono::TimeDelta::milliseconds(1));
    let ada = app.login(&ada).await;
    app.sequence().await;
    let entries = app.audit(&ada, &[]).await;
    for (leaf_index, entry) in entries.iter().rev().enumerate() {
        assert_eq!(number(&prove(&app, &ada, entry).await, "leafIndex"), leaf_index as u64, "{entry}");
    }
}

async fn an_entry_is_proven_under_every_checkpoint_that_covers_it(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let entries = app.audit(&ada, &[]).await;
    let mut kept = Vec::new();
    for _ in 0..9 {
        app.sequence().await;
        kept.push(current(&app, &ada).await);
        app.login(&ada).await;
    }
    for entry in &entries {
        for checkpoint in &kept {
            let path = format!("/audit-logs/{}/proof?treeSize={}", text(entry, "id"), checkpoint.0);
            let proof = app.get(&path).by(&ada).send().await.ok();
            assert_eq!(hash(text(&proof, "rootHash")), checkpoint.1);
            assert!(is_included(&proof, *checkpoint), "{proof}");
        }
    }
}

async fn sizes_out_of_range_are_400_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.sequence().await;
    let newest = &app.audit(&ada, &[]).await[0];
    let path = format!("/audit-logs/{}/proof", text(newest, "id"));
    for size in ["0", "3", "5", "18446744073709551615", "18446744073709551616", "-1", "x", "", "4.0"] {
        let refused = app.get(&path).by(&ada).query("treeSize", size).send().await;
        assert_eq!(refused.invalid_fields(), ["treeSize"], "{size}");
    }
    let consistency = |query: &str| app.get(&format!("/audit-logs/consistency-proof{query}")).by(&ada);
    for (query, field) in [
        ("", "from"),
        ("?to=1", "from"),
        ("?from=", "from"),
        ("?from=x", "from"),
        ("?from=-1", "from"),
        ("?from=5", "from"),
        ("?from=2&to=1", "from"),
        ("?from=1&to=5", "to"),
        ("?from=1&to=x", "to"),
        ("?from=18446744073709551615&to=18446744073709551615", "to"),
    ] {
        assert_eq!(consistency(query).send().await.invalid_fields(), [field], "{query}");
    }
    assert_eq!(consistency("?from=x&to=x").send().await.invalid_fields(), ["from", "to"]);
}

async fn every_tenant_has_a_log_of_its_own(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    app.sequence().await;
    let [hers, others] = [checkpoint(&app, &ada).await, checkpoint(&app, &eve).await];
    for member in ["origin", "rootHash", "verifierKey"] {
        assert_ne!(hers[member], others[member]);
    }
    assert!(opened(text(&hers, "checkpoint"), text(&others, "verifierKey")).is_err());
    let entry = &app.audit(&ada, &[]).await[0];
    let proof = prove(&app, &ada, entry).await;
    assert!(is_included(&proof, current(&app, &ada).await));
    assert!(!is_included(&proof, current(&app, &eve).await));
    app.login(&eve).await;
    assert_eq!(current(&app, &ada).await.0, 4, "entries of other tenants do not count");
}

async fn a_restart_changes_nothing(app: TestApp) {
    let ada = administrator_with_entries(&app).await;
    app.sequence().await;
    let before = checkpoint(&app, &ada).await;
    let entry = &app.audit(&ada, &[]).await[0];
    let proof = prove(&app, &ada, entry).await;
    let app = app.restarted().await;
    assert_eq!(checkpoint(&app, &ada).await, before);
    assert_eq!(prove(&app, &ada, entry).await, proof);
    app.login(&ada).await;
    app.sequence().await;
    let older = opened(text(&before, "checkpoint"), text(&before, "verifierKey")).unwrap();
    let newer = current(&app, &ada).await;
    assert!(only_grew(&consistency(&app, &ada, older.0, newer.0).await, older, newer));
}

/// A checkpoint that a client has saved, with its key and the proofs of all entries.
pub(super) struct SavedLog {
    checkpoint: (u64, Hash),
    key: String,
    proofs: Vec<Value>,
}

impl SavedLog {
    /// Sequences all pending entries, and saves the checkpoint and a proof of every entry.
    pub(super) async fn of(app: &TestApp, reader: &Person) -> Self {
        app.sequence().await;
        let state = checkpoint(app, reader).await;
        let key = text(&state, "verifierKey").to_owned();
        let kept = opened(text(&state, "checkpoint"), &key).unwrap();
        let mut proofs = Vec::new();
        for entry in app.audit(reader, &[]).await {
            proofs.push(prove(app, reader, &entry).await);
        }
        Self { checkpoint: kept, key, proofs }
    }

    pub(super) fn size(&self) -> u64 {
        self.checkpoint.0
    }

    /// Checks that the current log continues the saved one, that every entry is proven, and that every saved entry is
    /// unchanged. Returns how many saved entries are still in the log.
    pub(super) async fn still_holds(&self, app: &TestApp, reader: &Person) -> usize {
        app.sequence().await;
        let state = checkpoint(app, reader).await;
        let newer = opened(text(&state, "checkpoint"), &self.key).unwrap();
        let proof = consistency(app, reader, self.size(), newer.0).await;
        assert!(only_grew(&proof, self.checkpoint, newer), "{proof}");
        let mut remaining = 0;
        for entry in app.audit(reader, &[]).await {
            let proof = prove(app, reader, &entry).await;
            assert!(is_included(&proof, newer), "{proof}");
            if let Some(before) = self.proofs.iter().find(|before| before["entryId"] == entry["id"]) {
                assert_eq!(before["statement"], proof["statement"]);
                assert!(is_included(before, self.checkpoint));
                remaining += 1;
            }
        }
        remaining
    }
}

/// The opening of a part of an entry. It is null if the part was erased.
pub(super) async fn opening(app: &TestApp, reader: &Person, entry: &Value, part: &str) -> Value {
    prove(app, reader, entry).await["openings"][part].clone()
}
