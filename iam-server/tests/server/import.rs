//! The command `import`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::client::text;
use crate::process::{Ended, Launch};
use crate::store::Store;
use crate::user::{reason, tenant_of, try_log_in};

/// The hash of "Passw0rd!", by Python's hashlib.
const FOREIGN: &str = "$pbkdf2-sha256$i=10000,l=32$AAECAwQFBgcICQoLDA0ODw$Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I";

fn import(store: &Store, from: &str, tenant: &str, file: &Path) -> Launch {
    store.iam_server().args(["import", "--from", from, "--tenant", tenant, file.to_str().unwrap()])
}

/// Returns the printed results: one for each user, and the totals at the end.
fn results(ended: &Ended) -> Vec<Value> {
    ended.output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn users_are_imported_from_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let row =
        |email: &str| json!({ "email": email, "firstName": "Grace", "lastName": "Hopper", "passwordHash": FOREIGN });
    let mut suspended = row("jean@example.com");
    suspended["status"] = json!("SUSPENDED");
    let lines = [
        row("grace@example.com").to_string(),
        String::new(),
        suspended.to_string(),
        row("GRACE@example.com").to_string(),
        json!({ "email": "x", "passwordHash": "hunter2" }).to_string(),
        "{\"email\": \"hunter2\"".to_owned(),
        json!({ "email": 5 }).to_string(),
        json!({ "password": "hunter2" }).to_string(),
    ];
    let file = directory.path().join("users.ndjson");
    fs::write(&file, lines.join("\n")).unwrap();
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let ada = server.client().with_token(&server.client().register("ada@example.com").access);
        let tenant = text(&tenant_of(&ada)["slug"]);

        let dry = import(&store, "ndjson", &tenant, &file).args(["--dry-run"]).run();
        assert_eq!(
            results(&dry)[0],
            json!({ "row": 1, "line": 1, "email": "grace@example.com", "outcome": "WOULD_CREATE" })
        );
        assert_eq!(results(&dry).last().unwrap(), &json!({ "wouldCreate": 2, "alreadyThere": 0, "refused": 5 }));
        assert_eq!(ada.get("/api/v1/users").expect(200)["data"].as_array().unwrap().len(), 1);

        let imported = import(&store, "ndjson", &tenant, &file).run();
        assert_eq!(imported.code, Some(1), "{imported:?}");
        assert!(!format!("{imported:?}").contains("hunter2") && !format!("{imported:?}").contains("pbkdf2"));
        let results = results(&imported);
        let fields: Vec<String> = results
            .iter()
            .map(|row| {
                row["reasons"].as_array().into_iter().flatten().map(|error| text(&error["field"])).collect::<Vec<_>>()
            })
            .map(|fields| fields.join(" "))
            .collect();
        assert_eq!(fields, ["", "", "email", "email passwordHash firstName lastName", "row", "email", "password", ""]);
        assert_eq!(results.last().unwrap(), &json!({ "created": 2, "alreadyThere": 0, "refused": 5 }));
        assert!(imported.log.contains("users that were refused: 5"), "{imported:?}");

        let grace = try_log_in(&server.client(), "grace@example.com", "Passw0rd!", 200);
        assert_eq!(grace["user"]["id"], results[0]["id"]);
        try_log_in(&server.client(), "grace@example.com", "Wr0ng pass!", 401);
        try_log_in(&server.client(), "jean@example.com", "Passw0rd!", 403);
        let path = format!("/api/v1/audit-logs?resourceId={}&action=CREATE", text(&grace["user"]["id"]));
        let entry = &ada.get(&path).expect(200)["data"][0];
        assert_eq!(entry["metadata"]["system"], "import command");
        assert_eq!(entry["newValue"]["password"], "[REDACTED]");

        // Again, as after an interruption.
        let again = import(&store, "ndjson", &tenant, &file).run();
        let again = self::results(&again);
        assert_eq!((&again[0]["outcome"], &again[0]["id"]), (&json!("ALREADY_THERE"), &results[0]["id"]));
        assert_eq!((&again[2]["outcome"], &again[2]["id"]), (&json!("ALREADY_THERE"), &results[0]["id"]));
        assert_eq!(again.last().unwrap(), &json!({ "created": 0, "alreadyThere": 3, "refused": 4 }));
    }
}

#[test]
fn users_are_imported_from_a_csv_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("users.CSV");
    let store = Store::sqlite();
    let server = store.serve();
    let ada = server.client().with_token(&server.client().register("ada@example.com").access);
    let tenant = text(&tenant_of(&ada)["slug"]);
    let table =
        format!("email,passwordHash,lastName,firstName\ngrace@example.com,\"{FOREIGN}\",\"Hopper, R. Adm.\",Grace\n");
    fs::write(&file, &table).unwrap();
    let imported = import(&store, "csv", &tenant, &file).run();
    assert_eq!(imported.code, Some(0), "{imported:?}");
    assert_eq!(results(&imported)[1], json!({ "created": 1, "alreadyThere": 0, "refused": 0 }));
    let grace = try_log_in(&server.client(), "grace@example.com", "Passw0rd!", 200);
    assert_eq!(grace["user"]["lastName"], "Hopper, R. Adm.");
    let of_excel = format!(
        "\u{feff}firstName;lastName; email;passwordHash\r\n\r\nJean;B;jean@example.com ;{FOREIGN}\r\nfew;two\r\n"
    );
    fs::write(&file, of_excel).unwrap();
    let imported = import(&store, "csv", &tenant, &file).run();
    let found = results(&imported);
    assert_eq!((&found[0]["email"], &found[0]["line"]), (&json!("jean@example.com"), &json!(3)), "{imported:?}");
    assert_eq!((&found[1]["reasons"][0]["field"], &found[1]["line"]), (&json!("row"), &json!(4)), "{imported:?}");
    assert_eq!(found[2], json!({ "created": 1, "alreadyThere": 0, "refused": 1 }));
    fs::write(&file, table.replace("lastName", "surname")).unwrap();
    let refused = import(&store, "csv", &tenant, &file).run();
    assert!(reason(&refused).contains("has no column lastName"), "{refused:?}");
    let missing = import(&store, "csv", &tenant, &directory.path().join("missing.csv")).run();
    assert!(reason(&missing).contains("missing.csv"), "{missing:?}");
}

/// The users of a realm get roles and homes by a mapping, and the result of each is in a file.
#[test]
fn a_realm_of_keycloak_is_imported_by_a_mapping() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let secret = r#"{"value":"Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I=","salt":"AAECAwQFBgcICQoLDA0ODw=="}"#;
    let data = r#"{"hashIterations":10000,"algorithm":"pbkdf2-sha256"}"#;
    let password = json!({ "type": "password", "secretData": secret, "credentialData": data });
    let realm = json!({ "realm": "acme", "users": [
        { "id": "kc-1", "email": "grace@example.com", "enabled": true, "emailVerified": true, "firstName": "Grace", "lastName": "Hopper",
          "credentials": [password, { "type": "otp" }], "realmRoles": ["clerk", "offline_access"], "groups": ["/north"] },
        { "id": "kc-2", "email": "jean@example.com", "enabled": true },
        { "id": "kc-3", "username": "nobody", "enabled": true },
    ] });
    fs::write(path("realm.json"), realm.to_string()).unwrap();
    let mapping = "externalId: true\nemailVerified: true\nwithoutPassword: CREATE\nroles:\n  - from: clerk\n    role: MEMBER\n    \
                   organization: north\ngroups:\n  - from: /north\n    organization: north\n    home: true\n";
    fs::write(path("mapping.yaml"), mapping).unwrap();
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let ada = server.client().with_token(&server.client().register("ada@example.com").access);
        let tenant = text(&tenant_of(&ada)["slug"]);
        let arguments =
            ["--mapping", path("mapping.yaml").to_str().unwrap(), "--report", path("report").to_str().unwrap()]
                .map(str::to_owned);
        let run = |more: &[&str]| {
            // A report is written once.
            let _ = fs::remove_file(path("report"));
            import(&store, "keycloak", &tenant, &path("realm.json"))
                .args(arguments.iter().map(String::as_str))
                .args(more)
                .run()
        };
        let early = run(&[]);
        let mistake = "mapping.yaml:7: roles[0].organization: there is no organization north";
        assert!(early.log.contains(mistake) && reason(&early).contains("has 2 mistakes"), "{early:?}");
        let north = ada.post("/api/v1/organizations", &json!({ "name": "North", "slug": "north" })).expect(201);
        let dry = run(&["--dry-run"]);
        let left_out = json!({ "password": 1, "roles: offline_access": 1, "second factors": 1 });
        let counts = |made: &str, (count, there): (u8, u8)| {
            [json!({ made: count, "alreadyThere": there, "refused": 1, "leftOut": left_out })]
        };
        assert_eq!(results(&dry), counts("wouldCreate", (2, 0)));
        assert!(!dry.log.contains("warning: "), "{dry:?}");
        assert_eq!(ada.get("/api/v1/users").expect(200)["data"].as_array().unwrap().len(), 1);

        assert_eq!(results(&run(&[])), counts("created", (2, 0)));
        let report = fs::read_to_string(path("report")).unwrap();
        assert!(!report.contains("pbkdf2") && !report.contains("Gt0SUk92"), "{report}");
        let lines: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["leftOut"], json!(["second factors: 1", "roles: offline_access"]));
        assert_eq!((&lines[0]["foreignId"], &lines[1]["leftOut"][0]), (&json!("kc-1"), &json!("password: is missing")));
        assert_eq!((&lines[2]["outcome"], &lines[2]["reasons"][0]["field"]), (&json!("REFUSED"), &json!("email")));
        assert_eq!(lines[2]["username"], "nobody");

        let grace = try_log_in(&server.client(), "grace@example.com", "Passw0rd!", 200);
        let grace = ada.get(&format!("/api/v1/users/{}", text(&grace["user"]["id"]))).expect(200);
        assert_eq!((&grace["externalId"], &grace["homeOrganizationId"]), (&json!("kc-1"), &north["id"]));
        assert!(grace["emailVerifiedAt"].is_string(), "{grace}");
        let held = ada.get(&format!("/api/v1/role-assignments?userId={}", text(&grace["id"]))).expect(200);
        assert_eq!(held["data"][0]["organizationId"], north["id"], "{held}");
        try_log_in(&server.client(), "jean@example.com", "Passw0rd!", 401);
        assert_eq!(results(&run(&[])), counts("created", (0, 2)));
    }
}

#[test]
fn a_wrong_file_and_a_rule_without_effect_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let store = Store::sqlite();
    let server = store.serve();
    let ada = server.client().with_token(&server.client().register("ada@example.com").access);
    let tenant = text(&tenant_of(&ada)["slug"]);
    let run = |file: &Path| {
        import(&store, "ndjson", &tenant, file)
            .args(["--report", path("report").to_str().unwrap(), "--mapping", path("mapping.yaml").to_str().unwrap()])
            .run()
    };
    let mapping =
        "withoutPassword: CREATE\nroles:\n  - from: clerk\n    role: MEMBER\n  - from: clrk\n    role: MEMBER\n";
    fs::write(path("mapping.yaml"), mapping).unwrap();

    // What cannot be read leaves no report, so that the next run can have the same one.
    for (file, said) in [(path("missing"), "missing"), (directory.path().to_owned(), "is a directory: name its files")]
    {
        let refused = run(&file);
        assert!(reason(&refused).contains(said) && !path("report").exists(), "{refused:?}");
    }
    fs::write(path("realm.json"), "{\n".repeat(2_000)).unwrap();
    let refused = run(&path("realm.json"));
    assert!(reason(&refused).contains("none of its first 1000 records can be read"), "{refused:?}");
    assert_eq!(fs::read_to_string(path("report")).unwrap().lines().count(), 1_000);
    fs::remove_file(path("report")).unwrap();

    let user = json!({ "email": "grace@example.com", "firstName": "Grace", "lastName": "Hopper", "roles": ["clerk"] });
    fs::write(path("users.ndjson"), user.to_string()).unwrap();
    let imported = run(&path("users.ndjson"));
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let warnings: Vec<&str> = imported.log.lines().filter(|line| line.contains("warning: ")).collect();
    let [warning] = warnings.as_slice() else { panic!("{imported:?}") };
    assert!(warning.contains("mapping.yaml:5: roles[1].from: is in no record of the files"), "{warning}");
}

/// The hash and its parameters are the example that Firebase publishes.
#[test]
fn users_of_firebase_log_in_with_their_passwords() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let key = "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==";
    let parameters = format!(
        "hash_config {{\n  algorithm: SCRYPT,\n  base64_signer_key: {key},\n  base64_salt_separator: Bw==,\n  rounds: 8,\n  \
         mem_cost: 14,\n}}\n"
    );
    fs::write(path("parameters"), parameters).unwrap();
    let hash = "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==";
    let users = json!({ "users": [{ "localId": "x1", "email": "grace@example.com", "passwordHash": hash,
        "salt": "42xEC+ixf3L2lw==", "displayName": "Grace Hopper" }] });
    fs::write(path("users.json"), users.to_string()).unwrap();
    let store = Store::sqlite();
    let server = store.serve();
    let ada = server.client().with_token(&server.client().register("ada@example.com").access);
    let tenant = text(&tenant_of(&ada)["slug"]);
    let without = import(&store, "firebase", &tenant, &path("users.json")).run();
    assert_eq!(results(&without)[0]["reasons"][0]["message"], "cannot be taken: its parameters are not given");
    let imported = import(&store, "firebase", &tenant, &path("users.json"))
        .args(["--firebase-parameters", path("parameters").to_str().unwrap()])
        .run();
    assert_eq!(imported.code, Some(0), "{imported:?}");
    assert!(!format!("{imported:?}").contains("jxspr8"));
    try_log_in(&server.client(), "grace@example.com", "wrong password", 401);
    let grace = try_log_in(&server.client(), "grace@example.com", "user1password", 200);
    assert_eq!((&grace["user"]["firstName"], &grace["user"]["lastName"]), (&json!("Grace"), &json!("Hopper")));
    try_log_in(&server.client(), "grace@example.com", "user1password", 200);
}
