//! Registers, logs in, creates a user, lists users, handles refusals, and follows the events.

use std::error::Error;

use iam_client::models::{ListUsers, Login, NewUser, Registration, StepUp};
use iam_client::{Client, Code, EventFilter};
use uuid::Uuid;

const PASSWORD: &str = "Passw0rd!";

/// Returns an address that no earlier run has used.
fn address_of(name: &str) -> String {
    format!("{name}.{}@example.com", Uuid::new_v4())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("IAM_URL").unwrap_or_else(|_| "http://localhost:8080/api/v1".to_owned());
    let client = Client::builder(url)
        .on_step_up(|_, problem| async move {
            println!("{}", problem.detail);
            Some(StepUp { password: Some(PASSWORD.into()), ..StepUp::default() })
        })
        .build()?;

    let email = address_of("ada");
    let registration = Registration {
        email: email.clone(),
        password: PASSWORD.into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
        tenant_name: None,
    };
    client.register(&registration).await?;
    client.login(&Login { email, password: PASSWORD.into(), tenant: None }).await?;

    // A program that got no answer, for example because it was ended, can repeat the request under the same key. The
    // user is created once.
    let new = NewUser {
        email: address_of("grace"),
        password: PASSWORD.into(),
        first_name: "Grace".to_owned(),
        last_name: "Hopper".to_owned(),
        ..NewUser::default()
    };
    let key = Uuid::new_v4().to_string();
    let grace = client.create_user(&new).idempotency_key(&key).await?;
    let again = client.create_user(&new).idempotency_key(&key).response().await?;
    assert!(again.is_replayed && again.value.id == grace.id);

    let hoppers = ListUsers { search: Some("hopper".to_owned()), ..ListUsers::default() };
    let found = client.list_users(&hoppers).items().collect().await?;
    assert_eq!(found.iter().map(|user| user.id).collect::<Vec<_>>(), [grace.id]);

    let refused = client.create_user(&new).await.err().ok_or("two users have the same e-mail")?;
    println!("refused: {refused}");
    assert_eq!(refused.code(), Some(Code::Conflict));

    let refused = client.create_user(&NewUser { email: "grace".to_owned(), ..new }).await;
    let refused = refused.err().ok_or("the e-mail is not valid")?;
    println!("refused: {refused}");
    assert!(refused.problem().is_some_and(|problem| problem.field("email").is_some()));

    let mut events = client.events(EventFilter { types: vec!["USER.CREATE".to_owned()], ..EventFilter::default() });
    for _ in 0..2 {
        let event = events.next().await.ok_or("the feed has ended")??;
        println!("{} {} {:?}", event.sequence, event.r#type, event.entry.resource_id);
    }
    println!("to go on after a restart: {}", events.position());
    Ok(())
}
