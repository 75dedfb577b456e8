//! The rows of one tenant's log, for tampering, and the forgeries that hide the tampering.
//!
//! Hashes and signatures are computed here from their definitions (RFC 6962, C2SP signed-note), not by the library.

#![cfg(test)]

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::DateTime;
use iam_core::audit::{AuditEntry, Salt, Salts};
use iam_core::{RequestContext, UserAgent};
use uuid::Uuid;

use crate::ground::{Cell, KeyRow, Row, Rows, TENANT, entry, head, leaf, node, pending};

/// A leaf, with its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sequenced {
    pub(crate) leaf: Row,
    pub(crate) entry: Option<Row>,
}

/// A row of the queue, with its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) queued: Option<Row>,
    pub(crate) entry: Option<Row>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Log {
    pub(crate) tenant: Uuid,
    pub(crate) sequenced: Vec<Sequenced>,
    pub(crate) pending: Vec<Pending>,
    pub(crate) strays: Vec<Row>,
    pub(crate) nodes: Vec<Row>,
    pub(crate) head: Option<Row>,
    /// The key in the database.
    pub(crate) key: KeyRow,
}

impl Log {
    pub(crate) fn of(tenant: Uuid, rows: &Rows, key: &KeyRow) -> Self {
        let own = Some(tenant.simple().to_string());
        let own_of = |rows: &[Row]| -> Vec<Row> { rows.iter().filter(|row| row[TENANT] == own).cloned().collect() };
        let mut entries = own_of(&rows.entries);
        let mut take = |created_at: &Cell, id: &Cell| {
            let is_it = |row: &Row| row[entry::CREATED_AT] == *created_at && row[entry::ID] == *id;
            entries.iter().position(is_it).map(|position| entries.swap_remove(position))
        };
        let mut leaves = own_of(&rows.leaves);
        leaves.sort_by_key(|row| number(&row[leaf::SEQUENCE]));
        let sequenced = leaves
            .into_iter()
            .map(|row| Sequenced { entry: take(&row[leaf::CREATED_AT], &row[leaf::ENTRY_ID]), leaf: row });
        let sequenced = sequenced.collect();
        let pending = own_of(&rows.pending)
            .into_iter()
            .map(|row| Pending { entry: take(&row[pending::CREATED_AT], &row[pending::ID]), queued: Some(row) });
        let pending = pending.collect();
        let (nodes, head) = (own_of(&rows.nodes), own_of(&rows.heads).pop());
        Self { tenant, sequenced, pending, strays: entries, nodes, head, key: key.clone() }
    }

    pub(crate) fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        rows.leaves.extend(self.sequenced.iter().map(|sequenced| sequenced.leaf.clone()));
        rows.pending.extend(self.pending.iter().filter_map(|pending| pending.queued.clone()));
        rows.entries.extend(self.sequenced.iter().filter_map(|sequenced| sequenced.entry.clone()));
        rows.entries.extend(self.pending.iter().filter_map(|pending| pending.entry.clone()));
        rows.entries.extend(self.strays.iter().cloned());
        rows.nodes.extend(self.nodes.iter().cloned());
        rows.heads.extend(self.head.clone());
        rows
    }

    pub(crate) fn size(&self) -> usize {
        self.sequenced.len()
    }

    /// Sets the sequence number of every leaf to its position.
    pub(crate) fn renumber(&mut self) {
        for (position, sequenced) in self.sequenced.iter_mut().enumerate() {
            sequenced.leaf[leaf::SEQUENCE] = Some(position.to_string());
        }
    }

    pub(crate) fn head_mut(&mut self) -> &mut Row {
        self.head.as_mut().unwrap()
    }

    /// Changes the rest of the log as if the entries had been sequenced in this order.
    pub(crate) fn forge(&mut self, skill: Skill) {
        self.renumber();
        for (position, sequenced) in self.sequenced.iter_mut().enumerate() {
            if let Some(entry) = &sequenced.entry {
                sequenced.leaf[leaf::HASH] = Some(hex(&leaf_hash(position, &read_entry(entry).digest().0)));
                sequenced.leaf[leaf::CREATED_AT].clone_from(&entry[entry::CREATED_AT]);
                sequenced.leaf[leaf::ENTRY_ID].clone_from(&entry[entry::ID]);
            }
        }
        let leaves: Vec<[u8; 32]> =
            self.sequenced.iter().map(|sequenced| unhex(&sequenced.leaf[leaf::HASH]).try_into().unwrap()).collect();
        if skill >= Skill::Nodes {
            self.nodes =
                leaves.chunks_exact(256).enumerate().map(|(position, leaves)| self.node(position, leaves)).collect();
        }
        if skill >= Skill::Peaks {
            let (size, peaks) = (leaves.len(), peaks(&leaves).concat());
            let head = self.head_mut();
            head[head::SIZE] = Some(size.to_string());
            head[head::PEAKS] = Some(hex(&peaks));
        }
        if skill >= Skill::Note {
            let key = if skill == Skill::Note { stranger(&self.key) } else { self.key.clone() };
            let note = sign(&key, self.tenant, leaves.len(), &root(&leaves));
            self.head_mut()[head::NOTE] = Some(note);
        }
    }

    fn node(&self, position: usize, leaves: &[[u8; 32]]) -> Row {
        let mut row = vec![Some(self.tenant.simple().to_string()), Some("8".to_owned()), None, None];
        row[node::POSITION] = Some(position.to_string());
        row[node::HASH] = Some(hex(&root(leaves)));
        row
    }
}

/// The parts of the log that a forger makes consistent, in addition to the leaves. Each level includes the levels
/// before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Skill {
    Leaves,
    Nodes,
    Peaks,
    /// Signs with the forger's own key.
    Note,
    /// Signs with the installation's key.
    Key,
}

pub(crate) const SKILLS: [Skill; 5] = [Skill::Leaves, Skill::Nodes, Skill::Peaks, Skill::Note, Skill::Key];

pub(crate) fn number(cell: &Cell) -> usize {
    cell.as_deref().unwrap().parse().unwrap()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(cell: &Cell) -> Vec<u8> {
    let text = cell.as_deref().unwrap();
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

pub(crate) fn id(cell: &Cell) -> Option<Uuid> {
    cell.as_deref().map(|text| text.parse().unwrap())
}

/// The entry as the service reads it.
pub(crate) fn read_entry(row: &Row) -> AuditEntry {
    let json = |column: usize| row[column].as_deref().map(|text| serde_json::from_str(text).unwrap());
    let text = |column: usize| row[column].clone();
    let salt = |column: usize| Salt::from_bytes(&unhex(&row[column])).unwrap();
    AuditEntry {
        id: id(&row[entry::ID]).unwrap().into(),
        tenant_id: id(&row[TENANT]).unwrap().into(),
        action: text(entry::ACTION).unwrap().into(),
        resource_type: text(entry::RESOURCE_TYPE).unwrap().into(),
        resource_id: text(entry::RESOURCE_ID),
        organization_id: id(&row[entry::ORGANIZATION_ID]).map(Into::into),
        user_id: id(&row[entry::USER_ID]).map(Into::into),
        old_value: json(entry::OLD_VALUE),
        new_value: json(entry::NEW_VALUE),
        metadata: json(entry::METADATA).unwrap(),
        context: RequestContext {
            correlation_id: text(entry::CORRELATION_ID).map(|text| text.parse().unwrap()),
            ip_address: text(entry::IP_ADDRESS).map(|text| text.parse().unwrap()),
            user_agent: text(entry::USER_AGENT).map(|text| UserAgent::new(&text)),
        },
        created_at: DateTime::from_timestamp_micros(number(&row[entry::CREATED_AT]).try_into().unwrap()).unwrap(),
        salts: Salts { details: salt(entry::DETAILS_SALT), origin: salt(entry::ORIGIN_SALT) },
    }
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    digest(&SHA256, &parts.concat()).as_ref().try_into().unwrap()
}

pub(crate) fn leaf_hash(position: usize, entry: &[u8; 32]) -> [u8; 32] {
    sha256(&[&[0], &(position as u64).to_be_bytes(), entry])
}

fn root(leaves: &[[u8; 32]]) -> [u8; 32] {
    match leaves {
        [] => sha256(&[]),
        [leaf] => *leaf,
        leaves => {
            let (left, right) = leaves.split_at(1 << (leaves.len() - 1).ilog2());
            sha256(&[&[1], &root(left), &root(right)])
        }
    }
}

/// The roots of the largest complete subtrees, from left to right.
fn peaks(leaves: &[[u8; 32]]) -> Vec<[u8; 32]> {
    let (mut peaks, mut rest) = (Vec::new(), leaves);
    while !rest.is_empty() {
        let (peak, right) = rest.split_at(1 << rest.len().ilog2());
        peaks.push(root(peak));
        rest = right;
    }
    peaks
}

/// Another key with the same name.
pub(crate) fn stranger(key: &KeyRow) -> KeyRow {
    let seed = sha256(&[key.private.as_bytes()]);
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed).unwrap();
    KeyRow { id: key.id.clone(), public: hex(pair.public_key().as_ref()), private: hex(&seed) }
}

fn sign(key: &KeyRow, tenant: Uuid, size: usize, root: &[u8; 32]) -> String {
    let pair = Ed25519KeyPair::from_seed_unchecked(&unhex(&Some(key.private.clone()))).unwrap();
    let name = format!("iam/{}/{tenant}", key.id.parse::<Uuid>().unwrap());
    let text = format!("{name}\n{size}\n{}\n", STANDARD.encode(root));
    let identifier = sha256(&[name.as_bytes(), b"\n", &[1], pair.public_key().as_ref()]);
    let signature = [&identifier[..4], pair.sign(text.as_bytes()).as_ref()].concat();
    format!("{text}\n\u{2014} {name} {}\n", STANDARD.encode(signature))
}
