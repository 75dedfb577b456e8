//! Runs every block of every document, or compares it with the real answer, as far as that is possible without a
//! separate machine.
//!
//! The function for a single document runs first. The remaining blocks are checked by their language: blocks for the
//! shell are rehearsed. A block without a check fails the test.

mod answer;
mod block;
mod named;
mod shell;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use url::Url;

use crate::audit::wait_until_sequenced;
use crate::client::{Client, PASSWORD, text};
use crate::factor::Authenticator;
use crate::mail::with_mail;
use crate::process::{Home, Launch, Server, TIMEOUT, wait_for};
use crate::store::Store;
use crate::webhook::Receiver;

use answer::{assert_lines, differences, is_problem, said, shown};
use block::{Block, Document, repository};
use shell::{Rehearsal, Shell};

const ADDRESS: &str = "http://localhost:8080";

#[test]
fn every_block_of_the_documents_is_checked() {
    let documents = Document::all();
    assert!(documents.iter().any(|document| document.path == "README.md"), "no documents were found");
    for mut document in documents {
        println!("{}", document.path);
        match document.path.as_str() {
            "README.md" => {
                installed(&mut document, &["curl -fsSL"]);
                let starting = ["cargo run ", "docker run ", "cargo add ", "IAM_DATABASE_URL=", "mkdir "];
                first_steps(&mut document, &starting);
            }
            "iam-server/README.md" => first_steps(&mut document, &["cargo install "]),
            "iam-axum/src/introduction.md" => introduction(&mut document),
            // `scripts/check-python-client` runs them.
            "clients/python/README.md" => {
                document.take_all(&["python"]);
            }
            "docs/audit.md" => audit(&mut document),
            "docs/authzen.md" => authzen(&mut document),
            "docs/deploying.md" => deploying(&mut document),
            "docs/http-api.md" => http_api(&mut document),
            "docs/directories.md" => directories(&mut document),
            "docs/federation.md" => federation(&mut document),
            "docs/foresight.md" => foresight(&mut document),
            "docs/importing.md" => importing(&mut document),
            "docs/install.md" => install(&mut document),
            "docs/integrating.md" => integrating(&mut document),
            "docs/manifests.md" => manifests(&mut document),
            "docs/operating.md" => operating(&mut document),
            "docs/releasing.md" => releasing(&mut document),
            _ => {}
        }
        by_language(&mut document);
        document.assert_nothing_is_left();
    }
}

/// Compares a block with the script of the page for passkeys, which a test runs in a browser: the script calls the same
/// paths and the same functions.
fn assert_page_makes_the_calls(block: &Block) {
    let script = fs::read_to_string(repository().join("iam-axum/src/account/passkey.js")).unwrap();
    let paths = block.text.split('\'').filter(|text| text.starts_with('/')).map(|path| format!("\"{path}\""));
    let words = block.text.split(|c: char| !c.is_alphanumeric() && c != '.').map(str::to_owned);
    let functions = words.filter(|word| ["PublicKeyCredential.", "navigator."].iter().any(|of| word.starts_with(of)));
    let calls: Vec<String> = paths.chain(functions).collect();
    assert!(calls.len() >= 4, "{}: {calls:?}", block.place);
    for call in calls {
        assert!(script.contains(&call), "{}: passkey.js has no {call}", block.place);
    }
}

fn by_language(document: &mut Document) {
    // Diagrams, headers, query plans: nothing that can be run.
    document.take_all(&["text"]);
    // `scripts/check-deploy` parses them.
    document.take_all(&["yaml"]);
    // `scripts/check-typescript-client` compiles them, and runs the first one.
    document.take_all(&["ts"]);
    // The languages that rustdoc treats as Rust.
    if !document.take_all(&["rust", "rust,no_run", "no_run"]).is_empty() {
        assert_is_doc_test(&document.path);
    }
    for block in document.take_all(&["js"]) {
        assert_page_makes_the_calls(&block);
    }
    for block in document.take_all(&["toml"]) {
        let parsed = toml::from_str::<toml::Table>(&block.text);
        parsed.unwrap_or_else(|error| panic!("{}: {error}", block.place));
    }
    for block in document.take_all(&["sql"]) {
        let store = Store::postgres();
        assert_eq!(store.iam_server().args(["migrate"]).run().code, Some(0));
        store.tamper(&block.text);
    }
    let blocks = document.take_all(&["sh"]);
    if !blocks.is_empty() {
        let rehearsal = Rehearsal::new();
        blocks.iter().for_each(|block| rehearsal.run(block));
    }
}

/// Fails unless rustdoc finds a document: as the README of its crate, or in the documentation of the examples.
fn assert_is_doc_test(path: &str) {
    let of_crate = path.strip_suffix("/README.md").map(|directory| format!("{directory}/src/lib.rs"));
    let (library, inclusion) = match of_crate.filter(|library| repository().join(library).exists()) {
        Some(library) => (library, "../README.md".to_owned()),
        None => ("examples/lib.rs".to_owned(), format!("../{path}")),
    };
    let source = fs::read_to_string(repository().join(&library)).unwrap();
    assert!(source.contains(&format!("include_str!(\"{inclusion}\")")), "{library} does not include {path}");
}

/// Checks the first steps: the blocks that start the server, then the commands of a newcomer and their answers.
fn first_steps(document: &mut Document, starting: &[&str]) {
    let rehearsal = Rehearsal::new();
    for beginning in starting {
        rehearsal.run(&document.take(beginning));
    }
    let session = document.take_all(&["sh", "json"]);
    let store = Store::sqlite();
    converse(&with_mail_of(&store), &Shell::new(store.home().path()), &session);
    let store = Store::postgres();
    converse(&with_mail_of(&store), &Shell::new(store.home().path()).with("IAM_DATABASE_URL", store.url()), &session);
}

/// Rehearses the installation of a release, by all of these blocks in one directory. It is empty: the repository has a
/// directory with the name of the program.
fn installed(document: &mut Document, beginnings: &[&str]) {
    let rehearsal = Rehearsal::new();
    let blocks: Vec<Block> = beginnings.iter().map(|beginning| document.take(beginning)).collect();
    let text: String = blocks.iter().map(|block| block.text.as_str()).collect();
    rehearsal.run_as(&blocks[0], &format!("mkdir empty\ncd empty\n{text}"));
}

/// Starts a server that writes its messages into `mails`, in the directory of the shell.
fn with_mail_of(store: &Store) -> Server {
    let mails = store.home().path().join("mails");
    fs::create_dir(&mails).unwrap();
    store.iam_server().env("IAM_MAIL_DIR", &mails).serve()
}

/// Runs the front page of the OpenAPI document from the first to the last block.
fn introduction(document: &mut Document) {
    let store = Store::sqlite();
    converse(&store.serve(), &Shell::new(store.home().path()), &document.take_all(&["sh"]));
}

/// Runs blocks in one shell beside a server. A block of JSON shows the last answer of the block before it. No other
/// answer may be a problem.
fn converse(server: &Server, shell: &Shell, blocks: &[Block]) {
    let here = |block: &Block| {
        let text = block.text.replace(ADDRESS, &format!("http://{}", server.address));
        Block { text, ..block.clone() }
    };
    let commands: Vec<Block> = blocks.iter().filter(|block| block.language == "sh").map(here).collect();
    let mut outputs = shell.run_all(&commands).into_iter();
    let mut answers: Vec<Value> = Vec::new();
    for block in blocks {
        if block.language == "sh" {
            assert_no_problem(&answers);
            answers = said(&outputs.next().unwrap());
        } else {
            let answer = answers.pop().unwrap_or_else(|| panic!("{}: there is no answer to compare with", block.place));
            assert_shown(block, &answer);
        }
    }
    assert_no_problem(&answers);
}

#[track_caller]
fn assert_no_problem(answers: &[Value]) {
    let problem = answers.iter().find(|answer| is_problem(answer));
    assert!(problem.is_none(), "{problem:?}");
}

#[track_caller]
fn assert_shown(block: &Block, answer: &Value) {
    let differences = differences(&shown(&block.text), answer);
    assert!(differences.is_empty(), "{} is not the answer of the server: {differences:#?}\n{answer}", block.place);
}

/// Registers an administrator. Returns its client and its access token.
fn administrator(server: &Server) -> (Client, String) {
    let token = server.client().register("ada@example.com").access;
    (server.client().with_token(&token), token)
}

fn audit(document: &mut Document) {
    let store = Store::sqlite();
    let server = store.serve();
    wait_until_sequenced(&administrator(&server).0);
    let block = document.take("iam-server audit checkpoint");
    let output = Shell::new(store.home().path()).run(&block.text.replace("/mnt/elsewhere/", "kept-"));
    assert!(output.contains("nothing was changed"), "{output}");
}

fn authzen(document: &mut Document) {
    let store = Store::sqlite();
    let server = store.iam_server().env("IAM_PUBLIC_URL", "https://iam.example.com").serve();
    let (_, token) = administrator(&server);
    let shell = Shell::new(store.home().path()).with("TOKEN", token.as_str());
    let shell = shell.with("API", format!("http://{}/api/v1", server.address));
    converse(&server, &shell, &document.take_all(&["sh", "json"]));
}

fn operating(document: &mut Document) {
    let store = Store::sqlite();
    let output = Shell::new(store.home().path()).run(&document.take("iam-server tenant create").text);
    let passwords: Vec<&str> = output.lines().filter_map(|line| line.strip_prefix("Password: ")).collect();
    let log_in = |password: &str| {
        let body = json!({ "email": "ada@example.com", "password": password });
        store.serve().client().post("/api/v1/auth/login", &body).status
    };
    assert_eq!(passwords.iter().map(|password| log_in(password)).collect::<Vec<_>>(), [401, 200]);
    let output = Shell::new(store.home().path()).run(&document.take("iam-server user reset-factors").text);
    assert!(output.contains("has no second factors"), "{output}");
}

fn importing(document: &mut Document) {
    let store = Store::sqlite();
    let person = "--email ada@example.com --first-name Ada --last-name Lovelace";
    let create = format!("iam-server tenant create --name 'Analytical Engines' {person}");
    Shell::new(store.home().path()).run(&create);
    // The hash of "U*U".
    let hash = "$2a$10$CCCCCCCCCCCCCCCCCCCCC.KgQljzbljH4iwhlg3oTf8buusOTZRX6";
    let user = document.take("{\"email\": \"grace@example.com\"").text.replace("$2b$12$…", hash);
    fs::write(store.home().path().join("users.ndjson"), user).unwrap();
    let results = said(&Shell::new(store.home().path()).run(&document.take("iam-server import --from ndjson").text));
    assert_eq!(results[1], json!({ "wouldCreate": 1, "alreadyThere": 0, "refused": 0 }));
    assert_eq!(results[3], json!({ "created": 1, "alreadyThere": 0, "refused": 0 }));
    fs::write(store.home().path().join("mapping.yaml"), "withoutPassword: CREATE\n").unwrap();
    for (system, beginning) in [("ndjson", "{\"email\": \"grace@example.com\""), ("csv", "email,firstName")] {
        fs::write(store.home().path().join("attributes"), &document.take(beginning).text).unwrap();
        let import = format!("iam-server import --from {system} --tenant analytical-engines --mapping mapping.yaml");
        let found = said(&Shell::new(store.home().path()).run(&format!("{import} --dry-run attributes")));
        let left_out = json!({ "password": 1 });
        let expected = json!({ "wouldCreate": 0, "alreadyThere": 1, "refused": 0, "leftOut": left_out });
        assert_eq!(found.last(), Some(&expected));
    }
    serde_json::from_str::<Value>(&document.take("{\"format\": \"json\"").text).unwrap();
    let login = json!({ "email": "grace@example.com", "password": "U*U" });
    store.serve().client().post("/api/v1/auth/login", &login).expect(200);
}

fn http_api(document: &mut Document) {
    let store = Store::sqlite();
    let server = with_mail(store.iam_server(), store.home()).serve();
    let (ada, token) = administrator(&server);
    let post = |path: &str, body: Value| ada.post(&format!("/api/v1{path}"), &body);

    let shell = Shell::new(store.home().path()).with("TOKEN", token.as_str());
    let shell = shell.with("API", format!("http://{}/api/v1", server.address));
    let created = said(&shell.run(&document.take("curl -X POST \"$API/organizations\"").text)).pop().unwrap();
    assert_eq!(created["name"], "Branch", "{created}");

    let grace =
        json!({ "email": "grace@example.com", "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
    let grace = post("/users", grace).expect(201);
    let below = post("/organizations", json!({ "name": "Below", "parentId": created["id"] })).expect(201);
    let roles = ada.get("/api/v1/roles").expect(200);
    let member = roles["data"].as_array().unwrap().iter().find(|role| role["name"] == "MEMBER").unwrap();
    let assignment = json!({ "userId": grace["id"], "roleId": member["id"], "organizationId": created["id"] });
    post("/role-assignments", assignment).expect(201);
    let question = json!({ "permission": "users:read", "userId": grace["id"], "organizationId": below["id"] });
    assert_shown(&document.take("{ \"allowed\": true"), &post("/authz/check", question).expect(200));

    let shell = shell.with("FLOW", "of-nothing");
    let login = said(&shell.run(&document.take("curl -X POST \"$API/auth/email-login\"").text));
    assert!(login[0]["flow"].is_string() && login[1]["status"] == 400, "{login:?}");

    let tenant = text(&ada.get("/api/v1/auth/me").expect(200)["tenant"]["id"]);
    let shell = shell.with("GRACE", text(&grace["id"])).with("TENANT", tenant);
    for beginning in ["curl -X PATCH \"$API/users/$GRACE\"", "curl -X PATCH \"$API/tenants/$TENANT\""] {
        assert_no_problem(&said(&shell.run(&document.take(beginning).text)));
    }
    let patched = ada.get(&format!("/api/v1/users/{}", text(&grace["id"]))).expect(200);
    assert_eq!(patched["attributes"], json!({ "costCentre": "4711" }));
    let acting = document.take("curl -X POST \"$API/users/$GRACE/impersonations\"");
    let begun = said(&shell.run(&acting.text)).pop().unwrap();
    assert_shown(&document.take("{\"sessionId\":"), &begun);

    let invalid = json!({ "email": "grace", "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
    assert_shown(&document.take("{\n  \"type\""), &post("/users", invalid).expect(400));
    second_factors(document, &server, &token);

    let helpers = [
        r#"field() { sed 's/.*"'"$1"'":"\([^"]*\)".*/\1/'; }"#,
        r#"post() { curl -s -X POST "$API/$1" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d "$2"; }"#,
    ];
    let key = document.take("ROBOT=");
    let made = said(&shell.with("MEMBER", text(&member["id"])).run(&format!("{}\n{}", helpers.join("\n"), key.text)));
    assert_shown(&document.take("{\"key\":\"iamk_"), made.last().unwrap());
    let introspection = post("/auth/introspect", json!({ "token": token })).expect(200);
    assert_shown(&document.take("{\"active\":true"), &introspection);
}

/// Makes a directory, and does what a provider does.
fn directories(document: &mut Document) {
    let store = Store::sqlite();
    let server = store.serve();
    let (_, token) = administrator(&server);
    let shell = Shell::new(store.home().path()).with("TOKEN", token.as_str());
    let shell = shell.with("API", format!("http://{}/api/v1", server.address));
    converse(&server, &shell, &document.take_all(&["sh", "json"]));
}

fn federation(document: &mut Document) {
    let store = Store::sqlite();
    let server = store.serve();
    let (ada, token) = administrator(&server);
    let shell = Shell::new(store.home().path()).with("TOKEN", token.as_str());
    let shell = shell.with("API", format!("http://{}/api/v1", server.address));
    let session = ["curl -s -X POST \"$API/domains\"", "{\"id\":"].map(|beginning| document.take(beginning));
    converse(&server, &shell, &session);
    let provider = shell.run(&document.take("curl -s -X POST \"$API/identity-providers\"").text);
    assert!(provider.contains("cannot be reached for its discovery document"), "{provider}");
    let slug = text(&ada.get("/api/v1/auth/me").expect(200)["tenant"]["slug"]);
    let verify = document.take("iam-server domain verify").text.replace("analytical-engines", &slug);
    let output = shell.run(&verify);
    assert!(output.contains("Domain example.com ("), "{output}");
}

fn foresight(document: &mut Document) {
    let home = Home::new();
    let server = home.serve();
    let (_, token) = administrator(&server);
    let shell = Shell::new(home.path()).with("TOKEN", token.as_str());
    let shell = shell.with("API", format!("http://{}/api/v1", server.address));
    let session = [
        "field() {",
        "NEW=",
        "{\"allowed\":true,\"users\":1",
        "HELD=",
        "{\"data\":[{\"userId\"",
        "AT=",
        "{\"allowed\":true,\"reason\"",
        "get \"role-assignments",
        "{\"data\":[{\"id\"",
        "HELD=",
        "{\"data\":[{\"id\"",
        "send PATCH \"access-reviews",
        "{\"id\":",
        "curl -s \"$API/access-reviews",
    ];
    converse(&server, &shell, &session.map(|beginning| document.take(beginning)));
}

/// Makes a key, and reads the feed with it.
fn integrating(document: &mut Document) {
    let store = Store::sqlite();
    let server = store.iam_server().env("IAM_WEBHOOKS_ALLOW_PRIVATE", "on").serve();
    let (ada, token) = administrator(&server);
    wait_until_sequenced(&ada);
    let slug = text(&ada.get("/api/v1/auth/me").expect(200)["tenant"]["slug"]);
    let first = document.take("iam-server api-key create");
    let output = Shell::new(store.home().path()).run(&first.text.replace("analytical-engines", &slug));
    assert!(output.contains("Key: iamk_"), "{output}");

    let shell = Shell::new(store.home().path()).with("TOKEN", token.as_str());
    let shell = shell.with("API", format!("http://{}/api/v1", server.address));
    let functions = document.take("field() {");
    let key = shell.run(&format!("{}\necho\necho \"$KEY\"", functions.text));
    let shell = shell.with("KEY", key.lines().last().unwrap());
    let page = said(&shell.run(&document.take("curl -s \"$API/events?limit=2\"").text)).pop().unwrap();
    assert_shown(&document.take("{\"data\":[{\"sequence\":1"), &page);
    for endless in ["NEXT=0", "curl -sN"] {
        store.home().file("endless.sh", document.take(endless).text);
        let output = shell.run("timeout 3 bash endless.sh || test $? = 124");
        assert!(output.contains("USER.CREATE"), "{endless}: {output}");
    }

    let rehearsal = Rehearsal::new();
    for beginning in ["IAM_WEBHOOKS_ALLOW_PRIVATE=on", "WEBHOOK_SECRET="] {
        rehearsal.run(&document.take(beginning));
    }
    let receiver = Receiver::new();
    let here =
        |block: Block| Block { text: block.text.replace("127.0.0.1:9000", &receiver.address.to_string()), ..block };
    let session = ["HOOK=", "{\"secret\":", "ID=", "{\"httpStatus\":", "curl -s \"$API/webhooks"];
    let session = session.map(|beginning| here(document.take(beginning)));
    converse(&server, &shell, &[&[functions], &session[..]].concat());
    let created = || receiver.resources().len() > 1;
    wait_for("the event of a new user", TIMEOUT, || created().then_some(()));
}

/// Applies the example by the commands, and another manifest over HTTP.
fn manifests(document: &mut Document) {
    let store = Store::sqlite();
    let server = store.serve();
    let (ada, token) = administrator(&server);
    let slug = text(&ada.get("/api/v1/auth/me").expect(200)["tenant"]["slug"]);
    let example = document.take("# A manifest").text;
    assert_eq!(example, fs::read_to_string(repository().join("deploy/tenant.yaml")).unwrap());
    store.home().file("tenant.yaml", example);

    let shell = Shell::new(store.home().path()).with("TOKEN", token.as_str());
    let shell = shell.with("API", format!("http://{}/api/v1", server.address));
    let here = |block: &Block| block.text.replace("analytical-engines", &slug);
    let output = shell.run(&here(&document.take("iam-server apply")));
    assert_lines(&document.take("UPDATE settings").text.replace("…\n", ""), &output);
    assert!(output.ends_with(&format!("Tenant {slug} is changed: 11 changes.\n")), "{output}");
    let output = shell.run(&here(&document.take("export DEPLOY_KEY=")));
    assert_eq!(output, format!("Tenant {slug} has nothing to change.\n"));

    let mistaken = document.take("tenant.yaml:14: ").text;
    let other = fs::read_to_string(store.home().path().join("tenant.yaml")).unwrap();
    store.home().file("tenant.yaml", other.replace("[orders:read, orders:refund]", "[orders:read, orders:refnd]"));
    let refused = shell.try_run(&format!("iam-server apply --tenant {slug} -f tenant.yaml")).unwrap_err();
    assert_lines(&mistaken, &refused.replace("iam-server: ", ""));
    converse(&server, &shell, &document.take_all(&["sh", "json"]));
}

/// Sets an app up, logs in with it and authenticates again. Each code is that of another step.
fn second_factors(document: &mut Document, server: &Server, token: &str) {
    let setup = document.take("curl -X POST \"$API/auth/factors/totp\"");
    let confirm = document.take("curl -X POST \"$API/auth/factors/totp/$ID/confirm\"");
    let log_in = document.take("curl -X POST \"$API/auth/login\"");
    let finish = document.take("curl -X POST \"$API/auth/login/second-factor\"");
    let step_up = document.take("curl -X POST \"$API/auth/step-up\"");
    let home = Home::new();
    let shell = || {
        let shell = Shell::new(home.path()).with("TOKEN", token);
        shell.with("API", format!("http://{}/api/v1", server.address))
    };
    let answer = |shell: Shell, block: &Block, code: &str| {
        said(&shell.run(&block.text.replace("492039", code).replace("Passw0rd!", PASSWORD))).pop()
    };

    let shown_setup = answer(shell(), &setup, "").unwrap();
    assert_shown(&document.take("{ \"id\": \"019bb3f0-…\", \"secret\""), &shown_setup);
    let app = Authenticator::scan(&shown_setup);
    let confirmed = answer(shell().with("ID", app.id.as_str()), &confirm, &app.code(-1)).unwrap();
    assert_shown(&document.take("{ \"recoveryCodes\""), &confirmed);

    let pending = answer(shell(), &log_in, "").unwrap();
    assert_shown(&document.take("{ \"type\": \"https://iam.invalid/problems/second-factor-required\""), &pending);
    let challenge = shell().with("CHALLENGE", text(&pending["challenge"]));
    let login = answer(challenge, &finish, &app.code(0)).unwrap();
    assert_shown(&document.take("{ \"accessToken\""), &login);

    assert_eq!(answer(shell(), &step_up, &app.code(1)), None);
    let me = server.client().with_token(token).get("/api/v1/auth/me").expect(200);
    assert_eq!(me["amr"], json!(["pwd", "otp", "mfa"]));
}

fn deploying(document: &mut Document) {
    let rehearsal = Rehearsal::new();
    let (directory, home) = (rehearsal.directory(), Home::new());

    rehearsal.run(&document.take("docker build --tag iam-server .\ncd deploy"));
    for name in ["migrate.toml", "server.toml"] {
        let file = directory.join("deploy/secrets").join(name);
        assert_settings(home.iam_server().env("IAM_CONFIG", file));
    }

    let block = document.take("for replica in");
    rehearsal.run_as(&block, &format!("cd deploy\n{}", block.text));

    // The copy of the repository stands for the root of a machine.
    let block = document.take("install -m 755");
    for created in ["target/release", "usr/local/bin", "etc/systemd/system"] {
        fs::create_dir_all(directory.join(created)).unwrap();
    }
    fs::write(directory.join("target/release/iam-server"), "").unwrap();
    rehearsal.run_as(&block, &block.text.replace(" /", " "));
    let environment = fs::read_to_string(directory.join("etc/iam-server/environment")).unwrap();
    let variables = environment.lines().map(|line| line.split_once('=').unwrap());
    assert_settings(variables.fold(home.iam_server(), |launch, (name, value)| launch.env(name, value)));

    restored_from_a_file(document);
    restored_from_a_dump(document);
}

fn install(document: &mut Document) {
    installed(document, &["curl -fsSL https"]);
    let others = ["curl -fsSLO", "version=", "runuser ", "apt-get purge", "image="];
    installed(document, &others);
}

/// Runs all blocks in one shell, because a block uses the variables of the block before it.
fn releasing(document: &mut Document) {
    const VERSION: &str = "98.7.6";
    let rehearsal = Rehearsal::new();
    let blocks = document.take_all(&["sh"]);
    let text: String = blocks.iter().map(|block| block.text.as_str()).collect();
    let text =
        text.replace("version=…", &format!("version={VERSION}")).replace("address=…", "address=https://example.com");
    rehearsal.run_as(&blocks[0], &text);

    let read = |file: &str| fs::read_to_string(rehearsal.directory().join(file)).unwrap();
    let manifest: toml::Table = toml::from_str(&read("Cargo.toml")).unwrap();
    let workspace = &manifest["workspace"];
    assert_eq!(workspace["package"]["version"].as_str(), Some(VERSION));
    assert_eq!(workspace["package"]["repository"].as_str(), Some("https://example.com"));
    let path = |dependency: &toml::Value| dependency["path"].as_str().unwrap().to_owned();
    for (name, dependency) in workspace["dependencies"].as_table().unwrap() {
        let is_ours = name.starts_with("iam-");
        let version = dependency.get("version").or(Some(dependency)).and_then(|version| version.as_str());
        assert_eq!(version == Some(VERSION), is_ours, "{name} has the version {version:?}");
        assert!(
            !is_ours || read(&format!("{}/Cargo.toml", path(dependency))).contains("\nrepository.workspace = true\n"),
            "{name}"
        );
    }
    assert!(read("deploy/kubernetes.yaml").contains(&format!("/iam-server:{VERSION}")));
    assert!(
        read("deploy/helm/iam-server/Chart.yaml").contains(&format!("\nversion: {VERSION}\nappVersion: {VERSION}\n"))
    );
    assert!(read("clients/python/pyproject.toml").contains(&format!("\nversion = \"{VERSION}\"\n")));
    assert!(read("README.md").contains("https://example.com/releases/latest/download/"));
}

#[track_caller]
fn assert_settings(launch: Launch) {
    let ended = launch.args(["config"]).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

fn restored_from_a_file(document: &mut Document) {
    let [back_up, restore] = ["umask 077\nsqlite3", "mkdir lost"].map(|beginning| document.take(beginning));
    let intact = document.take("01a201c5-…: 16 entries");
    let older = document.take("01a201c5-…: 9 entries");
    let store = Store::sqlite();
    let shell = Shell::new(store.home().path());

    let server = store.serve();
    wait_until_sequenced(&administrator(&server).0);
    shell.run(&back_up.text);
    server.stop();
    assert_lines(&intact.text, &shell.run(&restore.text));

    let server = store.serve();
    server.client().log_in("ada@example.com");
    let token = server.client().log_in("ada@example.com").access;
    wait_until_sequenced(&server.client().with_token(&token));
    shell.run("rm -r lost kept\niam-server audit checkpoint kept");
    server.stop();
    let output = shell.try_run(&restore.text);
    assert_lines(&older.text, &output.expect_err("the backup is older than the checkpoint"));
}

/// The roles and the database of `deploy/postgres/roles.sql`, under other names.
struct Installation {
    /// Another database beside that of the installation. It has a unique name.
    store: Store,
    superuser: Url,
    name: String,
}

impl Installation {
    fn new() -> Self {
        let store = Store::postgres();
        let mut superuser = Url::parse(store.url()).unwrap();
        // psql does not understand the parameters that sqlx has added.
        superuser.set_query(None);
        let name = superuser.path().trim_start_matches('/').to_owned();
        let this = Self { store, superuser, name };
        let shell = this.shell();
        for file in ["deploy/postgres/roles.sql", "iam-store-postgres/grants.sql"] {
            let sql = fs::read_to_string(repository().join(file)).unwrap();
            let file = Path::new(file).file_name().unwrap().to_str().unwrap();
            this.store.home().file(file, this.adapted(&sql.replace("/run/secrets/", "")));
        }
        shell.run(
            "printf owner > owner-password
            printf server > server-password
            psql -v ON_ERROR_STOP=1 -f roles.sql \"$SUPERUSER\"
            IAM_DATABASE_URL=$OWNER iam-server migrate
            psql -v ON_ERROR_STOP=1 -f grants.sql \"$OWNER\"",
        );
        this
    }

    /// Replaces the names in the documents with those of this installation.
    fn adapted(&self, text: &str) -> String {
        let name = &self.name;
        let text = text.replace("iam_owner", &format!("{name}_owner")).replace("iam_server", &format!("{name}_server"));
        text.replace("iam_lost", &format!("{name}_lost")).replace("DATABASE iam ", &format!("DATABASE {name}_iam "))
    }

    fn url(&self, role: &str) -> String {
        let mut url = self.superuser.clone();
        url.set_username(&format!("{}_{role}", self.name)).unwrap();
        url.set_password(Some(role)).unwrap();
        url.set_path(&format!("{}_iam", self.name));
        url.into()
    }

    fn shell(&self) -> Shell {
        let shell = Shell::new(self.store.home().path()).with("SUPERUSER", self.superuser.as_str());
        shell.with("OWNER", self.url("owner")).with("SERVER", self.url("server"))
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        let name = &self.name;
        let removed = self.shell().try_run(&format!(
            "psql \"$SUPERUSER\" -c 'DROP DATABASE IF EXISTS {name}_iam WITH (FORCE)' \
                -c 'DROP DATABASE IF EXISTS {name}_lost WITH (FORCE)' \
                -c 'DROP ROLE IF EXISTS {name}_owner, {name}_server'"
        ));
        if let Err(output) = removed {
            println!("{output}");
        }
    }
}

fn restored_from_a_dump(document: &mut Document) {
    let [back_up, restore] = ["pg_dump", "psql"].map(|beginning| document.take(beginning));
    let installation = Installation::new();
    let shell = installation.shell();
    let server = installation.store.home().iam_server().env("IAM_DATABASE_URL", installation.url("server")).serve();
    wait_until_sequenced(&administrator(&server).0);
    shell.run(&installation.adapted(&back_up.text));
    server.stop();
    let output = shell.run(&installation.adapted(&restore.text));
    assert!(output.contains("nothing was changed"), "{output}");
}
