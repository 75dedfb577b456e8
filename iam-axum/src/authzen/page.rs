use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use iam_core::Caller;
use iam_core::audit::Digest;
use iam_core::page::{MAX_LIMIT, Page, PageRequest};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::authzen::body::{NoEffect, Strict};
use crate::extract::{Whole, of_the_whole};
use crate::problem::Problem;

/// The number of results of a page if the client does not choose one.
const DEFAULT_LIMIT: u32 = 50;

/// Which page of the results to show.
#[derive(Deserialize, ToSchema)]
#[schema(as = AuthzenPage, example = json!({ "limit": 50 }))]
pub(super) struct PageDto {
    /// The `next_token` of the page before. All else must be as in the request for that page; `limit` may be left out.
    #[schema(example = "q0Xn4v1iYh3c2Qx9kq1n3wAAAAAAAAACAAAAMg")]
    token: Option<String>,
    /// How many results a page has at most.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 100, default = 50, example = 50)]
    limit: Option<Whole<u32>>,
    /// They have no effect.
    #[schema(value_type = Option<Object>)]
    #[expect(dead_code, reason = "only its type is checked")]
    properties: Option<NoEffect>,
}

/// Makes and reads the tokens of the pages of one request.
///
/// A token has the number of a page and the limit, with a digest of both, of the request and of the tenant. So it is
/// valid for the same request alone, in every process. It is not secret and grants nothing.
pub(super) struct Tokens {
    request: Digest,
}

/// The bytes of the digest in a token.
const DIGEST: usize = 16;

impl Tokens {
    /// Returns the tokens for a request to search these: its body, without the position in the results.
    pub(super) fn of(searched: &str, caller: &Caller, body: &[u8]) -> Result<Self, Problem> {
        let mut body: Value = serde_json::from_slice(body).map_err(|_| of_the_whole("is too deep"))?;
        if let Some(members) = body.as_object_mut()
            && let Some(page) = members.get_mut("page")
        {
            if let Some(page) = page.as_object_mut() {
                page.remove("token");
                page.remove("limit");
            }
            if page.is_null() || page.as_object().is_some_and(Map::is_empty) {
                members.remove("page");
            }
        }
        let (tenant, body) = (caller.tenant().as_uuid(), body.to_string());
        let request = Digest::of(&[b"authzen page ", searched.as_bytes(), tenant.as_bytes(), body.as_bytes()]);
        Ok(Self { request })
    }

    /// Returns the page that a request asks for.
    pub(super) fn requested(&self, page: Option<Strict<PageDto>>) -> Result<PageRequest, Problem> {
        let (token, limit) = match page {
            Some(Strict(PageDto { token, limit, .. })) => (token, limit.map(|Whole(limit)| limit)),
            None => (None, None),
        };
        if limit.is_some_and(|limit| !(1..=MAX_LIMIT).contains(&limit)) {
            return Err(Problem::invalid_field("page.limit", format!("must be between 1 and {MAX_LIMIT}")));
        }
        let Some(token) = token else {
            return PageRequest::new(1, limit.unwrap_or(DEFAULT_LIMIT)).map_err(|_| of_no_page());
        };
        let page = self.read(&token).filter(|page| limit.is_none_or(|limit| limit == page.limit()));
        page.ok_or_else(of_no_page)
    }

    /// Returns the token of the next page; empty after the last one.
    pub(super) fn after<T>(&self, page: &Page<T>) -> String {
        if !page.has_next() {
            return String::new();
        }
        let position = position(page.request.page().saturating_add(1), page.request.limit());
        URL_SAFE_NO_PAD.encode([self.digest(&position), position].concat())
    }

    fn read(&self, token: &str) -> Option<PageRequest> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (digest, position) = bytes.split_at_checked(DIGEST)?;
        if digest != self.digest(position) {
            return None;
        }
        let (page, limit) = position.split_at_checked(size_of::<u64>())?;
        let (page, limit) = (page.try_into().ok()?, limit.try_into().ok()?);
        PageRequest::new(u64::from_be_bytes(page), u32::from_be_bytes(limit)).ok()
    }

    fn digest(&self, position: &[u8]) -> Vec<u8> {
        Digest::of(&[&self.request.0, position]).0.into_iter().take(DIGEST).collect()
    }
}

fn position(page: u64, limit: u32) -> Vec<u8> {
    [page.to_be_bytes().as_slice(), limit.to_be_bytes().as_slice()].concat()
}

fn of_no_page() -> Problem {
    Problem::invalid_field("page.token", "must be the token of a page of the same request")
}

#[cfg(test)]
mod tests {
    use iam_core::TenantId;
    use uuid::Uuid;

    use super::*;

    fn tokens(searched: &str, tenant: u128, body: &str) -> Tokens {
        let tenant = TenantId::from(Uuid::from_u128(tenant));
        Tokens::of(searched, &Caller::system(tenant, "test"), body.as_bytes()).unwrap()
    }

    fn page(number: u64, total: u64) -> Page<()> {
        Page { items: Vec::new(), total, request: PageRequest::new(number, 2).unwrap() }
    }

    #[test]
    fn a_token_is_valid_for_the_same_request_alone() {
        let own = tokens("subject", 1, r#"{"a":1,"b":{"c":2},"page":{"limit":2}}"#);
        let token = own.after(&page(1, 5));
        for (searched, tenant, body, is_same) in [
            ("subject", 1, r#"{"a":1,"b":{"c":2},"page":{"limit":2}}"#, true),
            ("subject", 1, r#"{"b":{"c":2},"a":1,"page":{"token":"x"}}"#, true),
            ("subject", 1, r#"{"b":{"c":2},"a":1,"page":null}"#, true),
            ("subject", 1, r#"{ "b": {"c": 2}, "a": 1 }"#, true),
            ("subject", 1, r#"{"a":1,"b":{"c":3}}"#, false),
            ("subject", 1, r#"{"a":1,"b":{"c":2},"d":null}"#, false),
            ("subject", 1, r#"{"a":1,"b":{"c":2},"page":{"properties":{}}}"#, false),
            ("resource", 1, r#"{"a":1,"b":{"c":2}}"#, false),
            ("subject", 2, r#"{"a":1,"b":{"c":2}}"#, false),
        ] {
            let read = tokens(searched, tenant, body).read(&token);
            assert_eq!(read, is_same.then(|| PageRequest::new(2, 2).unwrap()), "{searched} {tenant} {body}");
        }
    }

    #[test]
    fn a_changed_token_is_refused() {
        let own = tokens("subject", 1, "{}");
        let token = own.after(&page(1, 5));
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(own.read(str::from_utf8(&changed).unwrap()), None, "{at}");
        }
        for other in ["", "A", "?", &token[1..], &format!("{token}AA"), &format!("{token}=")] {
            assert_eq!(own.read(other), None, "{other}");
        }
    }

    #[test]
    fn the_last_page_has_no_token() {
        let own = tokens("subject", 1, "{}");
        for (number, total, has_token) in [(1, 0, false), (1, 2, false), (1, 3, true), (2, 4, false), (9, 3, false)] {
            assert_eq!(!own.after(&page(number, total)).is_empty(), has_token, "{number} of {total}");
        }
    }
}
