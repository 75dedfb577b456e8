//! What holds for every page of the console, in a real browser: it is accessible, fits the window, obeys its policy and
//! loads nothing from elsewhere. A new page gets a line in [`pages`].

use std::env;
use std::fs;

use serde_json::{Value, json};

use crate::browser::{picture, violations};
use crate::client::{Client, PASSWORD, text};
use crate::process::{Server, TIMEOUT, wait_for};
use crate::store::Store;
use crate::webdriver::Browser;
use crate::webhook::Receiver;

/// Browsers treat this address as safe without TLS.
const HOST: &str = "localhost";
const EMAIL: &str = "ada@example.com";
/// The password of every person of the demo.
const DEMO_PASSWORD: &str = "Passw0rd!";

/// The most that the first page may need without a cache, in bytes as they are sent.
const FIRST_PAGE: u64 = 60 * 1024;

/// What the pages show.
struct Seed {
    /// The person that is signed in.
    administrator: String,
    user: String,
    webhook: String,
    organization: String,
    review: String,
    role: String,
    /// A built-in role.
    admin: String,
    permission: String,
    directory: String,
    group: String,
    /// One by which the administrator may ask.
    eligibility: String,
    /// One that waits for the administrator.
    request: String,
    entry: String,
}

impl Seed {
    fn make(anonymous: &Client, receiver: &Receiver) -> Self {
        let ada = anonymous.log_in(EMAIL);
        let client = anonymous.with_token(&ada.access);
        let tenant = text(&client.get("/api/v1/auth/me").expect(200)["tenant"]["id"]);
        let attributes = json!({
            "userAttributes": [
                { "key": "costCentre", "type": "STRING", "searchable": true, "personReads": true },
                { "key": "nickname", "type": "STRING", "personWrites": true },
                { "key": "remote", "type": "BOOLEAN", "personWrites": true },
                { "key": "desk", "type": "OBJECT", "personWrites": true },
            ],
            "organizationAttributes": [{ "key": "region", "type": "STRING", "searchable": true }],
        });
        let path = format!("/api/v1/tenants/{tenant}");
        client.send("PATCH", &path, Some(&attributes.to_string())).unwrap().expect(200);
        let grace =
            json!({ "email": "grace@example.com", "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
        let user = text(&client.post("/api/v1/users", &grace).expect(201)["id"]);
        let webhook = json!({ "url": format!("http://{}/hook", receiver.address), "types": ["USER.*", "SESSION.*"] });
        let webhook = text(&client.post("/api/v1/webhooks", &webhook).expect(201)["id"]);
        let north = json!({ "name": "Northern branch" });
        let organization = text(&client.post("/api/v1/organizations", &north).expect(201)["id"]);
        let harbour = json!({ "name": "Harbour", "parentId": organization });
        client.post("/api/v1/organizations", &harbour).expect(201);
        let review = json!({ "name": "Spring", "dueAt": "2100-01-01T00:00:00Z" });
        let review = text(&client.post("/api/v1/access-reviews", &review).expect(201)["id"]);
        let role = json!({ "name": "CASHIER", "permissions": ["users:read"] });
        let role = text(&client.post("/api/v1/roles", &role).expect(201)["id"]);
        let roles = client.get("/api/v1/roles?limit=100").expect(200);
        let is_admin = |role: &&Value| role["name"] == "TENANT_ADMIN";
        let admin = text(&roles["data"].as_array().unwrap().iter().find(is_admin).unwrap()["id"]);
        let permission = json!({ "name": "orders:refund", "description": "Give money back." });
        let permission = text(&client.post("/api/v1/permissions", &permission).expect(201)["id"]);
        let (directory, group) = Self::directory(&client, &role);
        let id = |client: &Client, path: &str, body: &Value| text(&client.post(path, body).expect(201)["id"]);
        let own = json!({ "roleId": role, "userId": ada.user });
        let eligibility = id(&client, "/api/v1/eligibilities", &own);
        let of_grace = id(&client, "/api/v1/eligibilities", &json!({ "roleId": role, "userId": user }));
        let grace = anonymous.with_token(&anonymous.log_in("grace@example.com").access);
        let asked = json!({ "eligibilityId": of_grace, "reason": "The yearly audit.", "ticket": "OPS-7" });
        let request = id(&grace, "/api/v1/access-requests", &asked);
        let entry = text(&client.get("/api/v1/audit-logs").expect(200)["data"][0]["id"]);
        let administrator = ada.user;
        Self {
            administrator,
            user,
            webhook,
            organization,
            review,
            role,
            admin,
            permission,
            directory,
            group,
            eligibility,
            request,
            entry,
        }
    }

    /// Makes a directory that has sent a group, which gives a role, and a request that was refused.
    fn directory(client: &Client, role: &str) -> (String, String) {
        let id = |path: &str, body: &Value| text(&client.post(path, body).expect(201)["id"]);
        let account = id("/api/v1/service-accounts", &json!({ "name": "Entra" }));
        let provisioner = id("/api/v1/roles", &json!({ "name": "PROVISIONER", "permissions": ["users:*"] }));
        id("/api/v1/role-assignments", &json!({ "userId": account, "roleId": provisioner }));
        let directory = id("/api/v1/directories", &json!({ "name": "Entra", "serviceAccountId": account }));
        let key = json!({ "name": "entra", "permissions": ["users:*"] });
        let key = client.post(&format!("/api/v1/users/{account}/api-keys"), &key).expect(201);
        let entra = client.with_token(&text(&key["key"]));
        let finance = json!({ "displayName": "Finance" });
        let group = text(&entra.post("/scim/v2/Groups", &finance).expect(201)["id"]);
        entra.post("/scim/v2/Groups", &finance).expect(409);
        let grants = json!({ "grants": [{ "roleId": role }] });
        let path = format!("/api/v1/directories/{directory}/groups/{group}/grants");
        client.send("PUT", &path, Some(&grants.to_string())).unwrap().expect(200);
        (directory, group)
    }
}

/// The pages for a person that is signed in.
fn pages(seed: &Seed) -> Vec<String> {
    let Seed { administrator, user, webhook, organization, review, role, admin, permission, .. } = seed;
    let Seed { directory, group, eligibility, request, entry, .. } = seed;
    let fixed = [
        "",
        "/charts",
        "/users",
        "/users?search=nobody",
        "/users?attribute=costCentre&value=4711",
        "/users?search=example&status=ACTIVE&sortBy=email&sortOrder=desc",
        "/find",
        "/find?q=user",
        "/users/new",
        "/users/import",
        "/invitations",
        "/invitations/new",
        "/roles",
        "/roles/new",
        "/roles/matrix",
        "/roles/matrix?left=",
        "/permissions",
        "/permissions?search=nothing",
        "/permissions/new",
        "/assignments",
        "/assignments?user=grace@example.com",
        "/assignments/new",
        "/access",
        "/access/who",
        "/access/who?permission=users:read",
        "/access/holders",
        "/access/holders?organization=",
        "/organizations",
        "/organizations?search=nothing",
        "/organizations?attribute=region&value=north",
        "/organizations?search=branch&sortBy=createdAt",
        "/organizations/new",
        "/organizations/map",
        "/access-requests",
        "/access-requests?show=to-decide",
        "/access-requests?show=all",
        "/access-requests?show=all&status=ENDED",
        "/access-requests/new",
        "/eligibilities",
        "/eligibilities/new",
        "/access-reviews",
        "/access-reviews?status=CANCELLED",
        "/access-reviews/new",
        "/audit",
        "/audit?from=2020-01-01&until=2020-01-01",
        "/webhooks",
        "/webhooks/new",
        "/directories",
        "/directories/new",
        "/tenant",
        "/account",
        "/account/email",
        "/account/password",
        "/account/authenticator",
        "/account/passkey",
        "/runs",
        "/runs/unknown",
        "/nothing",
    ];
    let of_seed = [
        format!("/users/{user}"),
        format!("/users/{administrator}"),
        format!("/users/{user}/api-keys/new"),
        format!("/access?user={user}&permission=users:read"),
        format!("/access/holders?organization={organization}"),
        format!("/roles/{role}"),
        format!("/roles/{role}/edit"),
        format!("/roles/matrix?left={role}&right={admin}"),
        format!("/roles/matrix?left={role}&right={admin}&only=1"),
        format!("/permissions/{permission}"),
        format!("/organizations/{organization}"),
        format!("/organizations/{organization}/move"),
        format!("/organizations/map?root={organization}"),
        format!("/access-requests/{request}"),
        format!("/access-requests/new?eligibility={eligibility}"),
        format!("/eligibilities/{eligibility}"),
        format!("/access-reviews/{review}"),
        format!("/audit/{entry}"),
        format!("/webhooks/{webhook}"),
        format!("/directories/{directory}"),
        format!("/directories/{directory}/groups"),
        format!("/directories/{directory}/groups?search=nothing"),
        format!("/directories/{directory}/groups/{group}"),
    ];
    fixed.map(str::to_owned).into_iter().chain(of_seed).collect()
}

/// A server and a browser that knows only this server.
struct Visit {
    browser: Browser,
    origin: String,
    axe: String,
}

impl Visit {
    fn to(server: &Server) -> Self {
        let path = env::var("IAM_TEST_AXE").expect("needs axe-core: run scripts/test or scripts/with-chromium");
        let axe = fs::read_to_string(path).unwrap();
        let origin = format!("http://{HOST}:{}", server.address.port());
        Self { browser: Browser::knowing(HOST, server.address), origin, axe }
    }

    fn open(&self, path: &str) {
        self.browser.open(&format!("{}/console{path}", self.origin));
    }

    /// Checks the page that the browser shows, in a narrow and dark window and in a wide and light one. The window stays
    /// wide, so that the menu is not folded.
    fn check(&self, what: &str) {
        let Self { browser, axe, .. } = self;
        browser.run(axe);
        for (width, scheme) in [(360, "dark"), (1_600, "light")] {
            browser.emulate(width, scheme);
            let seen = browser.run("return [innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]");
            assert_eq!(seen, json!([width, scheme == "dark"]), "{what}");
            assert_eq!(browser.run(TOO_WIDE), json!([]), "{what} at {width} px is too wide");
            let found = browser.run(AXE);
            assert!(found["checked"].as_u64().unwrap() > 10, "{what}: {found:#}");
            assert_eq!(found["violations"], json!([]), "{what} at {width} px, {scheme}");
        }
    }

    fn sign_in(&self) {
        self.open("/sign-in");
        self.browser.type_into("//input[@id='email']", EMAIL);
        self.browser.type_into("//input[@id='password']", PASSWORD);
        self.browser.click("//main//button");
        self.browser.text_of("//h1[starts-with(text(), 'Welcome')]");
    }
}

/// The elements that make a page wider than the window.
const TOO_WIDE: &str = "
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    const isOutside = (element) => element.getBoundingClientRect().right > innerWidth;
    return [...document.querySelectorAll('body *')].filter(isOutside).map((element) => element.outerHTML.slice(0, 200));";

/// All rules of axe-core, also those that it does not use by itself. Only violations name their elements, which takes long.
const AXE: &str = "
    const options = { rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'] };
    return axe.run(document, options).then((results) => ({
        checked: results.passes.length,
        violations: results.violations.map((violation) =>
            [violation.id, ...violation.nodes.map((node) => `${node.html}: ${node.failureSummary}`)]),
    }));";

#[test]
fn every_page_is_accessible_fits_the_window_and_loads_nothing_from_elsewhere() {
    let receiver = Receiver::new();
    let store = Store::sqlite();
    let server = store.iam_server().env("IAM_WEBHOOKS_ALLOW_PRIVATE", "on").serve();
    let visit = Visit::to(&server);
    let browser = &visit.browser;
    visit.open("/sign-in");
    let sent = "return performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize ?? 0), 0)";
    let sent = browser.run(sent).as_u64().unwrap();
    assert!(sent > 10_000 && sent < FIRST_PAGE, "{sent} bytes");
    visit.check("sign-in before the first tenant");
    visit.open("/register");
    visit.check("register");

    server.client().register(EMAIL);
    let seed = Seed::make(&server.client(), &receiver);
    visit.open("/sign-in?ended=1");
    visit.check("sign-in");
    browser.type_into("//input[@id='email']", EMAIL);
    browser.type_into("//input[@id='password']", "Wr0ng-pass!");
    browser.click("//main//button");
    browser.text_of("//p[@role='alert' and contains(@class, 'error')]");
    visit.check("sign-in with an error");
    visit.sign_in();
    for path in pages(&seed) {
        visit.open(&path);
        visit.check(&path);
    }
    for path in ["/audit".to_owned(), format!("/users/{}", seed.administrator)] {
        visit.open(&path);
        browser.run(
            "document.querySelectorAll('main details:not(.filters)').forEach((details) => { details.open = true; })",
        );
        visit.check(&format!("{path} with all details"));
    }
    visit.open(&format!("/users/{}", seed.user));
    browser.click("//details[@class='more']/summary");
    visit.check("the actions on a user");
    browser.click("//button[starts-with(text(), 'Suspend')]");
    browser.text_of("//h1[text()='Suspend grace@example.com']");
    visit.check("the confirmation of a suspension");
    visit.open("/users");
    browser.type_into("//a[@class='brand']", "/");
    browser.type_into("//input[@id='palette-q']", "user");
    browser.text_of("//a[@role='option'][@aria-selected='true']");
    visit.check("the palette with results");
    check_an_action_on_many(&visit);
    visit.open("/users/new");
    let person = [("firstName", "Mary"), ("lastName", "Lee"), ("email", "mary@example.com"), ("password", "weak")];
    for (field, typed) in person {
        browser.type_into(&format!("//input[@id='{field}']"), typed);
    }
    browser.click("//main//button");
    browser.text_of("//p[@id='password-error']");
    visit.check("a form with an error");
    browser.run("document.querySelector('main [name=form-token]').value = 'old'");
    browser.type_into("//input[@id='password']", PASSWORD);
    browser.click("//main//button");
    browser.text_of("//h1[text()='Send the form again?']");
    visit.check("a form of an earlier session");

    assert_eq!(violations(browser), Vec::<String>::new());
    let elsewhere: Vec<String> = browser.requests().into_iter().filter(|url| !url.starts_with(&visit.origin)).collect();
    assert!(elsewhere.iter().all(|url| url.starts_with("data:") || url.starts_with("chrome:")), "{elsewhere:#?}");
}

#[test]
fn a_brand_can_be_read_on_comfortable_and_on_compact_pages() {
    let store = Store::sqlite();
    let picture = "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'><rect width='8' height='8'/></svg>";
    let logo = store.home().file("logo.svg", picture);
    let launch = store.iam_server().env("IAM_BRAND_NAME", "Acme").env("IAM_BRAND_ACCENT", "#7c3aed");
    let server = launch.env("IAM_BRAND_LOGO", logo).serve();
    server.client().register(EMAIL);
    let visit = Visit::to(&server);
    let browser = &visit.browser;
    visit.open("/sign-in");
    visit.check("sign-in with a brand");
    let seen = "
        const button = getComputedStyle(document.querySelector('main button')).backgroundColor;
        return [button, document.querySelector('.brand img').naturalWidth, document.querySelector('.brand').textContent];";
    assert_eq!(browser.run(seen), json!(["rgb(124, 58, 237)", 8, "Acme"]));
    visit.sign_in();
    // An icon of the file has a size only after the browser has loaded it.
    browser.wait_for_result("return document.querySelector('nav .icon use').getBBox().width > 0", &json!(true));
    visit.check("the overview with a brand");
    browser.click("//details[@class='me']/summary");
    browser.click("//button[text()='Compact view']");
    browser.wait_for_result("return document.documentElement.dataset.density", &json!("compact"));
    for path in ["", "/users", "/users/new"] {
        visit.open(path);
        visit.check(&format!("{path} with compact lines"));
    }
    assert_eq!(violations(browser), Vec::<String>::new());
}

/// Selects a user, assigns a role by the pages of actions on many, and checks each of them.
fn check_an_action_on_many(visit: &Visit) {
    let browser = &visit.browser;
    visit.open("/users?search=grace");
    browser.click("//td[@class='select']/input");
    browser.text_of("//p[@data-selected][text()='1 selected']");
    visit.check("a selection");
    browser.click("//button[@value='assign']");
    browser.text_of("//h1[text()='Add 1 role assignment']");
    visit.check("the details of an action on many");
    browser.type_into("//input[@id='role']", "CASHIER");
    browser.click("//main//form//button");
    browser.text_of("//h2[@id='taken']");
    visit.check("the preview of an action on many");
    browser.click("//button[@name='confirmed']");
    // The page asks until the run has ended.
    browser.text_of("//p[@id='found'][text()='1 of 1 done']");
    browser.text_of("//button[text()='Revoke these assignments…']");
    visit.check("a run");
}

/// The check would find what it looks for.
#[test]
fn the_check_of_pages_finds_an_error() {
    let server_store = Store::sqlite();
    let server = server_store.serve();
    let visit = Visit::to(&server);
    visit.open("/sign-in");
    visit.browser.run(&visit.axe);
    visit.browser.run("document.querySelector('label').remove()");
    let found = visit.browser.run(AXE);
    assert!(found["violations"].to_string().contains("\"label\""), "{found:#}");
    visit.browser.run("document.querySelector('main').append(document.createElement('img'))");
    assert!(visit.browser.run(AXE)["violations"].to_string().contains("image-alt"));
}

#[test]
fn a_webhook_is_made_tested_followed_and_deleted() {
    for store in [Store::sqlite(), Store::postgres()] {
        let receiver = Receiver::new();
        let server = store.iam_server().env("IAM_WEBHOOKS_ALLOW_PRIVATE", "on").serve();
        server.client().register(EMAIL);
        let visit = Visit::to(&server);
        let browser = &visit.browser;
        visit.sign_in();
        browser.click("//nav//a[text()='Webhooks']");
        browser.click("//a[text()='New webhook']");
        browser.type_into("//input[@id='url']", &format!("http://{}/hook", receiver.address));
        browser.type_into("//textarea[@id='types']", "USER.CREATE\nuser");
        browser.click("//main//button");
        assert!(browser.text_of("//p[@id='types-error']").starts_with("user must be a resource type"));
        browser.clear("//textarea[@id='types']");
        assert!(browser.text_of("//summary[code='USER']").ends_with("1 of 15"));
        browser.click("//main//button");
        assert!(browser.text_of("//main//li/code").starts_with("whsec_"));
        visit.check("the secret of a webhook");
        browser.click("//a[text()='Done']");

        browser.click("//button[text()='Send test']");
        let answer = browser.text_of("//p[@role='status' and text()]");
        assert!(answer.starts_with("The receiver answered 204"), "{answer}");
        browser.click("//nav//a[text()='Users']");
        browser.click("//a[text()='New user']");
        let person =
            [("firstName", "Grace"), ("lastName", "Hopper"), ("email", "g@example.com"), ("password", PASSWORD)];
        for (field, typed) in person {
            browser.type_into(&format!("//input[@id='{field}']"), typed);
        }
        browser.click("//main//button");
        browser.text_of("//h1[text()='Grace Hopper']");
        let client = server.client();
        let client = client.with_token(&client.log_in(EMAIL).access);
        let webhook = text(&client.get("/api/v1/webhooks").expect(200)["data"][0]["id"]);
        let deliveries = || client.get(&format!("/api/v1/webhooks/{webhook}/deliveries")).expect(200)["data"].take();
        wait_for("a delivery", TIMEOUT, || (deliveries() != json!([])).then_some(()));
        browser.click("//nav//a[text()='Webhooks']");
        browser.click("//main//td/a");
        assert_eq!(browser.text_of("//ol//strong"), "USER.CREATE");
        browser.click("//ol//button[starts-with(text(), 'Resend')]");
        assert!(browser.text_of("//p[@role='status' and text()]").starts_with("The events are sent again"));
        browser.click("//input[@id='enabled']");
        browser.click("//button[text()='Save']");
        browser.text_of("//div[@class='head']/span[text()='Off']");
        visit.check("a webhook with a delivery");
        browser.click("//summary[text()='Delete…']");
        browser.click("//button[text()='Yes, delete this webhook']");
        browser.text_of("//p[text()='The webhook is deleted.']");
        assert_eq!(violations(browser), Vec::<String>::new());
    }
}

#[test]
fn the_settings_of_the_tenant_are_changed() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        server.client().register(EMAIL);
        let visit = Visit::to(&server);
        let browser = &visit.browser;
        visit.sign_in();
        browser.click("//nav//a[text()='Settings']");
        browser.clear("//input[@id='slug']");
        browser.type_into("//input[@id='slug']", "No Slug");
        browser.click("//select[@id='authzenIdentifiers']/option[@value='NAME']");
        browser.click("//button[text()='Save']");
        assert!(browser.text_of("//p[@id='slug-error']").starts_with("Short name must"));
        browser.clear("//input[@id='slug']");
        browser.type_into("//input[@id='slug']", "engines");
        browser.click("//button[text()='Save']");
        assert_eq!(browser.text_of("//p[@role='status' and text()]"), "The changes are saved.");
        let identifiers = browser.run("return document.getElementById('authzenIdentifiers').value");
        assert_eq!(identifiers, Value::from("NAME"), "what was chosen before the mistake is kept");
        browser.type_into("//input[@id='retentionDays']", "365");
        browser.click("//button[text()='Save retention']");
        browser.text_of("//section[@aria-labelledby='retention']//p[contains(., 'They are kept for 365 days from')]");
        visit.check("the settings with a retention");
        assert_eq!(violations(browser), Vec::<String>::new());
    }
}

/// Writes the pictures of docs/console/README.md: every page, with the data of the demo.
#[test]
#[ignore = "writes pictures of the documentation; scripts/console-pictures runs it"]
fn pictures_of_every_page_are_written() {
    let store = Store::sqlite();
    assert_eq!(store.iam_server().args(["demo"]).run().code, Some(0));
    let server = store.iam_server().env("IAM_WEBHOOKS_ALLOW_PRIVATE", "on").serve();
    let visit = Visit::to(&server);
    let browser = &visit.browser;
    let login = json!({ "email": EMAIL, "password": DEMO_PASSWORD });
    let client = server.client();
    let ada = client.post("/api/v1/auth/login", &login).expect(200);
    let client = client.with_token(&text(&ada["accessToken"]));
    let first = |list: &str| text(&client.get(&format!("/api/v1/{list}")).expect(200)["data"][0]["id"]);
    let webhook = json!({ "url": "https://example.com/events", "types": ["USER.*"] });
    let webhook = text(&client.post("/api/v1/webhooks", &webhook).expect(201)["id"]);
    let review = json!({ "name": "Spring", "dueAt": "2100-01-01T00:00:00Z" });
    let review = text(&client.post("/api/v1/access-reviews", &review).expect(201)["id"]);
    let (user, role, branch) = (first("users?search=grace"), first("roles"), first("organizations?search=southern"));

    visit.open("/sign-in");
    picture(browser, "sign-in");
    browser.type_into("//input[@id='email']", EMAIL);
    browser.type_into("//input[@id='password']", DEMO_PASSWORD);
    browser.click("//main//button");
    browser.text_of("//h1[starts-with(text(), 'Welcome')]");
    for (name, path) in [
        ("overview", String::new()),
        ("users", "/users".to_owned()),
        ("user", format!("/users/{user}")),
        ("new-user", "/users/new".to_owned()),
        ("import", "/users/import".to_owned()),
        ("invitations", "/invitations".to_owned()),
        ("new-invitation", "/invitations/new".to_owned()),
        ("roles", "/roles".to_owned()),
        ("role", format!("/roles/{role}")),
        ("new-role", "/roles/new".to_owned()),
        ("compared", "/roles/matrix?left=AUDITOR&right=ORDER_CLERK".to_owned()),
        ("permissions", "/permissions".to_owned()),
        ("assignments", "/assignments".to_owned()),
        ("new-assignment", "/assignments/new".to_owned()),
        ("why", format!("/access?user={user}&permission=orders:create&organization={branch}")),
        ("who", format!("/access/who?permission=orders:create&organization={branch}")),
        ("holders", format!("/access/holders?organization={branch}")),
        ("organizations", "/organizations".to_owned()),
        ("map", "/organizations/map".to_owned()),
        ("organization", format!("/organizations/{branch}")),
        ("move", format!("/organizations/{branch}/move")),
        ("access-reviews", "/access-reviews".to_owned()),
        ("access-review", format!("/access-reviews/{review}")),
        ("access-requests", "/access-requests".to_owned()),
        ("eligibilities", "/eligibilities".to_owned()),
        ("audit-log", "/audit".to_owned()),
        ("found", "/find?q=or".to_owned()),
        ("webhooks", "/webhooks".to_owned()),
        ("webhook", format!("/webhooks/{webhook}")),
        ("settings", "/tenant".to_owned()),
        ("account", "/account".to_owned()),
    ] {
        visit.open(&path);
        browser.text_of("//h1");
        if name == "overview" {
            // The charts are loaded after the page.
            browser.text_of("//figcaption");
        }
        picture(browser, name);
    }
}
