//! Identity providers (`docs/federation.md#providers`).

use chrono::TimeDelta;
use serde_json::{Value, json};
use test_support::identity_provider::ISSUER;

use crate::app::TestApp;
use crate::people::{Person, with};
use crate::request::{Response, each};

in_memory![
    a_slug_is_unique_in_the_tenant,
    a_provider_is_made_with_defaults_and_never_shows_its_secret,
    a_provider_shows_all_that_it_was_given,
    every_invalid_field_is_named,
    what_a_provider_refers_to_must_exist,
    a_role_with_all_permissions_is_400,
    a_role_of_a_provider_gets_no_permission_that_its_giver_holds_for_a_time,
    an_issuer_that_cannot_be_used_is_400_and_says_why,
    an_issuer_is_read_over_https_only,
    a_new_issuer_is_checked_like_that_of_a_new_provider,
    a_change_changes_what_it_names,
    null_removes_the_secret,
    a_repeated_request_makes_no_second_provider,
    providers_are_listed_by_name_and_removed,
    a_change_needs_the_version_that_it_names,
    another_tenant_finds_no_provider,
    a_domain_that_a_provider_names_is_409,
    all_permissions_and_a_fresh_session_are_needed_for_all_but_the_name,
    no_api_key_makes_changes_or_removes_a_provider,
    an_installation_without_federation_is_503,
    a_tenant_has_twenty_providers_at_most,
];

impl TestApp {
    /// Makes a provider with these members in place of the smallest ones.
    pub(crate) async fn provider(&self, by: &Person, members: &Value) -> Value {
        self.try_provider(by, members).await.created()
    }

    async fn try_provider(&self, by: &Person, members: &Value) -> Response {
        let body = with(json!({ "name": "Acme", "issuer": ISSUER, "clientId": "iam" }), members);
        self.post("/identity-providers").by(by).json(&body).send().await
    }

    async fn change_provider(&self, by: &Person, provider: &Value, change: &Value) -> Response {
        self.patch(&path(provider)).by(by).json(change).send().await
    }
}

fn path(provider: &Value) -> String {
    format!("/identity-providers/{}", provider["id"].as_str().unwrap())
}

async fn a_role_of_a_provider_gets_no_permission_that_its_giver_holds_for_a_time(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.permit(&bob, &["roles:update"]).await;
    app.permit_until(&bob, &["sessions:read"], None, Some(app.iam.now() + TimeDelta::hours(1))).await;
    let [provided, free] = [app.role(&ada, "PROVIDED", &[]).await, app.role(&ada, "FREE", &[]).await];
    app.provider(&ada, &json!({ "roles": [{ "roleId": provided }] })).await;
    let add = async |role: &str| {
        let change = json!({ "permissions": ["sessions:read"] });
        app.patch(&format!("/roles/{role}")).by(&bob).json(&change).send().await
    };
    add(&provided).await.escalates();
    add(&free).await.ok();
}

async fn a_provider_is_made_with_defaults_and_never_shows_its_secret(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let provider = app.provider(&ada, &json!({ "clientSecret": "very-secret" })).await;
    let id = provider["id"].as_str().unwrap();
    let expected = json!({
        "id": id,
        "name": "Acme",
        "slug": "acme",
        "issuer": ISSUER,
        "clientId": "iam",
        "scopes": ["openid", "email", "profile"],
        "domainIds": [],
        "trustsEmail": false,
        "subjectClaim": "sub",
        "provisioning": "LINK",
        "roles": [],
        "factorIsTrusted": false,
        "enabled": true,
        "callbackUrl": format!("https://iam.example/api/v1/auth/federation/callback/{id}"),
        "createdAt": app.now(),
        "updatedAt": app.now(),
    });
    assert_eq!(provider, expected);
    assert_eq!(app.get(&path(&provider)).by(&ada).send().await.ok(), expected);
    let entries = app.audit(&ada, &[("resourceType", "IDENTITY_PROVIDER")]).await;
    assert!(!json!(entries).to_string().contains("very-secret"));
}

async fn a_provider_shows_all_that_it_was_given(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let domain = app.domain(&ada, "example.com").await;
    let role = app.role_id(&ada, "MEMBER").await;
    let organization = app.organization(&ada, "branch").await;
    let given = json!({
        "slug": "entra",
        "scopes": ["openid", "api://iam/.default"],
        "domainIds": [domain["id"]],
        "trustsEmail": true,
        "subjectClaim": "oid",
        "provisioning": "CREATE",
        "roles": [{ "roleId": role, "organizationId": organization }, { "roleId": role, "organizationId": null }],
        "factorIsTrusted": true,
        "enabled": false,
    });
    let provider = app.provider(&ada, &given).await;
    assert_eq!(with(provider.clone(), &given), provider);
}

async fn every_invalid_field_is_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({
        "name": "",
        "slug": "No",
        "issuer": "login",
        "clientId": "a b",
        "clientSecret": "",
        "scopes": ["email", "a b"],
    });
    let answer = app.try_provider(&ada, &body).await;
    let expected = ["name", "slug", "issuer", "clientId", "clientSecret", "scopes", "scopes[1]"];
    assert_eq!(answer.invalid_fields(), expected);
    let answer = app.try_provider(&ada, &json!({ "domainIds": ["x"], "roles": [{}] })).await;
    assert_eq!(answer.invalid_fields(), ["domainIds[0]", "roles[0].roleId"]);
    let twice = json!([ada.tenant, ada.tenant]);
    let roles = json!([{ "roleId": ada.tenant }, { "roleId": ada.tenant }]);
    let answer = app.try_provider(&ada, &json!({ "domainIds": twice, "roles": roles })).await;
    assert_eq!(answer.invalid_fields(), ["domainIds[1]", "roles[1].roleId"]);
}

async fn what_a_provider_refers_to_must_exist(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.net").await];
    let domain = app.domain(&eve, "example.com").await;
    let role = app.role_id(&ada, "MEMBER").await;
    let refused = async |members: Value| app.try_provider(&ada, &members).await.fields("not-found");
    assert_eq!(refused(json!({ "domainIds": [domain["id"]] })).await, ["domainIds[0]"]);
    let theirs = app.role_id(&eve, "MEMBER").await;
    assert_eq!(refused(json!({ "roles": [{ "roleId": theirs }] })).await, ["roles[0].roleId"]);
    let nowhere = json!({ "roles": [{ "roleId": role, "organizationId": ada.tenant }] });
    assert_eq!(refused(nowhere).await, ["roles[0].organizationId"]);
}

async fn a_role_with_all_permissions_is_400(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let role = app.role_id(&ada, "TENANT_ADMIN").await;
    let roles = json!({ "roles": [{ "roleId": role }] });
    assert_eq!(app.try_provider(&ada, &roles).await.invalid_fields(), ["roles[0].roleId"]);
    let provider = app.provider(&ada, &json!({})).await;
    assert_eq!(app.change_provider(&ada, &provider, &roles).await.invalid_fields(), ["roles[0].roleId"]);
}

async fn an_issuer_that_cannot_be_used_is_400_and_says_why(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let refused = async |issuer: &str| {
        let answer = app.try_provider(&ada, &json!({ "issuer": issuer })).await;
        assert_eq!(answer.invalid_fields(), ["issuer"]);
        answer.problem("validation-error")["errors"][0]["message"].as_str().unwrap().to_owned()
    };
    let broken = "https://broken.example";
    let expected = "cannot be reached for its discovery document: the host leads to no public address";
    assert_eq!(refused(broken).await, expected);
    app.providers.answer(broken, 404, "");
    assert_eq!(refused(broken).await, "answers with 404 for its discovery document");
    app.providers.answer(broken, 200, "<html>");
    assert_eq!(refused(broken).await, "is no provider: its discovery document is not JSON with the required members");
    for (members, expected) in [
        (json!({ "issuer": ISSUER }), "is not the issuer that its discovery document names: https://login.example.com"),
        (
            json!({ "issuer": format!("{broken}/") }),
            "is not the issuer that its discovery document names: https://broken.example/",
        ),
        (json!({ "response_types_supported": ["id_token"] }), "does not support the response type code"),
        (json!({ "code_challenge_methods_supported": ["plain"] }), "does not support the code challenge method S256"),
        (
            json!({ "id_token_signing_alg_values_supported": ["HS256"] }),
            "signs ID tokens by none of RS256, PS256, ES256 and EdDSA",
        ),
        (json!({ "token_endpoint": "http://broken.example/token" }), "has an endpoint without https"),
        (json!({ "jwks_uri": null }), "has no usable jwks_uri in its discovery document"),
    ] {
        app.providers.discover(broken, &members);
        assert_eq!(refused(broken).await, expected);
    }
    // Entra does not announce S256.
    app.providers.discover(broken, &json!({ "code_challenge_methods_supported": null }));
    app.provider(&ada, &json!({ "issuer": broken })).await;
}

async fn an_issuer_is_read_over_https_only(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let plain = "http://login.example.com";
    app.providers.discover(plain, &json!({}));
    assert_eq!(app.try_provider(&ada, &json!({ "issuer": plain })).await.invalid_fields(), ["issuer"]);
}

async fn a_new_issuer_is_checked_like_that_of_a_new_provider(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let provider = app.provider(&ada, &json!({})).await;
    let change = json!({ "issuer": "https://other.example" });
    assert_eq!(app.change_provider(&ada, &provider, &change).await.invalid_fields(), ["issuer"]);
    app.providers.discover("https://other.example", &json!({}));
    assert_eq!(app.change_provider(&ada, &provider, &change).await.ok()["issuer"], "https://other.example");
    // The issuer that it has is not read again.
    app.providers.answer("https://other.example", 500, "");
    app.change_provider(&ada, &provider, &with(change, &json!({ "enabled": false }))).await.ok();
}

async fn a_change_changes_what_it_names(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let role = app.role_id(&ada, "MEMBER").await;
    let domain = app.domain(&ada, "example.com").await;
    let mut provider = app.provider(&ada, &json!({})).await;
    for change in [
        json!({ "name": "Other" }),
        json!({ "slug": "other" }),
        json!({ "clientId": "other" }),
        json!({ "scopes": ["openid"] }),
        json!({ "domainIds": [domain["id"]] }),
        json!({ "trustsEmail": true }),
        json!({ "subjectClaim": "oid" }),
        json!({ "provisioning": "OFF" }),
        json!({ "roles": [{ "roleId": role, "organizationId": null }] }),
        json!({ "factorIsTrusted": true }),
        json!({ "enabled": false }),
    ] {
        app.pass(TimeDelta::seconds(1));
        let expected = with(with(provider.clone(), &change), &json!({ "updatedAt": app.now() }));
        assert_eq!(app.change_provider(&ada, &provider, &change).await.ok(), expected);
        provider = expected;
    }
    app.pass(TimeDelta::seconds(1));
    assert_eq!(app.change_provider(&ada, &provider, &json!({ "enabled": false })).await.ok(), provider, "no change");
}

async fn null_removes_the_secret(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let provider = app.provider(&ada, &json!({ "clientSecret": "one" })).await;
    let changes = async || {
        let entries = app.audit(&ada, &[("resourceType", "IDENTITY_PROVIDER"), ("action", "UPDATE")]).await;
        entries.iter().filter(|entry| entry["metadata"]["secretIsChanged"] == true).count()
    };
    app.change_provider(&ada, &provider, &json!({ "enabled": true })).await.ok();
    assert_eq!(changes().await, 0);
    app.change_provider(&ada, &provider, &json!({ "clientSecret": null })).await.ok();
    app.change_provider(&ada, &provider, &json!({ "clientSecret": null })).await.ok();
    assert_eq!(changes().await, 1);
    app.change_provider(&ada, &provider, &json!({ "clientSecret": "two" })).await.ok();
    assert_eq!(changes().await, 2);
}

async fn a_slug_is_unique_in_the_tenant(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.net").await];
    let first = app.provider(&ada, &json!({})).await;
    let slugs =
        [&first["slug"], &app.provider(&ada, &json!({})).await["slug"], &app.provider(&eve, &json!({})).await["slug"]]
            .map(|slug| slug.as_str().unwrap().to_owned());
    assert_eq!(slugs, ["acme", "acme-2", "acme"]);
    app.try_provider(&ada, &json!({ "slug": "acme" })).await.problem("conflict");
    app.change_provider(&ada, &first, &json!({ "slug": "acme-2" })).await.problem("conflict");
}

async fn a_repeated_request_makes_no_second_provider(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "Acme", "issuer": ISSUER, "clientId": "iam", "clientSecret": "very-secret" });
    let make = || app.post("/identity-providers").by(&ada).header("idempotency-key", "one").json(&body);
    assert_eq!(make().send().await.created(), make().send().await.created());
}

async fn providers_are_listed_by_name_and_removed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let second = app.provider(&ada, &json!({ "name": "Second" })).await;
    let first = app.provider(&ada, &json!({ "name": "First" })).await;
    let list = || app.get("/identity-providers").by(&ada);
    assert_eq!(list().send().await.ok(), json!({ "data": [first, second] }));
    app.delete(&path(&first)).by(&ada).send().await.no_content();
    app.delete(&path(&first)).by(&ada).send().await.problem("not-found");
    assert_eq!(each(&list().send().await.ok(), "name"), ["Second"]);
}

async fn a_change_needs_the_version_that_it_names(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let provider = app.provider(&ada, &json!({})).await;
    let tag = app.get(&path(&provider)).by(&ada).send().await.header("etag").unwrap().to_owned();
    let known = app.get(&path(&provider)).by(&ada).header("if-none-match", &tag).send().await;
    assert_eq!(known.status(), 304);
    let change = || app.patch(&path(&provider)).by(&ada).header("if-match", &tag).json(&json!({ "name": "Other" }));
    change().send().await.ok();
    change().send().await.problem("precondition-failed");
    app.delete(&path(&provider)).by(&ada).header("if-match", &tag).send().await.problem("precondition-failed");
}

async fn another_tenant_finds_no_provider(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.net").await];
    let provider = app.provider(&ada, &json!({})).await;
    app.get(&path(&provider)).by(&eve).send().await.problem("not-found");
    app.change_provider(&eve, &provider, &json!({ "name": "Mine" })).await.problem("not-found");
    app.change_provider(&eve, &provider, &json!({ "issuer": ISSUER })).await.problem("not-found");
    app.delete(&path(&provider)).by(&eve).send().await.problem("not-found");
    assert_eq!(app.get("/identity-providers").by(&eve).send().await.ok()["data"], json!([]));
}

async fn a_domain_that_a_provider_names_is_409(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let domain = app.domain(&ada, "example.com").await;
    let provider = app.provider(&ada, &json!({ "domainIds": [domain["id"]] })).await;
    let delete = || app.delete(&format!("/domains/{}", domain["id"].as_str().unwrap())).by(&ada);
    delete().send().await.problem("conflict");
    app.change_provider(&ada, &provider, &json!({ "domainIds": [] })).await.ok();
    delete().send().await.no_content();
}

async fn all_permissions_and_a_fresh_session_are_needed_for_all_but_the_name(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let provider = app.provider(&ada, &json!({})).await;
    let grace = app.colleague_who_may(&ada, "grace@example.com", &["identity-providers:*"]).await;
    app.try_provider(&grace, &json!({})).await.escalates();
    app.change_provider(&grace, &provider, &json!({ "enabled": false })).await.escalates();
    app.delete(&path(&provider)).by(&grace).send().await.escalates();
    app.change_provider(&grace, &provider, &json!({ "name": "By Grace" })).await.ok();
    app.pass(TimeDelta::minutes(11));
    app.try_provider(&ada, &json!({})).await.problem("insufficient-authentication");
    app.change_provider(&ada, &provider, &json!({ "enabled": false })).await.problem("insufficient-authentication");
    app.delete(&path(&provider)).by(&ada).send().await.problem("insufficient-authentication");
    app.change_provider(&ada, &provider, &json!({ "name": "By Ada" })).await.ok();
}

async fn no_api_key_makes_changes_or_removes_a_provider(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let provider = app.provider(&ada, &json!({})).await;
    let key = app.key(&ada, &ada.user, &json!({ "permissions": ["*"] })).await;
    let key = key["key"].as_str().unwrap();
    let body = json!({ "name": "Acme", "issuer": ISSUER, "clientId": "iam" });
    app.post("/identity-providers").bearer(key).json(&body).send().await.problem("forbidden");
    app.patch(&path(&provider)).bearer(key).json(&json!({ "enabled": false })).send().await.problem("forbidden");
    app.delete(&path(&provider)).bearer(key).send().await.problem("forbidden");
    app.get(&path(&provider)).bearer(key).send().await.ok();
}

async fn an_installation_without_federation_is_503(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let provider = app.provider(&ada, &json!({})).await;
    let offline = app.offline().await;
    offline.try_provider(&ada, &json!({})).await.problem("unavailable");
    let change = json!({ "issuer": "https://other.example" });
    offline.change_provider(&ada, &provider, &change).await.problem("unavailable");
    assert_eq!(offline.get(&path(&provider)).by(&ada).send().await.ok()["callbackUrl"], Value::Null);
}

async fn a_tenant_has_twenty_providers_at_most(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for _ in 0..20 {
        app.provider(&ada, &json!({})).await;
    }
    let detail = app.try_provider(&ada, &json!({})).await.detail("conflict");
    assert_eq!(detail, "the tenant has the maximum number of identity providers. remove one first.");
}
