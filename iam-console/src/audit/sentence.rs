//! An entry of the log, in one sentence.

use std::mem;

use iam_core::audit::{AuditEntry, ResourceType, action};
use iam_core::clock::Timestamp;
use iam_core::{Caller, Error, Iam, RoleId, UserId};
use serde_json::{Map, Value};

use crate::audit::facts::{EntryFacts, acting_as, entry_sentence};
use crate::audit::ids::Ids;
use crate::names::Names;
use crate::text;

/// The fields of old and new values that name a resource, the most exact one first.
const LABELS: [&str; 4] = ["email", "name", "displayName", "url"];

/// A part of a sentence: a text, or the name of something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) text: String,
    /// The page of what it names, below the path of the console. Empty for a text, and for what the caller may not see.
    pub(crate) address: String,
}

/// What is said of an entry, in parts.
pub(crate) struct Said {
    pub(crate) parts: Vec<Part>,
    pub(crate) at: Timestamp,
    /// Whether a sign-in failed.
    pub(crate) is_failure: bool,
}

/// What stands in a sentence for the names that lead to a page, until it is split.
const MARKS: [char; 6] = ['\u{E000}', '\u{E001}', '\u{E002}', '\u{E003}', '\u{E004}', '\u{E005}'];

/// The names of a sentence that lead to a page, in the order of their marks.
#[derive(Default)]
struct Linked(Vec<Part>);

impl Linked {
    /// Returns what stands in the sentence for a name: its mark if it has a page, or else itself.
    fn name(&mut self, text: String, address: Option<String>) -> String {
        let mark = MARKS.get(self.0.len()).copied().filter(|_| !text.is_empty());
        match (address, mark) {
            (Some(address), Some(mark)) => {
                self.0.push(Part { text, address });
                mark.to_string()
            }
            // A name must not stand for another one.
            _ => text.replace(MARKS, ""),
        }
    }

    fn user(&mut self, id: UserId, names: &Names) -> String {
        self.name(names.user(id), names.page_of_user(id))
    }

    /// Splits a sentence at its marks.
    fn split(&self, sentence: &str) -> Vec<Part> {
        let (mut parts, mut text) = (Vec::new(), String::new());
        for character in sentence.chars() {
            let place = MARKS.iter().position(|mark| *mark == character);
            match place.and_then(|place| self.0.get(place)) {
                Some(name) => {
                    parts.push(Part { text: mem::take(&mut text), address: String::new() });
                    parts.push(name.clone());
                }
                None => text.push(character),
            }
        }
        parts.push(Part { text, address: String::new() });
        parts
    }
}

/// Reads the names that the sentences of these entries need.
pub(crate) async fn names_of(iam: &Iam, caller: &Caller, entries: &[AuditEntry]) -> Result<Names, Error> {
    ids_of(entries).read(iam, caller).await
}

/// Reads the names that the sentences of these entries and their values need.
pub(super) async fn names_in(iam: &Iam, caller: &Caller, entries: &[AuditEntry]) -> Result<Names, Error> {
    let mut ids = ids_of(entries);
    for entry in entries {
        let values = [&entry.old_value, &entry.new_value].into_iter().flatten().chain([&entry.metadata]);
        values.for_each(|values| ids.add(values));
    }
    ids.read(iam, caller).await
}

fn ids_of(entries: &[AuditEntry]) -> Ids {
    let mut ids = Ids::default();
    for entry in entries {
        ids.users.extend([entry.user_id, target_of(entry), impersonator_of(entry)].into_iter().flatten());
        ids.organizations.extend(entry.organization_id);
        if entry.resource_type == ResourceType::ROLE && own_label(entry).is_none() {
            ids.roles.extend(entry.resource_id.as_ref().and_then(|id| id.parse::<RoleId>().ok()));
        }
        ids.roles.extend(role_of(entry));
    }
    ids
}

/// Returns the sentence of each entry, with its moment.
pub(crate) async fn said(
    iam: &Iam,
    caller: &Caller,
    entries: &[AuditEntry],
) -> Result<Vec<(String, Timestamp)>, Error> {
    let names = names_of(iam, caller, entries).await?;
    Ok(entries.iter().map(|entry| (sentence(entry, &names), entry.created_at)).collect())
}

/// Returns the sentence of each entry, in which names lead to their pages: those that the caller may see, without the
/// page `here`.
pub(crate) async fn said_with_links(
    iam: &Iam,
    caller: &Caller,
    entries: &[AuditEntry],
    here: &str,
) -> Result<Vec<Said>, Error> {
    let names = names_of(iam, caller, entries).await?;
    let roles: Vec<RoleId> = entries.iter().filter_map(named_role).collect();
    let names = names.with_roles(iam, caller, roles).await?;
    let said = entries.iter().map(|entry| {
        let mut parts = parts(entry, &names);
        for part in parts.iter_mut().filter(|part| part.address == here) {
            part.address.clear();
        }
        Said { parts, at: entry.created_at, is_failure: entry.action == action::LOGIN_FAILURE }
    });
    Ok(said.collect())
}

/// Returns the sentence. An entry that the service does not record itself gets its raw action and resource type.
pub(crate) fn sentence(entry: &AuditEntry, names: &Names) -> String {
    parts(entry, names).into_iter().map(|part| part.text).collect()
}

/// Returns the sentence in parts.
fn parts(entry: &AuditEntry, names: &Names) -> Vec<Part> {
    let mut linked = Linked::default();
    let metadata = |name: &str| text_in(&entry.metadata, name).unwrap_or_default();
    let target = target_of(entry);
    let actor = match entry.user_id {
        Some(id) => linked.user(id, names),
        None if entry.metadata.contains_key("system") => text::t("service-acted").to_owned(),
        None => text::t("anonymous-acted").to_owned(),
    };
    let by = impersonator_of(entry).map(|id| linked.user(id, names));
    let actor = match &by {
        Some(by) if !entry.action.starts_with("IMPERSONATION_") => acting_as(by, &actor),
        _ => actor,
    };
    let fields = entry.metadata.get("changedFields").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let subject = linked.name(subject_of(entry, names), page_of_subject(entry, names));
    let user = target.map(|id| linked.user(id, names)).unwrap_or_default();
    let role = text_in(&entry.metadata, "roleName")
        .unwrap_or_else(|| role_of(entry).map_or_else(String::new, |id| names.role(id)));
    let role = linked.name(role, named_role(entry).and_then(|id| names.page_of_role(id)));
    let place = match entry.organization_id {
        Some(id) => linked.name(names.organization(id), names.page_of_organization(id)),
        None => text::t("whole-tenant").to_owned(),
    };
    let sentence = entry_sentence(&EntryFacts {
        resource_type: entry.resource_type.as_str(),
        action: &entry.action,
        actor: &actor,
        by: by.as_deref().unwrap_or_default(),
        subject: &subject,
        user: &user,
        is_own: target.is_some() && target == entry.user_id,
        role: &role,
        place: &place,
        reason: &metadata("reason"),
        is_invited: entry.metadata.contains_key("invitationId"),
        is_decision: entry.metadata.contains_key("itemId"),
        is_by_group: entry.metadata.contains_key("directoryGroupId"),
        is_by_request: entry.metadata.contains_key("approvedBy"),
        cause: &metadata("cause"),
        fields: &fields.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
    });
    linked.split(&sentence)
}

/// Returns the user who has acted as the one whom an entry names.
fn impersonator_of(entry: &AuditEntry) -> Option<UserId> {
    text_in(&entry.metadata, "actorId").filter(|_| entry.is_of_service())?.parse().ok()
}

/// Returns the user whom an entry is about.
fn target_of(entry: &AuditEntry) -> Option<UserId> {
    let id = match &entry.resource_type {
        about if *about == ResourceType::USER => entry.resource_id.clone(),
        _ => text_in(&entry.metadata, "targetUserId"),
    };
    id?.parse().ok()
}

/// Returns the role of an eligibility or of an access request, whose entries name it by its id alone.
fn role_of(entry: &AuditEntry) -> Option<RoleId> {
    let has_role = [ResourceType::ELIGIBILITY, ResourceType::ACCESS_REQUEST].contains(&entry.resource_type);
    text_in(&entry.metadata, "roleId").filter(|_| has_role)?.parse().ok()
}

/// Returns the role that an entry is about or names.
fn named_role(entry: &AuditEntry) -> Option<RoleId> {
    let id = match &entry.resource_type {
        about if *about == ResourceType::ROLE => entry.resource_id.clone(),
        _ => text_in(&entry.metadata, "roleId"),
    };
    id?.parse().ok()
}

/// Returns the page of the resource, if it has one that the caller may see.
fn page_of_subject(entry: &AuditEntry, names: &Names) -> Option<String> {
    let id = entry.resource_id.as_deref()?;
    match entry.resource_type.as_str() {
        "USER" => names.page_of_user(id.parse().ok()?),
        "ORGANIZATION" => names.page_of_organization(id.parse().ok()?),
        "ROLE" => names.page_of_role(id.parse().ok()?),
        _ => None,
    }
}

/// Returns the name of the resource: as the entry recorded it, else as it is now. Empty if neither is known.
fn subject_of(entry: &AuditEntry, names: &Names) -> String {
    let id = entry.resource_id.as_deref().unwrap_or_default();
    let named_now = || match entry.resource_type.as_str() {
        "USER" => id.parse().map_or_else(|_| id.to_owned(), |id| names.user(id)),
        "ORGANIZATION" => id.parse().map_or_else(|_| id.to_owned(), |id| names.organization(id)),
        "ROLE" => id.parse().map_or_else(|_| id.to_owned(), |id| names.role(id)),
        _ => String::new(),
    };
    own_label(entry).unwrap_or_else(named_now)
}

/// Returns the name of the resource that the entry itself has: the one before the change, if the name changed.
fn own_label(entry: &AuditEntry) -> Option<String> {
    let values = [&entry.old_value, &entry.new_value].into_iter().flatten().chain([&entry.metadata]);
    values.into_iter().find_map(|values| LABELS.iter().find_map(|label| text_in(values, label)))
}

fn text_in(values: &Map<String, Value>, name: &str) -> Option<String> {
    values.get(name).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use iam_core::audit::CATALOGUE;

    use super::*;

    fn facts<'a>(resource_type: &'a str, action: &'a str) -> EntryFacts<'a> {
        EntryFacts {
            resource_type,
            action,
            actor: "ada",
            by: "eve",
            subject: "thing",
            user: "kate",
            is_own: false,
            role: "MEMBER",
            place: "Sales",
            reason: "",
            is_invited: false,
            is_decision: false,
            is_by_group: false,
            is_by_request: false,
            cause: "",
            fields: "",
        }
    }

    #[test]
    fn everything_that_the_service_records_has_a_sentence_of_its_own() {
        let mut sentences = std::collections::BTreeSet::new();
        for recorded in CATALOGUE {
            for action in recorded.actions {
                let said = entry_sentence(&facts(recorded.resource_type.as_str(), action));
                assert!(!said.contains(recorded.resource_type.as_str()) && !said.contains(action), "{said}");
                assert!(sentences.insert(said.clone()), "{said}");
            }
        }
        assert_eq!(entry_sentence(&facts("INVOICE", "SENT")), "ada recorded INVOICE SENT");
    }

    #[test]
    fn a_name_leads_to_its_page_and_stands_for_no_other_name() {
        let mut linked = Linked::default();
        let page = Some("/users/1".to_owned());
        let (ada, spoof) = (linked.name("ada".to_owned(), page), linked.name("\u{E000}x".to_owned(), None));
        let parts = linked.split(&format!("{ada} invited {spoof}"));
        let parts: Vec<(&str, &str)> = parts.iter().map(|part| (&*part.text, &*part.address)).collect();
        assert_eq!(parts, [("", ""), ("ada", "/users/1"), (" invited x", "")]);
        // A name that is not known has no link.
        assert_eq!(linked.name(String::new(), Some("/users/2".to_owned())), "");
    }

    #[test]
    fn the_roles_of_an_invitation_are_not_granted_by_whom_accepts_it() {
        let assigned = |is_own| entry_sentence(&EntryFacts { is_own, ..facts("ROLE_ASSIGNMENT", "ROLE_ASSIGNED") });
        assert_eq!(assigned(true), "kate got the role MEMBER in Sales");
        assert_eq!(assigned(false), "ada assigned the role MEMBER to kate in Sales");
    }

    #[test]
    fn a_role_that_a_group_gives_is_told_apart_from_one_that_a_person_assigned() {
        let of_role = |action, by_group, reason, fields| {
            let facts = EntryFacts { is_by_group: by_group, reason, fields, ..facts("ROLE_ASSIGNMENT", action) };
            entry_sentence(&facts)
        };
        let given = of_role("ROLE_ASSIGNED", true, "", "");
        assert_eq!(given, "ada granted the role MEMBER to kate in Sales by a group");
        let ended = of_role("ROLE_REVOKED", true, "DIRECTORY_GROUP", "");
        assert_eq!(ended, "ada ended the role MEMBER of kate in Sales, because no group grants it any more");
        let reviewed = of_role("ROLE_REVOKED", true, "ACCESS_REVIEW", "");
        assert_eq!(reviewed, "ada revoked the role MEMBER of kate in Sales");
        let handed_over = of_role("UPDATE", false, "", "directoryGroupId, expiresAt");
        assert_eq!(handed_over, "ada handed a role assignment in Sales over to a group");
        let shortened = of_role("UPDATE", false, "", "expiresAt");
        assert_eq!(shortened, "ada changed the end of a role assignment in Sales");
    }

    #[test]
    fn an_access_request_says_who_did_what_and_why_it_was_closed() {
        let of_request = |action, cause| entry_sentence(&EntryFacts { cause, ..facts("ACCESS_REQUEST", action) });
        assert_eq!(of_request("APPROVED", ""), "ada approved the role MEMBER in Sales for kate");
        assert_eq!(of_request("CANCELLED", ""), "ada cancelled the request of kate for the role MEMBER in Sales");
        assert!(of_request("CANCELLED", "NOT_ELIGIBLE").ends_with("because the user is no longer eligible for it"));
        assert_eq!(of_request("ENDED", "EXPIRED"), "The time for which kate got the role MEMBER in Sales is over");
        assert_eq!(of_request("ENDED", "ENDED"), "ada ended the access of kate by the role MEMBER in Sales");
        let of_role = |action, reason| {
            let facts = EntryFacts { is_by_request: true, reason, ..facts("ROLE_ASSIGNMENT", action) };
            entry_sentence(&facts)
        };
        assert_eq!(of_role("ROLE_ASSIGNED", ""), "kate got the role MEMBER in Sales by an access request");
        assert!(of_role("ROLE_REVOKED", "ENDED").ends_with("which an access request had granted"));
        let of_holders = EntryFacts { user: "", ..facts("ELIGIBILITY", "CREATE") };
        let said = entry_sentence(&of_holders);
        assert_eq!(said, "ada made the holders of a role eligible for the role MEMBER in Sales");
    }

    #[test]
    fn the_end_of_a_session_says_who_ended_it() {
        let ended = |is_own, reason| entry_sentence(&EntryFacts { is_own, reason, ..facts("SESSION", "LOGOUT") });
        assert_eq!(ended(true, ""), "ada signed out");
        assert_eq!(ended(true, "LOGOUT_ALL"), "ada signed out everywhere");
        assert_eq!(ended(true, "TERMINATED"), "ada ended a session of its own");
        assert_eq!(ended(true, "PASSWORD_CHANGE"), "A session of kate ended, because the password was changed");
        assert_eq!(ended(true, "TOKEN_REUSE"), "A session of kate ended, because a token of it was used twice");
        assert_eq!(ended(false, "TERMINATED"), "ada ended a session of kate");
        assert_eq!(ended(false, "USER_SUSPENDED"), "ada ended a session of kate, because the user was suspended");
        assert_eq!(ended(false, "USER_DELETED"), "ada ended a session of kate, because the user was deleted");
    }
}
