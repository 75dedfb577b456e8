//! API keys: how programs authenticate (`docs/http-api.md#api-keys`).

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::access::ResourceScope;
use crate::assignment::{Grant, GrantOrganization};
use crate::clock::{Timestamp, shown};
use crate::id::{ApiKeyId, OrganizationId, RoleId, TenantId, UserId};
use crate::permission::PermissionSet;
use crate::role::Role;
use crate::validate::Name;
use crate::version::Version;

/// A key by which a program acts as a user, with at most the rights of that user.
///
/// As JSON, it has no secret. So a stored answer to a request gives nothing away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// Identifies the key. It is a part of the key's text, and no secret.
    pub id: ApiKeyId,
    /// The tenant of the user.
    pub tenant_id: TenantId,
    /// The user whose rights the key has.
    pub user_id: UserId,
    /// A name for human readers.
    pub name: Name,
    /// The verifier of the key's secret.
    #[serde(skip)]
    pub secret: ApiKeySecret,
    /// The only permissions that the key has, as far as its user holds them. `None` for all permissions of its user.
    pub permissions: Option<PermissionSet>,
    /// The organization in which, and below which, the key has its permissions. `None` for everywhere.
    pub organization_id: Option<OrganizationId>,
    /// The instant from which on the key is refused.
    pub expires_at: Timestamp,
    /// When the key was made.
    pub created_at: Timestamp,
    /// The user who made it; `None` for trusted code.
    pub created_by: Option<UserId>,
    /// Whether its user has rotated it, so that a person who had stolen a session may know a secret of it.
    #[serde(skip)]
    pub rotated_by_owner: bool,
    /// When a request was last authenticated by it, up to [`USE_INTERVAL`](Self::USE_INTERVAL) too early.
    pub last_used_at: Option<Timestamp>,
    /// The version of the row.
    pub version: Version,
}

/// The verifier of the secret of a key. It contains no secret in plain text. The default is that of a key that was read
/// from a stored answer: no text has this hash.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ApiKeySecret {
    /// SHA-256 of the secret.
    pub hash: [u8; 32],
    /// The secret before the last rotation, while it is still valid.
    pub former: Option<FormerSecret>,
}

/// The secret that a rotation has replaced.
#[derive(Clone, PartialEq, Eq)]
pub struct FormerSecret {
    /// SHA-256 of the secret.
    pub hash: [u8; 32],
    /// The instant from which on it is refused.
    pub until: Timestamp,
}

impl fmt::Debug for ApiKeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKeySecret([REDACTED])")
    }
}

impl fmt::Debug for FormerSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FormerSecret([REDACTED])")
    }
}

impl ApiKey {
    /// The maximum number of keys of a user, also expired ones.
    pub const MAX: usize = 20;

    /// How long a key is valid if nothing else is said: 90 days.
    pub const DEFAULT_LIFETIME: TimeDelta = TimeDelta::days(90);

    /// How long a key can be valid: 365 days.
    pub const MAX_LIFETIME: TimeDelta = TimeDelta::days(365);

    /// How long the former secret stays valid after a rotation, at most: one day.
    pub const MAX_OVERLAP: TimeDelta = TimeDelta::days(1);

    /// The time between two writes of [`last_used_at`](Self::last_used_at): one hour.
    pub const USE_INTERVAL: TimeDelta = TimeDelta::hours(1);

    /// Whether the key has not expired.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// Whether the use of the key at a moment is to be written.
    #[must_use]
    pub fn is_use_due(last_used_at: Option<Timestamp>, now: Timestamp) -> bool {
        last_used_at.is_none_or(|last| now - last >= Self::USE_INTERVAL)
    }

    /// Whether its user knows a secret of it, because it has made or rotated the key. So may a thief of the account, and
    /// the key must not outlive the reset of the password by mail.
    #[must_use]
    pub fn is_known_to_owner(&self) -> bool {
        self.rotated_by_owner || self.created_by == Some(self.user_id)
    }

    /// Returns the key after a change of other fields. The store raises the version by the same step.
    #[must_use]
    pub fn changed(self) -> Self {
        Self { version: self.version.next(), ..self }
    }

    /// Returns the grants of the key, from those of its user: a grant of each role with only the permissions of the
    /// key, in only the organization of the key or below. So one evaluator answers for users and for keys. A key never
    /// has what its user holds by an access request (`docs/access-requests.md#api-keys`).
    ///
    /// `organization` is the organization of the key. If it is unknown, the key has nothing.
    #[must_use]
    pub fn narrowed(&self, grants: &[Grant], organization: Option<&GrantOrganization>) -> Vec<Grant> {
        // A user may have one role in a thousand organizations.
        let mut roles: HashMap<RoleId, Arc<Role>> = HashMap::new();
        let mut narrowed = |grant: &Grant| {
            let role = roles.entry(grant.role.id).or_insert_with(|| self.narrowed_role(&grant.role));
            self.narrowed_grant(grant, Arc::clone(role), organization)
        };
        grants.iter().filter(|grant| grant.assignment.is_standing()).filter_map(&mut narrowed).collect()
    }

    fn narrowed_role(&self, role: &Arc<Role>) -> Arc<Role> {
        match &self.permissions {
            None => Arc::clone(role),
            Some(permissions) => {
                let permissions = role.permissions.intersection(permissions);
                Arc::new(Role { permissions, ..Role::clone(role) })
            }
        }
    }

    fn narrowed_grant(
        &self,
        grant: &Grant,
        role: Arc<Role>,
        organization: Option<&GrantOrganization>,
    ) -> Option<Grant> {
        let Some(limit) = self.organization_id else { return Some(Grant { role, ..grant.clone() }) };
        let limit = organization.filter(|organization| organization.id == limit)?;
        if grant.is_within(&[limit.id]) {
            return Some(Grant { role, ..grant.clone() });
        }
        let covers_limit = match grant.scope() {
            ResourceScope::Tenant => grant.assignment.organization_id.is_none(),
            scope => scope.organization().is_some_and(|above| limit.lineage.contains(&above)),
        };
        // What is held above also counts below a suspended organization.
        let organization = GrantOrganization { is_lineage_active: grant.is_lineage_active(), ..limit.clone() };
        let assignment = crate::assignment::Assignment { organization_id: Some(limit.id), ..grant.assignment.clone() };
        covers_limit.then_some(Grant { assignment, role, organization: Some(organization) })
    }

    /// Returns the fields that the audit log records. An erasure removes the name, which may be that of a person.
    pub(crate) fn audited(&self) -> Value {
        json!({
            "name": self.name.as_str(),
            "permissions": self.permissions,
            "organizationId": self.organization_id,
            "expiresAt": shown(self.expires_at),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::access::Authority;
    use crate::access::testing::{TestTree, at, id};
    use crate::permission::Permission;

    const PLACES: [&str; 5] = ["root", "branch", "team", "other", "asleep"];

    pub(crate) fn key(permissions: Option<&[&str]>, organization: Option<&str>) -> ApiKey {
        ApiKey {
            id: id("key"),
            tenant_id: TenantId::NONE,
            user_id: id("user"),
            name: "nightly".parse().unwrap(),
            secret: ApiKeySecret { hash: [1; 32], former: Some(FormerSecret { hash: [2; 32], until: at(0) }) },
            permissions: permissions.map(|texts| texts.iter().map(|text| text.parse().unwrap()).collect()),
            organization_id: organization.map(id),
            expires_at: at(10),
            created_at: at(0),
            created_by: None,
            rotated_by_owner: false,
            last_used_at: None,
            version: Version::FIRST,
        }
    }

    fn organization(test_tree: &TestTree, name: &str) -> GrantOrganization {
        test_tree.hierarchy.node(id(name)).unwrap().into()
    }

    fn places() -> impl Iterator<Item = Option<&'static str>> {
        std::iter::once(None).chain(PLACES.map(Some))
    }

    #[test]
    fn a_key_may_do_what_its_user_may_do_within_its_permissions_and_its_organization() {
        let test_tree = TestTree::new();
        let scope = |place: Option<&str>| place.map_or(ResourceScope::Tenant, |place| test_tree.scope(place));
        let limits: [Option<&[&str]>; 5] = [None, Some(&[]), Some(&["users:read"]), Some(&["*"]), Some(&["users:*"])];
        let asked: [Permission; 3] = ["users:read", "users:delete", "roles:read"].map(|text| text.parse().unwrap());
        let mut allowed = 0;
        for (pattern, held) in
            ["*", "users:*", "users:read"].into_iter().flat_map(|one| places().map(move |at| (one, at)))
        {
            let grants = [test_tree.grant(pattern, held, Some(at(5)))];
            let user = Authority::of(&grants);
            for (limit, place) in limits.into_iter().flat_map(|limit| places().map(move |place| (limit, place))) {
                let key = key(limit, place);
                let organization = place.map(|place| organization(&test_tree, place));
                let of_key = Authority::of(&key.narrowed(&grants, organization.as_ref()));
                for (permission, at_scope) in asked.iter().flat_map(|one| places().map(move |at| (one, at))) {
                    let is_within = place.is_none_or(|place| scope(at_scope).is_within(id(place)));
                    let is_permitted = key.permissions.as_ref().is_none_or(|limit| limit.allows(permission));
                    for moment in [at(4), at(5)] {
                        let expected = is_within && is_permitted && user.allows(permission, scope(at_scope), moment);
                        let found = of_key.allows(permission, scope(at_scope), moment);
                        assert_eq!(found, expected, "{pattern} {held:?} {limit:?} {place:?} {permission} {at_scope:?}");
                        allowed += usize::from(found);
                    }
                }
            }
        }
        assert!(allowed > 200, "{allowed}");
    }

    #[test]
    fn a_key_never_has_what_its_user_holds_by_an_access_request() {
        let test_tree = TestTree::new();
        let standing = test_tree.grant("users:read", None, None);
        let mut elevation = test_tree.grant("*", None, Some(at(5)));
        elevation.assignment.access_request_id = Some(id("request"));
        let grants = [elevation, standing.clone()];
        for key in [key(None, None), key(Some(&["*"]), None)] {
            let held = key.narrowed(&grants, None);
            assert_eq!(held.iter().map(|grant| grant.assignment.id).collect::<Vec<_>>(), [standing.assignment.id]);
            assert!(!Authority::of(&held).allows(&"roles:read".parse().unwrap(), ResourceScope::Tenant, at(0)));
        }
    }

    #[test]
    fn a_key_of_an_unknown_organization_has_nothing() {
        let test_tree = TestTree::new();
        let grants = [test_tree.grant("*", None, None), test_tree.grant("*", Some("branch"), None)];
        assert_eq!(key(None, Some("branch")).narrowed(&grants, None), []);
        assert_eq!(key(None, Some("branch")).narrowed(&grants, Some(&organization(&test_tree, "other"))), []);
        assert_eq!(key(None, None).narrowed(&grants, None), grants);
    }

    #[test]
    fn a_grant_whose_organization_is_unknown_gives_a_limited_key_nothing() {
        let test_tree = TestTree::new();
        let grant = Grant { organization: None, ..test_tree.grant("*", Some("root"), None) };
        assert_eq!(key(None, Some("branch")).narrowed(&[grant], Some(&organization(&test_tree, "branch"))), []);
    }

    #[test]
    fn a_key_is_live_until_the_instant_of_its_expiry_and_its_use_is_due_once_an_hour() {
        let key = key(None, None);
        assert!(key.is_live(at(9)) && !key.is_live(at(10)));
        assert!(ApiKey::is_use_due(None, at(0)));
        assert!(!ApiKey::is_use_due(Some(at(0)), at(3599)) && ApiKey::is_use_due(Some(at(0)), at(3600)));
    }

    #[test]
    fn a_change_raises_the_version_and_the_audit_log_has_no_secret() {
        let key = key(Some(&["users:read"]), Some("branch"));
        assert_eq!(key.clone().changed().version, key.version.next());
        let expected = json!({
            "name": "nightly",
            "permissions": ["users:read"],
            "organizationId": id::<OrganizationId>("branch"),
            "expiresAt": "1970-01-01T00:00:10.000Z",
        });
        assert_eq!(key.audited(), expected);
    }

    #[test]
    fn debug_does_not_show_the_secret() {
        let shown = format!("{:?}", key(None, None));
        assert!(shown.contains("ApiKeySecret([REDACTED])") && !shown.contains("hash"), "{shown}");
        let former = FormerSecret { hash: [2; 32], until: at(0) };
        assert_eq!(format!("{former:?}"), "FormerSecret([REDACTED])");
    }
}
