//! Chooses who makes a step: trusted code, a user with a token, or an API key.

use iam_core::api_key::NewApiKey;
use iam_core::session::Login;
use iam_core::{Caller, RequestContext};

use super::{PASSWORD, World};
use crate::contract::Actor;
use crate::operation::{Chooser, Ref};
use crate::state::{Key, Status, Tenant};

impl World<'_> {
    /// Chooses an actor, often one with many permissions.
    fn actor(&mut self, tenant: usize) -> Actor {
        let state = &self.states[tenant];
        if self.random.u8(..25) == 0 {
            return Actor::System;
        }
        let active: Vec<_> = (0..state.users.len()).filter(|user| state.can_log_in(*user)).collect();
        let mut chosen = active[self.random.usize(..active.len())];
        if self.random.u8(..10) < 7 {
            // Counts patterns, so that the administrator with the one pattern `*` is not preferred to the other users.
            let pattern_count = |user: usize| {
                let held = state.assignments.iter().filter(|assignment| assignment.user == user && !assignment.gone);
                held.map(|assignment| state.roles[assignment.role].permissions.len()).sum::<usize>()
            };
            for _ in 0..2 {
                let other = active[self.random.usize(..active.len())];
                if pattern_count(other) > pattern_count(chosen) {
                    chosen = other;
                }
            }
        }
        Actor::User(chosen)
    }

    pub(super) fn system(&self, tenant: usize) -> Caller {
        Caller::system(self.ids[tenant], "test")
    }

    /// Chooses an actor. Returns the state in which it is evaluated: for a key, the tenant with the user that it is.
    pub(super) async fn actor_with_caller(&mut self, tenant: usize) -> (Actor, Caller, Tenant) {
        if self.random.u8(..4) == 0
            && let Some(key) = self.key(tenant).await
        {
            return self.key_with_caller(tenant, key).await;
        }
        let actor = self.actor(tenant);
        let caller = match actor {
            Actor::User(user) => self.caller(tenant, user).await,
            Actor::Key(_) | Actor::System => self.system(tenant),
        };
        (actor, caller, self.states[tenant].clone())
    }

    async fn key_with_caller(&mut self, tenant: usize, (key, text): (Key, String)) -> (Actor, Caller, Tenant) {
        let caller = self.iam().authenticate(&text, RequestContext::default()).await.unwrap();
        let (state, user) = self.states[tenant].with_key(&key);
        self.note(&key);
        (Actor::Key(user), caller, state)
    }

    /// Chooses a key of the account of a directory, most often of the oldest one, so that its groups get members.
    /// `None` if no directory has an account that is ACTIVE.
    pub(super) async fn directory_caller(&mut self, tenant: usize) -> Option<(Actor, Caller, Tenant)> {
        let state = &self.states[tenant];
        let there = state.directories.iter().filter(|directory| !directory.gone).map(|directory| directory.account);
        let accounts: Vec<usize> = there.filter(|account| state.users[*account].status == Status::Active).collect();
        let number = if self.random.u8(..3) > 0 { 0 } else { self.random.usize(..accounts.len().max(1)) };
        let account = *accounts.get(number)?;
        let keys = self.names[tenant].keys.iter().filter(|(key, _)| key.user == account);
        let keys: Vec<(Key, String)> = keys.cloned().collect();
        let key = if keys.is_empty() {
            self.make_key(tenant, Key { user: account, permissions: None, limit: None }).await
        } else if keys.len() < 3 && self.random.u8(..4) == 0 {
            let mut chooser = Chooser { random: &mut self.random, tenants: &self.states, tenant, now: self.now };
            let key = chooser.key(account);
            self.make_key(tenant, key).await
        } else {
            keys[self.random.usize(..keys.len())].clone()
        };
        Some(self.key_with_caller(tenant, key).await)
    }

    /// Chooses trusted code or an administrator: only they hold much without an end.
    pub(super) async fn mapping_caller(&mut self, tenant: usize) -> (Actor, Caller, Tenant) {
        let state = &self.states[tenant];
        let holds_all = |user: &usize| state.can_log_in(*user) && state.may(*user, "*", None, self.now);
        let administrators: Vec<usize> = (0..state.users.len()).filter(holds_all).collect();
        if administrators.is_empty() || self.random.u8(..3) == 0 {
            return (Actor::System, self.system(tenant), self.states[tenant].clone());
        }
        let user = administrators[self.random.usize(..administrators.len())];
        let caller = self.caller(tenant, user).await;
        (Actor::User(user), caller, self.states[tenant].clone())
    }

    /// Forgets the keys of deleted users, which are gone also after a restoration, and the keys of deleted
    /// organizations, which have nothing.
    pub(super) fn forget_keys(&mut self, tenant: usize) {
        let state = &self.states[tenant];
        self.names[tenant].keys.retain(|(key, _)| {
            state.users[key.user].status != Status::Inactive && key.limit.is_none_or(|it| !state.is_inactive(it))
        });
    }

    /// Chooses a key that is accepted, now and then a new one.
    async fn key(&mut self, tenant: usize) -> Option<(Key, String)> {
        let state = &self.states[tenant];
        let is_active = |user: usize| state.users[user].status == Status::Active;
        let active: Vec<usize> = (0..state.users.len()).filter(|user| is_active(*user)).collect();
        let accepted: Vec<usize> = (0..self.names[tenant].keys.len())
            .filter(|number| is_active(self.names[tenant].keys[*number].0.user))
            .collect();
        let is_of_directory = |number: &&usize| state.directory_of(self.names[tenant].keys[**number].0.user).is_some();
        let others = accepted.len() - accepted.iter().filter(is_of_directory).count();
        if others < 6 && self.random.u8(..3) == 0 {
            let user = active[self.random.usize(..active.len())];
            let mut chooser = Chooser { random: &mut self.random, tenants: &self.states, tenant, now: self.now };
            let key = chooser.key(user);
            return Some(self.make_key(tenant, key).await);
        }
        let number = accepted.get(self.random.usize(..accepted.len().max(1)))?;
        self.names[tenant].keys.get(*number).cloned()
    }

    /// Makes a key of a user by trusted code.
    async fn make_key(&mut self, tenant: usize, key: Key) -> (Key, String) {
        let new = NewApiKey {
            name: "key".to_owned(),
            permissions: key.permissions.as_ref().map(|all| all.iter().map(ToString::to_string).collect()),
            organization: key.limit.map(|index| self.organization(Ref { tenant, index })),
            expires_at: None,
        };
        let made = self.iam().api_keys().create(&self.system(tenant), self.names[tenant].users[key.user], new).await;
        let text = made.unwrap().token.expose().to_owned();
        self.names[tenant].keys.push((key.clone(), text.clone()));
        (key, text)
    }

    /// The caller that a user's token authenticates. Logs the user in if there is no valid token.
    async fn caller(&mut self, tenant: usize, user: usize) -> Caller {
        let context = RequestContext::default;
        if let Some(token) = self.names[tenant].tokens.get(&user)
            && let Ok(caller) = self.iam().authenticate(token, context()).await
        {
            return caller;
        }
        if !self.states[tenant].users[user].has_password {
            return self.caller_by_provider(tenant, user).await;
        }
        let login = Login {
            email: self.states[tenant].users[user].email.clone(),
            password: PASSWORD.into(),
            tenant: Some(self.ids[tenant].to_string()),
        };
        let logged_in = self.iam().sessions().login(&context(), login).await.unwrap();
        let token = logged_in.tokens.access.expose().to_owned();
        let caller = self.iam().authenticate(&token, context()).await.unwrap();
        self.names[tenant].tokens.insert(user, token);
        self.states[tenant].authenticated.insert(user, self.now);
        caller
    }
}
