use iam_model::assignment::OfferedRole;
use iam_model::id::OrganizationId;

/// Returns the home of a person who accepts an invitation with these roles: the organization of one of them in which, or
/// below which, all of them are held. `None` for the tenant.
pub(crate) fn home_of(offered: &[OfferedRole]) -> Option<OrganizationId> {
    let places = offered.iter().map(|offered| offered.organization.as_ref()).collect::<Option<Vec<_>>>()?;
    let is_above_all = |home: &OrganizationId| places.iter().all(|place| place.lineage.contains(home));
    places.iter().map(|place| place.id).find(is_above_all)
}

#[cfg(test)]
mod tests {
    use iam_model::access::testing::{TestTree, id};

    use super::*;

    /// `root` is above `branch`, and `branch` above `team`; `other` is another root.
    #[test]
    fn the_home_of_an_invited_person_is_the_topmost_of_the_organizations_of_its_roles() {
        let test_tree = TestTree::new();
        let offered = |place: &Option<&str>| {
            let grant = test_tree.grant("users:read", *place, None);
            OfferedRole { role: grant.role, organization: grant.organization, expires_at: None }
        };
        let (root, branch, team, other) = (Some("root"), Some("branch"), Some("team"), Some("other"));
        for (places, expected) in [
            (vec![], None),
            (vec![None], None),
            (vec![team], team),
            (vec![team, team], team),
            (vec![team, branch], branch),
            (vec![branch, team], branch),
            (vec![team, root, branch], root),
            (vec![team, other], None),
            (vec![team, branch, other], None),
            (vec![team, None], None),
            (vec![None, root], None),
        ] {
            let roles: Vec<OfferedRole> = places.iter().map(offered).collect();
            assert_eq!(home_of(&roles), expected.map(id), "{places:?}");
        }
    }
}
