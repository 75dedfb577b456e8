//! The metadata of the policy decision point (`docs/authzen.md#discovery`): the level Discovery of the certification.

use axum::http::Method;
use serde_json::json;

use super::{ask, question};
use crate::app::TestApp;

in_memory![
    the_configuration_names_every_endpoint,
    without_a_public_url_there_is_no_configuration,
    every_endpoint_answers_where_it_says,
];

const CONFIGURATION: &str = "/.well-known/authzen-configuration";

fn public(app: &TestApp, url: &str) -> TestApp {
    app.with_http_settings(|settings| settings.public_url = Some(url.to_owned()))
}

async fn the_configuration_names_every_endpoint(app: TestApp) {
    for url in ["https://pdp.example.com", "https://pdp.example.com/"] {
        let answer = public(&app, url).request(Method::GET, CONFIGURATION).send().await;
        let expected = json!({
            "policy_decision_point": "https://pdp.example.com",
            "access_evaluation_endpoint": "https://pdp.example.com/access/v1/evaluation",
            "access_evaluations_endpoint": "https://pdp.example.com/access/v1/evaluations",
            "search_subject_endpoint": "https://pdp.example.com/access/v1/search/subject",
            "search_resource_endpoint": "https://pdp.example.com/access/v1/search/resource",
            "search_action_endpoint": "https://pdp.example.com/access/v1/search/action",
        });
        assert_eq!(answer.ok(), expected);
        assert_eq!(answer.header("cache-control"), Some("public, max-age=300"));
    }
    let public = public(&app, "https://pdp.example.com");
    let query = public.request(Method::GET, &format!("{CONFIGURATION}?x=1")).send().await;
    assert_eq!(query.invalid_fields(), ["x"]);
    public.request(Method::POST, CONFIGURATION).send().await.problem("method-not-allowed");
    public.request(Method::GET, &format!("/api/v1{CONFIGURATION}")).send().await.problem("not-found");
    let without = app.with_http_settings(|settings| {
        settings.public_url = Some("https://pdp.example.com".to_owned());
        settings.parts.remove(&iam_axum::ApiPart::Authorization);
    });
    let (status, _) = without.request(Method::GET, CONFIGURATION).send_to_host().await;
    assert_eq!(status, 404);
}

async fn without_a_public_url_there_is_no_configuration(app: TestApp) {
    app.request(Method::GET, CONFIGURATION).send().await.problem("not-found");
}

async fn every_endpoint_answers_where_it_says(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let configuration = public(&app, "https://pdp.example.com").request(Method::GET, CONFIGURATION).send().await.ok();
    let endpoints = configuration.as_object().unwrap().iter().filter(|(name, _)| name.ends_with("_endpoint"));
    let mut count = 0;
    for (_, url) in endpoints {
        let path = url.as_str().unwrap().strip_prefix("https://pdp.example.com").unwrap();
        for path in [path.to_owned(), format!("/api/v1{path}")] {
            ask(&app, &ada, &path, &question(&ada.user, "users:read", None)).await.ok();
        }
        count += 1;
    }
    assert_eq!(count, 5);
}
