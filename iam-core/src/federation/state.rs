//! What is kept of a login between its steps: in challenges, which end when they are used.

use iam_model::clock::Timestamp;
use iam_model::id::{IdentityProviderId, SessionId};
use iam_model::identity_provider::{IdentityProvider, SubjectClaim};
use iam_model::session::ProviderSession;
use iam_openid::IdToken;
use serde::{Deserialize, Serialize};

pub(super) use crate::challenge_state::{kept, read};

/// What the client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Purpose {
    /// To log in.
    Login,
    /// To link an account at the provider to the user of this session.
    Link(SessionId),
    /// To authenticate this session again.
    StepUp(SessionId),
}

/// A login that goes to the provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Started {
    pub(super) provider: IdentityProviderId,
    pub(super) purpose: Purpose,
    pub(super) redirect_uri: String,
    /// The challenge of the client, which only the client can answer.
    pub(super) code_challenge: String,
}

/// A login that has come back from the provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Returned {
    pub(super) started: Started,
    pub(super) person: Person,
}

/// A person, as a checked ID token describes it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Person {
    pub(super) issuer: String,
    pub(super) claim: SubjectClaim,
    pub(super) subject: String,
    pub(super) email: Option<String>,
    pub(super) email_verified: bool,
    pub(super) given_name: Option<String>,
    pub(super) family_name: Option<String>,
    pub(super) name: Option<String>,
    pub(super) methods: Vec<String>,
    pub(super) authenticated_at: Option<Timestamp>,
    /// The session at the provider, if it names one that every store can keep.
    pub(super) session: Option<String>,
}

/// Does not print who the person is.
impl std::fmt::Debug for Person {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Person").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

impl Person {
    pub(super) fn of(provider: &IdentityProvider, subject: String, token: IdToken) -> Self {
        Self {
            issuer: provider.issuer.as_str().to_owned(),
            claim: provider.subject_claim,
            subject,
            email: token.email,
            email_verified: token.email_verified,
            given_name: token.given_name,
            family_name: token.family_name,
            name: token.name,
            methods: token.methods,
            authenticated_at: token.authenticated_at,
            session: token.session.filter(|session| can_be_kept(session)),
        }
    }

    /// Whether the provider still names people as it did when it named this person.
    pub(super) fn is_named_by(&self, provider: &IdentityProvider) -> bool {
        self.issuer == provider.issuer.as_str() && self.claim == provider.subject_claim
    }

    /// Whether the person has proven its identity to the provider by a second factor (RFC 8176, section 2).
    pub(super) fn has_used_factor(&self) -> bool {
        self.methods.iter().any(|method| matches!(method.as_str(), "mfa" | "hwk" | "otp" | "pop"))
    }
}

/// Whether every store can keep the name of a session at a provider.
pub(super) fn can_be_kept(session: &str) -> bool {
    session.chars().count() <= ProviderSession::MAX_LENGTH && !session.chars().any(char::is_control)
}
