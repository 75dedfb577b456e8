//! The texts with arguments, and those that a value of the services chooses.

use chrono::Datelike as _;
use iam_core::access::Denial;
use iam_core::access_request::Obstacle;
use iam_core::attribute::{AttributeType, UnregisteredAttributes};
use iam_core::clock::Day;
use iam_core::factor::SecondFactorPolicy;
use iam_core::identity_provider::{Provisioning, SubjectClaim};
use iam_core::organization::OrganizationCounts;
use iam_core::tenant::{AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy};
use iam_core::webhook::EventFormat;

use super::{named, of_service, t, t_with};
use crate::run::step::Action;

// Forms and common parts.

/// The rules for a new password.
pub(crate) fn password_hint(policy: PasswordPolicy, min_length: usize) -> String {
    let id = match policy {
        PasswordPolicy::Seed => "password-hint-seed",
        PasswordPolicy::Nist => "password-hint-nist",
        PasswordPolicy::Asvs => "password-hint-asvs",
    };
    t_with(id, [("length", min_length.into())])
}

/// Why a service does not accept the resource that a field names, as the end of a sentence that begins with the field.
pub(crate) fn not_accepted(reason: &str) -> String {
    t_with("not-accepted", [("reason", reason.into())])
}

/// A browser and its system, such as `Chrome on Linux`.
pub(crate) fn browser_on(browser: &str, system: &str) -> String {
    t_with("browser-on", [("browser", browser.into()), ("system", system.into())])
}

/// How many users a change affects, and how: whether there are gains, and losses.
pub(crate) fn users_affected(count: u64, gains: bool, losses: bool) -> String {
    let counted = [("count", count.into())];
    match (gains, losses) {
        (true, false) => t_with("users-gain", counted),
        (false, true) => t_with("users-lose", counted),
        _ => t_with("users-affected", counted),
    }
}

/// What the person can do about a page that it may not see.
pub(crate) fn needs_permission(permission: &str) -> String {
    t_with("needs-permission", [("permission", permission.into())])
}

/// How many of them a page does not name.
pub(crate) fn others_affected(count: u64) -> String {
    t_with("others-affected", [("count", count.into())])
}

pub(crate) fn permissions_in(count: usize) -> String {
    t_with("permissions-in", [("count", count.into())])
}

/// A length of time, such as `1 hour 30 minutes`.
pub(crate) fn duration(seconds: u32) -> String {
    let mut left = seconds;
    let sizes = [(86_400, "length-days"), (3_600, "length-hours"), (60, "length-minutes"), (1, "length-seconds")];
    let units = sizes.into_iter().filter_map(|(size, id)| {
        let count = left / size;
        left %= size;
        (count > 0).then(|| t_with(id, [("count", count.into())]))
    });
    units.collect::<Vec<_>>().join(" ")
}

/// A day below a chart, such as `31 Jan`.
pub(crate) fn short_day(day: Day) -> String {
    let id = match day.month() {
        1 => "short-day-1",
        2 => "short-day-2",
        3 => "short-day-3",
        4 => "short-day-4",
        5 => "short-day-5",
        6 => "short-day-6",
        7 => "short-day-7",
        8 => "short-day-8",
        9 => "short-day-9",
        10 => "short-day-10",
        11 => "short-day-11",
        _ => "short-day-12",
    };
    t_with(id, [("day", day.day().into())])
}

// Access.

/// Why a user may not do something.
pub(crate) fn denial(denial: &Denial) -> String {
    let text = match denial {
        Denial::UserNotActive(_) => t("denial-user-not-active"),
        Denial::Expired => t("denial-expired"),
        Denial::OrganizationNotActive => t("denial-organization-not-active"),
        Denial::HeldElsewhere => t("denial-held-elsewhere"),
        Denial::DidNotExist => t("denial-did-not-exist"),
        Denial::NotHeld => t("denial-not-held"),
        other => return of_service(&other.to_string()),
    };
    text.to_owned()
}

/// Why a permission is not known: some of those that the typed words can mean.
pub(crate) fn several_permissions(names: &str) -> String {
    t_with("several-permissions", [("names", names.into())])
}

// Access requests.

pub(crate) fn requests_found(count: u64) -> String {
    t_with("requests-found", [("count", count.into())])
}

/// What happens after a request is sent.
pub(crate) fn request_note(approvals: u8, begins_later: bool) -> &'static str {
    match (approvals, begins_later) {
        (0, false) => t("request-note-at-once"),
        (0, true) => t("request-note-later"),
        (1, false) => t("request-note-one-at-once"),
        (1, true) => t("request-note-one-later"),
        (_, false) => t("request-note-two-at-once"),
        (_, true) => t("request-note-two-later"),
    }
}

/// Who gets a message about a request.
pub(crate) fn told_of_request(approvals: u8, sends_mail: bool) -> &'static str {
    match (approvals, sends_mail) {
        (0, true) => t("administrators-are-told"),
        (0, false) => "",
        (_, true) => t("deciders-are-told"),
        (_, false) => t("tell-deciders"),
    }
}

/// For how long a role is held, from the approval or from a moment that stands before this text.
pub(crate) fn lasts(time: &str, from_approval: bool) -> String {
    let id = if from_approval { "lasts-from-approval" } else { "lasts" };
    t_with(id, [("time", time.into())])
}

/// The longest time for which a person may ask.
pub(crate) fn at_most_now(time: &str) -> String {
    t_with("at-most-now", [("time", time.into())])
}

/// That fewer others can decide about a request than have to approve. Empty if there are enough.
pub(crate) fn too_few_can_decide(needed: u8, others: usize) -> String {
    if others >= usize::from(needed) {
        return String::new();
    }
    t_with("too-few-can-decide", [("needed", needed.into()), ("others", others.into())])
}

/// What keeps a request from becoming effective.
pub(crate) fn obstacle(obstacle: Obstacle) -> String {
    let text = match obstacle {
        Obstacle::EligibilityEnded => t("obstacle-eligibility-ended"),
        Obstacle::TooLong { at_most } => return t_with("obstacle-too-long", [("time", duration(at_most).into())]),
        Obstacle::OtherDecisions => t("obstacle-other-decisions"),
        Obstacle::RoleNotOffered => t("obstacle-role-not-offered"),
        Obstacle::NotEligible => t("obstacle-not-eligible"),
        Obstacle::RoleHeld => t("obstacle-role-held"),
    };
    text.to_owned()
}

/// What a person asks for.
pub(crate) fn ask_for(role: &str, place: &str, time: &str) -> String {
    t_with("ask-for", [("role", role.into()), ("place", place.into()), ("time", time.into())])
}

/// How many others have to approve.
pub(crate) fn approvals_needed(approvals: &u8) -> &'static str {
    match approvals {
        0 => t("approvals-needed-none"),
        1 => t("approvals-needed-one"),
        _ => t("approvals-needed-two"),
    }
}

pub(crate) fn cancelled_by(user: &str) -> String {
    t_with("cancelled-by", [("user", user.into())])
}

pub(crate) fn denied_by(user: &str) -> String {
    t_with("denied-by", [("user", user.into())])
}

// What follows from an action. A moment follows.
pub(crate) fn you_have(role: &str) -> String {
    t_with("you-have", [("role", role.into())])
}

pub(crate) fn you_get(role: &str) -> String {
    t_with("you-get", [("role", role.into())])
}

pub(crate) fn user_has(user: &str, role: &str) -> String {
    t_with("user-has", [("user", user.into()), ("role", role.into())])
}

pub(crate) fn user_gets(user: &str, role: &str) -> String {
    t_with("user-gets", [("user", user.into()), ("role", role.into())])
}

/// How many of the approvals are there.
pub(crate) fn approvals_of(count: usize, needed: u8) -> String {
    if needed == 0 {
        return approvals_needed(&needed).to_owned();
    }
    t_with("approvals-of", [("count", count.into()), ("needed", needed.into())])
}

/// A role that is gone, by the name that it had.
pub(crate) fn deleted(role: &str) -> String {
    t_with("deleted-role", [("role", role.into())])
}

/// The holders of a role.
pub(crate) fn holders_of(role: &str) -> String {
    t_with("holders-of", [("role", role.into())])
}

/// How many requests wait for the decision of the person.
pub(crate) fn requests_wait(count: u64) -> String {
    t_with("requests-wait", [("count", count.into())])
}

// Access reviews.

/// The effects of the completion of a review, or why it cannot be completed yet.
pub(crate) fn completion(undecided: u64, keep: u64, revoke: u64) -> String {
    match (undecided, revoke) {
        (0, 0) => t_with("completion-all-stay", [("keep", keep.into())]),
        (0, _) => t_with("completion", [("revoke", revoke.into()), ("keep", keep.into())]),
        _ => t_with("completion-undecided", [("count", undecided.into())]),
    }
}

// The own account, role assignments and attributes.

/// The button that leads to an identity provider to link an account there.
pub(crate) fn link_with(provider: &str) -> String {
    t_with("link-with", [("provider", provider.into())])
}

pub(crate) fn assignments_found(count: u64) -> String {
    t_with("assignments-found", [("count", count.into())])
}

pub(crate) fn revoke_role(role: &str, user: &str) -> String {
    t_with("revoke-role", [("role", role.into()), ("user", user.into())])
}

pub(crate) fn assign_role(role: &str, user: &str, organization: Option<&str>) -> String {
    let (role, user) = (("role", role.into()), ("user", user.into()));
    match organization {
        Some(name) => t_with("assign-role-to", [role, user, ("organization", name.into())]),
        None => t_with("assign-role-in-tenant", [role, user]),
    }
}

pub(crate) fn change_end_of(role: &str, user: &str) -> String {
    t_with("change-end-of", [("role", role.into()), ("user", user.into())])
}

/// What a person types for an attribute of a type.
pub(crate) fn attribute_hint(kind: AttributeType) -> &'static str {
    match kind {
        AttributeType::Number => t("attribute-hint-number"),
        AttributeType::Strings => t("attribute-hint-strings"),
        AttributeType::String | AttributeType::Boolean | AttributeType::Object => "",
    }
}

/// Why a key must not be among the other attributes.
pub(crate) fn has_a_field(key: &str) -> String {
    t_with("has-a-field", [("key", key.into())])
}

/// Where a definition is wrong; what is wrong follows.
pub(crate) fn definition(number: usize) -> String {
    t_with("definition", [("number", number.into())])
}

/// Why a text is no list of definitions, as the end of a sentence, and where in the text.
pub(crate) fn must_be_definitions(line: usize, column: usize) -> String {
    t_with("must-be-definitions", [("line", line.into()), ("column", column.into())])
}

/// The name of a rule for attributes that have no definition.
pub(crate) fn unregistered_attributes(unregistered: &UnregisteredAttributes) -> &'static str {
    match unregistered {
        UnregisteredAttributes::Allowed => t("unregistered-allowed"),
        UnregisteredAttributes::Refused => t("unregistered-refused"),
    }
}

// API keys.

/// How many of the permissions of a key its user holds now.
pub(crate) fn key_holds(held: usize, all: usize) -> String {
    t_with("key-holds", [("held", held.into()), ("all", all.into())])
}

/// The meaning of a permission that the user of a key does not hold.
pub(crate) fn not_held_now(meaning: &str) -> String {
    t_with("not-held-now", [("meaning", meaning.into())])
}

// Directories.

/// Why a directory is not created although its service account is.
pub(crate) fn account_is_made(why: &str) -> String {
    t_with("account-is-made", [("why", of_service(why).into())])
}

/// What to enter in the fields of Entra. Their names are those of Entra.
pub(crate) fn entra_fields() -> [(&'static str, &'static str); 2] {
    [("Tenant URL", t("the-address-above")), ("Secret token", t("key-of-the-account"))]
}

/// What to enter in the fields of Okta. Their names are those of Okta.
pub(crate) fn okta_fields() -> [(&'static str, &'static str); 3] {
    [
        ("SCIM connector base URL", t("the-address-above")),
        ("Unique identifier field for users", "userName"),
        ("Authentication mode", t("key-as-bearer-token")),
    ]
}

pub(crate) fn remove_directory(name: &str) -> String {
    t_with("remove-directory-named", [("name", name.into())])
}

pub(crate) fn groups_found(count: u64) -> String {
    t_with("groups-found", [("count", count.into())])
}

pub(crate) fn change_grants_of(group: &str) -> String {
    t_with("change-grants-of", [("group", group.into())])
}

/// A role with where it is held.
pub(crate) fn role_in(role: &str, place: &str) -> String {
    t_with("role-in", [("role", role.into()), ("place", place.into())])
}

/// Why the service account of a directory cannot give a role.
pub(crate) fn account_lacks(permission: &str) -> String {
    t_with("account-lacks", [("permission", permission.into())])
}

/// Names the group that gives a role.
pub(crate) fn by_group(group: &str, directory: &str) -> String {
    t_with("by-group", [("group", group.into()), ("directory", directory.into())])
}

// Eligibilities.

/// Why no user can ask by an eligibility for the holders of a role.
pub(crate) fn no_holder_can_ask(role: &str, place: &str, is_tenant_wide: bool) -> String {
    let id = if is_tenant_wide { "no-holder-in-tenant" } else { "no-holder-in-organization" };
    t_with(id, [("role", role.into()), ("place", place.into())])
}

/// How many requests that wait ask for more than their eligibility allows. Empty if none does.
pub(crate) fn requests_ask_too_much(count: usize) -> String {
    if count == 0 { String::new() } else { t_with("requests-ask-too-much", [("count", count.into())]) }
}

pub(crate) fn persons(count: usize) -> String {
    t_with("persons", [("count", count.into())])
}

/// How many others can have to approve, with the values of the form.
pub(crate) fn approval_choices() -> [(&'static str, &'static str); 3] {
    [("0", t("approvals-choice-none")), ("1", t("approvals-choice-one")), ("2", t("approvals-choice-two"))]
}

// Find.

/// How many results there are.
pub(crate) fn results(count: usize) -> String {
    t_with("results-found", [("count", count.into())])
}

/// Other words by which a page of the console is found, beside its name. The path is that below the console.
pub(crate) fn other_words(path: &str) -> &'static str {
    match path {
        "" => t("words-overview"),
        "/users" => t("words-users"),
        "/users?kind=SERVICE" => t("words-service-accounts"),
        "/users/new" => t("words-users-new"),
        "/users/import" => t("words-users-import"),
        "/invitations" => t("words-invitations"),
        "/invitations/new" => t("words-invitations-new"),
        "/roles" => t("words-roles"),
        "/roles/new" => t("words-roles-new"),
        "/assignments" => t("words-assignments"),
        "/assignments/new" => t("words-assignments-new"),
        "/runs" => t("words-runs"),
        "/organizations" => t("words-organizations"),
        "/organizations/new" => t("words-organizations-new"),
        "/access" => t("words-access"),
        "/access/who" => t("words-access-who"),
        "/access-requests" => t("words-access-requests"),
        "/access-requests/new" => t("words-access-requests-new"),
        "/eligibilities" => t("words-eligibilities"),
        "/eligibilities/new" => t("words-eligibilities-new"),
        "/audit" => t("words-audit"),
        "/access-reviews" => t("words-access-reviews"),
        "/access-reviews/new" => t("words-access-reviews-new"),
        "/webhooks" => t("words-webhooks"),
        "/webhooks/new" => t("words-webhooks-new"),
        "/domains" => t("words-domains"),
        "/domains/new" => t("words-domains-new"),
        "/identity-providers" => t("words-identity-providers"),
        "/identity-providers/new" => t("words-identity-providers-new"),
        "/directories" => t("words-directories"),
        "/directories/new" => t("words-directories-new"),
        "/tenant" => t("words-tenant"),
        "/account" => t("words-account"),
        "/account/password" => t("words-account-password"),
        "/account/email" => t("words-account-email"),
        _ => "",
    }
}

// Identity providers.

/// The name of a claim that names a person.
pub(crate) fn subject_claim(claim: &SubjectClaim) -> &'static str {
    match claim {
        SubjectClaim::Sub => t("claim-sub"),
        SubjectClaim::Oid => t("claim-oid"),
    }
}

/// What happens with a person who is not linked to a user.
pub(crate) fn provisioning(provisioning: &Provisioning) -> &'static str {
    match provisioning {
        Provisioning::Off => t("provisioning-off"),
        Provisioning::Link => t("provisioning-link"),
        Provisioning::Create => t("provisioning-create"),
    }
}

// Organizations.

pub(crate) fn map_from(name: &str) -> String {
    t_with("map-from", [("name", name.into())])
}

pub(crate) fn places_not_drawn(count: &u64) -> String {
    t_with("places-not-drawn", [("count", count.into())])
}

/// How many organizations below a place of the map are missing on it.
pub(crate) fn missing_below(count: u64) -> String {
    t_with("missing-below", [("count", count.into())])
}

fn members_counted(count: u64) -> String {
    t_with("members-counted", [("count", count.into())])
}

/// What is in an organization and below it, in a line of the tree.
pub(crate) fn organization_counts(counts: &OrganizationCounts) -> String {
    let own = counts.members.map(|members| members_counted(members.own));
    let below = (counts.below > 0).then(|| {
        let organizations = organizations_found(counts.below);
        let members = counts.members.map(|members| members_counted(members.below));
        let below = [Some(organizations), members].into_iter().flatten().collect::<Vec<_>>();
        t_with("counts-below", [("counts", below.join(", ").into())])
    });
    [own, below].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The same in a place of the map, which has little room.
pub(crate) fn place_counts(counts: &OrganizationCounts) -> String {
    let own = counts.members.map(|members| members_counted(members.own));
    let below = (counts.below > 0).then(|| t_with("places-below", [("count", counts.below.into())]));
    [own, below].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

pub(crate) fn organizations_found(count: u64) -> String {
    t_with("organizations-found", [("count", count.into())])
}

pub(crate) fn move_organization(name: &str) -> String {
    t_with("move-named", [("name", name.into())])
}

pub(crate) fn move_below(name: &str, parent: &str) -> String {
    t_with("move-below", [("name", name.into()), ("parent", parent.into())])
}

pub(crate) fn move_to_top(name: &str) -> String {
    t_with("move-to-top", [("name", name.into())])
}

pub(crate) fn suspend(name: &str) -> String {
    t_with("suspend-named", [("name", name.into())])
}

pub(crate) fn reactivate(name: &str) -> String {
    t_with("reactivate-named", [("name", name.into())])
}

pub(crate) fn delete(name: &str) -> String {
    t_with("delete-named", [("name", name.into())])
}

/// Revokes an API key.
pub(crate) fn revoke_key(name: &str) -> String {
    t_with("revoke-key-named", [("name", name.into())])
}

pub(crate) fn restore(name: &str) -> String {
    t_with("restore-named", [("name", name.into())])
}

/// Ends all sessions of a user.
pub(crate) fn end_sessions(user: &str) -> String {
    t_with("end-sessions-of", [("user", user.into())])
}

/// Removes all second factors of a user.
pub(crate) fn reset_factors(user: &str) -> String {
    t_with("reset-factors-of", [("user", user.into())])
}

/// Sends a user a link for a new password.
pub(crate) fn send_reset(user: &str) -> String {
    t_with("send-reset-to", [("user", user.into())])
}

// The overview.

/// How many directories had requests that were refused.
pub(crate) fn directories_refused(count: usize) -> String {
    t_with("directories-refused", [("count", count.into())])
}

/// How many of the last requests of a directory were refused.
pub(crate) fn requests_refused(count: usize) -> String {
    t_with("requests-refused", [("count", count.into())])
}

/// How many webhooks fail.
pub(crate) fn webhooks_fail(count: usize) -> String {
    t_with("webhooks-fail", [("count", count.into())])
}

/// How many access reviews are due.
pub(crate) fn reviews_due(count: usize) -> String {
    t_with("reviews-due", [("count", count.into())])
}

/// How many items of an access review are undecided.
pub(crate) fn items_undecided(count: u64) -> String {
    t_with("items-undecided", [("count", count.into())])
}

/// How many people have no second factor, where the tenant requires one.
pub(crate) fn have_no_factor(count: u64, people: u64) -> String {
    t_with("have-no-factor", [("count", count.into()), ("people", people.into())])
}

/// How many of the people must set up a second factor if it is required.
pub(crate) fn must_set_up_factor(count: u64, people: u64) -> String {
    t_with("must-set-up-factor", [("count", count.into()), ("people", people.into())])
}

/// The filter of role assignments that end within some days.
pub(crate) fn within_days(days: i64) -> String {
    t_with("within-days", [("days", days.into())])
}

/// How many API keys end soon: of all users, or of the person alone. Only this many are counted.
pub(crate) fn keys_end(count: usize, counted: usize, are_all: bool) -> String {
    let shown = number(count, counted);
    if are_all {
        t_with("keys-end", [("count", count.into()), ("number", shown.into())])
    } else {
        t_with("own-keys-end", [("count", count.into())])
    }
}

/// How many role assignments end in the next days, and how many soon. Only this many are counted.
pub(crate) fn ending(next: usize, soon: usize, counted: usize) -> String {
    let of = |count: usize| [("count", count.into()), ("number", number(count, counted).into())];
    if next == 0 {
        t_with("assignments-end-soon", of(soon))
    } else if next == soon {
        t_with("assignments-end-next", of(next))
    } else {
        t_with("assignments-end-both", of(next).into_iter().chain([("soon", number(soon, counted).into())]))
    }
}

/// A number of which only so many are counted.
fn number(count: usize, counted: usize) -> String {
    if count < counted { count.to_string() } else { t_with("at-least", [("count", count.into())]) }
}

/// How many invitations end soon. There may be more, if not all of them were looked at.
pub(crate) fn invitations_end(count: usize, are_all: bool) -> String {
    let id = if are_all { "invitations-end" } else { "at-least-invitations-end" };
    t_with(id, [("count", count.into())])
}

/// How many holders of all permissions have a linked account.
pub(crate) fn linked_holders(count: usize) -> String {
    t_with("linked-holders", [("count", count.into())])
}

/// The numbers of a day, or of the week that begins with it, with what they count.
pub(crate) fn counted_on(day: Day, counts: impl Iterator<Item = (&'static str, Option<u64>)>) -> String {
    let shown = |count: Option<u64>| count.map_or_else(|| t("unknown-number").to_owned(), |count| count.to_string());
    let counts: Vec<String> = counts.map(|(what, count)| format!("{what}: {}", shown(count))).collect();
    format!("{day} · {}", counts.join(", "))
}

/// How many of the active people have a second factor.
pub(crate) fn have_a_factor(with: &str, people: u64) -> String {
    t_with("have-a-factor", [("with", with.into()), ("people", people.into())])
}

/// How many entries are not sequenced yet, as always for a moment, after so many that are.
pub(crate) fn entries_wait(size: &u64, count: &usize) -> String {
    if *size == 0 {
        return t("all-entries-wait").to_owned();
    }
    t_with("entries-wait", [("count", count.into()), ("number", number(*count, 100).into())])
}

/// How many entries are not sequenced after a long time. Only 100 are counted.
pub(crate) fn entries_late(count: usize) -> String {
    t_with("entries-late", [("number", number(count, 100).into())])
}

pub(crate) fn at_least(count: u64) -> String {
    t_with("at-least", [("count", count.into())])
}

// Permissions and roles.

pub(crate) fn delete_permission(name: &str) -> String {
    t_with("delete-permission", [("name", name.into())])
}

pub(crate) fn permissions_found(count: u64) -> String {
    t_with("permissions-found", [("count", count.into())])
}

pub(crate) fn only_in(role: &str) -> String {
    t_with("only-in", [("role", role.into())])
}

pub(crate) fn differences_found(count: usize) -> String {
    t_with("differences-found", [("count", count.into())])
}

/// The meaning of the permission for all actions on a resource.
pub(crate) fn may_everything_with(resource: &str) -> String {
    t_with("may-everything-with", [("resource", title_of(resource).into())])
}

/// How long ago a moment was, such as `2 hours ago`; or how far ahead it is, such as `in 2 hours`, for less than zero.
pub(crate) fn ago(seconds: i64) -> String {
    let before = [(86_400, "ago-days"), (3_600, "ago-hours"), (60, "ago-minutes")];
    let ahead = [(86_400, "ahead-days"), (3_600, "ahead-hours"), (60, "ahead-minutes")];
    let sizes = if seconds < 0 { ahead } else { before };
    let length = seconds.saturating_abs();
    let unit = sizes.into_iter().find(|(size, _)| length >= *size);
    unit.map_or_else(|| t("ago-moments").to_owned(), |(size, id)| t_with(id, [("count", (length / size).into())]))
}

/// Returns the title of the permissions of a resource.
pub(crate) fn title_of(resource: &str) -> String {
    if let Some(title) = named(&format!("resource-{resource}")) {
        return title.to_owned();
    }
    // An application has its own resources.
    let mut letters = resource.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    (first + letters.as_str()).replace('-', " ")
}

/// How many of some choices are chosen, such as `2 of 5`.
pub(crate) fn chosen_of(chosen: usize, all: usize) -> String {
    t_with("chosen-of", [("chosen", chosen.into()), ("all", all.into())])
}

pub(crate) fn edit_role(name: &str) -> String {
    t_with("edit-role", [("name", name.into())])
}

pub(crate) fn change_role(name: &str) -> String {
    t_with("change-role", [("name", name.into())])
}

pub(crate) fn roles_found(count: u64) -> String {
    t_with("roles-found", [("count", count.into())])
}

// Actions on many.

pub(crate) fn too_many_selected(max: usize) -> String {
    t_with("too-many-selected", [("max", max.into())])
}

/// The title of an action on so many.
pub(crate) fn run_title(action: Action, count: usize) -> String {
    let id = match action {
        Action::Assign => "run-assign",
        Action::Suspend => "run-suspend",
        Action::Reactivate => "run-reactivate",
        Action::EndSessions => "run-end-sessions",
        Action::Revoke => "run-revoke",
        Action::ChangeEnd => "run-change-end",
    };
    t_with(id, [("count", count.into())])
}

/// What an action does to each.
pub(crate) fn run_what(action: Action) -> &'static str {
    match action {
        Action::Assign => t("run-assign-what"),
        Action::Suspend => t("run-suspend-what"),
        Action::Reactivate => t("run-reactivate-what"),
        Action::EndSessions => t("run-end-sessions-what"),
        Action::Revoke => t("run-revoke-what"),
        Action::ChangeEnd => t("run-change-end-what"),
    }
}

/// The button that undoes what was done, by this action.
pub(crate) fn undo_run(action: Action) -> &'static str {
    match action {
        Action::Assign => t("undo-by-assign"),
        Action::Suspend => t("undo-by-suspend"),
        Action::Reactivate => t("undo-by-reactivate"),
        Action::EndSessions => t("undo-by-end-sessions"),
        Action::Revoke => t("undo-by-revoke"),
        Action::ChangeEnd => t("undo-by-change-end"),
    }
}

/// How far an action has come.
pub(crate) fn run_progress(done: usize, refused: usize, total: usize) -> String {
    let (done, total) = (("done", done.into()), ("total", total.into()));
    if refused == 0 {
        t_with("run-done", [done, total])
    } else {
        t_with("run-done-and-refused", [done, total, ("refused", refused.into())])
    }
}

/// How many actions of a person go on, or have ended unseen.
pub(crate) fn runs_unseen(count: usize) -> String {
    t_with("runs-unseen", [("count", count.into())])
}

// Signing in, and the tenant.

/// The button that leads to an identity provider.
pub(crate) fn sign_in_with(provider: &str) -> String {
    t_with("sign-in-with", [("provider", provider.into())])
}

/// The button that leads to the identity provider of a session to authenticate again.
pub(crate) fn confirm_at(provider: &str) -> String {
    t_with("confirm-at", [("provider", provider.into())])
}

/// How long entries are kept now.
pub(crate) fn entries_are_kept(days: &u32) -> String {
    t_with("entries-are-kept", [("days", days.into())])
}

/// How long entries are kept later; a moment follows.
pub(crate) fn entries_will_be_kept(days: &u32) -> String {
    t_with("entries-will-be-kept", [("days", days.into())])
}

/// How many entries the retention has removed.
pub(crate) fn entries_removed(count: u64) -> String {
    t_with("entries-removed", [("count", count.into())])
}

/// The name of a password policy.
pub(crate) fn password_policy(policy: &PasswordPolicy) -> &'static str {
    match policy {
        PasswordPolicy::Seed => t("policy-seed"),
        PasswordPolicy::Nist => t("policy-nist"),
        PasswordPolicy::Asvs => t("policy-asvs"),
    }
}

/// The name of a rule for passwords.
pub(crate) fn password_login(login: &PasswordLogin) -> &'static str {
    match login {
        PasswordLogin::Allowed => t("password-login-allowed"),
        PasswordLogin::Federated => t("password-login-federated"),
    }
}

/// The name of a rule for sign-in by e-mail.
pub(crate) fn email_login(login: &EmailLogin) -> &'static str {
    match login {
        EmailLogin::Off => t("email-login-off"),
        EmailLogin::On => t("email-login-on"),
    }
}

/// The name of a rule for the names in requests of AuthZEN.
pub(crate) fn authzen_identifiers(identifiers: &AuthzenIdentifiers) -> &'static str {
    match identifiers {
        AuthzenIdentifiers::Id => t("authzen-id"),
        AuthzenIdentifiers::Name => t("authzen-name"),
    }
}

/// The name of a rule for second factors.
pub(crate) fn second_factor_policy(policy: &SecondFactorPolicy) -> &'static str {
    match policy {
        SecondFactorPolicy::Off => t("factor-policy-off"),
        SecondFactorPolicy::Optional => t("factor-policy-optional"),
        SecondFactorPolicy::Required => t("factor-policy-required"),
    }
}

// Users.

/// How many users a search has found.
pub(crate) fn users_found(total: u64) -> String {
    t_with("users-found", [("count", total.into())])
}

/// How many permissions of a role the page does not show.
pub(crate) fn more_permissions(count: &usize) -> String {
    t_with("more-permissions", [("count", count.into())])
}

/// How many roles of a user the page does not show.
pub(crate) fn more_roles(count: &usize) -> String {
    t_with("more-roles", [("count", count.into())])
}

/// For how long a person can act as a user: each time in seconds, with its text.
pub(crate) fn acting_times() -> [(u32, String); 4] {
    [300, 900, 1_800, 3_600].map(|seconds| (seconds, duration(seconds)))
}

// Webhooks.

/// The name of a format of events.
pub(crate) fn event_format(format: &EventFormat) -> &'static str {
    match format {
        EventFormat::Native => t("format-native"),
        EventFormat::Ocsf => t("format-ocsf"),
    }
}

pub(crate) fn unknown_types(types: &str) -> String {
    t_with("unknown-types", [("types", types.into())])
}

/// The answer of the receiver of a webhook to a test.
pub(crate) fn test_result(status: Option<u16>, error: Option<&str>, duration_ms: u32) -> String {
    let duration = ("duration", duration_ms.into());
    let answer = match status {
        Some(status) => t_with("test-answered", [("status", status.into()), duration]),
        None => t_with("test-failed", [duration]),
    };
    match error {
        Some(error) => t_with("test-error", [("answer", answer.into()), ("error", error.into())]),
        None => t_with("test-accepted", [("answer", answer.into())]),
    }
}

// The audit log.

/// The words for an action of the log. `None` for one of an application.
pub(crate) fn log_action(action: &str) -> Option<&'static str> {
    named(&log_id("action", action))
}

/// The words for a type of resource in the log. `None` for one of an application.
pub(crate) fn log_resource(resource: &str) -> Option<&'static str> {
    named(&log_id("resource", resource))
}

/// The words for a field of an entry, by the names that lead to it. A field without words has its names.
pub(crate) fn log_field(path: &str) -> String {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    let mut id = String::from("log-field-");
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            id.push('-');
        }
        id.push(letter.to_ascii_lowercase());
    }
    match (named(&id), rest) {
        (Some(words), "") => words.to_owned(),
        (Some(words), rest) => format!("{words}: {rest}"),
        (None, _) => path.to_owned(),
    }
}

/// Returns the id of the words for a code of the log.
pub(super) fn log_id(what: &str, code: &str) -> String {
    format!("log-{what}-{}", code.to_lowercase().replace('_', "-"))
}

/// How many entries of the log a page shows.
pub(crate) fn entries_shown(count: usize) -> String {
    t_with("entries-shown", [("count", count.into())])
}

/// How many fields of an entry have the same value before and after.
pub(crate) fn fields_unchanged(count: usize) -> String {
    t_with("fields-unchanged", [("count", count.into())])
}

/// The texts of the script of the audit log, by their names.
pub(crate) fn audit_texts() -> [(&'static str, &'static str); 43] {
    [
        ("following", t("audit-text-following")),
        ("news", t("audit-text-news")),
        ("gap", t("audit-text-gap")),
        ("long", t("audit-text-long")),
        ("stopped", t("audit-text-stopped")),
        ("ended", t("audit-text-ended")),
        ("good", t("audit-text-good")),
        ("bad", t("audit-text-bad")),
        ("unknown", t("audit-text-unknown")),
        ("checking", t("audit-text-checking")),
        ("log-good", t("audit-text-log-good")),
        ("log-first", t("audit-text-log-first")),
        ("log-kept", t("audit-text-log-kept")),
        ("log-compared", t("audit-text-log-compared")),
        ("log-waiting", t("audit-text-log-waiting")),
        ("entry-differs", t("audit-text-entry-differs")),
        ("mark-good", t("audit-text-mark-good")),
        ("mark-bad", t("audit-text-mark-bad")),
        ("mark-unknown", t("audit-text-mark-unknown")),
        ("how", t("audit-text-how")),
        ("included", t("audit-text-included")),
        ("not-included", t("audit-text-not-included")),
        ("signed", t("audit-text-signed")),
        ("signed-first", t("audit-text-signed-first")),
        ("not-signed", t("audit-text-not-signed")),
        ("signature-unknown", t("audit-text-signature-unknown")),
        ("other-key", t("audit-text-other-key")),
        ("grown", t("audit-text-grown")),
        ("not-grown", t("audit-text-not-grown")),
        ("personal", t("audit-text-personal")),
        ("not-personal", t("audit-text-not-personal")),
        ("erased", t("audit-text-erased")),
        ("shown", t("audit-text-shown")),
        ("not-shown", t("audit-text-not-shown")),
        ("protected", t("audit-text-protected")),
        ("newer", t("audit-text-newer")),
        ("first", t("audit-text-first")),
        ("limit-truth", t("audit-text-limit-truth")),
        ("limit-others", t("audit-text-limit-others")),
        ("limit-script", t("audit-text-limit-script")),
        ("evidence", t("audit-text-evidence")),
        ("operator", t("audit-text-operator")),
        ("insecure", t("audit-text-insecure")),
    ]
}
