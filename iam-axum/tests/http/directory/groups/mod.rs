//! Groups of directories, as administrators see them (`docs/directories.md#mapping-a-group`).

mod list;
mod mapping;

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::access_table::{fresh, fresh_email};
use crate::api_key::text;
use crate::app::TestApp;
use crate::people::{Person, with};
use crate::request::Request;

in_memory![
    a_group_shows_its_mapping_and_the_number_of_its_members,
    each_operation_needs_a_permission,
    another_tenant_and_another_directory_find_no_group,
];

impl TestApp {
    /// Lets a directory make a group, by an account that may do so from then on. Returns its id.
    pub(crate) async fn directory_group(&self, by: &Person, directory: &str) -> String {
        let shown = self.get(&format!("/directories/{directory}")).by(by).send().await.ok();
        let account = shown["serviceAccountId"].as_str().unwrap();
        let role = fresh("GROUPS_");
        self.role(by, &role, &["users:update"]).await;
        self.assign(by, account, &role, None, None).await;
        let key = self.key(by, account, &json!({ "permissions": ["users:update"] })).await;
        let group = self.provision_group(text(&key), &json!({ "displayName": fresh("Group ") })).await;
        group["id"].as_str().unwrap().to_owned()
    }
}

/// A tenant with a directory.
struct Company<'a> {
    app: &'a TestApp,
    ada: Person,
    directory: String,
    account: String,
    key: String,
}

impl<'a> Company<'a> {
    /// A directory whose account may manage users, and give the roles that read roles and users.
    async fn of(app: &'a TestApp) -> Self {
        let ada = app.register("ada@example.com").await;
        Self::at(app, &ada).await
    }

    async fn at(app: &'a TestApp, ada: &Person) -> Self {
        let account = app.robot(ada, &["users:*", "role-assignments:*", "roles:read"]).await;
        let directory = app.directory(ada, &json!({ "serviceAccountId": account })).await;
        let directory = directory["id"].as_str().unwrap().to_owned();
        let key = text(&app.key(ada, &account, &json!({})).await).to_owned();
        Self { app, ada: ada.clone(), directory, account, key }
    }

    /// A user of the directory.
    async fn user(&self) -> String {
        let user = self.app.provision(&self.key, &json!({ "userName": fresh_email() })).await;
        user["id"].as_str().unwrap().to_owned()
    }

    /// A group of these users. Returns its id.
    async fn group(&self, name: &str, users: &[&String]) -> String {
        let members: Vec<Value> = users.iter().map(|user| json!({ "value": user })).collect();
        let group = self.app.provision_group(&self.key, &json!({ "displayName": name, "members": members })).await;
        group["id"].as_str().unwrap().to_owned()
    }

    /// The path of the groups, or of what is below it.
    fn path(&self, below: &str) -> String {
        format!("/directories/{}/groups{below}", self.directory)
    }

    fn get(&self, below: &str) -> Request<'a> {
        self.app.get(&self.path(below)).by(&self.ada)
    }

    fn map(&self, by: &Person, group: &str, grants: &Value) -> Request<'a> {
        let path = self.path(&format!("/{group}/grants"));
        self.app.put(&path).by(by).json(&json!({ "grants": grants }))
    }
}

async fn a_group_shows_its_mapping_and_the_number_of_its_members(app: TestApp) {
    let company = Company::of(&app).await;
    let user = company.user().await;
    let body = json!({ "displayName": "Sales", "externalId": "9c41", "members": [{ "value": user }] });
    let group = app.provision_group(&company.key, &body).await;
    let id = group["id"].as_str().unwrap();
    let expected = json!({
        "id": id,
        "directoryId": company.directory,
        "displayName": "Sales",
        "externalId": "9c41",
        "members": 1,
        "grants": [],
        "createdAt": app.now(),
        "updatedAt": app.now(),
    });
    let at = format!("/{id}");
    assert_eq!(company.get(&at).send().await.ok(), expected);
    assert_eq!(company.get("").send().await.ok()["data"], json!([expected]));
    app.pass(TimeDelta::seconds(1));
    let role = app.role(&company.ada, "CLERK", &["roles:read"]).await;
    let mapped = company.map(&company.ada, id, &json!([{ "roleId": role }])).send().await.ok();
    let grants = json!([{ "roleId": role, "organizationId": null }]);
    assert_eq!(mapped, with(expected, &json!({ "grants": grants, "updatedAt": app.now() })));
    assert_eq!(company.get(&at).send().await.ok(), mapped);
    let plain = company.group("Support", &[]).await;
    assert_eq!(company.get(&format!("/{plain}")).send().await.ok()["externalId"], Value::Null);
}

async fn each_operation_needs_a_permission(app: TestApp) {
    let company = Company::of(&app).await;
    let group = company.group("Sales", &[]).await;
    let all = ["directories:create", "directories:delete", "users:*", "role-assignments:*"];
    let bob = app.colleague_who_may(&company.ada, "bob@example.com", &all).await;
    for below in [String::new(), format!("/{group}")] {
        app.get(&company.path(&below)).by(&bob).send().await.lacks("directories:read");
    }
    company.map(&bob, &group, &json!([])).send().await.lacks("directories:update");
    app.permit(&bob, &["directories:read"]).await;
    for below in [String::new(), format!("/{group}")] {
        app.get(&company.path(&below)).by(&bob).send().await.ok();
    }
    // What a mapping gives can be taken away without the permission to assign.
    let carol = app.colleague_who_may(&company.ada, "carol@example.com", &["directories:update"]).await;
    let role = app.role(&company.ada, "CLERK", &["roles:read"]).await;
    let grants = json!([{ "roleId": role }]);
    company.map(&carol, &group, &grants).send().await.lacks("role-assignments:create");
    company.map(&company.ada, &group, &grants).send().await.ok();
    assert_eq!(company.map(&carol, &group, &json!([])).send().await.ok()["grants"], json!([]));
}

async fn another_tenant_and_another_directory_find_no_group(app: TestApp) {
    let company = Company::of(&app).await;
    let group = company.group("Sales", &[]).await;
    let eve = app.register("eve@example.net").await;
    let theirs = Company::at(&app, &eve).await;
    let beside = Company::at(&app, &company.ada).await;
    for (by, at) in [
        (&eve, company.path("")),
        (&eve, company.path(&format!("/{group}"))),
        (&eve, theirs.path(&format!("/{group}"))),
        (&company.ada, beside.path(&format!("/{group}"))),
        (&company.ada, company.path(&format!("/{}", company.directory))),
        (&company.ada, format!("/directories/{group}/groups")),
    ] {
        app.get(&at).by(by).send().await.problem("not-found");
        if !at.ends_with("/groups") {
            let grants = app.put(&format!("{at}/grants")).by(by).json(&json!({ "grants": [] }));
            app.unrecorded(&company.ada, grants.send()).await.problem("not-found");
        }
    }
    assert_eq!(beside.get("").send().await.ok()["data"], json!([]));
    for (at, field) in [("/directories/x/groups".to_owned(), "id"), (company.path("/x"), "groupId")] {
        assert_eq!(app.get(&at).by(&company.ada).send().await.invalid_fields(), [field]);
    }
}
