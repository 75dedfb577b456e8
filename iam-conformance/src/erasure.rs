//! Erasure: personal data is removed, and the log keeps its digests.

use std::sync::Arc;

use iam_audit_proof::{Finding, Tampering};
use iam_core::{Caller, Iam};
use iam_model::audit::{AuditEntry, Digest, NewEvent, PendingEntry, Salt, SequencedEntry};
use iam_model::change::{
    AuditBatch, Change, CredentialChange, ErasedDetails, ErasedOrigin, LoginFailure, TenantChange, UserChange,
};
use iam_model::context::Author;
use iam_model::directory::DirectoryUser;
use iam_model::error::{Conflict, Error};
use iam_model::id::{AuditEntryId, TenantId};
use iam_model::random::SystemRandom;
use iam_model::store::Store;
use iam_model::tenant::Tenant;
use iam_model::user::{User, UserStatus};
use serde_json::{Value, json};

use crate::directory::{directory, entered, new_entry, update_entry};
use crate::log::{all, fields, request};
use crate::world::{World, create};

/// After an erasure no entry holds the name, e-mail, IP address or user agent of the person. Everything else, and
/// every digest, is unchanged.
pub async fn an_erasure_leaves_no_personal_data(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let Fixture { world, iam, tenant, ada, system, .. } = &fixture;
    let before = all(world, tenant.id).await;
    let erased = iam.audit().erase(system, ada.id).await.unwrap();
    let after: Vec<AuditEntry> =
        all(world, tenant.id).await.into_iter().filter(|entry| entry.action != "ERASE").collect();
    assert_eq!(erased, 9);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(after.digest(), before.digest());
        let text = format!("{after:?}").to_lowercase();
        for trace in ["\"ada", " ada", "lovelace", "192.0.2.1"] {
            assert!(!text.contains(trace), "{text}");
        }
        let has_lost = before.salts != after.salts;
        assert_eq!(has_lost, before != after);
        assert_eq!(
            has_lost,
            format!("{before:?}").to_lowercase().contains("lovelace") || fixture.is_hers(before),
            "{text}"
        );
    }
    fixture.assert_others_are_whole(&before, &after);
    assert_eq!(iam.audit().erase(system, ada.id).await.unwrap(), 0, "nothing is left to erase");
    world.assert_clean(tenant.id, &[]).await;
    world.sequence().await;
    world.assert_sequenced(tenant.id).await;
}

/// The person's name is also erased from entries that were recorded before the person was a user, and from the
/// tenant's earlier name and slug.
pub async fn a_persons_name_in_tenant_names_is_erased(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = Tenant { name: "Ada Lovelace".parse().unwrap(), ..world.new_tenant("ada-lovelace-x7") };
    world.commit(tenant.id, TenantChange::Create(tenant.clone())).await;
    let ada = world.add(person(&world, &tenant, "ada@example.com", "Ada", "Lovelace")).await;
    let after = Tenant { name: "Acme".parse().unwrap(), slug: "acme".parse().unwrap(), ..tenant.clone() };
    world.commit(tenant.id, TenantChange::Update { before: tenant.clone(), after }).await;
    let (iam, system) = (world.iam().await, Caller::system(tenant.id, "conformance"));
    assert_eq!(iam.audit().erase(&system, ada.id).await.unwrap(), 3);
    let entries = all(&world, tenant.id).await;
    assert!(!format!("{entries:?}").to_lowercase().contains("lovelace"), "{entries:?}");
    world.assert_clean(tenant.id, &[]).await;
}

/// What a directory says of the person is erased as a whole, and the name that it has there.
pub async fn what_a_directory_says_of_a_person_is_erased(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let ada = world.add(person(&world, &tenant, "ada@example.com", "Ada", "Lovelace")).await;
    let attributes = json!({ "title": "Countess", "emails": [{ "value": "countess@example.org" }] });
    let said = new_entry(&world, &directory, &ada, "Byron", &attributes);
    let after = DirectoryUser { user_name: "Augusta".parse().unwrap(), ..said.clone() }.changed(world.now());
    world.try_commit(tenant.id, [entered(&said), update_entry(&said, &after)]).await.unwrap();
    let before = digests(&world, tenant.id).await;
    let (iam, system) = (world.iam().await, Caller::system(tenant.id, "conformance"));
    assert_eq!(iam.audit().erase(&system, ada.id).await.unwrap(), 3);
    let text = format!("{:?}", all(&world, tenant.id).await).to_lowercase();
    for trace in ["ada@", "lovelace", "countess", "byron", "augusta"] {
        assert!(!text.contains(trace), "{trace}: {text}");
    }
    let now = digests(&world, tenant.id).await;
    assert!(before.iter().all(|digest| now.contains(digest)), "{before:?} {now:?}");
    world.assert_clean(tenant.id, &[]).await;
}

/// Only INACTIVE users are erased: a restored user, ACTIVE or SUSPENDED, stays in the log.
pub async fn only_inactive_users_are_erased(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let Fixture { world, iam, tenant, ada, system, .. } = &fixture;
    for status in [UserStatus::Active, UserStatus::Suspended] {
        let restored = User { status, ..ada.clone() };
        world.commit(tenant.id, update(ada, &restored)).await;
        let entries = all(world, tenant.id).await;
        let refused = iam.audit().erase(system, ada.id).await;
        assert!(matches!(refused, Err(Error::Conflict(Conflict::UserNotInactive))), "{refused:?}");
        assert_eq!(all(world, tenant.id).await, entries);
    }
}

/// Two persons are erased at the same time, and entries name both. Both are erased, and no digest changes.
pub async fn two_concurrent_erasures_share_an_entry(store: Arc<dyn Store>) {
    let world = World::new(store);
    for round in 0..4 {
        let tenant = world.tenant(&format!("acme-{round}")).await;
        let ada = world.add(person(&world, &tenant, "ada@example.com", "Ada", "Lovelace")).await;
        let grace = world.add(person(&world, &tenant, "grace@example.com", "Grace", "Hopper")).await;
        let by_grace = world.author(tenant.id, grace.id, request("192.0.2.2"));
        for number in 0..5 {
            let metadata =
                fields(&json!({ "from": { "email": "ada@example.com" }, "to": { "email": "Grace@example.com" } }));
            let entry = AuditEntry { metadata, user_id: Some(grace.id), ..world.new_entry(tenant.id) };
            world.record(vec![AuditEntry { context: request("192.0.2.2"), ..entry }]).await;
            let after = User { first_name: format!("Ada {number}").parse().unwrap(), ..ada.clone() };
            commit_by(&world, &by_grace, update(&ada, &after)).await;
        }
        if round % 2 == 0 {
            world.sequence().await;
        }
        let digests = digests(&world, tenant.id).await;
        let erase = |user: &User| {
            let (world, user, tenant) = (World::new(Arc::clone(&world.store)), user.id, tenant.id);
            tokio::spawn(async move {
                let iam = world.iam().await;
                iam.audit().erase(&Caller::system(tenant, "conformance"), user).await.unwrap()
            })
        };
        let (of_ada, of_grace) = (erase(&ada), erase(&grace));
        assert!(of_ada.await.unwrap() >= 6 && of_grace.await.unwrap() >= 6);
        let text = format!("{:?}", all(&world, tenant.id).await).to_lowercase();
        for trace in ["\"ada", "lovelace", "\"grace", " grace", "hopper", "192.0.2.2"] {
            assert!(!text.contains(trace), "{trace}: {text}");
        }
        let now = self::digests(&world, tenant.id).await;
        assert!(digests.iter().all(|digest| now.contains(digest)), "{digests:?} {now:?}");
        world.assert_clean(tenant.id, &[]).await;
    }
}

/// An erasure that writes the same data again changes no entry, and is recorded.
pub async fn erasing_again_changes_nothing(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let Fixture { world, iam, tenant, ada, system, .. } = &fixture;
    iam.audit().erase(system, ada.id).await.unwrap();
    let before = all(world, tenant.id).await;
    world.tick();
    let erased = before.iter().filter(|entry| entry.salts.details.is_destroyed());
    let details: Vec<ErasedDetails> = erased.map(details_of).collect();
    let erased = before.iter().filter(|entry| entry.salts.origin.is_destroyed());
    let origins: Vec<ErasedOrigin> = erased.map(origin_of).collect();
    assert!(!details.is_empty() && !origins.is_empty());
    world.commit(tenant.id, world.erase(tenant.id, ada.id, details, origins).await).await;
    assert_eq!(all(world, tenant.id).await.split_off(1), before);
    world.assert_clean(tenant.id, &[]).await;
}

/// The details and the origin of an entry are erased separately, before and after the entry is sequenced. A dropped
/// unit of work erases nothing, and a unit of work in another tenant erases nothing of this tenant.
pub async fn each_part_of_an_entry_is_erased_separately(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await.id, world.tenant("other").await.id);
    let user = world.id();
    for is_sequenced in [false, true] {
        let (a, b) = (personal_entry(&world, tenant), personal_entry(&world, tenant));
        world.record(vec![a.clone(), b.clone()]).await;
        if is_sequenced {
            world.sequence().await;
        }
        let without_details = AuditEntry {
            metadata: fields(&json!({ "email": "[ERASED]", "total": 1e16 })),
            salts: iam_model::audit::Salts { details: commitment(&a, "details"), ..a.salts },
            ..a.clone()
        };
        let mut without_origin = b.clone();
        (without_origin.context.ip_address, without_origin.context.user_agent) = (None, None);
        without_origin.salts.origin = commitment(&b, "origin");
        assert_eq!((without_details.digest(), without_origin.digest()), (a.digest(), b.digest()));
        let (details, origins) = (vec![details_of(&without_details)], vec![origin_of(&without_origin)]);
        let erase = world.erase(tenant, user, details, origins).await;

        let caller = Caller::system(tenant, "conformance");
        let mut work = world.begin(caller.author()).await;
        work.apply(erase.clone()).await.unwrap();
        drop(work);
        world.commit(other, erase.clone()).await;
        let find = async |id: AuditEntryId| world.store.audit_entry(tenant, id).await.unwrap().unwrap();
        assert_eq!((find(a.id).await, find(b.id).await), (a.clone(), b.clone()));

        world.commit(tenant, erase).await;
        assert_eq!((find(a.id).await, find(b.id).await), (without_details, without_origin));
        world.assert_clean(tenant, &[]).await;
    }
}

/// An erasure changes neither the queue of pending entries nor the leaves.
pub async fn an_erasure_keeps_the_queue_and_the_leaves(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let Fixture { world, iam, tenant, ada, system, .. } = &fixture;
    let pending = world.pending(tenant.id).await;
    let sequenced = world.sequenced(tenant.id).await;
    assert!(pending.len() > 3 && sequenced.len() > 3, "the log has entries of both kinds");
    iam.audit().erase(system, ada.id).await.unwrap();
    let queued = |entries: &[PendingEntry]| entries.iter().map(|entry| entry.pending.clone()).collect::<Vec<_>>();
    let leaves = |entries: &[SequencedEntry]| entries.iter().map(|entry| entry.leaf.clone()).collect::<Vec<_>>();
    assert_eq!(queued(&world.pending(tenant.id).await)[..pending.len()], queued(&pending));
    assert_eq!(leaves(&world.sequenced(tenant.id).await), leaves(&sequenced));
}

/// An erasure does not fail for entries that retention has removed in the meantime.
pub async fn an_erasure_skips_removed_entries(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, user) = (world.tenant("acme").await.id, world.id());
    let entry = personal_entry(&world, tenant);
    world.record(vec![entry.clone(), world.new_entry(tenant)]).await;
    world.sequence().await;
    world.tick();
    world.commit(tenant, world.give_up(tenant, 0..2).await).await;
    assert_eq!(world.store.purge_audit_entries().await.unwrap(), 2);
    let (details, origins) = (vec![details_of(&entry)], vec![origin_of(&entry)]);
    let destroyed = |salt: &mut Salt| *salt = Salt::from_bytes(&[1; 32]).unwrap();
    let (mut details, mut origins) = (details, origins);
    destroyed(&mut details[0].salt);
    destroyed(&mut origins[0].salt);
    world.commit(tenant, world.erase(tenant, user, details, origins).await).await;
    assert_eq!(world.store.audit_entry(tenant, entry.id).await.unwrap(), None);
    assert_eq!(world.assert_clean(tenant, &[]).await.removed, 2);
}

/// Verification reports data that is present although a record says that it was erased: in sequenced and in pending
/// entries, and for each part separately. It does not report removed entries.
pub async fn restored_personal_data_is_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await.id;
    let (gone, sequenced) = (personal_entry(&world, tenant), [(); 2].map(|()| personal_entry(&world, tenant)));
    world.record([vec![gone.clone()], sequenced.to_vec()].concat()).await;
    world.sequence().await;
    let sequences: Vec<u64> = world.sequenced(tenant).await.iter().map(|sequenced| sequenced.leaf.sequence).collect();
    let pending = personal_entry(&world, tenant);
    world.record(vec![pending.clone()]).await;
    world.commit(tenant, world.give_up(tenant, 0..2).await).await;
    assert_eq!(world.store.purge_audit_entries().await.unwrap(), 2);
    let details = [&gone, &sequenced[0], &pending].map(details_of).into();
    let origins = [&gone, &sequenced[1], &pending].map(origin_of).into();
    let erase = world.erase(tenant, world.id(), details, origins).await;
    // Only the record is written, as if all of it had been erased and then restored.
    let caller = Caller::system(tenant, "conformance");
    let batch = AuditBatch::of(&erase.into(), caller.author(), world.now(), &world.ids, &SystemRandom);
    world.record(batch.into_entries()).await;
    let found = world.iam().await.audit().verify(&caller, &[]).await.unwrap().findings;
    let finding = |number: Option<u64>, entry: &AuditEntry| {
        let sequence = number.map(|number| number..number + 1);
        Finding { what: Tampering::Restored, sequence, entry: Some(entry.id) }
    };
    let expected = [
        finding(Some(sequences[2]), &sequenced[0]),
        finding(Some(sequences[3]), &sequenced[1]),
        finding(None, &pending),
    ];
    assert_eq!(found, expected);
}

/// The erasure of a user that the tenant does not have is refused.
pub async fn an_unknown_user_is_not_erased(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let stranger = Caller::system(fixture.world.tenant("other").await.id, "conformance");
    let refused = fixture.iam.audit().erase(&stranger, fixture.ada.id).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
}

/// A tenant whose log holds every kind of personal data of a person. Half of the log is sequenced.
struct Fixture {
    world: World,
    iam: Iam,
    tenant: Tenant,
    ada: User,
    grace: User,
    system: Caller,
}

impl Fixture {
    async fn new(store: Arc<dyn Store>) -> Self {
        let world = World::new(store);
        let tenant = world.tenant("acme").await;
        let (ada, grace) = (
            person(&world, &tenant, "ada@example.com", "Ada", "Lovelace"),
            person(&world, &tenant, "grace@example.com", "Grace", "Hopper"),
        );
        let (iam, system) = (world.iam().await, Caller::system(tenant.id, "conformance"));
        let mut fixture = Self { world, iam, tenant, ada, grace, system };
        fixture.live().await;
        fixture.world.sequence().await;
        fixture.live_on().await;
        fixture
    }

    /// Another user creates Ada (1) and changes her (2). Two logins fail, one as Ada (3) and one as the other user
    /// (4).
    async fn live(&mut self) {
        let by_grace = self.by(&self.grace, "192.0.2.2");
        commit_by(&self.world, &by_grace, create(&self.grace)).await;
        commit_by(&self.world, &by_grace, create(&self.ada)).await;
        let renamed = User { email: "Countess@Lovelace.example".parse().unwrap(), ..self.ada.clone() };
        commit_by(&self.world, &by_grace, update(&self.ada, &renamed)).await;
        self.ada = renamed;
        for (email, address) in [("ADA@example.com", "192.0.2.1"), ("grace@example.com", "192.0.2.2")] {
            self.fail(email, address).await;
        }
    }

    /// A failed login with Ada's current e-mail, a change that Ada makes herself, and events of the application.
    async fn live_on(&self) {
        self.world.tick();
        self.fail("countess@lovelace.example", "192.0.2.1").await;
        let by_ada = self.by(&self.ada, "192.0.2.1");
        let renamed = User { last_name: "Murray Hopper".parse().unwrap(), ..self.grace.clone() };
        commit_by(&self.world, &by_ada, update(&self.grace, &renamed)).await;
        for metadata in [
            json!({ "recipient": [{ "E_Mail": "Countess@LOVELACE.example", "total": 1e16 }] }),
            json!({ "displayName": "Countess Ada Lovelace", "email": "grace@example.com" }),
            json!({ "first_name": "ADA", "last_name": "lovelace" }),
            json!({ "displayName": "A. Byron", "email": "byron@example.com", "total": 7 }),
            json!({ "email": ["ada@example.com", null], "kept": ["nothing", null] }),
        ] {
            let (action, resource_type) = ("SENT".to_owned(), "LETTER".to_owned());
            let event = NewEvent { action, resource_type, resource_id: None, metadata: fields(&metadata) };
            self.iam.audit().log(&self.system, event).await.unwrap();
        }
    }

    fn by(&self, user: &User, address: &str) -> Author {
        let agent = format!("{}'s browser", user.first_name);
        let context = iam_model::context::RequestContext {
            user_agent: Some(iam_model::context::UserAgent::new(&agent)),
            ..request(address)
        };
        self.world.author(self.tenant.id, user.id, context)
    }

    async fn fail(&self, email: &str, address: &str) {
        let caller = World::anonymous(self.tenant.id, request(address));
        let (email, reason) = (email.parse().unwrap(), LoginFailure::InvalidPassword);
        commit_by(&self.world, &caller, CredentialChange::Refuse { email, reason, attempt_count: 1 }.into()).await;
    }

    /// Whether an entry holds personal data of Ada other than her last name.
    fn is_hers(&self, entry: &AuditEntry) -> bool {
        entry.user_id == Some(self.ada.id) || format!("{entry:?}").to_lowercase().contains("ada@example.com")
    }

    /// Fails unless the values of the two entries about Grace are unchanged. Of the newer one, which Ada caused, the
    /// origin may have changed.
    fn assert_others_are_whole(&self, before: &[AuditEntry], after: &[AuditEntry]) {
        let about = |entry: &&AuditEntry| entry.resource_id == Some(self.grace.id.to_string());
        let (before, after): (Vec<_>, Vec<_>) =
            (before.iter().filter(about).collect(), after.iter().filter(about).collect());
        assert_eq!(after.len(), 2);
        assert_eq!((&before[0].new_value, &before[0].old_value), (&after[0].new_value, &after[0].old_value));
        assert_eq!(before[1], after[1]);
    }
}

/// A user that can be erased: it is INACTIVE.
fn person(world: &World, tenant: &Tenant, email: &str, first: &str, last: &str) -> User {
    let user = world.new_user(tenant, email);
    let (first_name, last_name) = (first.parse().unwrap(), last.parse().unwrap());
    User { first_name, last_name, status: UserStatus::Inactive, ..user }
}

fn update(before: &User, after: &User) -> Change {
    UserChange::Update { before: before.clone(), after: after.clone(), grants: None, attributes: None }.into()
}

async fn commit_by(world: &World, author: &Author, change: Change) {
    let mut work = world.begin(author).await;
    work.apply(change).await.unwrap();
    work.commit().await.unwrap();
}

async fn digests(world: &World, tenant: TenantId) -> Vec<Digest> {
    all(world, tenant).await.iter().map(AuditEntry::digest).collect()
}

fn personal_entry(world: &World, tenant: TenantId) -> AuditEntry {
    let metadata = fields(&json!({ "email": "ada@example.com", "total": 1e16 }));
    AuditEntry { metadata, context: request("192.0.2.1"), ..world.new_entry(tenant) }
}

/// The commitment that replaces a destroyed salt. It is public, in the statement of the entry.
fn commitment(entry: &AuditEntry, part: &str) -> Salt {
    let statement: Value = serde_json::from_str(&entry.statement()).unwrap();
    let hex = statement[part].as_str().unwrap();
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    Salt::from_bytes(&(0..64).step_by(2).map(byte).collect::<Vec<u8>>()).unwrap()
}

/// The details that an erasure writes, taken from the entry as it is after the erasure.
fn details_of(erased: &AuditEntry) -> ErasedDetails {
    let AuditEntry { created_at, id, old_value, new_value, metadata, salts, .. } = erased.clone();
    ErasedDetails { created_at, id, old_value, new_value, metadata, salt: salts.details }
}

fn origin_of(erased: &AuditEntry) -> ErasedOrigin {
    ErasedOrigin { created_at: erased.created_at, id: erased.id, salt: erased.salts.origin }
}
