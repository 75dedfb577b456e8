//! Second factors, recovery codes, and challenges.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::challenge::{Ceremony, Challenge, ChallengePurpose};
use iam_model::change::{ChallengeChange, Change, FactorChange, UserChange};
use iam_model::error::{Conflict, Error};
use iam_model::factor::{Factor, FactorKey, FactorKind};
use iam_model::id::TenantId;
use iam_model::session::ProviderSession;
use iam_model::store::Store;
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::{User, UserStatus};
use tokio::task::JoinSet;

use crate::world::{World, assert_conflict, assert_missing, new_passkey, new_totp, sorted};

async fn add(world: &World, factor: Factor) -> Factor {
    let change = match factor.kind {
        FactorKind::Totp => FactorChange::Prepare(factor.clone()),
        FactorKind::Passkey => FactorChange::Register(factor.clone()),
    };
    world.commit(factor.tenant_id, change).await;
    factor
}

/// The factors of a user, read in a unit of work and outside of one.
async fn factors(world: &World, user: &User) -> Vec<Factor> {
    let committed = world.store.factors(user.tenant_id, user.id).await.unwrap();
    let locked = world.locked(user.tenant_id, async |locks| locks.factors(user.id).await.unwrap()).await;
    assert_eq!(committed, locked);
    committed
}

/// The recovery codes of a user.
async fn codes(world: &World, user: &User) -> Vec<[u8; 32]> {
    let locked = world.locked(user.tenant_id, async |locks| locks.recovery_codes(user.id).await.unwrap()).await;
    let left = world.store.recovery_codes_left(user.tenant_id, user.id).await.unwrap();
    assert_eq!(left, locked.len() as u64);
    sorted(locked, |hash| hash)
}

async fn issue_codes(world: &World, user: &User, codes: &[u8]) {
    let hashes = codes.iter().map(|code| [*code; 32]).collect();
    world.commit(user.tenant_id, FactorChange::IssueRecoveryCodes { user: user.id, hashes }).await;
}

fn remove(user: &User, factors: &[Factor], is_last: bool) -> FactorChange {
    FactorChange::Remove { user: user.id, factors: factors.to_vec(), is_last, grants: None }
}

fn use_code(user: &User, code: u8) -> Change {
    FactorChange::UseRecoveryCode { user: user.id, hash: [code; 32], left: 0 }.into()
}

fn new_challenge(world: &World, tenant: TenantId, hash: u8) -> Challenge {
    Challenge {
        tenant_id: tenant,
        token_hash: [hash; 32],
        purpose: ChallengePurpose::PasskeyLogin,
        user_id: None,
        tries: 0,
        ceremony: None,
        provider: None,
        created_at: world.now(),
        expires_at: world.now() + TimeDelta::minutes(5),
    }
}

async fn begin(world: &World, challenge: &Challenge) {
    world.commit(challenge.tenant_id, ChallengeChange::Issue(challenge.clone())).await;
}

/// A challenge, read in a unit of work and outside of one.
async fn challenge(world: &World, tenant: TenantId, hash: u8) -> Option<Challenge> {
    let committed = world.store.challenge(tenant, &[hash; 32]).await.unwrap();
    let locked = world.locked(tenant, async |locks| locks.lock_challenge(&[hash; 32]).await.unwrap()).await;
    assert_eq!(committed, locked);
    committed
}

/// The factors of a user are read back oldest first, then by identifier, and only in their tenant. Each field has the
/// value that was written.
pub async fn factors_are_read_back_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (ada, bob) = (world.user(&acme, "ada@example.com").await, world.user(&acme, "bob@example.com").await);
    let namesake = world.user(&other, "ada@example.com").await;
    assert_eq!(factors(&world, &ada).await, []);
    let oldest = Factor { created_at: world.now() - TimeDelta::days(1), ..new_passkey(&world, &ada, b"oldest") };
    let full = Factor {
        name: "Schlüssel \"7\"".parse().unwrap(),
        key: FactorKey((0..=255).collect()),
        counter: u64::from(u32::MAX),
        last_used_at: Some(world.now() + TimeDelta::milliseconds(7)),
        ..new_passkey(&world, &ada, &[0xff; 1023])
    };
    let (second, third) = (new_totp(&world, &ada), new_passkey(&world, &ada, b""));
    for factor in [&third, &full, &second, &oldest, &new_totp(&world, &bob), &new_totp(&world, &namesake)] {
        add(&world, factor.clone()).await;
    }
    let mut expected = vec![full, second, third];
    expected.sort_by_key(|factor| factor.id);
    expected.insert(0, oldest);
    assert_eq!(factors(&world, &ada).await, expected);
    assert_eq!(world.store.factors(other.id, ada.id).await.unwrap(), []);
    assert_eq!(factors(&world, &bob).await.len(), 1);
    assert_eq!(factors(&world, &namesake).await.len(), 1);
}

/// ACTIVE people with a confirmed factor are counted, each once, in their tenant, and no further than asked for.
pub async fn people_with_a_factor_are_counted(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let count = async |limit| world.store.people_with_factor(acme.id, limit).await.unwrap();
    let mut people = Vec::new();
    for name in ["ada", "bob", "eve", "none"] {
        people.push(world.user(&acme, &format!("{name}@example.com")).await);
    }
    let namesake = world.user(&other, "ada@example.com").await;
    assert_eq!(count(10).await, 0);
    for (number, user) in [&people[0], &people[0], &people[1], &people[2], &namesake].into_iter().enumerate() {
        add(&world, new_passkey(&world, user, number.to_string().as_bytes())).await;
    }
    add(&world, new_totp(&world, &people[3])).await;
    assert_eq!((count(10).await, count(2).await), (3, 2));
    let before = people.remove(2);
    let after = User { status: UserStatus::Suspended, ..before.clone() };
    world.commit(acme.id, UserChange::ChangeStatus { before, after, grants: None }).await;
    assert_eq!(count(10).await, 2);
}

/// A TOTP generator replaces the unconfirmed one of its user. It replaces neither a confirmed one nor that of another
/// user.
pub async fn a_prepared_factor_replaces_an_unconfirmed_one(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    let of_bob = add(&world, new_totp(&world, &bob)).await;
    let passkey = add(&world, new_passkey(&world, &ada, b"passkey")).await;
    let first = add(&world, new_totp(&world, &ada)).await;
    let confirmed = Factor { confirmed_at: Some(world.now()), counter: 7, ..first };
    world.commit(tenant.id, FactorChange::Confirm(confirmed.clone())).await;
    world.tick();
    add(&world, new_totp(&world, &ada)).await;
    world.tick();
    let newest = add(&world, new_totp(&world, &ada)).await;
    assert_eq!(factors(&world, &ada).await, [passkey, confirmed, newest]);
    assert_eq!(factors(&world, &bob).await, [of_bob]);
}

/// A confirmation, a use and another name are read back. A change of one factor leaves the others as they are.
pub async fn changes_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let (totp, passkey) = (new_totp(&world, &user), new_passkey(&world, &user, b"passkey"));
    add(&world, totp.clone()).await;
    add(&world, passkey.clone()).await;
    world.tick();
    let (tick, key) = (Some(world.now()), FactorKey(b"another".to_vec()));
    let confirmed = Factor { confirmed_at: tick, counter: 59_012_345, last_used_at: tick, ..totp.clone() };
    let used = Factor { key, counter: 3, last_used_at: tick, ..passkey.clone() };
    let renamed = Factor { name: "Phone of Ada".parse().unwrap(), ..confirmed.clone() };
    let changes = [
        (FactorChange::Confirm(confirmed.clone()), [&confirmed, &passkey]),
        (FactorChange::Use { after: used.clone(), fell_back_to: None }, [&confirmed, &used]),
        (FactorChange::Use { after: passkey.clone(), fell_back_to: Some(3) }, [&confirmed, &passkey]),
        (FactorChange::Rename { before: confirmed.clone(), after: renamed.clone() }, [&renamed, &passkey]),
    ];
    for (change, expected) in changes {
        world.commit(tenant.id, change).await;
        assert_eq!(factors(&world, &user).await.iter().collect::<Vec<_>>(), expected);
    }
}

/// A change of a factor that does not exist, or that exists in another tenant, is refused.
pub async fn a_change_to_a_missing_factor_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let user = world.user(&acme, "ada@example.com").await;
    let stored = add(&world, new_passkey(&world, &user, b"passkey")).await;
    for (tenant, factor) in [(other.id, &stored), (acme.id, &new_totp(&world, &user))] {
        for change in [
            FactorChange::Confirm(factor.clone()),
            FactorChange::Use { after: factor.clone(), fell_back_to: None },
            FactorChange::Rename { before: factor.clone(), after: factor.clone() },
        ] {
            assert_missing(&world.try_commit(tenant, [change.into()]).await);
        }
    }
    world.commit(other.id, remove(&user, std::slice::from_ref(&stored), true)).await;
    assert_eq!(factors(&world, &user).await, [stored]);
}

/// Removed factors are gone, and no others. The recovery codes of the user end with its last factor.
pub async fn removed_factors_are_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    let mut of_ada = Vec::new();
    for credential in [b"1", b"2", b"3"] {
        of_ada.push(add(&world, new_passkey(&world, &ada, credential)).await);
        world.tick();
    }
    let of_bob = add(&world, new_passkey(&world, &bob, b"4")).await;
    issue_codes(&world, &ada, &[1, 2]).await;
    issue_codes(&world, &bob, &[3]).await;
    world.commit(tenant.id, remove(&ada, &of_ada[..1], false)).await;
    assert_eq!(factors(&world, &ada).await, of_ada[1..]);
    assert_eq!(codes(&world, &ada).await, [[1; 32], [2; 32]]);
    world.commit(tenant.id, remove(&ada, &of_ada[1..], true)).await;
    assert_eq!(factors(&world, &ada).await, []);
    assert_eq!(codes(&world, &ada).await, [[0; 32]; 0]);
    assert_eq!(factors(&world, &bob).await, [of_bob]);
    assert_eq!(codes(&world, &bob).await, [[3; 32]]);
    // The identifier of a removed passkey is free.
    add(&world, new_passkey(&world, &bob, b"1")).await;
}

/// A new set of recovery codes replaces the former set of the user, and no other. A code can be used once, only by its
/// user.
pub async fn recovery_codes_are_replaced_and_used(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    assert_eq!(codes(&world, &ada).await, [[0; 32]; 0]);
    issue_codes(&world, &ada, &[1, 2, 3]).await;
    issue_codes(&world, &bob, &[7]).await;
    issue_codes(&world, &ada, &[3, 4, 5]).await;
    assert_eq!(codes(&world, &ada).await, [[3; 32], [4; 32], [5; 32]]);
    assert_eq!(world.store.recovery_codes_left(other.id, ada.id).await.unwrap(), 0);
    world.try_commit(tenant.id, [use_code(&ada, 4)]).await.unwrap();
    assert_eq!(codes(&world, &ada).await, [[3; 32], [5; 32]]);
    for (in_tenant, code) in [(tenant.id, 4), (tenant.id, 1), (tenant.id, 7), (other.id, 3)] {
        assert_missing(&world.try_commit(in_tenant, [use_code(&ada, code)]).await);
    }
    assert_eq!(codes(&world, &ada).await, [[3; 32], [5; 32]]);
    assert_eq!(codes(&world, &bob).await, [[7; 32]]);
}

/// Of many concurrent units of work that lock the account and use one recovery code, one finds it.
pub async fn a_recovery_code_is_used_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    issue_codes(&world, &user, &[0, 1, 2, 3]).await;
    for code in 0..4 {
        let found = at_once(&world, &user, move |world: Arc<World>, user: User| async move {
            let mut work = world.begin(&World::system(user.tenant_id)).await;
            work.reads().lock_guarded_account(&user.email.key(), Some(user.id)).await?;
            let is_left = work.reads().recovery_codes(user.id).await?.contains(&[code; 32]);
            if is_left {
                work.apply(use_code(&user, code)).await?;
            }
            work.commit().await?;
            Ok(is_left)
        });
        assert_eq!(found.await, 1);
    }
    assert_eq!(codes(&world, &user).await, [[0; 32]; 0]);
}

/// While a unit of work holds the lock of the account, the factors that it has read stay as they are. So two tasks
/// cannot accept one code, and no use is lost.
pub async fn concurrent_uses_of_a_factor_are_all_counted(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    add(&world, new_passkey(&world, &user, b"passkey")).await;
    let used = at_once(&world, &user, |world: Arc<World>, user: User| async move {
        let mut work = world.begin(&World::system(user.tenant_id)).await;
        work.reads().lock_guarded_account(&user.email.key(), Some(user.id)).await?;
        let factor = work.reads().factors(user.id).await?.remove(0);
        let after = Factor { counter: factor.counter + 1, ..factor };
        work.apply(FactorChange::Use { after, fell_back_to: None }).await?;
        work.commit().await?;
        Ok(true)
    });
    assert_eq!(used.await, 8);
    assert_eq!(factors(&world, &user).await[0].counter, 8);
}

/// Runs a unit of work eight times at the same time. Returns how often it was successful.
async fn at_once<F>(world: &Arc<World>, user: &User, work: impl Fn(Arc<World>, User) -> F) -> usize
where
    F: Future<Output = Result<bool, StoreError>> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        tasks.spawn(work(Arc::clone(world), user.clone()));
    }
    tasks.join_all().await.into_iter().map(Result::unwrap).filter(|found| *found).count()
}

/// A passkey belongs to one user of the installation, until it is removed. A user may have many TOTP generators, which
/// have no such identifier.
pub async fn a_passkey_belongs_to_one_user(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (ada, bob) = (world.user(&acme, "ada@example.com").await, world.user(&acme, "bob@example.com").await);
    let namesake = world.user(&other, "ada@example.com").await;
    let first = add(&world, new_passkey(&world, &ada, b"passkey")).await;
    for user in [&ada, &bob, &namesake] {
        let again = FactorChange::Register(new_passkey(&world, user, b"passkey"));
        assert_conflict(&world.try_commit(user.tenant_id, [again.into()]).await, Constraint::Passkey);
        add(&world, Factor { confirmed_at: Some(world.now()), ..new_totp(&world, user) }).await;
        add(&world, new_totp(&world, user)).await;
        assert_eq!(factors(&world, user).await.iter().filter(|factor| factor.credential_id.is_none()).count(), 2);
    }
    let remove = FactorChange::Remove { user: ada.id, factors: vec![first], is_last: false, grants: None };
    world.commit(acme.id, remove).await;
    let elsewhere = add(&world, new_passkey(&world, &namesake, b"passkey")).await;
    assert!(factors(&world, &namesake).await.contains(&elsewhere));
}

/// Of many concurrent units of work that register one passkey for different users of two tenants, one succeeds.
pub async fn a_passkey_is_registered_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenants = [world.tenant("acme").await, world.tenant("other").await];
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let user = world.user(&tenants[number % 2], &format!("user{number}@example.com")).await;
        let world = Arc::clone(&world);
        tasks.spawn(async move {
            let register = FactorChange::Register(new_passkey(&world, &user, b"passkey"));
            world.try_commit(user.tenant_id, [register.into()]).await
        });
    }
    let results = tasks.join_all().await;
    let is_conflict = |result: &&Result<(), Error>| matches!(result, Err(Error::Conflict(Conflict::PasskeyRegistered)));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert_eq!(results.iter().filter(is_conflict).count(), 7, "{results:?}");
}

/// Factors and recovery codes need a user that exists in the tenant.
pub async fn factors_of_a_missing_user_are_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (nobody, foreign) = (world.new_user(&acme, "ada@example.com"), world.user(&other, "ada@example.com").await);
    for user in [&nobody, &foreign] {
        for change in [
            FactorChange::Prepare(new_totp(&world, user)),
            FactorChange::Register(new_passkey(&world, user, b"passkey")),
            FactorChange::IssueRecoveryCodes { user: user.id, hashes: vec![[1; 32]] },
        ] {
            assert_conflict(&world.try_commit(acme.id, [change.into()]).await, Constraint::Reference);
        }
    }
}

/// A challenge is read back, only in its tenant, also when it has expired. One may belong to no tenant, and then needs
/// no tenant that exists. The answers and the ceremony of a changed challenge are read back.
pub async fn a_challenge_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let user = world.user(&acme, "ada@example.com").await;
    let purpose = ChallengePurpose::Login;
    let named = Challenge { user_id: Some(user.id), purpose, ..new_challenge(&world, acme.id, 1) };
    let ceremony = Some(Ceremony((0..=255).collect()));
    let provider = Some(ProviderSession { provider_id: world.id(), session: Some("s-1".to_owned()) });
    let unnamed = Challenge { ceremony: ceremony.clone(), provider, ..new_challenge(&world, TenantId::NONE, 2) };
    begin(&world, &named).await;
    begin(&world, &unnamed).await;
    world.clock.advance(TimeDelta::days(1));
    for (tenant, hash, expected) in [
        (acme.id, 1, Some(&named)),
        (acme.id, 2, None),
        (acme.id, 3, None),
        (other.id, 1, None),
        (TenantId::NONE, 2, Some(&unnamed)),
        (TenantId::NONE, 1, None),
    ] {
        assert_eq!(challenge(&world, tenant, hash).await.as_ref(), expected);
    }
    for (before, after) in [
        (&named, Challenge { tries: 5, ceremony, ..named.clone() }),
        (&unnamed, Challenge { tries: 1, ceremony: None, ..unnamed.clone() }),
    ] {
        world.commit(before.tenant_id, ChallengeChange::Update(after.clone())).await;
        assert_eq!(challenge(&world, before.tenant_id, before.token_hash[0]).await, Some(after));
    }
    let missing = ChallengeChange::Update(new_challenge(&world, acme.id, 3));
    assert_missing(&world.try_commit(acme.id, [missing.into()]).await);
}

/// A challenge that ends is gone. Ending a challenge that does not exist does nothing. All challenges of a user end
/// together, and all of a tenant for one purpose, and no others.
pub async fn ended_challenges_are_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (ada, bob) = (world.user(&acme, "ada@example.com").await, world.user(&acme, "bob@example.com").await);
    for (tenant, hash, user) in [
        (acme.id, 1, Some(&ada)),
        (acme.id, 2, Some(&ada)),
        (acme.id, 3, Some(&ada)),
        (acme.id, 4, Some(&bob)),
        (acme.id, 5, None),
        (other.id, 6, Some(&ada)),
        (TenantId::NONE, 7, None),
    ] {
        let user_id = user.map(|user| user.id);
        let purpose = if hash < 5 { ChallengePurpose::PasskeyLogin } else { ChallengePurpose::EmailLogin };
        begin(&world, &Challenge { user_id, purpose, ..new_challenge(&world, tenant, hash) }).await;
    }
    let left = async |world: &World| {
        let mut left = Vec::new();
        for tenant in [acme.id, other.id, TenantId::NONE] {
            for hash in 1..=7 {
                left.extend(challenge(world, tenant, hash).await.map(|_| hash));
            }
        }
        left
    };
    for _ in 0..2 {
        world.commit(acme.id, ChallengeChange::End(new_challenge(&world, acme.id, 1))).await;
        assert_eq!(left(&world).await, [2, 3, 4, 5, 6, 7]);
    }
    for _ in 0..2 {
        world.commit(acme.id, ChallengeChange::EndAll(ada.id)).await;
        assert_eq!(left(&world).await, [4, 5, 6, 7]);
    }
    world.commit(TenantId::NONE, ChallengeChange::End(new_challenge(&world, TenantId::NONE, 7))).await;
    assert_eq!(left(&world).await, [4, 5, 6]);
    for _ in 0..2 {
        world.commit(acme.id, ChallengeChange::EndAllFor(ChallengePurpose::EmailLogin)).await;
        assert_eq!(left(&world).await, [4, 6]);
    }
    for _ in 0..2 {
        world.commit(acme.id, ChallengeChange::EndAllOfTenant).await;
        assert_eq!(left(&world).await, [6]);
    }
}

/// Of many concurrent units of work that answer one challenge, one finds it. Wrong answers at the same time are all
/// counted.
pub async fn a_challenge_is_answered_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    for tenant in [tenant.id, TenantId::NONE] {
        begin(&world, &new_challenge(&world, tenant, 1)).await;
        let counted = at_once(&world, &user, move |world: Arc<World>, _| async move {
            let mut work = world.begin(&World::system(tenant)).await;
            let Some(found) = work.reads().lock_challenge(&[1; 32]).await? else { return Ok(false) };
            work.apply(ChallengeChange::Update(Challenge { tries: found.tries + 1, ..found })).await?;
            work.commit().await?;
            Ok(true)
        });
        assert_eq!(counted.await, 8);
        assert_eq!(challenge(&world, tenant, 1).await.unwrap().tries, 8);
        let ended = at_once(&world, &user, move |world: Arc<World>, _| async move {
            let mut work = world.begin(&World::system(tenant)).await;
            let found = work.reads().lock_challenge(&[1; 32]).await?;
            if let Some(found) = found.clone() {
                work.apply(ChallengeChange::End(found)).await?;
            }
            work.commit().await?;
            Ok(found.is_some())
        });
        assert_eq!(ended.await, 1);
    }
}

/// Challenges are removed from the exact millisecond of their expiry on, at most as many as the limit, also those of no
/// tenant.
pub async fn expired_challenges_are_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    for (number, tenant) in [acme.id, TenantId::NONE, other.id].into_iter().enumerate() {
        let expires_at = world.now() + TimeDelta::milliseconds(number as i64);
        begin(&world, &Challenge { expires_at, ..new_challenge(&world, tenant, 1) }).await;
    }
    world.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(world.store.remove_expired_challenges(world.now(), 100).await.unwrap(), 2);
    assert_eq!(world.store.remove_expired_challenges(world.now(), 100).await.unwrap(), 0);
    assert!(challenge(&world, other.id, 1).await.is_some());
    world.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(world.iam().await.remove_expired_challenges().await.unwrap(), 1);
}
