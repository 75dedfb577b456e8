//! A connection of the directory.

use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};

use crate::client::{Answer, Client, text};
use crate::process::{TIMEOUT, wait_for};
use crate::provisioning::Run;
use crate::provisioning::plan::{CHANGED, Plan, Step, group_name, member_values};

/// How long a request is repeated.
const PATIENCE: Duration = Duration::from_secs(2 * TIMEOUT.as_secs());
/// Of so many changes, the answer to one is lost on its way back.
const LOST: u32 = 20;

/// Sends one request after the other, and each until it is answered.
pub(super) struct Connection<'a> {
    run: &'a Run,
    client: Client,
    random: Rng,
}

impl<'a> Connection<'a> {
    pub(super) fn new(run: &'a Run, random: Rng) -> Self {
        let address = run.address.lock().unwrap().unwrap();
        Self { run, client: Client::of(address), random }
    }

    /// Takes a step. To take it twice is the same as to take it once.
    pub(super) fn take(&mut self, step: &Step) {
        let run = self.run;
        match step {
            Step::MakeUser(number) => {
                let id = self.create("Users", &Plan::filter_of_user(*number), &Plan::user(*number));
                run.users[*number].set(id).unwrap();
            }
            Step::MakeGroup(number) => {
                let id = self.create("Groups", &Plan::filter_of_group(*number), &Plan::group(*number));
                run.groups[*number].set(id).unwrap();
            }
            Step::RenameUser(number) => {
                let rename = json!({ "op": "Replace", "path": "name.familyName", "value": CHANGED });
                self.patch("Users", run.user(*number), &[rename]);
            }
            Step::Suspend(number) => {
                let suspend = json!({ "op": "Replace", "path": "active", "value": "False" });
                self.patch("Users", run.user(*number), &[suspend]);
            }
            Step::RenameGroup(number) => {
                let rename = json!({ "op": "replace", "value": { "displayName": group_name(*number, true) } });
                self.patch("Groups", run.group(*number), &[rename]);
            }
            Step::Fill(number, users) => {
                let users = users.iter().map(|user| run.user(*user));
                let add = json!({ "op": "Add", "path": "members", "value": member_values(users) });
                self.patch("Groups", run.group(*number), &[add]);
            }
            Step::Move(number) => {
                let operations = self.moves(*number);
                self.patch("Groups", run.group(*number), &operations);
            }
            Step::Map(number) => self.map(*number),
        }
    }

    /// Members leave a group, and others come. Directories name those who leave in two ways.
    fn moves(&self, group: usize) -> Vec<Value> {
        let (run, plan) = (self.run, &self.run.plan);
        let goers = plan.goers(group);
        let goers = goers.iter().map(|user| run.user(*user));
        let mut operations: Vec<Value> = if group.is_multiple_of(2) {
            vec![json!({ "op": "Remove", "path": "members", "value": member_values(goers) })]
        } else {
            goers.map(|id| json!({ "op": "remove", "path": format!("members[value eq \"{id}\"]") })).collect()
        };
        let comers = plan.comers(group);
        let comers = comers.iter().map(|user| run.user(*user));
        operations.push(json!({ "op": "Add", "path": "members", "value": member_values(comers) }));
        operations
    }

    /// The administrator maps a group to its role.
    fn map(&mut self, group: usize) {
        let run = self.run;
        let path = format!("/api/v1/directories/{}/groups/{}/grants", run.directory, run.group(group));
        let grants = json!({ "grants": [{ "roleId": run.role(group) }] });
        self.until_answered(&run.admin, "PUT", &path, Some(&grants)).expect(200);
    }

    fn patch(&mut self, collection: &str, id: &str, operations: &[Value]) {
        let message = json!({
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
            "Operations": operations,
        });
        let (run, path) = (self.run, format!("/scim/v2/{collection}/{id}"));
        self.until_answered(&run.key, "PATCH", &path, Some(&message)).expect(200);
    }

    /// Makes a resource. Before each attempt, it looks whether the attempt before has made it. Returns its identifier.
    fn create(&mut self, collection: &str, filter: &str, resource: &Value) -> String {
        let (run, path) = (self.run, format!("/scim/v2/{collection}"));
        wait_for(filter, PATIENCE, || {
            if let Some(id) = self.find(&path, filter) {
                return Some(id);
            }
            let answer = self.try_once(&run.key, "POST", &path, Some(resource))?;
            if answer.status == 409 {
                // The attempt before has made it after it was looked for.
                assert_eq!(answer.body["scimType"], "uniqueness", "{answer:?}");
                return None;
            }
            Some(text(&answer.expect(201)["id"]))
        })
    }

    fn find(&mut self, path: &str, filter: &str) -> Option<String> {
        let (run, filter) = (self.run, filter.replace(' ', "%20").replace('"', "%22"));
        let path = format!("{path}?filter={filter}");
        let found = self.until_answered(&run.key, "GET", &path, None).expect(200);
        match found["Resources"].as_array().unwrap().as_slice() {
            [] => None,
            [one] => Some(text(&one["id"])),
            several => panic!("{filter} finds {several:?}"),
        }
    }

    fn until_answered(&mut self, token: &str, method: &str, path: &str, body: Option<&Value>) -> Answer {
        wait_for(path, PATIENCE, || self.try_once(token, method, path, body))
    }

    /// Sends a request. `None` if the answer is lost, or if it says that the client may come again.
    fn try_once(&mut self, token: &str, method: &str, path: &str, body: Option<&Value>) -> Option<Answer> {
        let address = (*self.run.address.lock().unwrap())?;
        let body = body.map(Value::to_string);
        let answer = self.client.at(address).with_token(token).send(method, path, body.as_deref()).ok()?;
        let is_lost = method != "GET" && self.random.u32(..LOST) == 0;
        (!is_lost && answer.status != 429 && answer.status < 500).then_some(answer)
    }
}
