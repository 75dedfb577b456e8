use iam_openid::{AuthorizationResponse, ClientAuthentication, ResponseFault, TokenRequest, TokenResponse};
use serde_json::json;

use crate::metadata::parse;

/// The code in a query, at a provider that promises the issuer in its responses or not.
fn code(query: &str, sends_issuer: bool) -> Result<String, ResponseFault> {
    let provider = parse(json!({ "authorization_response_iss_parameter_supported": sends_issuer })).unwrap();
    AuthorizationResponse::parse(query).code(&provider).map(str::to_owned)
}

const OWN: &str = "iss=https%3A%2F%2Fid.example.com%2Ftenant%2F";

#[test]
fn a_response_has_its_code_and_its_state() {
    assert_eq!(code(&format!("code=a%20b&state=s&{OWN}&session_state=x"), true), Ok("a b".to_owned()));
    assert_eq!(code("code=c&state=s", false), Ok("c".to_owned()));
    assert_eq!(AuthorizationResponse::parse("state=a+b").state.as_deref(), Some("a b"));
    assert_eq!(AuthorizationResponse::parse("code=c").state, None);
}

#[test]
fn a_response_of_another_issuer_has_no_code() {
    assert_eq!(code("code=c&iss=https%3A%2F%2Fevil.example.com", true), Err(ResponseFault::Issuer));
    assert_eq!(code("code=c&iss=https%3A%2F%2Fevil.example.com", false), Err(ResponseFault::Issuer));
    assert_eq!(code("code=c", true), Err(ResponseFault::Issuer));
    assert_eq!(code("error=access_denied", true), Err(ResponseFault::Issuer));
    assert_eq!(code(&format!("code=c&{OWN}"), false), Ok("c".to_owned()));
}

#[test]
fn errors_of_the_provider_are_told_apart() {
    for denied in ["access_denied", "interaction_required", "login_required", "consent_required"] {
        assert_eq!(code(&format!("error={denied}&code=c"), false), Err(ResponseFault::Denied), "{denied}");
    }
    for unavailable in ["server_error", "temporarily_unavailable"] {
        assert_eq!(code(&format!("error={unavailable}"), false), Err(ResponseFault::Unavailable), "{unavailable}");
    }
    for query in
        ["error=invalid_request&code=c", "error=&code=c", "code=", "", "code=c&code=c", "code=c&state=a&state=a"]
    {
        assert_eq!(code(query, false), Err(ResponseFault::NoCode), "{query}");
    }
}

fn request(client_secret: Option<&str>, authentication: ClientAuthentication) -> TokenRequest<'_> {
    let (code, redirect_uri, code_verifier) = ("c&d", "https://iam.example.com/callback/1", "v");
    TokenRequest { client_id: "i d", client_secret, authentication, code, redirect_uri, code_verifier }
}

#[test]
fn a_client_authenticates_as_the_provider_announces() {
    let shared = "grant_type=authorization_code&code=c%26d&redirect_uri=https%3A%2F%2Fiam.example.com%2Fcallback%2F1\
                  &code_verifier=v";
    let by_header = request(Some("s:é"), ClientAuthentication::Basic);
    assert_eq!(by_header.body(), shared);
    // `i+d:s%3A%C3%A9`
    assert_eq!(by_header.authorization().unwrap(), "Basic aStkOnMlM0ElQzMlQTk=");
    let by_form = request(Some("s"), ClientAuthentication::Post);
    assert_eq!((by_form.body(), by_form.authorization()), (format!("{shared}&client_id=i+d&client_secret=s"), None));
    for authentication in [ClientAuthentication::Basic, ClientAuthentication::Post] {
        let public = request(None, authentication);
        assert_eq!((public.body(), public.authorization()), (format!("{shared}&client_id=i+d"), None));
    }
}

#[test]
fn the_answer_has_an_id_token() {
    let parse = |text: &str| TokenResponse::parse(text.as_bytes());
    let answer = parse(r#"{"id_token": "i", "access_token": "a", "token_type": "Bearer"}"#).unwrap();
    assert_eq!((answer.id_token.as_str(), answer.access_token.as_deref()), ("i", Some("a")));
    assert_eq!(parse(r#"{"id_token": "i"}"#).unwrap().access_token, None);
    for text in ["", "{}", "[]", r#"{"access_token": "a"}"#, r#"{"error": "invalid_grant"}"#] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn secrets_are_not_printed() {
    let printed = format!("{:?}", request(Some("secret"), ClientAuthentication::Post));
    assert_eq!(printed, r#"TokenRequest { client_id: "i d", .. }"#);
    let answer = TokenResponse { id_token: "secret".into(), access_token: Some("secret".into()) };
    assert_eq!(format!("{answer:?}"), "TokenResponse { .. }");
}
