//! Invitations.

pub(crate) const INVITATIONS: &str = "Invitations";
pub(crate) const INVITATION: &str = "Invitation";
pub(crate) const INVITE: &str = "Invite a person";
pub(crate) const INVITE_WHAT: &str = "The person gets a link by e-mail, which works for 7 days. With it, the person chooses a password and becomes a user.";
pub(crate) const NO_MAIL_NO_INVITATION: &str = "This installation sends no mail, so it cannot send invitations. You can create \
     users with a first password instead. The operator turns mail on with the setting IAM_SMTP_URL, or IAM_MAIL_DIR to \
     try it out.";
pub(crate) const INVITED_NAME: &str = "A proposal, which the person can change";
pub(crate) const INVITED_UNTIL: &str = "Empty: the role has no end";
pub(crate) const SEND_INVITATION: &str = "Send the invitation";
pub(crate) const ACCEPTED: &str = "Accepted";
pub(crate) const REVOKED: &str = "Revoked";
pub(crate) const EXPIRED: &str = "Expired";
pub(crate) const EXPIRES: &str = "Expires";
pub(crate) const NO_INVITATION_MATCHES: &str = "There is no invitation here.";
pub(crate) const SHOW_ALL_INVITATIONS: &str = "Show all invitations";
pub(crate) const INVITED_BY: &str = "who invited";
pub(crate) const INVITED_WITHOUT_ROLES: &str = "The person gets no role, and so may do nothing at first.";
pub(crate) const INVITE_ANOTHER: &str = "Invite again";
pub(crate) const RESEND: &str = "Send a new link";
pub(crate) const RESEND_WHAT: &str = "Sends a new link, which works for 7 days. The old link then stops working.";
pub(crate) const REVOKE_INVITATION_WHAT: &str =
    "The link stops working. The invitation stays in the list, as a revoked one.";
pub(crate) const REVOKE_CONFIRM: &str = "Yes, revoke this invitation";
pub(crate) const INVITED: &str = "The invitation is on its way.";
pub(crate) const INVITATION_RESENT: &str =
    "A new link is on its way, unless the address got three messages in the last hour.";
pub(crate) const INVITATION_REVOKED: &str = "The invitation is revoked.";
