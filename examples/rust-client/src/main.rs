//! Registers, logs in, creates a user, lists users, and handles a refusal as a typed error.

// The module `iam`, which build.rs generates.
include!(concat!(env!("OUT_DIR"), "/module.rs"));

use std::error::Error;

use uuid::Uuid;

use iam::{ApiOpError, CreateUserApiError, HttpClient, Login, NewUser, Problem, Registration};

const PASSWORD: &str = "Passw0rd!";

/// Returns an address that no earlier run has used.
fn address_of(name: &str) -> String {
    format!("{name}.{}@example.com", Uuid::new_v4())
}

/// Prints a refusal, and returns its problem document (RFC 9457).
fn refused(problem: &Problem) -> &Problem {
    println!("refused: {} {}: {}", problem.status, problem.title, problem.detail);
    problem
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("IAM_URL").unwrap_or_else(|_| "http://localhost:8080/api/v1".to_owned());
    let client = HttpClient::new().with_base_url(url);
    let no_key = None::<&str>;

    let email = address_of("ada");
    let registration = Registration {
        email: email.clone(),
        password: PASSWORD.to_owned(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
        tenant_name: None,
    };
    client.register(no_key, registration).await?;
    let login = Login { email, password: PASSWORD.to_owned(), tenant: None };
    let client = client.clone().with_api_key(client.login(login).await?.access_token);

    // A client that got no answer can repeat the request under the same key. The user is created once.
    let new = NewUser {
        email: address_of("grace"),
        password: PASSWORD.to_owned(),
        first_name: "Grace".to_owned(),
        last_name: "Hopper".to_owned(),
        external_id: None,
        home_organization_id: None,
    };
    let key = Uuid::new_v4().to_string();
    let grace = client.create_user(Some(&key), new.clone()).await?;
    assert_eq!(client.create_user(Some(&key), new.clone()).await?.id, grace.id);

    let found = client.list_users(None, None, None, None, Some("hopper"), no_key, None, None).await?;
    assert_eq!(found.data.iter().map(|user| user.id).collect::<Vec<_>>(), [grace.id]);

    match client.create_user(no_key, new.clone()).await {
        Err(ApiOpError::Api(error)) => match error.typed {
            Some(CreateUserApiError::Status409(problem)) => assert_eq!(refused(&problem).status, 409),
            other => return Err(format!("not a conflict: {other:?}").into()),
        },
        other => return Err(format!("two users have the same e-mail: {other:?}").into()),
    }

    let invalid = NewUser { email: "grace".to_owned(), ..new };
    match client.create_user(no_key, invalid).await {
        Err(ApiOpError::Api(error)) => match error.typed {
            Some(CreateUserApiError::Status400(problem)) => {
                let errors = refused(&problem).errors.as_deref().unwrap_or_default();
                assert_eq!(errors.iter().map(|error| error.field.as_str()).collect::<Vec<_>>(), ["email"]);
            }
            other => return Err(format!("not a refusal of a field: {other:?}").into()),
        },
        other => return Err(format!("the e-mail is not valid: {other:?}").into()),
    }
    Ok(())
}
