//! The history of two tenants, made through the library, and the checkpoints that clients keep of it.

#![cfg(test)]

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use chrono::TimeDelta;
use fastrand::Rng;
use iam_core::audit::{NewEvent, Verification};
use iam_core::clock::testing::FixedClock;
use iam_core::credential::HashingCost;
use iam_core::organization::{NewOrganization, OrganizationPatch};
use iam_core::random::Random;
use iam_core::session::Login;
use iam_core::tenant::Registration;
use iam_core::user::{NewUser, UserPatch};
use iam_core::{Caller, Conflict, Error, Iam, OrganizationId, RequestContext, Settings, TenantId, UserAgent, UserId};
use serde_json::json;

use crate::ground::Database;

const PASSWORD: &str = "Passw0rd!";

/// A checkpoint that a client keeps.
#[derive(Clone, Debug)]
pub(crate) struct KeptCheckpoint {
    pub(crate) note: String,
    pub(crate) size: u64,
}

pub(crate) struct Tenant {
    pub(crate) id: TenantId,
    pub(crate) kept: Vec<KeptCheckpoint>,
    admin: String,
    logged_in: Caller,
    /// The administrator, and at least one other user.
    users: Vec<UserId>,
    organizations: Vec<OrganizationId>,
}

/// Two tenants in one database, and their clock.
pub(crate) struct History {
    pub(crate) database: Database,
    pub(crate) iam: Iam,
    pub(crate) random: Rng,
    pub(crate) tenants: Vec<Tenant>,
    clock: FixedClock,
    /// The counter for unique names.
    number: usize,
}

struct Seeded(Mutex<Rng>);

impl Random for Seeded {
    fn fill(&self, buffer: &mut [u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill(buffer);
    }
}

impl History {
    pub(crate) async fn begin(database: Database, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        // The middle of a month, so that a few days before or after are in the same month.
        let clock = FixedClock::at("2026-01-10T09:15:00.123Z");
        let iam = build(&database, &clock, random.fork()).await;
        let mut history = Self { database, iam, random, tenants: Vec::new(), clock, number: 0 };
        for _ in 0..2 {
            let user = history.new_user();
            let (context, admin) = (history.context(), user.email.clone());
            let registration = Registration { user, tenant_name: None };
            let registered = history.iam.tenants().register(&context, registration).await.unwrap();
            let token = registered.login.tokens.access.expose().to_owned();
            let logged_in = history.iam.authenticate(&token, context).await.unwrap();
            history.tenants.push(Tenant {
                id: registered.tenant.id,
                kept: Vec::new(),
                admin,
                logged_in,
                users: vec![registered.login.user.id],
                organizations: Vec::new(),
            });
            let (tenant, user) = (history.tenants.len() - 1, history.new_user());
            let user = history.iam.users().create(&history.system(tenant), user).await.unwrap();
            history.tenants[tenant].users.push(user.id);
        }
        history
    }

    /// Another service on the same database, which reads the keys again.
    pub(crate) async fn another(&mut self) -> Iam {
        build(&self.database, &self.clock, self.random.fork()).await
    }

    pub(crate) fn system(&self, tenant: usize) -> Caller {
        Caller::system(self.tenants[tenant].id, "test")
    }

    /// Lets a day pass, after which the administrators log in again.
    pub(crate) async fn next_day(&mut self) {
        self.clock.advance(TimeDelta::days(1));
        for tenant in 0..self.tenants.len() {
            let (context, id) = (self.context(), self.tenants[tenant].id.to_string());
            let email = self.tenants[tenant].admin.clone();
            let login = Login { email, password: PASSWORD.into(), tenant: Some(id) };
            let tokens = self.iam.sessions().login(&context, login).await.unwrap().tokens;
            self.tenants[tenant].logged_in = self.iam.authenticate(tokens.access.expose(), context).await.unwrap();
        }
    }

    /// Makes a random change, a failed login or an application event in a tenant.
    pub(crate) async fn happen(&mut self, tenant: usize) {
        self.clock.advance(TimeDelta::milliseconds(self.random.i64(0..3)));
        let caller = self.caller(tenant);
        match self.random.u8(0..12) {
            0 | 1 => {
                let user = self.new_user();
                let user = self.iam.users().create(&caller, user).await.unwrap();
                self.tenants[tenant].users.push(user.id);
            }
            2 | 3 => {
                let NewUser { email, first_name, last_name, .. } = self.new_user();
                let (first_name, last_name) = (Some(first_name), Some(last_name));
                let patch = UserPatch { email: Some(email), first_name, last_name, ..UserPatch::default() };
                let user = *self.random.choice(&self.tenants[tenant].users[1..]).unwrap();
                match self.iam.users().update(&caller, user, patch).await {
                    Ok(_) | Err(Error::Conflict(Conflict::UserInactive)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            4 => {
                let (context, email) = (self.context(), self.email());
                let tenant = Some(self.tenants[tenant].id.to_string());
                let login = Login { email, password: "Wr0ng!word".into(), tenant };
                self.iam.sessions().login(&context, login).await.unwrap_err();
            }
            5 => {
                let name = format!("Branch {}", self.next());
                let organization = NewOrganization { name, ..NewOrganization::default() };
                let organization = self.iam.organizations().create(&caller, organization).await.unwrap();
                self.tenants[tenant].organizations.push(organization.organization.id);
            }
            6 => {
                let patch = OrganizationPatch { name: Some(self.name()), ..OrganizationPatch::default() };
                let organization = self.random.choice(&self.tenants[tenant].organizations).copied();
                if let Some(organization) = organization {
                    self.iam.organizations().update(&caller, organization, patch).await.unwrap();
                }
            }
            _ => {
                let event = self.event();
                self.iam.audit().log(&caller, event).await.unwrap();
            }
        }
    }

    pub(crate) async fn happen_often(&mut self, tenant: usize, times: usize) {
        for _ in 0..times {
            self.happen(tenant).await;
        }
    }

    /// Deletes a user, and erases the user from the log. Returns the number of erased entries.
    pub(crate) async fn erase(&mut self, tenant: usize) -> u64 {
        let user = *self.random.choice(&self.tenants[tenant].users[1..]).unwrap();
        self.iam.users().delete(&self.system(tenant), user).await.unwrap();
        self.iam.audit().erase(&self.system(tenant), user).await.unwrap()
    }

    pub(crate) async fn set_retention(&self, tenant: usize, days: u32) {
        self.iam.audit().set_retention(&self.system(tenant), Some(days)).await.unwrap();
        self.iam.audit().hasten_retention(&self.system(tenant)).await.unwrap();
    }

    pub(crate) async fn apply_retention(&self, tenant: usize) -> u64 {
        self.iam.audit().apply_retention(&self.system(tenant)).await.unwrap()
    }

    pub(crate) async fn sequence(&self) {
        while self.iam.sequence_audit_logs().await.unwrap().more {}
    }

    /// Keeps the present checkpoint, as a client does.
    pub(crate) async fn keep(&mut self, tenant: usize) {
        let signed = self.iam.audit().checkpoint(&self.system(tenant)).await.unwrap().signed;
        self.tenants[tenant].kept.push(KeptCheckpoint { note: signed.note, size: signed.checkpoint.size });
    }

    /// Verifies the log with all kept checkpoints.
    pub(crate) async fn verify(&self, tenant: usize) -> Verification {
        let kept: Vec<String> = self.tenants[tenant].kept.iter().map(|kept| kept.note.clone()).collect();
        self.iam.audit().verify(&self.system(tenant), &kept).await.unwrap()
    }

    fn caller(&mut self, tenant: usize) -> Caller {
        if self.random.bool() {
            let context = self.context();
            self.system(tenant).in_context(context)
        } else {
            self.tenants[tenant].logged_in.clone()
        }
    }

    fn context(&mut self) -> RequestContext {
        if self.random.u8(0..4) == 0 {
            return RequestContext::default();
        }
        let address: IpAddr = match self.random.bool() {
            true => [192, 0, 2, self.random.u8(..)].into(),
            false => [0x2001, 0xdb8, 0, 0, 0, 0, 0, self.random.u16(..)].into(),
        };
        RequestContext {
            correlation_id: Some(format!("request-{}", self.next()).parse().unwrap()),
            ip_address: Some(address),
            user_agent: Some(UserAgent::new(&format!("test/{}", self.random.u8(..)))),
        }
    }

    fn event(&mut self) -> NewEvent {
        let metadata = json!({
            "total": self.random.f64(),
            "lines": [{ "article": self.random.u32(..), "note": "it's \u{1f980}" }, [null, true, -1]],
            "to": { "email": self.email(), "displayName": self.name(), "deep": { "phone": [self.random.u16(..)] } },
        });
        NewEvent {
            action: ["SENT", "PAID", "CANCELLED"][self.random.usize(0..3)].to_owned(),
            resource_type: "INVOICE".to_owned(),
            resource_id: self.random.bool().then(|| format!("2026/{}", self.random.u16(..))),
            metadata: if self.random.u8(0..5) == 0 { serde_json::Map::new() } else { object(metadata) },
        }
    }

    fn new_user(&mut self) -> NewUser {
        NewUser { email: self.email(), password: PASSWORD.into(), first_name: self.name(), last_name: self.name() }
    }

    fn email(&mut self) -> String {
        format!("person{}@example.com", self.next())
    }

    fn name(&mut self) -> String {
        ["Ada", "Grace", "Zoë", "O'Neil", "Müller"][self.random.usize(0..5)].to_owned()
    }

    fn next(&mut self) -> usize {
        self.number += 1;
        self.number
    }
}

fn object(value: serde_json::Value) -> serde_json::Map<String, serde_json::Value> {
    value.as_object().cloned().unwrap()
}

async fn build(database: &Database, clock: &FixedClock, random: Rng) -> Iam {
    let mut settings = Settings::default();
    settings.hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
    settings.access_token_lifetime = TimeDelta::days(1);
    settings.audit_min_retention = TimeDelta::days(1);
    let builder = Iam::builder(database.store.clone()).clock(clock.clone()).random(Seeded(Mutex::new(random)));
    builder.settings(settings).build().await.unwrap()
}
