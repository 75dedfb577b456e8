//! The command `api-key create`.

use serde_json::{Value, json};

use crate::client::text;
use crate::process::{Ended, Launch};
use crate::store::Store;
use crate::user::{reason, tenant_of};

fn create(store: &Store, tenant: &str) -> Launch {
    store.iam_server().args(["api-key", "create", "--tenant", tenant])
}

fn key_in(ended: &Ended) -> String {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let key = ended.output.lines().find_map(|line| line.strip_prefix("Key: ")).unwrap();
    assert!(!ended.log.contains(key), "{ended:?}");
    key.to_owned()
}

/// A fresh installation has a tenant that the operator creates, and nobody needs to log in.
#[test]
fn the_first_program_of_a_fresh_installation_gets_a_key() {
    for store in [Store::sqlite(), Store::postgres()] {
        let person = ["--email", "ada@example.com", "--first-name", "Ada", "--last-name", "Lovelace"];
        let tenant = store.iam_server().args(["tenant", "create", "--name", "Acme", "--slug", "acme"]).args(person);
        assert_eq!(tenant.run().code, Some(0));
        let account = ["--service-account", "deployer", "--role", "TENANT_ADMIN", "--days", "1"];
        let key = key_in(&create(&store, "acme").args(account).run());
        let server = store.serve();
        let deployer = server.client().with_token(&key);
        let me = deployer.get("/api/v1/auth/me").expect(200);
        assert_eq!((&me["user"]["kind"], &me["user"]["name"]), (&json!("SERVICE"), &json!("deployer")));
        assert_eq!((&me["session"], &me["permissions"]["tenant"]), (&Value::Null, &json!(["*"])));
        let user = text(&me["user"]["id"]);
        let narrow = ["--user", &user, "--permission", "users:read", "--name", "reader"];
        let narrow = server.client().with_token(&key_in(&create(&store, "acme").args(narrow).run()));
        assert_eq!(narrow.get("/api/v1/users").expect(200)["pagination"]["total"], 2);
        narrow.get("/api/v1/roles").expect(403);
        let keys = deployer.get(&format!("/api/v1/users/{user}/api-keys")).expect(200)["data"].clone();
        assert_eq!((&keys[0]["name"], &keys[1]["name"]), (&json!("reader"), &json!("created by the operator")));
        let entries = deployer.audit_entries("&resourceType=API_KEY");
        assert!(
            entries.len() == 2 && entries.iter().all(|entry| entry["metadata"]["system"] == "api-key create command")
        );
    }
}

#[test]
fn an_invalid_key_causes_a_one_line_error_and_nothing_is_created() {
    let store = Store::sqlite();
    let server = store.serve();
    let ada = server.client().with_token(&server.client().register("ada@example.com").access);
    let tenant = text(&tenant_of(&ada)["slug"]);
    let attempt = |arguments: &[&str]| create(&store, &tenant).args(arguments).run();
    let cases: [(&[&str], &str); 3] = [
        (&["--service-account", "x", "--role", "NOBODY"], "there is no role NOBODY"),
        (&["--service-account", ""], "creating the service account : "),
        (&["--user", "019bb179-10a0-7000-8000-dadadadadada"], "making a key of the user 019bb179-10a0"),
    ];
    for (arguments, expected) in cases {
        let ended = attempt(arguments);
        assert!(reason(&ended).starts_with(&format!("iam-server: {expected}")), "{ended:?}");
    }
    let usage: [&[&str]; 6] = [
        &[],
        &["--service-account", "x", "--user", "019bb179-10a0-7000-8000-dadadadadada"],
        &["--user", "019bb179-10a0-7000-8000-dadadadadada", "--role", "MEMBER"],
        &["--service-account", "x", "--permission", "users"],
        &["--service-account", "x", "--days", "366"],
        &["--service-account", "x", "--name", ""],
    ];
    for arguments in usage {
        assert_eq!(attempt(arguments).code, Some(2), "{arguments:?}");
    }
    assert_eq!(ada.get("/api/v1/users?kind=SERVICE").expect(200)["pagination"]["total"], 0);
}
