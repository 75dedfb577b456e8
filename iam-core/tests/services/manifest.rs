//! Manifests, applied and exported.

use iam_core::assignment::{AssignmentFilter, NewAssignment};
use iam_core::manifest::{Manifest, ManifestAction, PlannedChange};
use iam_core::organization::NewOrganization;
use iam_core::page::{MAX_LIMIT, PageRequest};
use iam_core::permission::NewPermission;
use iam_core::preview::Direction;
use iam_core::role::{NewRole, RolePatch, RoleScope};
use iam_core::user::{NewServiceAccount, UserFilter, UserKind, UserSort};
use iam_core::{Caller, Conflict, Error, Forbidden, Unauthenticated};
use proptest::prelude::*;
use serde_json::{Value, json};
use test_support::identity_provider::ISSUER;

use crate::company::Company;

fn manifest(value: Value) -> Manifest {
    serde_json::from_value(value).unwrap()
}

/// Two roles, a tree, and a service account that holds one of them in two places.
fn shops() -> Value {
    json!({
        "settings": { "secondFactorGraceDays": 9 },
        "permissions": [{ "name": "orders:refund", "description": "Give money back" }, { "name": "orders:read" }],
        "roles": [
            { "name": "CLERK", "permissions": ["orders:read", "orders:refund"] },
            { "name": "READER", "description": "Reads", "scope": "ORGANIZATION", "permissions": ["orders:*"] },
        ],
        "organizations": [
            { "slug": "harbour", "name": "Harbour", "parent": "north" },
            { "slug": "north", "name": "North" },
            { "slug": "closed", "name": "Closed", "parent": "north", "status": "SUSPENDED" },
        ],
        "serviceAccounts": [
            { "name": "Billing", "home": "north", "assignments": [
                { "role": "CLERK" },
                { "role": "READER", "organization": "harbour", "expiresAt": "2027-01-01T00:00:00Z" },
            ] },
            { "name": "Sleeper", "status": "SUSPENDED" },
        ],
    })
}

fn described(changes: &[PlannedChange]) -> Vec<String> {
    changes.iter().map(|change| format!("{} {} {}", change.action, change.kind, change.name)).collect()
}

async fn export(company: &Company) -> String {
    let manifest = company.iam.manifests().export(&company.system).await.unwrap();
    serde_json::to_string_pretty(&manifest).unwrap()
}

/// The field and the text of an error about a part of a manifest.
fn about<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::About { field, error }) => format!("{field}: {error}"),
        Err(Error::Validation(errors)) => {
            errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect::<Vec<_>>().join("; ")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_tenant_becomes_what_its_manifest_says_and_stays_so() {
    let company = Company::new().await;
    let manifests = company.iam.manifests();
    let first = manifests.apply(&company.system, &manifest(shops()), true).await.unwrap();
    assert_eq!(
        described(&first),
        [
            "UPDATE SETTINGS ",
            "CREATE PERMISSION orders:refund",
            "CREATE PERMISSION orders:read",
            "CREATE ROLE CLERK",
            "CREATE ROLE READER",
            "CREATE ORGANIZATION north",
            "CREATE ORGANIZATION harbour",
            "CREATE ORGANIZATION closed",
            "CREATE SERVICE_ACCOUNT Billing",
            "CREATE SERVICE_ACCOUNT Sleeper",
            "CREATE ROLE_ASSIGNMENT Billing: CLERK",
            "CREATE ROLE_ASSIGNMENT Billing: READER in harbour",
        ]
    );
    assert!(first.iter().skip(1).all(|change| change.id.is_some()));
    assert_eq!(manifests.apply(&company.system, &manifest(shops()), true).await.unwrap(), []);
    let exported = export(&company).await;
    let again = manifest(serde_json::from_str(&exported).unwrap());
    assert_eq!(manifests.apply(&company.system, &again, true).await.unwrap(), []);
    assert_eq!(export(&company).await, exported);

    // Another tenant gets the same by the exported one.
    let other = Company::new().await;
    other.iam.manifests().apply(&other.system, &again, false).await.unwrap();
    assert_eq!(export(&other).await, exported);
}

#[tokio::test]
async fn each_change_of_a_manifest_has_its_own_entry() {
    let company = Company::new().await;
    let made = company.iam.manifests().apply(&company.ada, &manifest(shops()), false).await.unwrap();
    for change in made.iter().filter_map(|change| change.id) {
        let history = company.history(change).await;
        assert!(matches!(&*history[0], "CREATE" | "ROLE_ASSIGNED"), "{history:?}");
    }
}

#[tokio::test]
async fn prune_removes_what_manifests_have_made_and_nothing_else() {
    let company = Company::new().await;
    let (iam, system) = (&company.iam, &company.system);
    // By hand: a role and an account that the manifest names too, and a role that it does not name.
    let clerk = NewRole { name: "CLERK".into(), ..NewRole::default() };
    let clerk = iam.roles().create(system, clerk).await.unwrap();
    iam.roles().create(system, NewRole { name: "OTHER".into(), ..NewRole::default() }).await.unwrap();
    let billing = iam.users().create_service_account(system, NewServiceAccount { name: "Billing".into() }).await;
    let billing = billing.unwrap().id;
    let by_hand = NewAssignment { user: billing, role: clerk.id, organization: None, expires_at: None };
    iam.assignments().create(system, by_hand).await.unwrap();
    iam.manifests().apply(system, &manifest(shops()), true).await.unwrap();

    let kept = iam.manifests().apply(system, &Manifest::default(), false).await.unwrap();
    assert_eq!(kept, []);
    // The role that was made by hand has permissions that are to be removed.
    let refused = iam.manifests().apply(system, &Manifest::default(), true).await;
    assert_eq!(about(refused), "permissions.orders:read: A role has this permission.");
    let clerk = manifest(json!({ "roles": [{ "name": "CLERK" }] }));
    let removed = iam.manifests().apply(system, &clerk, true).await.unwrap();
    assert!(removed.iter().skip(1).all(|change| change.action == ManifestAction::Remove));
    assert_eq!(
        described(&removed),
        [
            "UPDATE ROLE CLERK",
            "REMOVE ROLE_ASSIGNMENT Billing: READER in harbour",
            "REMOVE SERVICE_ACCOUNT Sleeper",
            "REMOVE ORGANIZATION closed",
            "REMOVE ORGANIZATION harbour",
            "REMOVE ORGANIZATION north",
            "REMOVE ROLE READER",
            "REMOVE PERMISSION orders:read",
            "REMOVE PERMISSION orders:refund",
        ]
    );
}

#[tokio::test]
async fn what_was_removed_by_hand_and_made_again_is_not_removed() {
    let company = Company::new().await;
    let (iam, system) = (&company.iam, &company.system);
    let first = manifest(json!({ "permissions": [{ "name": "orders:read" }] }));
    iam.manifests().apply(system, &first, false).await.unwrap();
    let all = iam.permissions().list(system, PageRequest::new(1, MAX_LIMIT).unwrap()).await.unwrap();
    let made = all.items.iter().find(|permission| !permission.system).unwrap();
    iam.permissions().delete(system, made.id).await.unwrap();
    iam.permissions().create(system, NewPermission { name: "orders:read".into(), description: None }).await.unwrap();
    assert_eq!(iam.manifests().apply(system, &Manifest::default(), true).await.unwrap(), []);
}

#[tokio::test]
async fn a_manifest_that_is_refused_changes_nothing() {
    let company = Company::new().await;
    let (iam, system) = (&company.iam, &company.system);
    iam.manifests().apply(system, &manifest(json!({ "roles": [{ "name": "CLERK" }] })), false).await.unwrap();
    let before = export(&company).await;
    let deep: Vec<Value> = (0..7)
        .map(|number| match number {
            0 => json!({ "slug": "o0", "name": "O" }),
            _ => json!({ "slug": format!("o{number}"), "name": "O", "parent": format!("o{}", number - 1) }),
        })
        .collect();
    for (refused, expected) in [
        (
            json!({
                "permissions": [{ "name": "orders:read" }],
                "roles": [{ "name": "NEW", "permissions": ["users:read", "orders:refund"] }],
            }),
            "roles[0].permissions[1]: must be a registered permission",
        ),
        (json!({ "organizations": deep }), "organizations[6].parent: Maximum hierarchy depth of 5 exceeded."),
        (
            json!({
                "roles": [{ "name": "LOCAL", "scope": "ORGANIZATION" }],
                "serviceAccounts": [
                    { "name": "One", "assignments": [{ "role": "CLERK" }] },
                    { "name": "Two", "assignments": [{ "role": "CLERK" }, { "role": "LOCAL" }] },
                ],
            }),
            "serviceAccounts[1].assignments[1].organization: Organization-scoped roles require an organizationId.",
        ),
        (
            json!({ "roles": [{ "name": "NEW" }, { "name": "TENANT_ADMIN" }] }),
            "roles[1]: Built-in roles can be neither changed nor deleted.",
        ),
    ] {
        let error = about(iam.manifests().apply(system, &manifest(refused.clone()), false).await);
        assert_eq!(error, expected, "{refused}");
        assert_eq!(export(&company).await, before, "{refused}");
    }
}

#[tokio::test]
async fn a_caller_makes_nothing_that_it_could_not_make_by_hand() {
    const READS: [&str; 10] = [
        "tenants:read",
        "permissions:read",
        "roles:read",
        "organizations:read",
        "users:read",
        "role-assignments:read",
        "webhooks:read",
        "directories:read",
        "identity-providers:read",
        "domains:read",
    ];
    let company = Company::new().await;
    let iam = &company.iam;
    let role = |permission: &str| manifest(json!({ "roles": [{ "name": "NEW", "permissions": [permission] }] }));
    let caller = async |name: &str, permissions: &[&str]| {
        let user = company.user(&format!("{name}@example.com"), permissions).await;
        company.log_in(&user).await
    };
    let stranger = caller("stranger", &["roles:create"]).await;
    let refused = iam.manifests().apply(&stranger, &Manifest::default(), false).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
    let refused = iam.manifests().export(&caller("reader", &READS[..9]).await).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
    iam.manifests().export(&caller("exporter", &READS).await).await.unwrap();

    let author = caller("author", &["tenants:read", "roles:read", "roles:create", "users:read"]).await;
    let refused = about(iam.manifests().apply(&author, &role("users:update"), false).await);
    assert!(refused.starts_with("roles[0]: You cannot give or take over higher privileges"), "{refused}");
    let preview = iam.manifests().preview(&author, &role("users:update"), false).await.unwrap();
    assert!(matches!(preview.preview.refusal, Some(Error::About { .. })), "{:?}", preview.preview.refusal);
    assert_eq!(described(&preview.changes), ["CREATE ROLE NEW"]);
    // What is read is what the manifest names, and all of it with `prune`.
    let refused = iam.manifests().apply(&author, &role("users:read"), true).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
    iam.manifests().apply(&author, &role("users:read"), false).await.unwrap();
    let changed = manifest(json!({ "roles": [{ "name": "NEW", "description": "Changed" }] }));
    let refused = about(iam.manifests().apply(&author, &changed, false).await);
    assert_eq!(refused, "roles[0]: Missing permission: roles:update.");

    // A key changes no settings that protect users.
    let account = company.account(&["*"]).await;
    let policy = manifest(json!({ "settings": { "passwordPolicy": "nist-800-63b-4" } }));
    let refused = iam.manifests().apply(&company.key(account).await, &policy, false).await;
    assert!(about(refused).starts_with("settings: An API key cannot do this."));
    let robot = json!({ "name": "Robot", "assignments": [{ "role": "MEMBER" }, { "role": "TENANT_ADMIN" }] });
    let robot = manifest(json!({ "serviceAccounts": [robot] }));
    let refused = about(iam.manifests().apply(&company.key(account).await, &robot, false).await);
    assert!(refused.starts_with("serviceAccounts[0].assignments[1]: An API key cannot do this."), "{refused}");
    company.clock.advance(chrono::TimeDelta::minutes(30));
    let refused = iam.manifests().apply(&company.ada, &policy, false).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{refused:?}");
}

#[tokio::test]
async fn a_preview_shows_who_gains_and_loses_and_changes_nothing() {
    let company = Company::new().await;
    let (iam, system) = (&company.iam, &company.system);
    iam.manifests().apply(system, &manifest(shops()), false).await.unwrap();
    let grace = company.user("grace@example.com", &[]).await.id;
    let clerk = iam.roles().by_name(system, "CLERK").await.unwrap().unwrap();
    let south = NewOrganization { name: "South".into(), ..NewOrganization::default() };
    let south = iam.organizations().create(system, south).await.unwrap().organization.id;
    let new = NewAssignment { user: grace, role: clerk.id, organization: Some(south), expires_at: None };
    iam.assignments().create(system, new).await.unwrap();
    let before = export(&company).await;

    // A permission is new, the role of Grace loses one and gets the new one, an account is new, and Harbour moves.
    let mut changed = shops();
    changed["permissions"].as_array_mut().unwrap().push(json!({ "name": "orders:cancel" }));
    changed["roles"][0]["permissions"] = json!(["orders:read", "orders:cancel"]);
    changed["organizations"][0]["parent"] = json!("south");
    changed["serviceAccounts"].as_array_mut().unwrap().push(json!({
        "name": "Robot",
        "assignments": [{ "role": "READER", "organization": "new" }],
    }));
    let new = json!({ "slug": "new", "name": "New", "parent": "south" });
    changed["organizations"].as_array_mut().unwrap().push(new);
    let previewed = iam.manifests().preview(system, &manifest(changed.clone()), false).await.unwrap();
    assert!(previewed.preview.refusal.is_none(), "{:?}", previewed.preview.refusal);
    assert_eq!(export(&company).await, before);

    let robot = previewed.changes.iter().find(|change| change.name == "Robot").and_then(|change| change.id).unwrap();
    let rows: Vec<(bool, &str, Direction)> = previewed
        .preview
        .changes
        .iter()
        .filter(|row| row.user == grace || row.user.as_uuid() == robot)
        .map(|row| (row.user == grace, row.permission.as_str(), row.direction))
        .collect();
    let has = |row: (bool, &str, Direction)| assert!(rows.contains(&row), "{row:?} {rows:?}");
    has((true, "orders:cancel", Direction::Gained));
    has((true, "orders:refund", Direction::Lost));
    // In Harbour, which comes below South.
    has((true, "orders:read", Direction::Gained));
    for permission in ["orders:cancel", "orders:read", "orders:refund"] {
        has((false, permission, Direction::Gained));
    }
    assert_eq!(rows.len(), 6, "{rows:?}");

    let applied = iam.manifests().apply(system, &manifest(changed), false).await.unwrap();
    assert_eq!(described(&applied), described(&previewed.changes));
}

#[tokio::test]
async fn a_service_account_keeps_the_roles_that_the_manifest_does_not_name() {
    let company = Company::new().await;
    let (iam, system) = (&company.iam, &company.system);
    iam.manifests().apply(system, &manifest(shops()), false).await.unwrap();
    let filter = UserFilter { kind: Some(UserKind::Service), ..UserFilter::default() };
    let accounts = iam.users().list(system, &filter, UserSort::default(), PageRequest::default()).await.unwrap();
    let billing = accounts.items.iter().find(|account| account.first_name.as_str() == "Billing").unwrap().id;
    let member = iam.roles().by_name(system, "MEMBER").await.unwrap().unwrap();
    let new = NewAssignment { user: billing, role: member.id, organization: None, expires_at: None };
    iam.assignments().create(system, new).await.unwrap();
    assert_eq!(iam.manifests().apply(system, &manifest(shops()), true).await.unwrap(), []);
    let filter = AssignmentFilter { user: Some(billing), ..AssignmentFilter::default() };
    assert_eq!(iam.assignments().list(system, &filter, PageRequest::default()).await.unwrap().total, 3);
    // A status that the manifest does not name stays, too.
    iam.users().suspend(system, billing).await.unwrap();
    assert_eq!(iam.manifests().apply(system, &manifest(shops()), true).await.unwrap(), []);
    // A change by hand of what it names is undone.
    let clerk = iam.roles().by_name(system, "CLERK").await.unwrap().unwrap();
    let patch = RolePatch { description: Some("By hand".into()), ..RolePatch::default() };
    iam.roles().update(system, clerk.id, patch).await.unwrap();
    assert_eq!(
        described(&iam.manifests().apply(system, &manifest(shops()), true).await.unwrap()),
        ["UPDATE ROLE CLERK"]
    );
}

/// A provider whose new users get a role of the manifest, and a directory of its people.
fn staff(members: &Value) -> Value {
    let mut provider = json!({
        "slug": "entra",
        "name": "Entra",
        "issuer": ISSUER,
        "clientId": "iam",
        "clientSecret": "very-secret",
        "domains": ["example.com"],
        "provisioning": "CREATE",
        "roles": [{ "role": "CLERK", "organization": "north" }, { "role": "MEMBER" }],
    });
    provider.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    json!({
        "roles": [{ "name": "CLERK" }],
        "organizations": [{ "slug": "north", "name": "North" }],
        "serviceAccounts": [{ "name": "SCIM" }],
        "identityProviders": [provider],
        "directories": [{ "serviceAccount": "SCIM", "name": "Staff", "identityProvider": "entra" }],
    })
}

#[tokio::test]
async fn a_provider_is_made_with_what_it_names_and_its_secret_is_never_shown() {
    let company = Company::new().await;
    let manifests = company.iam.manifests();
    company.domain("example.com").await;
    let apply = async |members: Value| manifests.apply(&company.ada, &manifest(staff(&members)), false).await.unwrap();
    let previewed = manifests.preview(&company.ada, &manifest(staff(&json!({}))), false).await.unwrap();
    assert!(previewed.preview.refusal.is_none(), "{:?}", previewed.preview.refusal);
    let first = apply(json!({})).await;
    assert_eq!(described(&first), described(&previewed.changes));
    assert_eq!(
        described(&first),
        [
            "CREATE ROLE CLERK",
            "CREATE ORGANIZATION north",
            "CREATE SERVICE_ACCOUNT SCIM",
            "CREATE IDENTITY_PROVIDER entra",
            "CREATE DIRECTORY SCIM",
        ]
    );
    let asked = company.providers.asked();
    assert_eq!(asked, 2, "by the preview and by the change");
    assert_eq!(apply(json!({})).await, []);
    let mut absent = staff(&json!({}));
    absent["identityProviders"][0].as_object_mut().unwrap().remove("clientSecret");
    assert_eq!(manifests.apply(&company.ada, &manifest(absent), false).await.unwrap(), []);
    assert_eq!(company.providers.asked(), asked, "an issuer that stays is not asked");

    let changed = apply(json!({ "clientSecret": "other-secret", "roles": [] })).await;
    assert_eq!(described(&changed), ["UPDATE IDENTITY_PROVIDER entra"]);
    assert_eq!(apply(json!({ "clientSecret": "other-secret", "roles": [] })).await, []);
    let entries = company.entries(changed[0].id.unwrap()).await;
    assert_eq!(entries.last().unwrap().metadata.get("secretIsChanged"), Some(&json!(true)));
    let exported = export(&company).await;
    for shown in [format!("{first:?} {changed:?} {entries:?}"), exported.clone()] {
        assert!(!shown.contains("y-secret") && !shown.contains("r-secret"), "{shown}");
    }
    let again = manifest(serde_json::from_str(&exported).unwrap());
    assert_eq!(manifests.apply(&company.system, &again, true).await.unwrap(), []);
    assert_eq!(export(&company).await, exported);

    let removed = manifests.apply(&company.system, &Manifest::default(), true).await.unwrap();
    assert_eq!(
        described(&removed),
        [
            "REMOVE DIRECTORY SCIM",
            "REMOVE IDENTITY_PROVIDER entra",
            "REMOVE SERVICE_ACCOUNT SCIM",
            "REMOVE ORGANIZATION north",
            "REMOVE ROLE CLERK",
        ]
    );
}

#[tokio::test]
async fn only_a_person_with_all_permissions_changes_a_provider_and_nothing_is_asked_for_others() {
    let company = Company::new().await;
    let (manifests, system) = (company.iam.manifests(), &company.system);
    let provider = |secret: &str, enabled: bool| {
        let (slug, name) = ("entra", "Entra");
        let provider = json!({
            "slug": slug, "name": name, "issuer": ISSUER, "clientId": "iam", "clientSecret": secret, "enabled": enabled,
        });
        manifest(json!({ "identityProviders": [provider] }))
    };
    let permissions = ["tenants:read", "roles:read", "organizations:read", "identity-providers:*", "domains:read"];
    let user = company.user("author@example.com", &permissions).await;
    let author = company.log_in(&user).await;
    let key = company.key(company.account(&["*"]).await).await;
    let by_author = "identityProviders[0]: You cannot give or take over higher privileges";
    let by_key = "identityProviders[0]: An API key cannot do this.";
    for _ in ["made", "changed"] {
        for (caller, expected) in [(&author, by_author), (&key, by_key)] {
            let refused = about(manifests.apply(caller, &provider("very-secret", false), false).await);
            assert!(refused.starts_with(expected), "{refused}");
        }
        if company.providers.asked() == 0 {
            manifests.apply(system, &provider("very-secret", true), false).await.unwrap();
        }
    }
    assert_eq!(company.providers.asked(), 1);
    // A key of a pipeline may apply what is so already.
    let mut without_secret = provider("", true);
    without_secret.identity_providers[0].client_secret = None;
    assert_eq!(manifests.apply(&key, &without_secret, false).await.unwrap(), []);
    // A caller that may not change a provider does not learn whether a secret is the right one.
    for secret in ["very-secret", "other-secret"] {
        for (caller, expected) in [(&author, by_author), (&key, by_key)] {
            let refused = about(manifests.apply(caller, &provider(secret, true), false).await);
            assert!(refused.starts_with(expected), "{refused}");
        }
    }
    assert_eq!(manifests.apply(&company.ada, &provider("very-secret", true), false).await.unwrap(), []);
    company.clock.advance(chrono::TimeDelta::minutes(30));
    for secret in ["very-secret", "other-secret"] {
        let refused = manifests.preview(&company.ada, &provider(secret, true), false).await;
        assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{refused:?}");
    }
    let refused = manifests.apply(&company.ada, &provider("very-secret", false), false).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{refused:?}");
}

#[tokio::test]
async fn a_provider_that_cannot_be_used_is_named() {
    let company = Company::new().await;
    let before = export(&company).await;
    let named = |issuers: &[&str]| {
        let provider = |(number, issuer): (usize, &&str)| {
            let slug = format!("p{number}");
            json!({ "slug": slug, "name": "P", "issuer": issuer, "clientId": "iam" })
        };
        let providers: Vec<Value> = issuers.iter().enumerate().map(provider).collect();
        manifest(json!({ "identityProviders": providers }))
    };
    let apply =
        async |issuers: &[&str]| about(company.iam.manifests().apply(&company.system, &named(issuers), false).await);
    let refused = apply(&["https://absent.example", ISSUER, "http://login.example.com"]).await;
    let first = "identityProviders[0].issuer: cannot be reached for its discovery document";
    assert!(refused.starts_with(first), "{refused}");
    assert!(refused.ends_with("; identityProviders[2].issuer: must begin with https://"), "{refused}");
    let asked = company.providers.asked();
    assert_eq!(apply(&[ISSUER; 21]).await, "identityProviders: must have at most 20 items");
    assert_eq!(company.providers.asked(), asked);
    assert_eq!(export(&company).await, before);
}

/// Decisions from random bytes.
struct Choices(std::vec::IntoIter<u8>);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.0.next().unwrap_or_default()) % limit
    }

    fn one<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }

    /// Some of these values, each at most once.
    fn some<T: Clone>(&mut self, values: &[T]) -> Vec<T> {
        values.iter().filter(|_| self.below(2) == 0).cloned().collect()
    }

    fn manifest(&mut self) -> Manifest {
        const PERMISSIONS: [&str; 3] = ["orders:read", "orders:refund", "shops:open"];
        const PATTERNS: [&str; 5] = ["orders:read", "orders:*", "shops:open", "users:read", "*"];
        const ROLES: [&str; 3] = ["CLERK", "READER", "KEEPER"];
        const SLUGS: [&str; 4] = ["north", "south", "east", "west"];
        let permissions: Vec<Value> = self.some(&PERMISSIONS).into_iter().map(|name| json!({ "name": name })).collect();
        let mut roles = Vec::new();
        for name in self.some(&ROLES) {
            let scope = *self.one(&["ANY", "ANY", "TENANT", "ORGANIZATION"]);
            let description = *self.one(&["", "A role"]);
            let permissions = self.some(&PATTERNS);
            roles.push(json!({ "name": name, "scope": scope, "description": description, "permissions": permissions }));
        }
        let mut organizations = Vec::new();
        for slug in self.some(&SLUGS) {
            let mut organization = json!({ "slug": slug, "name": *self.one(&["One", "Two"]) });
            if self.below(2) == 0 {
                organization["parent"] = json!(*self.one(&SLUGS));
            }
            if self.below(3) == 0 {
                organization["status"] = json!(*self.one(&["ACTIVE", "SUSPENDED"]));
            }
            organizations.push(organization);
        }
        let mut accounts = Vec::new();
        for name in self.some(&["Robot", "Crawler"]) {
            let mut account = json!({ "name": name });
            if self.below(3) == 0 {
                account["home"] = json!(*self.one(&SLUGS));
            }
            if self.below(4) == 0 {
                account["status"] = json!(*self.one(&["ACTIVE", "SUSPENDED"]));
            }
            let mut assignments = Vec::new();
            for role in self.some(&ROLES) {
                let mut assignment = json!({ "role": role });
                if self.below(2) == 0 {
                    assignment["organization"] = json!(*self.one(&SLUGS));
                }
                if self.below(3) == 0 {
                    assignment["expiresAt"] = json!(*self.one(&["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"]));
                }
                assignments.push(assignment);
            }
            account["assignments"] = json!(assignments);
            accounts.push(account);
        }
        manifest(json!({
            "permissions": permissions,
            "roles": roles,
            "organizations": organizations,
            "serviceAccounts": accounts,
        }))
    }
}

/// A manifest does all or nothing. After it, it and the exported manifest do nothing, and the exported one is the same.
async fn follow(bytes: Vec<u8>) -> usize {
    let (company, mut choices, mut applied) = (Company::new().await, Choices(bytes.into_iter()), 0);
    let (manifests, system): (_, &Caller) = (company.iam.manifests(), &company.system);
    for _ in 0..4 {
        let (manifest, prune) = (choices.manifest(), choices.below(2) == 0);
        let before = export(&company).await;
        let previewed = manifests.preview(system, &manifest, prune).await;
        assert_eq!(export(&company).await, before, "{manifest:?}");
        let Ok(changes) = manifests.apply(system, &manifest, prune).await else {
            assert!(previewed.is_err() || previewed.is_ok_and(|previewed| previewed.preview.refusal.is_some()));
            assert_eq!(export(&company).await, before, "{manifest:?}");
            continue;
        };
        applied += 1;
        assert_eq!(described(&previewed.unwrap().changes), described(&changes));
        assert_eq!(manifests.apply(system, &manifest, prune).await.unwrap(), [], "{manifest:?}");
        let exported = export(&company).await;
        let again: Manifest = serde_json::from_str(&exported).unwrap();
        assert_eq!(manifests.apply(system, &again, false).await.unwrap(), [], "{exported}");
        assert_eq!(export(&company).await, exported);
    }
    applied
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_manifest_that_was_applied_leaves_nothing_to_do(bytes in proptest::collection::vec(any::<u8>(), 400)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(follow(bytes));
    }
}

/// Otherwise the property above would be about nothing.
#[tokio::test]
async fn many_random_manifests_can_be_applied() {
    let mut applied = 0;
    for seed in 0..30_u8 {
        let bytes = (0..400_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8 ^ seed.wrapping_mul(37));
        applied += follow(bytes.collect()).await;
    }
    assert!(applied > 10, "{applied}");
}

#[tokio::test]
async fn the_removals_of_a_run_end_a_limited_number_of_role_assignments_together() {
    let company = Company::with(|settings| settings.max_revocations = 2).await;
    let (iam, system) = (&company.iam, &company.system);
    let north_and_south = |slugs: &[&str]| {
        let organizations: Vec<Value> = slugs.iter().map(|slug| json!({ "slug": slug, "name": slug })).collect();
        manifest(json!({ "organizations": organizations }))
    };
    let made = iam.manifests().apply(system, &north_and_south(&["north", "south"]), true).await.unwrap();
    let member = iam.roles().by_name(system, "MEMBER").await.unwrap().unwrap();
    let users = [company.user("a@example.com", &[]).await.id, company.user("b@example.com", &[]).await.id];
    for organization in made.iter().filter_map(|change| change.id) {
        for user in users {
            let new =
                NewAssignment { user, role: member.id, organization: Some(organization.into()), expires_at: None };
            iam.assignments().create(system, new).await.unwrap();
        }
    }
    let refused = about(iam.manifests().apply(system, &Manifest::default(), true).await);
    assert_eq!(refused, "organizations.south: This would end more than 2 role assignments. Revoke some of them first.");
    iam.manifests().apply(system, &north_and_south(&["south"]), true).await.unwrap();
    iam.manifests().apply(system, &Manifest::default(), true).await.unwrap();
}

#[tokio::test]
async fn a_role_of_a_provider_keeps_a_scope_that_allows_its_place() {
    let company = Company::new().await;
    let (iam, system) = (&company.iam, &company.system);
    company.domain("example.com").await;
    let provided = staff(&json!({ "roles": [{ "role": "CLERK" }] }));
    iam.manifests().apply(system, &manifest(provided.clone()), false).await.unwrap();
    let clerk = iam.roles().by_name(system, "CLERK").await.unwrap().unwrap().id;
    let scope = |scope| RolePatch { scope: Some(scope), ..RolePatch::default() };
    let refused = iam.roles().update(system, clerk, scope(RoleScope::Organization)).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::RoleScopeInUse))), "{refused:?}");
    let mut narrower = provided;
    narrower["roles"][0]["scope"] = json!("ORGANIZATION");
    let refused = about(iam.manifests().apply(system, &manifest(narrower), false).await);
    assert_eq!(refused, "roles[0]: The role has assignments that its new scope does not allow.");
    iam.roles().update(system, clerk, scope(RoleScope::Tenant)).await.unwrap();
}
