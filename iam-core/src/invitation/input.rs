use iam_model::clock::cut;
use iam_model::error::Result;
use iam_model::invitation::{InvitedRole, MAX_ROLES};
use iam_model::validate::{Email, Fields, PersonName};

use crate::assignment::check_places;

/// The input for a new invitation, as typed; see [`Invitations::create`](crate::invitation::Invitations::create).
#[derive(Clone, Debug, Default)]
pub struct NewInvitation {
    /// At most 254 characters. No user of the tenant has it.
    pub email: String,
    /// 1–100 characters; `None` if it is not known.
    pub first_name: Option<String>,
    /// 1–100 characters; `None` if it is not known.
    pub last_name: Option<String>,
    /// The roles that the person gets: at most 50, each once in an organization or tenant-wide.
    pub roles: Vec<InvitedRole>,
}

/// The valid fields of a new invitation.
pub(super) struct ValidInvitation {
    pub(super) email: Email,
    pub(super) first_name: Option<PersonName>,
    pub(super) last_name: Option<PersonName>,
    pub(super) roles: Vec<InvitedRole>,
}

impl NewInvitation {
    /// Checks every field.
    pub(super) fn validate(self) -> Result<ValidInvitation> {
        let mut fields = Fields::default();
        let email = fields.check("email", self.email.parse());
        let first_name = fields.check_optional("firstName", self.first_name.as_deref());
        let last_name = fields.check_optional("lastName", self.last_name.as_deref());
        check_places(
            &mut fields,
            "roles",
            self.roles.iter().map(|role| (role.role_id, role.organization_id)),
            MAX_ROLES,
        );
        let Some(email) = email.filter(|_| fields.is_empty()) else {
            return Err(fields.into_error().into());
        };
        let roles = self.roles.into_iter().map(|role| InvitedRole { expires_at: role.expires_at.map(cut), ..role });
        Ok(ValidInvitation { email, first_name, last_name, roles: roles.collect() })
    }
}
