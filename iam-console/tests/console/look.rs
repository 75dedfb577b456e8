#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use iam_core::brand::Brand;

use crate::app::{App, EMAIL, HOST, ORIGIN, encoded, request};

const LOGO: &[u8] = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";

/// Returns the address of a file that a page names.
fn address(page: &str, file: &str) -> String {
    let mut addresses = page.split('"').filter(|text| text.starts_with("/console/assets/"));
    addresses.find(|address| address.ends_with(file)).unwrap_or_else(|| panic!("no {file}: {page}")).to_owned()
}

#[tokio::test]
async fn every_page_has_the_name_the_logo_and_the_colour_of_the_brand() {
    let brand = Brand::default().with_name("Acme <b>").unwrap().with_accent("#7c3aed").unwrap();
    let app = App::new().await.branded(brand.with_logo(LOGO).unwrap());
    let cookie = app.sign_in(EMAIL).await;
    for (path, cookie) in [("/console/sign-in", ""), ("/console/users", &*cookie), ("/console/nothing", &*cookie)] {
        let page = app.get(path, cookie).await.body;
        assert!(page.contains(" · Acme &#60;b&#62;</title>") && !page.contains(">Console"), "{path}: {page}");
        let logo = address(&page, "/logo.svg");
        assert!(page.contains(&format!(r#"<img src="{logo}" alt="">Acme &#60;b&#62;</a>"#)), "{path}: {page}");
        let (before, _) = page.split_once("/brand.css").unwrap();
        assert!(before.contains("/console.css"), "the style of the brand is the later one: {page}");
        let style = app.get(&address(&page, "/brand.css"), "").await;
        assert!(style.body.contains("--accent: light-dark(#7c3aed, #"), "{style:?}");
        assert_eq!(style.headers[header::CONTENT_TYPE], "text/css; charset=utf-8");
    }
    let page = app.get("/console/sign-in", "").await.body;
    let logo = app.get(&address(&page, "/logo.svg"), "").await;
    assert_eq!((logo.status, logo.body.as_bytes()), (StatusCode::OK, LOGO));
    assert_eq!(logo.headers[header::CONTENT_TYPE], "image/svg+xml");
    assert_eq!(logo.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    let policies: Vec<_> = logo.headers.get_all(header::CONTENT_SECURITY_POLICY).iter().collect();
    let [policy] = policies.as_slice() else { panic!("{policies:?}") };
    let policy = policy.to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("; sandbox;"), "{policy}");
    assert!(!policy.contains("allow-scripts") && !policy.contains("script-src"), "{policy}");
}

#[tokio::test]
async fn without_a_brand_the_console_has_its_own_look() {
    let page = App::new().await.get("/console/sign-in", "").await.body;
    assert!(page.contains(" · Console</title>") && page.contains(">Console</a>"), "{page}");
    assert!(!page.contains("brand.css") && !page.contains("<img"), "{page}");
}

#[tokio::test]
async fn a_person_chooses_the_density_and_comes_back_to_its_page() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let page = app.get("/console/users", &cookie).await.body;
    assert!(page.contains(r#"data-density="comfortable""#) && page.contains("Compact view"), "{page}");
    let token = app.form_token(&cookie).await;
    let chosen_by = |density: &str, more: &[(&str, &str)]| {
        let builder = request(Method::POST, "/console/account/density", &cookie)
            .header(header::ORIGIN, ORIGIN)
            .header(header::REFERER, format!("https://{HOST}/console/users?page=2"))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let fields = [[("density", density), ("form-token", &*token)].as_slice(), more].concat();
        builder.body(Body::from(encoded(&fields))).unwrap()
    };
    let chosen = |density: &str| chosen_by(density, &[]);
    let answer = app.send(chosen("compact")).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/console/users?page=2"));
    let line = answer.headers[header::SET_COOKIE].to_str().unwrap();
    assert_eq!(line, "__Host-iam-console-density=compact; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=31536000");
    let both = answer.cookies(&cookie);
    for path in ["/console/users", "/console/nothing"] {
        let page = app.get(path, &both).await.body;
        assert!(page.contains(r#"data-density="compact""#) && page.contains("Comfortable view"), "{path}: {page}");
    }
    let answer = app.send(chosen(r#""><script>"#)).await;
    assert!(answer.status == StatusCode::BAD_REQUEST && !answer.headers.contains_key(header::SET_COOKIE), "{answer:?}");
    // A page that answers a form names another page to go back to: its own address may have none.
    let forms = app.post_signed("/console/runs", &cookie, &[("action", "suspend")]).await;
    assert!(forms.body.contains(r#"<input type="hidden" name="before" value="/console">"#), "{forms:?}");
    assert!(!page.contains(r#"name="before""#), "{page}");
    assert_eq!(app.send(chosen_by("compact", &[("before", "/console")])).await.location(), "/console");
    let forged = format!("{cookie}; __Host-iam-console-density=\"><script>");
    assert!(app.get("/console/users", &forged).await.body.contains(r#"data-density="comfortable""#));
}

#[tokio::test]
async fn a_person_chooses_light_or_dark_pages_and_comes_back_to_its_page() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    assert!(app.get("/console/users", &cookie).await.body.contains(r#"data-theme="system""#));
    let token = app.form_token(&cookie).await;
    let chosen = |theme: &str| {
        let builder = request(Method::POST, "/console/account/theme", &cookie)
            .header(header::ORIGIN, ORIGIN)
            .header(header::REFERER, format!("https://{HOST}/console/users?page=2"))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        builder.body(Body::from(encoded(&[("theme", theme), ("form-token", &token)]))).unwrap()
    };
    let answer = app.send(chosen("dark")).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/console/users?page=2"));
    let both = answer.cookies(&cookie);
    for path in ["/console/users", "/console/nothing"] {
        let page = app.get(path, &both).await.body;
        assert!(page.contains(r#"data-theme="dark""#), "{path}: {page}");
        let (before, _) = page.split_once(r#"aria-pressed="true">"#).unwrap();
        assert!(before.rsplit('<').next().unwrap().contains(r#"value="dark""#), "{path}: {page}");
    }
    let answer = app.send(chosen(r#""><script>"#)).await;
    assert_eq!((answer.status, answer.headers.get(header::SET_COOKIE)), (StatusCode::BAD_REQUEST, None));
}

#[tokio::test]
async fn the_navigation_is_grouped_and_its_icons_are_in_one_file() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let page = app.get("/console/users", &cookie).await.body;
    for (group, name) in [("people", "People"), ("access", "Access"), ("events", "Events"), ("settings", "Tenant")] {
        let start = format!(r#"<div role="group" aria-labelledby="nav-{group}"><p id="nav-{group}">{name}</p>"#);
        assert!(page.contains(&start), "{group}: {page}");
    }
    let icon = page.split(r#"<svg class="icon" aria-hidden="true"><use href=""#).nth(1).unwrap();
    let (path, name) = icon.split('"').next().unwrap().split_once('#').unwrap();
    let icons = app.get(path, "").await;
    assert_eq!((icons.status, name), (StatusCode::OK, "search"));
    assert_eq!(icons.headers[header::CONTENT_TYPE], "image/svg+xml");
    assert!(icons.body.contains(&format!(r#"<symbol id="{name}""#)), "{name}");
}
