use super::{Authority, Permission, Place, Reach};
use crate::assignment::Grant;
use crate::audit::ResourceType;
use crate::clock::Timestamp;
use crate::error::{Error, Forbidden, Result};

/// What a caller may do at a moment, as answers that a service passes on.
///
/// Whether a refusal says "you may not" (403) or "there is no such thing" (404) is decided here and nowhere else: the
/// existence of something is told to those who hold anything at all in its place (`decisions.md` §5).
#[derive(Clone, Copy)]
pub(crate) struct Rights<'a> {
    pub(super) authority: &'a Authority,
    pub(super) now: Timestamp,
}

/// How much of a user must lie within a caller's reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// One role: enough to see the user.
    Part,
    /// Every role: needed to change the user or to see its sessions. Otherwise whoever may add members to an organization could add the
    /// tenant's administrator and then change, suspend or delete it as one of its members.
    Whole,
}

impl<'a> Rights<'a> {
    pub(crate) fn new(authority: &'a Authority, now: Timestamp) -> Self {
        Self { authority, now }
    }

    /// The permission, tenant-wide.
    pub(crate) fn require(self, permission: &Permission) -> Result<()> {
        if self.authority.allows(permission, Place::Tenant, self.now) { Ok(()) } else { Err(missing(permission)) }
    }

    /// The permission in a place; `hidden` is what there is none of, for those who hold nothing there.
    pub(crate) fn require_at(self, permission: &Permission, place: Place<'_>, hidden: ResourceType) -> Result<()> {
        if self.authority.allows(permission, place, self.now) {
            Ok(())
        } else if self.authority.sees(place, self.now) {
            Err(missing(permission))
        } else {
            Err(Error::NotFound(hidden))
        }
    }

    /// How far the permission reaches, which must be somewhere.
    pub(crate) fn reach(self, permission: &Permission) -> Result<Reach> {
        self.authority.reach(permission, self.now).ok_or_else(|| missing(permission))
    }

    /// The permission over a user who holds these assignments.
    ///
    /// Tenant-wide it is over everybody. In organizations it is over their members: those who hold a role in one of
    /// them, or below; see [`Extent`].
    pub(crate) fn require_over(self, permission: &Permission, grants: &[Grant], extent: Extent) -> Result<()> {
        let Reach::Organizations(covered) = self.reach(permission)? else { return Ok(()) };
        let mut live = grants.iter().filter(|grant| grant.assignment.is_live(self.now)).peekable();
        let is_within = |grant: &Grant| grant.is_within(&covered);
        let (mut is_member, mut is_whole) = (false, live.peek().is_some());
        for grant in live {
            is_member |= is_within(grant);
            is_whole &= is_within(grant);
        }
        match extent {
            _ if !is_member => Err(Error::NotFound(ResourceType::USER)),
            Extent::Whole if !is_whole => Err(missing(permission)),
            Extent::Part | Extent::Whole => Ok(()),
        }
    }
}

fn missing(permission: &Permission) -> Error {
    Forbidden::Permission(permission.clone()).into()
}
