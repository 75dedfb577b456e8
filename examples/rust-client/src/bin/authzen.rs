//! Asks by AuthZEN, with a client that knows the standard and nothing of this service. The server has the public URL
//! that is [`PDP`].

use std::error::Error;
use std::time::Duration;

use openidauthzen::http::{HttpClient, HttpResponse, Method};
use openidauthzen::{
    Action, ActionSearchRequest, AuthZenClient, EvaluationItem, EvaluationRequest, EvaluationSemantic,
    EvaluationsOptions, EvaluationsRequest, Page, Resource, ResourceSearchRequest, Subject, SubjectSearchRequest,
};
use serde_json::{Value, json};
use uuid::Uuid;

/// The policy decision point. The client accepts only one with TLS.
const PDP: &str = "https://iam.example.com";

const PASSWORD: &str = "Passw0rd!";
const TIMEOUT: Duration = Duration::from_secs(30);

/// Sends the requests to [`PDP`] to a server without TLS, as a proxy in front of it does.
struct Transport {
    http: reqwest::Client,
    server: String,
}

#[async_trait::async_trait]
impl HttpClient for Transport {
    async fn request(
        &self,
        method: Method,
        url: &str,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Result<HttpResponse, openidauthzen::Error> {
        let failed = |error: reqwest::Error| openidauthzen::Error::Http(Box::new(error));
        let elsewhere = || openidauthzen::Error::InvalidPdpUrl(url.to_owned());
        let url = format!("{}{}", self.server, url.strip_prefix(PDP).ok_or_else(elsewhere)?);
        let mut request = if matches!(method, Method::Get) { self.http.get(url) } else { self.http.post(url) };
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body);
        }
        let response = request.send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let body = response.bytes().await.map_err(failed)?.to_vec();
        Ok(HttpResponse { status, headers: Vec::new(), body })
    }
}

/// The API of the service, which makes what is asked about.
struct Api {
    http: reqwest::Client,
    url: String,
    token: String,
}

impl Api {
    async fn post(&self, path: &str, body: Value) -> Result<Value, Box<dyn Error>> {
        let mut request = self.http.post(format!("{}/{path}", self.url)).header("content-type", "application/json");
        if !self.token.is_empty() {
            request = request.bearer_auth(&self.token);
        }
        let response = request.body(body.to_string()).send().await?.error_for_status()?;
        Ok(serde_json::from_slice(&response.bytes().await?)?)
    }
}

fn person(name: &str) -> Value {
    let email = format!("{name}.{}@example.com", Uuid::new_v4());
    json!({ "email": email, "password": PASSWORD, "firstName": name, "lastName": "Example" })
}

fn text(value: &Value) -> Result<String, Box<dyn Error>> {
    Ok(value.as_str().ok_or("not a text")?.to_owned())
}

fn user(id: Option<&str>) -> Subject {
    Subject { subject_type: "user".to_owned(), id: id.map(str::to_owned), properties: None }
}

fn action(name: &str) -> Action {
    Action { name: name.to_owned(), properties: None }
}

fn resource(kind: &str, id: Option<&str>) -> Resource {
    Resource { resource_type: kind.to_owned(), id: id.map(str::to_owned), properties: None }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("IAM_URL").unwrap_or_else(|_| "http://localhost:8080/api/v1".to_owned());
    let http = reqwest::Client::builder().timeout(TIMEOUT).build()?;
    let server = url.strip_suffix("/api/v1").ok_or("IAM_URL is not the address of an API")?.to_owned();
    let client = AuthZenClient::new(Transport { http: http.clone(), server }, TIMEOUT);

    let mut api = Api { http, url, token: String::new() };
    let registered = api.post("auth/register", person("ada")).await?;
    api.token = text(&registered["accessToken"])?;
    let ada = text(&registered["user"]["id"])?;
    for name in ["orders:read", "orders:delete", "organization:view"] {
        api.post("permissions", json!({ "name": name })).await?;
    }
    let role = json!({ "name": "READER", "permissions": ["orders:read", "organization:view"] });
    let role = text(&api.post("roles", role).await?["id"])?;
    let grace = text(&api.post("users", person("grace")).await?["id"])?;
    api.post("role-assignments", json!({ "userId": grace, "roleId": role })).await?;
    let branch = text(&api.post("organizations", json!({ "name": "Branch" })).await?["id"])?;

    let token = api.token.as_str();
    let found = client.discover(PDP).await?;
    assert_eq!(found.policy_decision_point, PDP);

    let question = |name| EvaluationRequest {
        subject: user(Some(&grace)),
        action: action(name),
        resource: resource("orders", Some("17")),
        context: None,
    };
    let permitted = client.evaluate(PDP, token, &question("read")).await?;
    assert!(permitted.decision, "{permitted:?}");
    let denied = client.evaluate(PDP, token, &question("delete")).await?;
    assert!(!denied.decision, "{denied:?}");
    match client.evaluate(PDP, "no-token", &question("read")).await {
        Err(openidauthzen::Error::HttpStatus { status: 401, .. }) => {}
        other => return Err(format!("a token of nothing: {other:?}").into()),
    }

    let item = |name| EvaluationItem { subject: None, action: Some(action(name)), resource: None, context: None };
    for (semantic, expected) in [
        (EvaluationSemantic::ExecuteAll, vec![true, false, true]),
        (EvaluationSemantic::DenyOnFirstDeny, vec![true, false]),
        (EvaluationSemantic::PermitOnFirstPermit, vec![true]),
    ] {
        let request = EvaluationsRequest {
            subject: Some(user(Some(&grace))),
            action: None,
            resource: Some(resource("orders", Some("17"))),
            context: None,
            evaluations: vec![item("read"), item("delete"), item("read")],
            options: Some(EvaluationsOptions { evaluations_semantic: Some(semantic), extra: None }),
        };
        let answer = client.evaluate_batch(PDP, token, &request).await?;
        let decisions: Vec<bool> = answer.evaluations.iter().map(|evaluation| evaluation.decision).collect();
        assert_eq!(decisions, expected, "{answer:?}");
    }

    let mut request = SubjectSearchRequest {
        subject: user(None),
        action: action("read"),
        resource: resource("orders", Some("17")),
        context: None,
        page: Some(Page { token: None, limit: Some(1), properties: None }),
    };
    let mut subjects = Vec::new();
    for _ in 0..2 {
        let answer = client.search_subjects(PDP, token, &request).await?;
        assert_eq!(answer.results.len(), 1, "{answer:?}");
        subjects.extend(answer.results);
        let next = answer.page.and_then(|page| page.next_token);
        request.page = Some(Page { token: next, limit: Some(1), properties: None });
    }
    subjects.sort_by_key(|subject| subject.id.as_deref() != Some(ada.as_str()));
    assert_eq!(subjects, [user(Some(&ada)), user(Some(&grace))]);
    let next = request.page.and_then(|page| page.token);
    assert_eq!(next.as_deref(), Some(""), "there are only two pages");

    let request = ResourceSearchRequest {
        subject: user(Some(&grace)),
        action: action("view"),
        resource: resource("organization", None),
        context: None,
        page: None,
    };
    let answer = client.search_resources(PDP, token, &request).await?;
    assert_eq!(answer.results, [resource("organization", Some(&branch))]);

    let request = ActionSearchRequest {
        subject: user(Some(&grace)),
        resource: resource("orders", Some("17")),
        context: None,
        page: None,
    };
    let answer = client.search_actions(PDP, token, &request).await?;
    assert_eq!(answer.results, [action("read")]);
    Ok(())
}
