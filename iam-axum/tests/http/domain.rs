//! Domains (`docs/federation.md#domains`).

use chrono::TimeDelta;
use iam_core::Caller;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::Person;
use crate::request::{Response, each};

in_memory![
    a_domain_is_in_a_tenant_once,
    a_domain_is_verified_in_one_tenant_at_a_time,
    a_domain_without_its_record_for_seven_days_is_pending,
    a_new_domain_shows_the_record_to_publish,
    a_domain_is_kept_in_lower_case_as_a_labels,
    an_invalid_domain_is_400_and_named,
    a_repeated_request_adds_no_second_domain,
    domains_are_listed_by_name_and_got_and_removed,
    a_published_record_verifies_the_domain,
    the_record_of_another_tenant_proves_nothing,
    a_failed_check_is_409_says_what_was_found_and_is_noted,
    an_installation_without_the_dns_is_503,
    trusted_code_verifies_without_a_record,
    a_tenant_has_fifty_domains_at_most,
];

impl TestApp {
    /// Adds a domain.
    pub(crate) async fn domain(&self, by: &Person, name: &str) -> Value {
        self.try_domain(by, name).await.created()
    }

    async fn try_domain(&self, by: &Person, name: &str) -> Response {
        self.post("/domains").by(by).json(&json!({ "domain": name })).send().await
    }

    /// Publishes the record of a domain.
    pub(crate) fn publish(&self, domain: &Value) {
        let record = |member: &str| domain["record"][member].as_str().unwrap();
        self.zone.publish(record("name"), &["v=spf1 -all", record("value")]);
    }

    async fn verify(&self, by: &Person, domain: &Value) -> Response {
        self.post(&path(domain, "/verify")).by(by).send().await
    }

    async fn shown_domain(&self, by: &Person, domain: &Value) -> Value {
        self.get(&path(domain, "")).by(by).send().await.ok()
    }
}

fn path(domain: &Value, rest: &str) -> String {
    format!("/domains/{}{rest}", domain["id"].as_str().unwrap())
}

async fn a_new_domain_shows_the_record_to_publish(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut domain = app.domain(&ada, "example.com").await;
    let value = domain["record"]["value"].as_str().unwrap();
    assert_eq!(value.strip_prefix("iam-domain=").unwrap().len(), 43);
    let other = app.domain(&ada, "example.org").await;
    assert_ne!(other["record"]["value"], value);
    let value = value.to_owned();
    assert_eq!(app.shown_domain(&ada, &domain).await, domain);
    assert!(domain.as_object_mut().unwrap().remove("id").is_some());
    let expected = json!({
        "domain": "example.com",
        "status": "PENDING",
        "record": { "type": "TXT", "name": "_iam-challenge.example.com", "value": value },
        "verifiedAt": null,
        "checkedAt": null,
        "createdAt": app.now(),
    });
    assert_eq!(domain, expected);
}

async fn a_domain_is_kept_in_lower_case_as_a_labels(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let domain = app.domain(&ada, "Bücher.Example").await;
    assert_eq!(domain["domain"], "xn--bcher-kva.example");
    assert_eq!(domain["record"]["name"], "_iam-challenge.xn--bcher-kva.example");
}

async fn an_invalid_domain_is_400_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for body in [json!({}), json!({ "domain": "localhost" }), json!({ "domain": "https://example.com" })] {
        let answer = app.post("/domains").by(&ada).json(&body).send().await;
        assert_eq!(answer.invalid_fields(), ["domain"], "{body}");
    }
    let longest = format!("{}.example", ["a".repeat(57), "b".repeat(57), "c".repeat(57), "d".repeat(56)].join("."));
    assert_eq!(longest.len(), 238);
    app.try_domain(&ada, &format!("a{longest}")).await.problem("validation-error");
    app.domain(&ada, &longest).await;
}

async fn a_domain_is_in_a_tenant_once(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.net").await];
    app.domain(&ada, "example.com").await;
    assert_eq!(app.try_domain(&ada, "EXAMPLE.com").await.detail("conflict"), "the tenant has this domain already.");
    app.domain(&ada, "mail.example.com").await;
    app.domain(&eve, "example.com").await;
}

async fn a_repeated_request_adds_no_second_domain(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let add =
        || app.post("/domains").by(&ada).header("idempotency-key", "one").json(&json!({ "domain": "example.com" }));
    assert_eq!(add().send().await.created(), add().send().await.created());
}

async fn domains_are_listed_by_name_and_got_and_removed(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.net").await];
    let second = app.domain(&ada, "b.example").await;
    let first = app.domain(&ada, "a.example").await;
    app.domain(&eve, "c.example").await;
    let list = || app.get("/domains").by(&ada);
    assert_eq!(list().send().await.ok(), json!({ "data": [first, second] }));
    app.get(&path(&first, "")).by(&eve).send().await.problem("not-found");
    app.verify(&eve, &first).await.problem("not-found");
    app.delete(&path(&first, "")).by(&eve).send().await.problem("not-found");
    app.delete(&path(&first, "")).by(&ada).send().await.no_content();
    app.get(&path(&first, "")).by(&ada).send().await.problem("not-found");
    assert_eq!(each(&list().send().await.ok(), "domain"), ["b.example"]);
}

async fn a_published_record_verifies_the_domain(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let domain = app.domain(&ada, "example.com").await;
    app.publish(&domain);
    app.pass(TimeDelta::seconds(1));
    let verified = app.verify(&ada, &domain).await.ok();
    assert_eq!((&verified["status"], &verified["verifiedAt"]), (&json!("VERIFIED"), &json!(app.now())));
    assert_eq!(verified["checkedAt"], app.now());
    assert_eq!(app.shown_domain(&ada, &domain).await, verified);
    app.pass(TimeDelta::seconds(1));
    let again = app.verify(&ada, &domain).await.ok();
    assert_eq!((&again["verifiedAt"], &again["checkedAt"]), (&verified["verifiedAt"], &json!(app.now())));
}

async fn the_record_of_another_tenant_proves_nothing(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.net").await];
    let [mine, theirs] = [app.domain(&ada, "example.com").await, app.domain(&eve, "example.com").await];
    app.publish(&mine);
    assert!(app.verify(&eve, &theirs).await.detail("conflict").starts_with("the record has another value: "));
    app.verify(&ada, &mine).await.ok();
}

async fn a_failed_check_is_409_says_what_was_found_and_is_noted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let domain = app.domain(&ada, "example.com").await;
    let name = "_iam-challenge.example.com";
    app.pass(TimeDelta::seconds(1));
    let detail = app.verify(&ada, &domain).await.detail("conflict");
    assert_eq!(detail, "there is no record of type txt with this name. new records may take an hour.");
    app.zone.publish(name, &["iam-domain=another", "\"quoted\""]);
    let detail = app.verify(&ada, &domain).await.detail("conflict");
    assert_eq!(detail, r#"the record has another value: "iam-domain=another", "\"quoted\""."#);
    app.zone.fail(name, "SERVFAIL");
    let detail = app.verify(&ada, &domain).await.detail("conflict");
    assert_eq!(detail, "the record could not be looked up: servfail.");
    let shown = app.shown_domain(&ada, &domain).await;
    assert_eq!((&shown["status"], &shown["checkedAt"]), (&json!("PENDING"), &json!(app.now())));
}

async fn a_domain_is_verified_in_one_tenant_at_a_time(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.net").await];
    let [mine, theirs] = [app.domain(&ada, "example.com").await, app.domain(&eve, "example.com").await];
    app.publish(&mine);
    app.verify(&ada, &mine).await.ok();
    app.publish(&theirs);
    app.pass(TimeDelta::seconds(1));
    let refused = app.verify(&eve, &theirs).await.detail("conflict");
    assert!(refused.starts_with("the domain is verified in another tenant."), "{refused}");
    let shown = app.shown_domain(&eve, &theirs).await;
    assert_eq!((&shown["status"], &shown["checkedAt"]), (&json!("PENDING"), &json!(app.now())));
    app.delete(&path(&mine, "")).by(&ada).send().await.no_content();
    app.verify(&eve, &theirs).await.ok();
}

async fn a_domain_without_its_record_for_seven_days_is_pending(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let domain = app.domain(&ada, "example.com").await;
    app.publish(&domain);
    app.verify(&ada, &domain).await.ok();
    app.zone.publish("_iam-challenge.example.com", &[]);
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    let id = domain["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(app.iam.check_domains().await.unwrap(), 0, "it was checked just now");
    for (day, is_verified) in [(1, true), (2, true), (7, true), (8, false)] {
        app.pass(TimeDelta::days(day) - (app.iam.now() - added_at(&domain)));
        assert_eq!(app.iam.check_domains().await.unwrap(), 1);
        assert_eq!(app.iam.domains().get(&system, id).await.unwrap().verified_at.is_some(), is_verified, "{day}");
    }
    app.pass(TimeDelta::days(1));
    assert_eq!(app.iam.check_domains().await.unwrap(), 0, "a PENDING domain is not checked");
}

/// When a domain was added.
fn added_at(domain: &Value) -> iam_core::clock::Timestamp {
    domain["createdAt"].as_str().unwrap().parse().unwrap()
}

async fn an_installation_without_the_dns_is_503(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let domain = app.domain(&ada, "example.com").await;
    app.publish(&domain);
    let offline = app.offline().await;
    offline.verify(&ada, &domain).await.problem("unavailable");
    assert_eq!(offline.iam.check_domains().await.unwrap(), 0);
}

async fn trusted_code_verifies_without_a_record(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let domain = app.domain(&ada, "example.com").await;
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    let id = domain["id"].as_str().unwrap().parse().unwrap();
    let caller = app.iam.authenticate(&ada.access, Default::default()).await.unwrap();
    app.iam.domains().trust(&caller, id).await.unwrap_err();
    app.iam.domains().trust(&system, id).await.unwrap();
    assert_eq!(app.shown_domain(&ada, &domain).await["status"], "VERIFIED");
    app.pass(TimeDelta::days(30));
    assert_eq!(app.iam.check_domains().await.unwrap(), 0, "it needs no record");
}

async fn a_tenant_has_fifty_domains_at_most(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for number in 0..50 {
        app.domain(&ada, &format!("d{number}.example")).await;
    }
    let detail = app.try_domain(&ada, "one-more.example").await.detail("conflict");
    assert_eq!(detail, "the tenant has the maximum number of domains. remove one first.");
}
