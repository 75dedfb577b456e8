//! Domains of tenants.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::audit::ResourceType;
use iam_model::change::{Change, DomainChange};
use iam_model::domain::{Domain, DomainFinding};
use iam_model::error::{Conflict, Error};
use iam_model::store::Store;
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant::Tenant;
use tokio::task::JoinSet;

use crate::log::all;
use crate::world::{World, assert_conflict, assert_missing};

fn new_domain(world: &World, tenant: &Tenant, name: &str) -> Domain {
    Domain::new(world.id(), tenant.id, name.parse().unwrap(), [7; 32], world.now())
}

async fn add(world: &World, tenant: &Tenant, name: &str) -> Domain {
    let domain = new_domain(world, tenant, name);
    world.commit(tenant.id, DomainChange::Create(domain.clone())).await;
    domain
}

fn check(before: &Domain, after: &Domain) -> Change {
    DomainChange::Check { before: before.clone().into(), after: after.clone() }.into()
}

async fn checked(world: &World, before: &Domain, finding: &DomainFinding) -> Domain {
    let after = before.checked(finding, world.now());
    world.commit(before.tenant_id, check(before, &after)).await;
    after
}

async fn verify(world: &World, before: &Domain) -> Domain {
    checked(world, before, &DomainFinding::Proven).await
}

/// A domain, read by its identifier in a unit of work and outside of one, and by its name.
async fn read(world: &World, domain: &Domain) -> Option<Domain> {
    let committed = world.store.domain(domain.tenant_id, domain.id).await.unwrap();
    let locked = world.locked(domain.tenant_id, async |locks| locks.lock_domain(domain.id).await.unwrap()).await;
    let named = world.locked(domain.tenant_id, async |locks| locks.domain_named(&domain.name).await.unwrap()).await;
    assert_eq!((&committed, &committed), (&locked, &named));
    committed
}

async fn count(world: &World, tenant: &Tenant) -> u64 {
    world.locked(tenant.id, async |locks| locks.count_domains().await.unwrap()).await
}

/// The domains of a tenant are read back by name, and only in their tenant. Each field has the value that was written.
pub async fn domains_are_read_back_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    assert_eq!((world.store.domains(acme.id).await.unwrap(), count(&world, &acme).await), (vec![], 0));
    let at = |millis| Some(world.now() + TimeDelta::milliseconds(millis));
    let full = Domain {
        challenge: "-_8".to_owned(),
        verified_at: at(1),
        is_trusted: true,
        checked_at: at(2),
        absent_since: at(3),
        created_at: world.now() - TimeDelta::days(1),
        ..new_domain(&world, &acme, "m.example")
    };
    let (last, second) = (add(&world, &acme, "xn--bcher-kva.example").await, add(&world, &acme, "b.example").await);
    world.commit(acme.id, DomainChange::Create(full.clone())).await;
    let (third, first) = (add(&world, &acme, "bc.example").await, add(&world, &acme, "b-c.example").await);
    add(&world, &other, "a.example").await;
    assert_eq!(world.store.domains(acme.id).await.unwrap(), [first, second, third, full.clone(), last.clone()]);
    assert_eq!((count(&world, &acme).await, count(&world, &other).await), (5, 1));
    assert_eq!(read(&world, &last).await, Some(last));
    assert_eq!(read(&world, &full).await, Some(full.clone()));
    assert_eq!(read(&world, &Domain { tenant_id: other.id, ..full }).await, None);
}

/// What a check finds is read back, and changes no other domain. A removed domain is gone. A change of a domain that
/// does not exist is refused.
pub async fn changes_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (first, bystander) = (add(&world, &tenant, "example.com").await, add(&world, &tenant, "example.org").await);
    let later = |seconds| world.now() + TimeDelta::seconds(seconds);
    let verified = first.checked(&DomainFinding::Proven, later(1));
    let absent = verified.checked(&DomainFinding::NoRecord, later(2));
    let pending = absent.checked(&DomainFinding::NoRecord, later(3) + Domain::ABSENT);
    assert_eq!((absent.absent_since, pending.verified_at), (Some(later(2)), None));
    let trusted = pending.trusted(later(4));
    let mut stored = first;
    for after in [verified, absent, pending, trusted] {
        world.commit(tenant.id, check(&stored, &after)).await;
        assert_eq!(read(&world, &stored).await, Some(after.clone()));
        stored = after;
    }
    assert_eq!(read(&world, &bystander).await, Some(bystander.clone()));
    world.commit(tenant.id, DomainChange::Delete(stored.clone())).await;
    assert_eq!(read(&world, &stored).await, None);
    assert_eq!((world.store.domains(tenant.id).await.unwrap(), count(&world, &tenant).await), (vec![bystander], 1));
    for change in [check(&stored, &stored), DomainChange::Delete(stored).into()] {
        assert_missing(&world.try_commit(tenant.id, [change]).await);
    }
}

/// A domain is not found in another tenant, for reads and for writes.
pub async fn rows_of_another_tenant_are_not_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let domain = add(&world, &acme, "example.com").await;
    assert_eq!((world.store.domains(other.id).await.unwrap(), count(&world, &other).await), (vec![], 0));
    assert_eq!(read(&world, &Domain { tenant_id: other.id, ..domain.clone() }).await, None);
    let verified = domain.checked(&DomainFinding::Proven, world.now());
    for change in [check(&domain, &verified), DomainChange::Delete(domain.clone()).into()] {
        assert_missing(&world.try_commit(other.id, [change]).await);
    }
    assert_eq!(read(&world, &domain).await, Some(domain));
}

/// A unit of work reads the domains as it has changed them. Other readers do not.
pub async fn a_unit_of_work_reads_its_own_changes(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let domain = new_domain(&world, &tenant, "example.com");
    let verified = domain.checked(&DomainFinding::Proven, world.now());
    let changes: [(Change, Option<&Domain>); 3] = [
        (DomainChange::Create(domain.clone()).into(), Some(&domain)),
        (check(&domain, &verified), Some(&verified)),
        (DomainChange::Delete(verified.clone()).into(), None),
    ];
    let mut work = world.begin(&World::system(tenant.id)).await;
    for (change, expected) in changes {
        work.apply(change).await.unwrap();
        assert_eq!(work.reads().lock_domain(domain.id).await.unwrap().as_ref(), expected);
        assert_eq!(work.reads().domain_named(&domain.name).await.unwrap().as_ref(), expected);
        assert_eq!(work.reads().count_domains().await.unwrap(), u64::from(expected.is_some()));
        assert_eq!(world.store.domain(tenant.id, domain.id).await.unwrap(), None);
    }
}

/// A domain needs a tenant that exists.
pub async fn a_domain_of_a_missing_tenant_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let nowhere = world.new_tenant("nowhere");
    let create = DomainChange::Create(new_domain(&world, &nowhere, "example.com"));
    assert_conflict(&world.try_commit(nowhere.id, [create.into()]).await, Constraint::Reference);
}

/// A tenant has a domain at most once, until it is removed. Another tenant can have it, too, while it is PENDING.
pub async fn name_is_unique_in_a_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let mut first = add(&world, &acme, "example.com").await;
    let elsewhere = add(&world, &other, "example.com").await;
    add(&world, &acme, "www.example.com").await;
    for _ in 0..2 {
        let again = DomainChange::Create(new_domain(&world, &acme, "example.com"));
        assert_conflict(&world.try_commit(acme.id, [again.into()]).await, Constraint::Domain);
        first = verify(&world, &first).await;
    }
    assert_eq!(read(&world, &elsewhere).await, Some(elsewhere));
    world.commit(acme.id, DomainChange::Delete(first)).await;
    add(&world, &acme, "example.com").await;
}

/// A domain is VERIFIED in only one tenant of the installation, until it is PENDING there or removed.
pub async fn a_domain_is_verified_in_one_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (ours, theirs) = (add(&world, &acme, "example.com").await, add(&world, &other, "example.com").await);
    let ours = verify(&world, &ours).await;
    let refused = async |domain: &Domain| {
        for after in [domain.checked(&DomainFinding::Proven, world.now()), domain.trusted(world.now())] {
            let refused = world.try_commit(domain.tenant_id, [check(domain, &after)]).await;
            assert_conflict(&refused, Constraint::VerifiedDomain);
        }
        assert_eq!(read(&world, domain).await.as_ref(), Some(domain));
    };
    refused(&theirs).await;
    let third = world.tenant("third").await;
    let create = DomainChange::Create(new_domain(&world, &third, "example.com").trusted(world.now()));
    assert_conflict(&world.try_commit(third.id, [create.into()]).await, Constraint::VerifiedDomain);
    // A check that verifies nothing, one of the tenant itself, and a subdomain do not conflict.
    let theirs = checked(&world, &theirs, &DomainFinding::NoRecord).await;
    let ours = verify(&world, &ours).await;
    verify(&world, &add(&world, &other, "www.example.com").await).await;

    let pending = Domain { verified_at: None, ..ours.clone() };
    world.commit(acme.id, check(&ours, &pending)).await;
    let theirs = verify(&world, &theirs).await;
    refused(&pending).await;
    world.commit(other.id, DomainChange::Delete(theirs)).await;
    verify(&world, &pending).await;
}

/// The VERIFIED domain with a name is found, of any tenant. A PENDING one is not.
pub async fn a_verified_domain_of_any_tenant_is_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let find = async |name: &str| world.store.verified_domain(&name.parse().unwrap()).await.unwrap();
    let (theirs, ours) = (add(&world, &other, "example.com").await, add(&world, &acme, "example.com").await);
    assert_eq!(find("example.com").await, None);
    let bystander = verify(&world, &add(&world, &other, "www.example.com").await).await;
    let ours = verify(&world, &ours).await;
    assert_eq!(find("example.com").await.as_ref(), Some(&ours));
    world.tick();
    let absent = checked(&world, &ours, &DomainFinding::NoRecord).await;
    assert!(absent.absent_since.is_some());
    assert_eq!(find("example.com").await.as_ref(), Some(&absent));
    for name in ["example.org", "xample.com", "example.co", "a.example.com"] {
        assert_eq!(find(name).await, None);
    }

    let pending = Domain { verified_at: None, ..absent.clone() };
    world.commit(acme.id, check(&absent, &pending)).await;
    assert_eq!(find("example.com").await, None);
    let trusted = theirs.trusted(world.now());
    world.commit(other.id, check(&theirs, &trusted)).await;
    assert_eq!(find("example.com").await.as_ref(), Some(&trusted));
    world.commit(other.id, DomainChange::Delete(trusted)).await;
    assert_eq!(find("example.com").await, None);
    assert_eq!(find("www.example.com").await, Some(bystander));
}

/// The domains of all tenants that were checked long enough ago are found, at most as many as asked for, the one that
/// was checked first first. PENDING domains and those that trusted code has verified are not found.
pub async fn domains_to_check_are_found_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let to_check = async |before, limit| world.store.domains_to_check(before, limit).await.unwrap();
    let pending = add(&world, &acme, "pending.example").await;
    checked(&world, &pending, &DomainFinding::NoRecord).await;
    add(&world, &acme, "new.example").await;
    let trusted = add(&world, &acme, "trusted.example").await;
    let trusted = verify(&world, &trusted).await;
    world.commit(acme.id, check(&trusted, &trusted.trusted(world.now()))).await;
    let unchecked = add(&world, &acme, "unchecked.example").await;
    world.commit(acme.id, check(&unchecked, &unchecked.trusted(world.now()))).await;
    let began = world.now();
    assert_eq!(to_check(began, 10).await, []);

    let mut found = Vec::new();
    for (tenant, name) in [(&other, "b.example"), (&acme, "c.example"), (&other, "a.example")] {
        let domain = add(&world, tenant, name).await;
        found.push(verify(&world, &domain).await);
        world.tick();
    }
    let moment = TimeDelta::milliseconds(1);
    assert_eq!(to_check(world.now(), 10).await, found);
    assert_eq!(to_check(world.now(), 2).await, found[..2]);
    assert_eq!(to_check(began + TimeDelta::seconds(2), 10).await, found);
    assert_eq!(to_check(began + TimeDelta::seconds(2) - moment, 10).await, found[..2]);
    assert_eq!(to_check(began, 10).await, found[..1]);
    assert_eq!(to_check(began - moment, 10).await, []);

    // A check is the last one for some time, whatever it finds.
    let first = found.remove(0);
    found.push(checked(&world, &first, &DomainFinding::NoRecord).await);
    assert_eq!(to_check(world.now(), 10).await, found);
    world.commit(acme.id, DomainChange::Delete(found.remove(0))).await;
    assert_eq!(to_check(world.now(), 10).await, found);
}

/// A change of the status is recorded in the log of the tenant. A check that changes nothing is not.
pub async fn changes_of_the_status_are_recorded(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let domain = add(&world, &tenant, "example.com").await;
    let pending = checked(&world, &domain, &DomainFinding::NoRecord).await;
    let verified = verify(&world, &pending).await;
    let again = verify(&world, &verified).await;
    world.commit(tenant.id, DomainChange::Delete(again)).await;
    let entries = all(&world, tenant.id).await;
    let of_domain = entries.iter().rev().filter(|entry| entry.resource_type == ResourceType::DOMAIN);
    let recorded: Vec<_> = of_domain.map(|entry| (entry.action.to_string(), entry.resource_id.clone())).collect();
    let expected = ["CREATE", "UPDATE", "DELETE"].map(|action| (action.to_owned(), Some(domain.id.to_string())));
    assert_eq!(recorded, expected);
}

/// Of many concurrent units of work that verify one domain in different tenants, one succeeds.
pub async fn a_domain_is_verified_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let mut domains = Vec::new();
    for number in 0..8 {
        let tenant = world.tenant(&format!("tenant-{number}")).await;
        domains.push(add(&world, &tenant, "example.com").await);
    }
    let mut tasks = JoinSet::new();
    for domain in domains {
        let world = Arc::clone(&world);
        tasks.spawn(async move {
            let after = domain.checked(&DomainFinding::Proven, world.now());
            world.try_commit(domain.tenant_id, [check(&domain, &after)]).await
        });
    }
    let results = tasks.join_all().await;
    let is_conflict =
        |result: &&Result<(), Error>| matches!(result, Err(Error::Conflict(Conflict::DomainVerifiedElsewhere)));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert_eq!(results.iter().filter(is_conflict).count(), 7, "{results:?}");
}

/// Of many concurrent units of work that lock one domain and remove it, one finds it.
pub async fn a_domain_is_removed_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let domain = add(&world, &tenant, "example.com").await;
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        let (world, domain) = (Arc::clone(&world), domain.clone());
        tasks.spawn(async move {
            let mut work = world.begin(&World::system(domain.tenant_id)).await;
            let found = work.reads().lock_domain(domain.id).await?;
            let is_left = found.is_some();
            if let Some(found) = found {
                work.apply(DomainChange::Delete(found)).await?;
            }
            work.commit().await?;
            Ok::<bool, StoreError>(is_left)
        });
    }
    let found = tasks.join_all().await.into_iter().map(Result::unwrap).filter(|is_left| *is_left).count();
    assert_eq!(found, 1);
}
