//! What a user can change while it acts as another one (`docs/http-api.md#acting-as-another`).

use crate::access::Until;
use crate::change::{
    AccessRequestChange, AccessRequestEvent, AccessReviewChange, AuditChange, ChallengeChange, Change, LinkChange,
    SessionChange, UserChange,
};
use crate::clock::Timestamp;
use crate::context::Author;
use crate::error::Forbidden;
use crate::link::LinkPurpose;

/// Whether a change can be made in a session in which another user acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// It can, also if that user can change nothing: it belongs to a read, or it ends the session.
    Always,
    /// It can, unless that user can change nothing.
    UnlessReadOnly,
    /// It cannot: it is about how a person proves who it is, about what another program or another person may do, or it
    /// is a decision that the user has to answer for.
    Never,
}

impl Change {
    /// Checks that the author can make this change, if it acts as another user. It cannot give rights, and of the
    /// changes that one operation makes, all must be possible.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Impersonator`], [`Forbidden::ReadOnly`].
    pub fn check_impersonator(&self, author: &Author, now: Timestamp) -> Result<(), Forbidden> {
        let Some(by) = author.impersonator else { return Ok(()) };
        let gives_rights = || self.granted_rights(author, now).iter().any(|granted| granted.until > Until::Moment(now));
        match self.rule_for_impersonators() {
            Rule::Always => Ok(()),
            Rule::Never => Err(Forbidden::Impersonator),
            Rule::UnlessReadOnly if by.is_read_only => Err(Forbidden::ReadOnly),
            Rule::UnlessReadOnly if gives_rights() => Err(Forbidden::Impersonator),
            Rule::UnlessReadOnly => Ok(()),
        }
    }

    fn rule_for_impersonators(&self) -> Rule {
        match self {
            Self::User(change) => of_user(change),
            Self::Session(change) => of_session(change),
            Self::Audit(change) => of_audit(change),
            Self::Link(change) => of_link(change),
            Self::Challenge(change) => of_challenge(change),
            Self::AccessReview(change) => of_access_review(change),
            Self::AccessRequest(change) => of_access_request(change),
            // It is stored with another change, or with none.
            Self::Idempotency(_) => Rule::Always,
            Self::Tenant(_)
            | Self::Permission(_)
            | Self::Role(_)
            | Self::Organization(_)
            | Self::Mail(_)
            | Self::Manifest(_) => Rule::UnlessReadOnly,
            Self::Credential(_)
            | Self::Assignment(_)
            | Self::Invitation(_)
            | Self::Factor(_)
            | Self::ApiKey(_)
            | Self::Webhook(_)
            | Self::IdentityProvider(_)
            | Self::Domain(_)
            | Self::Identity(_)
            | Self::Directory(_)
            | Self::DirectoryUser(_)
            | Self::DirectoryGroup(_)
            | Self::Eligibility(_)
            | Self::LegalHold(_)
            | Self::TenantDeletion(_) => Rule::Never,
        }
    }
}

fn of_user(change: &UserChange) -> Rule {
    match change {
        // A provider may log the user in by the external identifier, as a new password is sent to the e-mail.
        UserChange::Update { before, after, .. }
            if before.email != after.email || before.external_id != after.external_id =>
        {
            Rule::Never
        }
        // Its password would be known to the one who acts, after the session too.
        UserChange::Create { password: Some(_), .. } => Rule::Never,
        UserChange::Create { .. }
        | UserChange::Update { .. }
        | UserChange::ChangeStatus { .. }
        | UserChange::ForgetAttributes { .. }
        | UserChange::Delete { .. }
        | UserChange::MoveHomes { .. } => Rule::UnlessReadOnly,
        UserChange::VerifyEmail { .. } | UserChange::ConfirmEmail { .. } => Rule::Never,
    }
}

fn of_session(change: &SessionChange) -> Rule {
    match change {
        // To end another session than its own, a session must be fresh, and one in which another user acts never is.
        SessionChange::End { .. } | SessionChange::Forget(_) => Rule::Always,
        SessionChange::Start(_)
        | SessionChange::Impersonate { .. }
        | SessionChange::Refresh(_)
        | SessionChange::RepeatRefresh(_)
        | SessionChange::StepUp { .. } => Rule::Never,
    }
}

fn of_audit(change: &AuditChange) -> Rule {
    match change {
        // A read that is recorded.
        AuditChange::Export(..) => Rule::Always,
        // They have addresses and devices, and need a recent authentication of the user itself or trusted code.
        AuditChange::ExportUser { .. } | AuditChange::ExportTenant { .. } => Rule::Never,
        AuditChange::Log(_)
        | AuditChange::SetRetention { .. }
        | AuditChange::GiveUp { .. }
        | AuditChange::Erase { .. } => Rule::UnlessReadOnly,
    }
}

fn of_link(change: &LinkChange) -> Rule {
    match change {
        LinkChange::Issue { link, .. } => match link.purpose {
            LinkPurpose::Verify => Rule::UnlessReadOnly,
            LinkPurpose::Reset | LinkPurpose::Invitation | LinkPurpose::Login => Rule::Never,
        },
        LinkChange::Send { .. } | LinkChange::End { .. } | LinkChange::EndAll { .. } => Rule::UnlessReadOnly,
    }
}

fn of_challenge(change: &ChallengeChange) -> Rule {
    match change {
        ChallengeChange::Issue(_) | ChallengeChange::Update(_) | ChallengeChange::End(_) => Rule::Never,
        ChallengeChange::EndAll(_) | ChallengeChange::EndAllFor(_) | ChallengeChange::EndAllOfTenant => {
            Rule::UnlessReadOnly
        }
    }
}

fn of_access_review(change: &AccessReviewChange) -> Rule {
    match change {
        AccessReviewChange::Create { .. } => Rule::UnlessReadOnly,
        AccessReviewChange::Decide { .. }
        | AccessReviewChange::Complete { .. }
        | AccessReviewChange::Cancel { .. }
        | AccessReviewChange::RemoveOldest { .. } => Rule::Never,
    }
}

fn of_access_request(change: &AccessRequestChange) -> Rule {
    match change {
        AccessRequestChange::Create(_) => Rule::Never,
        AccessRequestChange::Update { event, .. } => match event {
            AccessRequestEvent::Approved | AccessRequestEvent::Denied | AccessRequestEvent::Started => Rule::Never,
            // They follow, for instance, from the suspension of the user.
            AccessRequestEvent::Cancelled(_) | AccessRequestEvent::Lapsed | AccessRequestEvent::Ended(_) => {
                Rule::UnlessReadOnly
            }
        },
        AccessRequestChange::RemoveOldest { .. } => Rule::UnlessReadOnly,
    }
}
