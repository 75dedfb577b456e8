//! The tokens of links in messages (`docs/http-api.md#links-by-mail`).
//!
//! A token consists of the tenant and 32 secret bytes. The secret is a MAC of the link's identifier under a key of the
//! installation, so that it can be computed again when a message is sent, and no row contains it. The store has only
//! the SHA-256 digest of the secret.

use aws_lc_rs::hmac;
use iam_model::id::{LinkId, TenantId};
use iam_model::link::{Link, LinkPurpose};
use iam_model::secret::{LinkToken, OneTimeCode};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::one_time::code_of;
use crate::token::opaque::{Secret, encode, hash, parse};

const PREFIX: &str = "iaml_";

/// The use of a code: the name of no purpose.
const CODE: &str = "LOGIN CODE";

/// The key that makes the secrets of links.
pub(crate) struct LinkKey(hmac::Key);

impl LinkKey {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, &secret))
    }

    /// Returns the digest of the secret of a link.
    pub(crate) fn token_hash(&self, tenant: TenantId, purpose: LinkPurpose, subject: Uuid, id: LinkId) -> [u8; 32] {
        hash(&self.mac(tenant, subject, id, purpose.as_str()))
    }

    /// Returns the secret of a link for a use. Another use, tenant or subject gives another secret.
    fn mac(&self, tenant: TenantId, subject: Uuid, id: LinkId, used_for: &str) -> Secret {
        let mut context = hmac::Context::with_key(&self.0);
        // Only the use has a variable length, so it comes last.
        context.update(tenant.as_uuid().as_bytes());
        context.update(subject.as_bytes());
        context.update(id.as_uuid().as_bytes());
        context.update(used_for.as_bytes());
        let mut secret = Zeroizing::new([0; 32]);
        secret.copy_from_slice(context.sign().as_ref());
        secret
    }

    /// Returns the token of a link.
    pub(crate) fn token(&self, link: &Link) -> LinkToken {
        let secret = self.mac(link.tenant_id, link.subject, link.id, link.purpose.as_str());
        encode(PREFIX, link.tenant_id, &secret).into()
    }

    /// Returns the code that a person can type in place of a link. No row has it, nor a digest, which a reader of the
    /// database would try all codes with.
    pub(crate) fn code(&self, link: &Link) -> OneTimeCode {
        let secret = self.mac(link.tenant_id, link.subject, link.id, CODE);
        let mut first = [0; 8];
        first.iter_mut().zip(secret.iter()).for_each(|(to, from)| *to = *from);
        code_of(first)
    }
}

/// Returns the tenant that a token names, and the digest of its secret. `None` when it does not have the format of such
/// a token.
pub(crate) fn parse_link_token(token: &LinkToken) -> Option<(TenantId, [u8; 32])> {
    parse(PREFIX, token.expose())
}

#[cfg(test)]
mod tests {
    use iam_model::clock::Clock as _;
    use iam_model::clock::testing::FixedClock;

    use super::*;

    fn link(purpose: LinkPurpose, subject: u128, id: u128) -> Link {
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        Link {
            id: Uuid::from_u128(id).into(),
            tenant_id: Uuid::from_u128(7).into(),
            purpose,
            subject: Uuid::from_u128(subject),
            email: "ada@example.com".parse().unwrap(),
            token_hash: [0; 32],
            created_at: now,
            expires_at: now,
        }
    }

    #[test]
    fn a_token_is_parsed_to_its_tenant_and_the_digest_of_its_secret() {
        let key = LinkKey::new([3; 32]);
        let link = link(LinkPurpose::Verify, 1, 2);
        let token = key.token(&link);
        let parsed = parse_link_token(&token).unwrap();
        let hash = key.token_hash(link.tenant_id, link.purpose, link.subject, link.id);
        assert_eq!(parsed, (link.tenant_id, hash));
        let text = token.expose();
        for bad in [&text[1..], &text[..text.len() - 2], "", PREFIX, &format!("{text}AAAA"), &text.replace('_', "-")] {
            assert!(parse_link_token(&bad.into()).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_code_depends_on_the_link_and_is_no_part_of_its_token() {
        let key = LinkKey::new([3; 32]);
        let code = |subject, id| key.code(&link(LinkPurpose::Login, subject, id)).expose().to_owned();
        let codes = [code(1, 2), code(2, 2), code(1, 3)];
        for (number, one) in codes.iter().enumerate() {
            assert_eq!(one.len(), 8);
            assert!(codes.iter().skip(number + 1).all(|other| other != one), "{number}");
        }
        assert_eq!(code(1, 2), codes[0]);
        let login = link(LinkPurpose::Login, 1, 2);
        let secret = key.mac(login.tenant_id, login.subject, login.id, login.purpose.as_str());
        assert_ne!(codes[0], code_of(secret[..8].try_into().unwrap()).expose());
    }

    #[test]
    fn every_link_has_another_secret() {
        let key = LinkKey::new([3; 32]);
        let tokens = [
            key.token(&link(LinkPurpose::Verify, 1, 2)),
            key.token(&link(LinkPurpose::Reset, 1, 2)),
            key.token(&link(LinkPurpose::Verify, 2, 2)),
            key.token(&link(LinkPurpose::Verify, 1, 3)),
            key.token(&Link { tenant_id: Uuid::from_u128(8).into(), ..link(LinkPurpose::Verify, 1, 2) }),
            LinkKey::new([4; 32]).token(&link(LinkPurpose::Verify, 1, 2)),
        ];
        for (number, token) in tokens.iter().enumerate() {
            assert!(tokens.iter().skip(number + 1).all(|other| other.expose() != token.expose()), "{number}");
        }
        assert_eq!(key.token(&link(LinkPurpose::Verify, 1, 2)).expose(), tokens[0].expose());
    }
}
