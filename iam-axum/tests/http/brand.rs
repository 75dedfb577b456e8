//! The brand of the account pages (`docs/operating.md#your-name-and-colour`).

use axum::http::Method;
use iam_core::brand::Brand;

use crate::app::TestApp;

in_memory![the_account_pages_have_the_brand, without_a_brand_the_account_pages_name_no_file_of_one];

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

async fn the_account_pages_have_the_brand(app: TestApp) {
    let brand = Brand::default().with_name("Acme <b>").unwrap().with_accent("#7c3aed").unwrap();
    let brand = brand.with_logo(PNG).unwrap();
    let app = app.with_http_settings(|settings| settings.brand = brand);
    for page in ["verify?token=x", "passkey"] {
        let (_, body) = app.request(Method::GET, &format!("/account/{page}")).send_to_host().await;
        let body = body.as_str().unwrap();
        assert!(body.contains(r#"<p class="brand"><img src="logo" alt="">Acme &lt;b&gt;</p>"#), "{body}");
        assert!(body.contains(" · Acme &lt;b&gt;</title>") && body.contains(r#"href="brand.css""#), "{body}");
    }
    let style = app.request(Method::GET, "/account/brand.css").send_packed().await;
    assert!(style.text().contains("--button: light-dark(#7c3aed, #"), "{}", style.text());
    let logo = app.request(Method::GET, "/account/logo").send_packed().await;
    assert_eq!((logo.status(), logo.header("content-type").unwrap()), (200, "image/png"));
    assert_eq!(logo.header("x-content-type-options").unwrap(), "nosniff");
    let policy = logo.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("; sandbox;"), "{policy}");
}

async fn without_a_brand_the_account_pages_name_no_file_of_one(app: TestApp) {
    let (_, body) = app.request(Method::GET, "/account/passkey").send_to_host().await;
    let body = body.as_str().unwrap();
    assert!(body.contains("<title>Your account</title>"), "{body}");
    assert!(!body.contains("brand.css") && !body.contains("<img"), "{body}");
    for file in ["brand.css", "logo"] {
        let (status, _) = app.request(Method::GET, &format!("/account/{file}")).send_to_host().await;
        assert_eq!(status, 404, "{file}");
    }
}
