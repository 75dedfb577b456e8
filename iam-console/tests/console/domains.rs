#![cfg(test)]

use axum::http::StatusCode;
use iam_core::domain::{Domain, DomainStatus};
use iam_core::identity_provider::NewIdentityProvider;
use iam_core::{Caller, DomainId};

use crate::app::{Answer, App, EMAIL, person};

/// A console with an administrator that is signed in, and a domain.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    domain: Domain,
}

async fn signed() -> Signed {
    let app = App::with_federation().await;
    let ada = app.register(EMAIL).await;
    let domain = app.iam.domains().create(&ada, "example.com").await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, domain }
}

impl Signed {
    fn path(&self, action: &str) -> String {
        format!("/console/domains/{}{action}", self.domain.id)
    }

    async fn stored(&self) -> Domain {
        self.app.iam.domains().get(&self.ada, self.domain.id).await.unwrap()
    }

    async fn verify(&self) -> Answer {
        self.app.post_signed(&self.path("/verify"), &self.cookie, &[]).await
    }
}

#[tokio::test]
async fn an_empty_list_says_what_to_do() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let answer = app.get("/console/domains", &cookie).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.body.contains("There is no domain yet") && answer.body.contains("/console/domains/new"));
    assert!(answer.body.contains(r#"/domains" aria-current="page">"#), "{}", answer.body);
}

#[tokio::test]
async fn a_new_domain_shows_its_record_and_a_mistake_loses_nothing_that_was_typed() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    let path = "/console/domains/new";
    let answer = app.post_signed(path, cookie, &[("domain", "<b>localhost")]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(r#"value="&#60;b&#62;localhost""#) && answer.body.contains("domain-error"));
    let answer = app.post_signed(path, cookie, &[("domain", "EXAMPLE.com")]).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.body.contains("The tenant has this domain already."), "{}", answer.body);

    let answer = app.post_signed(path, cookie, &[("domain", " Mail.example.com ")]).await;
    let domains = app.iam.domains().list(ada).await.unwrap();
    let made = domains.iter().find(|domain| domain.name.as_str() == "mail.example.com").unwrap();
    assert_eq!(answer.location(), format!("/console/domains/{}?done=added", made.id));
    let page = app.get(answer.location(), cookie).await.body;
    for shown in [&*made.record_name(), &*made.record_value(), "Pending", "The domain is added."] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let list = app.get("/console/domains", cookie).await.body;
    assert!(list.contains(">example.com</a>") && list.contains(">mail.example.com</a>"), "{list}");
}

#[tokio::test]
async fn a_check_says_what_was_found() {
    let signed = signed().await;
    let answer = signed.verify().await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.body.contains("There is no record of type TXT with this name."), "{}", answer.body);
    assert_eq!(signed.stored().await.checked_at, Some(signed.app.iam.now()));
    signed.app.zone.publish(&signed.domain);
    let answer = signed.verify().await;
    assert_eq!(answer.location(), signed.path("?done=verified"));
    assert_eq!(signed.stored().await.status(), DomainStatus::Verified);
    let page = signed.app.get(answer.location(), &signed.cookie).await.body;
    assert!(page.contains("The domain is verified.") && page.contains(">Verified</span>"), "{page}");
}

#[tokio::test]
async fn an_installation_without_the_dns_says_so() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let domain = app.iam.domains().create(&ada, "example.com").await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    let answer = app.post_signed(&format!("/console/domains/{}/verify", domain.id), &cookie, &[]).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.body.contains("looks up no records of the DNS"), "{}", answer.body);
}

#[tokio::test]
async fn a_domain_is_removed_unless_a_provider_names_it() {
    let signed = signed().await;
    let Signed { app, ada, cookie, domain } = &signed;
    let new = NewIdentityProvider {
        name: "Acme".into(),
        issuer: "https://login.example.com".into(),
        client_id: "iam".into(),
        domains: vec![domain.id],
        ..NewIdentityProvider::default()
    };
    let provider = app.iam.identity_providers().create(ada, new).await.unwrap();
    let answer = app.post_signed(&signed.path("/delete"), cookie, &[]).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.body.contains("An identity provider names this domain."), "{}", answer.body);
    app.iam.identity_providers().delete(ada, provider.id).await.unwrap();
    let answer = app.post_signed(&signed.path("/delete"), cookie, &[]).await;
    let list = app.get(answer.location(), cookie).await.body;
    assert!(list.contains("The domain is removed.") && list.contains("There is no domain yet"), "{list}");
}

#[tokio::test]
async fn the_console_refuses_what_the_api_refuses_for_domains() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    app.iam.users().create(ada, person("grace@example.com", "Grace")).await.unwrap();
    app.zone.publish(&signed.domain);
    let grace = app.sign_in("grace@example.com").await;
    let eve = app.register("eve@example.org").await;
    let stranger = app.sign_in("eve@example.org").await;
    assert_eq!(app.get("/console/domains", &grace).await.status, StatusCode::FORBIDDEN);
    assert!(!app.get("/console", &grace).await.body.contains("/console/domains"));
    let new = [("domain", "example.net")];
    assert_eq!(app.post_signed("/console/domains/new", &grace, &new).await.status, StatusCode::FORBIDDEN);
    for action in ["/verify", "/delete"] {
        // The domain of another tenant does not exist.
        for (other, status) in [(&grace, StatusCode::FORBIDDEN), (&stranger, StatusCode::NOT_FOUND)] {
            let answer = app.post_signed(&signed.path(action), other, &[]).await;
            assert_eq!(answer.status, status, "{action}: {}", answer.body);
        }
        // A form needs its token.
        assert_eq!(app.post(&signed.path(action), cookie, &[]).await.status, StatusCode::FORBIDDEN, "{action}");
    }
    assert_eq!(app.get(&signed.path(""), &stranger).await.status, StatusCode::NOT_FOUND);
    assert_eq!(signed.stored().await, signed.domain);
    assert!(app.iam.domains().list(&eve).await.unwrap().is_empty());
    let unknown: DomainId = "01900000-0000-7000-8000-000000000000".parse().unwrap();
    assert_eq!(app.get(&format!("/console/domains/{unknown}"), cookie).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn who_may_only_see_domains_gets_no_buttons() {
    let signed = signed().await;
    let Signed { app, ada, .. } = &signed;
    app.person_with(ada, "grace@example.com", &["domains:read"]).await;
    let grace = app.sign_in("grace@example.com").await;
    let list = app.get("/console/domains", &grace).await.body;
    assert!(list.contains(">example.com</a>") && !list.contains("/domains/new"), "{list}");
    let page = app.get(&signed.path(""), &grace).await.body;
    assert!(page.contains(&signed.domain.record_value()), "{page}");
    assert!(!page.contains("/verify") && !page.contains("/delete"), "{page}");
}
