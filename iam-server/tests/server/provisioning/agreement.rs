//! What the service says at the end, by SCIM, by the API and in the audit log, beside what the directory wants.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::Range;

use serde_json::{Value, json};

use crate::audit::wait_until_sequenced;
use crate::client::{Client, text};
use crate::process::Server;
use crate::provisioning::plan::{CHANGED, Plan, external_id, group_name, user_name};
use crate::provisioning::{ADMINISTRATOR, Run};
use crate::store::Store;

/// The number of failures that are shown.
const SHOWN: usize = 5;

/// Asks as the administrator, and as the directory.
pub(super) struct Agreement<'a> {
    run: &'a Run,
    admin: Client,
    directory: Client,
}

impl<'a> Agreement<'a> {
    pub(super) fn of(run: &'a Run, server: &Server) -> Self {
        let by = |token: &str| server.client().with_token(token);
        Self { run, admin: by(&run.admin), directory: by(&run.key) }
    }

    pub(super) fn check(&self, store: &Store) {
        self.check_users();
        self.check_groups();
        self.check_assignments();
        self.check_log(store);
    }

    fn check_users(&self) {
        let shown = |user: &Value| json!([user["id"], user["userName"], user["name"], user["active"]]);
        let found = once(self.all_by_scim("Users"), |user| text(&user["externalId"]), shown);
        let name = json!({ "givenName": "Grace", "familyName": CHANGED });
        let wanted = |number| json!([self.run.user(number), user_name(number), name, Plan::is_active(number)]);
        let wanted = self.users().map(|number| (external_id(number), wanted(number)));
        assert_same("users by SCIM", &found, &wanted.collect());

        let mut users = self.all_by_api("users");
        // Without the administrator and the service account.
        users.retain(|user| user["email"].as_str().is_some_and(|email| email != ADMINISTRATOR));
        let shown = |user: &Value| json!([user["email"], user["firstName"], user["lastName"], user["status"]]);
        let found = once(users, |user| text(&user["id"]), shown);
        let status = |number| if Plan::is_active(number) { "ACTIVE" } else { "SUSPENDED" };
        let wanted = |number| json!([user_name(number), "Grace", CHANGED, status(number)]);
        let wanted = self.users().map(|number| (self.run.user(number).to_owned(), wanted(number)));
        assert_same("users by the API", &found, &wanted.collect());
    }

    fn check_groups(&self) {
        let run = self.run;
        let shown = |group: &Value| {
            let members = group["members"].as_array().into_iter().flatten();
            let sorted: BTreeSet<String> = members.clone().map(|member| text(&member["value"])).collect();
            assert_eq!(sorted.len(), members.count(), "a member is there twice: {group}");
            json!([group["id"], group["displayName"], sorted])
        };
        let found = once(self.all_by_scim("Groups"), |group| text(&group["externalId"]), shown);
        let members = |number| -> BTreeSet<&str> {
            let members = run.plan.members(number);
            members.into_iter().map(|member| run.user(member)).collect()
        };
        let wanted = |number| json!([run.group(number), group_name(number, true), members(number)]);
        let wanted = self.groups().map(|number| (external_id(number), wanted(number)));
        assert_same("groups by SCIM", &found, &wanted.collect());

        let groups = self.all_by_api(&format!("directories/{}/groups", run.directory));
        let shown = |group: &Value| json!([group["displayName"], group["members"], group["grants"]]);
        let found = once(groups, |group| text(&group["id"]), shown);
        let grants = |number| -> Vec<Value> {
            let role = run.role(number).into_iter();
            role.map(|role| json!({ "roleId": role, "organizationId": null })).collect()
        };
        let wanted = |number| json!([group_name(number, true), members(number).len(), grants(number)]);
        let wanted = self.groups().map(|number| (run.group(number).to_owned(), wanted(number)));
        assert_same("groups by the API", &found, &wanted.collect());
    }

    /// A user who is in two groups with the same role has one assignment, of one of them.
    fn check_assignments(&self) {
        let run = self.run;
        let mut assignments = self.all_by_api("role-assignments");
        // Without those of the administrator and of the service account.
        assignments.retain(|assignment| !assignment["directoryGroupId"].is_null());
        let context = |assignment: &Value| context(&assignment["userId"], &assignment["roleId"]);
        let shown = |assignment: &Value| {
            assert!(assignment["organizationId"].is_null() && assignment["expiresAt"].is_null(), "{assignment}");
            text(&assignment["directoryGroupId"])
        };
        let mut found = once(assignments, context, shown);
        let held = self.held();
        for (context, groups) in &held {
            // One group is as right as another.
            if let Some(group) = found.get_mut(context).filter(|group| groups.contains(group)) {
                group.clone_from(&groups[0]);
            }
        }
        let wanted = held.into_iter().map(|(context, groups)| (context, groups[0].clone()));
        assert_same("role assignments", &found, &wanted.collect());
        println!("{} users, {} groups, {} role assignments", run.users.len(), run.groups.len(), found.len());
    }

    /// Every change has one entry, however often it was sent, and the log is complete.
    fn check_log(&self, store: &Store) {
        let (run, plan) = (self.run, &self.run.plan);
        wait_until_sequenced(&self.admin);
        let log = Log(self.admin.audit_entries(""));
        let users = each_once(self.users().map(|user| run.user(user)));
        let created =
            |entry: &Value| is(entry, "USER", "CREATE") && entry["metadata"]["directoryId"] == run.directory.as_str();
        assert_same("entries of new users", &log.count(created), &users);
        let renamed = |entry: &Value| is(entry, "USER", "UPDATE") && entry["newValue"]["lastName"] == CHANGED;
        assert_same("entries of new names", &log.count(renamed), &users);
        let left = self.users().filter(|user| !Plan::is_active(*user));
        let left = each_once(left.map(|user| run.user(user)));
        assert_same("entries of suspensions", &log.count(|entry| is(entry, "USER", "USER_SUSPENDED")), &left);

        let groups = each_once(self.groups().map(|group| run.group(group)));
        assert_same("entries of new groups", &log.count(|entry| is(entry, "DIRECTORY_GROUP", "CREATE")), &groups);
        let changed = |field: &'static str| {
            move |entry: &Value| is(entry, "DIRECTORY_GROUP", "UPDATE") && !entry["newValue"][field].is_null()
        };
        assert_same("entries of new names of groups", &log.count(changed("displayName")), &groups);
        let mapped = self.groups().filter(|group| plan.role(*group).is_some());
        let mapped = each_once(mapped.map(|group| run.group(group)));
        assert_same("entries of mappings", &log.count(changed("grants")), &mapped);
        let turnover = self.groups().map(|group| (run.group(group).to_owned(), plan.turnover(group)));
        assert_same("members in the entries", &log.turnover(), &turnover.collect());
        let held = self.held().into_keys().map(|context| (context, 1));
        assert_same("role assignments in the entries", &log.held(), &held.collect());

        let sequenced = self.admin.get("/api/v1/audit-logs/checkpoint").expect(200)["treeSize"].as_u64().unwrap();
        assert_eq!(sequenced, log.0.len() as u64, "every entry has one leaf");
        let verified = store.iam_server().args(["audit", "verify"]).run();
        assert_eq!(verified.code, Some(0), "{verified:?}");
    }

    fn users(&self) -> Range<usize> {
        0..self.run.plan.users
    }

    fn groups(&self) -> Range<usize> {
        0..self.run.plan.groups
    }

    /// The groups that give a role to a user, by user and role.
    fn held(&self) -> BTreeMap<String, Vec<String>> {
        let run = self.run;
        let held = run.plan.held().into_iter().map(|((user, role), groups)| {
            let groups = groups.into_iter().map(|group| run.group(group).to_owned()).collect();
            (context(&json!(run.user(user)), &json!(run.roles[role])), groups)
        });
        held.collect()
    }

    fn all_by_scim(&self, collection: &str) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            let path = format!("/scim/v2/{collection}?count=50&startIndex={}", all.len() + 1);
            let page = self.directory.get(&path).expect(200);
            let resources = page["Resources"].as_array().unwrap();
            if resources.is_empty() {
                assert_eq!(page["totalResults"], all.len(), "{path}");
                return all;
            }
            all.extend(resources.iter().cloned());
        }
    }

    fn all_by_api(&self, path: &str) -> Vec<Value> {
        let mut all = Vec::new();
        for page in 1.. {
            let body = self.admin.get(&format!("/api/v1/{path}?limit=100&page={page}")).expect(200);
            all.extend(body["data"].as_array().unwrap().iter().cloned());
            if body["pagination"]["hasNext"] == false {
                break;
            }
        }
        all
    }
}

/// The entries of the audit log.
struct Log(Vec<Value>);

impl Log {
    /// Counts entries by their resources.
    fn count(&self, is_counted: impl Fn(&Value) -> bool) -> BTreeMap<String, i64> {
        let mut counts = BTreeMap::new();
        for entry in self.0.iter().filter(|entry| is_counted(entry)) {
            *counts.entry(text(&entry["resourceId"])).or_insert(0) += 1;
        }
        counts
    }

    /// The numbers of users who have become members of each group, and of those who have left it.
    fn turnover(&self) -> BTreeMap<String, (usize, usize)> {
        let mut turnover = BTreeMap::new();
        for entry in self.0.iter().filter(|entry| entry["resourceType"] == "DIRECTORY_GROUP") {
            let number = |name: &str| entry["metadata"][name].as_u64().unwrap_or_default() as usize;
            let (came, left) = turnover.entry(text(&entry["resourceId"])).or_insert((0, 0));
            *came += number("membersAdded");
            *left += number("membersRemoved");
        }
        turnover
    }

    /// How often groups have given a role to a user, less how often it has ended. Roles that have ended are left out.
    fn held(&self) -> BTreeMap<String, i64> {
        let mut held = BTreeMap::new();
        for entry in self.0.iter().filter(|entry| !entry["metadata"]["directoryGroupId"].is_null()) {
            let step = match entry["action"].as_str() {
                Some("ROLE_ASSIGNED") => 1,
                Some("ROLE_REVOKED") => -1,
                _ => continue,
            };
            let metadata = &entry["metadata"];
            *held.entry(context(&metadata["targetUserId"], &metadata["roleId"])).or_insert(0) += step;
        }
        held.retain(|_, count| *count != 0);
        held
    }
}

fn is(entry: &Value, resource: &str, action: &str) -> bool {
    entry["resourceType"] == resource && entry["action"] == action
}

fn each_once<'a>(ids: impl Iterator<Item = &'a str>) -> BTreeMap<String, i64> {
    ids.map(|id| (id.to_owned(), 1)).collect()
}

/// The user and the role of an assignment.
fn context(user: &Value, role: &Value) -> String {
    format!("{} {}", text(user), text(role))
}

/// Sorts resources by their keys, each of which is there once.
fn once<T: Debug + PartialEq>(
    resources: Vec<Value>,
    key: impl Fn(&Value) -> String,
    shown: impl Fn(&Value) -> T,
) -> BTreeMap<String, T> {
    let mut all = BTreeMap::new();
    for resource in &resources {
        assert_eq!(all.insert(key(resource), shown(resource)), None, "it is there twice: {resource}");
    }
    all
}

/// Fails unless both are the same. Shows some of the differences, because there may be thousands.
#[track_caller]
fn assert_same<T: Debug + PartialEq>(what: &str, found: &BTreeMap<String, T>, wanted: &BTreeMap<String, T>) {
    let keys: BTreeSet<&String> = found.keys().chain(wanted.keys()).collect();
    let differs = |key: &&String| found.get(*key) != wanted.get(*key);
    let differences: Vec<_> =
        keys.into_iter().filter(differs).map(|key| (key, found.get(key), wanted.get(key))).collect();
    let shown = &differences[..differences.len().min(SHOWN)];
    assert!(differences.is_empty(), "{what}: {} differ, found and wanted: {shown:#?}", differences.len());
}
