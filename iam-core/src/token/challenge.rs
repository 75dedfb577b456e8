//! The tokens of challenges (`docs/http-api.md#a-login-with-a-factor`).

use iam_model::id::TenantId;
use iam_model::random::Random;
use iam_model::secret::ChallengeToken;
use zeroize::Zeroizing;

use crate::token::opaque::{encode, hash, parse};

const PREFIX: &str = "iamc_";

/// Returns a new token, and the digest of its secret.
pub(crate) fn new_challenge_token(tenant: TenantId, random: &dyn Random) -> (ChallengeToken, [u8; 32]) {
    let secret = Zeroizing::new(random.bytes());
    (encode(PREFIX, tenant, &secret).into(), hash(&secret))
}

/// Returns the tenant that a token names, and the digest of its secret. `None` when it does not have the format of such
/// a token.
pub(crate) fn parse_challenge_token(token: &ChallengeToken) -> Option<(TenantId, [u8; 32])> {
    parse(PREFIX, token.expose())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iam_model::random::SystemRandom;
    use uuid::Uuid;

    #[test]
    fn a_token_is_parsed_to_its_tenant_and_the_digest_of_its_secret() {
        let tenant = Uuid::from_u128(7).into();
        let (token, hash) = new_challenge_token(tenant, &SystemRandom);
        assert_eq!(parse_challenge_token(&token), Some((tenant, hash)));
        assert_ne!(new_challenge_token(tenant, &SystemRandom).1, hash);
        for bad in ["", PREFIX, &token.expose()[1..], &token.expose().replace(PREFIX, "iaml_")] {
            assert_eq!(parse_challenge_token(&bad.into()), None, "{bad}");
        }
    }
}
