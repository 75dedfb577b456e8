//! A second implementation of Merkle trees and their proofs, from RFC 6962 and RFC 9162. The cases check the trees of
//! the service against it, so that the service does not check itself.

use aws_lc_rs::digest::{SHA256, digest};
use iam_model::audit::{Digest, Frontier, Leaf, Pending, STRIDE, SequencedBatch, TreeHash, TreeNode};

fn sha256(parts: &[&[u8]]) -> TreeHash {
    TreeHash(digest(&SHA256, &parts.concat()).as_ref().try_into().unwrap())
}

fn node(left: TreeHash, right: TreeHash) -> TreeHash {
    sha256(&[&[1], &left.0, &right.0])
}

/// RFC 6962 §2.1: the leaf hash of the 40 bytes to which a log commits, a sequence number and a digest.
pub(super) fn leaf_hash(sequence: u64, entry: Digest) -> TreeHash {
    sha256(&[&[0], &sequence.to_be_bytes(), &entry.0])
}

/// RFC 6962 §2.1: the Merkle tree hash.
pub(super) fn root(leaves: &[TreeHash]) -> TreeHash {
    match leaves {
        [] => sha256(&[]),
        [leaf] => *leaf,
        leaves => {
            let (left, right) = leaves.split_at(1 << (leaves.len() - 1).ilog2());
            node(root(left), root(right))
        }
    }
}

/// The root hashes of the largest complete subtrees, from left to right.
pub(super) fn peaks(mut leaves: &[TreeHash]) -> Vec<TreeHash> {
    let mut peaks = Vec::new();
    while !leaves.is_empty() {
        let (peak, rest) = leaves.split_at(1 << leaves.len().ilog2());
        peaks.push(root(peak));
        leaves = rest;
    }
    peaks
}

/// The stored subtrees of the lowest height that is stored.
pub(super) fn nodes(leaves: &[TreeHash]) -> Vec<TreeNode> {
    let complete = leaves.chunks_exact(1 << STRIDE).enumerate();
    complete.map(|(number, leaves)| TreeNode { level: STRIDE, position: number as u64, hash: root(leaves) }).collect()
}

/// The [`SequencedBatch`] that continues a log with these pending entries, after the leaves that the log already has.
pub(super) fn sequence(sequenced: &[TreeHash], pending: &[Pending]) -> SequencedBatch {
    let from = sequenced.len() as u64;
    let leaf = |(sequence, entry): (u64, &Pending)| Leaf {
        sequence,
        created_at: entry.created_at,
        entry_id: entry.entry_id,
        hash: leaf_hash(sequence, entry.digest),
    };
    let leaves: Vec<Leaf> = (from..).zip(pending).map(leaf).collect();
    let hashes: Vec<TreeHash> = sequenced.iter().copied().chain(leaves.iter().map(|leaf| leaf.hash)).collect();
    let nodes = nodes(&hashes).split_off(nodes(sequenced).len());
    let frontier = Frontier::new(hashes.len() as u64, peaks(&hashes)).unwrap();
    SequencedBatch {
        tenant_id: pending[0].tenant_id,
        from,
        leaves,
        nodes,
        frontier,
        note: format!("a note of {from}\n"),
    }
}

/// RFC 9162 §2.1.3.2: whether a proof shows that a leaf is in a tree.
pub(super) fn is_included(leaf: TreeHash, index: u64, size: u64, proof: &[TreeHash], expected: TreeHash) -> bool {
    let (mut first, mut last, mut hash) = (index, size - 1, leaf);
    for step in proof {
        if last == 0 {
            return false;
        }
        if first % 2 == 1 || first == last {
            hash = node(*step, hash);
            while first.is_multiple_of(2) && first > 0 {
                (first, last) = (first / 2, last / 2);
            }
        } else {
            hash = node(hash, *step);
        }
        (first, last) = (first / 2, last / 2);
    }
    last == 0 && hash == expected
}

/// RFC 9162 §2.1.4.2: whether a proof shows that a tree starts with a smaller one. The smaller tree must have leaves.
pub(super) fn is_consistent(old: (u64, TreeHash), new: (u64, TreeHash), proof: &[TreeHash]) -> bool {
    if old.0 == new.0 {
        return proof.is_empty() && old.1 == new.1;
    }
    let known = if old.0.is_power_of_two() { &[old.1][..] } else { &[] };
    let mut steps = known.iter().chain(proof);
    let Some(start) = steps.next() else { return false };
    let (mut first, mut last) = (old.0 - 1, new.0 - 1);
    while first % 2 == 1 {
        (first, last) = (first / 2, last / 2);
    }
    let (mut of_old, mut of_new) = (*start, *start);
    for step in steps {
        if last == 0 {
            return false;
        }
        if first % 2 == 1 || first == last {
            (of_old, of_new) = (node(*step, of_old), node(*step, of_new));
            while first.is_multiple_of(2) && first > 0 {
                (first, last) = (first / 2, last / 2);
            }
        } else {
            of_new = node(of_new, *step);
        }
        (first, last) = (first / 2, last / 2);
    }
    last == 0 && of_old == old.1 && of_new == new.1
}
