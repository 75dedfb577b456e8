//! The commands of `user`.

use serde_json::{Value, json};

use crate::client::{Client, PASSWORD, text};
use crate::factor::{Authenticator, challenge};
use crate::process::{Ended, Launch};
use crate::revocation::{READ, expect_refusal, wait_until_changes_are_received};
use crate::store::Store;

const NEW: &str = "An0ther pass!";

fn create(store: &Store, tenant: &str, email: &str) -> Launch {
    let person = ["--email", email, "--first-name", "Grace", "--last-name", "Hopper"];
    store.iam_server().args(["user", "create", "--tenant", tenant]).args(person)
}

fn reset(store: &Store, tenant: &str, email: &str) -> Launch {
    store.iam_server().args(["user", "reset-password", "--tenant", tenant, "--email", email])
}

/// Returns the last line of the error output, which comes after the log lines.
pub(crate) fn reason(ended: &Ended) -> &str {
    assert_eq!((ended.code, ended.output.as_str()), (Some(1), ""), "{ended:?}");
    ended.log.lines().last().unwrap()
}

fn password_in(ended: &Ended) -> &str {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let password = ended.output.lines().find_map(|line| line.strip_prefix("Password: ")).unwrap();
    assert!(!ended.log.contains(password), "{ended:?}");
    password
}

pub(crate) fn try_log_in(client: &Client, email: &str, password: &str, status: u16) -> Value {
    client.post("/api/v1/auth/login", &json!({ "email": email, "password": password })).expect(status)
}

/// Returns the tenant in which the client is logged in.
pub(crate) fn tenant_of(client: &Client) -> Value {
    client.get("/api/v1/auth/me").expect(200)["tenant"].clone()
}

#[test]
fn a_user_is_created_with_its_roles() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let ada = server.client().with_token(&server.client().register("ada@example.com").access);
        let tenant = tenant_of(&ada);
        let roles = ["--role", "MEMBER", "--role", "TENANT_ADMIN", "--role", "MEMBER"];
        let made = create(&store, &text(&tenant["slug"]), "grace@example.com").args(roles).run();
        let session = try_log_in(&server.client(), "grace@example.com", password_in(&made), 200);
        let me = server.client().with_token(&text(&session["accessToken"])).get("/api/v1/auth/me").expect(200);
        let mut held: Vec<String> =
            me["roles"].as_array().unwrap().iter().map(|it| text(&it["role"]["name"])).collect();
        held.sort();
        assert_eq!(held, ["MEMBER", "TENANT_ADMIN"]);

        let north = text(&ada.post("/api/v1/organizations", &json!({ "name": "North" })).expect(201)["id"]);
        let plain =
            create(&store, &text(&tenant["id"]), "jean@example.com").args(["--password-stdin", "--home", &north]);
        assert_eq!(plain.input(&format!("{PASSWORD}\r\n")).run().code, Some(0));
        let session = try_log_in(&server.client(), "jean@example.com", PASSWORD, 200);
        assert_eq!(session["user"]["homeOrganizationId"], north);
        let entries = ada.audit_entries("&resourceType=USER&action=CREATE");
        let by: Vec<&Value> = entries.iter().skip(1).map(|entry| &entry["metadata"]["system"]).collect();
        assert_eq!(by, ["user create command", "user create command"]);
    }
}

#[test]
fn an_invalid_user_causes_a_one_line_error_and_is_not_created() {
    let store = Store::sqlite();
    let server = store.serve();
    let ada = server.client().with_token(&server.client().register("ada@example.com").access);
    let tenant = text(&tenant_of(&ada)["slug"]);
    let nowhere = create(&store, "nowhere", "grace@example.com").run();
    assert_eq!(reason(&nowhere), "iam-server: there is no tenant nowhere");
    let taken = create(&store, &tenant, "ADA@example.com").run();
    assert_eq!(
        reason(&taken),
        "iam-server: creating the user ADA@example.com: A user with this e-mail already exists."
    );
    let unknown = create(&store, &tenant, "grace@example.com").args(["--role", "PILOT"]).run();
    assert_eq!(reason(&unknown), "iam-server: there is no role PILOT");
    let misplaced = create(&store, &tenant, "grace@example.com").args(["--role", "ORGANIZATION_ADMIN"]).run();
    assert_eq!(reason(&misplaced), "iam-server: the role ORGANIZATION_ADMIN can be assigned in organizations only");
    let weak = create(&store, &tenant, "grace@example.com").args(["--password-stdin"]).input("hunter2").run();
    assert!(reason(&weak).contains("creating the user grace@example.com: password must have"), "{weak:?}");
    assert!(!weak.log.contains("hunter2"), "{weak:?}");
    let bad = store.iam_server().args(["user", "create", "--tenant", &tenant, "--email", "grace"]);
    let bad = bad.args(["--first-name", "", "--last-name", "Hopper"]).run();
    assert!(reason(&bad).contains("email must") && reason(&bad).contains("; first name must"), "{bad:?}");
    assert_eq!(ada.get("/api/v1/users").expect(200)["pagination"]["total"], 1);
}

#[test]
fn a_password_reset_lifts_a_lockout() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let ada = client.with_token(&client.register("ada@example.com").access);
        let tenant = text(&tenant_of(&ada)["id"]);
        for _ in 0..5 {
            try_log_in(&client, "ada@example.com", "Wr0ng pass!", 401);
        }
        try_log_in(&client, "ada@example.com", PASSWORD, 403);

        wait_until_changes_are_received(&client);
        ada.get(READ).expect(200);
        let made = reset(&store, &tenant, "ADA@example.com").run();
        let made = password_in(&made);
        expect_refusal(&ada);
        try_log_in(&client, "ada@example.com", PASSWORD, 401);
        let session = try_log_in(&client, "ada@example.com", made, 200);
        let ada = client.with_token(&text(&session["accessToken"]));
        ada.get(READ).expect(200);

        let given = reset(&store, &tenant, "ada@example.com").args(["--password-stdin"]).input(NEW).run();
        assert_eq!(given.code, Some(0), "{given:?}");
        assert!(!given.output.contains("Password") && !given.output.contains(NEW), "{given:?}");
        expect_refusal(&ada);
        let session = try_log_in(&client, "ada@example.com", NEW, 200);
        let entries = client.with_token(&text(&session["accessToken"])).audit_entries("");
        let by_command: Vec<&Value> =
            entries.iter().filter(|it| it["metadata"]["system"] == "user reset-password command").collect();
        let actions: Vec<&Value> = by_command.iter().map(|entry| &entry["action"]).collect();
        assert_eq!(actions, ["PASSWORD_CHANGE", "LOGOUT", "PASSWORD_CHANGE", "LOGOUT"]);
        let log = json!(entries).to_string();
        assert!(!log.contains(made) && !log.contains(NEW), "{log}");
    }
}

#[test]
fn an_invalid_password_reset_causes_a_one_line_error() {
    let store = Store::sqlite();
    let server = store.serve();
    let ada = server.client().with_token(&server.client().register("ada@example.com").access);
    let tenant = text(&tenant_of(&ada)["slug"]);
    let nowhere = reset(&store, "nowhere", "ada@example.com").run();
    assert_eq!(reason(&nowhere), "iam-server: there is no tenant nowhere");
    let unknown = reset(&store, &tenant, "unknown@example.com").run();
    assert_eq!(reason(&unknown), "iam-server: resetting the password of unknown@example.com: User not found.");
    let weak = reset(&store, &tenant, "ada@example.com").args(["--password-stdin"]).input("hunter2").run();
    assert!(reason(&weak).contains("resetting the password of ada@example.com: new password must have"), "{weak:?}");
    assert!(!weak.log.contains("hunter2"), "{weak:?}");
    ada.get("/api/v1/auth/me").expect(200);

    let grace =
        json!({ "email": "grace@example.com", "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
    let grace = text(&ada.post("/api/v1/users", &grace).expect(201)["id"]);
    ada.post(&format!("/api/v1/users/{grace}/suspend"), &Value::Null).expect(200);
    let suspended = reset(&store, &tenant, "grace@example.com").run();
    assert!(suspended.output.contains("suspended"), "{suspended:?}");
    ada.try_delete(&format!("/api/v1/users/{grace}")).unwrap().expect(204);
    let deleted = reset(&store, &tenant, "grace@example.com").run();
    assert_eq!(
        reason(&deleted),
        "iam-server: resetting the password of grace@example.com: The user is inactive. It can only be restored or erased."
    );
}

fn reset_factors(store: &Store, tenant: &str, email: &str) -> Ended {
    store.iam_server().args(["user", "reset-factors", "--tenant", tenant, "--email", email]).run()
}

#[test]
fn a_reset_of_factors_ends_the_sessions_and_the_next_login_needs_no_factor() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let ada = client.with_token(&client.register("ada@example.com").access);
        let tenant = text(&tenant_of(&ada)["slug"]);
        let made = create(&store, &tenant, "grace@example.com").args(["--role", "TENANT_ADMIN", "--password-stdin"]);
        assert_eq!(made.input(PASSWORD).run().code, Some(0));
        let session = client.log_in("grace@example.com");
        let (grace, id) = (client.with_token(&session.access), session.user);
        let app = Authenticator::of(&grace);
        let pending = challenge(&client, "grace@example.com", PASSWORD);

        wait_until_changes_are_received(&client);
        grace.get(READ).expect(200);
        let ended = reset_factors(&store, &tenant, "GRACE@example.com");
        let expected = format!("User grace@example.com ({id}) has no second factors.");
        assert_eq!((ended.code, ended.output.as_str()), (Some(0), expected.as_str()), "{ended:?}");
        expect_refusal(&grace);
        for proof in [
            json!({ "challenge": pending, "code": app.code(0) }),
            json!({ "challenge": pending, "recoveryCode": app.recovery_codes[0] }),
        ] {
            client.post("/api/v1/auth/login/second-factor", &proof).expect(401);
        }
        let grace = client.with_token(&client.log_in("grace@example.com").access);
        let factors = grace.get("/api/v1/auth/factors").expect(200);
        assert_eq!(factors, json!({ "data": [], "recoveryCodesLeft": 0 }));

        // A user without factors stays as it is.
        let again = reset_factors(&store, &text(&tenant_of(&ada)["id"]), "grace@example.com");
        assert_eq!((again.code, again.output.as_str()), (Some(0), expected.as_str()), "{again:?}");
        grace.get("/api/v1/auth/me").expect(200);
        let by_command: Vec<Value> = ada
            .audit_entries("")
            .into_iter()
            .filter(|entry| entry["metadata"]["system"] == "user reset-factors command")
            .collect();
        let actions: Vec<(&Value, &Value)> =
            by_command.iter().map(|entry| (&entry["action"], &entry["resourceType"])).collect();
        assert_eq!(actions, [(&json!("DELETE"), &json!("FACTOR")), (&json!("LOGOUT"), &json!("SESSION"))]);
        assert_eq!(by_command[0]["metadata"]["targetUserId"], json!(id));
        assert_eq!(by_command[1]["metadata"]["reason"], "FACTORS_REMOVED");
    }
}

#[test]
fn an_invalid_reset_of_factors_causes_a_one_line_error() {
    let store = Store::sqlite();
    let server = store.serve();
    let ada = server.client().with_token(&server.client().register("ada@example.com").access);
    let tenant = text(&tenant_of(&ada)["slug"]);
    let nowhere = reset_factors(&store, "nowhere", "ada@example.com");
    assert_eq!(reason(&nowhere), "iam-server: there is no tenant nowhere");
    let unknown = reset_factors(&store, &tenant, "unknown@example.com");
    assert_eq!(reason(&unknown), "iam-server: removing the second factors of unknown@example.com: User not found.");
    let none = reset_factors(&store, &tenant, "ada");
    assert!(reason(&none).starts_with("iam-server: removing the second factors of ada: email must"), "{none:?}");
    ada.get("/api/v1/auth/me").expect(200);
}

fn verify_email(store: &Store, tenant: &str, email: &str) -> Ended {
    store.iam_server().args(["user", "verify-email", "--tenant", tenant, "--email", email]).run()
}

#[test]
fn a_verified_email_is_recorded_and_decides_an_ambiguous_login() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let session = client.register("ada@example.com");
        let ada = client.with_token(&session.access);
        let slug = text(&tenant_of(&ada)["slug"]);
        // The same person, or a stranger who uses the address.
        client.register("ada@example.com");
        let path = format!("/api/v1/users/{}", session.user);
        assert_eq!(ada.get(&path).expect(200)["emailVerifiedAt"], Value::Null);
        try_log_in(&client, "ada@example.com", PASSWORD, 409);

        let verified = verify_email(&store, &slug, "ADA@example.com");
        let expected = format!("The e-mail ada@example.com of user {} is verified.", session.user);
        assert_eq!((verified.code, verified.output.as_str()), (Some(0), expected.as_str()), "{verified:?}");
        let at = text(&ada.get(&path).expect(200)["emailVerifiedAt"]);
        assert!(chrono::DateTime::parse_from_rfc3339(&at).is_ok(), "{at}");
        assert_eq!(try_log_in(&client, "ada@example.com", PASSWORD, 200)["user"]["id"], session.user);

        let again = verify_email(&store, &text(&tenant_of(&ada)["id"]), "ada@example.com");
        assert_eq!((again.code, again.output.as_str()), (Some(0), expected.as_str()), "{again:?}");
        assert_eq!(ada.get(&path).expect(200)["emailVerifiedAt"], at);
        let entries = ada.audit_entries(&format!("&resourceId={}&action=EMAIL_VERIFIED", session.user));
        assert_eq!(entries.len(), 1, "{entries:?}");
        assert_eq!(entries[0]["metadata"]["system"], "user verify-email command");
    }
}

#[test]
fn an_invalid_email_verification_causes_a_one_line_error() {
    let store = Store::sqlite();
    let server = store.serve();
    let ada = server.client().with_token(&server.client().register("ada@example.com").access);
    let tenant = text(&tenant_of(&ada)["slug"]);
    let nowhere = verify_email(&store, "nowhere", "ada@example.com");
    assert_eq!(reason(&nowhere), "iam-server: there is no tenant nowhere");
    let unknown = verify_email(&store, &tenant, "unknown@example.com");
    assert_eq!(reason(&unknown), "iam-server: verifying the e-mail unknown@example.com: User not found.");
    let none = verify_email(&store, &tenant, "ada");
    assert!(reason(&none).starts_with("iam-server: verifying the e-mail ada: email must"), "{none:?}");
    let grace =
        json!({ "email": "grace@example.com", "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
    let grace = format!("/api/v1/users/{}", text(&ada.post("/api/v1/users", &grace).expect(201)["id"]));
    ada.try_delete(&grace).unwrap().expect(204);
    let deleted = verify_email(&store, &tenant, "grace@example.com");
    assert_eq!(
        reason(&deleted),
        "iam-server: verifying the e-mail grace@example.com: The user is inactive. It can only be restored or erased."
    );
    assert_eq!(ada.get(&grace).expect(200)["emailVerifiedAt"], Value::Null);
}
