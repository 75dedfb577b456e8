//! The Redis server for tests.

/// The URL of the server that all tests share.
///
/// # Panics
///
/// When `IAM_TEST_REDIS_URL` is not set.
#[must_use]
pub fn url() -> String {
    let Ok(url) = std::env::var("IAM_TEST_REDIS_URL") else {
        panic!("needs Redis: run scripts/test");
    };
    url
}

/// The host and port of that server.
///
/// # Panics
///
/// When [`url()`] panics, or when its value is not a URL.
#[must_use]
pub fn address() -> String {
    let url = url();
    let (_, rest) = url.split_once("://").expect("IAM_TEST_REDIS_URL is a URL");
    let authority = rest.split('/').next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default().to_owned()
}
