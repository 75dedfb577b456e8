//! The keys of rows of the previous release, which are made again.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use iam_conformance::World;
use iam_core::access::VisibleScope;
use iam_core::credential::{CredentialChange, LoginAttempts, LoginFailure};
use iam_core::invitation::{Invitation, InvitationChange, InvitationFilter, InvitationStatus};
use iam_core::organization::{OrganizationFilter, OrganizationSort};
use iam_core::page::PageRequest;
use iam_core::tenant::Tenant;
use iam_core::user::{User, UserChange, UserFilter, UserSort};
use iam_core::{Email, UserId};

/// A store whose database a test can take back to the previous release.
pub struct Earlier<'a, E, M, C> {
    /// A world over the store.
    pub world: &'a World,
    /// The text before the names of tables.
    pub schema: &'a str,
    /// Executes a statement.
    pub execute: E,
    /// Migrates the store.
    pub migrate: M,
    /// Returns the users in conflict, each with the user that has its address.
    pub conflicts: C,
}

/// The addresses of the previous release, each with its key at that time and both names.
const USERS: [[&str; 4]; 16] = [
    ["νικοσ@example.com", "νικοσ@example.com", "Ada", "Lovelace"],
    ["ΝΙΚΟΣ@example.com", "νικος@example.com", "Ada", "Lovelace"],
    ["Ada@XN--EXMPLE-CUA.de", "ada@xn--exmple-cua.de", "Ada", "Lovelace"],
    ["ada@exämple.de", "ada@exämple.de", "Ada", "Lovelace"],
    ["weiß@example.com", "weiß@example.com", "Rene\u{301}", "Weiß"],
    ["\"a b\"@example.com", "\"a b\"@example.com", "Turn\u{202e}ed", "Name"],
    // The older one is deleted, suspended, unverified, or has logged in longer ago; or both are alike.
    ["νικοσ@deleted.example", "νικοσ@deleted.example", "Old", "Deleted"],
    ["ΝΙΚΟΣ@deleted.example", "νικος@deleted.example", "Young", "Suspended"],
    ["νικοσ@suspended.example", "νικοσ@suspended.example", "Old", "Suspended"],
    ["ΝΙΚΟΣ@suspended.example", "νικος@suspended.example", "Young", "Active"],
    ["νικοσ@unverified.example", "νικοσ@unverified.example", "Old", "Unverified"],
    ["ΝΙΚΟΣ@unverified.example", "νικος@unverified.example", "Young", "Verified"],
    ["νικοσ@unused.example", "νικοσ@unused.example", "Old", "Unused"],
    ["ΝΙΚΟΣ@unused.example", "νικος@unused.example", "Young", "Used"],
    ["νικοσ@former.example", "νικοσ@former.example", "Old", "Former"],
    ["ΝΙΚΟΣ@former.example", "νικος@former.example", "Young", "Latest"],
];

/// The difference between accounts with one address, by the number of the user.
const STATES: [(usize, &str); 9] = [
    (6, "status = 'INACTIVE'"),
    (7, "status = 'SUSPENDED'"),
    (8, "status = 'SUSPENDED', email_verified_at = created_at, last_login_at = updated_at"),
    (10, "last_login_at = updated_at"),
    (11, "email_verified_at = created_at"),
    (12, "email_verified_at = created_at"),
    (13, "email_verified_at = created_at, last_login_at = created_at"),
    (14, "last_login_at = (SELECT min(created_at) FROM $users)"),
    (15, "last_login_at = updated_at"),
];

impl<E, M, C> Earlier<'_, E, M, C>
where
    E: AsyncFn(String),
    M: AsyncFn(),
    C: AsyncFn() -> BTreeSet<(UserId, UserId)>,
{
    /// After a migration, all rows of the previous release have the keys of this one. Where two accounts of a tenant
    /// have one address now, the one that its owner uses keeps it, or else the older one. The other one is named, can
    /// be found, read and changed, and has its address when that is free.
    ///
    /// # Panics
    ///
    /// When a rule does not hold.
    pub async fn keys_are_made_again(&self) {
        let (world, schema) = (self.world, self.schema);
        let tenant = world.tenant("acme").await;
        let users: [UserId; 16] = self.users(&tenant).await.try_into().expect("as many as there are");
        self.other_rows(&tenant).await;
        for statement in [
            "DROP INDEX $users_keys_idx",
            "DROP INDEX $users_conflicts_idx",
            "DROP INDEX $organizations_keys_idx",
            "DROP INDEX $invitations_keys_idx",
            "ALTER TABLE $users DROP COLUMN keyed_at",
            "ALTER TABLE $organizations DROP COLUMN keyed_at",
            "ALTER TABLE $invitations DROP COLUMN keyed",
        ] {
            (self.execute)(statement.replace('$', schema)).await;
        }
        let migrations = if schema.is_empty() { "_iam_migrations" } else { "iam._migrations" };
        (self.execute)(format!("DELETE FROM {migrations} WHERE version = 20")).await;

        let (in_use, _) = users.as_chunks::<2>();
        let younger = in_use.iter().skip(3).map(|[older, younger]| (*older, *younger));
        let conflicts: BTreeSet<_> = [(users[1], users[0]), (users[3], users[2])].into_iter().chain(younger).collect();
        for _ in 0..2 {
            (self.migrate)().await;
            assert_eq!((self.conflicts)().await, conflicts, "the account in use has the address");
        }
        for (email, expected) in
            [("Νικος@example.com", users[0]), ("ada@EXÄMPLE.de", users[2]), ("WEISS@example.com", users[4])]
        {
            assert_eq!(self.account(&tenant, email).await, Some(expected), "{email}");
        }
        for (search, expected) in [
            ("νικος@EXAMPLE.com", vec![users[0], users[1]]),
            ("exämple.de ada", vec![users[2], users[3]]),
            ("RENÉ weiss", vec![users[4]]),
            ("ed name", vec![users[5]]),
        ] {
            assert_eq!(self.found(&tenant, search).await, expected.into_iter().collect(), "{search}");
        }
        let key = "Νικος@example.com".parse::<Email>().expect("an address").key();
        let attempts = world.store.guarded_account(tenant.id, &key).await.expect("it reads").attempts;
        assert_eq!((attempts.count(), attempts.locked_until.is_some()), (2, true));
        let filter = OrganizationFilter { search: Some("STRASSE".to_owned()), ..OrganizationFilter::default() };
        let (sort, page) = (OrganizationSort::default(), PageRequest::default());
        let found = world.store.organizations(tenant.id, &filter, &VisibleScope::Tenant, sort, page).await;
        assert_eq!(found.expect("it reads").total, 1);
        let email = "Νικος@example.net".parse::<Email>().ok().map(|email| email.key());
        let invited = async |email| {
            let filter = InvitationFilter { email, ..InvitationFilter::default() };
            let found = world.store.invitations(tenant.id, &filter, &VisibleScope::Tenant, page, world.now()).await;
            found.expect("it reads").total
        };
        assert_eq!((invited(email).await, invited(None).await), (1, 2));
        self.users_in_conflict_can_be_changed(&tenant, &users).await;
    }

    async fn users_in_conflict_can_be_changed(&self, tenant: &Tenant, users: &[UserId; 16]) {
        let world = self.world;
        self.change(tenant, users[1], |user| User { first_name: "Nikos".parse().expect("a name"), ..user }).await;
        assert_eq!(self.found(tenant, "nikos").await, BTreeSet::from([users[1]]));
        assert_eq!(self.account(tenant, "νικοσ@example.com").await, Some(users[0]));
        // The address of the older account gets free, and that of the other younger one changes.
        self.change(tenant, users[0], |user| User { email: "n@example.com".parse().expect("an address"), ..user })
            .await;
        self.change(tenant, users[3], |user| User { email: "a@exämple.de".parse().expect("an address"), ..user }).await;
        world.store.prepare(world.now()).await.expect("it prepares");
        assert_eq!((self.conflicts)().await.len(), 5, "those whose address is not free");
        assert_eq!(self.account(tenant, "νικοσ@example.com").await, Some(users[1]));
        assert_eq!(self.account(tenant, "a@xn--exmple-cua.de").await, Some(users[3]));
        // The previous release still writes.
        let write = "UPDATE $users SET email = 'É@ΝΙΚΟΣ.gr', email_key = 'é@νικος.gr', last_name = 'WEISS', \
                     last_name_key = 'weiß', updated_at = created_at WHERE email = 'n@example.com'";
        (self.execute)(write.replace('$', self.schema)).await;
        world.store.prepare(world.now()).await.expect("it prepares");
        assert_eq!(self.account(tenant, "É@νικοσ.gr").await, Some(users[0]));
    }

    /// Writes users as the previous release does.
    async fn users(&self, tenant: &Tenant) -> Vec<UserId> {
        let mut users = Vec::new();
        for (number, [email, key, first, last]) in USERS.into_iter().enumerate() {
            let user = self.world.user(tenant, &format!("user{number}@example.com")).await;
            self.world.tick();
            let (first_key, last_key) = (first.to_lowercase(), last.to_lowercase());
            (self.execute)(format!(
                "UPDATE {}users SET email = '{email}', email_key = '{key}', first_name = '{first}', \
                 first_name_key = '{first_key}', last_name = '{last}', last_name_key = '{last_key}' \
                 WHERE email_key = 'user{number}@example.com'",
                self.schema
            ))
            .await;
            users.push(user.id);
        }
        for (number, state) in STATES {
            let Some([email, ..]) = USERS.get(number) else { continue };
            let write = format!("UPDATE $users SET {state} WHERE email = '{email}'");
            (self.execute)(write.replace('$', self.schema)).await;
        }
        users
    }

    /// Writes failed logins, invitations and an organization as the previous release does.
    async fn other_rows(&self, tenant: &Tenant) {
        let (world, schema) = (self.world, self.schema);
        let email: Email = "νικοσ@example.com".parse().expect("an address");
        for (old, locked_until) in [("νικος@example.com", None), ("νικοσ@example.com", Some(world.now()))] {
            let attempts = LoginAttempts { failed_at: vec![world.now()], locked_until };
            let reason = LoginFailure::InvalidPassword;
            let failed = CredentialChange::CountFailure { email: email.clone(), reason, attempts, is_recorded: true };
            world.commit(tenant.id, failed).await;
            let write = format!("UPDATE {schema}login_attempts SET email_key = '{old}' WHERE email_key = '{email}'");
            (self.execute)(write).await;
        }
        for (number, [email, key]) in
            [["νικοσ@example.net", "νικοσ@example.net"], ["ΝΙΚΟΣ@example.net", "νικος@example.net"]].iter().enumerate()
        {
            let invitation = Invitation {
                id: world.id(),
                tenant_id: tenant.id,
                email: format!("invited{number}@example.net").parse().expect("an address"),
                first_name: None,
                last_name: None,
                roles: Vec::new(),
                status: InvitationStatus::Pending,
                invited_by: None,
                expires_at: world.now() + TimeDelta::days(7),
                created_at: world.now(),
            };
            world.commit(tenant.id, InvitationChange::Create { invitation, offered: Vec::new() }).await;
            (self.execute)(format!(
                "UPDATE {schema}invitations SET email = '{email}', email_key = '{key}' \
                 WHERE email_key = 'invited{number}@example.net'"
            ))
            .await;
        }
        world.organization(tenant, "street").await;
        let write = format!("UPDATE {schema}organizations SET name = 'Straße', name_key = 'straße'");
        (self.execute)(write).await;
    }

    async fn account(&self, tenant: &Tenant, email: &str) -> Option<UserId> {
        let key = email.parse::<Email>().expect("an address").key();
        let found = self.world.store.guarded_account(tenant.id, &key).await.expect("it reads");
        found.account.map(|account| account.user.id)
    }

    async fn found(&self, tenant: &Tenant, search: &str) -> BTreeSet<UserId> {
        let filter = UserFilter { search: Some(search.to_owned()), ..UserFilter::default() };
        let (sort, page) = (UserSort::default(), PageRequest::default());
        let store = &self.world.store;
        let found = store.users(tenant.id, &filter, &VisibleScope::Tenant, sort, page, self.world.now()).await;
        found.expect("it reads").items.into_iter().map(|user| user.id).collect()
    }

    async fn change(&self, tenant: &Tenant, id: UserId, change: impl FnOnce(User) -> User) {
        let before = self.world.store.user(tenant.id, id).await.expect("it reads").expect("the user is there");
        self.world.tick();
        let after = change(before.clone()).changed(self.world.now());
        self.world.commit(tenant.id, UserChange::Update { before, after, grants: None, attributes: None }).await;
    }
}
