/// The hidden beginning of the examples in the documentation of the services: `iam` over a store in memory, and `ada`,
/// the administrator of a tenant. It begins a function, which the example must end.
macro_rules! doctest_setup {
    () => {
        r#"# use iam_core::{Caller, Iam, RequestContext, tenant::Registration, user::NewUser};
# use iam_store_memory::MemoryStore;
# fn person(email: &str) -> NewUser {
#     let (first_name, last_name) = ("Some".into(), "Body".into());
#     NewUser { email: email.into(), password: "Passw0rd!".into(), first_name, last_name }
# }
# #[tokio::main(flavor = "current_thread")]
# async fn main() -> Result<(), Box<dyn std::error::Error>> {
# let iam = Iam::builder(std::sync::Arc::new(MemoryStore::new())).build().await?;
# let registration = Registration { user: person("ada@example.com"), tenant_name: None };
# let registered = iam.tenants().register(&RequestContext::default(), registration).await?;
# let ada = iam.authenticate(registered.login.tokens.access.expose(), RequestContext::default()).await?;"#
    };
}
