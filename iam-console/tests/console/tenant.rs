#![cfg(test)]

use axum::http::StatusCode;
use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::attribute::UnregisteredAttributes;
use iam_core::factor::SecondFactorPolicy;
use iam_core::tenant::{AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy, Tenant, TenantPatch};

use crate::app::{Answer, App, EMAIL, PASSWORD, person};

const PATH: &str = "/console/tenant";
const RETENTION: &str = "/console/tenant/retention";

struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
}

async fn signed() -> Signed {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie }
}

impl Signed {
    async fn stored(&self) -> Tenant {
        self.app.iam.tenants().get(&self.ada, self.ada.tenant()).await.unwrap()
    }

    async fn page(&self) -> Answer {
        self.app.get(PATH, &self.cookie).await
    }

    /// Sends the settings that a person has typed.
    async fn save(&self, version: &str, changed: &[(&str, &str)]) -> Answer {
        let stored = [
            ("name", "Engines"),
            ("slug", "engines"),
            ("passwordPolicy", "seed"),
            ("secondFactor", "OPTIONAL"),
            ("secondFactorGraceDays", "7"),
            ("passwordLogin", "ALLOWED"),
            ("emailLogin", "OFF"),
            ("authzenIdentifiers", "ID"),
            ("userAttributes", ""),
            ("organizationAttributes", ""),
            ("unregisteredAttributes", "ALLOWED"),
            ("version", version),
        ];
        let fields = stored.map(|(name, value)| {
            (name, changed.iter().find(|(found, _)| *found == name).map_or(value, |(_, value)| value))
        });
        let proof = changed.iter().filter(|(name, _)| name.starts_with("proof"));
        let fields: Vec<_> = fields.into_iter().chain(proof.copied()).collect();
        self.app.post_signed(PATH, &self.cookie, &fields).await
    }
}

#[tokio::test]
async fn every_setting_is_shown_and_changed() {
    let signed = signed().await;
    let version = signed.page().await.hidden("version");
    let changed = [
        ("passwordPolicy", "asvs-5"),
        ("secondFactor", "REQUIRED"),
        ("secondFactorGraceDays", "30"),
        ("passwordLogin", "FEDERATED"),
        ("emailLogin", "ON"),
        ("authzenIdentifiers", "NAME"),
        ("userAttributes", r#"[{"key": "floor", "type": "NUMBER", "personReads": true}]"#),
        ("organizationAttributes", r#"[{"key": "region", "type": "STRING", "searchable": true}]"#),
        ("unregisteredAttributes", "REFUSED"),
    ];
    let answer = signed.save(&version, &changed).await;
    assert_eq!(answer.location(), "/console/tenant?done=saved");
    let stored = signed.stored().await;
    assert_eq!((stored.name.as_str(), stored.slug.as_str()), ("Engines", "engines"));
    assert_eq!(stored.password_policy, PasswordPolicy::Asvs);
    assert_eq!((stored.second_factor, stored.second_factor_grace_days.days()), (SecondFactorPolicy::Required, 30));
    assert_eq!((stored.password_login, stored.email_login), (PasswordLogin::Federated, EmailLogin::On));
    assert_eq!(stored.authzen_identifiers, AuthzenIdentifiers::Name);
    assert_eq!(stored.user_attributes.to_text(), r#"[{"key":"floor","type":"NUMBER","personReads":true}]"#);
    assert!(stored.organization_attributes.get("region").unwrap().searchable);
    assert_eq!(stored.unregistered_attributes, UnregisteredAttributes::Refused);
    let page = signed.app.get(answer.location(), &signed.cookie).await.body;
    for shown in [
        r#"value="Engines""#,
        r#"value="asvs-5" selected"#,
        r#"value="REQUIRED" selected"#,
        r#"value="30""#,
        r#"value="ON" selected"#,
        r#"value="NAME" selected"#,
        r#"value="REFUSED" selected"#,
        "&#34;key&#34;:&#34;region&#34;",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(page.contains("The changes are saved."), "{page}");
}

/// Each part of the page is a form of its own.
#[tokio::test]
async fn a_form_changes_only_the_settings_that_it_has() {
    let signed = signed().await;
    let (version, before) = (signed.page().await.hidden("version"), signed.stored().await);
    let save = async |version: &str, name: &str, value: &str| {
        signed.app.post_signed(PATH, &signed.cookie, &[(name, value), ("version", version)]).await
    };
    let wrong = save(&version, "secondFactorGraceDays", "x").await;
    let slug = format!(r#"value="{}""#, before.slug.as_str());
    assert!(wrong.status == StatusCode::BAD_REQUEST && wrong.body.contains(&slug), "{}", wrong.body);
    assert_eq!(save(&version, "emailLogin", "ON").await.status, StatusCode::SEE_OTHER);
    let version = signed.page().await.hidden("version");
    assert_eq!(save(&version, "slug", "works").await.status, StatusCode::SEE_OTHER);
    let stored = signed.stored().await;
    assert_eq!((stored.slug.as_str(), stored.email_login), ("works", EmailLogin::On));
    let expected =
        Tenant { slug: stored.slug.clone(), version: stored.version, updated_at: stored.updated_at, ..before };
    assert_eq!(stored, Tenant { email_login: EmailLogin::On, ..expected });
}

#[tokio::test]
async fn a_mistake_is_shown_at_its_field_and_loses_nothing_that_was_typed() {
    let signed = signed().await;
    let (version, before) = (signed.page().await.hidden("version"), signed.stored().await);
    for (field, wrong) in [
        ("name", ""),
        ("slug", "Not A Slug"),
        ("passwordPolicy", "none"),
        ("secondFactor", "x"),
        ("secondFactorGraceDays", "91"),
        ("secondFactorGraceDays", "x"),
        ("passwordLogin", "x"),
        ("emailLogin", "x"),
        ("authzenIdentifiers", "x"),
        ("userAttributes", "x"),
        ("userAttributes", r#"[{"key": "a", "type": "STRING", "more": 1}]"#),
        ("userAttributes", r#"[{"key": "<script>", "type": "STRING"}]"#),
        ("organizationAttributes", r#"[{"key": "a", "type": "STRING", "inToken": true}]"#),
        ("unregisteredAttributes", "x"),
    ] {
        // The first value of a field counts.
        let answer = signed.save(&version, &[(field, wrong), ("name", "<b>Kept")]).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{field}: {}", answer.body);
        assert!(answer.body.contains(&format!(r#"id="{field}-error""#)), "{field}: {}", answer.body);
        assert!(field == "name" || answer.body.contains(r#"value="&#60;b&#62;Kept""#), "{field}: {}", answer.body);
    }
    assert_eq!(signed.stored().await, before);
}

#[tokio::test]
async fn a_mistake_in_a_definition_says_which_definition_and_which_member() {
    let signed = signed().await;
    let version = signed.page().await.hidden("version");
    let typed = r#"[
        {"key": "a", "type": "STRING"},
        {"type": "TEXT", "searchable": 1, "colour": true},
        {"key": 7, "type": "NUMBER"},
        "b"
    ]"#;
    let refused = signed.save(&version, &[("userAttributes", typed)]).await.body;
    for wrong in [
        "Definition 2: key must be given.",
        "Definition 2: type must be one of STRING, NUMBER, BOOLEAN, STRINGS, OBJECT.",
        "Definition 2: searchable must be true or false.",
        "Definition 2: colour is not a member that a definition has.",
        "Definition 3: key must be a text in quotation marks.",
        "Definition 4: It must be an object with members",
    ] {
        assert!(refused.contains(wrong), "{wrong}: {refused}");
    }
    assert!(!refused.contains("Definition 1:"), "{refused}");
    let refused = signed.save(&version, &[("organizationAttributes", "[\n{")]).await.body;
    assert!(refused.contains("Organization attributes must be a list") && refused.contains("line 2"), "{refused}");
}

#[tokio::test]
async fn the_settings_say_how_many_must_set_up_a_second_factor() {
    let signed = signed().await;
    let page = signed.page().await.body;
    assert!(page.contains("Now, 1 of 1 active people has none"), "{page}");
    let new = person("grace@example.com", "Grace");
    signed.app.iam.users().create(&signed.ada, new).await.unwrap();
    let page = signed.page().await.body;
    assert!(page.contains("Now, 2 of 2 active people have none"), "{page}");
}

#[tokio::test]
async fn an_old_page_changes_nothing() {
    let signed = signed().await;
    let version = signed.page().await.hidden("version");
    let patch = TenantPatch { name: Some("First".into()), ..TenantPatch::default() };
    signed.app.iam.tenants().update(&signed.ada, signed.ada.tenant(), patch).await.unwrap();
    let answer = signed.save(&version, &[]).await;
    assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
    assert!(answer.body.contains("The tenant has changed") && answer.body.contains(r#"value="Engines""#));
    assert!(answer.body.contains(r#"<a href="/console/tenant">Open it again</a>"#), "{}", answer.body);
    assert_eq!(signed.stored().await.name.as_str(), "First");
    assert_eq!(signed.save("", &[]).await.status, StatusCode::PRECONDITION_FAILED);
}

#[tokio::test]
async fn a_short_name_that_another_tenant_has_is_refused_in_place() {
    let signed = signed().await;
    let eve = signed.app.register("eve@example.org").await;
    let patch = TenantPatch { slug: Some("taken".into()), ..TenantPatch::default() };
    signed.app.iam.tenants().update(&eve, eve.tenant(), patch).await.unwrap();
    let version = signed.page().await.hidden("version");
    let answer = signed.save(&version, &[("slug", "taken")]).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.body.contains(r#"value="taken""#) && answer.body.contains(r#"role="alert""#), "{}", answer.body);
}

#[tokio::test]
async fn the_retention_is_set_and_a_shorter_one_waits() {
    let signed = signed().await;
    let Signed { app, ada, cookie } = &signed;
    assert!(signed.page().await.body.contains("All entries are kept forever."));
    for wrong in ["0", "x", "-1", "36501", "1.5"] {
        let answer = app.post_signed(RETENTION, cookie, &[("retentionDays", wrong)]).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{wrong}");
        let has_kept = answer.body.contains(&format!(r#"value="{wrong}""#));
        assert!(has_kept && answer.body.contains("retentionDays-error"), "{wrong}: {}", answer.body);
    }
    let answer = app.post_signed(RETENTION, cookie, &[("retentionDays", "365")]).await;
    assert_eq!(answer.location(), "/console/tenant?done=saved");
    let page = signed.page().await.body;
    assert!(page.contains("They are kept for 365 days from") && page.contains(r#"value="365""#), "{page}");
    app.clock.advance(TimeDelta::days(31));
    let cookie = app.sign_in(EMAIL).await;
    let page = app.get(PATH, &cookie).await.body;
    assert!(page.contains("Entries are kept for 365 days.") && page.contains("Remove old entries"), "{page}");
    let answer = app.post_signed("/console/tenant/retention/apply", &cookie, &[]).await;
    let page = app.get(answer.location(), &cookie).await.body;
    assert!(page.contains("No entry is older than the retention."), "{page}");
    let answer = app.post_signed(RETENTION, &cookie, &[("retentionDays", "")]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(app.iam.audit().retention(ada).await.unwrap().days, None);
}

#[tokio::test]
async fn changes_ask_for_a_recent_proof_in_place() {
    let signed = signed().await;
    signed.app.clock.advance(TimeDelta::minutes(11));
    let version = signed.page().await.hidden("version");
    let changed = [("secondFactor", "REQUIRED")];
    let answer = signed.save(&version, &changed).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert_eq!(answer.hidden("secondFactor"), "REQUIRED");
    for (path, fields) in [(RETENTION, &[("retentionDays", "365")][..]), ("/console/tenant/retention/apply", &[])] {
        let answer = signed.app.post_signed(path, &signed.cookie, fields).await;
        assert!(answer.status == StatusCode::FORBIDDEN && answer.body.contains("proof-password"), "{path}");
    }
    assert_eq!(signed.stored().await.second_factor, SecondFactorPolicy::Optional);
    let answer = signed.save(&version, &[changed[0], ("proof-password", PASSWORD)]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert_eq!(signed.stored().await.second_factor, SecondFactorPolicy::Required);
}

#[tokio::test]
async fn parts_that_a_person_may_not_see_are_hidden_and_the_console_refuses_what_the_api_refuses() {
    let signed = signed().await;
    let Signed { app, ada, cookie } = &signed;
    app.iam.users().create(ada, person("grace@example.com", "Grace")).await.unwrap();
    let before = signed.stored().await;
    let grace = app.sign_in("grace@example.com").await;
    let page = app.get(PATH, &grace).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains("You may not see the settings") && page.body.contains("how long the audit log"));
    assert!(!page.body.contains("passwordPolicy"), "{}", page.body);
    let fields = [
        ("name", "Grace's"),
        ("slug", "grace"),
        ("passwordPolicy", "seed"),
        ("secondFactor", "OFF"),
        ("secondFactorGraceDays", "0"),
        ("passwordLogin", "FEDERATED"),
        ("emailLogin", "ON"),
        ("authzenIdentifiers", "NAME"),
        ("version", &*signed.page().await.hidden("version")),
        ("retentionDays", "1"),
    ]
    .map(|(name, value)| (name, value.to_owned()));
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    for path in [PATH, RETENTION, "/console/tenant/retention/apply"] {
        let answer = app.post_signed(path, &grace, &fields).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}: {}", answer.body);
        assert_eq!(app.post(path, cookie, &fields).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert_eq!(signed.stored().await, before);
    assert_eq!(app.iam.audit().retention(ada).await.unwrap().days, None);
}
