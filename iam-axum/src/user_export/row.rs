//! What is held about a user as rows: objects whose members are the same in each row of a section.

use iam_core::BoxError;
use iam_core::access_request::{AccessDecision, AccessRequest};
use iam_core::api_key::ApiKey;
use iam_core::assignment::{Assignment, Grant};
use iam_core::audit::{AuditEntry, ShownEntry};
use iam_core::clock::Timestamp;
use iam_core::directory::{DirectoryGroup, DirectoryUser};
use iam_core::eligibility::Eligibility;
use iam_core::factor::Factor;
use iam_core::federation::Identity;
use iam_core::history::Past;
use iam_core::invitation::Invitation;
use iam_core::session::Session;
use iam_core::user::{Profile, UserData};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::time::Time;
use crate::user::UserDto;

/// The sections after the user itself: their names in JSON, and their titles.
pub(super) const SECTIONS: [(&str, &str); 12] = [
    ("factors", "Second factors and passkeys"),
    ("identities", "Accounts at identity providers"),
    ("sessions", "Sessions"),
    ("apiKeys", "API keys"),
    ("assignments", "Roles"),
    ("pastAssignments", "Former roles"),
    ("eligibilities", "Roles to ask for"),
    ("accessRequests", "Access requests"),
    ("invitations", "Invitations"),
    ("directory", "What a directory says"),
    ("groups", "Groups of the directory"),
    ("entries", "Entries of the audit log"),
];

type Row = Map<String, Value>;

/// Returns the user itself.
pub(super) fn profile(profile: Profile) -> Result<Row, BoxError> {
    let locked_until = profile.attempts.locked_until;
    let others = json!({
        "attributes": profile.attributes,
        "hasPassword": profile.has_password,
        "recoveryCodesLeft": profile.recovery_codes_left,
        "failedLogins": profile.attempts.failed_at.len(),
        "lockedUntil": locked_until.map(Time),
    });
    let mut user = object(&UserDto::from(profile.user))?;
    user.extend(object(&others)?);
    Ok(user)
}

/// Returns the number of the section of some data, and its rows.
pub(super) fn rows_of(data: UserData) -> Result<(usize, Vec<Row>), BoxError> {
    let (name, rows): (_, Vec<Value>) = match data {
        UserData::Factors(factors) => ("factors", factors.iter().map(factor).collect()),
        UserData::Identities(identities) => ("identities", identities.iter().map(identity).collect()),
        UserData::Sessions(sessions) => ("sessions", sessions.iter().map(session).collect()),
        UserData::ApiKeys(keys) => ("apiKeys", keys.iter().map(api_key).collect()),
        UserData::Assignments(grants) => ("assignments", grants.iter().map(grant).collect()),
        UserData::PastAssignments(past) => ("pastAssignments", past.iter().map(past_assignment).collect()),
        UserData::Eligibilities(eligibilities) => ("eligibilities", eligibilities.iter().map(eligibility).collect()),
        UserData::AccessRequests(requests) => ("accessRequests", requests.iter().map(access_request).collect()),
        UserData::Invitations(invitations) => ("invitations", invitations.iter().map(invitation).collect()),
        UserData::Directory(said) => ("directory", vec![directory_user(&said)]),
        UserData::Groups(groups) => ("groups", groups.iter().map(group).collect()),
        UserData::Entries(entries) => ("entries", entries.iter().map(entry).collect::<Result<_, _>>()?),
        _ => return Err("an export has data of an unknown kind".into()),
    };
    let section = SECTIONS.iter().position(|(section, _)| *section == name);
    let section = section.ok_or("an export has data of no section")?;
    Ok((section, rows.into_iter().map(|row| object(&row)).collect::<Result<_, _>>()?))
}

fn object(value: &impl Serialize) -> Result<Row, BoxError> {
    match serde_json::to_value(value)? {
        Value::Object(fields) => Ok(fields),
        _ => Err("a row of an export is no object".into()),
    }
}

fn time(moment: Option<Timestamp>) -> Option<Time> {
    moment.map(Time)
}

fn factor(factor: &Factor) -> Value {
    json!({
        "id": factor.id,
        "type": factor.kind.as_str(),
        "name": factor.name.as_str(),
        "createdAt": Time(factor.created_at),
        "confirmedAt": time(factor.confirmed_at),
        "lastUsedAt": time(factor.last_used_at),
    })
}

fn identity(identity: &Identity) -> Value {
    json!({
        "id": identity.id,
        "providerId": identity.provider_id,
        "issuer": identity.issuer.as_str(),
        "subject": identity.subject,
        "email": identity.email.as_ref().map(|email| email.as_str()),
        "linkedAt": Time(identity.linked_at),
        "lastLoginAt": time(identity.last_login_at),
    })
}

fn session(session: &Session) -> Value {
    let acting = session.impersonation.as_ref();
    // The client is that of the user who acts.
    let is_own = acting.is_none();
    json!({
        "id": session.id,
        "ipAddress": session.ip_address.filter(|_| is_own).map(|address| address.to_string()),
        "userAgent": session.user_agent.as_ref().filter(|_| is_own).map(|agent| agent.as_str()),
        "amr": session.methods.amr(),
        "createdAt": Time(session.created_at),
        "lastUsedAt": Time(session.last_used_at),
        "expiresAt": Time(session.expires_at),
        "providerId": session.provider.as_ref().map(|provider| provider.provider_id),
        "actorId": acting.map(|acting| acting.by.user),
        "actorReason": acting.map(|acting| acting.reason.as_str()),
    })
}

fn api_key(key: &ApiKey) -> Value {
    let permissions =
        key.permissions.as_ref().map(|held| held.iter().map(|pattern| pattern.as_str()).collect::<Vec<_>>());
    json!({
        "id": key.id,
        "name": key.name.as_str(),
        "permissions": permissions,
        "organizationId": key.organization_id,
        "createdAt": Time(key.created_at),
        "createdBy": key.created_by,
        "expiresAt": Time(key.expires_at),
        "lastUsedAt": time(key.last_used_at),
    })
}

fn grant(grant: &Grant) -> Value {
    let Assignment { id, expires_at, created_at, created_by, directory_group_id, access_request_id, .. } =
        &grant.assignment;
    json!({
        "id": id,
        "roleId": grant.role.id,
        "roleName": grant.role.name.as_str(),
        "organizationId": grant.assignment.organization_id,
        "organizationName": grant.organization.as_ref().map(|organization| organization.name.as_str()),
        "createdAt": Time(*created_at),
        "createdBy": created_by,
        "expiresAt": time(*expires_at),
        "directoryGroupId": directory_group_id,
        "accessRequestId": access_request_id,
    })
}

fn past_assignment(past: &Past<Assignment>) -> Value {
    let version = &past.version;
    json!({
        "id": version.id,
        "roleId": version.role_id,
        "organizationId": version.organization_id,
        "createdAt": Time(version.created_at),
        "createdBy": version.created_by,
        "expiresAt": time(version.expires_at),
        "until": Time(past.until),
        "directoryGroupId": version.directory_group_id,
        "accessRequestId": version.access_request_id,
    })
}

fn eligibility(eligibility: &Eligibility) -> Value {
    json!({
        "id": eligibility.id,
        "roleId": eligibility.role_id,
        "organizationId": eligibility.organization_id,
        "userId": eligibility.eligible.user(),
        "heldRoleId": eligibility.eligible.held_role(),
        "maxSeconds": eligibility.max_seconds,
        "createdAt": Time(eligibility.created_at),
        "expiresAt": time(eligibility.expires_at),
    })
}

fn access_request(request: &AccessRequest) -> Value {
    let decision = |decision: &AccessDecision| {
        json!({
            "userId": decision.user_id,
            "decision": decision.decision.as_str(),
            "reason": decision.reason.as_ref().map(|reason| reason.as_str()),
            "at": Time(decision.at),
        })
    };
    json!({
        "id": request.id,
        "roleId": request.role_id,
        "roleName": request.role_name.as_str(),
        "organizationId": request.organization_id,
        "reason": request.reason.as_str(),
        "ticket": request.ticket.as_ref().map(|ticket| ticket.as_str()),
        "seconds": request.seconds,
        "status": request.status.as_str(),
        "decisions": request.decisions.iter().map(decision).collect::<Vec<_>>(),
        "createdAt": Time(request.created_at),
        "startsAt": time(request.starts_at),
        "endsAt": time(request.ends_at),
        "closedAt": time(request.closed_at),
        "closedBy": request.closed_by,
        "closeReason": request.close_reason.as_ref().map(|reason| reason.as_str()),
    })
}

fn invitation(invitation: &Invitation) -> Value {
    json!({
        "id": invitation.id,
        "email": invitation.email.as_str(),
        "firstName": invitation.first_name.as_ref().map(|name| name.as_str()),
        "lastName": invitation.last_name.as_ref().map(|name| name.as_str()),
        "status": invitation.status.as_str(),
        "invitedBy": invitation.invited_by,
        "createdAt": Time(invitation.created_at),
        "expiresAt": Time(invitation.expires_at),
    })
}

fn directory_user(said: &DirectoryUser) -> Value {
    json!({
        "directoryId": said.directory_id,
        "userName": said.user_name.as_str(),
        "attributes": said.attributes,
        "createdAt": Time(said.created_at),
        "updatedAt": Time(said.updated_at),
        "deletedAt": time(said.deleted_at),
    })
}

fn group(group: &DirectoryGroup) -> Value {
    json!({
        "id": group.id,
        "directoryId": group.directory_id,
        "displayName": group.display_name.as_str(),
    })
}

fn entry(entry: &AuditEntry) -> Result<Value, BoxError> {
    let mut shown = object(&ShownEntry::from(entry))?;
    let action = entry.action.replace('_', " ").to_lowercase();
    // What the catalogue of the log has of it, in words.
    shown.insert("description".to_owned(), format!("{}: {action}", entry.resource_type.title()).into());
    Ok(Value::Object(shown))
}
