//! Domains.

pub(crate) const DOMAINS: &str = "Domains";
pub(crate) const DOMAIN: &str = "Domain";
pub(crate) const DOMAINS_WHAT: &str =
    "A domain proves which e-mail addresses are those of your tenant. Identity providers speak for the people in it.";
pub(crate) const NO_DOMAINS: &str = "There is no domain yet.";
pub(crate) const NEW_DOMAIN: &str = "New domain";
pub(crate) const ADD_DOMAIN: &str = "Add the domain";
pub(crate) const DOMAIN_HINT: &str = "Such as example.com. A subdomain is a domain of its own.";
pub(crate) const DOMAIN_VERIFIED: &str = "Verified";
pub(crate) const VERIFIED_AT: &str = "Verified at";
pub(crate) const CHECKED_AT: &str = "Checked at";
pub(crate) const DOMAIN_ADDED: &str = "The domain is added. Publish the record below, and check it.";
pub(crate) const DOMAIN_IS_VERIFIED: &str = "The record was found. The domain is verified.";
pub(crate) const DOMAIN_REMOVED: &str = "The domain is removed.";
pub(crate) const ABOUT_THIS_DOMAIN: &str = "what was done to this domain";
pub(crate) const RECORD: &str = "Record to publish";
pub(crate) const RECORD_WHAT: &str =
    "Publish this record in the DNS of the domain, and leave it there. It is looked for again each day.";
pub(crate) const RECORD_TYPE: &str = "Type";
pub(crate) const RECORD_VALUE: &str = "Value";
pub(crate) const RECORD_NOT_NEEDED: &str = "The operator has verified this domain. It needs no record.";
pub(crate) const RECORD_ABSENT: &str =
    "The record is absent. After seven days without it, the domain is pending again. Absent since";
pub(crate) const CHECK_RECORD: &str = "Check the record now";
pub(crate) const REMOVE_DOMAIN_WHAT: &str =
    "Another tenant can verify it at once. A domain that an identity provider names cannot be removed.";
pub(crate) const REMOVE_DOMAIN_CONFIRM: &str = "Yes, remove this domain";
