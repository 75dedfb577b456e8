//! The Merkle tree over a tenant's entries (RFC 6962 §2.1): appends leaves, and selects the hashes of a proof.
//!
//! A store holds only the leaves and the complete subtrees whose height is a multiple of eight. Every other hash is
//! computed from at most 256 of those. Besides the leaves, the tree needs one row for every 255 leaves.

use std::fmt;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::audit::Digest;

/// The hash of a leaf or of a subtree.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TreeHash(pub [u8; 32]);

impl TreeHash {
    /// Returns the hash of a tree without leaves: SHA-256 of the empty string.
    #[must_use]
    pub fn of_nothing() -> Self {
        Self(Digest::of(&[]).0)
    }

    /// Returns the hash of a leaf. The 40 bytes of a leaf are the sequence number, big-endian, and the entry's digest.
    /// Because the leaf contains the sequence number, a moved entry can be detected.
    #[must_use]
    pub fn of_leaf(sequence: u64, digest: Digest) -> Self {
        Self(Digest::of(&[&[0], &sequence.to_be_bytes(), &digest.0]).0)
    }

    fn of_children(left: Self, right: Self) -> Self {
        Self(Digest::of(&[&[1], &left.0, &right.0]).0)
    }
}

/// Base64, as in a checkpoint.
impl fmt::Display for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl fmt::Debug for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TreeHash({self})")
    }
}

/// A complete subtree that a store holds: the `position`th of those with 2^`level` leaves each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeNode {
    /// Its height, a multiple of [`STRIDE`] above zero.
    pub level: u8,
    /// How many subtrees of the same height are to the left of it.
    pub position: u64,
    /// Its hash.
    pub hash: TreeHash,
}

impl TreeNode {
    /// Returns the span of this subtree alone.
    #[must_use]
    pub fn span(&self) -> TreeSpan {
        TreeSpan { level: self.level, positions: self.position..self.position + 1 }
    }
}

/// Adjacent stored hashes. On level zero they are leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeSpan {
    /// Their height, a multiple of [`STRIDE`].
    pub level: u8,
    /// Their positions among the hashes of that height.
    pub positions: Range<u64>,
}

/// The distance between the heights at which subtrees are stored.
pub const STRIDE: u8 = 8;

/// The right edge of a growing tree: the hashes of its largest complete subtrees, from left to right. This is enough
/// to append leaves and to compute the root hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    peaks: Vec<TreeHash>,
}

impl Frontier {
    /// Restores a stored frontier; `None` if a tree of this size has a different number of peaks.
    #[must_use]
    pub fn new(size: u64, peaks: Vec<TreeHash>) -> Option<Self> {
        (peaks.len() == size.count_ones() as usize).then_some(Self { size, peaks })
    }

    /// Returns the number of leaves of the tree.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the hashes of the largest complete subtrees, from left to right: one for each binary digit 1 of the
    /// size.
    #[must_use]
    pub fn peaks(&self) -> &[TreeHash] {
        &self.peaks
    }

    /// Appends a leaf. Returns the subtrees that it completes and that a store must hold.
    pub fn append(&mut self, leaf: TreeHash) -> Vec<TreeNode> {
        let mut complete = Vec::new();
        let mut hash = leaf;
        for level in 1..=self.size.trailing_ones() {
            let Some(left) = self.peaks.pop() else { break };
            hash = TreeHash::of_children(left, hash);
            let level = u8::try_from(level).unwrap_or(u8::MAX);
            if level.is_multiple_of(STRIDE) {
                complete.push(TreeNode { level, position: self.size >> level, hash });
            }
        }
        self.peaks.push(hash);
        self.size += 1;
        complete
    }

    /// Returns the hash of the whole tree.
    #[must_use]
    pub fn root(&self) -> TreeHash {
        fold(&self.peaks).unwrap_or_else(TreeHash::of_nothing)
    }
}

/// Computes the hash over adjacent subtrees whose sizes decrease from left to right.
fn fold(subtrees: &[TreeHash]) -> Option<TreeHash> {
    subtrees.iter().copied().rev().reduce(|right, left| TreeHash::of_children(left, right))
}

/// Computes the hash over subtrees of the same height. Their number is a power of two.
fn fold_complete(hashes: &[TreeHash]) -> Option<TreeHash> {
    let mut frontier = Frontier::default();
    for hash in hashes {
        frontier.append(*hash);
    }
    fold(&frontier.peaks)
}

/// The ranges of leaves that a proof consists of. Each range becomes one hash of the proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofPlan(Vec<Range<u64>>);

impl ProofPlan {
    /// Plans the proof that the tree of the first `size` leaves contains the leaf at `index` (RFC 6962 §2.1.1).
    pub fn inclusion(index: u64, size: u64) -> Self {
        let mut ranges = Vec::new();
        let mut range = 0..size;
        while range.end - range.start > 1 {
            let middle = split(&range);
            let (kept, proven) = if index < middle {
                (range.start..middle, middle..range.end)
            } else {
                (middle..range.end, range.start..middle)
            };
            ranges.push(proven);
            range = kept;
        }
        ranges.reverse();
        Self(ranges)
    }

    /// Plans the proof that the tree of the first `size` leaves starts with the tree of the first `old` leaves (RFC
    /// 6962 §2.1.2).
    pub fn consistency(old: u64, size: u64) -> Self {
        if old == 0 {
            return Self(Vec::new());
        }
        let mut ranges = Vec::new();
        let mut range = 0..size;
        while range.end != old {
            let middle = split(&range);
            let (kept, proven) = if old <= middle {
                (range.start..middle, middle..range.end)
            } else {
                (middle..range.end, range.start..middle)
            };
            ranges.push(proven);
            range = kept;
        }
        // The remaining range is a subtree of both trees. If it is the whole old tree, its root is known already.
        if range.start > 0 {
            ranges.push(range);
        }
        ranges.reverse();
        Self(ranges)
    }

    /// Plans the root hash of the tree of the first `size` leaves.
    pub fn root(size: u64) -> Self {
        Self(std::iter::once(0..size).collect())
    }

    /// Returns the stored hashes that are needed for the proof.
    pub fn spans(&self) -> Vec<TreeSpan> {
        self.0.iter().flat_map(|range| complete_subtrees(range.clone())).map(|(level, at)| span(level, at)).collect()
    }

    /// Computes the hashes of the proof from the stored hashes that [`spans`](Self::spans) selects: all of them, in
    /// that order. `None` if some are missing.
    pub fn hashes(&self, kept: &[TreeHash]) -> Option<Vec<TreeHash>> {
        let mut kept = kept;
        let mut subtree = |(level, at)| {
            let TreeSpan { positions, .. } = span(level, at);
            let length = usize::try_from(positions.end - positions.start).ok()?;
            let (these, rest) = kept.split_at_checked(length)?;
            kept = rest;
            fold_complete(these)
        };
        let mut hash = |range: &Range<u64>| {
            let subtrees: Option<Vec<TreeHash>> =
                complete_subtrees(range.clone()).into_iter().map(&mut subtree).collect();
            Some(fold(&subtrees?).unwrap_or_else(TreeHash::of_nothing))
        };
        self.0.iter().map(&mut hash).collect()
    }
}

/// Returns the index at which RFC 6962 splits a tree of more than one leaf: after the largest power of two below its
/// size.
fn split(range: &Range<u64>) -> u64 {
    let size = range.end - range.start;
    range.start + (1 << (size - 1).ilog2())
}

/// Returns the largest complete subtrees that make up these leaves, from left to right. Each is given by its height
/// and its position among those of the same height.
fn complete_subtrees(range: Range<u64>) -> Vec<(u8, u64)> {
    let mut subtrees = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let level = at.trailing_zeros().min((range.end - at).ilog2());
        subtrees.push((u8::try_from(level).unwrap_or(u8::MAX), at >> level));
        at += 1 << level;
    }
    subtrees
}

/// Returns the stored hashes from which the hash of a complete subtree is computed.
fn span(level: u8, position: u64) -> TreeSpan {
    let above = level % STRIDE;
    TreeSpan { level: level - above, positions: position << above..(position + 1) << above }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn leaf(number: u64) -> TreeHash {
        TreeHash::of_leaf(number, Digest([7; 32]))
    }

    /// The root hash exactly as RFC 6962 §2.1 defines it.
    fn root_by_definition(leaves: &[TreeHash]) -> TreeHash {
        match leaves {
            [] => TreeHash::of_nothing(),
            [leaf] => *leaf,
            leaves => {
                let (left, right) = leaves.split_at(1 << (leaves.len() - 1).ilog2());
                TreeHash::of_children(root_by_definition(left), root_by_definition(right))
            }
        }
    }

    /// The data that a store would hold.
    struct Tree {
        leaves: Vec<TreeHash>,
        nodes: Vec<TreeNode>,
        frontier: Frontier,
    }

    impl Tree {
        fn of(size: u64) -> Self {
            let mut tree = Self { leaves: Vec::new(), nodes: Vec::new(), frontier: Frontier::default() };
            for number in 0..size {
                tree.leaves.push(leaf(number));
                tree.nodes.extend(tree.frontier.append(leaf(number)));
            }
            tree
        }

        fn prove(&self, plan: &ProofPlan) -> Vec<TreeHash> {
            let of_level = |level: u8| -> Vec<TreeHash> {
                match level {
                    0 => self.leaves.clone(),
                    level => self.nodes.iter().filter(|node| node.level == level).map(|node| node.hash).collect(),
                }
            };
            let kept: Vec<TreeHash> = plan
                .spans()
                .into_iter()
                .flat_map(|span| {
                    of_level(span.level)[span.positions.start as usize..span.positions.end as usize].to_vec()
                })
                .collect();
            plan.hashes(&kept).unwrap()
        }
    }

    #[test]
    fn the_root_matches_the_rfc_definition_at_every_size() {
        let mut tree = Tree::of(0);
        for size in 0..600 {
            assert_eq!(tree.frontier.root(), root_by_definition(&tree.leaves), "{size}");
            assert_eq!(tree.frontier.peaks().len() as u32, tree.frontier.size().count_ones());
            tree.leaves.push(leaf(size));
            tree.nodes.extend(tree.frontier.append(leaf(size)));
        }
        let levels = tree.nodes.iter().map(|node| (node.level, node.position)).collect::<Vec<_>>();
        assert_eq!(levels, [(8, 0), (8, 1)]);
    }

    #[test]
    fn subtrees_are_stored_at_every_eighth_height() {
        let tree = Tree::of(65_536 + 256);
        let of_level = |level| tree.nodes.iter().filter(|node| node.level == level).count();
        assert_eq!((of_level(8), of_level(16), tree.nodes.len()), (257, 1, 258));
    }

    proptest! {
        #[test]
        fn the_root_of_every_earlier_size_can_be_computed(size in 0_u64..1_000, earlier in 0_u64..1_000) {
            let tree = Tree::of(size);
            let earlier = earlier.min(size);
            let expected = root_by_definition(&tree.leaves[..earlier as usize]);
            prop_assert_eq!(tree.prove(&ProofPlan::root(earlier)), [expected]);
        }
    }

    /// For trees below this size, the independent implementation checks every proof.
    const EXHAUSTIVE: u64 = 70;

    #[test]
    fn an_independent_implementation_accepts_the_proofs() {
        use tlog_tiles::tlog::{Hash, RecordProof, TreeProof, check_record, check_tree};
        let theirs = |hash: TreeHash| Hash(hash.0);
        let sizes = (1..EXHAUSTIVE).chain([255, 256, 257, 511, 513, 1_000, 66_000]);
        for size in sizes {
            let tree = Tree::of(size);
            let root = theirs(tree.frontier.root());
            let some = |number: u64| size < EXHAUSTIVE || number < 3 || number.is_multiple_of(251) || number + 3 > size;
            for index in (0..size).filter(|index| some(*index)).take(300) {
                let hashes = tree.prove(&ProofPlan::inclusion(index, size));
                let proof: RecordProof = hashes.into_iter().map(theirs).collect();
                check_record(&proof, size, root, index, theirs(leaf(index))).unwrap();
            }
            for old in (1..=size).filter(|old| some(*old)).take(300) {
                let hashes = tree.prove(&ProofPlan::consistency(old, size));
                let proof: TreeProof = hashes.into_iter().map(theirs).collect();
                let old_root = theirs(tree.prove(&ProofPlan::root(old))[0]);
                check_tree(&proof, size, root, old, old_root).unwrap();
            }
        }
    }
}
