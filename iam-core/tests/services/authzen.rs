//! AuthZEN: evaluations and searches agree with the checks, name as the tenant has chosen, and read no more.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::TimeDelta;
use iam_core::access::{Decision, Denial, Question};
use iam_core::assignment::NewAssignment;
use iam_core::authzen::{AuthzenIdentifiers, Evaluation, MAX_EVALUATIONS, Resource, Subject};
use iam_core::credential::{HashingCost, LoginFailure};
use iam_core::observe::Observer;
use iam_core::organization::{NewOrganization, OrganizationPatch, OrganizationStatus};
use iam_core::page::PageRequest;
use iam_core::permission::{NewPermission, Permission};
use iam_core::role::{NewRole, RoleScope};
use iam_core::tenant::{Registration, TenantPatch};
use iam_core::user::{User, UserPatch, UserStatus};
use iam_core::{Caller, Error, Iam, OrganizationId, RequestContext, Settings, StoreError, UserId};
use iam_store_memory::MemoryStore;

use crate::company::{Company, person};

/// The permissions of the table: three of the application, one of which is about organizations, and a built-in one.
const PERMISSIONS: [(&str, &str); 4] =
    [("orders", "read"), ("orders", "refund"), ("organization", "view"), ("users", "read")];

/// A tenant with a tree of organizations, and users who hold roles in it.
struct World {
    company: Company,
    /// `root` is above `branch`, and that above `team`; `asleep` is a suspended root.
    organizations: Vec<OrganizationId>,
    users: Vec<User>,
}

fn subject(id: &str) -> Subject<'_> {
    Subject { kind: "user", id }
}

fn resource<'a>(kind: &'a str, id: &'a str, organization: Option<&'a str>) -> Resource<'a> {
    Resource { kind, id, organization }
}

async fn give(iam: &Iam, by: &Caller, user: UserId, permissions: &[&str], place: Option<OrganizationId>, days: i64) {
    let number = iam.roles().list(by, PageRequest::default()).await.unwrap().total;
    let permissions = permissions.iter().map(|text| (*text).to_owned()).collect();
    let new = NewRole { name: format!("ROLE_{number}"), description: None, scope: RoleScope::Any, permissions };
    let role = iam.roles().create(by, new).await.unwrap().id;
    let expires_at = (days > 0).then(|| iam.now() + TimeDelta::days(days));
    iam.assignments().create(by, NewAssignment { user, role, organization: place, expires_at }).await.unwrap();
}

async fn organization(iam: &Iam, by: &Caller, slug: &str, parent: Option<OrganizationId>) -> OrganizationId {
    let new = NewOrganization { name: slug.to_owned(), slug: Some(slug.to_owned()), parent };
    iam.organizations().create(by, new).await.unwrap().organization.id
}

async fn set_identifiers(company: &Company, identifiers: AuthzenIdentifiers) {
    let patch = TenantPatch { authzen_identifiers: Some(identifiers), ..TenantPatch::default() };
    company.iam.tenants().update(&company.system, company.ada.tenant(), patch).await.unwrap();
}

async fn set_status(company: &Company, user: UserId, status: UserStatus) {
    let patch = UserPatch { status: Some(status), ..UserPatch::default() };
    company.iam.users().update(&company.system, user, patch).await.unwrap();
}

impl World {
    async fn new() -> Self {
        let company = Company::new().await;
        let (iam, system) = (&company.iam, &company.system);
        for (kind, action) in &PERMISSIONS[..3] {
            let new = NewPermission { name: format!("{kind}:{action}"), description: None };
            iam.permissions().create(system, new).await.unwrap();
        }
        let root = organization(iam, system, "root", None).await;
        let branch = organization(iam, system, "branch", Some(root)).await;
        let team = organization(iam, system, "team", Some(branch)).await;
        let asleep = organization(iam, system, "asleep", None).await;
        let mut users = Vec::new();
        for (name, held) in [
            ("wide", vec![(&["orders:read", "organization:view"][..], None, 0)]),
            ("local", vec![(&["orders:*"][..], Some(branch), 0), (&["organization:view"][..], Some(team), 0)]),
            ("all", vec![(&["*"][..], Some(root), 0)]),
            ("asleep", vec![(&["orders:read", "users:read"][..], Some(asleep), 0)]),
            ("expired", vec![(&["orders:refund", "organization:view"][..], None, 1)]),
            ("suspended", vec![(&["orders:read", "organization:view"][..], None, 0)]),
            ("bare", vec![]),
        ] {
            let user = iam.users().create(system, person(&format!("{name}@example.com"))).await.unwrap();
            for (permissions, place, days) in held {
                give(iam, system, user.id, permissions, place, days).await;
            }
            users.push(user);
        }
        let patch = OrganizationPatch { status: Some(OrganizationStatus::Suspended), ..OrganizationPatch::default() };
        iam.organizations().update(system, asleep, patch).await.unwrap();
        set_status(&company, users[5].id, UserStatus::Suspended).await;
        company.clock.advance(TimeDelta::days(2));
        Self { company, organizations: vec![root, branch, team, asleep], users }
    }

    fn places(&self) -> impl Iterator<Item = Option<OrganizationId>> {
        [None].into_iter().chain(self.organizations.iter().copied().map(Some))
    }

    async fn evaluate(&self, by: &Caller, user: &str, action: &str, resource: Resource<'_>) -> Decision {
        let evaluation = Evaluation { subject: subject(user), action, resource };
        self.company.iam.authzen().evaluate(by, evaluation).await.unwrap()
    }
}

/// The resource of a permission in a place.
fn located<'a>(kind: &'a str, place: Option<&'a str>) -> Resource<'a> {
    match (kind, place) {
        ("organization", Some(place)) => resource(kind, place, None),
        _ => resource(kind, "17", place),
    }
}

#[tokio::test]
async fn every_evaluation_is_the_decision_of_a_check() {
    let world = World::new().await;
    let (iam, by) = (&world.company.iam, &world.company.system);
    let mut asked = Vec::new();
    let mut expected = Vec::new();
    for user in &world.users {
        for (kind, action) in PERMISSIONS {
            for place in world.places().filter(|place| place.is_some() || kind != "organization") {
                let permission = format!("{kind}:{action}").parse().unwrap();
                let question = Question { permission, organization: place, user: Some(user.id), at: None };
                expected.push(iam.access().check(by, question).await.unwrap());
                asked.push((user.id.to_string(), kind, action, place.map(|place| place.to_string())));
            }
        }
    }
    let evaluations: Vec<Evaluation<'_>> = asked
        .iter()
        .map(|(user, kind, action, place)| Evaluation {
            subject: subject(user),
            action,
            resource: located(kind, place.as_deref()),
        })
        .collect();
    assert!(expected.iter().filter(|decision| decision.is_allowed()).count() > 20);
    for (number, evaluation) in evaluations.iter().enumerate() {
        let decision = iam.authzen().evaluate(by, *evaluation).await.unwrap();
        assert_eq!(decision, expected[number], "{:?}", asked[number]);
    }
    for (evaluations, expected) in evaluations.chunks(MAX_EVALUATIONS).zip(expected.chunks(MAX_EVALUATIONS)) {
        assert_eq!(iam.authzen().evaluate_all(by, evaluations).await.unwrap(), expected);
    }
    let many = vec![evaluations[0]; MAX_EVALUATIONS + 1];
    for wrong in [&many[..], &[]] {
        assert!(matches!(iam.authzen().evaluate_all(by, wrong).await, Err(Error::Validation(_))));
    }
}

#[tokio::test]
async fn what_does_not_exist_is_denied() {
    let world = World::new().await;
    let company = &world.company;
    let registration = Registration { user: person("eve@example.org"), tenant_name: None };
    let foreign = company.iam.tenants().register(&RequestContext::default(), registration).await.unwrap();
    let foreign_tenant = Caller::system(foreign.login.user.tenant_id, "test");
    let foreign_place = organization(&company.iam, &foreign_tenant, "foreign", None).await.to_string();
    let foreign_user = foreign.login.user.id.to_string();
    let (wide, ada) = (world.users[0].id.to_string(), company.ada.user().unwrap().to_string());
    let unknown = world.users[0].tenant_id.to_string();
    let root = world.organizations[0].to_string();
    assert!(world.evaluate(&company.ada, &wide, "read", resource("orders", "1", None)).await.is_allowed());
    for (user, action, resource) in [
        (&foreign_user, "read", resource("orders", "1", None)),
        (&unknown, "read", resource("orders", "1", None)),
        (&"wide@example.com".to_owned(), "read", resource("orders", "1", None)),
        (&String::new(), "read", resource("orders", "1", None)),
        (&wide, "read", resource("orders", "1", Some(&foreign_place))),
        (&wide, "read", resource("orders", "1", Some(&unknown))),
        (&wide, "read", resource("orders", "1", Some("root"))),
        (&wide, "read", resource("orders", "1", Some(""))),
        (&wide, "view", resource("organization", &foreign_place, None)),
        // The property does not say which organization it is.
        (&wide, "view", resource("organization", &foreign_place, Some(&root))),
        (&wide, "", resource("orders", "1", None)),
        (&wide, "*", resource("orders", "1", None)),
        // No role has it but those with a wildcard, and it is not registered.
        (&ada, "raed", resource("orders", "1", None)),
        (&ada, "read", resource("order", "1", None)),
        (&ada, "read", resource("organization", &root, None)),
    ] {
        let decision = world.evaluate(&company.ada, user, action, resource).await;
        assert_eq!(decision.denial, Some(Denial::Unknown), "{user} {action} {resource:?}");
    }
    let evaluation = Evaluation {
        subject: Subject { kind: "robot", id: &wide },
        action: "read",
        resource: resource("orders", "1", None),
    };
    let decision = company.iam.authzen().evaluate(&company.ada, evaluation).await.unwrap();
    assert_eq!(decision.denial, Some(Denial::Unknown));
}

#[tokio::test]
async fn a_user_in_a_session_asks_about_itself_alone() {
    let world = World::new().await;
    let company = &world.company;
    let authzen = company.iam.authzen();
    let (local, bare) = (company.log_in(&world.users[1]).await, world.users[6].id.to_string());
    let own = world.users[1].id.to_string();
    let [root, branch, ..] = &world.organizations[..] else { panic!("the tree is larger") };
    let (root, branch, unknown) = (root.to_string(), branch.to_string(), world.users[1].id.to_string());
    let page = PageRequest::default();
    assert!(world.evaluate(&local, &own, "read", resource("orders", "1", Some(&branch))).await.is_allowed());
    let elsewhere = world.evaluate(&local, &own, "read", resource("orders", "1", None)).await;
    assert_eq!(elsewhere.denial, Some(Denial::HeldElsewhere));
    // An organization in which it holds nothing is as unknown as one that does not exist.
    for place in [&root, &unknown] {
        let decision = world.evaluate(&local, &own, "read", resource("orders", "1", Some(place))).await;
        assert_eq!(decision.denial, Some(Denial::Unknown));
    }
    let place = resource("orders", "1", Some(&branch));
    assert_eq!(authzen.search_actions(&local, subject(&own), place, page).await.unwrap().items, ["read", "refund"]);
    let found = authzen.search_resources(&local, subject(&own), "view", "organization", page).await.unwrap();
    assert_eq!(found.items, [world.organizations[2].to_string()]);

    let key = company.key(company.account(&["users:read"]).await).await;
    let robot = key.user().unwrap().to_string();
    for (by, other) in [(&local, &bare), (&local, &unknown[..8].to_owned()), (&key, &robot)] {
        let evaluation = |user| Evaluation { subject: subject(user), action: "read", resource: place };
        let refused = [
            authzen.evaluate(by, evaluation(other)).await.err(),
            authzen.evaluate_all(by, &[evaluation(&own), evaluation(other)]).await.err(),
            authzen.search_actions(by, subject(other), place, page).await.err(),
            authzen.search_resources(by, subject(other), "view", "organization", page).await.err(),
            authzen.search_subjects(by, "user", "read", place, page).await.err(),
        ];
        for refused in refused {
            assert!(matches!(refused, Some(Error::Forbidden(_))), "{refused:?}");
        }
    }
    // The permission in an organization is not enough.
    give(&company.iam, &company.system, world.users[1].id, &["role-assignments:read"], Some(world.organizations[0]), 0)
        .await;
    let local = company.log_in(&world.users[1]).await;
    let refused = authzen.search_subjects(&local, "user", "read", place, page).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))));
}

/// All results of a search, page by page.
async fn all(search: impl AsyncFn(PageRequest) -> iam_core::page::Page<String>) -> Vec<String> {
    let mut found = Vec::new();
    for number in 1.. {
        let page = search(PageRequest::new(number, 2).unwrap()).await;
        assert!(page.items.len() <= 2);
        let has_next = page.has_next();
        found.extend(page.items);
        if !has_next {
            return found;
        }
    }
    found
}

#[tokio::test]
async fn a_search_finds_what_is_evaluated_to_true_and_nothing_else() {
    let world = World::new().await;
    let (iam, ada) = (&world.company.iam, &world.company.ada);
    let authzen = iam.authzen();
    let users: Vec<String> =
        world.users.iter().map(|user| user.id).chain(ada.user()).map(|user| user.to_string()).collect();
    for identifiers in [AuthzenIdentifiers::Id, AuthzenIdentifiers::Name] {
        set_identifiers(&world.company, identifiers).await;
        let system = &world.company.system;
        let is_by_id = identifiers == AuthzenIdentifiers::Id;
        let users: Vec<String> = match is_by_id {
            true => users.clone(),
            false => {
                world.users.iter().map(|user| user.email.to_string()).chain(["ada@other.example".into()]).collect()
            }
        };
        let places: Vec<String> = match is_by_id {
            true => world.organizations.iter().map(OrganizationId::to_string).collect(),
            false => ["root", "branch", "team", "asleep"].map(str::to_owned).into(),
        };
        let mut found_any = 0;
        for (kind, action) in PERMISSIONS.into_iter().chain([("orders", "cancel")]) {
            for place in [None].into_iter().chain(places.iter().map(|place| Some(place.as_str()))) {
                let asked = located(kind, place);
                let found =
                    all(async |page| authzen.search_subjects(system, "user", action, asked, page).await.unwrap());
                let found = BTreeSet::from_iter(found.await);
                let mut expected = BTreeSet::new();
                for user in &users {
                    if world.evaluate(system, user, action, asked).await.is_allowed() {
                        expected.insert(user.clone());
                    }
                }
                assert_eq!(found, expected, "{kind}:{action} {place:?}");
                found_any += found.len();
            }
        }
        assert!(found_any > 20);
        for user in &users {
            let found = all(async |page| {
                authzen.search_resources(system, subject(user), "view", "organization", page).await.unwrap()
            });
            let found = BTreeSet::from_iter(found.await);
            let mut expected = BTreeSet::new();
            for place in &places {
                if world.evaluate(system, user, "view", located("organization", Some(place))).await.is_allowed() {
                    expected.insert(place.clone());
                }
                for (kind, actions) in [("orders", &["read", "refund"][..]), ("organization", &["view"]), ("none", &[])]
                {
                    let asked = located(kind, Some(place));
                    let found =
                        all(async |page| authzen.search_actions(system, subject(user), asked, page).await.unwrap());
                    let mut expected = Vec::new();
                    for action in actions {
                        if world.evaluate(system, user, action, asked).await.is_allowed() {
                            expected.push(*action);
                        }
                    }
                    assert_eq!(found.await, expected, "{user} {kind} {place}");
                }
            }
            assert_eq!(found, expected, "{user}");
        }
    }
}

#[tokio::test]
async fn a_search_for_what_does_not_exist_finds_nothing() {
    let world = World::new().await;
    let (authzen, ada) = (world.company.iam.authzen(), &world.company.ada);
    let (own, unknown) = (ada.user().unwrap().to_string(), ada.tenant().to_string());
    let (own, unknown, page) = (own.as_str(), unknown.as_str(), PageRequest::default());
    let orders = resource("orders", "1", None);
    let of_subjects = [
        ("robot", "read", orders),
        ("User", "read", orders),
        ("user", "raed", orders),
        ("user", "re ad", orders),
        ("user", "read", resource("none", "1", None)),
        ("user", "read", resource("orders", "1", Some(unknown))),
        ("user", "view", resource("organization", "", None)),
    ];
    for (kind, action, asked) in of_subjects {
        let found = authzen.search_subjects(ada, kind, action, asked, page).await.unwrap();
        assert_eq!((found.items.len(), found.total), (0, 0), "{kind} {action} {asked:?}");
    }
    for (user, action, kind) in [
        (own, "read", "orders"),
        (own, "read", "organizations"),
        (own, "read", "organization"),
        (own, "*", "organization"),
        (unknown, "view", "organization"),
        ("", "view", "organization"),
    ] {
        let found = authzen.search_resources(ada, subject(user), action, kind, page).await.unwrap();
        assert_eq!((found.items.len(), found.total), (0, 0), "{user} {action} {kind}");
    }
    for (user, asked) in [
        (own, resource("none", "1", None)),
        (own, resource("*", "1", None)),
        (own, resource("orders\0", "1", None)),
        (own, resource("orders", "1", Some(unknown))),
        (own, resource("organization", unknown, None)),
        (unknown, orders),
    ] {
        let found = authzen.search_actions(ada, subject(user), asked, page).await.unwrap();
        assert_eq!((found.items.len(), found.total), (0, 0), "{user} {asked:?}");
    }
}

#[tokio::test]
async fn a_text_that_names_two_users_names_none() {
    let company = Company::new().await;
    let (iam, system) = (&company.iam, &company.system);
    set_identifiers(&company, AuthzenIdentifiers::Name).await;
    let carl = company.user("carl@example.com", &["users:read"]).await;
    let named = |id: &str| UserPatch { external_id: Some(Some(id.to_owned())), ..UserPatch::default() };
    iam.users().update(system, carl.id, named("dora@example.com")).await.unwrap();
    let holders = async || {
        let all = resource("users", "1", None);
        let page = PageRequest::default();
        let found = iam.authzen().search_subjects(system, "user", "read", all, page).await.unwrap().items;
        found.into_iter().collect::<BTreeSet<String>>()
    };
    let only = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
    let may = async |user: &str| {
        let evaluation = Evaluation { subject: subject(user), action: "read", resource: resource("users", "1", None) };
        iam.authzen().evaluate(system, evaluation).await.unwrap().denial
    };
    assert_eq!(may("dora@example.com").await, None);
    assert_eq!(holders().await, only(&["ada@other.example", "dora@example.com"]));
    // Otherwise the one who takes the address would count as the other one.
    let dora = company.user("dora@example.com", &[]).await;
    assert_eq!(may("dora@example.com").await, Some(Denial::Unknown));
    assert_eq!(holders().await, only(&["ada@other.example"]));
    company.give(dora.id, &["users:read"]).await;
    assert_eq!(may("dora@example.com").await, Some(Denial::Unknown));
    assert_eq!(holders().await, only(&["ada@other.example"]));
    // Each still has its other name.
    assert_eq!(may("carl@example.com").await, None);
    iam.users().update(system, dora.id, named("E-4")).await.unwrap();
    assert_eq!(may("E-4").await, None);
    assert_eq!(holders().await, only(&["ada@other.example", "E-4"]));
    // An identifier is no name.
    assert_eq!(may(&carl.id.to_string()).await, Some(Denial::Unknown));
}

#[tokio::test]
async fn a_session_takes_up_how_its_tenant_names() {
    let company = Company::new().await;
    let user = company.user("carl@example.com", &["role-assignments:read"]).await;
    for (identifiers, known, unknown) in [
        (AuthzenIdentifiers::Id, user.id.to_string(), "carl@example.com".to_owned()),
        (AuthzenIdentifiers::Name, "carl@example.com".to_owned(), user.id.to_string()),
    ] {
        set_identifiers(&company, identifiers).await;
        let key = company.key(company.account(&["role-assignments:read"]).await).await;
        for caller in [company.log_in(&user).await, key, company.system.clone()] {
            for (text, expected) in [(&known, None), (&unknown, Some(Denial::Unknown))] {
                let resource = resource("role-assignments", "1", None);
                let evaluation = Evaluation { subject: subject(text), action: "read", resource };
                let decision = company.iam.authzen().evaluate(&caller, evaluation).await.unwrap();
                assert_eq!(decision.denial, expected, "{identifiers:?} {text} {:?}", caller.actor());
            }
        }
    }
}

#[derive(Default)]
struct Operations(Mutex<Vec<&'static str>>);

impl Observer for Operations {
    fn store_answered(&self, operation: &'static str, _: Duration, _: Option<&StoreError>) {
        self.0.lock().unwrap().push(operation);
    }

    fn login_failed(&self, _: LoginFailure) {}

    fn password_hashed(&self, _: Duration, _: Duration) {}

    fn password_refused(&self) {}

    fn webhook_attempted(&self, _: iam_core::webhook::DeliveryStatus) {}
}

#[tokio::test]
async fn an_evaluation_reads_no_more_than_a_check() {
    let operations = Arc::new(Operations::default());
    let mut settings = Settings::default();
    settings.hashing_cost = HashingCost { memory_kib: 8, passes: 1, lanes: 1 };
    let builder = Iam::builder(Arc::new(MemoryStore::new())).settings(settings);
    let iam = builder.observer(Arc::clone(&operations) as Arc<dyn Observer>).build().await.unwrap();
    let registration = Registration { user: person("ada@example.com"), tenant_name: None };
    let registered = iam.tenants().register(&RequestContext::default(), registration).await.unwrap().login;
    let token = registered.tokens.access;
    let system = Caller::system(registered.user.tenant_id, "test");
    let new = NewPermission { name: "orders:read".to_owned(), description: None };
    iam.permissions().create(&system, new).await.unwrap();
    let place = organization(&iam, &system, "place", None).await;
    let mut users = vec![registered.user.id];
    for name in ["bob", "carl"] {
        let user = iam.users().create(&system, person(&format!("{name}@example.com"))).await.unwrap();
        give(&iam, &system, user.id, &["orders:read", "users:read"], None, 0).await;
        users.push(user.id);
    }
    let ada = iam.authenticate(token.expose(), RequestContext::default()).await.unwrap();
    let read = || std::mem::take(&mut *operations.0.lock().unwrap());
    for (kind, users) in [("users", &users[..1]), ("users", &users[..]), ("orders", &users[1..])] {
        for place in [None, Some(place)] {
            let permission: Permission = format!("{kind}:read").parse().unwrap();
            let question = |user: &UserId| Question {
                permission: permission.clone(),
                organization: place,
                user: Some(*user),
                at: None,
            };
            let questions: Vec<Question> = users.iter().map(question).collect();
            let (texts, place): (Vec<String>, _) =
                (users.iter().map(UserId::to_string).collect(), place.map(|place| place.to_string()));
            let asked = resource(kind, "1", place.as_deref());
            let evaluation = |text| Evaluation { subject: subject(text), action: "read", resource: asked };
            let evaluations: Vec<Evaluation<'_>> = texts.iter().map(|text| evaluation(text)).collect();
            read();
            iam.access().check_all(&ada, &questions).await.unwrap();
            let expected = read();
            iam.authzen().evaluate_all(&ada, &evaluations).await.unwrap();
            assert_eq!(read(), expected, "{kind} {users:?} {place:?}");
        }
    }
    // Only a wildcard gives it, so the catalogue says whether it is registered.
    let own = registered.user.id.to_string();
    let evaluation = Evaluation { subject: subject(&own), action: "read", resource: resource("orders", "1", None) };
    assert!(iam.authzen().evaluate(&ada, evaluation).await.unwrap().is_allowed());
    assert_eq!(read(), ["permissions_about"]);
}
