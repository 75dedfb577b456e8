use axum::body::{Body, to_bytes};
use axum::http::Request;
use iam_core::page::PageRequest;
use iam_core::user::{UserFilter, UserSort};
use tower::ServiceExt as _;

use super::*;

/// The application, in process, with its own company.
struct Fixture {
    app: Router,
    iam: Iam,
    tenant: TenantId,
}

impl Fixture {
    async fn new() -> Self {
        let company = Arc::new(Company::new().unwrap());
        let (iam, tenant) = open(company.clone()).await.unwrap();
        Self { app: app(iam.clone(), company), iam, tenant }
    }

    async fn get(&self, address: &str, cookie: &str) -> (StatusCode, HeaderMap, String) {
        let path = address.strip_prefix(HERE).unwrap_or(address);
        let request = Request::get(path).header(header::COOKIE, cookie).body(Body::empty()).unwrap();
        let (parts, body) = self.app.clone().oneshot(request).await.unwrap().into_parts();
        let bytes = to_bytes(body, 1 << 20).await.unwrap();
        (parts.status, parts.headers, String::from_utf8(bytes.to_vec()).unwrap())
    }

    /// Follows a redirect. Returns the cookie that it sets, if it does, and where it leads.
    async fn follow(&self, address: &str) -> (String, String) {
        let (status, headers, text) = self.get(address, "").await;
        assert_eq!(status, StatusCode::SEE_OTHER, "{text}");
        let cookie = headers.get(header::SET_COOKIE).map(|field| field.to_str().unwrap()).unwrap_or_default();
        (cookie.to_owned(), headers[header::LOCATION].to_str().unwrap().to_owned())
    }

    /// Goes to the company and back. Returns the cookie, and the address with the code.
    async fn come_back(&self) -> (String, String) {
        let (cookie, company) = self.follow("/sign-in?email=grace@example.com").await;
        assert!(cookie.ends_with("; HttpOnly; SameSite=Lax"), "{cookie}");
        assert!(company.starts_with("http://localhost:3000/company/authorize?"), "{company}");
        let (_, callback) = self.follow(&company).await;
        let (_, end) = self.follow(&callback).await;
        assert!(end.starts_with("http://localhost:3000/signed-in?code="), "{end}");
        (cookie.split(';').next().unwrap().to_owned(), end)
    }

    async fn users(&self) -> u64 {
        let (system, filter) = (Caller::system(self.tenant, "test"), UserFilter::default());
        self.iam.users().list(&system, &filter, UserSort::default(), PageRequest::default()).await.unwrap().total
    }
}

#[tokio::test]
async fn a_person_of_a_verified_domain_signs_in_and_becomes_a_user() {
    let fixture = Fixture::new().await;
    for _ in 0..2 {
        let (cookie, end) = fixture.come_back().await;
        let (status, headers, text) = fixture.get(&end, &format!("other=1; {cookie}")).await;
        assert_eq!((status, text.as_str()), (StatusCode::OK, "Grace Hopper (grace@example.com) has signed in."));
        assert!(headers[header::SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
        assert_eq!(fixture.get(&end, &cookie).await.0, StatusCode::BAD_REQUEST, "the code works once");
        assert_eq!(fixture.users().await, 2, "the second time, she is known");
    }
}

#[tokio::test]
async fn a_callback_without_the_cookie_signs_no_one_in() {
    let fixture = Fixture::new().await;
    let (_, end) = fixture.come_back().await;
    let (status, _, text) = fixture.get(&end, "").await;
    assert_eq!((status, text.contains("begun no sign-in")), (StatusCode::BAD_REQUEST, true), "{text}");
    let (other, _) = fixture.come_back().await;
    assert_eq!(fixture.get(&end, &other).await.0, StatusCode::BAD_REQUEST, "the cookie is of another sign-in");
    assert_eq!(fixture.users().await, 1);
}

#[tokio::test]
async fn an_address_without_a_company_and_each_error_have_a_text() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.get("/sign-in?email=grace@example.net", "").await.0, StatusCode::NOT_FOUND);
    let mut texts = Vec::new();
    for error in ["access_denied", "login_failed", "not_linked", "unavailable"] {
        let (status, _, text) = fixture.get(&format!("/signed-in?error={error}"), "").await;
        assert_eq!(status, StatusCode::FORBIDDEN);
        assert!(!texts.contains(&text), "{text}");
        texts.push(text);
    }
}
