//! Logins by identity providers, which are in this process.

use std::collections::BTreeSet;

use iam_core::clock::{Clock as _, Timestamp};
use iam_core::federation::{Finished, StartFederation, code_challenge};
use iam_core::identity_provider::{NewIdentityProvider, Provisioning};
use iam_core::role::PlacedRole;
use iam_core::secret::ChallengeToken;
use iam_core::{Caller, Error, RequestContext, Unauthenticated, UserId};
use serde_json::json;
use test_support::identity_provider::ISSUER;

use super::{New, World, position};
use crate::operation::{ASKED, Person};
use crate::state::{Identity, Scope, Status};

const CLIENT_ID: &str = "iam";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(super) const REDIRECT: &str = "https://app.example.com/signed-in";
pub(super) const CALLBACKS: &str = "https://iam.example.com/auth/federation/callback/";

impl World<'_> {
    /// Makes two providers in each tenant, which make users with a role: that of the tenant's domain, and one without
    /// domains. The first administrator has a verified address of the domain.
    pub(super) async fn make_providers(&mut self) {
        let installation = self.installation;
        let iam = &installation.iam;
        for tenant in 0..2 {
            let (system, state) = (self.system(tenant), &self.states[tenant]);
            let can_be_given = |role: &usize| {
                let role = &state.roles[*role];
                !role.gone && role.scope == Scope::Any && !role.permissions.contains("*")
            };
            let roles: Vec<usize> = (0..state.roles.len()).filter(can_be_given).collect();
            let role = roles[self.random.usize(..roles.len())];
            let count = state.organizations.len();
            let spot = Some(self.random.usize(..=count)).filter(|spot| *spot < count);
            let domain = iam.domains().create(&system, &state.domain).await.unwrap();
            iam.domains().trust(&system, domain.id).await.unwrap();
            iam.users().verify_email(&system, &state.users[0].email).await.unwrap();
            for domains in [vec![domain.id], vec![]] {
                let names = &self.names[tenant];
                let organization_id = spot.map(|spot| names.organizations[spot]);
                let new = NewIdentityProvider {
                    name: "Provider".to_owned(),
                    issuer: ISSUER.to_owned(),
                    client_id: CLIENT_ID.to_owned(),
                    domains,
                    provisioning: Provisioning::Create,
                    roles: vec![PlacedRole { role_id: names.roles[role], organization_id }],
                    ..NewIdentityProvider::default()
                };
                let made = iam.identity_providers().create(&system, new).await.unwrap();
                self.names[tenant].providers.push(made.id);
            }
            self.states[tenant].users[0].is_verified = true;
            self.states[tenant].provided = Some((role, spot));
        }
    }

    /// Sends a person to a provider and back: to log in, or to be linked to the caller's own user.
    pub(super) async fn come_back(
        &self,
        tenant: usize,
        caller: Option<&Caller>,
        person: &Person,
    ) -> Result<Finished, Error> {
        let (federation, context) = (self.iam().federation(), RequestContext::default());
        let provider = self.names[tenant].providers[person.provider];
        let start = StartFederation {
            provider,
            redirect_uri: REDIRECT.to_owned(),
            code_challenge: code_challenge(VERIFIER),
            login_hint: None,
        };
        let started = match caller {
            Some(caller) => federation.start_linking(caller, start).await?,
            None => federation.start(&context, start).await?,
        };
        let now = self.installation.clock.now();
        let auth_time = person.has_auth_time.then(|| now.timestamp());
        let claims = json!({
            "sub": person.subject,
            "email": person.email,
            "email_verified": person.is_verified,
            "auth_time": auth_time,
        });
        let query = self.installation.providers.log_in(started.authorization_url.as_str(), now, &claims);
        let back = federation.callback(&context, provider, &query).await?;
        let Some((_, code)) = back.location.split_once("?code=") else {
            assert_eq!(back.error, Some("not_linked"), "{}", self.story());
            return Err(Unauthenticated::NotLinked.into());
        };
        federation.finish(&context, caller, &ChallengeToken::from(code), VERIFIER).await
    }

    /// Logs a person in.
    pub(super) async fn log_in(&self, tenant: usize, person: &Person) -> Result<New, Error> {
        let logged_in = match self.come_back(tenant, None, person).await? {
            Finished::LoggedIn(logged_in) => logged_in,
            other => panic!("{other:?}"),
        };
        let (user, system) = (logged_in.user.id, self.system(tenant));
        let grants = self.installation.store.grants_of(self.ids[tenant], &[user]).await.unwrap();
        let identities = self.iam().federation().identities(&system, user).await.unwrap();
        let provider = self.names[tenant].providers[person.provider];
        Ok(New::Login {
            user,
            assignments: grants.iter().map(|grant| grant.assignment.id).collect(),
            identity: identities.iter().find(|identity| identity.provider_id == provider).unwrap().id,
            token: logged_in.tokens.access.expose().to_owned(),
        })
    }

    /// Checks that a person was logged in as the expected user, who has the expected rights. Takes note of the session.
    pub(super) async fn check_login(&mut self, tenant: usize, person: &Person, entered: UserId) {
        let state = &self.states[tenant];
        let user = position(&self.names[tenant].users, &entered);
        assert_eq!(state.linked(person.provider, &person.subject), Some(user), "{}{state}", self.story());
        assert_eq!(state.users[user].status, Status::Active, "{}{state}", self.story());
        let spot = state.provided.and_then(|(_, spot)| spot);
        let snapshot = self.snapshot(tenant, &[user], spot.into_iter().collect()).await;
        for spot in [None, spot] {
            for permission in ASKED {
                self.check_snapshot(&snapshot, tenant, user, permission, spot);
            }
        }
        // The provider says it in whole seconds. Without its word, the session is not fresh.
        let said = Timestamp::from_timestamp(self.installation.clock.now().timestamp(), 0);
        let authenticated = self.moment(said);
        self.states[tenant].authenticated.remove(&user);
        if person.has_auth_time {
            self.states[tenant].authenticated.insert(user, authenticated);
        }
        // Of each user, the state has one session.
        self.stale.retain(|(of, stale, _)| (*of, *stale) != (tenant, user));
    }

    /// The caller of a user without a password.
    pub(super) async fn caller_by_provider(&mut self, tenant: usize, user: usize) -> Caller {
        let state = &self.states[tenant];
        let identity = state.identities.iter().find(|identity| !identity.gone && identity.user == user).unwrap();
        let person = Person {
            provider: identity.provider,
            subject: identity.subject.clone(),
            email: state.users[user].email.clone(),
            is_verified: true,
            has_auth_time: true,
        };
        let new = self.log_in(tenant, &person).await.unwrap();
        self.learn(tenant, new);
        let entered = self.names[tenant].users[user];
        self.check_login(tenant, &person, entered).await;
        let token = &self.names[tenant].tokens[&user];
        self.iam().authenticate(token, RequestContext::default()).await.unwrap()
    }

    /// Compares all identities in the store with the expected ones.
    pub(super) async fn compare_identities(&self, tenant: usize) {
        let (state, names, system) = (&self.states[tenant], &self.names[tenant], self.system(tenant));
        let mut kept: BTreeSet<usize> = (0..state.identities.len()).filter(|it| !state.identities[*it].gone).collect();
        for (user, id) in names.users.iter().enumerate() {
            for identity in self.iam().federation().identities(&system, *id).await.unwrap() {
                let number = position(&names.identities, &identity.id);
                let provider = position(&names.providers, &identity.provider_id);
                let found = Identity { user, provider, subject: identity.subject, gone: false };
                assert_eq!(found, state.identities[number], "{}", self.story());
                kept.remove(&number);
            }
        }
        assert_eq!(kept, BTreeSet::new(), "{}", self.story());
    }
}
