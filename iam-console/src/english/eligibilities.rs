//! Eligibilities: who may ask for which role.

pub(crate) const ELIGIBILITIES: &str = "Eligibilities";
pub(crate) const ELIGIBILITY: &str = "Eligibility";
pub(crate) const ELIGIBILITIES_WHAT: &str = "An eligibility lets a user, or the holders of a role, ask for a role for a \
     time. It gives nothing by itself. You need what the role permits yourself.";
pub(crate) const NEW_ELIGIBILITY: &str = "New eligibility";
pub(crate) const CREATE_ELIGIBILITY: &str = "Create the eligibility";
pub(crate) const CREATE_FIRST_ELIGIBILITY: &str = "Create the first eligibility";
pub(crate) const NO_ELIGIBILITIES: &str = "There is no eligibility yet.";
pub(crate) const ELIGIBILITY_CREATED: &str = "The eligibility is created.";
pub(crate) const ELIGIBILITY_REMOVED: &str =
    "The eligibility is removed. What was asked for by it and has begun goes on.";
pub(crate) const ELIGIBILITY_CHANGED_MEANWHILE: &str =
    "The eligibility has changed since you opened this page, so nothing is changed. Open the page again first.";
pub(crate) const WHO_MAY_ASK: &str = "Who may ask";
pub(crate) const WHO_MAY_ASK_HINT: &str = "Choose one of the two. Of a role, those holders may ask who hold it in that place or above it. Example: by an \
     eligibility for the whole tenant, a user who holds the role in one organization only cannot ask.";
pub(crate) const HELD_ROLE: &str = "Holders of the role";
pub(crate) const ELIGIBLE_MISSING: &str = "must be chosen, or else a role whose holders may ask";
pub(crate) const CAN_ASK_NOW: &str = "Can ask now";
pub(crate) const CAN_DECIDE_NOW: &str = "Can decide now";
pub(crate) const DECIDERS_VERIFY: &str = "Messages to persons who have not verified their e-mail address can come late, up to an \
     hour.";
pub(crate) const ELIGIBILITY_HAS_ENDED: &str = "This eligibility has ended: no user can ask by it.";
pub(crate) const USER_CANNOT_ASK: &str = "The user cannot ask now, because its account is not active.";
pub(crate) const TOO_FEW_DECIDE: &str = "Too few users can decide now, so no request can get its approvals. No user decides \
     about its own request.";

/// Why no user can ask by an eligibility for the holders of a role.
pub(crate) fn no_holder_can_ask(role: &str, place: &str, is_tenant_wide: bool) -> String {
    let (above, below) = if is_tenant_wide {
        ("", "Roles in organizations do not count.")
    } else {
        (" or above it", "Roles in organizations below it do not count.")
    };
    format!("No user holds {role} in {place}{above}, so no user can ask now. {below}")
}

pub(crate) fn persons(count: usize) -> String {
    if count == 1 { "1 person".to_owned() } else { format!("{count} persons") }
}

pub(crate) const ELIGIBLE_TWICE: &str = "must be empty if a user is chosen";
pub(crate) const ASKED_ROLE: &str = "Role to ask for";
pub(crate) const LONGEST: &str = "For how long at most";
pub(crate) const APPROVER_ROLE: &str = "Role of those who decide";
pub(crate) const APPROVER_ROLE_HINT: &str =
    "Its holders in that place or above it decide. Empty: those who may decide about access requests there.";
pub(crate) const EXPIRY_HINT: &str = "Empty: no end. Access that begins before ends then at the latest. If you change this \
     later, access that has begun keeps its end.";
pub(crate) const APPROVAL_CHOICES: [(&str, &str); 3] =
    [("0", "None: the access begins at once"), ("1", "One other person"), ("2", "Two other persons")];
pub(crate) const CHANGE_ELIGIBILITY_WHAT: &str = "Requests that wait and ask for more than is allowed then are cancelled \
     as soon as a person decides about them, or when they would begin. Access that has begun goes on until its own end.";
pub(crate) const REMOVE_ELIGIBILITY_WHAT: &str = "No user can ask by it any more. Requests that wait are cancelled as \
     soon as a person decides about them, or when they would begin. Access that has begun goes on until its own end.";
pub(crate) const REMOVE_ELIGIBILITY_CONFIRM: &str = "Yes, remove this eligibility";
pub(crate) const ABOUT_THIS_ELIGIBILITY: &str = "what was done to this eligibility";
