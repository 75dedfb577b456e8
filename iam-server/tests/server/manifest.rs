//! The commands `apply` and `export`.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::json;

use crate::client::{Client, text};
use crate::process::{Ended, Server};
use crate::store::Store;
use crate::user::{reason, tenant_of};

const SHOPS: &str = r#"# The shops.
settings:
  secondFactorGraceDays: 9
permissions:
  - name: orders:refund
    description: Give money back
roles:
  - name: CLERK
    permissions: [orders:refund, users:read]
  - { name: READER, scope: ORGANIZATION, permissions: ["orders:*"] }
organizations:
  - { slug: harbour, name: "Harbour: east", parent: north }
  - { slug: north, name: North }
serviceAccounts:
  - name: billing
    home: north
    assignments:
      - role: CLERK
      - { role: READER, organization: harbour, expiresAt: 2100-01-31T09:15:00Z }
"#;

/// A tenant, with a client of its administrator.
struct Shop {
    store: Store,
    slug: String,
    ada: Client,
    _server: Server,
}

impl Shop {
    fn new(store: Store) -> Self {
        let server = store.serve();
        let ada = server.client().with_token(&server.client().register("ada@example.com").access);
        let slug = text(&tenant_of(&ada)["slug"]);
        Self { store, slug, ada, _server: server }
    }

    /// Applies a manifest from the file `tenant.yaml`.
    fn apply(&self, manifest: &str, arguments: &[&str]) -> Ended {
        self.store.home().file("tenant.yaml", manifest);
        let apply = self.store.iam_server().args(["apply", "--tenant", &self.slug, "-f", "tenant.yaml"]);
        apply.args(arguments).run()
    }

    #[track_caller]
    fn applied(&self, manifest: &str, arguments: &[&str]) -> Vec<String> {
        let ended = self.apply(manifest, arguments);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.output.lines().map(str::to_owned).collect()
    }

    fn export(&self) -> String {
        let ended = self.store.iam_server().args(["export", "--tenant", &self.slug]).run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.output
    }

    fn nothing_to_change(&self) -> [String; 1] {
        [format!("Tenant {} has nothing to change.", self.slug)]
    }

    /// How many changes the log records.
    fn changes(&self) -> usize {
        let entries = self.ada.audit_entries("");
        entries.iter().filter(|entry| entry["metadata"]["system"] == "apply command").count()
    }
}

/// The lines that say what is done to an item.
fn items(lines: &[String]) -> Vec<&str> {
    let words = ["CREATE ", "UPDATE ", "REMOVE "];
    lines.iter().map(String::as_str).filter(|line| words.iter().any(|word| line.starts_with(word))).collect()
}

#[test]
fn an_applied_file_is_exported_and_changes_nothing_again() {
    for store in [Store::sqlite(), Store::postgres()] {
        let shop = Shop::new(store);
        let previewed = shop.applied(SHOPS, &["--dry-run"]);
        assert_eq!(shop.changes(), 0, "a dry run changes nothing");
        assert!(previewed.contains(&"8 to create, 1 to update, 0 to remove.".to_owned()), "{previewed:#?}");
        assert!(previewed.contains(&"GAINED orders:refund tenant-wide: billing".to_owned()), "{previewed:#?}");
        assert!(previewed.contains(&"Users who would gain or lose a right: 1.".to_owned()), "{previewed:#?}");
        assert!(!shop.export().contains("CLERK"));

        let applied = shop.applied(SHOPS, &[]);
        assert_eq!(items(&applied), items(&previewed));
        assert_eq!(applied.last(), Some(&format!("Tenant {} is changed: 9 changes.", shop.slug)));
        assert_eq!(shop.changes(), 9);
        assert_eq!(shop.ada.get("/api/v1/users?kind=SERVICE").expect(200)["data"][0]["name"], "billing");

        assert_eq!(shop.applied(SHOPS, &[]), shop.nothing_to_change());
        assert_eq!(shop.applied(SHOPS, &["--dry-run"]), shop.nothing_to_change());
        let exported = shop.export();
        assert!(
            exported.contains("\n  - slug: harbour\n    name: \"Harbour: east\"\n    parent: north\n"),
            "{exported}"
        );
        assert_eq!(shop.applied(&exported, &["--prune"]), shop.nothing_to_change());
        assert_eq!(shop.export(), exported);
        assert_eq!(shop.changes(), 9);
    }
}

/// An exported tenant is made again somewhere else, and exported with the same bytes.
#[test]
fn an_exported_file_makes_another_tenant_the_same() {
    let (one, other) = (Shop::new(Store::sqlite()), Shop::new(Store::postgres()));
    one.applied(SHOPS, &[]);
    let exported = one.export();
    other.applied(&exported, &[]);
    assert_eq!(other.export(), exported);
}

#[test]
fn prune_removes_what_files_have_made() {
    let shop = Shop::new(Store::sqlite());
    shop.ada.post("/api/v1/roles", &json!({ "name": "BY_HAND" })).expect(201);
    shop.applied(SHOPS, &[]);
    let smaller = "organizations:\n  - { slug: north, name: North }\n";
    assert_eq!(shop.applied(smaller, &[]), shop.nothing_to_change());
    let removed = shop.applied(smaller, &["--prune"]);
    assert_eq!(
        items(&removed),
        [
            "REMOVE role assignment billing: CLERK",
            "REMOVE role assignment billing: READER in harbour",
            "REMOVE service account billing",
            "REMOVE organization harbour",
            "REMOVE role CLERK",
            "REMOVE role READER",
            "REMOVE permission orders:refund",
        ]
    );
    let left = shop.export();
    assert!(left.contains("BY_HAND") && left.contains("north") && !left.contains("CLERK"), "{left}");
}

/// Its receiver gets the secret by another way, before the webhook is switched on.
#[test]
fn a_webhook_is_made_without_its_secret() {
    let shop = Shop::new(Store::sqlite());
    let hook =
        "webhooks:\n  - url: https://siem.example.com/events\n    types: [\"USER.*\"]\n    enabled: false\n".to_owned();
    let applied = shop.applied(&hook, &[]);
    assert_eq!(items(&applied), ["CREATE webhook https://siem.example.com/events"]);
    let exported = shop.export();
    assert!(exported.contains("enabled: false") && !exported.contains("whsec_"), "{exported}");
    assert_eq!(shop.applied(&hook, &[]), shop.nothing_to_change());
    let private = shop.apply(&hook.replace("siem.example.com", "127.0.0.1"), &[]);
    let expected = "iam-server: tenant.yaml:2: webhooks[0].url: must not lead to a private or special address";
    assert!(reason(&private).starts_with(expected), "{private:?}");
}

/// An identity provider that answers every request with its discovery document. Returns its issuer.
fn provider() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    let document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
        "response_types_supported": ["code"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
    });
    let body = document.to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            // The test fails without the answer.
            let _ = (&stream).write_all(format!("{head}{body}").as_bytes());
        }
    });
    issuer
}

#[test]
fn a_file_names_a_secret_and_no_output_has_it() {
    let shop = Shop::new(Store::sqlite());
    let issuer = provider();
    let apply = |secret: &str, arguments: &[&str]| {
        let manifest = format!(
            "identityProviders:\n  - slug: entra\n    name: Entra\n    issuer: {issuer}\n    clientId: iam\n    \
             clientSecret: {secret}\n"
        );
        shop.store.home().file("tenant.yaml", manifest);
        let apply =
            shop.store.iam_server().env("IAM_FEDERATION_ALLOW_PRIVATE", "on").env("ENTRA_SECRET", "very-secret");
        let apply = apply.args(["apply", "--tenant", &shop.slug, "-f", "tenant.yaml"]).args(arguments);
        let ended = apply.run();
        assert!(!format!("{ended:?}").contains("y-secret"), "{ended:?}");
        ended
    };
    let lines = |ended: Ended| -> Vec<String> {
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.output.lines().map(str::to_owned).collect()
    };
    shop.store.home().file("secret", "very-secret\n");
    shop.store.home().file("other", "other-y-secret");
    let previewed = lines(apply("{ env: ENTRA_SECRET }", &["--dry-run"]));
    assert!(previewed.contains(&"    clientSecret: \"(new secret)\"".to_owned()), "{previewed:#?}");
    let applied = lines(apply("{ env: ENTRA_SECRET }", &[]));
    assert_eq!(items(&applied), ["CREATE identity provider entra"]);
    assert_eq!(lines(apply("{ file: secret }", &[])), shop.nothing_to_change());
    assert_eq!(lines(apply("", &[])), shop.nothing_to_change());
    let changed = lines(apply("{ file: other }", &[]));
    assert_eq!(items(&changed), ["UPDATE identity provider entra"]);
    let expected = "    clientSecret: \"(former secret)\" -> \"(new secret)\"".to_owned();
    assert!(changed.contains(&expected), "{changed:#?}");
    let exported = shop.export();
    assert!(exported.contains("\n  - slug: entra\n") && !exported.contains("ecret"), "{exported}");
    for (secret, expected) in [
        ("very-secret", "must be { env: NAME } or { file: PATH }, because no manifest has a secret"),
        ("{ env: very-secret }", "names a variable that is not set"),
        ("{ env: IAM_DATABASE_URL }", "must not name a variable that begins with IAM_"),
        ("{ file: very-secret }", "names a file that cannot be read: "),
    ] {
        for arguments in [&[][..], &["--dry-run"]] {
            let ended = apply(secret, arguments);
            let said = reason(&ended);
            let expected = format!("iam-server: tenant.yaml:6: identityProviders[0].clientSecret: {expected}");
            assert!(said.starts_with(&expected), "{said}");
        }
    }
}

/// A file of a bad author gets an error with its line, and changes nothing.
#[test]
fn a_mistake_has_its_line_and_nothing_is_changed() {
    for store in [Store::sqlite(), Store::postgres()] {
        let shop = Shop::new(store);
        let before = shop.export();
        for (manifest, expected) in [
            (
                "permissions:\n  - name: orders:read\n    descripton: x\n",
                "tenant.yaml:3: permissions[0].descripton: is not a known field",
            ),
            ("role: []\n", "tenant.yaml:1: role: is not a known field"),
            ("roles:\n  - name: A\n  - name: [B]\n", "tenant.yaml:3: roles[1].name: must be a string"),
            ("roles:\n  - name: A\n    name: B\n", "tenant.yaml:3: the key name must be given once"),
            ("roles: &all []\n", "tenant.yaml:1: anchors are not supported"),
            ("roles:\n  - name: A\n  - name: lower case\n", "tenant.yaml:3: roles[1].name: "),
            (
                "permissions:\n  - name: orders:read\nroles:\n  - name: A\n    permissions:\n      - orders:reed\n",
                "tenant.yaml:6: roles[0].permissions[0]: must be a registered permission",
            ),
            (
                "permissions:\n  - name: orders:read\nroles:\n  - name: TENANT_ADMIN\n",
                "tenant.yaml:4: roles[0]: Built-in roles can be neither changed nor deleted.",
            ),
            (
                "serviceAccounts:\n  - name: a\n    assignments:\n      - role: NOBODY\n",
                "tenant.yaml:4: serviceAccounts[0].assignments[0].role: must be a role of this manifest or of the tenant",
            ),
        ] {
            let ended = shop.apply(manifest, &[]);
            let said = reason(&ended);
            assert!(said.starts_with(&format!("iam-server: {expected}")), "{ended:?}");
            assert!(said.ends_with(" (nothing is changed)"), "{ended:?}");
            assert_eq!(shop.apply(manifest, &["--dry-run"]).code, Some(1), "{manifest}");
        }
        assert_eq!((shop.changes(), shop.export()), (0, before));
    }
}

#[test]
fn a_circle_of_organizations_is_shown_line_by_line() {
    let shop = Shop::new(Store::sqlite());
    let circle = "organizations:\n  - { slug: a, name: A, parent: b }\n  - { slug: b, name: B, parent: c }\n  \
                  - { slug: c, name: C, parent: a }\n  - { slug: d, name: D }\n";
    let ended = shop.apply(circle, &[]);
    assert_eq!(reason(&ended), "iam-server: tenant.yaml has 3 mistakes (nothing is changed)");
    for (line, number, slug) in [(2, 0, "a"), (3, 1, "b"), (4, 2, "c")] {
        let expected = format!(
            "tenant.yaml:{line}: organizations[{number}].parent: is below the organization {slug}: \
             the parents form a circle"
        );
        assert!(ended.log.lines().any(|said| said == expected), "{ended:?}");
    }
    assert_eq!(shop.changes(), 0);
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let shop = Shop::new(Store::sqlite());
    let list = |count: usize, item: &dyn Fn(usize) -> String| {
        (0..count).fold("roles:\n".to_owned(), |mut text, number| {
            writeln!(text, "{}", item(number)).unwrap();
            text
        })
    };
    let long = list(100_000, &|number| format!("  - name: ROLE_{number}"));
    let ended = shop.apply(&long, &[]);
    assert_eq!(reason(&ended), "iam-server: reading tenant.yaml: a manifest may have 1 MiB at most");
    // 100,000 items in less than 1 MiB.
    let short = format!("roles:\n{}", "- {}\n".repeat(100_000));
    let ended = shop.apply(&short, &[]);
    let said = reason(&ended);
    assert!(said.contains(": there are more than 100000 values (nothing is changed)"), "{ended:?}");
    let many = list(5_001, &|number| format!("  - name: ROLE_{number}"));
    let ended = shop.apply(&many, &[]);
    let expected = "iam-server: tenant.yaml:1: must have at most 5000 items; it has 5001 (nothing is changed)";
    assert_eq!(reason(&ended), expected);
    let deep = format!("roles: {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let ended = shop.apply(&deep, &[]);
    assert!(reason(&ended).starts_with("iam-server: tenant.yaml:1: "), "{ended:?}");
    assert_eq!(shop.changes(), 0);
}

#[test]
fn an_api_key_limits_what_a_file_changes() {
    for store in [Store::sqlite(), Store::postgres()] {
        let shop = Shop::new(store);
        let role = json!({
            "name": "DEPLOYER",
            "permissions": ["tenants:read", "roles:read", "roles:create", "users:read"],
        });
        shop.ada.post("/api/v1/roles", &role).expect(201);
        let key = ["api-key", "create", "--tenant", &shop.slug, "--service-account", "deploy", "--role", "DEPLOYER"];
        let made = shop.store.iam_server().args(key).run();
        let key = made.output.lines().find_map(|line| line.strip_prefix("Key: ")).unwrap().to_owned();
        let apply = |manifest: &str, arguments: &[&str]| {
            shop.store.home().file("tenant.yaml", manifest);
            let apply = shop.store.iam_server().env("DEPLOY_KEY", &key).args(["apply", "--tenant", &shop.slug]);
            apply.args(["-f", "tenant.yaml", "--api-key-env", "DEPLOY_KEY"]).args(arguments).run()
        };

        let above = "roles:\n  - name: FIRST\n    permissions: [users:read]\n  - name: SECOND\n    \
                     permissions: [users:read, users:delete]\n";
        for arguments in [&[][..], &["--dry-run"]] {
            let ended = apply(above, arguments);
            let said = ended.log.lines().last().unwrap();
            let expected = "iam-server: tenant.yaml:4: roles[1]: You cannot give or take over higher privileges";
            assert!(said.starts_with(expected) && said.ends_with(" (nothing is changed)"), "{ended:?}");
            assert_eq!(ended.code, Some(1), "{ended:?}");
            assert!(!ended.log.contains(&key) && !ended.output.contains(&key), "{ended:?}");
        }
        let hidden = apply("permissions:\n  - name: orders:read\n", &[]);
        assert!(reason(&hidden).contains("Missing permission: permissions:read."), "{hidden:?}");
        assert!(!shop.export().contains("FIRST"));

        let allowed = apply("roles:\n  - name: FIRST\n    permissions: [users:read]\n", &[]);
        assert_eq!(allowed.code, Some(0), "{allowed:?}");
        assert!(shop.export().contains("FIRST"));
        let entries = shop.ada.audit_entries("&resourceType=ROLE&action=CREATE");
        assert!(entries.iter().any(|entry| entry["newValue"]["name"] == "FIRST" && !entry["userId"].is_null()));
    }
}

#[test]
fn what_is_missing_causes_a_one_line_error() {
    let shop = Shop::new(Store::sqlite());
    let ended = shop.store.iam_server().args(["apply", "--tenant", &shop.slug, "-f", "absent.yaml"]).run();
    assert!(reason(&ended).starts_with("iam-server: reading absent.yaml: "), "{ended:?}");
    let ended = shop.store.iam_server().args(["export", "--tenant", "nobody"]).run();
    assert!(reason(&ended).contains("nobody"), "{ended:?}");
    let ended = shop.apply("{}", &["--api-key-env", "ABSENT_KEY"]);
    assert!(reason(&ended).starts_with("iam-server: reading ABSENT_KEY: "), "{ended:?}");
    let ended = shop.store.iam_server().args(["apply", "--tenant", &shop.slug]).run();
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

#[test]
fn a_dry_run_says_that_more_ends_with_an_account_or_an_organization() {
    let shop = Shop::new(Store::sqlite());
    shop.applied(SHOPS, &[]);
    let said =
        "A service account is removed with its API keys and all its roles, an organization with all roles in it.";
    let says = |arguments: &[&str]| shop.applied("{}", arguments).contains(&said.to_owned());
    assert!(says(&["--dry-run", "--prune"]));
    assert!(!says(&["--dry-run"]));
}
