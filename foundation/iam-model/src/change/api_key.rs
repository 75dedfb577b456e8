use std::borrow::Cow;

use uuid::Uuid;

use crate::access::{CoveredBy, GrantedRights, ResourceScope, Until};
use crate::api_key::ApiKey;
use crate::assignment::GrantOrganization;
use crate::audit::{Record, ResourceType, action};
use crate::clock::shown;
use crate::context::Author;
use crate::permission::PermissionPattern;

/// A change of API keys.
#[derive(Clone, Debug)]
pub enum ApiKeyChange {
    /// A key is made.
    Create {
        /// The key.
        key: ApiKey,
        /// The organization of the key, on which the granted rights depend if another user makes it; `None` if it has
        /// none, or if it was not read.
        organization: Option<GrantOrganization>,
    },
    /// Fields of a key change.
    Update {
        /// The key before the change.
        before: Box<ApiKey>,
        /// The key after the change.
        after: ApiKey,
        /// The organization of the key, as for [`Create`](Self::Create).
        organization: Option<GrantOrganization>,
    },
    /// A key gets a new secret.
    Rotate {
        /// The key after the change.
        after: ApiKey,
        /// The organization of the key, as for [`Create`](Self::Create).
        organization: Option<GrantOrganization>,
    },
    /// Keys are revoked, and removed.
    Delete(Vec<ApiKey>),
}

impl ApiKeyChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Create { key, .. } => vec![of(key, action::CREATE).creating(&key.audited())],
            Self::Update { before, after, .. } => {
                vec![of(after, action::UPDATE).changing(&before.audited(), &after.audited()).listing_changed_fields()]
            }
            Self::Rotate { after, .. } => {
                let former_until = after.secret.former.as_ref().map(|former| shown(former.until));
                vec![of(after, action::UPDATE).with("isRotated", true).with("formerUntil", former_until)]
            }
            Self::Delete(keys) => keys.iter().map(|key| of(key, action::DELETE).deleting(&key.audited())).collect(),
        }
    }

    /// Returns the rights that an author who can use the key of another user may get by it: the permissions of the key,
    /// whether or not its user holds them yet.
    pub(crate) fn granted_rights(&self, author: &Author) -> Vec<GrantedRights<'_>> {
        let (key, organization) = match self {
            Self::Create { key, organization } => (key, organization),
            Self::Update { after, organization, .. } | Self::Rotate { after, organization } => (after, organization),
            Self::Delete(_) => return Vec::new(),
        };
        if author.user() == Some(key.user_id) {
            return Vec::new();
        }
        let everything = || Cow::Owned([PermissionPattern::everything()].into_iter().collect());
        let organization = organization.as_ref().filter(|organization| key.organization_id == Some(organization.id));
        vec![GrantedRights {
            permissions: key.permissions.as_ref().map_or_else(everything, Cow::Borrowed),
            scope: organization.map_or(ResourceScope::Tenant, ResourceScope::OfGrant),
            until: Until::Moment(key.expires_at),
            covered_by: CoveredBy::Standing,
            // No user asks by a key.
            role: None,
        }]
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            // No request was authenticated by it yet.
            Self::Create { .. } => Vec::new(),
            Self::Update { after, .. } | Self::Rotate { after, .. } => vec![after.id.into()],
            Self::Delete(keys) => keys.iter().map(|key| key.id.into()).collect(),
        }
    }
}

fn of(key: &ApiKey, action: &'static str) -> Record {
    Record::new(action, ResourceType::API_KEY, key.id).with("targetUserId", serde_json::json!(key.user_id))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::access::Rights;
    use crate::access::testing::{TestTree, at, id};
    use crate::api_key::{ApiKeySecret, FormerSecret};
    use crate::audit::testing::author;
    use crate::change::{AuditBatch, Change};
    use crate::context::Actor;
    use crate::id::IdGenerator;
    use crate::random::SystemRandom;

    fn key() -> ApiKey {
        ApiKey {
            tenant_id: "00000001-0000-7000-8000-000000000000".parse().unwrap(),
            secret: ApiKeySecret { hash: [1; 32], former: Some(FormerSecret { hash: [2; 32], until: at(7) }) },
            expires_at: at(100),
            ..crate::api_key::tests::key(None, None)
        }
    }

    /// All kinds of changes of a key.
    fn changes_of(key: &ApiKey, organization: Option<&GrantOrganization>) -> [ApiKeyChange; 4] {
        let organization = || organization.cloned();
        let after = ApiKey { name: "daily".parse().unwrap(), ..key.clone() };
        [
            ApiKeyChange::Create { key: key.clone(), organization: organization() },
            ApiKeyChange::Update { before: Box::new(key.clone()), after, organization: organization() },
            ApiKeyChange::Rotate { after: key.clone(), organization: organization() },
            ApiKeyChange::Delete(vec![key.clone(), key.clone()]),
        ]
    }

    fn changes() -> [ApiKeyChange; 4] {
        changes_of(&key(), None)
    }

    #[test]
    fn every_change_is_recorded() {
        let recorded = changes().map(|change| {
            let (change, author) = (Change::from(change), author(key().tenant_id));
            let batch = AuditBatch::of(&change, &author, at(1), &IdGenerator::new(), &SystemRandom);
            batch.into_entries()
        });
        let actions = recorded.each_ref().map(|entries| entries.iter().map(|entry| &*entry.action).collect::<Vec<_>>());
        assert_eq!(actions, [vec!["CREATE"], vec!["UPDATE"], vec!["UPDATE"], vec!["DELETE"; 2]]);
        let [created, updated, rotated, deleted] = &recorded;
        let fields = json!({
            "name": "nightly", "permissions": null, "organizationId": null, "expiresAt": "1970-01-01T00:01:40.000Z",
        });
        assert_eq!((json!(created[0].new_value), json!(deleted[0].old_value)), (fields.clone(), fields));
        assert_eq!(json!(updated[0].new_value), json!({ "name": "daily" }));
        assert_eq!(rotated[0].metadata["formerUntil"], "1970-01-01T00:00:07.000Z");
        assert!(recorded.iter().flatten().all(|entry| entry.metadata["targetUserId"] == json!(key().user_id)));
    }

    #[test]
    fn the_author_of_a_key_of_another_user_gets_its_permissions_where_and_as_long_as_the_key_has_them() {
        let system = author(key().tenant_id);
        let by =
            |user: &str| Author { actor: Actor::User { user: id(user), session: id("session") }, ..system.clone() };
        for (author, expected) in [(by("user"), [0; 4]), (by("other"), [1, 1, 1, 0]), (system.clone(), [1, 1, 1, 0])] {
            let granted = changes().map(|change| change.granted_rights(&author).len());
            assert_eq!(granted, expected, "{author:?}");
        }
        let test_tree = TestTree::new();
        let branch = test_tree.grant("users:read", Some("branch"), None).organization;
        let in_branch = ApiKey { organization_id: Some(id("branch")), ..key() };
        let only = |pattern: &str| Some([pattern.parse().unwrap()].into_iter().collect());
        let narrow = ApiKey { permissions: only("users:read"), ..in_branch.clone() };
        let everywhere = ApiKey { permissions: only("users:read"), ..key() };
        // A holder of the permission, where it holds it and until when, and whether it may make the key.
        for (key, organization, held, expected) in [
            (&narrow, &branch, ("users:read", Some("branch"), Some(at(100))), true),
            (&narrow, &branch, ("users:*", Some("root"), None), true),
            (&narrow, &branch, ("users:read", Some("branch"), Some(at(99))), false),
            (&narrow, &branch, ("users:read", Some("team"), None), false),
            (&narrow, &branch, ("users:update", Some("branch"), None), false),
            (&narrow, &None, ("users:read", Some("branch"), None), false),
            (&everywhere, &branch, ("users:read", Some("branch"), None), false),
            (&everywhere, &None, ("users:read", None, None), true),
            // A key without named permissions has all that its user will ever hold.
            (&in_branch, &branch, ("users:*", Some("branch"), None), false),
            (&in_branch, &branch, ("*", Some("branch"), None), true),
            (
                &ApiKey { permissions: Some([].into_iter().collect()), ..everywhere.clone() },
                &None,
                ("roles:read", None, None),
                true,
            ),
        ] {
            let authority = test_tree.holding(held.0, held.1, held.2);
            for change in &changes_of(key, organization.as_ref())[..3] {
                let granted = change.granted_rights(&by("other"));
                let passes = Rights::new(&authority, at(1)).check_escalation(granted).is_ok();
                assert_eq!(passes, expected, "{held:?} {change:?}");
            }
        }
    }

    #[test]
    fn a_change_ends_what_is_cached_of_the_key() {
        let ended = changes().map(|change| change.invalidates());
        let key = Uuid::from(key().id);
        assert_eq!(ended, [vec![], vec![key], vec![key], vec![key, key]]);
    }
}
