//! What manifests plan for one tenant.

use std::sync::Arc;

use iam_model::access::testing::{at, id, organization};
use iam_model::assignment::{Assignment, Grant, GrantOrganization};
use iam_model::attribute::{AttributeDefinitions, UnregisteredAttributes};
use iam_model::audit::EventFormat;
use iam_model::directory::Directory;
use iam_model::error::Error;
use iam_model::id::TenantId;
use iam_model::identity_provider::{EncryptedClientSecret, IdentityProvider, Provisioning, SubjectClaim};
use iam_model::organization::{Hierarchy, OrganizationStatus};
use iam_model::permission::RegisteredPermission;
use iam_model::role::{PlacedRole, Role, RoleScope};
use iam_model::tenant::{AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy, Tenant, TenantStatus};
use iam_model::user::{User, UserKind, UserStatus};
use iam_model::version::Version;
use iam_model::webhook::{Webhook, WebhookSalt};
use serde_json::{Value, json};

use super::Manifest;
use super::document::{MAX_CHANGES, MAX_ITEMS, ManifestSecret};
use super::plan::plan;
use super::state::{Rows, State};
use super::step::{Operation, Plan};

fn tenant() -> Tenant {
    Tenant {
        id: TenantId::NONE,
        name: "Acme".parse().unwrap(),
        slug: "acme".parse().unwrap(),
        status: TenantStatus::Active,
        password_policy: PasswordPolicy::Seed,
        second_factor: iam_model::factor::SecondFactorPolicy::default(),
        second_factor_grace_days: iam_model::factor::GraceDays::default(),
        second_factor_required_at: None,
        password_login: PasswordLogin::default(),
        email_login: EmailLogin::default(),
        authzen_identifiers: AuthzenIdentifiers::default(),
        user_attributes: AttributeDefinitions::default(),
        organization_attributes: AttributeDefinitions::default(),
        unregistered_attributes: UnregisteredAttributes::default(),
        created_at: at(0),
        updated_at: at(0),
        version: Version::FIRST,
    }
}

fn permission(name: &str, description: &str, system: bool) -> RegisteredPermission {
    RegisteredPermission {
        id: id(name),
        tenant_id: TenantId::NONE,
        name: name.parse().unwrap(),
        description: description.parse().unwrap(),
        system,
        created_at: at(0),
    }
}

fn role(name: &str, patterns: &[&str], system: bool) -> Role {
    Role {
        id: id(name),
        tenant_id: TenantId::NONE,
        name: name.parse().unwrap(),
        description: "".parse().unwrap(),
        scope: RoleScope::Any,
        permissions: patterns.iter().map(|pattern| pattern.parse().unwrap()).collect(),
        system,
        created_at: at(0),
        updated_at: at(0),
        version: Version::FIRST,
    }
}

fn account(identity: &str, name: &str, home: Option<&str>) -> User {
    User {
        id: id(identity),
        tenant_id: TenantId::NONE,
        kind: UserKind::Service,
        email: format!("{identity}@service.invalid").parse().unwrap(),
        email_verified_at: None,
        first_name: name.parse().unwrap(),
        last_name: "Service account".parse().unwrap(),
        external_id: None,
        home_organization_id: home.map(id),
        status: UserStatus::Active,
        last_login_at: None,
        created_at: at(0),
        updated_at: at(0),
        version: Version::FIRST,
    }
}

fn webhook(identity: &str, url: &str) -> Webhook {
    Webhook {
        id: id(identity),
        tenant_id: TenantId::NONE,
        url: url.parse().unwrap(),
        types: vec!["USER.*".parse().unwrap()],
        format: EventFormat::Native,
        description: "".parse().unwrap(),
        enabled: false,
        salt: WebhookSalt { current: [1; 32], former: None },
        created_at: at(0),
        created_by: None,
        version: Version::FIRST,
    }
}

/// A provider for one domain, whose new users are clerks of the organization `root`.
fn provider() -> IdentityProvider {
    IdentityProvider {
        id: id("entra"),
        tenant_id: TenantId::NONE,
        name: "Entra".parse().unwrap(),
        slug: "entra".parse().unwrap(),
        issuer: "https://login.example.com".parse().unwrap(),
        client_id: "iam".parse().unwrap(),
        client_secret: Some(EncryptedClientSecret(vec![7])),
        scopes: IdentityProvider::DEFAULT_SCOPES.map(|scope| scope.parse().unwrap()).into(),
        domain_ids: vec![id("domain")],
        trusts_email: false,
        subject_claim: SubjectClaim::Sub,
        provisioning: Provisioning::Link,
        roles: vec![PlacedRole { role_id: id("CLERK"), organization_id: Some(id("root")) }],
        factor_is_trusted: false,
        enabled: true,
        created_at: at(0),
        updated_at: at(0),
        version: Version::FIRST,
    }
}

/// That provider as a manifest names it, with these members in place of its own.
fn entra(members: &Value) -> Value {
    let mut provider = json!({
        "slug": "entra",
        "name": "Entra",
        "issuer": "https://login.example.com",
        "clientId": "iam",
        "domains": ["EXAMPLE.com"],
        "roles": [{ "role": "CLERK", "organization": "root" }],
    });
    provider.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    provider
}

/// A tenant at second 10. Manifests have made these of its items, and `lost`, which is gone.
fn state(made: &[&str]) -> State {
    let organizations = [
        ("root", None, OrganizationStatus::Active),
        ("branch", Some("root"), OrganizationStatus::Active),
        ("asleep", None, OrganizationStatus::Suspended),
    ];
    let organizations = organizations.map(|(name, parent, status)| organization(name, parent, status)).to_vec();
    let hierarchy: Hierarchy = organizations.iter().cloned().collect();
    let clerk = Arc::new(role("CLERK", &["orders:read"], false));
    let grant = |name: &str, place: Option<&str>, expires: Option<i64>| Grant {
        assignment: Assignment {
            id: id(name),
            tenant_id: TenantId::NONE,
            user_id: id("robot"),
            role_id: clerk.id,
            organization_id: place.map(id),
            expires_at: expires.map(at),
            created_at: at(0),
            created_by: None,
            directory_group_id: None,
            access_request_id: None,
        },
        role: Arc::clone(&clerk),
        organization: place.map(|place| GrantOrganization::from(hierarchy.node(id(place)).unwrap())),
    };
    let rows = Rows {
        tenant: tenant(),
        permissions: vec![permission("orders:read", "Read orders", false), permission("users:read", "", true)],
        roles: vec![Role::clone(&clerk), role("TENANT_ADMIN", &["*"], true)],
        grants: vec![
            grant("in-root", Some("root"), Some(20)),
            grant("in-branch", Some("branch"), None),
            grant("expired", None, Some(10)),
        ],
        organizations,
        accounts: vec![
            account("robot", "Robot", Some("branch")),
            account("a", "Twin", None),
            account("b", "Twin", None),
        ],
        webhooks: vec![
            webhook("hook", "https://example.com/hook"),
            webhook("c", "https://example.com/twin"),
            webhook("d", "https://example.com/twin"),
        ],
        directories: vec![Directory {
            id: id("staff"),
            tenant_id: TenantId::NONE,
            name: "Staff".parse().unwrap(),
            service_account_id: id("robot"),
            identity_provider_id: Some(id("entra")),
            adopt: false,
            created_at: at(0),
            updated_at: at(0),
            version: Version::FIRST,
        }],
        providers: vec![provider()],
        domains: vec![(id("domain"), "example.com".to_owned()), (id("other"), "example.net".to_owned())],
        made: made.iter().map(|name| id(name)).chain([id("lost")]).collect(),
    };
    State::new(rows, at(10))
}

fn planned(state: &State, manifest: &Value, prune: bool) -> Result<Plan, Vec<String>> {
    let manifest: Manifest = serde_json::from_value(manifest.clone()).unwrap();
    plan(state, &manifest, prune).map_err(|error| match error {
        Error::Validation(errors) => errors.iter().map(|it| format!("{} {}", it.field, it.message)).collect(),
        other => panic!("{other}"),
    })
}

/// The planned changes, each with the field that asks for it.
fn changes(state: &State, manifest: &Value, prune: bool) -> Vec<String> {
    let described = planned(state, manifest, prune).unwrap().steps.into_iter().map(|step| {
        let (before, after) = (Value::Object(step.change.before), Value::Object(step.change.after));
        let (action, kind, name) = (step.change.action, step.change.kind, step.change.name);
        format!("{}: {action} {kind} {name} {before} {after}", step.at)
    });
    described.collect()
}

#[test]
fn a_manifest_plans_what_differs() {
    let state = state(&[]);
    let cases: Vec<(Value, &[&str])> = vec![
        (json!({}), &[]),
        (json!({ "settings": { "name": " Acme ", "passwordPolicy": "seed" } }), &[]),
        (
            json!({ "settings": { "name": "New", "secondFactorGraceDays": 9, "emailLogin": "OFF" } }),
            &[
                r#"settings: UPDATE SETTINGS  {"name":"Acme","secondFactorGraceDays":7} {"name":"New","secondFactorGraceDays":9}"#,
            ],
        ),
        (
            json!({ "permissions": [
                { "name": "orders:read", "description": "Read orders" },
                { "name": "orders:read-all" },
            ] }),
            &[r#"permissions[1]: CREATE PERMISSION orders:read-all {} {"name":"orders:read-all"}"#],
        ),
        (
            json!({ "roles": [
                { "name": "CLERK", "permissions": ["orders:read", "orders:read"] },
                { "name": "TENANT_ADMIN", "permissions": ["*"] },
            ] }),
            &[],
        ),
        (
            json!({ "roles": [{ "name": "CLERK", "description": "Sells", "scope": "TENANT", "permissions": [] }] }),
            &[
                r#"roles[0]: UPDATE ROLE CLERK {"permissions":["orders:read"],"scope":"ANY"} {"description":"Sells","scope":"TENANT"}"#,
            ],
        ),
        // Each organization comes after its parent. One without a status keeps that.
        (
            json!({ "organizations": [
                { "slug": "leaf", "name": "Leaf", "parent": "new" },
                { "slug": "asleep", "name": "asleep", "parent": "leaf" },
                { "slug": "new", "name": "New", "status": "SUSPENDED" },
                { "slug": "root", "name": "root", "status": "ACTIVE" },
            ] }),
            &[
                r#"organizations[2]: CREATE ORGANIZATION new {} {"name":"New","slug":"new","status":"SUSPENDED"}"#,
                r#"organizations[0]: CREATE ORGANIZATION leaf {} {"name":"Leaf","parent":"new","slug":"leaf"}"#,
                r#"organizations[1]: UPDATE ORGANIZATION asleep {} {"parent":"leaf"}"#,
            ],
        ),
        // A parent and its child change places.
        (
            json!({ "organizations": [
                { "slug": "root", "name": "root", "parent": "branch" },
                { "slug": "branch", "name": "branch" },
            ] }),
            &[
                r#"organizations[1]: UPDATE ORGANIZATION branch {"parent":"root"} {}"#,
                r#"organizations[0]: UPDATE ORGANIZATION root {} {"parent":"branch"}"#,
            ],
        ),
        (json!({ "organizations": [{ "slug": "asleep", "name": "asleep" }] }), &[]),
        (
            json!({ "organizations": [{ "slug": "asleep", "name": "asleep", "status": "ACTIVE" }] }),
            &[r#"organizations[0]: UPDATE ORGANIZATION asleep {"status":"SUSPENDED"} {}"#],
        ),
        // Roles are given when all accounts are there. An expiry that has passed gives nothing.
        (
            json!({ "serviceAccounts": [
                { "name": "Robot", "assignments": [
                    { "role": "CLERK", "organization": "root", "expiresAt": "1970-01-01T00:00:30Z" },
                    { "role": "CLERK", "organization": "branch" },
                    { "role": "CLERK", "expiresAt": "1970-01-01T00:00:10Z" },
                ] },
                { "name": "Second", "home": "root", "assignments": [{ "role": "TENANT_ADMIN" }] },
            ] }),
            &[
                r#"serviceAccounts[0]: UPDATE SERVICE_ACCOUNT Robot {"home":"branch"} {}"#,
                r#"serviceAccounts[1]: CREATE SERVICE_ACCOUNT Second {} {"home":"root","name":"Second"}"#,
                r#"serviceAccounts[0].assignments[0]: UPDATE ROLE_ASSIGNMENT Robot: CLERK in root {"expiresAt":"1970-01-01T00:00:20.000Z"} {"expiresAt":"1970-01-01T00:00:30.000Z"}"#,
                r#"serviceAccounts[1].assignments[0]: CREATE ROLE_ASSIGNMENT Second: TENANT_ADMIN {} {"role":"TENANT_ADMIN"}"#,
            ],
        ),
        (
            json!({ "webhooks": [
                { "url": "https://example.com/hook", "types": ["USER.*", "ROLE.*"], "enabled": true },
                { "url": "https://example.com/new", "types": ["USER.*"] },
            ] }),
            &[
                r#"webhooks[0]: UPDATE WEBHOOK https://example.com/hook {"enabled":false,"types":["USER.*"]} {"types":["USER.*","ROLE.*"]}"#,
                r#"webhooks[1]: CREATE WEBHOOK https://example.com/new {} {"format":"native","types":["USER.*"],"url":"https://example.com/new"}"#,
            ],
        ),
        (
            json!({
                "serviceAccounts": [{ "name": "Second" }],
                "directories": [
                    { "serviceAccount": "Robot", "name": "People", "adopt": true },
                    { "serviceAccount": "Second", "name": "Staff", "identityProvider": "entra" },
                ],
            }),
            &[
                r#"serviceAccounts[0]: CREATE SERVICE_ACCOUNT Second {} {"name":"Second"}"#,
                r#"directories[0]: UPDATE DIRECTORY Robot {"identityProvider":"entra","name":"Staff"} {"adopt":true,"name":"People"}"#,
                r#"directories[1]: CREATE DIRECTORY Second {} {"identityProvider":"entra","name":"Staff","serviceAccount":"Second"}"#,
            ],
        ),
        (json!({ "identityProviders": [entra(&json!({}))] }), &[]),
        // A provider names roles of the manifest, and a directory names a provider of it.
        (
            json!({
                "roles": [{ "name": "NEW" }],
                "identityProviders": [
                    entra(&json!({
                        "issuer": "https://other.example",
                        "clientSecret": "very-secret",
                        "domains": ["example.net", "example.com"],
                        "roles": [],
                        "enabled": false,
                    })),
                    {
                        "slug": "okta",
                        "name": "Okta",
                        "issuer": "https://okta.example",
                        "clientId": "iam",
                        "clientSecret": "very-secret",
                        "provisioning": "CREATE",
                        "roles": [{ "role": "NEW" }],
                    },
                ],
                "directories": [{ "serviceAccount": "Robot", "name": "Staff", "identityProvider": "okta" }],
            }),
            &[
                r#"roles[0]: CREATE ROLE NEW {} {"name":"NEW","scope":"ANY"}"#,
                r#"identityProviders[0]: UPDATE IDENTITY_PROVIDER entra {"clientSecret":"(former secret)","domains":["example.com"],"issuer":"https://login.example.com","roles":[{"organization":"root","role":"CLERK"}]} {"clientSecret":"(new secret)","domains":["example.com","example.net"],"enabled":false,"issuer":"https://other.example"}"#,
                r#"identityProviders[1]: CREATE IDENTITY_PROVIDER okta {} {"clientId":"iam","clientSecret":"(new secret)","issuer":"https://okta.example","name":"Okta","provisioning":"CREATE","roles":[{"role":"NEW"}],"scopes":["openid","email","profile"],"slug":"okta","subjectClaim":"sub"}"#,
                r#"directories[0]: UPDATE DIRECTORY Robot {"identityProvider":"entra"} {"identityProvider":"okta"}"#,
            ],
        ),
        // One that does not say whether it is enabled keeps that.
        (json!({ "webhooks": [{ "url": "https://example.com/hook", "types": ["USER.*"] }] }), &[]),
    ];
    for (manifest, expected) in cases {
        assert_eq!(changes(&state, &manifest, false), expected, "{manifest}");
    }
}

#[test]
fn only_what_manifests_have_made_is_removed_and_what_refers_to_it_first() {
    let all = ["orders:read", "CLERK", "root", "branch", "robot", "in-root", "expired", "hook", "entra", "staff"];
    let state = state(&all);
    assert_eq!(changes(&state, &json!({}), false), Vec::<String>::new());
    assert_eq!(
        changes(&state, &json!({}), true),
        [
            r#"webhooks.https://example.com/hook: REMOVE WEBHOOK https://example.com/hook {"enabled":false,"format":"native","types":["USER.*"],"url":"https://example.com/hook"} {}"#,
            r#"directories.Robot: REMOVE DIRECTORY Robot {"identityProvider":"entra","name":"Staff","serviceAccount":"Robot"} {}"#,
            r#"identityProviders.entra: REMOVE IDENTITY_PROVIDER entra {"clientId":"iam","domains":["example.com"],"issuer":"https://login.example.com","name":"Entra","provisioning":"LINK","roles":[{"organization":"root","role":"CLERK"}],"scopes":["openid","email","profile"],"slug":"entra","subjectClaim":"sub"} {}"#,
            r#"serviceAccounts.Robot: CLERK in root: REMOVE ROLE_ASSIGNMENT Robot: CLERK in root {"expiresAt":"1970-01-01T00:00:20.000Z","organization":"root","role":"CLERK"} {}"#,
            r#"serviceAccounts.Robot: REMOVE SERVICE_ACCOUNT Robot {"home":"branch","name":"Robot"} {}"#,
            r#"organizations.branch: REMOVE ORGANIZATION branch {"name":"branch","parent":"root","slug":"branch"} {}"#,
            r#"organizations.root: REMOVE ORGANIZATION root {"name":"root","slug":"root"} {}"#,
            r#"roles.CLERK: REMOVE ROLE CLERK {"name":"CLERK","permissions":["orders:read"],"scope":"ANY"} {}"#,
            r#"permissions.orders:read: REMOVE PERMISSION orders:read {"description":"Read orders","name":"orders:read"} {}"#,
        ]
    );
    let named = json!({
        "permissions": [{ "name": "orders:read" }],
        "roles": [{ "name": "CLERK", "permissions": ["orders:read"] }],
        "organizations": [{ "slug": "root", "name": "root" }],
        "serviceAccounts": [{ "name": "Robot", "home": "root" }],
        "webhooks": [{ "url": "https://example.com/hook", "types": ["USER.*"] }],
        "identityProviders": [entra(&json!({}))],
        "directories": [{ "serviceAccount": "Robot", "name": "Staff", "identityProvider": "entra" }],
    });
    let removed: Vec<String> = planned(&state, &named, true).unwrap().steps.into_iter().map(|step| step.at).collect();
    assert_eq!(removed, ["serviceAccounts[0]", "serviceAccounts.Robot: CLERK in root", "organizations.branch"]);
    // One that has expired counts as gone, too.
    let mut gone = planned(&state, &named, false).unwrap().gone;
    gone.sort_unstable();
    assert_eq!(gone, [id::<uuid::Uuid>("expired"), id("lost")]);
}

#[test]
fn a_built_in_permission_cannot_be_named() {
    let manifest = json!({ "permissions": [{ "name": "users:read" }] });
    let refused = planned(&state(&[]), &manifest, false).unwrap_err();
    assert_eq!(refused, ["permissions[0].name is a built-in permission"]);
}

#[test]
fn a_secret_that_is_the_present_one_plans_nothing_and_none_is_shown() {
    let mut state = state(&[]);
    state.secrets.insert(id("entra"), ManifestSecret("very-secret".into()));
    let given = |secret: &str| json!({ "identityProviders": [entra(&json!({ "clientSecret": secret }))] });
    assert_eq!(changes(&state, &given("very-secret"), false), Vec::<String>::new());
    let changed = r#"{"clientSecret":"(former secret)"} {"clientSecret":"(new secret)"}"#;
    for secret in ["other-secret", "very-secrex", "very-secret2"] {
        let expected = format!("identityProviders[0]: UPDATE IDENTITY_PROVIDER entra {changed}");
        assert_eq!(changes(&state, &given(secret), false), [expected]);
    }
    let manifest: Manifest = serde_json::from_value(given("other-secret")).unwrap();
    let shown = [
        format!("{manifest:?} {state:?} {:?}", plan(&state, &manifest, false).unwrap()),
        serde_json::to_string(&manifest).unwrap(),
    ];
    assert!(!shown.concat().contains("r-secret") && !shown.concat().contains("y-secret"), "{shown:?}");
    // A number in the place of a secret is not repeated.
    let number = json!({ "identityProviders": [{ "clientSecret": 12_345 }] });
    let refused = serde_json::from_value::<Manifest>(number).unwrap_err();
    assert!(!refused.to_string().contains("12345"), "{refused}");
}

#[test]
fn roles_of_a_provider_that_are_gone_are_replaced_with_the_next_change() {
    let mut state = state(&[]);
    let gone = PlacedRole { role_id: id("gone"), organization_id: None };
    state.providers.get_mut("entra").unwrap().roles.push(gone);
    let named = |name: &str| json!({ "identityProviders": [entra(&json!({ "name": name }))] });
    assert_eq!(changes(&state, &named("Entra"), false), Vec::<String>::new());
    let steps = planned(&state, &named("Other"), false).unwrap().steps;
    let [step] = steps.as_slice() else { panic!("{steps:?}") };
    let Operation::UpdateProvider { roles: Some(roles), .. } = &step.operation else { panic!("{step:?}") };
    assert_eq!(roles.len(), 1);
}

#[test]
fn the_manifest_of_a_tenant_plans_nothing() {
    let mut state = state(&["CLERK"]);
    assert!(matches!(state.manifest(), Err(Error::Conflict(_))), "two accounts have one name");
    state.accounts.remove("Twin");
    assert!(matches!(state.manifest(), Err(Error::Conflict(_))), "two webhooks have one address");
    state.webhooks.remove("https://example.com/twin");
    let manifest = state.manifest().unwrap();
    assert_eq!(manifest.items(), 11);
    let text = serde_json::to_value(&manifest).unwrap();
    assert_eq!(changes(&state, &text, true), Vec::<String>::new());
}

#[test]
fn every_error_of_a_manifest_is_named() {
    let state = state(&["root"]);
    let unknown = "must be an organization of this manifest or of the tenant";
    let again = "is the same as in an item before it";
    let cases: Vec<(Value, Vec<String>)> = vec![
        (
            json!({ "settings": { "name": "", "secondFactorGraceDays": 91 } }),
            vec![
                "settings.name must be 1 to 120 characters".into(),
                "settings.secondFactorGraceDays must be 0 to 90 days".into(),
            ],
        ),
        (
            json!({ "permissions": [
                { "name": "orders:read", "description": "Other" }, { "name": "a:b" }, { "name": "a:b" },
            ] }),
            vec![
                r#"permissions[0].description cannot change; it is "Read orders""#.into(),
                format!("permissions[2].name {again}"),
            ],
        ),
        (json!({ "roles": [{ "name": "CLERK" }, { "name": "CLERK" }] }), vec![format!("roles[1].name {again}")]),
        (
            json!({ "webhooks": [
                { "url": "https://example.com/twin", "types": ["USER.*"] },
                { "url": "https://example.com/new", "types": ["USER.*"] },
                { "url": "https://example.com/new", "types": ["USER.*"] },
            ] }),
            vec!["webhooks[0].url is the address of several webhooks".into(), format!("webhooks[2].url {again}")],
        ),
        (
            json!({ "directories": [
                { "serviceAccount": "Robot", "name": "One", "identityProvider": "okta" },
                { "serviceAccount": "Robot", "name": "Two" },
                { "serviceAccount": "Twin", "name": "Three" },
                { "serviceAccount": "Nobody", "name": "Four" },
            ] }),
            vec![
                "directories[0].identityProvider must be an identity provider of this manifest or of the tenant".into(),
                format!("directories[1].serviceAccount {again}"),
                "directories[2].serviceAccount is the name of several service accounts".into(),
                "directories[3].serviceAccount must be a service account of this manifest or of the tenant".into(),
            ],
        ),
        (
            json!({ "organizations": [
                { "slug": "root", "name": "root" }, { "slug": "root", "name": "root" },
                { "slug": "new", "name": "New", "parent": "nowhere" },
                { "slug": "gone", "name": "Gone", "status": "INACTIVE" },
            ] }),
            vec![
                format!("organizations[1].slug {again}"),
                "organizations[3].status must be ACTIVE or SUSPENDED".into(),
                format!("organizations[2].parent {unknown}"),
            ],
        ),
        (
            json!({ "serviceAccounts": [
                { "name": "Twin" },
                { "name": "New", "home": "nowhere", "assignments": [{ "role": "NONE", "organization": "nowhere" }] },
                { "name": "New" },
                { "name": "Robot", "assignments": [{ "role": "CLERK" }, { "role": "CLERK" }] },
            ] }),
            vec![
                "serviceAccounts[0].name is the name of several service accounts".into(),
                format!("serviceAccounts[1].home {unknown}"),
                "serviceAccounts[1].assignments[0].role must be a role of this manifest or of the tenant".into(),
                format!("serviceAccounts[1].assignments[0].organization {unknown}"),
                format!("serviceAccounts[2].name {again}"),
                format!("serviceAccounts[3].assignments[1].role {again}"),
            ],
        ),
        (
            json!({ "identityProviders": [
                { "slug": "new", "name": "", "issuer": "login", "clientId": "a b" },
                entra(&json!({ "domains": ["example.org"], "roles": [{ "role": "NONE", "organization": "nowhere" }] })),
                entra(&json!({ "domains": vec!["example.com"; 51], "roles": [] })),
            ] }),
            vec![
                "identityProviders[0].name must be 1 to 120 characters".into(),
                "identityProviders[0].issuer must be a URL such as https://login.example.com, without a query, at most \
                 512 characters"
                    .into(),
                "identityProviders[0].clientId must be 1 to 255 visible characters of ASCII".into(),
                "identityProviders[1].domains[0] must be a domain of the tenant".into(),
                "identityProviders[1].roles[0].role must be a role of this manifest or of the tenant".into(),
                format!("identityProviders[1].roles[0].organization {unknown}"),
                "identityProviders[2].domains must have at most 50 items".into(),
                format!("identityProviders[2].slug {again}"),
            ],
        ),
        // What is to be removed cannot be named by something that stays.
        (
            json!({
                "organizations": [{ "slug": "branch", "name": "branch", "parent": "root" }],
                "serviceAccounts": [
                    { "name": "Robot", "home": "root", "assignments": [{ "role": "CLERK", "organization": "root" }] },
                ],
            }),
            ["organizations[0].parent", "serviceAccounts[0].home", "serviceAccounts[0].assignments[0].organization"]
                .map(|field| {
                    format!("{field} is an organization that is removed, because this manifest does not have it")
                })
                .to_vec(),
        ),
        // A circle of new organizations, and one by a move below its own child. `after` is below a circle.
        (
            json!({ "organizations": [
                { "slug": "one", "name": "One", "parent": "two" },
                { "slug": "two", "name": "Two", "parent": "one" },
                { "slug": "after", "name": "After", "parent": "two" },
                { "slug": "root", "name": "root", "parent": "branch" },
                { "slug": "self", "name": "Self", "parent": "self" },
            ] }),
            ["one", "two", "root", "self"]
                .into_iter()
                .zip([0, 1, 3, 4])
                .map(|(slug, number)| {
                    format!(
                        "organizations[{number}].parent is below the organization {slug}: the parents form a circle"
                    )
                })
                .collect(),
        ),
    ];
    for (manifest, expected) in cases {
        assert_eq!(planned(&state, &manifest, true).unwrap_err(), expected, "{manifest}");
    }
}

#[test]
fn a_manifest_has_a_limited_number_of_items_and_errors() {
    let state = state(&[]);
    let permissions = |count: usize, name: fn(usize) -> String| {
        let items: Vec<Value> = (0..count).map(|number| json!({ "name": name(number) })).collect();
        json!({ "permissions": items })
    };
    let valid = |number: usize| format!("orders:do-{number}");
    assert_eq!(planned(&state, &permissions(MAX_ITEMS, valid), false).unwrap().steps.len(), MAX_ITEMS);
    let refused = planned(&state, &permissions(100_000, valid), false).unwrap_err();
    assert_eq!(refused, ["$ must have at most 5000 items; it has 100000"]);
    let refused = planned(&state, &permissions(1_000, |_| "Orders".to_owned()), false).unwrap_err();
    assert_eq!(refused.len(), 100);
}

/// The time for a tree grows with its organizations, also if each is below the one before, and all form a circle.
#[test]
fn a_long_way_up_is_walked_once() {
    let state = state(&[]);
    let organizations = |last: &str| {
        let items = (0..MAX_ITEMS).map(|number| {
            let parent = if number == 0 { last.to_owned() } else { format!("o{}", number - 1) };
            json!({ "slug": format!("o{number}"), "name": "O", "parent": parent })
        });
        json!({ "organizations": items.collect::<Vec<_>>() })
    };
    assert_eq!(planned(&state, &organizations("root"), false).unwrap().steps.len(), MAX_ITEMS);
    let refused = planned(&state, &organizations(&format!("o{}", MAX_ITEMS - 1)), false).unwrap_err();
    assert_eq!(refused.len(), 100);
}

/// A tenant whose removals are as many as may be: three for the robot with its two roles, and those of other roles.
fn with_many_roles(made: &[&str]) -> State {
    let mut state = state(made);
    for number in 3..MAX_CHANGES {
        let made = role(&format!("ROLE_{number}"), &[], false);
        state.made.insert(made.id.into());
        state.roles.insert(made.name.to_string(), made);
    }
    state
}

/// The robot holds two roles that no manifest has given. They count, and the settings do not.
#[test]
fn a_run_makes_a_limited_number_of_changes() {
    let state = with_many_roles(&["robot"]);
    let empty = json!({ "settings": { "name": "New" } });
    assert_eq!(planned(&state, &empty, true).unwrap().steps.len(), MAX_CHANGES - 1);
    let one_more = json!({ "permissions": [{ "name": "orders:refund" }] });
    let refused = planned(&state, &one_more, true).unwrap_err();
    let expected = "$ must change at most 5000 items at once; it changes 5001. Name more of the items that it removes, \
                    or remove some of them one by one first";
    assert_eq!(refused, [expected]);
    assert_eq!(planned(&state, &one_more, false).unwrap().steps.len(), 1);
}

/// A role that a step revokes counts once.
#[test]
fn a_removed_account_counts_with_its_other_roles() {
    let state = with_many_roles(&["robot", "in-root"]);
    assert_eq!(planned(&state, &json!({}), true).unwrap().steps.len(), MAX_CHANGES - 1);
}
