use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::permission::{PatternKind, Permission, PermissionPattern};

/// A set of permission patterns, as a role contains it.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct PermissionSet {
    /// Sorted and distinct. `*` sorts before every letter.
    patterns: Box<[PermissionPattern]>,
    /// Most sets have no wildcards. One search is then enough.
    has_wildcards: bool,
}

impl PermissionSet {
    /// Whether one of the patterns covers the permission.
    ///
    /// ```
    /// use iam_model::permission;
    /// use iam_model::permission::PermissionSet;
    ///
    /// let held: PermissionSet = ["users:*".parse()?, "roles:read".parse()?].into_iter().collect();
    /// assert!(held.allows(&permission::USERS_DELETE));
    /// assert!(!held.allows(&permission::TENANTS_READ));
    /// # Ok::<(), iam_model::validate::Invalid>(())
    /// ```
    #[must_use]
    pub fn allows(&self, permission: &Permission) -> bool {
        self.has(permission.as_str()) || self.has_wildcards && self.has_whole(permission.resource())
    }

    /// Whether one of the patterns covers everything that `pattern` covers; see [`PermissionPattern::covers`].
    #[must_use]
    pub fn covers(&self, pattern: &PermissionPattern) -> bool {
        match pattern.kind() {
            PatternKind::Everything => self.has_everything(),
            PatternKind::Resource(resource) => self.has_whole(resource),
            PatternKind::Exact(text) => {
                let resource = text.split_once(':').map_or(text, |(resource, _)| resource);
                self.has(text) || self.has_wildcards && self.has_whole(resource)
            }
        }
    }

    /// Whether the set contains the permission itself, and not only a wildcard for it.
    #[must_use]
    pub fn names(&self, permission: &Permission) -> bool {
        self.has(permission.as_str())
    }

    /// Whether the set contains exactly this pattern.
    fn has(&self, text: &str) -> bool {
        self.patterns.binary_search_by(|pattern| pattern.as_str().cmp(text)).is_ok()
    }

    /// Whether the set contains `*` or `<resource>:*`.
    fn has_whole(&self, resource: &str) -> bool {
        let wildcard = || resource.bytes().chain(*b":*");
        self.has_everything()
            || self.patterns.binary_search_by(|pattern| pattern.as_str().bytes().cmp(wildcard())).is_ok()
    }

    fn has_everything(&self) -> bool {
        self.patterns.first().is_some_and(|first| first.as_str() == "*")
    }

    /// Returns the patterns of this set that the other set does not cover.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> Self {
        self.iter().filter(|pattern| !other.covers(pattern)).cloned().collect()
    }

    /// Returns the set of the permissions that both this set and the other set cover.
    ///
    /// ```
    /// use iam_model::permission::PermissionSet;
    ///
    /// let set = |texts: &[&str]| texts.iter().map(|text| text.parse()).collect::<Result<PermissionSet, _>>();
    /// let both = set(&["users:*", "roles:read"])?.intersection(&set(&["users:read", "roles:*", "tenants:*"])?);
    /// assert_eq!(both, set(&["roles:read", "users:read"])?);
    /// # Ok::<(), iam_model::validate::Invalid>(())
    /// ```
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let of_both = self.iter().filter(|pattern| other.covers(pattern));
        let of_other = other.iter().filter(|pattern| self.covers(pattern));
        of_both.chain(of_other).cloned().collect()
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The patterns in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = &PermissionPattern> {
        self.patterns.iter()
    }
}

impl FromIterator<PermissionPattern> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = PermissionPattern>>(patterns: I) -> Self {
        let mut patterns: Vec<_> = patterns.into_iter().collect();
        patterns.sort_unstable();
        patterns.dedup();
        let has_wildcards = patterns.iter().any(|pattern| !matches!(pattern.kind(), PatternKind::Exact(_)));
        Self { patterns: patterns.into(), has_wildcards }
    }
}

impl Serialize for PermissionSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.patterns.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PermissionSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<PermissionPattern>::deserialize(deserializer).map(|patterns| patterns.into_iter().collect())
    }
}

impl fmt::Debug for PermissionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern() -> impl Strategy<Value = PermissionPattern> {
        let texts = ["*", "a:*", "a:b", "a:c", "a-b:*", "a-b:c", "ab:*", "ab:c", "b:a", "b:*", "a:a"];
        proptest::sample::select(texts.to_vec()).prop_map(|text| text.parse().unwrap())
    }

    proptest! {
        #[test]
        fn a_set_covers_what_one_of_its_patterns_covers(
            held in proptest::collection::vec(pattern(), 0..6),
            wanted in pattern(),
        ) {
            let set: PermissionSet = held.iter().cloned().collect();
            let expected = held.iter().any(|pattern| pattern.covers(&wanted));
            prop_assert_eq!(set.covers(&wanted), expected);
            if let Ok(permission) = wanted.as_str().parse::<Permission>() {
                prop_assert_eq!(set.allows(&permission), expected);
            }
        }
    }

    proptest! {
        #[test]
        fn an_intersection_covers_what_both_sets_cover(
            one in proptest::collection::vec(pattern(), 0..6),
            other in proptest::collection::vec(pattern(), 0..6),
            wanted in pattern(),
        ) {
            let (one, other): (PermissionSet, PermissionSet) = (one.into_iter().collect(), other.into_iter().collect());
            let both = one.intersection(&other);
            prop_assert_eq!(both.covers(&wanted), one.covers(&wanted) && other.covers(&wanted));
        }
    }

    #[test]
    fn all_present_actions_do_not_cover_the_wildcard() {
        let four: PermissionSet = ["users:create", "users:read", "users:update", "users:delete"]
            .map(|text| text.parse().unwrap())
            .into_iter()
            .collect();
        assert!(!four.covers(&"users:*".parse().unwrap()));
        let wildcard: PermissionSet = [("users:*").parse().unwrap()].into_iter().collect();
        assert!(four.beyond(&wildcard).is_empty());
        assert_eq!(wildcard.beyond(&four), wildcard);
    }
}
