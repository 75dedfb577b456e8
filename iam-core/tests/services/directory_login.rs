//! Logins of the users of a directory by the provider that the directory names (`docs/federation.md`).

use std::collections::HashMap;

use iam_core::directory::{DeletedUsers, DirectoryPatch, ProvisionedUser};
use iam_core::federation::{Finished, StartFederation, code_challenge};
use iam_core::identity_provider::{IdentityProviderPatch, Provisioning};
use iam_core::user::{User, UserPatch, UserStatus};
use iam_core::{Error, Forbidden, IdentityProviderId, RequestContext, Unauthenticated};
use serde_json::json;
use test_support::identity_provider::query_of;

use crate::company::{Company, REDIRECT, Staff, replacing, resource};

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

impl Company {
    /// Lets the person with a subject and an address come back from a provider. Returns the code, or the error.
    async fn returned(&self, provider: IdentityProviderId, subject: &str, email: &str) -> Result<String, String> {
        let start = StartFederation {
            provider,
            redirect_uri: REDIRECT.to_owned(),
            code_challenge: code_challenge(VERIFIER),
            login_hint: None,
        };
        let (context, federation) = (RequestContext::default(), self.iam.federation());
        let started = federation.start(&context, start).await.unwrap();
        let claims = json!({ "sub": subject, "email": email });
        let query = self.providers.log_in(started.authorization_url.as_str(), self.iam.now(), &claims);
        let outcome = federation.callback(&context, provider, &query).await.unwrap();
        let mut query: HashMap<String, String> = query_of(&outcome.location);
        query.remove("code").ok_or_else(|| query.remove("error").unwrap())
    }

    async fn finished(&self, code: String) -> Result<User, Error> {
        let context = RequestContext::default();
        match self.iam.federation().finish(&context, None, &code.into(), VERIFIER).await? {
            Finished::LoggedIn(logged_in) => Ok(logged_in.user),
            other => panic!("{other:?}"),
        }
    }

    /// The user whom the person with a subject becomes; `None` if no user is linked to it.
    async fn logged_in(&self, provider: IdentityProviderId, subject: &str, email: &str) -> Option<User> {
        match self.returned(provider, subject, email).await {
            Ok(code) => Some(self.finished(code).await.unwrap()),
            Err(error) => {
                assert_eq!(error, "not_linked");
                None
            }
        }
    }

    /// A provider, a directory that names it, and one of its users.
    async fn with_provider(&self, provisioning: Provisioning) -> (IdentityProviderId, Staff, ProvisionedUser) {
        let provider = self.provider(provisioning).await.id;
        let staff = self.staff_at(&["users:*"], Some(provider)).await;
        let grace = self.made(&staff, "grace").await;
        (provider, staff, grace)
    }
}

#[tokio::test]
async fn a_user_of_a_directory_logs_in_by_the_provider_that_the_directory_names() {
    for provisioning in [Provisioning::Off, Provisioning::Link, Provisioning::Create] {
        let company = Company::new().await;
        let (provider, staff, grace) = company.with_provider(provisioning).await;
        // The address does not matter, and is not that of the user.
        let user = company.logged_in(provider, "id-grace", "nobody@unknown.example").await.unwrap();
        assert_eq!((user.id, user.email), (grace.user.id, grace.user.email));
        let identities = company.iam.federation().identities(&company.ada, user.id).await.unwrap();
        assert_eq!(identities.len(), 1);
        assert_eq!((identities[0].provider_id, identities[0].subject.as_str()), (provider, "id-grace"));
        // From now on it is known, whatever the directory says.
        let other = replacing(json!({ "externalId": "other" }));
        company.iam.provisioning().patch(&staff.entra, user.id, &other, None).await.unwrap();
        assert_eq!(company.logged_in(provider, "id-grace", "x@unknown.example").await.unwrap().id, user.id);
        // A user has one link at each provider.
        assert_eq!(company.logged_in(provider, "other", "x@unknown.example").await, None);
    }
}

#[tokio::test]
async fn only_the_external_identifier_of_a_user_of_a_directory_that_names_the_provider_counts() {
    let company = Company::new().await;
    let (provider, staff, grace) = company.with_provider(Provisioning::Off).await;
    let other = company.staff(&["users:*"]).await;
    company.made(&other, "elsewhere").await;
    let alone = company.user("alone@example.com", &[]).await;
    let patch = UserPatch { external_id: Some(Some("id-alone".to_owned())), ..UserPatch::default() };
    company.iam.users().update(&company.system, alone.id, patch).await.unwrap();
    for subject in ["id-elsewhere", "id-alone", "ID-GRACE", "grace", "unknown"] {
        assert_eq!(company.logged_in(provider, subject, "x@unknown.example").await, None, "{subject}");
    }
    // The directory names no provider any more, or there is no directory any more.
    let to = |provider| DirectoryPatch { identity_provider: Some(provider), ..DirectoryPatch::default() };
    let directories = company.iam.directories();
    directories.update(&company.ada, staff.directory.id, to(None)).await.unwrap();
    assert_eq!(company.logged_in(provider, "id-grace", "x@unknown.example").await, None);
    directories.update(&company.ada, staff.directory.id, to(Some(provider))).await.unwrap();
    let code = company.returned(provider, "id-grace", "x@unknown.example").await.unwrap();
    directories.delete(&company.ada, staff.directory.id, DeletedUsers::Keep).await.unwrap();
    let refused = company.finished(code).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotLinked))), "{refused:?}");
    assert!(company.iam.federation().identities(&company.ada, grace.user.id).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_holder_of_all_permissions_is_not_linked_by_a_directory() {
    let company = Company::new().await;
    let (provider, _, grace) = company.with_provider(Provisioning::Create).await;
    let code = company.returned(provider, "id-grace", "new@unknown.example").await.unwrap();
    company.give(grace.user.id, &["*"]).await;
    // Neither a login that has begun before, nor one by the address, nor as a new user.
    let refused = company.finished(code).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotLinked))), "{refused:?}");
    for email in ["grace@example.com", "new@unknown.example"] {
        assert_eq!(company.logged_in(provider, "id-grace", email).await, None, "{email}");
    }
    assert!(company.iam.federation().identities(&company.ada, grace.user.id).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_status_of_a_user_of_a_directory_counts_as_in_every_login() {
    let company = Company::new().await;
    let (provider, staff, grace) = company.with_provider(Provisioning::Create).await;
    let provisioning = company.iam.provisioning();
    let id = grace.user.id;
    provisioning.patch(&staff.entra, id, &replacing(json!({ "active": false })), None).await.unwrap();
    let code = company.returned(provider, "id-grace", "grace@example.com").await.unwrap();
    let refused = company.finished(code).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Suspended))), "{refused:?}");
    assert!(company.iam.federation().identities(&company.ada, id).await.unwrap().is_empty());

    // Whom the directory has deleted gets no account, neither the former one nor a new one.
    let code = company.returned(provider, "id-grace", "new@unknown.example").await.unwrap();
    provisioning.delete(&staff.entra, id, None).await.unwrap();
    assert!(company.finished(code).await.is_err());
    for email in ["grace@example.com", "new@unknown.example"] {
        assert_eq!(company.logged_in(provider, "id-grace", email).await, None, "{email}");
    }
    provisioning.create(&staff.entra, resource("grace", json!({}))).await.unwrap();
    let user = company.logged_in(provider, "id-grace", "grace@example.com").await.unwrap();
    assert_eq!((user.id, user.status), (id, UserStatus::Active));
}

#[tokio::test]
async fn a_person_whom_no_directory_knows_is_linked_by_the_address() {
    let company = Company::new().await;
    company.domain("example.com").await;
    let (provider, _, _) = company.with_provider(Provisioning::Link).await;
    let domains = company.iam.domains().list(&company.ada).await.unwrap().iter().map(|domain| domain.id).collect();
    let patch = IdentityProviderPatch { domains: Some(domains), ..IdentityProviderPatch::default() };
    company.iam.identity_providers().update(&company.ada, provider, patch).await.unwrap();
    let alan = company.user("alan@example.com", &[]).await;
    company.iam.users().verify_email(&company.system, "alan@example.com").await.unwrap();
    let user = company.logged_in(provider, "unknown", "alan@example.com").await.unwrap();
    assert_eq!(user.id, alan.id);
    // A known one is linked by its name there, and not by the address of another person.
    let user = company.logged_in(provider, "id-grace", "alan@example.com").await.unwrap();
    assert_eq!(user.email.as_str(), "grace@example.com");
}
