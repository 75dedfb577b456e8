mod impersonation;

use crate::access::testing::{TestTree, at, id, organization};
use crate::access::{HeldRole, ResourceScope, Until};
use crate::assignment::{Assignment, Grant, OfferedRole};
use crate::attribute::{AttributeDefinitions, Attributes, UnregisteredAttributes};
use crate::audit::testing::author;
use crate::audit::{AuditFilter, Export, NewEvent, Retention};
use crate::challenge::{Challenge, ChallengePurpose};
use crate::change::*;
use crate::context::{Actor, RequestContext};
use crate::credential::LoginAttempts;
use crate::factor::{
    AuthenticationMethod, AuthenticationMethods, Factor, FactorKey, FactorKind, GraceDays, SecondFactorPolicy,
};
use crate::id::{IdGenerator, OrganizationId, TenantId};
use crate::idempotency::IdempotencyRecord;
use crate::invitation::{Invitation, InvitationStatus, InvitedRole};
use crate::link::{Link, LinkPurpose};
use crate::mail::{Addressee, MailKind, Message};
use crate::organization::OrganizationStatus::{Active, Inactive, Suspended};
use crate::organization::{AffectedTree, Organization};
use crate::permission::RegisteredPermission;
use crate::random::SystemRandom;
use crate::role::Role;
use crate::secret::PasswordHash;
use crate::session::{EndReason, RefreshState, Session};
use crate::tenant::{AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy, Tenant, TenantStatus};
use crate::user::{User, UserStatus};
use crate::version::Version;

const NOW: i64 = 10;

/// The rights that a change of an author gives, as `permissions scope until`.
fn granted_to(author: &Author, change: impl Into<Change>) -> Vec<String> {
    let name = |of: OrganizationId| {
        let names = ["root", "branch", "team", "other", "asleep", "gone"];
        names.into_iter().find(|name| id::<OrganizationId>(name) == of).unwrap()
    };
    let change = change.into();
    let granted = change.granted_rights(author, at(NOW)).into_iter().map(|granted| {
        let permissions: Vec<&str> = granted.permissions.iter().map(|pattern| pattern.as_str()).collect();
        let scope = match granted.scope {
            ResourceScope::Tenant => "tenant",
            ResourceScope::Organization(position) => name(position.id()),
            ResourceScope::OfGrant(organization) => name(organization.id),
        };
        let until = match granted.until {
            Until::Forever => "forever".to_owned(),
            Until::Moment(moment) => moment.timestamp().to_string(),
        };
        format!("{} {scope} {until}", permissions.join(","))
    });
    granted.collect()
}

fn granted(change: impl Into<Change>) -> Vec<String> {
    granted_to(&author(TenantId::NONE), change)
}

/// What a change gives whose facts are not known.
const EVERYTHING: [&str; 1] = ["* tenant forever"];
const NOTHING: [&str; 0] = [];

fn user(status: UserStatus, email: &str) -> User {
    User {
        id: id("user"),
        tenant_id: TenantId::NONE,
        kind: crate::user::UserKind::Human,
        email: email.parse().unwrap(),
        email_verified_at: None,
        first_name: "Ada".parse().unwrap(),
        last_name: "Lovelace".parse().unwrap(),
        external_id: None,
        home_organization_id: None,
        status,
        last_login_at: None,
        created_at: at(0),
        updated_at: at(0),
        version: Version::FIRST,
    }
}

/// A role that is held tenant-wide, one in a suspended organization, and an expired one.
fn grants() -> Vec<Grant> {
    let test_tree = TestTree::new();
    vec![
        test_tree.grant("users:read", None, Some(at(99))),
        test_tree.grant("roles:read", Some("asleep"), None),
        test_tree.grant("*", None, Some(at(NOW))),
    ]
}

#[test]
fn a_change_of_a_user_gives_the_rights_that_the_user_regains_or_the_author_takes_over() {
    use UserStatus::{Active, Inactive, Suspended};
    let (ada, eve) = ("ada@example.com", "eve@example.com");
    let effective = ["users:read tenant 99"].as_slice();
    let live = ["users:read tenant 99", "roles:read asleep forever"].as_slice();
    let nothing = [].as_slice();
    let (by_itself, by_other) = (id("user"), id("other"));
    for (before, after, author_id, expected, unread) in [
        ((Active, ada), (Active, ada), by_other, nothing, nothing),
        ((Active, ada), (Suspended, ada), by_other, nothing, nothing),
        ((Active, ada), (Inactive, ada), by_other, nothing, nothing),
        ((Suspended, ada), (Active, ada), by_other, effective, &EVERYTHING),
        ((Suspended, ada), (Inactive, ada), by_other, nothing, nothing),
        ((Inactive, ada), (Active, ada), by_other, effective, &EVERYTHING),
        ((Inactive, ada), (Suspended, ada), by_other, nothing, nothing),
        ((Active, ada), (Active, eve), by_other, live, &EVERYTHING),
        ((Suspended, ada), (Active, eve), by_other, live, &EVERYTHING),
        ((Suspended, ada), (Suspended, eve), by_other, live, &EVERYTHING),
        ((Active, ada), (Active, eve), by_itself, nothing, nothing),
    ] {
        let actor = Actor::User { user: author_id, session: id("session") };
        let author = Author { actor, ..author(TenantId::NONE) };
        let (before, after) = (user(before.0, before.1), user(after.0, after.1));
        let facts = || (before.clone(), after.clone());
        let row = format!("{} {} → {} {}", before.status, before.email, after.status, after.email);
        for (grants, expected) in [(Some(grants()), expected), (None, unread)] {
            let ((before, after), read) = (facts(), grants.clone());
            let update = UserChange::Update { before, after, grants: read, attributes: None };
            assert_eq!(granted_to(&author, update), expected, "{row}");
            let (before, after) = facts();
            assert_eq!(granted_to(&author, UserChange::ChangeStatus { before, after, grants }), expected, "{row}");
        }
        let (before, after) = facts();
        assert_eq!(granted_to(&author, UserChange::VerifyEmail { before, after }), unread, "{row}");
        let (before, after) = facts();
        assert_eq!(granted_to(&author, UserChange::ConfirmEmail { before, after }), unread, "{row}");
        let (before, after) = facts();
        assert_eq!(granted_to(&author, UserChange::Delete { before, after }), unread, "{row}");
    }
    // An external identifier counts like an address, also one that is removed.
    let [none, one, other] = [None, Some("1"), Some("2")]
        .map(|id| User { external_id: id.map(|id| id.parse().unwrap()), ..user(Active, ada) });
    for (before, after, author_id, expected, unread) in [
        (&none, &one, by_other, live, EVERYTHING.as_slice()),
        (&one, &other, by_other, live, EVERYTHING.as_slice()),
        (&one, &none, by_other, live, EVERYTHING.as_slice()),
        (&one, &one, by_other, nothing, nothing),
        (&none, &one, by_itself, nothing, nothing),
    ] {
        let actor = Actor::User { user: author_id, session: id("session") };
        let author = Author { actor, ..author(TenantId::NONE) };
        for (grants, expected) in [(Some(grants()), expected), (None, unread)] {
            let (before, after) = (before.clone(), after.clone());
            assert_eq!(granted_to(&author, UserChange::Update { before, after, grants, attributes: None }), expected);
        }
    }
    // Only the token of a link identifies the user.
    let anonymous = Author { actor: Actor::Anonymous, ..author(TenantId::NONE) };
    let (before, after) = (user(Active, ada), user(Active, eve));
    assert_eq!(granted_to(&anonymous, UserChange::ConfirmEmail { before, after }), NOTHING);
    let password = PasswordHash::from("hash");
    assert_eq!(
        granted(UserChange::Create {
            user: user(Active, ada),
            password: Some(password),
            invitation: None,
            attributes: Attributes::default()
        }),
        NOTHING
    );
    assert_eq!(granted(UserChange::MoveHomes { before: vec![user(Active, ada)], home: None, at: at(NOW) }), NOTHING);
}

#[test]
fn a_link_to_the_account_of_another_user_gives_the_rights_of_that_user() {
    let live = ["users:read tenant 99", "roles:read asleep forever"].as_slice();
    let by = |user: &str| Actor::User { user: id(user), session: id("session") };
    let system = Actor::System { reason: "test".into() };
    for (actor, purpose, expected, unread) in [
        (by("other"), LinkPurpose::Reset, live, EVERYTHING.as_slice()),
        (by("other"), LinkPurpose::Login, live, EVERYTHING.as_slice()),
        (by("other"), LinkPurpose::Verify, &[], &[]),
        (by("user"), LinkPurpose::Reset, &[], &[]),
        (Actor::Anonymous, LinkPurpose::Reset, &[], &[]),
        (Actor::Anonymous, LinkPurpose::Login, &[], &[]),
        (system, LinkPurpose::Reset, &[], &[]),
    ] {
        let author = Author { actor, ..author(TenantId::NONE) };
        let link = link(purpose);
        let issue = |grants| LinkChange::Issue { link: link.clone(), grants };
        assert_eq!(granted_to(&author, issue(Some(grants()))), expected, "{author:?} {purpose}");
        assert_eq!(granted_to(&author, issue(None)), unread, "{author:?} {purpose}");
    }
}

fn factor() -> Factor {
    Factor {
        id: id("factor"),
        tenant_id: TenantId::NONE,
        user_id: id("user"),
        kind: FactorKind::Totp,
        name: "Phone".parse().unwrap(),
        key: FactorKey(vec![1]),
        credential_id: None,
        counter: 0,
        created_at: at(0),
        confirmed_at: Some(at(0)),
        last_used_at: None,
    }
}

#[test]
fn the_removal_of_factors_of_another_user_gives_the_rights_of_that_user() {
    let live = ["users:read tenant 99", "roles:read asleep forever"].as_slice();
    let by = |user: &str| Actor::User { user: id(user), session: id("session") };
    for (actor, expected, unread) in [
        (by("other"), live, EVERYTHING.as_slice()),
        (by("user"), &[], &[]),
        (Actor::Anonymous, &[], &[]),
        (Actor::System { reason: "test".into() }, &[], &[]),
    ] {
        let author = Author { actor, ..author(TenantId::NONE) };
        let remove = |grants| FactorChange::Remove { user: id("user"), factors: vec![factor()], is_last: true, grants };
        assert_eq!(granted_to(&author, remove(Some(grants()))), expected, "{author:?}");
        assert_eq!(granted_to(&author, remove(None)), unread, "{author:?}");
    }
}

#[test]
fn only_changes_of_confirmed_factors_are_recorded() {
    let actions = |change: FactorChange| -> Vec<String> {
        let ids = IdGenerator::default();
        let author = author(ids.next(at(0), &SystemRandom));
        let batch = AuditBatch::of(&change.into(), &author, at(NOW), &ids, &SystemRandom);
        batch.entries().iter().map(|entry| entry.action.to_string()).collect()
    };
    let unconfirmed = || Factor { confirmed_at: None, ..factor() };
    assert_eq!(actions(FactorChange::Prepare(unconfirmed())), [""; 0]);
    assert_eq!(actions(FactorChange::Confirm(factor())), ["CREATE"]);
    assert_eq!(actions(FactorChange::Use { after: factor(), fell_back_to: None }), [""; 0]);
    assert_eq!(actions(FactorChange::Use { after: factor(), fell_back_to: Some(3) }), ["PASSKEY_COUNTER"]);
    let factors = vec![factor(), unconfirmed()];
    let remove = FactorChange::Remove { user: id("user"), factors, is_last: true, grants: None };
    assert_eq!(actions(remove), ["DELETE"]);
}

fn challenge() -> Challenge {
    Challenge {
        tenant_id: TenantId::NONE,
        token_hash: [0; 32],
        purpose: ChallengePurpose::Login,
        user_id: Some(id("user")),
        tries: 0,
        ceremony: None,
        provider: None,
        created_at: at(0),
        expires_at: at(99),
    }
}

fn invitation(offered: &[OfferedRole]) -> Invitation {
    let role = |offered: &OfferedRole| InvitedRole {
        role_id: offered.role.id,
        organization_id: offered.organization.as_ref().map(|organization| organization.id),
        expires_at: offered.expires_at,
    };
    Invitation {
        id: id("invitation"),
        tenant_id: TenantId::NONE,
        email: "ada@example.com".parse().unwrap(),
        first_name: None,
        last_name: None,
        roles: offered.iter().map(role).collect(),
        status: InvitationStatus::Pending,
        invited_by: None,
        expires_at: at(99),
        created_at: at(0),
    }
}

#[test]
fn an_invitation_gives_the_permissions_of_its_roles() {
    let test_tree = TestTree::new();
    let offer = |grant: Grant| OfferedRole {
        role: grant.role,
        organization: grant.organization,
        expires_at: grant.assignment.expires_at,
    };
    let offered = vec![
        offer(test_tree.grant("users:*", None, None)),
        offer(test_tree.grant("users:read", Some("branch"), Some(at(50)))),
    ];
    let all = invitation(&offered);
    let create = |invitation: &Invitation, offered: &[OfferedRole]| {
        granted(InvitationChange::Create { invitation: invitation.clone(), offered: offered.to_vec() })
    };
    assert_eq!(create(&all, &offered), ["users:* tenant forever", "users:read branch 50"]);
    assert_eq!(create(&invitation(&[]), &[]), NOTHING);
    // Facts that were not read, or that belong to another invitation.
    assert_eq!(create(&all, &[]), EVERYTHING);
    assert_eq!(create(&all, &offered[..1]), EVERYTHING);
    assert_eq!(create(&invitation(&offered[..1]), &offered), EVERYTHING);
    let swapped: Vec<OfferedRole> = offered.iter().rev().cloned().collect();
    assert_eq!(create(&all, &swapped), EVERYTHING);
    let longer = [offered[0].clone(), OfferedRole { expires_at: None, ..offered[1].clone() }];
    assert_eq!(create(&all, &longer), EVERYTHING);
    let other_role = Role { id: id("other"), ..Role::clone(&offered[0].role) };
    let other = [OfferedRole { role: other_role.into(), ..offered[0].clone() }, offered[1].clone()];
    assert_eq!(create(&all, &other), EVERYTHING);

    let (before, after) = (all.clone(), Invitation { status: InvitationStatus::Revoked, ..all });
    let facts = || (before.clone(), after.clone());
    let (before, after) = facts();
    assert_eq!(granted(InvitationChange::Renew { before, after }), NOTHING);
    let (_, after) = facts();
    assert_eq!(granted(InvitationChange::Send { after }), NOTHING);
    let (before, after) = facts();
    assert_eq!(granted(InvitationChange::Accept { before, after }), NOTHING);
    let (before, after) = facts();
    assert_eq!(granted(InvitationChange::Revoke { before, after }), NOTHING);
}

fn link(purpose: LinkPurpose) -> Link {
    Link {
        id: id("link"),
        tenant_id: TenantId::NONE,
        purpose,
        subject: id("user"),
        email: "ada@example.com".parse().unwrap(),
        token_hash: [0; 32],
        created_at: at(0),
        expires_at: at(99),
    }
}

#[test]
fn a_change_of_assignments_gives_the_permissions_of_the_roles() {
    let test_tree = TestTree::new();
    let in_branch = || test_tree.grant("users:read", Some("branch"), Some(at(50)));
    let all = vec![test_tree.grant("users:*", None, None), in_branch()];
    assert_eq!(granted(AssignmentChange::Create(all.clone())), ["users:* tenant forever", "users:read branch 50"]);
    let unknown_organization = Grant { organization: None, ..in_branch() };
    assert_eq!(granted(AssignmentChange::Create(vec![unknown_organization])), ["users:read tenant 50"]);
    let other = Assignment { role_id: id("other"), ..in_branch().assignment };
    let unknown_role = Grant { assignment: other, ..in_branch() };
    assert_eq!(granted(AssignmentChange::Create(vec![unknown_role.clone()])), EVERYTHING);
    let changed = |grant: Grant, expires_at, directory_group_id| {
        let after = Assignment { expires_at, directory_group_id, ..grant.assignment.clone() };
        ChangedAssignment { grant, after }
    };
    let updating = |grant, expires_at, group| AssignmentChange::Update(vec![changed(grant, expires_at, group)]);
    for (expires_at, expected) in [
        (Some(at(49)), [].as_slice()),
        (Some(at(50)), &[]),
        (Some(at(51)), &["users:read branch 51"]),
        (None, &["users:read branch forever"]),
    ] {
        // The group that gives an assignment changes no right.
        for group in [None, Some(id("group"))] {
            assert_eq!(granted(updating(in_branch(), expires_at, group)), expected);
        }
    }
    assert_eq!(granted(updating(unknown_role, None, None)), EVERYTHING);
    let several = [(in_branch(), Some(at(51))), (all[0].clone(), Some(at(50))), (in_branch(), None)];
    let several = several.map(|(grant, expires_at)| changed(grant, expires_at, None)).to_vec();
    let expected = ["users:read branch 51", "users:read branch forever"];
    assert_eq!(granted(AssignmentChange::Update(several)), expected);
    assert_eq!(granted(AssignmentChange::Revoke { grants: all, reason: None }), NOTHING);
}

#[test]
fn a_change_of_roles_gives_the_added_permissions() {
    let role = |patterns: &[&str]| {
        let permissions = patterns.iter().map(|pattern| pattern.parse().unwrap()).collect();
        Role { permissions, ..Role::clone(&TestTree::new().grant("*", None, None).role) }
    };
    let (small, large) = (role(&["roles:*"]), role(&["roles:read", "users:read"]));
    let update = |before: &Role, after: &Role, held_until| {
        granted(RoleChange::Update { before: before.clone(), after: after.clone(), held_until })
    };
    assert_eq!(granted(RoleChange::Create(large.clone())), ["roles:read,users:read tenant 10"]);
    assert_eq!(granted(RoleChange::CreateBuiltIn(vec![small.clone()])), ["roles:* tenant 10"]);
    assert_eq!(update(&small, &large, Until::Forever), ["users:read tenant forever"]);
    assert_eq!(update(&large, &small, Until::Moment(at(50))), ["roles:* tenant 50"]);
    assert_eq!(update(&large, &role(&["users:read"]), Until::Forever), NOTHING);
    assert_eq!(granted(RoleChange::Delete(large)), NOTHING);
}

#[test]
fn a_new_permission_is_given_to_roles_with_a_wildcard() {
    let permission = RegisteredPermission {
        id: id("permission"),
        tenant_id: TenantId::NONE,
        name: "orders:refund".parse().unwrap(),
        description: "".parse().unwrap(),
        system: false,
        created_at: at(0),
    };
    for (wildcard_roles, held_until, expected) in [
        (Some(Vec::new()), Until::Forever, [].as_slice()),
        (Some(vec![id("role")]), Until::Forever, &["orders:refund tenant forever"]),
        (Some(vec![id("role")]), Until::Moment(at(50)), &["orders:refund tenant 50"]),
        (None, Until::Forever, &["orders:refund tenant forever"]),
    ] {
        let permission = permission.clone();
        assert_eq!(granted(PermissionChange::Create { permission, wildcard_roles, held_until }), expected);
    }
    let built_in = vec![permission.clone()];
    assert_eq!(granted(PermissionChange::CreateBuiltIn(built_in)), ["orders:refund tenant forever"]);
    assert_eq!(granted(PermissionChange::Delete(permission)), NOTHING);
}

/// The facts of a change in the test tree. In each of the organizations `read`, a role is held whose permission names
/// it.
fn activated(after: &Organization, read: &[&str]) -> ActivatedRoles {
    let test_tree = TestTree::new();
    let branch = organization("branch", Some("root"), Active);
    let tree = AffectedTree::new(&test_tree.hierarchy, &[branch, organization("gone", Some("branch"), Inactive)]);
    let held = read.iter().map(|name| HeldRole {
        role: test_tree.grant(&format!("{name}:read"), None, None).role,
        organization: id(name),
        until: Until::Moment(at(50)),
    });
    assert!(tree.activations(after).is_some());
    ActivatedRoles::new(tree, read.iter().map(|name| id(name)), held.collect())
}

#[test]
fn a_change_of_an_organization_gives_the_roles_that_begin_to_count() {
    let all = ["root", "branch", "team", "other", "asleep", "gone"];
    let team = organization("team", Some("branch"), Active);
    let moved = organization("team", Some("other"), Active);
    let update = |before: &Organization, after: &Organization, activated| {
        granted(OrganizationChange::Update {
            before: before.clone(),
            after: after.clone(),
            activated,
            attributes: None,
        })
    };
    let renamed = Organization { name: "Renamed".parse().unwrap(), ..team.clone() };
    assert_eq!(update(&team, &renamed, None), NOTHING);
    assert_eq!(update(&team, &moved, Some(activated(&moved, &all))), ["other:read team 50"]);
    let asleep = organization("asleep", None, Suspended);
    let awake = organization("asleep", None, Active);
    assert_eq!(update(&asleep, &awake, Some(activated(&awake, &all))), ["asleep:read asleep 50"]);
    assert_eq!(update(&awake, &asleep, Some(activated(&asleep, &[]))), NOTHING);
    let gone = organization("gone", Some("branch"), Inactive);
    let restored = organization("gone", Some("branch"), Active);
    let expected = ["root:read gone 50", "branch:read gone 50", "gone:read gone 50"];
    assert_eq!(update(&gone, &restored, Some(activated(&restored, &all))), expected);
    assert_eq!(update(&restored, &gone, None), NOTHING);
    // Facts that were not read, or that belong to another change.
    assert_eq!(update(&team, &moved, None), EVERYTHING);
    assert_eq!(update(&team, &moved, Some(activated(&moved, &["root", "branch", "team"]))), EVERYTHING);
    assert_eq!(update(&team, &moved, Some(activated(&awake, &["asleep"]))), EVERYTHING);
    let elsewhere = organization("team", Some("unknown"), Active);
    assert_eq!(update(&team, &elsewhere, Some(activated(&moved, &all))), EVERYTHING);

    assert_eq!(granted(OrganizationChange::create(moved.clone())), NOTHING);
    assert_eq!(granted(OrganizationChange::Delete { before: restored, after: gone }), NOTHING);
    assert_eq!(granted(OrganizationChange::Delete { before: team, after: moved }), EVERYTHING);
}

fn session() -> Session {
    Session {
        id: id("session"),
        tenant_id: TenantId::NONE,
        user_id: id("user"),
        ip_address: None,
        user_agent: None,
        methods: AuthenticationMethods::default(),
        authenticated_at: at(0),
        created_at: at(0),
        last_used_at: at(0),
        expires_at: at(99),
        refresh: RefreshState { tag_key: [0; 32], current: [0; 32], spent: None },
        provider: None,
        impersonation: None,
    }
}

#[test]
fn other_changes_give_no_rights() {
    let tenant = || Tenant {
        id: TenantId::NONE,
        name: "Acme".parse().unwrap(),
        slug: "acme".parse().unwrap(),
        status: TenantStatus::Active,
        password_policy: PasswordPolicy::default(),
        second_factor: SecondFactorPolicy::default(),
        second_factor_grace_days: GraceDays::default(),
        second_factor_required_at: None,
        password_login: PasswordLogin::default(),
        email_login: EmailLogin::default(),
        authzen_identifiers: AuthzenIdentifiers::default(),
        user_attributes: AttributeDefinitions::default(),
        organization_attributes: AttributeDefinitions::default(),
        unregistered_attributes: UnregisteredAttributes::default(),
        created_at: at(0),
        updated_at: at(0),
        version: Version::FIRST,
    };
    let password = || PasswordHash::from("hash");
    let retention = Retention { days: None, pending: None };
    let email = || user(UserStatus::Active, "ada@example.com").email;
    let event = NewEvent { action: "SENT".into(), resource_type: "INVOICE".into(), ..NewEvent::default() };
    let reason = LoginFailure::InvalidPassword;
    let message = || Message {
        id: id("message"),
        tenant_id: TenantId::NONE,
        kind: MailKind::Reset,
        to: Addressee::Accounts(email().key()),
        link_id: None,
        context: RequestContext::default(),
        attempts: 0,
        next_attempt_at: at(0),
        turn: None,
        claimed_until: None,
        created_at: at(0),
    };
    let attempts = LoginAttempts::default();
    let changes: Vec<Change> = vec![
        TenantChange::Create(tenant()).into(),
        TenantChange::Update { before: tenant(), after: tenant() }.into(),
        TenantChange::ChangeStatus { before: tenant(), after: tenant() }.into(),
        CredentialChange::ChangePassword { user: id("user"), password: password() }.into(),
        CredentialChange::ResetPassword { user: id("user"), password: password() }.into(),
        CredentialChange::Rehash { user: id("user"), password: password() }.into(),
        CredentialChange::CountFailure { email: email(), reason, attempts, is_recorded: true }.into(),
        CredentialChange::Refuse { email: email(), reason, attempt_count: 1 }.into(),
        CredentialChange::ClearFailures(email().key()).into(),
        SessionChange::Start(session()).into(),
        SessionChange::Refresh(session()).into(),
        SessionChange::RepeatRefresh(session()).into(),
        SessionChange::StepUp { session: session(), method: AuthenticationMethod::Totp }.into(),
        SessionChange::Forget(vec![session()]).into(),
        SessionChange::End { sessions: vec![session()], reason: EndReason::Logout }.into(),
        AuditChange::Log(event.validate().unwrap()).into(),
        AuditChange::Export(TenantId::NONE, Export::new(AuditFilter::default(), "text/csv".into(), false)).into(),
        AuditChange::SetRetention { tenant: TenantId::NONE, before: retention, after: retention }.into(),
        AuditChange::GiveUp { tenant: TenantId::NONE, from: 0, until: 1, before: at(0), signature: String::new() }
            .into(),
        AuditChange::Erase { user: id("user"), details: vec![], origins: vec![], signature: String::new() }.into(),
        FactorChange::Prepare(factor()).into(),
        FactorChange::Confirm(factor()).into(),
        FactorChange::Register(factor()).into(),
        FactorChange::Rename { before: factor(), after: factor() }.into(),
        FactorChange::Use { after: factor(), fell_back_to: Some(7) }.into(),
        FactorChange::IssueRecoveryCodes { user: id("user"), hashes: vec![[0; 32]] }.into(),
        FactorChange::UseRecoveryCode { user: id("user"), hash: [0; 32], left: 9 }.into(),
        ChallengeChange::Issue(challenge()).into(),
        ChallengeChange::Update(challenge()).into(),
        ChallengeChange::End(challenge()).into(),
        ChallengeChange::EndAll(id("user")).into(),
        ChallengeChange::EndAllFor(ChallengePurpose::EmailLogin).into(),
        ChallengeChange::EndAllOfTenant.into(),
        LinkChange::Send { link: link(LinkPurpose::Verify) }.into(),
        LinkChange::End { purpose: LinkPurpose::Reset, subject: id("user") }.into(),
        LinkChange::EndAll { purpose: LinkPurpose::Reset }.into(),
        MailChange::Queue { message: message(), counted_in: TenantId::NONE, queued_at: vec![at(0)] }.into(),
        MailChange::Renew { message: message() }.into(),
        IdempotencyChange::Keep(IdempotencyRecord {
            tenant_id: TenantId::NONE,
            id: [0; 32],
            request: [0; 32],
            answer: String::new(),
            created_at: at(0),
        })
        .into(),
        IdempotencyChange::Forget { tenant_id: TenantId::NONE, text: String::new() }.into(),
    ];
    for change in changes {
        assert_eq!(granted(change.clone()), NOTHING, "{change:?}");
    }
}
