//! Eligibilities: who may ask for which role.

pub(crate) const ELIGIBILITIES: &str = "Eligibilities";
pub(crate) const ELIGIBILITY: &str = "Eligibility";
pub(crate) const ELIGIBILITIES_WHAT: &str = "An eligibility lets a user, or the holders of a role, ask for a role for a \
     time. It gives nothing by itself. You need what the role permits yourself.";
pub(crate) const NEW_ELIGIBILITY: &str = "New eligibility";
pub(crate) const CREATE_ELIGIBILITY: &str = "Create the eligibility";
pub(crate) const NO_ELIGIBILITIES: &str = "There is no eligibility yet.";
pub(crate) const ELIGIBILITY_CREATED: &str = "The eligibility is created. Who it names can ask for the role now.";
pub(crate) const ELIGIBILITY_REMOVED: &str =
    "The eligibility is removed. What was asked for by it and has begun goes on.";
pub(crate) const ELIGIBILITY_CHANGED_MEANWHILE: &str =
    "The eligibility has changed since you opened this page, so nothing is changed. Open the page again first.";
pub(crate) const WHO_MAY_ASK: &str = "Who may ask";
pub(crate) const WHO_MAY_ASK_HINT: &str = "Choose a user, or else a role: then all may ask who hold it there or above.";
pub(crate) const HELD_ROLE: &str = "Holders of the role";
pub(crate) const ELIGIBLE_MISSING: &str = "must be chosen, or else a role whose holders may ask";
pub(crate) const ELIGIBLE_TWICE: &str = "must be empty if a user is chosen";
pub(crate) const ASKED_ROLE: &str = "Role to ask for";
pub(crate) const LONGEST: &str = "For how long at most";
pub(crate) const APPROVER_ROLE: &str = "Role of those who decide";
pub(crate) const APPROVER_ROLE_HINT: &str =
    "Its holders there or above decide. Empty: who may decide about access requests there.";
pub(crate) const EXPIRY_HINT: &str = "Empty: no end. Access that begins before ends then at the latest. If you change \
     this later, access that has begun keeps its end.";
pub(crate) const APPROVAL_CHOICES: [(&str, &str); 3] =
    [("0", "None: the access begins at once"), ("1", "One other person"), ("2", "Two other persons")];
pub(crate) const CHANGE_ELIGIBILITY_WHAT: &str = "Requests that wait and ask for more than is allowed then are cancelled \
     as soon as a person decides about them, or when they would begin. Access that has begun goes on until its own end.";
pub(crate) const REMOVE_ELIGIBILITY_WHAT: &str = "No user can ask by it any more. Requests that wait are cancelled as \
     soon as a person decides about them, or when they would begin. Access that has begun goes on until its own end.";
pub(crate) const REMOVE_ELIGIBILITY_CONFIRM: &str = "Yes, remove this eligibility";
pub(crate) const ABOUT_THIS_ELIGIBILITY: &str = "what was done to this eligibility";
