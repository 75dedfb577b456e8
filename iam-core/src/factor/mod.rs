//! Second factors: users set them up, and remove them (`docs/http-api.md#second-factors`).

mod service;

pub use crate::factor::service::{FactorList, Factors, IssuedCodes, PeopleWithFactor, TotpSetup};
pub use iam_model::challenge::{Ceremony, Challenge, ChallengePurpose};
pub use iam_model::change::{ChallengeChange, FactorChange};
pub use iam_model::error::PendingLogin;
pub use iam_model::factor::{
    AuthenticationMethod, AuthenticationMethods, Factor, FactorDemand, FactorKey, FactorKind, GraceDays,
    SecondFactorPolicy,
};
pub use iam_model::store::{FactorStore, FactorTransaction};
#[cfg(feature = "passkeys")]
pub use iam_webauthn as webauthn;
