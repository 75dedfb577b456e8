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
            && let Some((key, text)) = self.key(tenant).await
        {
            let caller = self.iam().authenticate(&text, RequestContext::default()).await.unwrap();
            let (state, user) = self.states[tenant].with_key(&key);
            self.note(&key);
            return (Actor::Key(user), caller, state);
        }
        let actor = self.actor(tenant);
        let caller = match actor {
            Actor::User(user) => self.caller(tenant, user).await,
            Actor::Key(_) | Actor::System => self.system(tenant),
        };
        (actor, caller, self.states[tenant].clone())
    }

    /// Forgets the keys of deleted users, which are gone also after a restoration, and the keys of deleted organizations,
    /// which have nothing.
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
        if accepted.len() < 6 && self.random.u8(..3) == 0 {
            let user = active[self.random.usize(..active.len())];
            let mut chooser = Chooser { random: &mut self.random, tenants: &self.states, tenant, now: self.now };
            let key = chooser.key(user);
            let new = NewApiKey {
                name: "key".to_owned(),
                permissions: key.permissions.as_ref().map(|all| all.iter().map(ToString::to_string).collect()),
                organization: key.limit.map(|index| self.organization(Ref { tenant, index })),
                expires_at: None,
            };
            let made = self.iam().api_keys().create(&self.system(tenant), self.names[tenant].users[user], new).await;
            let text = made.unwrap().token.expose().to_owned();
            self.names[tenant].keys.push((key.clone(), text.clone()));
            return Some((key, text));
        }
        let number = accepted.get(self.random.usize(..accepted.len().max(1)))?;
        self.names[tenant].keys.get(*number).cloned()
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
