#![cfg(test)]

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use iam_core::user::UserPatch;

use crate::app::{Answer, App, EMAIL, ORIGIN, PASSWORD, form, request};

const SIGN_OUT: &str = "/console/sign-out";

async fn is_signed_in(app: &App, cookie: &str) -> bool {
    app.get("/console", cookie).await.status == StatusCode::OK
}

#[tokio::test]
async fn without_a_cookie_every_page_leads_to_sign_in() {
    let app = App::new().await;
    let answer = app.get("/console", "").await;
    assert!(answer.is_to_sign_in() && answer.body.is_empty());
    assert!(app.post("/console/sign-out-everywhere", "", &[]).await.is_to_sign_in());
}

#[tokio::test]
async fn a_link_of_another_site_does_not_sign_out() {
    let app = App::new().await;
    let wanted = "/console/users?search=x";
    // The browser has a cookie, but does not send it.
    let sent = request(Method::GET, wanted, "").header("sec-fetch-site", "cross-site");
    let answer = app.send(sent.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.body.contains(&format!(r#"content="0; url={wanted}""#)), "{}", answer.body);
    assert!(!answer.headers.contains_key(header::SET_COOKIE));
    let sent = request(Method::GET, wanted, "").header("sec-fetch-site", "same-origin");
    let answer = app.send(sent.body(Body::empty()).unwrap()).await;
    assert!(answer.is_to_sign_in() && !answer.headers.contains_key(header::SET_COOKIE));
}

#[tokio::test]
async fn a_form_of_another_origin_is_refused() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let token = app.form_token(&cookie).await;
    let cases: &[&[(&str, &str)]] = &[
        &[("origin", "https://evil.example")],
        &[("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")],
        &[("origin", "http://iam.example.com:8080"), ("sec-fetch-site", "same-site")],
        &[("origin", ORIGIN), ("sec-fetch-site", "cross-site")],
        &[("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")],
        &[("origin", "null")],
        &[("origin", "null"), ("sec-fetch-site", "cross-site")],
        &[("origin", "null"), ("sec-fetch-site", "same-origin")],
        &[("sec-fetch-site", "none")],
        &[],
    ];
    for headers in cases {
        let mut sent = form(SIGN_OUT, &cookie, &[("form-token", &token)]);
        sent.headers_mut().remove("origin");
        sent.headers_mut().remove("sec-fetch-site");
        for (name, value) in *headers {
            sent.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        assert_eq!(app.send(sent).await.status, StatusCode::FORBIDDEN, "{headers:?}");
        assert!(is_signed_in(&app, &cookie).await, "{headers:?}");
    }
    // The same holds before there is a session: nobody can be signed in to an account of a stranger.
    let mut sent = form("/console/sign-in", "", &[("email", EMAIL), ("password", PASSWORD)]);
    sent.headers_mut().insert("sec-fetch-site", HeaderValue::from_static("cross-site"));
    assert_eq!(app.send(sent).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_form_is_accepted_from_a_browser_that_sends_one_of_the_headers() {
    let app = App::new().await;
    for (kept, value) in [("origin", ORIGIN), ("sec-fetch-site", "same-origin")] {
        let cookie = app.sign_in(EMAIL).await;
        let token = app.form_token(&cookie).await;
        let mut sent = form(SIGN_OUT, &cookie, &[("form-token", &token)]);
        sent.headers_mut().remove("origin");
        sent.headers_mut().remove("sec-fetch-site");
        sent.headers_mut().insert(HeaderName::from_static(kept), HeaderValue::from_static(value));
        assert_eq!(app.send(sent).await.status, StatusCode::SEE_OTHER, "{kept}");
    }
}

#[tokio::test]
async fn a_form_needs_the_token_of_its_session() {
    let app = App::new().await;
    let (cookie, other) = (app.sign_in(EMAIL).await, app.sign_in(EMAIL).await);
    let foreign = app.form_token(&other).await;
    let tampered = format!("{}x", app.form_token(&cookie).await);
    let seed = cookie.split('=').nth(1).unwrap().split('~').next().unwrap();
    for token in [None, Some(""), Some(&*foreign), Some(&*tampered), Some(seed)] {
        let fields: Vec<(&str, &str)> = token.map(|token| ("form-token", token)).into_iter().collect();
        let answer = app.post(SIGN_OUT, &cookie, &fields).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{token:?}");
    }
    assert!(is_signed_in(&app, &cookie).await);
}

#[tokio::test]
async fn a_body_that_is_no_form_is_refused() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    for content_type in ["text/plain", "application/json", "multipart/form-data; boundary=x"] {
        let sent = request(Method::POST, SIGN_OUT, &cookie)
            .header(header::ORIGIN, ORIGIN)
            .header(header::CONTENT_TYPE, content_type)
            .body(Body::from("form-token=x"))
            .unwrap();
        assert_eq!(app.send(sent).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{content_type}");
    }
}

#[tokio::test]
async fn a_tampered_cookie_is_no_session() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let (name, value) = cookie.split_once('=').unwrap();
    let parts: Vec<&str> = value.split('~').collect();
    let (seed, access, refresh) = (parts[0], parts[1], parts[2]);
    let flipped = |token: &str| {
        let last = if token.ends_with('A') { 'B' } else { 'A' };
        format!("{}{last}", &token[..token.len() - 1])
    };
    let (payload, signature) = access.rsplit_once('.').unwrap();
    let bad = [
        format!("{seed}~{payload}.AAAA{}~{}", &signature[4..], flipped(&refresh.replace('_', "-"))),
        format!("{seed}~x~x"),
        format!("{seed}~~"),
        format!("~{access}~{refresh}"),
        format!("{access}~{refresh}"),
        format!("{seed}~{access}~{refresh}~"),
        String::new(),
        "%00%ff".to_owned(),
    ];
    for value in bad {
        let answer = app.get("/console", &format!("{name}={value}")).await;
        assert!(answer.is_to_sign_in(), "{value}: {answer:?}");
    }
    // The cookie of a page without TLS is not that of this page.
    assert!(app.get("/console", &format!("iam-console={value}")).await.is_to_sign_in());
    assert!(is_signed_in(&app, &cookie).await);
}

#[tokio::test]
async fn an_authorization_header_is_no_session() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let access = cookie.split('~').nth(1).unwrap();
    let sent = request(Method::GET, "/console", "").header(header::AUTHORIZATION, format!("Bearer {access}"));
    assert!(app.send(sent.body(Body::empty()).unwrap()).await.is_to_sign_in());
}

#[tokio::test]
async fn an_api_key_in_the_cookie_is_no_session() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let new = iam_core::api_key::NewApiKey { name: "key".into(), ..Default::default() };
    let key = app.iam.api_keys().create(&ada, ada.user().unwrap(), new).await.unwrap();
    let cookie = format!("__Host-iam-console=seed~{}~x", key.token.expose());
    assert!(app.get("/console", &cookie).await.is_to_sign_in());
    // Nor is a key that was verified a moment ago, and so costs no query.
    app.iam.authenticate(key.token.expose(), iam_core::RequestContext::default()).await.unwrap();
    assert!(app.get("/console", &cookie).await.is_to_sign_in());
}

#[tokio::test]
async fn a_cookie_of_another_tenant_stays_dead_after_sign_out() {
    let app = App::new().await;
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    let ada = app.sign_in(EMAIL).await;
    app.post_signed(SIGN_OUT, &eve, &[]).await;
    assert!(app.get("/console", &eve).await.is_to_sign_in());
    assert!(app.post("/console/sign-out-everywhere", &eve, &[("form-token", "x")]).await.is_to_sign_in());
    assert!(is_signed_in(&app, &ada).await);
    // Parts of two cookies are no session of either with the token of the other.
    let part = |cookie: &str, index: usize| cookie.split_once('=').unwrap().1.split('~').nth(index).unwrap().to_owned();
    let mixed = format!("__Host-iam-console={}~{}~{}", part(&ada, 0), part(&eve, 1), part(&ada, 2));
    let answer = app.get("/console", &mixed).await;
    assert!(!answer.body.contains("eve@example.org"), "{}", answer.body);
}

#[tokio::test]
async fn names_are_texts_and_never_markup() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let name = r#"<script>alert(1)</script>"'&"#;
    let patch = UserPatch { first_name: Some(name.into()), ..UserPatch::default() };
    app.iam.users().update(&ada, ada.user().unwrap(), patch).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    let answer = app.get("/console", &cookie).await;
    assert!(!answer.body.contains("<script>alert") && answer.body.contains("alert(1)"), "{}", answer.body);
    let answer =
        app.post("/console/sign-in", "", &[("email", r#""><script>alert(1)</script>"#), ("password", "x")]).await;
    assert!(!answer.body.contains("<script>alert") && answer.body.contains("alert(1)"), "{}", answer.body);
}

fn has_headers(answer: &Answer, what: &str) {
    let value = |name: &str| answer.headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
    let policy = value("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{what}: {policy}");
    assert!(!policy.contains("unsafe"), "{what}");
    assert_eq!(answer.headers.get_all("content-security-policy").iter().count(), 1, "{what}");
    assert_eq!(value("x-content-type-options"), "nosniff", "{what}");
    assert_eq!(value("referrer-policy"), "same-origin", "{what}");
    assert_eq!(value("cross-origin-opener-policy"), "same-origin", "{what}");
    assert_eq!(value("cross-origin-resource-policy"), "same-origin", "{what}");
    assert_eq!(value("x-frame-options"), "DENY", "{what}");
    assert!(!value("x-correlation-id").is_empty(), "{what}");
}

#[tokio::test]
async fn every_response_has_the_security_headers() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let page = app.get("/console", &cookie).await;
    let mut answers = vec![
        ("sign-in", app.get("/console/sign-in", "").await),
        ("redirect", app.get("/console", "").await),
        ("slash", app.get("/console/", "").await),
        ("unknown page", app.get("/console/nothing", &cookie).await),
        ("unknown page, signed out", app.get("/console/nothing", "").await),
        ("wrong password", app.post("/console/sign-in", "", &[("email", EMAIL), ("password", "x")]).await),
        ("foreign form", app.post(SIGN_OUT, &cookie, &[]).await),
        ("wrong method", app.get(SIGN_OUT, &cookie).await),
    ];
    let large = "x".repeat(300 * 1024);
    answers.push(("large body", app.post("/console/sign-in", "", &[("email", &large)]).await));
    assert_eq!(answers.last().unwrap().1.status, StatusCode::PAYLOAD_TOO_LARGE);
    for (what, answer) in &answers {
        has_headers(answer, what);
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store", "{what}");
        let is_page =
            answer.headers.get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
        assert!(is_page || answer.status.is_redirection(), "{what}: {answer:?}");
    }
    assert!(answers[3].1.body.contains(EMAIL), "the page of an error says who is signed in: {}", answers[3].1.body);
    has_headers(&page, "page");
    assert_eq!(page.headers[header::CACHE_CONTROL], "no-store");
}

#[tokio::test]
async fn files_are_kept_for_ever_and_pages_name_their_present_content() {
    let app = App::new().await;
    let page = app.get("/console/sign-in", "").await.body;
    let paths: Vec<&str> = page.split('"').filter(|text| text.starts_with("/console/assets/")).collect();
    assert!(paths.len() >= 4, "{paths:?}");
    for path in paths {
        let answer = app.get(path, "").await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert_eq!(answer.headers[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
        has_headers(&answer, path);
    }
}

#[tokio::test]
async fn the_first_page_is_small() {
    let app = App::new().await;
    let page = app.get("/console/sign-in", "").await.body;
    let mut paths: Vec<String> =
        page.split('"').filter(|text| text.starts_with("/console/assets/")).map(str::to_owned).collect();
    paths.push("/console/sign-in".to_owned());
    let mut total = 0;
    for path in paths {
        let sent = request(Method::GET, &path, "").header(header::ACCEPT_ENCODING, "gzip").body(Body::empty()).unwrap();
        total += app.size_of(sent).await;
    }
    assert!(total < 60 * 1024, "{total}");
}

#[tokio::test]
async fn at_the_root_of_a_host_every_page_is_found() {
    let app = App::at("/", |_| {}).await;
    app.register(EMAIL).await;
    assert_eq!(app.get("/", "").await.location(), "/sign-in");
    let answer = app.post("/sign-in", "", &[("email", EMAIL), ("password", PASSWORD), ("next", "/users")]).await;
    let cookie = answer.cookie();
    assert_eq!(answer.location(), "/users");
    let page = app.get("/", &cookie).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains(r#"<a class="brand" href="/">"#) && page.body.contains(r#"href="/users""#));
    assert_eq!(app.get("/nothing", &cookie).await.status, StatusCode::NOT_FOUND);
    for foreign in ["//evil.example", "https://evil.example", "/\\evil.example"] {
        let answer = app.post("/sign-in", "", &[("email", EMAIL), ("password", PASSWORD), ("next", foreign)]).await;
        assert_eq!(answer.location(), "/", "{foreign}");
    }
}

#[tokio::test]
async fn a_slash_at_the_end_leads_to_the_console_and_other_paths_belong_to_the_host() {
    let app = App::new().await;
    let answer = app.get("/console/", "").await;
    assert_eq!((answer.status, answer.location()), (StatusCode::PERMANENT_REDIRECT, "/console"));
    let answer = app.get("/elsewhere", "").await;
    assert!(answer.status == StatusCode::NOT_FOUND && answer.headers.get("x-frame-options").is_none(), "{answer:?}");
}

#[tokio::test]
async fn every_path_is_limited_whatever_its_name() {
    let app = App::new().await;
    for path in ["/console/health/x", "/console/docs", "/console/", "/console/sign-in"] {
        let answer = app.get(path, "").await;
        assert!(answer.headers.contains_key("x-ratelimit-limit"), "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn a_wrong_parameter_of_a_page_is_400_and_named() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    for (path, name) in [
        ("/users?stauts=SUSPENDED", "stauts"),
        ("/users?status=suspended", "status"),
        ("/organizations?status=foo", "status"),
        ("/invitations?status=pending", "status"),
        ("/access-reviews?status=open", "status"),
        ("/users?Search=x", "Search"),
        ("/users?search=x&search=y", "search"),
        ("/users?sortBy=name", "sortBy"),
        ("/users?sortOrder=ascending", "sortOrder"),
        ("/organizations?sortBy=status", "sortBy"),
        ("/find?query=x", "query"),
        ("/audit?acton=LOGIN", "acton"),
        ("/audit/news?resource=USER&afer=1", "afer"),
        ("/audit/news?after=1&after=2", "after"),
        ("/pick/users?user=a&other=b", "other"),
        ("/tenant?nonsense", "nonsense"),
        ("/users/new?nonsense=1", "nonsense"),
        ("?nonsense=1", "nonsense"),
    ] {
        let answer = app.get(&format!("/console{path}"), &cookie).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path}: {}", answer.body);
        assert!(answer.body.contains(name), "{path}: {}", answer.body);
    }
    for path in ["", "/users?search=x", "/users?", "/audit/news?resource=USER&after=0", "/pick/users?user=a"] {
        assert_eq!(app.get(&format!("/console{path}"), &cookie).await.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn a_form_that_has_a_field_twice_or_an_unknown_one_changes_nothing() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let role = [("name", "CLERK"), ("description", ""), ("scope", "ANY"), ("permission", "users:read")];
    let twice = [&role[..], &[("name", "SELLER")]].concat();
    let misspelt = [&role[..], &[("premission", "users:delete")]].concat();
    for form in [twice, misspelt] {
        let refused = app.post_signed("/console/roles/new", &cookie, &form).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    }
    // A list can have several values.
    let list = [&role[..], &[("permission", "roles:read")]].concat();
    assert_eq!(app.post_signed("/console/roles/new", &cookie, &list).await.status, StatusCode::SEE_OTHER);
}
