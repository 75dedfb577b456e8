//! Finds the entries that concern one person.

use std::collections::BTreeSet;

use iam_model::audit::{AuditEntry, AuditFilter, ERASED, ResourceType, action};
use iam_model::clock::Timestamp;
use iam_model::id::UserId;
use iam_model::user::User;
use iam_model::validate::{Email, EmailKey, StoredText as _};
use serde_json::{Map, Value};

/// The names and e-mail addresses by which a person is found in entries.
pub(crate) struct Person {
    pub(super) user: UserId,
    /// The identifier of the invitation that the person accepted.
    invitation: Option<String>,
    pub(super) addresses: Vec<Address>,
    /// The time of the earliest address change that was found.
    earliest_address_change: Option<Timestamp>,
    /// In the form of [`words`].
    first_names: BTreeSet<String>,
    last_names: BTreeSet<String>,
}

/// An e-mail address, and the time in which it was the person's.
///
/// Before, it belonged to another person, or to no person; and so it did later, if another user has it now. Without
/// this limit, a person who takes an address and is then erased could choose whose failed logins are erased.
pub(super) struct Address {
    pub(super) email: EmailKey,
    /// When the person got the address; `None` if no entry shows it.
    from: Option<Timestamp>,
    /// When the person changed to another address; `None` for the current address.
    pub(super) until: Option<Timestamp>,
    /// Whether another user has the address now.
    pub(super) is_of_another: bool,
}

/// How an entry concerns a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concern {
    /// It is about the person.
    About,
    /// The person, or another user in its name, has caused it, and it is about something else.
    Caused,
}

impl Address {
    /// Returns whether a text is this address and the moment is not before the person got it.
    fn matches(&self, text: &str, at: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= at) && self.email == key_of(text)
    }

    fn is_not_replaced(&self, at: Timestamp) -> bool {
        !self.is_of_another || self.until.is_none_or(|until| at <= until)
    }
}

impl Person {
    pub(crate) fn of(user: &User) -> Self {
        Self {
            user: user.id,
            invitation: None,
            addresses: vec![Address { email: user.email.key(), from: None, until: None, is_of_another: false }],
            earliest_address_change: None,
            first_names: BTreeSet::from([words(user.first_name.as_str())]),
            last_names: BTreeSet::from([words(user.last_name.as_str())]),
        }
    }

    pub(crate) fn entries_about(&self) -> AuditFilter {
        AuditFilter {
            resource_type: Some(ResourceType::USER.as_str().to_owned()),
            resource_id: Some(self.user.to_string()),
            ..AuditFilter::default()
        }
    }

    /// Adds the names and addresses in an entry about the user. Must be called with the newest entry first.
    pub(crate) fn learn(&mut self, entry: &AuditEntry) {
        // What an application writes about a user proves nothing: it could lead to the entries about another person.
        if !entry.is_of_service() {
            return;
        }
        for values in [&entry.old_value, &entry.new_value].into_iter().flatten() {
            self.first_names.extend(known(values, "firstName").map(words));
            self.last_names.extend(known(values, "lastName").map(words));
        }
        if let Some(invitation) = known(&entry.metadata, "invitationId") {
            self.invitation = Some(invitation.to_owned());
        }
        if let Some(new) = entry.new_value.as_ref().filter(|new| new.contains_key("email")) {
            let at = Some(entry.created_at);
            for address in self.addresses.iter_mut().filter(|address| address.from.is_none()) {
                address.from = at;
            }
            let old = entry.old_value.as_ref().and_then(|old| known(old, "email"));
            let had = |email: &str, from, until| Address { email: key_of(email), from, until, is_of_another: false };
            self.addresses.extend(known(new, "email").map(|email| had(email, at, self.earliest_address_change)));
            self.addresses.extend(old.map(|email| had(email, None, at)));
            self.earliest_address_change = at;
        }
    }

    /// Returns the user that an entry is about.
    fn subject_of(entry: &AuditEntry) -> Option<UserId> {
        let is_of_user =
            [ResourceType::FACTOR, ResourceType::API_KEY, ResourceType::IDENTITY].contains(&entry.resource_type);
        if is_of_user && entry.is_of_service() {
            return known(&entry.metadata, "targetUserId")?.parse().ok();
        }
        let id = entry.resource_id.as_deref().filter(|_| entry.resource_type == ResourceType::USER)?;
        id.parse().ok()
    }

    pub(super) fn has_details_in(&self, entry: &AuditEntry) -> bool {
        let values = entry.personal_values();
        match Self::subject_of(entry) {
            // Another user can have the same name, or an address that this user had before.
            Some(subject) => subject == self.user && !values.is_empty(),
            None if *entry.action == *action::LOGIN_FAILURE => self.is_target_of(entry),
            None if self.is_invitation_in(entry) => !values.is_empty(),
            None => self.is_named_in(&values, entry.created_at),
        }
    }

    /// Returns how an entry concerns the person; `None` if it does not. Only identifiers count, and the addresses of failed
    /// logins: another person can have the same name.
    pub(crate) fn concern(&self, entry: &AuditEntry) -> Option<Concern> {
        let is_named = |fields: Option<&Map<String, Value>>, name: &str| {
            fields.and_then(|fields| known(fields, name)?.parse::<UserId>().ok()) == Some(self.user)
        };
        let values = || [entry.old_value.as_ref(), entry.new_value.as_ref()];
        let has_value = |name: &str| values().into_iter().any(|values| is_named(values, name));
        let is_about_in_words_of_service = || {
            is_named(Some(&entry.metadata), "targetUserId")
                || has_value("userId")
                || has_value("requestedBy")
                || (entry.resource_type == ResourceType::SESSION && entry.user_id == Some(self.user))
                || (*entry.action == *action::LOGIN_FAILURE && self.is_target_of(entry))
                || self.is_invitation_in(entry)
        };
        if Self::subject_of(entry) == Some(self.user) || (entry.is_of_service() && is_about_in_words_of_service()) {
            return Some(Concern::About);
        }
        (entry.user_id == Some(self.user) || self.has_sent(entry)).then_some(Concern::Caused)
    }

    /// Returns whether the client that an entry shows is certainly that of the person, and not that of a user who acts as
    /// the person.
    pub(crate) fn is_client_of(&self, entry: &AuditEntry) -> bool {
        let is_own = entry.user_id == Some(self.user);
        match Self::sender_of(entry) {
            Some(sender) => sender == self.user && (is_own || entry.is_of_service()),
            None => is_own,
        }
    }

    /// Returns whether an entry is about the invitation that the person accepted.
    fn is_invitation_in(&self, entry: &AuditEntry) -> bool {
        entry.resource_type == ResourceType::INVITATION
            && self.invitation.is_some()
            && self.invitation == entry.resource_id
    }

    /// Returns whether a failed login was an attempt to log in as the person. Only the e-mail address shows this.
    fn is_target_of(&self, entry: &AuditEntry) -> bool {
        let at = entry.created_at;
        let is = |email: &str| {
            self.addresses.iter().any(|address| address.matches(email, at) && address.is_not_replaced(at))
        };
        known(&entry.metadata, "email").is_some_and(is)
    }

    pub(super) fn has_origin_of(&self, entry: &AuditEntry) -> bool {
        let is_known = entry.context.ip_address.is_some() || entry.context.user_agent.is_some();
        // A failed login has no user. It is found by its e-mail address, until that is erased.
        let is_attempt = || *entry.action == *action::LOGIN_FAILURE && self.has_details_in(entry);
        is_known && !entry.salts.origin.is_destroyed() && (self.has_sent(entry) || is_attempt())
    }

    /// Returns the user that an entry names as the one who acts as another one.
    fn sender_of(entry: &AuditEntry) -> Option<UserId> {
        ["endedBy", "actorId"].into_iter().find_map(|name| known(&entry.metadata, name)?.parse().ok())
    }

    /// Returns whether the person has sent the request of an entry. Where a user acts as another one, it is the one who
    /// acts. Otherwise, that user could erase its own traces by the erasure of the other one.
    fn has_sent(&self, entry: &AuditEntry) -> bool {
        match Self::sender_of(entry) {
            Some(sender) if entry.is_of_service() => sender == self.user,
            // An application may have written such a field before it was reserved.
            sender => entry.user_id == Some(self.user) || sender == Some(self.user),
        }
    }

    /// Returns whether these values, which were written at the given moment, contain an address or the full name of
    /// the person.
    fn is_named_in(&self, values: &[Value], at: Timestamp) -> bool {
        let texts: Vec<&str> = values.iter().flat_map(texts).collect();
        let is = |names: &BTreeSet<String>, word: &str| !word.is_empty() && names.contains(word);
        let has = |names: &BTreeSet<String>| texts.iter().any(|text| is(names, &words(text)));
        let has_full_name = |text: &str| {
            let text = format!("-{}-", words(text));
            let pairs =
                || self.first_names.iter().flat_map(|first| self.last_names.iter().map(move |last| (first, last)));
            pairs().any(|(first, last)| text.contains(&format!("-{first}-{last}-")))
        };
        let is_address = |text: &str| self.addresses.iter().any(|address| address.matches(text, at));
        texts.iter().any(|text| is_address(text) || has_full_name(text))
            || (has(&self.first_names) && has(&self.last_names))
    }
}

/// Returns the key of an address in the log, which an earlier release may have accepted.
fn key_of(email: &str) -> EmailKey {
    Email::stored(email.to_owned()).key()
}

/// Returns the text in a field of an entry, if it exists and was not erased.
fn known<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str).filter(|text| *text != ERASED)
}

/// Returns every text in a value: an application may keep a list or an object in a personal field.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Returns the words of a text in lower case, joined by hyphens as in a slug. Leaves out e-mail addresses: a part of
/// an address may look like a name, but is not one.
fn words(text: &str) -> String {
    let without_addresses: Vec<&str> = text.split_whitespace().filter(|part| !part.contains('@')).collect();
    let lower = without_addresses.join(" ").to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use iam_model::audit::testing;
    use iam_model::user::UserStatus;
    use iam_model::version::Version;

    fn user(email: &str, first: &str, last: &str) -> User {
        let at = "2026-01-31T09:15:00.123Z".parse().unwrap();
        User {
            id: Uuid::from_u128(7).into(),
            tenant_id: Uuid::from_u128(2).into(),
            kind: iam_model::user::UserKind::Human,
            email: email.parse().unwrap(),
            email_verified_at: None,
            first_name: first.parse().unwrap(),
            last_name: last.parse().unwrap(),
            external_id: None,
            home_organization_id: None,
            status: UserStatus::Active,
            last_login_at: None,
            created_at: at,
            updated_at: at,
            version: Version::FIRST,
        }
    }

    fn ada() -> Person {
        Person::of(&user("Ada@Example.com", "Ada", "Lovelace"))
    }

    /// An event of the application with this metadata.
    fn event(metadata: &Value) -> AuditEntry {
        AuditEntry {
            resource_type: "LETTER".to_owned().into(),
            resource_id: None,
            metadata: metadata.as_object().cloned().unwrap(),
            ..testing::entry(Value::Null)
        }
    }

    fn names(person: &Person, metadata: &Value) -> bool {
        person.has_details_in(&event(metadata))
    }

    #[test]
    fn only_the_exact_address_names_a_person_in_any_case() {
        for named in ["ada@example.com", "ADA@EXAMPLE.COM"] {
            assert!(names(&ada(), &json!({ "email": named })), "{named}");
            assert!(names(&ada(), &json!({ "deep": [{ "E_Mail": named }] })), "{named}");
        }
        for other in ["bada@example.com", "ada@example.com.au", "ada@example.co", "ada", ""] {
            assert!(!names(&ada(), &json!({ "email": other })), "{other}");
        }
    }

    #[test]
    fn a_full_name_names_a_person_in_one_field_or_in_two() {
        for named in
            ["Ada Lovelace", "ada  LOVELACE", "Countess Ada Lovelace, London", "Ada-Lovelace", "ada-lovelace-x7"]
        {
            assert!(names(&ada(), &json!({ "displayName": named })), "{named}");
        }
        assert!(names(&ada(), &json!({ "first_name": "ADA", "last_name": "lovelace" })));
        assert!(names(&ada(), &json!({ "to": { "firstName": "Ada" }, "lastName": "Lovelace" })));
    }

    #[test]
    fn a_person_is_also_found_in_lists_and_objects() {
        for named in [
            json!({ "email": ["grace@example.com", "ada@example.com"] }),
            json!({ "address": { "to": ["Ada Lovelace"], "city": "London" } }),
            json!({ "phone": [{ "of": "ADA" }, { "of": "Lovelace" }] }),
        ] {
            assert!(names(&ada(), &named), "{named}");
        }
        assert!(!names(&ada(), &json!({ "email": ["grace@example.com", 7, { "of": "Ada" }] })));
    }

    #[test]
    fn half_a_name_or_a_longer_one_does_not_name_the_person() {
        for other in ["Ada", "Lovelace", "Adam Lovelace", "Ada Lovelaces", "AdaLovelace"] {
            assert!(!names(&ada(), &json!({ "fullName": other })), "{other}");
        }
        assert!(!names(&ada(), &json!({ "firstName": "Ada", "lastName": "Byron" })));
        assert!(!names(&ada(), &json!({ "firstName": "Ada Mary", "lastName": "Lovelace" })));
    }

    #[test]
    fn names_of_several_words_and_of_any_script_are_found() {
        for (first, last, named) in [
            ("Jean-Luc", "O'Neil", "jean luc o'neil"),
            ("Zoë", "Müller", "ZOË MÜLLER"),
            ("李", "明", "李 明"),
            ("Mary Ann", "van der Berg", "Mary-Ann van der Berg"),
        ] {
            let person = Person::of(&user("a@example.com", first, last));
            assert!(names(&person, &json!({ "displayName": named })), "{named}");
        }
    }

    #[test]
    fn an_email_address_is_not_a_name() {
        let person = Person::of(&user("p@example.org", "Example", "Com"));
        for address in ["ceo@example.com", "example.com@example.net"] {
            assert!(!names(&person, &json!({ "email": address })), "{address}");
            assert!(!names(&person, &json!({ "firstName": "Example", "email": address })), "{address}");
        }
        assert!(names(&person, &json!({ "displayName": "Example Com <p@example.com>" })));
        let nameless = Person::of(&user("p@example.org", ".", "-"));
        assert!(!names(&nameless, &json!({ "displayName": "…", "email": "ceo@example.com" })));
    }

    #[test]
    fn a_failed_login_is_found_by_its_address_only() {
        let attempt = |metadata: &Value| AuditEntry { action: action::LOGIN_FAILURE.into(), ..event(metadata) };
        assert!(ada().has_details_in(&attempt(&json!({ "email": "Ada@example.com", "reason": "UNKNOWN_USER" }))));
        assert!(!ada().has_details_in(&attempt(&json!({ "email": "b@example.com", "fullName": "Ada Lovelace" }))));
    }

    /// The user is created, and then changes its address twice. A failed login with a former address that another user
    /// has now matches only while the address was the user's. Other events, and failed logins with an address that no
    /// other user has, match after that time, too.
    #[test]
    fn an_address_names_a_person_only_after_the_person_got_it() {
        let at = |minute: i64| testing::entry(Value::Null).created_at + chrono::TimeDelta::minutes(minute);
        let change = |minute, old: Option<&str>, new: &str| AuditEntry {
            action: if old.is_some() { action::UPDATE } else { action::CREATE }.into(),
            old_value: old.map(|old| json!({ "email": old }).as_object().cloned().unwrap()),
            created_at: at(minute),
            ..testing::entry(json!({ "email": new }))
        };
        let mut person = Person::of(&user("third@example.com", "Ada", "Lovelace"));
        for entry in [
            change(30, Some("Second@example.com"), "third@example.com"),
            change(20, Some("first@example.com"), "second@example.com"),
            change(10, None, "first@example.com"),
        ] {
            person.learn(&entry);
        }
        let named = |person: &Person, action: &'static str, email: &str| -> Vec<i64> {
            let named = |minute: &i64| {
                let event = event(&json!({ "email": email }));
                person.has_details_in(&AuditEntry { created_at: at(*minute), action: action.into(), ..event })
            };
            (0..=40).step_by(5).filter(named).collect()
        };
        for (email, failures_of_shared, events) in [
            ("FIRST@example.com", &[10, 15, 20][..], &[10, 15, 20, 25, 30, 35, 40][..]),
            ("second@example.com", &[20, 25, 30], &[20, 25, 30, 35, 40]),
            ("third@example.com", &[30, 35, 40], &[30, 35, 40]),
        ] {
            for (is_of_another, failures) in [(true, failures_of_shared), (false, events)] {
                person.addresses.iter_mut().for_each(|address| address.is_of_another = is_of_another);
                assert_eq!(named(&person, action::LOGIN_FAILURE, email), failures, "{email}");
                assert_eq!(named(&person, "SENT", email), events, "{email}");
            }
        }
    }

    #[test]
    fn only_personal_fields_name_a_person() {
        assert!(!names(&ada(), &json!({ "subject": "Ada Lovelace", "total": 7, "emails": ["ada@example.com"] })));
        assert!(!names(&ada(), &json!({ "email": null, "displayName": true, "phone": 7 })));
        assert!(!names(&ada(), &json!({ "name": "Ada Lovelace", "slug": "ada-lovelace" })));
        for field in ["name", "slug"] {
            let metadata = json!({ field: "ada-lovelace" });
            let of_tenant = AuditEntry { resource_type: ResourceType::TENANT, ..event(&metadata) };
            assert!(ada().has_details_in(&of_tenant), "{field}");
        }
    }

    #[test]
    fn former_names_and_addresses_name_a_person() {
        let mut person = ada();
        let mut before = testing::entry(json!({ "email": "Countess@example.com", "lastName": "King" }));
        before.old_value = json!({ "email": "ada@byron.example", "lastName": "Byron" }).as_object().cloned();
        person.learn(&before);
        let mut erased = before.clone();
        erased.erase_details();
        person.learn(&erased);
        for email in ["countess@example.com", "Ada@Byron.example", "ada@example.com"] {
            assert!(names(&person, &json!({ "email": email })), "{email}");
        }
        for name in ["Ada King", "Ada Byron", "Ada Lovelace"] {
            assert!(names(&person, &json!({ "displayName": name })), "{name}");
        }
        assert!(!names(&person, &json!({ "email": "[ERASED]" })), "an erased value is not an address");
    }

    #[test]
    fn every_entry_about_the_user_with_personal_values_matches() {
        let about = |resource_id: &str| AuditEntry {
            resource_type: ResourceType::USER,
            resource_id: Some(resource_id.to_owned()),
            ..event(&json!({ "phone": "+49 30 1" }))
        };
        let own = about(&Uuid::from_u128(7).to_string());
        assert!(ada().has_details_in(&own));
        let mut erased = own.clone();
        erased.erase_details();
        assert!(!ada().has_details_in(&erased), "its values are erased already");
        let nothing = AuditEntry { metadata: serde_json::Map::new(), ..own.clone() };
        assert!(!ada().has_details_in(&nothing), "it never had personal values");
        let other = about(&Uuid::from_u128(8).to_string());
        let namesake = AuditEntry { metadata: event(&json!({ "fullName": "Ada Lovelace" })).metadata, ..other };
        assert!(!ada().has_details_in(&namesake), "another user has the same name");
        let other_type = AuditEntry { resource_type: ResourceType::ROLE, ..own };
        assert!(!ada().has_details_in(&other_type));
    }

    #[test]
    fn an_entry_about_another_user_never_matches() {
        let namesake = event(&json!({ "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.com" }));
        let of = |resource_type, id: Option<u128>| AuditEntry {
            resource_type,
            resource_id: id.map(|id| Uuid::from_u128(id).to_string()),
            ..namesake.clone()
        };
        assert!(!ada().has_details_in(&of(ResourceType::USER, Some(8))));
        assert!(ada().has_details_in(&of(ResourceType::USER, Some(7))));
        assert!(ada().has_details_in(&of(ResourceType::USER, None)), "a failed login is about no user");
        assert!(ada().has_details_in(&of(ResourceType::TENANT, Some(8))), "a tenant is no user");
    }

    #[test]
    fn client_data_matches_where_the_user_acted_or_tried_to_log_in() {
        let by = |user: Option<u128>| AuditEntry {
            user_id: user.map(|id| Uuid::from_u128(id).into()),
            ..event(&json!({ "email": "ada@example.com" }))
        };
        assert!(ada().has_origin_of(&by(Some(7))));
        assert!(!ada().has_origin_of(&by(Some(8))) && !ada().has_origin_of(&by(None)));
        let attempt = AuditEntry { action: action::LOGIN_FAILURE.into(), ..by(None) };
        assert!(ada().has_origin_of(&attempt));
        let of_other = AuditEntry { metadata: event(&json!({ "email": "b@example.com" })).metadata, ..attempt };
        assert!(!ada().has_origin_of(&of_other));
        let mut erased = by(Some(7));
        erased.erase_origin();
        assert!(!ada().has_origin_of(&erased));
        // Where a user acts as another one, it is the one who acts. Only the service knows that.
        let acted = |user: u128, actor: u128| {
            let metadata = json!({ "actorId": Uuid::from_u128(actor) });
            AuditEntry { user_id: Some(Uuid::from_u128(user).into()), ..event(&metadata) }
        };
        let of_service = |entry| AuditEntry { resource_type: ResourceType::USER, ..entry };
        assert!(ada().has_origin_of(&of_service(acted(8, 7))) && !ada().has_origin_of(&of_service(acted(7, 8))));
        assert!(ada().has_origin_of(&acted(8, 7)) && ada().has_origin_of(&acted(7, 8)));
        let unknown = AuditEntry { context: iam_model::context::RequestContext::default(), ..by(Some(7)) };
        assert!(!ada().has_origin_of(&unknown), "it never had personal values");
    }
}
