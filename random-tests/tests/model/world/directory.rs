//! Directories: what they send by the keys of their accounts, and the reviews of what they give.

use chrono::TimeDelta;
use iam_core::access_review::{NewAccessReview, NewDecision, ReviewDecision};
use iam_core::directory::{GroupResource, UserResource};
use iam_core::{Caller, DirectoryGroupId, Error};
use serde_json::{Value, json};

use super::{New, Refused, World, position};
use crate::contract::Actor;
use crate::operation::{
    Chooser, EntryPatch, GroupPatch, Item, MINUTE, MemberPatch, NewEntry, Operation, Provision, Ref,
};
use crate::state::{NEVER, Scope};

/// What the account of a directory needs.
const PROVISIONER: &[&str] = &["role-assignments:*", "users:*"];

impl World<'_> {
    /// Makes two directories in each tenant, and their accounts with random roles. The second account holds what it
    /// needs for an hour only.
    pub(super) async fn make_directories(&mut self) {
        for tenant in 0..2 {
            let role = Ref { tenant, index: self.states[tenant].roles.len() };
            let (name, permissions) = ("PROVISIONER".to_owned(), PROVISIONER.to_vec());
            self.found(tenant, Operation::CreateRole { name, scope: Scope::Any, permissions }).await;
            for (adopts, until) in [(true, NEVER), (false, self.now + 60 * MINUTE)] {
                let user = Ref { tenant, index: self.states[tenant].users.len() };
                self.found(tenant, Operation::CreateAccount).await;
                self.found(tenant, Operation::Assign { item: Item { user, role, organization: None, until } }).await;
                for _ in 0..3 {
                    let mut chooser =
                        Chooser { random: &mut self.random, tenants: &self.states, tenant, now: self.now };
                    let item = Item { user, ..chooser.item() };
                    self.found(tenant, Operation::Assign { item }).await;
                }
                self.found(tenant, Operation::CreateDirectory { account: user, adopts }).await;
            }
        }
    }

    /// Makes a change by trusted code, before the callers of the tenant come.
    async fn found(&mut self, tenant: usize, operation: Operation) {
        self.trace.push(format!("founding: {tenant} {operation:?}"));
        let (system, state) = (self.system(tenant), self.states[tenant].clone());
        self.change(tenant, Actor::System, &state, &system, false, &operation).await;
    }

    /// Sends a request of a directory.
    pub(super) async fn provision(&self, caller: &Caller, provision: &Provision) -> Result<New, Refused> {
        let provisioning = self.iam().provisioning();
        Ok(match provision {
            Provision::CreateUser(new) => {
                let resource = UserResource::parse(&user_body(new))?;
                New::Provisioned(provisioning.create(caller, resource).await?.0.user.id)
            }
            Provision::PatchUser { user, patch } => {
                provisioning.patch(caller, self.user(*user), &user_message(patch), None).await?;
                New::Nothing
            }
            Provision::DeleteUser { user } => {
                provisioning.delete(caller, self.user(*user), None).await?;
                New::Nothing
            }
            Provision::CreateGroup { name, external_id, members } => {
                let members = Some(members).filter(|members| !members.is_empty());
                let resource = self.group_resource(name, external_id.as_ref(), members);
                New::Group(provisioning.create_group(caller, &resource).await?.id)
            }
            Provision::PatchGroup { group, patch } => {
                provisioning.patch_group(caller, self.group(*group), &self.group_message(patch), None).await?;
                New::Nothing
            }
            Provision::ReplaceGroup { group, name, external_id, members } => {
                let resource = self.group_resource(name, external_id.as_ref(), members.as_ref());
                provisioning.replace_group(caller, self.group(*group), &resource, None).await?;
                New::Nothing
            }
            Provision::DeleteGroup { group } => {
                provisioning.delete_group(caller, self.group(*group), None).await?;
                New::Nothing
            }
        })
    }

    fn group(&self, group: Ref) -> DirectoryGroupId {
        self.names[group.tenant].groups[group.index]
    }

    fn group_resource(&self, name: &str, external_id: Option<&String>, members: Option<&Vec<Ref>>) -> GroupResource {
        let text = |user: &Ref| self.user(*user).to_string();
        GroupResource {
            display_name: name.to_owned(),
            external_id: external_id.cloned(),
            members: members.map(|members| members.iter().map(text).collect()),
        }
    }

    /// The message of a patch. One member is removed by a filter, as most providers do it.
    fn group_message(&self, GroupPatch { name, external_id, members }: &GroupPatch) -> Value {
        let mut operations: Vec<Value> = Vec::new();
        operations.extend(name.as_ref().map(|name| replace("displayName", json!(name))));
        operations.extend(external_id.as_ref().map(replace_external_id));
        let values =
            |named: &Vec<Ref>| -> Value { named.iter().map(|user| json!({ "value": self.user(*user) })).collect() };
        operations.extend(members.as_ref().map(|members| match members {
            MemberPatch::Add(named) => json!({ "op": "add", "path": "members", "value": values(named) }),
            MemberPatch::Replace(named) => replace("members", values(named)),
            MemberPatch::Remove(named) => match named.as_slice() {
                [user] => {
                    json!({ "op": "remove", "path": format!("members[value eq \"{}\"]", self.user(*user)) })
                }
                _ => json!({ "op": "remove", "path": "members", "value": values(named) }),
            },
        }));
        json!({ "Operations": operations })
    }

    /// Reviews the roles of a user: trusted code decides, and the caller completes the review. All roles but one are
    /// revoked.
    pub(super) async fn review(
        &self,
        tenant: usize,
        caller: &Caller,
        user: Ref,
        kept: Option<Ref>,
    ) -> Result<New, Error> {
        let (reviews, system) = (self.iam().access_reviews(), self.system(tenant));
        let due_at = self.iam().now() + TimeDelta::days(1);
        let (name, users) = ("Review".to_owned(), vec![self.user(user)]);
        let new = NewAccessReview { name, organization: None, roles: Vec::new(), users, due_at };
        let review = reviews.create(&system, new).await?.review.id;
        let (state, names) = (&self.states[tenant], &self.names[tenant]);
        let kept = kept.map(|role| self.role(role));
        for listed in reviews.all_items(&system, review, None).await? {
            let item = listed.item;
            // No tenant of the model has eligibilities.
            let assignment = item.subject.assignment().unwrap();
            let known = &state.assignments[position(&names.assignments, &assignment)];
            let group = known.group.map(|group| names.groups[group]);
            assert_eq!(item.subject.directory_group(), group, "{}{state}", self.story());
            let decision = if Some(item.role.id) == kept { ReviewDecision::Keep } else { ReviewDecision::Revoke };
            let decision = NewDecision { decision, reason: None };
            reviews.decide(&system, review, assignment, decision).await?;
        }
        let completed = reviews.complete(caller, review).await;
        if completed.is_err() {
            // The number of open reviews is limited.
            reviews.cancel(&system, review).await.unwrap();
        }
        completed.map(|_| New::Nothing).map_err(|error| match error {
            // Its field contains an identifier, which is another one on every store.
            Error::About { error, .. } => *error,
            error => error,
        })
    }
}

fn user_body(new: &NewEntry) -> Value {
    let NewEntry { name, external_id, active, email, first_name } = new;
    json!({
        "userName": name,
        "externalId": external_id,
        "active": active,
        "emails": [{ "value": email, "type": "work", "primary": true }],
        "name": { "givenName": first_name, "familyName": "Hopper" },
    })
}

fn user_message(EntryPatch { name, external_id, active }: &EntryPatch) -> Value {
    let mut operations: Vec<Value> = Vec::new();
    operations.extend(name.as_ref().map(|name| replace("userName", json!(name))));
    operations.extend(external_id.as_ref().map(replace_external_id));
    operations.extend(active.map(|active| replace("active", json!(active))));
    json!({ "Operations": operations })
}

fn replace(path: &str, value: Value) -> Value {
    json!({ "op": "replace", "path": path, "value": value })
}

fn replace_external_id(external_id: &Option<String>) -> Value {
    match external_id {
        Some(external_id) => replace("externalId", json!(external_id)),
        None => json!({ "op": "remove", "path": "externalId" }),
    }
}
