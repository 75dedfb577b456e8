#![cfg(test)]

use axum::http::StatusCode;
use chrono::TimeDelta;
use iam_core::domain::Domain;
use iam_core::identity_provider::{
    IdentityProvider, IdentityProviderPatch, NewIdentityProvider, Provisioning, SubjectClaim,
};
use iam_core::organization::NewOrganization;
use iam_core::role::PlacedRole;
use iam_core::{Caller, IdentityProviderId};

use crate::app::{Answer, App, CALLBACKS, EMAIL, PASSWORD, person};

const ISSUER: &str = "https://login.example.com";
const LIST: &str = "/console/identity-providers";
const NEW: &str = "/console/identity-providers/new";

/// The fields of the provider of [`signed`] as its page has them, except for the version.
const STORED: [(&str, &str); 8] = [
    ("name", "Acme"),
    ("slug", "acme"),
    ("issuer", ISSUER),
    ("clientId", "iam"),
    ("scopes", "openid email profile"),
    ("subjectClaim", "sub"),
    ("provisioning", "LINK"),
    ("enabled", "1"),
];

/// A console with an administrator that is signed in, a domain and a provider with a secret.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    domain: Domain,
    provider: IdentityProvider,
}

async fn signed() -> Signed {
    let app = App::with_federation().await;
    let ada = app.register(EMAIL).await;
    let domain = app.iam.domains().create(&ada, "example.com").await.unwrap();
    let new = NewIdentityProvider {
        name: "Acme".into(),
        issuer: ISSUER.into(),
        client_id: "iam".into(),
        client_secret: Some("very-secret".into()),
        ..NewIdentityProvider::default()
    };
    let provider = app.iam.identity_providers().create(&ada, new).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, domain, provider }
}

impl Signed {
    fn path(&self, action: &str) -> String {
        format!("{LIST}/{}{action}", self.provider.id)
    }

    async fn stored(&self) -> IdentityProvider {
        self.app.iam.identity_providers().get(&self.ada, self.provider.id).await.unwrap()
    }

    async fn page(&self) -> Answer {
        self.app.get(&self.path(""), &self.cookie).await
    }

    /// Sends the fields of the provider, with these in place of the stored ones.
    async fn save(&self, version: &str, changed: &[(&str, &str)]) -> Answer {
        let kept = STORED.into_iter().filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
        let fields: Vec<(&str, &str)> = kept.chain(changed.iter().copied()).chain([("version", version)]).collect();
        self.app.post_signed(&self.path(""), &self.cookie, &fields).await
    }
}

#[tokio::test]
async fn an_empty_list_says_what_to_do() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let answer = app.get(LIST, &cookie).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.body.contains("There is no identity provider yet") && answer.body.contains(NEW));
    assert!(answer.body.contains(r#"/identity-providers" aria-current="page">"#), "{}", answer.body);
}

#[tokio::test]
async fn a_new_provider_has_all_that_was_typed_and_shows_its_addresses() {
    let signed = signed().await;
    let Signed { app, ada, cookie, domain, .. } = &signed;
    let north = NewOrganization { name: "North".into(), ..NewOrganization::default() };
    let north = app.iam.organizations().create(ada, north).await.unwrap().organization;
    let page = app.get(NEW, cookie).await.body;
    assert!(page.contains(r#"value="openid email profile""#) && page.contains(r#"value="LINK" checked"#), "{page}");
    let domain_id = domain.id.to_string();
    let fields = [
        ("name", "Entra"),
        ("slug", ""),
        ("issuer", "https://entra.example"),
        ("clientId", "client"),
        ("clientSecret", "another-secret"),
        ("scopes", " openid  email "),
        ("domainIds", &*domain_id),
        ("trustsEmail", "1"),
        ("subjectClaim", "oid"),
        ("provisioning", "CREATE"),
        ("roles", "3"),
        ("role-0", "member"),
        ("organization-0", "north"),
        ("role-1", ""),
        ("role-2", "AUDITOR"),
        ("factorIsTrusted", "1"),
    ];
    let answer = app.post_signed(NEW, cookie, &fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let all = app.iam.identity_providers().list(ada).await.unwrap();
    let made = all.into_iter().find(|provider| provider.slug.as_str() == "entra").unwrap();
    assert_eq!(answer.location(), format!("{LIST}/{}?done=created", made.id));
    assert_eq!((made.issuer.as_str(), made.client_id.as_str()), ("https://entra.example", "client"));
    assert_eq!(made.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>(), ["openid", "email"]);
    assert!(made.client_secret.is_some() && made.trusts_email && made.factor_is_trusted && !made.enabled);
    assert_eq!((made.subject_claim, made.provisioning), (SubjectClaim::Oid, Provisioning::Create));
    assert_eq!(made.domain_ids, [domain.id]);
    let role = async |name: &str| app.iam.roles().by_name(ada, name).await.unwrap().unwrap().id;
    let expected = [
        PlacedRole { role_id: role("MEMBER").await, organization_id: Some(north.id) },
        PlacedRole { role_id: role("AUDITOR").await, organization_id: None },
    ];
    assert_eq!(made.roles, expected);

    let page = app.get(answer.location(), cookie).await.body;
    let callback = format!("<code class=\"secret\">{CALLBACKS}{}</code>", made.id);
    let logout = callback.replace("/callback/", "/backchannel-logout/");
    for shown in [&*callback, &*logout, r#"value="MEMBER""#, r#"value="North""#, r#"value="oid" selected"#] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(page.contains(&format!(r#"value="{domain_id}" checked"#)), "{page}");
    assert!(!page.contains("another-secret"), "{page}");
    let list = app.get(LIST, cookie).await.body;
    assert!(list.contains("https://entra.example") && list.contains(">example.com</td>"), "{list}");
}

#[tokio::test]
async fn a_mistake_is_shown_at_its_field_and_loses_nothing_but_the_secret() {
    let signed = signed().await;
    let before = signed.stored().await;
    let version = signed.page().await.hidden("version");
    for (field, wrong) in [
        ("name", ""),
        ("slug", "Not A Slug"),
        ("issuer", "login"),
        ("issuer", "https://broken.example"),
        ("clientId", "a b"),
        ("scopes", "email"),
        ("subjectClaim", "x"),
        ("provisioning", "x"),
        ("domainIds", "x"),
        ("role-0", "no such role"),
        ("role-0", "TENANT_ADMIN"),
        ("organization-0", "north"),
    ] {
        let kept = ("clientSecret", "typed-secret");
        let answer = signed.save(&version, &[(field, wrong), kept, ("trustsEmail", "1")]).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{field}: {}", answer.body);
        // The row of an organization without a role has its error at the role.
        let named = if field == "organization-0" { "role-0" } else { field };
        assert!(answer.body.contains(&format!(r#"id="{named}-error""#)), "{field}: {}", answer.body);
        assert!(answer.body.contains(r#"name="trustsEmail" type="checkbox" value="1" checked"#), "{field}");
        assert!(!answer.body.contains("typed-secret"), "{field}: {}", answer.body);
        assert_eq!(answer.hidden("version"), version);
    }
    let answer = signed.save(&version, &[("issuer", "https://broken.example")]).await;
    assert!(answer.body.contains("Issuer answers with 404 for its discovery document."), "{}", answer.body);
    let answer = signed.save(&version, &[("scopes", "openid a\"b")]).await;
    assert!(answer.body.contains("a&#34;b must be 1 to 100 visible characters"), "{}", answer.body);
    assert_eq!(signed.stored().await, before);
    let new = [("name", "<b>Kept"), ("issuer", "login"), ("subjectClaim", "sub"), ("provisioning", "OFF")];
    let answer = signed.app.post_signed(NEW, &signed.cookie, &new).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(r#"value="&#60;b&#62;Kept""#) && answer.body.contains(r#"value="OFF" checked"#));
    assert!(answer.body.contains("issuer-error") && answer.body.contains("clientId-error"), "{}", answer.body);
}

#[tokio::test]
async fn one_more_role_changes_nothing_yet() {
    let signed = signed().await;
    let before = signed.stored().await;
    let version = signed.page().await.hidden("version");
    for path in [NEW, &signed.path("")] {
        let typed = [("name", "Kept"), ("roles", "1"), ("role-0", "MEMBER"), ("more", "1"), ("version", &*version)];
        let answer = signed.app.post_signed(path, &signed.cookie, &typed).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert!(answer.body.contains(r#"id="role-1""#) && !answer.body.contains(r#"id="role-2""#), "{}", answer.body);
        assert!(answer.body.contains(r#"value="Kept""#) && answer.body.contains(r#"value="MEMBER""#));
        // The key Enter presses the first button of the form. It must not add a role.
        let (_, fields) = answer.body.split_once("<main").unwrap();
        let first = fields.split("<button").nth(1).unwrap();
        assert!(first.starts_with(" hidden></button>"), "{fields}");
        assert!(fields.contains("Show secret") && !fields.contains("Show password"), "{fields}");
    }
    assert_eq!(signed.stored().await, before);
}

#[tokio::test]
async fn a_provider_is_changed_unless_another_change_came_first() {
    let signed = signed().await;
    let version = signed.page().await.hidden("version");
    let domain = signed.domain.id.to_string();
    let changed = [("name", "Other"), ("slug", "other"), ("provisioning", "OFF"), ("domainIds", &*domain)];
    let answer = signed.save(&version, &changed).await;
    assert_eq!(answer.location(), signed.path("?done=saved"));
    let stored = signed.stored().await;
    assert_eq!((stored.name.as_str(), stored.slug.as_str()), ("Other", "other"));
    assert_eq!(stored.provisioning, Provisioning::Off);
    assert_eq!(stored.domain_ids, [signed.domain.id]);
    assert_eq!(stored.client_secret, signed.provider.client_secret, "an empty secret changes nothing");
    let answer = signed.save(&version, &changed).await;
    assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
    assert!(answer.body.contains("The identity provider has changed"), "{}", answer.body);
    let again = format!(r#"<a href="{}">Open it again</a>"#, signed.path(""));
    assert!(answer.body.contains(&again), "{}", answer.body);
    assert_eq!(answer.hidden("version"), version);
    assert_eq!(signed.save("", &[]).await.status, StatusCode::PRECONDITION_FAILED);
    assert_eq!(signed.stored().await, stored);
}

#[tokio::test]
async fn a_secret_is_replaced_and_removed_and_never_shown() {
    let signed = signed().await;
    let page = signed.page().await;
    assert!(page.body.contains(r#"id="removeSecret""#) && !page.body.contains("very-secret"), "{}", page.body);
    let version = page.hidden("version");
    let answer = signed.save(&version, &[("clientSecret", "next"), ("removeSecret", "1")]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("clientSecret-error"), "{}", answer.body);
    assert_eq!(signed.save(&version, &[("clientSecret", "next")]).await.status, StatusCode::SEE_OTHER);
    let replaced = signed.stored().await.client_secret;
    assert!(replaced.is_some() && replaced != signed.provider.client_secret);
    let version = signed.page().await.hidden("version");
    assert_eq!(signed.save(&version, &[("removeSecret", "1")]).await.status, StatusCode::SEE_OTHER);
    assert_eq!(signed.stored().await.client_secret, None);
    assert!(!signed.page().await.body.contains(r#"id="removeSecret""#));
}

#[tokio::test]
async fn all_but_a_new_name_asks_for_a_recent_proof_in_place() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    app.clock.advance(TimeDelta::minutes(11));
    let version = signed.page().await.hidden("version");
    assert_eq!(signed.save(&version, &[("name", "Renamed")]).await.status, StatusCode::SEE_OTHER);
    let version = signed.page().await.hidden("version");
    let typed = [&STORED[..], &[("version", &*version)]].concat();
    for (path, fields) in [(NEW, &typed[..]), (&*signed.path(""), &typed[..]), (&*signed.path("/delete"), &typed[..])] {
        let fields: Vec<_> =
            fields.iter().map(|(name, value)| (*name, if *name == "slug" { "late" } else { *value })).collect();
        let answer = app.post_signed(path, cookie, &fields).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}: {}", answer.body);
        assert!(answer.body.contains("proof-password") && answer.hidden("slug") == "late", "{path}: {}", answer.body);
    }
    assert_eq!(signed.stored().await.slug.as_str(), "acme");
    let answer = signed.save(&version, &[("slug", "late"), ("proof-password", PASSWORD)]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert_eq!(signed.stored().await.slug.as_str(), "late");
}

#[tokio::test]
async fn a_provider_is_removed_unless_it_has_changed() {
    let signed = signed().await;
    let Signed { app, ada, cookie, provider, .. } = &signed;
    let page = signed.page().await;
    assert!(page.body.contains("Linked persons cannot sign in through it any more"), "{}", page.body);
    let version = page.hidden("version");
    let patch = IdentityProviderPatch { name: Some("First".into()), ..IdentityProviderPatch::default() };
    app.iam.identity_providers().update(ada, provider.id, patch).await.unwrap();
    let answer = app.post_signed(&signed.path("/delete"), cookie, &[("version", &*version)]).await;
    assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
    assert!(answer.body.contains("Open it again"), "{}", answer.body);
    let version = signed.page().await.hidden("version");
    let answer = app.post_signed(&signed.path("/delete"), cookie, &[("version", &*version)]).await;
    let list = app.get(answer.location(), cookie).await.body;
    assert!(list.contains("The identity provider is removed") && list.contains("no identity provider yet"), "{list}");
}

#[tokio::test]
async fn an_installation_without_federation_says_so() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let answer = app.post_signed(NEW, &cookie, &STORED).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.body.contains("reaches no identity providers") && answer.body.contains(r#"value="Acme""#));
}

#[tokio::test]
async fn the_console_refuses_what_the_api_refuses_for_identity_providers() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    app.iam.users().create(ada, person("grace@example.com", "Grace")).await.unwrap();
    let version = signed.page().await.hidden("version");
    let fields = [&STORED[..], &[("version", &*version)]].concat();
    let grace = app.sign_in("grace@example.com").await;
    let eve = app.register("eve@example.org").await;
    let stranger = app.sign_in("eve@example.org").await;
    assert_eq!(app.get(LIST, &grace).await.status, StatusCode::FORBIDDEN);
    assert!(!app.get("/console", &grace).await.body.contains(LIST));
    assert_eq!(app.post_signed(NEW, &grace, &fields).await.status, StatusCode::FORBIDDEN);
    for action in ["", "/delete"] {
        // The provider of another tenant does not exist.
        for (other, status) in [(&grace, StatusCode::FORBIDDEN), (&stranger, StatusCode::NOT_FOUND)] {
            let answer = app.post_signed(&signed.path(action), other, &fields).await;
            assert_eq!(answer.status, status, "{action}: {}", answer.body);
        }
        // A form needs its token.
        assert_eq!(app.post(&signed.path(action), cookie, &fields).await.status, StatusCode::FORBIDDEN, "{action}");
    }
    assert_eq!(app.get(&signed.path(""), &stranger).await.status, StatusCode::NOT_FOUND);
    assert_eq!(signed.stored().await, signed.provider);
    assert!(app.iam.identity_providers().list(&eve).await.unwrap().is_empty());
    let unknown: IdentityProviderId = "01900000-0000-7000-8000-000000000000".parse().unwrap();
    assert_eq!(app.get(&format!("{LIST}/{unknown}"), cookie).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn who_may_only_see_or_rename_providers_does_only_that() {
    let signed = signed().await;
    let Signed { app, ada, .. } = &signed;
    app.person_with(ada, "grace@example.com", &["identity-providers:read"]).await;
    let grace = app.sign_in("grace@example.com").await;
    let list = app.get(LIST, &grace).await.body;
    assert!(list.contains(">Acme</a>") && !list.contains(NEW), "{list}");
    let page = app.get(&signed.path(""), &grace).await.body;
    assert!(page.contains("and may not change it") && page.contains("You may not see the domains"), "{page}");
    assert!(!page.contains(">Save</button>") && !page.contains("/delete"), "{page}");

    app.person_with(ada, "alan@example.com", &["identity-providers:read", "identity-providers:update"]).await;
    let alan = app.sign_in("alan@example.com").await;
    let version = signed.page().await.hidden("version");
    for (changed, status) in [(("slug", "alan"), StatusCode::FORBIDDEN), (("name", "Renamed"), StatusCode::SEE_OTHER)] {
        let kept = STORED.into_iter().filter(|(name, _)| *name != changed.0);
        let fields: Vec<(&str, &str)> = kept.chain([changed, ("version", &*version)]).collect();
        let answer = app.post_signed(&signed.path(""), &alan, &fields).await;
        assert_eq!(answer.status, status, "{changed:?}: {}", answer.body);
    }
    let stored = signed.stored().await;
    assert_eq!((stored.name.as_str(), stored.slug.as_str()), ("Renamed", "acme"));
}
