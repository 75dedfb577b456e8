use iam_openid::{AuthorizationRequest, ClientAuthentication, InvalidMetadata, ProviderMetadata, code_challenge};
use serde_json::{Value, json};
use url::Url;

use crate::{CLIENT, ISSUER};

/// The document of a provider that announces everything.
pub(crate) fn document() -> Value {
    json!({
        "issuer": ISSUER,
        "authorization_endpoint": "https://id.example.com/authorize?brand=acme",
        "token_endpoint": "https://id.example.com/token",
        "jwks_uri": "https://id.example.com/keys",
        "userinfo_endpoint": "https://id.example.com/userinfo",
        "response_types_supported": ["code", "code id_token"],
        "subject_types_supported": ["public"],
        "code_challenge_methods_supported": ["plain", "S256"],
        "id_token_signing_alg_values_supported": ["RS256", "HS256"],
        "token_endpoint_auth_methods_supported": ["private_key_jwt", "client_secret_post", "client_secret_basic"],
        "authorization_response_iss_parameter_supported": true,
    })
}

pub(crate) fn parse(changes: Value) -> Result<ProviderMetadata, InvalidMetadata> {
    let mut document = document();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(document.as_object_mut().unwrap().remove(name)),
            value => document[name] = value.clone(),
        }
    }
    ProviderMetadata::parse(ISSUER, document.to_string().as_bytes())
}

#[test]
fn the_document_of_a_provider_is_read() {
    let url = |text: &str| Url::parse(text).unwrap();
    let expected = ProviderMetadata {
        issuer: ISSUER.into(),
        authorization_endpoint: url("https://id.example.com/authorize?brand=acme"),
        token_endpoint: url("https://id.example.com/token"),
        jwks_uri: url("https://id.example.com/keys"),
        userinfo_endpoint: Some(url("https://id.example.com/userinfo")),
        client_authentication: ClientAuthentication::Basic,
        sends_issuer: true,
    };
    assert_eq!(parse(json!({})), Ok(expected.clone()));
    // As Entra announces it.
    let quiet = json!({
        "code_challenge_methods_supported": null, "token_endpoint_auth_methods_supported": ["client_secret_post"],
        "authorization_response_iss_parameter_supported": null,
    });
    let client_authentication = ClientAuthentication::Post;
    assert_eq!(parse(quiet), Ok(ProviderMetadata { client_authentication, sends_issuer: false, ..expected }));
    for none in [Value::Null, json!("x")] {
        assert_eq!(parse(json!({ "userinfo_endpoint": none })).unwrap().userinfo_endpoint, None);
    }
    let authentication = |methods| parse(json!({ "token_endpoint_auth_methods_supported": methods })).unwrap();
    assert_eq!(authentication(Value::Null).client_authentication, ClientAuthentication::Basic);
    assert_eq!(authentication(json!(["none"])).client_authentication, ClientAuthentication::Post);
}

#[test]
fn a_provider_that_cannot_be_used_is_refused_with_the_reason() {
    let cases = [
        (
            json!({ "issuer": "https://id.example.com/tenant" }),
            "is not the issuer that its discovery document names: \
            https://id.example.com/tenant",
        ),
        (json!({ "issuer": null }), "is no provider: its discovery document is not JSON with the required members"),
        (json!({ "response_types_supported": ["id_token"] }), "does not support the response type code"),
        (json!({ "code_challenge_methods_supported": ["plain"] }), "does not support the code challenge method S256"),
        (json!({ "code_challenge_methods_supported": [] }), "does not support the code challenge method S256"),
        (
            json!({ "id_token_signing_alg_values_supported": ["HS256", "none", "RS512"] }),
            "signs ID tokens by none of RS256, PS256, ES256 and EdDSA",
        ),
        (
            json!({ "token_endpoint_auth_methods_supported": ["private_key_jwt"] }),
            "supports neither client_secret_basic nor client_secret_post",
        ),
        (json!({ "jwks_uri": null }), "has no usable jwks_uri in its discovery document"),
        (json!({ "token_endpoint": "/token" }), "has no usable token_endpoint in its discovery document"),
        (
            json!({ "token_endpoint": "https://a:b@id.example.com" }),
            "has no usable token_endpoint in its discovery document",
        ),
        (
            json!({ "authorization_endpoint": "javascript:alert(1)" }),
            "has no usable authorization_endpoint in its discovery document",
        ),
        (
            json!({ "authorization_endpoint": "https://id.example.com/#a" }),
            "has no usable authorization_endpoint in its discovery document",
        ),
    ];
    for (changes, text) in cases {
        assert_eq!(parse(changes.clone()).unwrap_err().to_string(), text, "{changes}");
    }
    assert_eq!(ProviderMetadata::parse(ISSUER, b"<html>"), Err(InvalidMetadata::Malformed));
}

#[test]
fn the_document_is_below_the_issuer() {
    let expected = "https://id.example.com/tenant/.well-known/openid-configuration";
    assert_eq!(ProviderMetadata::url(ISSUER), expected);
    assert_eq!(ProviderMetadata::url("https://id.example.com/tenant"), expected);
}

#[test]
fn a_request_goes_to_the_provider_with_all_that_ties_the_response_to_it() {
    let provider = parse(json!({})).unwrap();
    let scopes = ["openid".to_owned(), "email".to_owned()];
    let challenge = code_challenge("verifier");
    let request = AuthorizationRequest {
        client_id: CLIENT,
        redirect_uri: "https://iam.example.com/callback/1",
        scopes: &scopes,
        state: "a state",
        nonce: "a nonce",
        code_challenge: &challenge,
        login_hint: None,
        must_authenticate: false,
    };
    let sent = |request: AuthorizationRequest<'_>| {
        let url = request.url(&provider);
        assert!(url.as_str().starts_with("https://id.example.com/authorize?brand=acme&"), "{url}");
        url.query_pairs().skip(1).map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    };
    let expected = [
        "response_type=code",
        "client_id=iam",
        "redirect_uri=https://iam.example.com/callback/1",
        "scope=openid email",
        "state=a state",
        "nonce=a nonce",
        &format!("code_challenge={challenge}"),
        "code_challenge_method=S256",
    ];
    assert_eq!(sent(request), expected);
    let again = AuthorizationRequest { login_hint: Some("a&b@example.com"), must_authenticate: true, ..request };
    assert_eq!(sent(again)[expected.len()..], ["login_hint=a&b@example.com", "prompt=login", "max_age=0"]);
}
