//! The audit log.

use std::sync::Arc;

use serde_json::json;

use super::World;
use crate::access::{Authority, Covered};
use crate::audit::{AuditEntry, AuditFilter, Cursor};
use crate::caller::{Caller, RequestContext, UserAgent};
use crate::id::TenantId;
use crate::store::Store;
use crate::tenant::{Tenant, TenantChange};
use crate::user::{User, UserChange, UserStatus};

/// Every part of an entry is read back.
pub async fn entries_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    for address in ["192.0.2.1", "2001:db8::1"] {
        let user = world.new_user(&tenant, &format!("{}@example.com", address.replace(':', "-")));
        let context = RequestContext {
            correlation_id: Some("corr-1".parse().unwrap()),
            ip_address: Some(address.parse().unwrap()),
            user_agent: Some(UserAgent::new("Größe/1.0 \"x\" \\ 'y'")),
        };
        let caller = Caller::user_session(tenant.id, user.id, world.id(), Authority::of([]), context.clone());
        let mut work = world.begin(&caller).await;
        work.apply(super::world::create(&user)).await.unwrap();
        work.commit().await.unwrap();
        let entry = all(&world, tenant.id).await.remove(0);
        let expected = AuditEntry {
            id: entry.id,
            tenant_id: tenant.id,
            action: "CREATE".into(),
            resource_type: crate::audit::ResourceType::USER,
            resource_id: Some(user.id.to_string()),
            user_id: Some(user.id),
            old_value: None,
            new_value: json!({
                "email": user.email.as_str(),
                "firstName": "Ada",
                "lastName": "Lovelace",
                "status": "ACTIVE",
                "password": "[REDACTED]",
            })
            .as_object()
            .cloned(),
            metadata: serde_json::Map::new(),
            context,
            created_at: world.now(),
        };
        assert_eq!(entry, expected);
        world.tick();
    }
}

/// Pages by cursor show everything once, newest first, also within one moment and while entries arrive.
pub async fn newest_first_and_paged_without_gap(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    for number in 0..10 {
        world.user(&tenant, &format!("u{number}@example.com")).await;
        world.user(&other, &format!("u{number}@example.com")).await;
        if number % 3 == 0 {
            world.tick();
        }
    }
    let expected = all(&world, tenant.id).await;
    assert_eq!(expected.len(), 11);
    assert!(expected.iter().all(|entry| entry.tenant_id == tenant.id));
    let is_ordered = |pair: &[AuditEntry]| (pair[0].created_at, pair[0].id) > (pair[1].created_at, pair[1].id);
    assert!(expected.windows(2).all(is_ordered));

    let mut seen: Vec<AuditEntry> = Vec::new();
    loop {
        let cursor = seen.last().map(Cursor::after);
        let page = world.store.audit_entries(tenant.id, &AuditFilter::default(), cursor, 4).await.unwrap();
        if page.is_empty() {
            break;
        }
        seen.extend(page);
        world.tick();
        world.user(&tenant, &format!("late{}@example.com", seen.len())).await;
    }
    assert_eq!(seen, expected);
}

/// Each filter by itself, and all together, agree with [`AuditFilter::matches`].
pub async fn every_filter(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    world.tick();
    let context = RequestContext { correlation_id: Some("corr-2".parse().unwrap()), ..RequestContext::default() };
    let caller = Caller::user_session(tenant.id, user.id, world.id(), Authority::of([]), context);
    let mut work = world.begin(&caller).await;
    let after = User { status: UserStatus::Suspended, ..user.clone() };
    let covered = Covered::assumed();
    work.apply(UserChange::ChangeStatus { before: user.clone(), after, covered }).await.unwrap();
    work.commit().await.unwrap();
    world.tick();
    rename(&world, &tenant).await;

    let everything = all(&world, tenant.id).await;
    assert_eq!(everything.len(), 4);
    let middle = everything[1].created_at;
    let plain = AuditFilter::default;
    let filters = [
        (AuditFilter { action: Some("CREATE".into()), ..plain() }, 2),
        (AuditFilter { action: Some("create".into()), ..plain() }, 0),
        (AuditFilter { resource_type: Some("USER".into()), ..plain() }, 2),
        (AuditFilter { resource_id: Some(user.id.to_string()), ..plain() }, 2),
        (AuditFilter { user_id: Some(user.id), ..plain() }, 1),
        (AuditFilter { correlation_id: Some("corr-2".parse().unwrap()), ..plain() }, 1),
        (AuditFilter { from: Some(middle), ..plain() }, 2),
        (AuditFilter { until: Some(middle), ..plain() }, 3),
        (AuditFilter { from: Some(middle), until: Some(middle), user_id: Some(user.id), ..plain() }, 1),
        (AuditFilter { resource_type: Some("TENANT".into()), action: Some("UPDATE".into()), ..plain() }, 1),
        (AuditFilter { user_id: Some(world.id()), ..plain() }, 0),
    ];
    for (filter, count) in filters {
        let found = world.store.audit_entries(tenant.id, &filter, None, 100).await.unwrap();
        let expected: Vec<AuditEntry> = everything.iter().filter(|entry| filter.matches(entry)).cloned().collect();
        assert_eq!((found.len(), found), (count, expected), "{filter:?}");
    }
}

async fn rename(world: &World, tenant: &Tenant) {
    let after = Tenant { name: "Renamed".parse().unwrap(), ..tenant.clone() };
    world.commit(tenant.id, TenantChange::Update { before: tenant.clone(), after }).await;
}

pub(super) async fn all(world: &World, tenant: TenantId) -> Vec<AuditEntry> {
    world.store.audit_entries(tenant, &AuditFilter::default(), None, 10_000).await.unwrap()
}
