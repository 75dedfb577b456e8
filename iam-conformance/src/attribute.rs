//! Attributes of users and organizations, and the search by their values.

use std::sync::Arc;

use iam_model::access::VisibleScope;
use iam_model::attribute::{
    AttributeDefinitions, AttributeFilter, AttributeOwner, Attributes, ChangedAttributes, UnregisteredAttributes,
};
use iam_model::change::{OrganizationChange, TenantChange, UserChange};
use iam_model::id::OrganizationId;
use iam_model::organization::{OrganizationFilter, OrganizationSort};
use iam_model::page::PageRequest;
use iam_model::store::Store;
use iam_model::tenant::Tenant;
use iam_model::user::{User, UserFilter, UserSort, UserStatus};
use iam_model::validate::Fields;
use serde_json::{Value, json};

use crate::world::World;

const DEFINITIONS: &str = r#"[
    {"key":"text","type":"STRING","searchable":true},
    {"key":"number","type":"NUMBER","searchable":true},
    {"key":"flag","type":"BOOLEAN","searchable":true}
]"#;

fn attributes(value: Value) -> Attributes {
    serde_json::from_value(value).unwrap()
}

fn definitions() -> AttributeDefinitions {
    AttributeDefinitions::stored(DEFINITIONS).unwrap()
}

fn filter(text: &str) -> Option<AttributeFilter> {
    Some(AttributeFilter::parse(&mut Fields::default(), "attribute", text, &definitions()).unwrap())
}

/// Texts that a database may change or refuse, deep values, and numbers at the ends of their ranges.
fn unusual() -> Attributes {
    attributes(json!({
        "text": "\u{1}\"'\\ %_ß😀\u{2028}</script>",
        "empty": "",
        "long": "x".repeat(16_000),
        "numbers": [0, -1, u64::MAX, i64::MIN, 1.5, 1e300],
        "deep": { "z": [{ "a": null }], "a": false },
    }))
}

async fn set(world: &World, user: &User, before: &Attributes, after: &Attributes) -> User {
    let changed = user.clone().changed(world.now());
    let attributes = ChangedAttributes { before: before.clone(), after: after.clone() };
    let change = UserChange::Update {
        before: user.clone(),
        after: changed.clone(),
        grants: None,
        attributes: Some(attributes.into()),
    };
    world.commit(user.tenant_id, change).await;
    changed
}

async fn read(world: &World, tenant: &Tenant, owner: impl Into<AttributeOwner>) -> Attributes {
    let owner = owner.into();
    let found = world.store.attributes(tenant.id, owner).await.unwrap();
    assert_eq!(world.locked(tenant.id, async |locks| locks.attributes(owner).await.unwrap()).await, found);
    found
}

/// Attributes are written with their user or organization, read back unchanged, in their tenant alone, and stay when
/// another field changes.
pub async fn attributes_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (user, first) = (world.new_user(&acme, "ada@example.com"), unusual());
    let create = UserChange::Create { user: user.clone(), password: None, invitation: None, attributes: first.clone() };
    world.commit(acme.id, create).await;
    assert_eq!(read(&world, &acme, user.id).await, first);
    assert_eq!(read(&world, &other, user.id).await, Attributes::default());
    let second = attributes(json!({ "text": "b" }));
    let user = set(&world, &user, &first, &second).await;
    assert_eq!(read(&world, &acme, user.id).await, second);
    assert_eq!(world.store.user(acme.id, user.id).await.unwrap().map(|found| found.version), Some(user.version));
    let renamed = User { first_name: "Augusta".parse().unwrap(), ..user.clone() }.changed(world.now());
    let rename = UserChange::Update { before: user, after: renamed.clone(), grants: None, attributes: None };
    world.commit(acme.id, rename).await;
    assert_eq!(read(&world, &acme, renamed.id).await, second);
    let plain = world.user(&acme, "grace@example.com").await;
    let whole = world.store.user_with_attributes(acme.id, renamed.id).await.unwrap().unwrap();
    assert_eq!((whole.0.version, whole.1), (renamed.version, second.clone()));
    let whole = world.store.user_with_attributes(acme.id, plain.id).await.unwrap();
    assert_eq!(whole, Some((plain.clone(), Attributes::default())));
    assert_eq!(world.store.user_with_attributes(other.id, plain.id).await.unwrap(), None);
    let several = [plain.id, renamed.id, world.id()];
    assert_eq!(world.store.attributes_of(acme.id, &several).await.unwrap(), [(renamed.id, second.clone())]);
    assert_eq!(world.store.attributes_of(other.id, &several).await.unwrap(), []);
    let user = set(&world, &renamed, &second, &Attributes::default()).await;
    assert_eq!(read(&world, &acme, user.id).await, Attributes::default());

    let organization = world.new_organization(acme.id, "north");
    let create = OrganizationChange::Create { organization: organization.clone(), attributes: first.clone() };
    world.commit(acme.id, create).await;
    assert_eq!(read(&world, &acme, organization.id).await, first);
    let update = OrganizationChange::Update {
        before: organization.clone(),
        after: organization.clone().changed(world.now()),
        activated: None,
        attributes: Some(ChangedAttributes { before: first, after: second.clone() }.into()),
    };
    world.commit(acme.id, update).await;
    assert_eq!(read(&world, &acme, organization.id).await, second);
    assert_eq!(read(&world, &acme, world.id::<OrganizationId>()).await, Attributes::default());
}

/// The attributes of an erased user are forgotten, and it is found by none of them any more. Nothing is recorded.
pub async fn attributes_are_forgotten(store: Arc<dyn Store>) {
    let world = World::new(store);
    let acme = world.tenant("acme").await;
    let user = world.user(&acme, "ada@example.com").await;
    let first = attributes(json!({ "text": "a" }));
    let user = set(&world, &user, &Attributes::default(), &first).await;
    world.commit(acme.id, UserChange::ForgetAttributes { after: user.clone().changed(world.now()) }).await;
    assert_eq!(read(&world, &acme, user.id).await, Attributes::default());
    let by = UserFilter { attribute: filter("text:a"), ..UserFilter::default() };
    assert_eq!(users(&world, &acme, by).await, Vec::<String>::new());
}

async fn users(world: &World, tenant: &Tenant, filter: UserFilter) -> Vec<String> {
    let (scope, sort) = (VisibleScope::Tenant, UserSort::default());
    let found = world.store.users(tenant.id, &filter, &scope, sort, PageRequest::default(), world.now()).await;
    let found = found.unwrap();
    assert_eq!(found.total, found.items.len() as u64);
    found.items.into_iter().map(|user| user.email.to_string()).collect()
}

/// Users and organizations are found by exactly their value, of their type, in their tenant; together with the other
/// filters and with the visible scope.
pub async fn lists_filter_by_attributes(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let root = world.organization(&acme, "root").await;
    for (number, (name, value)) in [
        ("a", json!({ "text": "4711", "number": 7, "flag": true })),
        ("b", json!({ "text": "4711 ", "number": 7.0, "flag": "true" })),
        ("c", json!({ "text": "4711", "number": "7", "flag": false })),
        ("d", json!({ "text": "É", "number": -7 })),
    ]
    .into_iter()
    .enumerate()
    {
        world.tick();
        let home = (number == 0).then_some(root.id);
        let user = User { home_organization_id: home, ..world.new_user(&acme, &format!("{name}@example.com")) };
        let value = attributes(value);
        let create = UserChange::Create { user, password: None, invitation: None, attributes: value.clone() };
        world.commit(acme.id, create).await;
        let foreign = world.new_user(&other, &format!("{name}@example.com"));
        let create = UserChange::Create { user: foreign, password: None, invitation: None, attributes: value };
        world.commit(other.id, create).await;
    }
    let by = |text: &str| UserFilter { attribute: filter(text), ..UserFilter::default() };
    for (text, expected) in [
        ("text:4711", &["a", "c"][..]),
        ("text:4711 ", &["b"]),
        ("text:471", &[]),
        ("text:é", &[]),
        ("text:É", &["d"]),
        ("text:%", &[]),
        ("number:7", &["a", "b"]),
        ("number:-7", &["d"]),
        ("flag:true", &["a"]),
        ("flag:false", &["c"]),
    ] {
        let mut found = users(&world, &acme, by(text)).await;
        found.sort_unstable();
        let expected: Vec<String> = expected.iter().map(|name| format!("{name}@example.com")).collect();
        assert_eq!(found, expected, "{text}");
    }
    let suspended = UserFilter { status: Some(UserStatus::Suspended), ..by("text:4711") };
    assert_eq!(users(&world, &acme, suspended).await, Vec::<String>::new());
    let searched = UserFilter { search: Some("c@".into()), ..by("text:4711") };
    assert_eq!(users(&world, &acme, searched).await, ["c@example.com"]);
    let scope = VisibleScope::Organizations(vec![root.id]);
    let (sort, page) = (UserSort::default(), PageRequest::default());
    let within = world.store.users(acme.id, &by("text:4711"), &scope, sort, page, world.now()).await.unwrap();
    let within: Vec<String> = within.items.iter().map(|user| user.email.to_string()).collect();
    assert_eq!(within, ["a@example.com"]);
    let first = PageRequest::new(1, 1).unwrap();
    let cut = world.store.users(acme.id, &by("number:7"), &VisibleScope::Tenant, sort, first, world.now()).await;
    assert_eq!(cut.map(|page| (page.total, page.items.len())).unwrap(), (2, 1));

    let organization = world.new_organization(acme.id, "north");
    let create = OrganizationChange::Create {
        organization: organization.clone(),
        attributes: attributes(json!({ "text": "4711" })),
    };
    world.commit(acme.id, create).await;
    for (text, expected) in [("text:4711", vec![organization.id]), ("text:4712", vec![])] {
        let filter = OrganizationFilter { attribute: filter(text), ..OrganizationFilter::default() };
        let sort = OrganizationSort::default();
        let found = world.store.organizations(acme.id, &filter, &VisibleScope::Tenant, sort, page).await.unwrap();
        let found: Vec<OrganizationId> = found.items.iter().map(|found| found.id).collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// The rules of a tenant are read with the tenant and alone.
pub async fn rules_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (before, other) = (world.tenant("acme").await, world.tenant("other").await);
    let after = Tenant {
        user_attributes: definitions(),
        organization_attributes: AttributeDefinitions::stored(r#"[{"key":"a","type":"OBJECT"}]"#).unwrap(),
        unregistered_attributes: UnregisteredAttributes::Refused,
        ..before.clone()
    }
    .changed(world.now());
    world.commit(before.id, TenantChange::Update { before, after: after.clone() }).await;
    assert_eq!(world.store.tenant(after.id).await.unwrap().as_ref(), Some(&after));
    let rules = world.locked(after.id, async |locks| locks.attribute_rules().await.unwrap()).await;
    assert_eq!(rules, after.attribute_rules());
    let rules = world.locked(other.id, async |locks| locks.attribute_rules().await.unwrap()).await;
    assert_eq!(rules, other.attribute_rules());
    let user = world.user(&after, "ada@example.com").await;
    let candidates = world.store.login_candidates(&user.email.key(), 10).await.unwrap();
    assert_eq!(candidates.accounts[0].tenant, after);
}
