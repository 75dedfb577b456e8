//! An entry of the log, in one sentence.

use iam_core::audit::{AuditEntry, ResourceType};
use iam_core::clock::Timestamp;
use iam_core::{Caller, Error, Iam, RoleId, UserId};
use serde_json::{Map, Value};

use crate::audit::facts::{EntryFacts, acting_as, entry_sentence};
use crate::names::Names;
use crate::text;

/// The fields of old and new values that name a resource, the most exact one first.
const LABELS: [&str; 4] = ["email", "name", "displayName", "url"];

/// Reads the names that the sentences of these entries need.
pub(crate) async fn names_of(iam: &Iam, caller: &Caller, entries: &[AuditEntry]) -> Result<Names, Error> {
    let (mut users, mut organizations, mut roles) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        users.extend([entry.user_id, target_of(entry), impersonator_of(entry)].into_iter().flatten());
        organizations.extend(entry.organization_id);
        if entry.resource_type == ResourceType::ROLE && own_label(entry).is_none() {
            roles.extend(entry.resource_id.as_ref().and_then(|id| id.parse::<RoleId>().ok()));
        }
        roles.extend(role_of(entry));
    }
    Names::read(iam, caller, users, organizations).await?.with_roles(iam, caller, roles).await
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

/// Returns the sentence. An entry that the service does not record itself gets its raw action and resource type.
pub(crate) fn sentence(entry: &AuditEntry, names: &Names) -> String {
    let metadata = |name: &str| text_in(&entry.metadata, name).unwrap_or_default();
    let target = target_of(entry);
    let actor = match entry.user_id {
        Some(id) => names.user(id),
        None if entry.metadata.contains_key("system") => text::t("service-acted").to_owned(),
        None => text::t("anonymous-acted").to_owned(),
    };
    let by = impersonator_of(entry).map(|id| names.user(id));
    let actor = match &by {
        Some(by) if !entry.action.starts_with("IMPERSONATION_") => acting_as(by, &actor),
        _ => actor,
    };
    let fields = entry.metadata.get("changedFields").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    entry_sentence(&EntryFacts {
        resource_type: entry.resource_type.as_str(),
        action: &entry.action,
        actor: &actor,
        by: by.as_deref().unwrap_or_default(),
        subject: &subject_of(entry, names),
        user: &target.map(|id| names.user(id)).unwrap_or_default(),
        is_own: target.is_some() && target == entry.user_id,
        role: &text_in(&entry.metadata, "roleName")
            .unwrap_or_else(|| role_of(entry).map_or_else(String::new, |id| names.role(id))),
        place: &entry.organization_id.map_or_else(|| text::t("whole-tenant").to_owned(), |id| names.organization(id)),
        reason: &metadata("reason"),
        is_invited: entry.metadata.contains_key("invitationId"),
        is_decision: entry.metadata.contains_key("itemId"),
        is_by_group: entry.metadata.contains_key("directoryGroupId"),
        is_by_request: entry.metadata.contains_key("approvedBy"),
        cause: &metadata("cause"),
        fields: &fields.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
    })
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
