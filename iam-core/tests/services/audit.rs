//! The erasure of audit entries, by callers that may and may not do it.

use std::sync::Arc;

use iam_core::session::LoggedIn;
use iam_core::tenant::Registration;
use iam_core::user::NewUser;
use iam_core::{Caller, Error, Forbidden, Iam, RequestContext};
use iam_store_memory::MemoryStore;

async fn registered() -> (Iam, Caller, LoggedIn) {
    let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
    let user = NewUser {
        email: "ada@example.com".to_owned(),
        password: "Passw0rd!".into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    };
    let context = RequestContext::default();
    let registered = iam.tenants().register(&context, Registration { user, tenant_name: None }).await.unwrap();
    let caller = iam.authenticate(registered.login.tokens.access.expose(), context).await.unwrap();
    (iam, caller, registered.login)
}

#[tokio::test]
async fn users_cannot_erase_their_own_entries() {
    let (iam, ada, login) = registered().await;
    let refused = iam.audit().erase(&ada, login.user.id).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::OwnEntries))), "{refused:?}");
}
