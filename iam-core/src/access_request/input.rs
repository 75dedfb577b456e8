use chrono::TimeDelta;
use iam_model::access_request::{MAX_DELAY, MAX_TICKET, MIN_SECONDS};
use iam_model::clock::{Timestamp, cut};
use iam_model::eligibility::Eligibility;
use iam_model::error::{Error, Result};
use iam_model::id::EligibilityId;
use iam_model::validate::{Description, Fields, Reason};

use crate::bounded::bounded;

/// The input for a new request, as typed; see
/// [`AccessRequests::create`](crate::access_request::AccessRequests::create).
#[derive(Clone, Debug)]
pub struct NewAccessRequest {
    /// The eligibility by which the user asks.
    pub eligibility: EligibilityId,
    /// For how many seconds: 60 to what the eligibility allows. `None` for all of that.
    pub seconds: Option<i64>,
    /// Why: 1–500 characters, which those who decide and the audit log see.
    pub reason: String,
    /// What another system calls the reason: at most 200 characters; `None` or blank for nothing.
    pub ticket: Option<String>,
    /// When it is to begin at the earliest, at most 30 days from now. `None` for as soon as it is approved.
    pub starts_at: Option<Timestamp>,
}

/// The valid fields of a new request, apart from those that depend on the eligibility and on the moment.
pub(super) struct ValidRequest {
    pub(super) reason: Reason,
    pub(super) ticket: Option<Description>,
    seconds: Option<i64>,
    pub(super) starts_at: Option<Timestamp>,
}

impl NewAccessRequest {
    /// Checks the texts.
    pub(super) fn validate(self) -> Result<ValidRequest> {
        let mut fields = Fields::default();
        let reason = fields.check("reason", self.reason.parse());
        let ticket: Option<Description> = self.ticket.as_deref().unwrap_or_default().parse().ok();
        let ticket = ticket.filter(|ticket| ticket.as_str().chars().count() <= MAX_TICKET);
        if ticket.is_none() {
            let message = format!("must be at most {MAX_TICKET} characters, none of them a control character");
            fields.reject("ticket", message);
        }
        let ticket = ticket.filter(|ticket| !ticket.as_str().is_empty());
        match reason {
            Some(reason) if fields.is_empty() => {
                Ok(ValidRequest { reason, ticket, seconds: self.seconds, starts_at: self.starts_at.map(cut) })
            }
            _ => Err(fields.into_error().into()),
        }
    }
}

impl ValidRequest {
    /// Returns for how many seconds the user asks, and when it is to begin at the earliest.
    pub(super) fn times(&self, eligibility: &Eligibility, now: Timestamp) -> Result<(u32, Option<Timestamp>)> {
        let mut fields = Fields::default();
        let most = eligibility.max_seconds;
        let seconds = bounded(&mut fields, "seconds", self.seconds.unwrap_or(most.into()), (MIN_SECONDS, most));
        if let Some(starts_at) = self.starts_at {
            if starts_at <= now {
                fields.reject("startsAt", "must be in the future");
            } else if starts_at - now > MAX_DELAY {
                fields.reject("startsAt", format!("must be at most {} days from now", MAX_DELAY.num_days()));
            } else if !eligibility.is_live(starts_at + TimeDelta::seconds(MIN_SECONDS.into())) {
                let message = format!("must be more than {MIN_SECONDS} seconds before the eligibility expires");
                fields.reject("startsAt", message);
            }
        }
        match seconds {
            Some(seconds) if fields.is_empty() => Ok((seconds, self.starts_at)),
            _ => Err(Error::from(fields.into_error())),
        }
    }
}

/// Returns the valid reason of a decision or of an end, as typed: at most 500 characters; `None` or blank for no reason.
pub(super) fn valid_reason(reason: Option<&str>) -> Result<Option<Reason>> {
    let mut fields = Fields::default();
    let reason = fields.check_unless_blank("reason", reason);
    fields.finish()?;
    Ok(reason)
}

#[cfg(test)]
mod tests {
    use iam_model::access::testing::{at, id};
    use iam_model::eligibility::Eligible;
    use iam_model::id::TenantId;
    use iam_model::version::Version;

    use super::*;

    fn new() -> NewAccessRequest {
        NewAccessRequest {
            eligibility: id("eligibility"),
            seconds: None,
            reason: " The disk is full. ".into(),
            ticket: None,
            starts_at: None,
        }
    }

    fn eligibility(expires_at: Option<i64>) -> Eligibility {
        Eligibility {
            id: id("eligibility"),
            tenant_id: TenantId::NONE,
            role_id: id("role"),
            organization_id: None,
            eligible: Eligible::User(id("user")),
            max_seconds: 3_600,
            approvals: 1,
            approver_role_id: None,
            expires_at: expires_at.map(at),
            created_at: at(0),
            created_by: None,
            updated_at: at(0),
            version: Version::FIRST,
        }
    }

    fn fields<T>(valid: Result<T>) -> Vec<String> {
        match valid {
            Ok(_) => Vec::new(),
            Err(Error::Validation(errors)) => errors.into_iter().map(|error| error.field).collect(),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_says_why_in_bounds() {
        let valid = new().validate().unwrap();
        assert_eq!((valid.reason.as_str(), valid.ticket), ("The disk is full.", None));
        let long = |count: usize| "ü".repeat(count);
        for (new, expected) in [
            (NewAccessRequest { reason: " ".into(), ..new() }, vec!["reason"]),
            (NewAccessRequest { reason: "\u{200b}".into(), ..new() }, vec!["reason"]),
            (NewAccessRequest { reason: long(500), ticket: Some(long(200)), ..new() }, vec![]),
            (NewAccessRequest { reason: long(501), ticket: Some(long(201)), ..new() }, vec!["reason", "ticket"]),
            (NewAccessRequest { ticket: Some("  ".into()), ..new() }, vec![]),
        ] {
            assert_eq!(fields(new.validate()), expected);
        }
        assert_eq!(fields(valid_reason(Some(&long(501)))), ["reason"]);
        assert_eq!(fields(valid_reason(Some("\u{200b}"))), ["reason"]);
        assert_eq!(valid_reason(Some(" ")).unwrap(), None);
    }

    #[test]
    fn an_error_tells_the_bound() {
        fn message<T>(refused: Result<T>) -> String {
            match refused {
                Err(Error::Validation(errors)) => errors[0].message.clone(),
                Err(other) => panic!("{other:?}"),
                Ok(_) => panic!("it is valid"),
            }
        }
        let bound = "must be at most 200 characters, none of them a control character";
        for ticket in ["x".repeat(201), "x".repeat(501), "\u{7}".to_owned()] {
            assert_eq!(message(NewAccessRequest { ticket: Some(ticket), ..new() }.validate()), bound);
        }
        let valid = NewAccessRequest { starts_at: Some(at(200)), ..new() }.validate().unwrap();
        let refused = message(valid.times(&eligibility(Some(260)), at(10)));
        assert_eq!(refused, "must be more than 60 seconds before the eligibility expires");
    }

    #[test]
    fn a_request_asks_for_a_time_that_the_eligibility_allows() {
        let day = 86_400;
        for (seconds, starts_at, expires_at, expected) in [
            (None, None, None, Ok((3_600, None))),
            (Some(60), Some(11), None, Ok((60, Some(11)))),
            (Some(3_600), Some(10 + 30 * day), None, Ok((3_600, Some(10 + 30 * day)))),
            (Some(59), None, None, Err(vec!["seconds"])),
            (Some(3_601), Some(10), None, Err(vec!["seconds", "startsAt"])),
            (None, Some(11 + 30 * day), None, Err(vec!["startsAt"])),
            (None, Some(200), Some(260), Err(vec!["startsAt"])),
            (None, Some(200), Some(261), Ok((3_600, Some(200)))),
        ] {
            let valid = NewAccessRequest { seconds, starts_at: starts_at.map(at), ..new() }.validate().unwrap();
            let times = valid.times(&eligibility(expires_at), at(10));
            match expected {
                Ok((seconds, starts_at)) => assert_eq!(times.unwrap(), (seconds, starts_at.map(at))),
                Err(expected) => assert_eq!(fields(times), expected, "{seconds:?} {starts_at:?}"),
            }
        }
    }
}
