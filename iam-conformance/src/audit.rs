//! The audit log.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::Caller;
use iam_model::audit::{AuditEntry, AuditFilter, Cursor, NewEvent, Salt, Salts};
use iam_model::change::{TenantChange, UserChange};
use iam_model::clock::{Day, Timestamp};
use iam_model::context::{RequestContext, UserAgent};
use iam_model::id::{OrganizationId, UserId};
use iam_model::store::Store;
use iam_model::tenant::Tenant;
use iam_model::user::{User, UserStatus};
use serde_json::{Map, Value, json};

use crate::log::{all, fields, request};
use crate::world::World;

/// Every field of an entry is read back.
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
        let author = world.author(tenant.id, user.id, context.clone());
        let mut work = world.begin(&author).await;
        work.apply(crate::world::create(&user)).await.unwrap();
        work.commit().await.unwrap();
        let entry = all(&world, tenant.id).await.remove(0);
        let expected = AuditEntry {
            id: entry.id,
            tenant_id: tenant.id,
            action: "CREATE".into(),
            resource_type: iam_model::audit::ResourceType::USER,
            resource_id: Some(user.id.to_string()),
            user_id: Some(user.id),
            old_value: None,
            new_value: json!({
                "email": user.email.as_str(),
                "firstName": "Ada",
                "homeOrganizationId": null,
                "lastName": "Lovelace",
                "status": "ACTIVE",
                "password": "[REDACTED]",
            })
            .as_object()
            .cloned(),
            metadata: serde_json::Map::new(),
            organization_id: None,
            context,
            created_at: world.now(),
            salts: entry.salts,
        };
        assert_eq!(entry, expected);
        world.tick();
    }
}

/// Any JSON in values and metadata is read back exactly, so that the log commits to the entry that is read.
pub async fn any_json_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let any = fields(&json!({
        "nested": { "list": [{ "deep": [[], {}, [null, true, false]] }], "empty": {} },
        "floats": [1e16, 1.0, -0.0, 0.0, 0.1, 1.5e-7, 5e-324, f64::MAX, f64::MIN, 123_456_789.125],
        "integers": [u64::MAX, i64::MAX, i64::MIN, 0, -1, 9_007_199_254_740_993_u64],
        "texts": ["", "\"quoted\" 'twice'", "back\\slash \\u0000", "nul \0, bell \u{7}, line\r\nend\t", "\u{1f468}\u{200d}\u{1f680}"],
        "more texts": ["e\u{301} is not \u{e9}", "\u{2028}\u{feff}\u{fffd}\u{10ffff}", "$1 %s ?1 {} --", "2026-01-31T09:15:00Z"],
        "": "a field without name",
        "a \"name\" \\ \0 \u{1f600}": 1,
        "b": 1, "B": 2, "a.b": 3,
        "email": { "any": ["type", 1e16, null] },
    }));
    let values = [None, Some(Map::new()), Some(any.clone()), Some(fields(&json!({ "email": null })))];
    for (number, value) in values.iter().enumerate() {
        let other = values[(number + 1) % values.len()].clone();
        for metadata in [Map::new(), any.clone()] {
            let entry = world.new_entry(tenant.id);
            let entry = AuditEntry { old_value: value.clone(), new_value: other.clone(), metadata, ..entry };
            world.record(vec![entry.clone()]).await;
            let found = world.store.audit_entry(tenant.id, entry.id).await.unwrap().unwrap();
            assert_eq!(found, entry);
            // The comparison above does not see every difference: 0.0 equals -0.0.
            assert_eq!(found.statement(), entry.statement());
            assert_eq!(found.digest(), entry.digest());
        }
    }
    world.assert_clean(tenant.id, &[]).await;
}

/// The organization and both salts are read back unchanged. Each salt may be known or destroyed, independently of the
/// other one.
pub async fn organizations_and_salts_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let known = |byte| Salt::from_bytes(&[byte; 16]).unwrap();
    let destroyed = |byte| Salt::from_bytes(&[byte; 32]).unwrap();
    // The organization need not exist in the store: an application records the identifier by which it knows an
    // organization.
    let organization: OrganizationId = world.id();
    for (organization_id, details, origin) in [
        (None, known(0), known(255)),
        (Some(organization), known(7), destroyed(8)),
        (Some(organization), destroyed(0), known(9)),
        (None, destroyed(255), destroyed(1)),
    ] {
        let entry = world.new_entry(tenant.id);
        let entry = AuditEntry { organization_id, salts: Salts { details, origin }, ..entry };
        world.record(vec![entry.clone()]).await;
        assert_eq!(world.store.audit_entry(tenant.id, entry.id).await.unwrap(), Some(entry));
    }
}

/// An entry is found by its identifier before and after it is sequenced, only in its own tenant.
pub async fn an_entry_is_found_by_id(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    world.tick();
    let entry = AuditEntry { context: request("192.0.2.1"), ..world.new_entry(tenant.id) };
    world.record(vec![entry.clone()]).await;
    for _ in 0..2 {
        assert_eq!(world.store.audit_entry(tenant.id, entry.id).await.unwrap().as_ref(), Some(&entry));
        assert_eq!(world.store.audit_entry(other.id, entry.id).await.unwrap(), None);
        assert_eq!(world.store.audit_entry(tenant.id, world.id()).await.unwrap(), None);
        world.sequence().await;
    }
}

/// Entries of any time are stored: years ago, at present, and years after the time that the store has prepared for.
pub async fn entries_of_any_time_are_stored(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let mut entries = Vec::new();
    for days in [-3_000, -32, -1, 0, 1, 28, 31, 3_000] {
        let created_at = world.now() + TimeDelta::days(days);
        entries.push(AuditEntry { created_at, ..world.new_entry(tenant.id) });
    }
    world.record(entries.clone()).await;
    world.sequence().await;
    for entry in &entries {
        assert_eq!(world.store.audit_entry(tenant.id, entry.id).await.unwrap().as_ref(), Some(entry));
        let (from, until) = (Some(entry.created_at), Some(entry.created_at));
        let filter = AuditFilter { from, until, action: Some("SENT".into()), ..AuditFilter::default() };
        let found = world.store.audit_entries(tenant.id, &filter, None, 10).await.unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), [entry]);
    }
    world.assert_clean(tenant.id, &[]).await;
}

/// Entries are counted by their days in UTC, to the millisecond, the newest ones first, whether they are sequenced or
/// not, in one tenant and with one action.
pub async fn entries_are_counted_by_day(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let from: Timestamp = "2026-03-30T00:00:00Z".parse().unwrap();
    let entry = |tenant: &Tenant, action: &'static str, millis: i64| AuditEntry {
        action: action.into(),
        created_at: from + TimeDelta::milliseconds(millis),
        ..world.new_entry(tenant.id)
    };
    let day = TimeDelta::days(1).num_milliseconds();
    let sent = [-1, 0, 1, day - 1, day, 2 * day - 1, 3 * day].map(|millis| entry(&tenant, "SENT", millis));
    world.record(sent.into()).await;
    world.record(vec![entry(&tenant, "PAID", 1), entry(&tenant, "PAID", 4 * day)]).await;
    world.record(vec![entry(&other, "SENT", 1)]).await;
    let date = |text: &str| text.parse::<Day>().unwrap();
    let all = [(date("2026-03-30"), 3), (date("2026-03-31"), 2), (date("2026-04-02"), 1)];
    for _ in 0..2 {
        let count =
            async |action: &str, limit| world.store.audit_entries_by_day(tenant.id, action, from, limit).await.unwrap();
        assert_eq!(count("SENT", 100).await, all);
        assert_eq!(count("SENT", 6).await, all);
        assert_eq!(count("SENT", 4).await, [(all[0].0, 1), all[1], all[2]]);
        assert_eq!(count("PAID", 100).await, [(all[0].0, 1), (date("2026-04-03"), 1)]);
        assert_eq!(count("sent", 100).await, []);
        assert_eq!(count("\0", 100).await, []);
        world.sequence().await;
        // Both a sequenced and a pending entry in the second round.
        world.record(vec![entry(&tenant, "OTHER", 0)]).await;
    }
}

/// Entries and their actors are counted by the weeks of ISO 8601 in UTC, the newest entries first, whether they are
/// sequenced or not, in one tenant and with one action. An actor of several entries of a week counts once in it, and an
/// entry without an actor counts as an entry.
pub async fn actors_are_counted_by_week(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    // A Monday. The year ends in the week.
    let from: Timestamp = "2025-12-29T00:00:00Z".parse().unwrap();
    let [ada, bob]: [UserId; 2] = std::array::from_fn(|_| world.id());
    let entry = |tenant: &Tenant, action: &'static str, millis: i64, user_id: Option<UserId>| AuditEntry {
        action: action.into(),
        created_at: from + TimeDelta::milliseconds(millis),
        user_id,
        ..world.new_entry(tenant.id)
    };
    let day = TimeDelta::days(1).num_milliseconds();
    let sent = [
        (-1, Some(bob)),
        (0, Some(ada)),
        (3 * day, Some(ada)),
        (5 * day, None),
        (7 * day - 1, Some(bob)),
        (7 * day, Some(bob)),
        (21 * day, None),
    ];
    world.record(sent.map(|(millis, user)| entry(&tenant, "SENT", millis, user)).into()).await;
    world.record(vec![entry(&tenant, "PAID", 1, Some(ada))]).await;
    world.record(vec![entry(&other, "SENT", 1, Some(world.id()))]).await;
    let date = |text: &str| text.parse::<Day>().unwrap();
    let all = [(date("2025-12-29"), 4, 2), (date("2026-01-05"), 1, 1), (date("2026-01-19"), 1, 0)];
    for _ in 0..2 {
        let count =
            async |action: &str, limit| world.store.audit_actors_by_week(tenant.id, action, from, limit).await.unwrap();
        assert_eq!(count("SENT", 100).await, all);
        assert_eq!(count("SENT", 4).await, [(all[0].0, 2, 1), all[1], all[2]]);
        assert_eq!(count("PAID", 100).await, [(all[0].0, 1, 1)]);
        assert_eq!(count("\0", 100).await, []);
        world.sequence().await;
        // Both a sequenced and a pending entry in the second round.
        world.record(vec![entry(&tenant, "OTHER", 0, None)]).await;
    }
}

/// Pages by cursor show every entry once, newest first, also if entries have the same time and while entries arrive.
pub async fn entries_are_paged_newest_first_without_gaps(store: Arc<dyn Store>) {
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

/// Each filter alone, and several together, select the entries for which [`AuditFilter::matches`] is true.
pub async fn every_filter_selects_matching_entries(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    world.tick();
    let context = RequestContext { correlation_id: Some("corr-2".parse().unwrap()), ..RequestContext::default() };
    let author = world.author(tenant.id, user.id, context);
    let mut work = world.begin(&author).await;
    let after = User { status: UserStatus::Suspended, ..user.clone() };
    work.apply(UserChange::ChangeStatus { before: user.clone(), after, grants: None }).await.unwrap();
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

/// Each part of the filter, every pair of parts, and all parts together, with and without dates and a cursor, select
/// the entries for which [`AuditFilter::matches`] is true.
pub async fn combined_filters_select_matching_entries(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    world.tick();
    let wanted = AuditFilter {
        action: Some("SENT".into()),
        resource_type: Some("INVOICE".into()),
        resource_id: Some("2026-0017".into()),
        user_id: Some(user.id),
        organization_id: Some(world.id()),
        correlation_id: Some("corr-1".parse().unwrap()),
        ..AuditFilter::default()
    };
    let (start, other) = (world.now(), world.tenant("other").await);
    // An odd step, so that the order in time differs from the order of the matching parts.
    let entries = |world: &World| -> Vec<AuditEntry> {
        let at = |number: u32| start + TimeDelta::seconds(i64::from(number * 29 % PARTS));
        (0..PARTS)
            .map(|number| AuditEntry { created_at: at(number), ..matching_entry(world, &tenant, &wanted, number) })
            .collect()
    };
    world.record(entries(&world)).await;
    world.record(entries(&world).into_iter().map(|entry| AuditEntry { tenant_id: other.id, ..entry }).collect()).await;
    let everything = all(&world, tenant.id).await;
    let moment = |second| Some(start + TimeDelta::seconds(second));
    for parts in (0..PARTS).filter(|parts| parts.count_ones() <= 2 || *parts == PARTS - 1) {
        for (from, until) in [(None, None), (moment(8), None), (None, moment(52)), (moment(8), moment(52))] {
            let filter = AuditFilter { from, until, ..only(&wanted, parts) };
            let expected: Vec<_> = everything.iter().filter(|entry| filter.matches(entry)).cloned().collect();
            assert!(!expected.is_empty(), "{filter:?}");
            let cursor = Cursor::after(&expected[0]);
            for (after, expected) in [(None, &expected[..]), (Some(cursor), &expected[1..])] {
                for limit in [3, 100] {
                    let found = world.store.audit_entries(tenant.id, &filter, after, limit).await.unwrap();
                    let expected: Vec<_> = expected.iter().take(limit as usize).cloned().collect();
                    assert_eq!(found, expected, "{filter:?} {after:?}");
                }
            }
        }
    }
}

/// The number of sets of filter parts, without the dates.
const PARTS: u32 = 1 << 6;

/// A filter with only the parts whose bits are set in `parts`.
fn only(filter: &AuditFilter, parts: u32) -> AuditFilter {
    fn part<T: Clone>(parts: u32, number: u32, part: &Option<T>) -> Option<T> {
        part.clone().filter(|_| parts >> number & 1 == 1)
    }
    AuditFilter {
        action: part(parts, 0, &filter.action),
        resource_type: part(parts, 1, &filter.resource_type),
        resource_id: part(parts, 2, &filter.resource_id),
        user_id: part(parts, 3, &filter.user_id),
        organization_id: part(parts, 4, &filter.organization_id),
        correlation_id: part(parts, 5, &filter.correlation_id),
        ..AuditFilter::default()
    }
}

/// An entry that matches exactly these parts of a filter.
fn matching_entry(world: &World, tenant: &Tenant, filter: &AuditFilter, parts: u32) -> AuditEntry {
    let AuditFilter { action, resource_type, resource_id, user_id, organization_id, correlation_id, .. } =
        only(filter, parts);
    AuditEntry {
        action: action.unwrap_or_else(|| "PAID".to_owned()).into(),
        resource_type: resource_type.unwrap_or_else(|| "ORDER".to_owned()).into(),
        resource_id,
        user_id,
        organization_id,
        context: RequestContext { correlation_id, ..RequestContext::default() },
        ..world.new_entry(tenant.id)
    }
}

/// An event of the application is read back with every field. Secrets in it are redacted and not stored.
pub async fn events_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    world.tick();
    let iam = world.iam().await;
    let caller = Caller::system(tenant.id, "billing").in_context(request("2001:db8::7"));
    let metadata = |token| json!({ "total": 1e16, "lines": [{ "Email": "ada@example.com", "token": token }], "z": {} });
    let organization: OrganizationId = world.id();
    for (resource_type, resource_id, organization_id) in [
        ("INVOICE", Some("2026/17 \u{fc} \"'\\".to_owned()), None),
        ("INVOICE", None, None),
        ("ORGANIZATION", Some(organization.to_string()), Some(organization)),
    ] {
        let (action, resource_type) = ("SENT".to_owned(), resource_type.to_owned());
        let (sent, kept) = (fields(&metadata("abc")), resource_id.clone());
        let event = NewEvent { action, resource_type: resource_type.clone(), resource_id: kept, metadata: sent };
        let logged = iam.audit().log(&caller, event).await.unwrap();
        let mut metadata: Value = metadata("[REDACTED]");
        metadata["system"] = "billing".into();
        let expected = AuditEntry {
            id: logged.id,
            salts: logged.salts,
            resource_type: resource_type.into(),
            resource_id,
            organization_id,
            metadata: fields(&metadata),
            context: request("2001:db8::7"),
            ..world.new_entry(tenant.id)
        };
        assert_eq!(logged, expected);
        assert_eq!(iam.audit().get(&caller, logged.id).await.unwrap(), expected);
        assert_eq!(all(&world, tenant.id).await[0], expected);
        world.tick();
    }
    world.sequence().await;
    world.assert_sequenced(tenant.id).await;
}

async fn rename(world: &World, tenant: &Tenant) {
    let after = Tenant { name: "Renamed".parse().unwrap(), ..tenant.clone() };
    world.commit(tenant.id, TenantChange::Update { before: tenant.clone(), after }).await;
}
