//! Permissions of applications whose names are reserved now (migration 0029).
//!
//! Before, an application could register `domains:read`, and the migration that made this resource built in took the
//! permission over, with all roles that held it. Now it becomes `app-domains:read`, in every role and key that held it
//! for the application.
//!
//! SQL cannot write audit entries. So the migration lists the tenants that may have such names, and the stores rename
//! them afterwards, before the store is used: in one transaction for each tenant, by ordinary changes with their
//! entries. After an interruption, the next start continues with the tenants that are left.

use std::collections::{BTreeMap, BTreeSet};

use iam_model::access::Until;
use iam_model::api_key::ApiKey;
use iam_model::change::{ApiKeyChange, AuditBatch, Change, PermissionChange, RoleChange};
use iam_model::clock::Timestamp;
use iam_model::context::{Actor, Author, RequestContext};
use iam_model::history::{Past, Versions};
use iam_model::id::{IdGenerator, RoleId, TenantId};
use iam_model::permission::{
    BUILT_IN, PatternKind, Permission, PermissionPattern, PermissionSet, RegisteredPermission, built_in_permissions,
    is_reserved_resource,
};
use iam_model::random::SystemRandom;
use iam_model::role::Role;
use iam_model::store::Transaction;
use iam_model::store_error::StoreError;
use iam_model::validate::Description;

use crate::column::parse;
use crate::migration::{Applied, installed_at};

/// Why the changes are made, as their audit entries say.
const REASON: &str = "renaming of reserved permissions";

/// The reserved resources that became built in before names were reserved, each with its migration.
const BUILT_IN_BY: [(&str, i64); 3] = [("domains", 24), ("identity-providers", 25), ("directories", 27)];

/// How many characters of an action are kept, if need be by a shorter resource.
const KEPT_OF_ACTION: usize = 59;

/// Since when the permissions of a resource could be given for what the service does with them.
#[derive(Clone, Debug, Default)]
pub struct BuiltInSince(Vec<(&'static str, Timestamp)>);

impl BuiltInSince {
    /// Takes the migrations that had run before this start. No server has served since the others ran.
    #[must_use]
    pub fn of(applied: &[Applied]) -> Self {
        let since = |(resource, version)| Some((resource, installed_at(applied, version)?));
        Self(BUILT_IN_BY.into_iter().filter_map(since).collect())
    }

    fn get(&self, pattern: &PermissionPattern) -> Option<Timestamp> {
        self.0.iter().find(|(resource, _)| pattern.resource() == Some(*resource)).map(|(_, since)| *since)
    }
}

/// Everything of a tenant that names permissions. It must not change meanwhile.
#[derive(Debug)]
pub struct TenantNames {
    /// The tenant.
    pub tenant_id: TenantId,
    /// When the tenant was created. Its built-in permissions have the same moment, also those that a migration added.
    pub created_at: Timestamp,
    /// The catalogue.
    pub permissions: Vec<RegisteredPermission>,
    /// All roles.
    pub roles: Vec<Role>,
    /// All past versions of roles, also of deleted ones.
    pub past_roles: Vec<Past<Role>>,
    /// The API keys that name permissions.
    pub keys: Vec<ApiKey>,
}

impl TenantNames {
    /// Returns what renames the permissions of the application.
    ///
    /// A pattern of a role or of a key is the application's if it was there when its resource became built in. It gets
    /// the new name alone, so that it gives no right of the service. A later one can have been meant for both, and keeps
    /// both rights by both names.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] if a new name were malformed.
    pub fn renaming(&self, since: &BuiltInSince, now: Timestamp, ids: &IdGenerator) -> Result<Renaming, StoreError> {
        let registered: Vec<&RegisteredPermission> =
            self.permissions.iter().filter(|permission| self.is_of_application(permission)).collect();
        let rules = Rules { since, names: self.new_names()?, registered: patterns_of(&registered) };
        let mut changes = self.changes_of_catalogue(&registered, &rules.names, now, ids)?;

        let versions = Versions::new(self.roles.iter().cloned(), self.past_roles.iter().cloned());
        let had = |role: RoleId, pattern: &PermissionPattern, at| {
            versions.at(role, at).is_some_and(|version| version.permissions.iter().any(|held| held == pattern))
        };
        let (mut ended, mut given) = (Vec::new(), BTreeSet::new());
        for role in &self.roles {
            let permissions = rules.replace(&role.permissions, |pattern, since| had(role.id, pattern, since));
            if permissions != role.permissions {
                given.extend(permissions.iter().cloned());
                ended.push(Past { version: role.clone(), until: now });
                let after = Role { permissions, ..role.clone() }.changed(now);
                changes.push(RoleChange::Update { before: role.clone(), after, held_until: Until::Forever }.into());
            }
        }
        for key in &self.keys {
            let Some(held) = &key.permissions else { continue };
            let permissions = rules.replace(held, |_, since| key.created_at <= since);
            if permissions != *held {
                given.extend(permissions.iter().cloned());
                let after = ApiKey { permissions: Some(permissions), ..key.clone() }.changed();
                changes.push(ApiKeyChange::Update { before: Box::new(key.clone()), after, organization: None }.into());
            }
        }
        let replaced = |past: Past<Role>| {
            let permissions = rules.replace(&past.version.permissions, |pattern, since| {
                past.until <= since || had(past.version.id, pattern, since)
            });
            let is_changed = permissions != past.version.permissions;
            is_changed.then_some(Past { version: Role { permissions, ..past.version }, until: past.until })
        };
        let past_roles = self.past_roles.iter().cloned().chain(ended).filter_map(replaced).collect();

        let is_renamed = |(old, new): &(PermissionPattern, PermissionPattern)| {
            given.contains(new) || registered.iter().any(|permission| permission.name.as_str() == old.as_str())
        };
        let renamed = rules.names.into_iter().filter(is_renamed).collect();
        Ok(Renaming { tenant_id: self.tenant_id, now, changes, past_roles, renamed })
    }

    /// Whether an application registered a permission with a reserved name. A migration may have taken it over.
    fn is_of_application(&self, permission: &RegisteredPermission) -> bool {
        is_reserved_resource(permission.name.resource())
            && (!permission.system || permission.created_at != self.created_at)
    }

    /// Returns the new name of every pattern of a reserved resource. The new resources are in no use, so they give
    /// nothing to a role that holds another wildcard.
    fn new_names(&self) -> Result<BTreeMap<PermissionPattern, PermissionPattern>, StoreError> {
        let of_roles = self.roles.iter().chain(self.past_roles.iter().map(|past| &past.version));
        let of_keys = self.keys.iter().filter_map(|key| key.permissions.as_ref());
        let held = of_roles.map(|role| &role.permissions).chain(of_keys).flat_map(|set| set.iter().cloned());
        let registered = self.permissions.iter().map(|permission| PermissionPattern::from(&permission.name));
        let patterns: BTreeSet<PermissionPattern> = registered.chain(held).collect();

        let (mut taken, mut reserved) = (BTreeSet::new(), BTreeMap::<&str, Vec<&PermissionPattern>>::new());
        for pattern in &patterns {
            let Some(resource) = pattern.resource() else { continue };
            taken.insert(resource.to_owned());
            if is_reserved_resource(resource) {
                reserved.entry(resource).or_default().push(pattern);
            }
        }
        let mut names = BTreeMap::new();
        for (resource, patterns) in reserved {
            let longest = patterns.iter().filter_map(|pattern| action_of(pattern)).map(str::len).max();
            let free = free_resource(resource, longest.unwrap_or_default(), &taken);
            let mut actions = BTreeSet::new();
            for pattern in patterns {
                let new = match action_of(pattern) {
                    Some(action) => format!("{free}:{}", free_action(action, free.len(), &mut actions)),
                    None => format!("{free}:*"),
                };
                names.insert(pattern.clone(), parse("permissions.name", new)?);
            }
            taken.insert(free);
        }
        Ok(names)
    }

    /// Returns the changes of the catalogue. The built-in permissions whose names an application had come back.
    fn changes_of_catalogue(
        &self,
        registered: &[&RegisteredPermission],
        names: &BTreeMap<PermissionPattern, PermissionPattern>,
        now: Timestamp,
        ids: &IdGenerator,
    ) -> Result<Vec<Change>, StoreError> {
        let mut changes = Vec::new();
        for permission in registered {
            let Some(new) = names.get(&PermissionPattern::from(&permission.name)) else { continue };
            let name: Permission = parse("permissions.name", new.as_str())?;
            // The migration has replaced the description, too.
            let description = if permission.system { Description::default() } else { permission.description.clone() };
            let renamed = RegisteredPermission {
                id: ids.next(now, &SystemRandom),
                name,
                description,
                system: false,
                ..RegisteredPermission::clone(permission)
            };
            changes.push(PermissionChange::Delete(RegisteredPermission::clone(permission)).into());
            let (wildcard_roles, held_until) = (Some(Vec::new()), Until::Forever);
            changes.push(PermissionChange::Create { permission: renamed, wildcard_roles, held_until }.into());
        }
        let mut built_in = built_in_permissions(self.tenant_id, self.created_at, || ids.next(now, &SystemRandom))
            .map_err(|cause| StoreError::corrupt("permissions", cause))?;
        built_in.retain(|built_in| registered.iter().any(|permission| permission.name == built_in.name));
        if !built_in.is_empty() {
            changes.push(PermissionChange::CreateBuiltIn(built_in).into());
        }
        Ok(changes)
    }
}

/// What renames the permissions of an application in a tenant.
#[derive(Debug)]
pub struct Renaming {
    tenant_id: TenantId,
    now: Timestamp,
    changes: Vec<Change>,
    /// The past versions of roles with the new names: also those that the changes end.
    pub past_roles: Vec<Past<Role>>,
    renamed: Vec<(PermissionPattern, PermissionPattern)>,
}

impl Renaming {
    /// Writes the changes with their audit entries. Their author is trusted code.
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn write(&self, transaction: &mut dyn Transaction, ids: &IdGenerator) -> Result<(), StoreError> {
        let author = Author {
            actor: Actor::System { reason: REASON.into() },
            impersonator: None,
            tenant: self.tenant_id,
            directory: None,
            context: RequestContext::default(),
        };
        for change in &self.changes {
            let batch = AuditBatch::of(change, &author, self.now, ids, &SystemRandom);
            transaction.write(change, batch).await?;
        }
        Ok(())
    }

    /// Logs the names. To be called after the commit.
    pub fn report(&self) {
        for (permission, renamed) in &self.renamed {
            tracing::warn!(
                tenant = %self.tenant_id,
                %permission,
                %renamed,
                "an application had registered a reserved name: it must ask for the new one"
            );
        }
    }
}

/// How the patterns of roles and keys are replaced.
struct Rules<'a> {
    since: &'a BuiltInSince,
    names: BTreeMap<PermissionPattern, PermissionPattern>,
    /// The permissions of the application, and the wildcards of their resources.
    registered: BTreeSet<PermissionPattern>,
}

impl Rules<'_> {
    /// Returns the patterns after the renaming. `was_held` says whether the holder had a pattern at a moment.
    fn replace(&self, held: &PermissionSet, was_held: impl Fn(&PermissionPattern, Timestamp) -> bool) -> PermissionSet {
        let replaced = |pattern: &PermissionPattern| {
            let Some(new) = self.names.get(pattern) else { return [Some(pattern.clone()), None] };
            let is_registered = self.registered.contains(pattern);
            let is_of_application = self.since.get(pattern).is_none_or(|since| was_held(pattern, since))
                || is_registered && !is_of_service(pattern);
            if is_of_application {
                [None, Some(new.clone())]
            } else {
                [Some(pattern.clone()), is_registered.then(|| new.clone())]
            }
        };
        held.iter().flat_map(replaced).flatten().collect()
    }
}

/// Whether a pattern of a built-in resource gives a right of the service.
fn is_of_service(pattern: &PermissionPattern) -> bool {
    matches!(pattern.kind(), PatternKind::Resource(_))
        || BUILT_IN.iter().any(|(permission, _)| permission.as_str() == pattern.as_str())
}

fn patterns_of(registered: &[&RegisteredPermission]) -> BTreeSet<PermissionPattern> {
    let patterns = |permission: &&RegisteredPermission| {
        [PermissionPattern::from(&permission.name), PermissionPattern::whole_resource_of(&permission.name)]
    };
    registered.iter().flat_map(patterns).collect()
}

/// The action of a pattern; `None` for a wildcard.
fn action_of(pattern: &PermissionPattern) -> Option<&str> {
    match pattern.kind() {
        PatternKind::Exact(permission) => permission.split_once(':').map(|(_, action)| action),
        PatternKind::Everything | PatternKind::Resource(_) => None,
    }
}

/// Returns the first of `app-<resource>`, `app2-<resource>`, … that is not taken. It is cut if its longest permission
/// would be too long.
fn free_resource(resource: &str, longest_action: usize, taken: &BTreeSet<String>) -> String {
    let room = Permission::MAX_LENGTH - 1 - longest_action.min(KEPT_OF_ACTION);
    let mut free = cut(&format!("app-{resource}"), room);
    let mut number: u32 = 1;
    while taken.contains(&free) {
        number += 1;
        free = cut(&format!("app{number}-{resource}"), room);
    }
    free
}

/// Returns an action that fits behind a resource of this length, and takes it. If a cut one is taken, it ends with a
/// number.
fn free_action(action: &str, resource: usize, taken: &mut BTreeSet<String>) -> String {
    let room = Permission::MAX_LENGTH.saturating_sub(resource + 1);
    let mut free = cut(action, room);
    let mut number: u32 = 1;
    while taken.contains(&free) {
        number += 1;
        let end = format!("-{number}");
        free = cut(action, room.saturating_sub(end.len())) + &end;
    }
    taken.insert(free.clone());
    free
}

/// Returns the beginning of a name, which is ASCII.
fn cut(name: &str, length: usize) -> String {
    name.chars().take(length).collect()
}

#[cfg(test)]
mod tests {
    use iam_model::api_key::ApiKeySecret;
    use iam_model::role::RoleScope;
    use iam_model::version::Version;
    use uuid::Uuid;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp_secs(seconds).unwrap()
    }

    fn id<T: From<Uuid>>(number: u128) -> T {
        Uuid::from_u128(0x0000_0001_0000_7000_8000_0000_0000_0000 + number).into()
    }

    fn set(patterns: &[&str]) -> PermissionSet {
        patterns.iter().map(|pattern| pattern.parse().unwrap()).collect()
    }

    fn shown(set: &PermissionSet) -> String {
        set.iter().map(PermissionPattern::as_str).collect::<Vec<_>>().join(" ")
    }

    /// A permission of an application, or a built-in one of a tenant that was created at second 0.
    fn permission(name: &str, system: bool, created_at: i64) -> RegisteredPermission {
        RegisteredPermission {
            id: id(1),
            tenant_id: id(0),
            name: name.parse().unwrap(),
            description: "Of the application".parse().unwrap(),
            system,
            created_at: at(created_at),
        }
    }

    fn role(permissions: &[&str], created_at: i64) -> Role {
        Role {
            id: id(2),
            tenant_id: id(0),
            name: "CLERK".parse().unwrap(),
            description: Description::default(),
            scope: RoleScope::Any,
            permissions: set(permissions),
            system: false,
            created_at: at(created_at),
            updated_at: at(created_at),
            version: Version::FIRST,
        }
    }

    fn key(permissions: &[&str], created_at: i64) -> ApiKey {
        ApiKey {
            id: id(3),
            tenant_id: id(0),
            user_id: id(4),
            name: "nightly".parse().unwrap(),
            secret: ApiKeySecret::default(),
            permissions: Some(set(permissions)),
            organization_id: None,
            expires_at: at(10_000),
            created_at: at(created_at),
            created_by: None,
            rotated_by_owner: false,
            last_used_at: None,
            version: Version::FIRST,
        }
    }

    fn tenant(permissions: Vec<RegisteredPermission>) -> TenantNames {
        let (roles, past_roles, keys) = (Vec::new(), Vec::new(), Vec::new());
        TenantNames { tenant_id: id(0), created_at: at(0), permissions, roles, past_roles, keys }
    }

    fn renaming(names: &TenantNames, since: &BuiltInSince) -> Renaming {
        names.renaming(since, at(1_000), &IdGenerator::new()).unwrap()
    }

    /// The changes, one in a line.
    fn changes(renaming: &Renaming) -> Vec<String> {
        let line = |change: &Change| match change {
            Change::Permission(PermissionChange::Delete(permission)) => format!("- {}", permission.name),
            Change::Permission(PermissionChange::Create { permission, .. }) => format!("+ {}", permission.name),
            Change::Permission(PermissionChange::CreateBuiltIn(permissions)) => {
                permissions.iter().map(|permission| format!("* {}", permission.name)).collect::<Vec<_>>().join(" ")
            }
            Change::Role(RoleChange::Update { after, .. }) => format!("role {}", shown(&after.permissions)),
            Change::ApiKey(ApiKeyChange::Update { after, .. }) => {
                format!("key {}", shown(after.permissions.as_ref().unwrap()))
            }
            other => panic!("{other:?}"),
        };
        renaming.changes.iter().map(line).collect()
    }

    fn since(resource: &'static str, seconds: i64) -> BuiltInSince {
        BuiltInSince(vec![(resource, at(seconds))])
    }

    #[test]
    fn all_names_of_an_application_change_where_no_server_has_served_with_the_built_in_ones() {
        let mut names = tenant(vec![
            permission("domains:create", true, 0),
            // A migration has taken it over.
            permission("domains:read", true, 10),
            permission("domains:transfer", false, 10),
            permission("iam-x:go", false, 10),
            permission("orders:refund", false, 10),
            permission("users:read", true, 0),
        ]);
        let held = ["domains:read", "domains:transfer", "domains:*", "iam-x:go", "orders:refund", "users:*"];
        names.roles = vec![role(&held, 20), role(&["*", "users:read"], 20)];
        names.past_roles = vec![Past { version: role(&["domains:read"], 20), until: at(30) }];
        names.keys = vec![key(&["domains:read", "users:read"], 20), key(&["users:read"], 20)];
        let renaming = renaming(&names, &BuiltInSince::default());
        let expected = [
            "- domains:read",
            "+ app-domains:read",
            "- domains:transfer",
            "+ app-domains:transfer",
            "- iam-x:go",
            "+ app-iam-x:go",
            "* domains:read",
            "role app-domains:* app-domains:read app-domains:transfer app-iam-x:go orders:refund users:*",
            "key app-domains:read users:read",
        ];
        assert_eq!(changes(&renaming), expected);
        let past: Vec<_> =
            renaming.past_roles.iter().map(|past| (shown(&past.version.permissions), past.until)).collect();
        let ended = expected[7].trim_start_matches("role ").to_owned();
        assert_eq!(past, [("app-domains:read".to_owned(), at(30)), (ended, at(1_000))]);
        let renamed: Vec<_> = renaming.renamed.iter().map(|(old, _)| old.as_str()).collect();
        assert_eq!(renamed, ["domains:*", "domains:read", "domains:transfer", "iam-x:go"]);
        for change in &renaming.changes {
            match change {
                Change::Permission(PermissionChange::Create { permission, .. }) => {
                    let was_taken_over = permission.name.as_str() == "app-domains:read";
                    assert_eq!(permission.description.as_str().is_empty(), was_taken_over);
                    assert_eq!((permission.system, permission.created_at), (false, at(10)));
                }
                Change::Permission(PermissionChange::CreateBuiltIn(permissions)) => {
                    assert_eq!((permissions[0].system, permissions[0].created_at), (true, at(0)));
                }
                Change::Role(RoleChange::Update { before, after, .. }) => {
                    assert_eq!((after.version, after.updated_at), (before.version.next(), at(1_000)));
                }
                Change::ApiKey(ApiKeyChange::Update { before, after, .. }) => {
                    assert_eq!(after.version, before.version.next());
                }
                _ => {}
            }
        }
    }

    /// The resource became built in at second 100.
    #[test]
    fn a_pattern_that_was_given_for_the_service_keeps_its_right() {
        let built_in = permission("domains:read", true, 0);
        let taken_over = permission("domains:read", true, 10);
        let other = permission("domains:transfer", false, 10);
        for (catalogue, pattern, early, late) in [
            (&built_in, "domains:read", "app-domains:read", "domains:read"),
            (&built_in, "domains:*", "app-domains:*", "domains:*"),
            (&taken_over, "domains:read", "app-domains:read", "app-domains:read domains:read"),
            (&taken_over, "domains:*", "app-domains:*", "app-domains:* domains:*"),
            (&other, "domains:transfer", "app-domains:transfer", "app-domains:transfer"),
            (&other, "domains:read", "app-domains:read", "domains:read"),
            (&other, "domains:*", "app-domains:*", "app-domains:* domains:*"),
        ] {
            let case = format!("{pattern} beside {} of {}", catalogue.name, catalogue.created_at);
            for (created_at, expected) in [(20, early), (200, late)] {
                let mut names = tenant(vec![catalogue.clone()]);
                names.roles = vec![role(&[pattern], created_at)];
                names.keys = vec![key(&[pattern], created_at)];
                let changes = changes(&renaming(&names, &since("domains", 100)));
                let given: Vec<&String> = changes.iter().filter(|change| change.starts_with("role ")).collect();
                let keys: Vec<&String> = changes.iter().filter(|change| change.starts_with("key ")).collect();
                if expected == pattern {
                    assert!(given.is_empty() && keys.is_empty(), "{case}: {changes:?}");
                } else {
                    assert_eq!((given, keys), (vec![&format!("role {expected}")], vec![&format!("key {expected}")]));
                }
            }
        }
    }

    /// The resource became built in at second 100, and the role has changed since.
    #[test]
    fn a_changed_role_keeps_no_right_that_it_held_for_the_application() {
        let mut names = tenant(vec![permission("domains:read", true, 10)]);
        names.roles = vec![role(&["domains:read", "domains:*", "orders:read"], 20)];
        names.past_roles = vec![
            Past { version: role(&["domains:*"], 20), until: at(50) },
            Past { version: role(&["domains:read"], 20), until: at(150) },
            Past { version: role(&["domains:read", "domains:*"], 20), until: at(160) },
        ];
        let renaming = renaming(&names, &since("domains", 100));
        let after = "app-domains:* app-domains:read domains:* orders:read";
        assert_eq!(changes(&renaming).last().unwrap(), &format!("role {after}"));
        let past: Vec<_> = renaming.past_roles.iter().map(|past| shown(&past.version.permissions)).collect();
        assert_eq!(past, ["app-domains:*", "app-domains:read", "app-domains:* app-domains:read domains:*", after]);
    }

    #[test]
    fn nothing_changes_in_a_tenant_without_names_of_an_application() {
        let mut names = tenant(vec![permission("domains:read", true, 0), permission("app-domains:x", false, 10)]);
        names.roles = vec![role(&["domains:*", "app-domains:*", "*"], 200)];
        names.keys = vec![key(&["domains:read"], 200)];
        let renaming = renaming(&names, &since("domains", 100));
        assert_eq!(changes(&renaming), Vec::<String>::new());
        assert!(renaming.past_roles.is_empty() && renaming.renamed.is_empty());
    }

    #[test]
    fn a_new_name_is_free_and_fits() {
        let long = |name: &str, length: usize| name.to_owned() + &"x".repeat(length);
        let (action, resource) = (long("eligibilities:", 106), long("iam-", 114));
        let other_action = long("eligibilities:", 105) + "y";
        for (registered, held, expected) in [
            (vec!["impersonations:x"], vec![], vec!["app-impersonations:x"]),
            // A wildcard that a role holds would contain the permission.
            (vec!["impersonations:x"], vec!["app-impersonations:*"], vec!["app2-impersonations:x"]),
            (
                vec!["impersonations:x", "app-impersonations:y", "app2-impersonations:z"],
                vec![],
                vec!["app3-impersonations:x"],
            ),
            (vec![action.as_str()], vec![], vec![&*long("app-eligibilities:", 102)]),
            (
                vec![action.as_str(), other_action.as_str()],
                vec![],
                vec![&*long("app-eligibilities:", 102), &*(long("app-eligibilities:", 100) + "-2")],
            ),
            (vec![&*(resource.clone() + ":x")], vec![], vec![&*(long("app-iam-", 110) + ":x")]),
            (
                vec![&*(resource.clone() + ":x"), &*(long("iam-", 113) + "y:x")],
                vec![],
                vec![&*(long("app-iam-", 110) + ":x"), &*(long("app2-iam-", 109) + ":x")],
            ),
        ] {
            let mut names = tenant(registered.iter().map(|name| permission(name, false, 10)).collect());
            names.roles = vec![role(&held, 20)];
            let changes = changes(&renaming(&names, &BuiltInSince::default()));
            let made: Vec<&str> = changes.iter().filter_map(|change| change.strip_prefix("+ ")).collect();
            assert_eq!(made, expected);
            assert!(made.iter().all(|name| name.parse::<Permission>().is_ok()));
        }
    }
}
