use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::access::testing::{at, id};
use crate::clock::Timestamp;
use crate::directory::{
    Condition, Directory, DirectoryGroup, DirectoryName, DirectoryUser, EmailField, EmailTest, GroupMoment,
    GroupSortField, GroupTest, GroupText, Order, ProvisionedUser, TextOperator, UserMoment, UserSortField, UserTest,
    UserText,
};
use crate::id::{TenantId, UserId};
use crate::page::SortOrder;
use crate::user::{User, UserKind, UserStatus};
use crate::version::Version;

fn tenant() -> TenantId {
    "00000001-0000-7000-8000-000000000000".parse().unwrap()
}

pub(crate) fn directory() -> Directory {
    Directory {
        id: id("directory"),
        tenant_id: tenant(),
        name: "Acme".parse().unwrap(),
        service_account_id: id("account"),
        identity_provider_id: Some(id("provider")),
        adopt: false,
        created_at: at(0),
        updated_at: at(0),
        version: Version::FIRST,
    }
}

pub(crate) fn entry() -> DirectoryUser {
    let attributes = json!({
        "displayName": "Ada Straße",
        "name": { "givenName": "Ada", "familyName": "Lovelace" },
        "emails": [
            { "value": "Ada@Work.example", "type": "work", "primary": true },
            { "value": "ada@home.example", "type": "home" },
            { "type": "none" },
        ],
    });
    DirectoryUser {
        tenant_id: tenant(),
        directory_id: directory().id,
        user_id: id("user"),
        user_name: "Ada".parse().unwrap(),
        attributes: attributes.as_object().cloned().unwrap(),
        deleted_at: None,
        created_at: at(10),
        updated_at: at(20),
        version: Version::FIRST,
    }
}

/// A group with the members `ada` and `bob`.
pub(crate) fn group() -> DirectoryGroup {
    DirectoryGroup {
        id: id("group"),
        tenant_id: tenant(),
        directory_id: directory().id,
        display_name: "Ada Straße".parse().unwrap(),
        external_id: Some("00g1A".parse().unwrap()),
        members: 2,
        grants: Vec::new(),
        created_at: at(10),
        updated_at: at(30),
        version: Version::FIRST,
    }
}

fn provisioned() -> ProvisionedUser {
    let user = User {
        id: id("user"),
        tenant_id: tenant(),
        kind: UserKind::Human,
        email: "ada@work.example".parse().unwrap(),
        email_verified_at: None,
        first_name: "Ada".parse().unwrap(),
        last_name: "Lovelace".parse().unwrap(),
        external_id: Some("00u1A".parse().unwrap()),
        home_organization_id: None,
        status: UserStatus::Active,
        last_login_at: None,
        created_at: at(0),
        updated_at: at(30),
        version: Version::FIRST,
    };
    ProvisionedUser::new(user, entry())
}

fn passes(test: UserTest) -> bool {
    test.passes(&provisioned())
}

fn text(field: UserText, operator: TextOperator, value: &str) -> bool {
    passes(UserTest::Text { field, operator, value: value.to_owned() })
}

#[test]
fn texts_are_compared_in_their_form() {
    use TextOperator::{Contains, Differs, EndsWith, Equals, Sorted, StartsWith};
    use UserText::{DisplayName, ExternalId, FamilyName, FormattedName, GivenName, Id, UserName};
    let id = provisioned().user.id.to_string();
    for (field, operator, value, expected) in [
        (UserName, Equals, "ADA", true),
        (UserName, Differs, "ADA", false),
        (UserName, Differs, "eve", true),
        (GivenName, Equals, "ada", true),
        (FamilyName, Contains, "LACE", true),
        (DisplayName, EndsWith, "STRASSE", true),
        (DisplayName, StartsWith, "ada s", true),
        (DisplayName, StartsWith, "straße", false),
        (DisplayName, Contains, "%", false),
        (DisplayName, Contains, "", true),
        (ExternalId, Equals, "00u1A", true),
        (ExternalId, Equals, "00u1a", false),
        (Id, Equals, id.as_str(), true),
        (Id, Equals, "00u1A", false),
        (UserName, Sorted(Order::Greater), "ACE", true),
        (UserName, Sorted(Order::GreaterOrEqual), "ADA", true),
        (UserName, Sorted(Order::Less), "ADA", false),
        (UserName, Sorted(Order::LessOrEqual), "adb", true),
        // A text that is not there.
        (FormattedName, Equals, "", false),
        (FormattedName, Contains, "", false),
        (FormattedName, Sorted(Order::NotEqual), "x", false),
        (FormattedName, Differs, "x", true),
    ] {
        assert_eq!(text(field, operator, value), expected, "{field:?} {operator:?} {value}");
    }
    assert!(passes(UserTest::Present(DisplayName)) && !passes(UserTest::Present(FormattedName)));
}

#[test]
fn a_status_and_moments_are_compared() {
    assert!(passes(UserTest::Active(true)) && !passes(UserTest::Active(false)));
    let suspended = User { status: UserStatus::Suspended, ..provisioned().user };
    let suspended = ProvisionedUser::new(suspended, entry());
    assert!(UserTest::Active(false).passes(&suspended) && !UserTest::Active(true).passes(&suspended));
    let holds = |field, order, value: Timestamp| passes(UserTest::Moment { field, order, value });
    for (order, expected) in [
        (Order::Equal, [false, true, false]),
        (Order::NotEqual, [true, false, true]),
        (Order::Greater, [true, false, false]),
        (Order::GreaterOrEqual, [true, true, false]),
        (Order::Less, [false, false, true]),
        (Order::LessOrEqual, [false, true, true]),
    ] {
        for (field, moment) in [(UserMoment::Created, 10), (UserMoment::LastModified, 30)] {
            let compared = [moment - 1, moment, moment + 1].map(|seconds| holds(field, order, at(seconds)));
            assert_eq!(compared, expected, "{field:?} {order:?}");
        }
    }
    let later = ProvisionedUser { entry: DirectoryUser { updated_at: at(40), ..entry() }, ..provisioned() };
    assert_eq!(later.last_modified(), at(40));
}

#[test]
fn one_email_meets_the_whole_condition() {
    let value = |operator, value: &str| {
        Condition::Test(EmailTest::Text { field: EmailField::Value, operator, value: value.to_owned() })
    };
    let of_type = |value: &str| {
        let operator = TextOperator::Equals;
        Condition::Test(EmailTest::Text { field: EmailField::Type, operator, value: value.to_owned() })
    };
    let primary = |is| Condition::Test(EmailTest::Primary(is));
    let present = Condition::Test(EmailTest::Present(EmailField::Value));
    let not = |condition| Condition::Not(Box::new(condition));
    for (condition, expected) in [
        (value(TextOperator::Equals, "ADA@work.example"), true),
        (Condition::All(vec![of_type("WORK"), value(TextOperator::EndsWith, "@home.example")]), false),
        (Condition::All(vec![of_type("home"), value(TextOperator::EndsWith, "@home.example")]), true),
        (Condition::All(vec![of_type("home"), primary(true)]), false),
        (Condition::All(vec![of_type("home"), primary(false)]), true),
        (Condition::All(vec![of_type("none"), present.clone()]), false),
        (Condition::All(vec![of_type("none"), value(TextOperator::Differs, "x")]), true),
        (not(present.clone()), true),
        (not(Condition::Any(vec![present.clone(), of_type("none")])), false),
        (present, true),
        (Condition::always(), true),
    ] {
        assert_eq!(passes(UserTest::Email(condition.clone())), expected, "{condition:?}");
    }
    let without =
        ProvisionedUser { entry: DirectoryUser { attributes: serde_json::Map::new(), ..entry() }, ..provisioned() };
    assert!(!UserTest::Email(Condition::always()).passes(&without));
}

#[test]
fn conditions_are_combined() {
    let (yes, no) = (|| Condition::Test(true), || Condition::Test(false));
    for (condition, expected) in [
        (Condition::always(), true),
        (Condition::All(vec![yes(), no()]), false),
        (Condition::Any(vec![]), false),
        (Condition::Any(vec![no(), yes()]), true),
        (Condition::Not(Box::new(Condition::Any(vec![no(), no()]))), true),
        (Condition::Not(Box::new(Condition::Not(Box::new(no())))), false),
    ] {
        assert_eq!(condition.holds(&|test: &bool| *test), expected, "{condition:?}");
    }
}

#[test]
fn users_are_sorted_by_a_field_then_by_age() {
    let named = |formatted: Option<&str>, user: &str, created: i64| {
        let mut provisioned = provisioned();
        let name = formatted.map_or(Value::Null, |formatted| json!({ "formatted": formatted }));
        provisioned.entry.attributes.insert("name".to_owned(), name);
        provisioned.entry.user_id = id(user);
        provisioned.entry.created_at = at(created);
        provisioned
    };
    let field = UserSortField::Text(UserText::FormattedName);
    for (a, b, ascending, descending) in [
        (named(Some("ada"), "b", 2), named(Some("BOB"), "a", 1), Ordering::Less, Ordering::Greater),
        (named(Some("zoe"), "b", 2), named(None, "a", 1), Ordering::Less, Ordering::Greater),
        (named(Some("ada"), "b", 1), named(Some("ADA"), "a", 2), Ordering::Less, Ordering::Less),
        (named(None, "a", 1), named(None, "b", 1), Ordering::Less, Ordering::Less),
    ] {
        assert_eq!(field.compare(SortOrder::Ascending, &a, &b), ascending);
        assert_eq!(field.compare(SortOrder::Descending, &a, &b), descending);
        assert_eq!(field.compare(SortOrder::Ascending, &b, &a), ascending.reverse());
    }
}

fn group_passes(test: &GroupTest) -> bool {
    test.passes(&group(), |user| [id("ada"), id("bob")].contains(&user))
}

fn group_text(field: GroupText, operator: TextOperator, value: &str) -> bool {
    group_passes(&GroupTest::Text { field, operator, value: value.to_owned() })
}

#[test]
fn texts_of_groups_are_compared_in_their_form() {
    use GroupText::{DisplayName, ExternalId, Id};
    use TextOperator::{Contains, Differs, EndsWith, Equals, Sorted, StartsWith};
    let id = group().id.to_string();
    for (field, operator, value, expected) in [
        (DisplayName, Equals, "ADA STRASSE", true),
        (DisplayName, Differs, "ADA STRASSE", false),
        (DisplayName, Differs, "eve", true),
        (DisplayName, EndsWith, "STRASSE", true),
        (DisplayName, StartsWith, "ada s", true),
        (DisplayName, StartsWith, "straße", false),
        (DisplayName, Contains, "A S", true),
        (DisplayName, Contains, "%", false),
        (DisplayName, Contains, "", true),
        (ExternalId, Equals, "00g1A", true),
        (ExternalId, Equals, "00g1a", false),
        (ExternalId, StartsWith, "00G", false),
        (Id, Equals, id.as_str(), true),
        (Id, Equals, "00g1A", false),
        (DisplayName, Sorted(Order::Greater), "ACE", true),
        (DisplayName, Sorted(Order::GreaterOrEqual), "ADA STRASSE", true),
        (DisplayName, Sorted(Order::Less), "ADA STRASSE", false),
        (DisplayName, Sorted(Order::LessOrEqual), "adb", true),
    ] {
        assert_eq!(group_text(field, operator, value), expected, "{field:?} {operator:?} {value}");
    }
    let without = DirectoryGroup { external_id: None, ..group() };
    for (operator, expected) in [(Equals, false), (Contains, false), (Sorted(Order::NotEqual), false), (Differs, true)]
    {
        let test = GroupTest::Text { field: ExternalId, operator, value: "x".to_owned() };
        assert_eq!(test.passes(&without, |_| false), expected, "{operator:?}");
    }
    for field in [Id, ExternalId, DisplayName] {
        let present = GroupTest::Present(field);
        assert!(group_passes(&present), "{field:?}");
        assert_eq!(present.passes(&without, |_| false), field != ExternalId, "{field:?}");
    }
}

#[test]
fn moments_of_groups_are_compared() {
    for (order, expected) in [
        (Order::Equal, [false, true, false]),
        (Order::NotEqual, [true, false, true]),
        (Order::Greater, [true, false, false]),
        (Order::GreaterOrEqual, [true, true, false]),
        (Order::Less, [false, false, true]),
        (Order::LessOrEqual, [false, true, true]),
    ] {
        for (field, moment) in [(GroupMoment::Created, 10), (GroupMoment::LastModified, 30)] {
            let holds = |seconds| group_passes(&GroupTest::Moment { field, order, value: at(seconds) });
            assert_eq!([moment - 1, moment, moment + 1].map(holds), expected, "{field:?} {order:?}");
        }
    }
}

#[test]
fn a_member_is_found_by_its_identifier() {
    let of = |name: &str| id::<UserId>(name).to_string();
    for (member, expected) in [
        (of("ada"), true),
        (of("bob"), true),
        (of("bob").to_uppercase(), true),
        (of("eve"), false),
        (group().id.to_string(), false),
        (of("ada").replace('-', ""), false),
        (format!("{} ", of("ada")), false),
        ("ada".to_owned(), false),
        (String::new(), false),
    ] {
        assert_eq!(group_passes(&GroupTest::Member(member.clone())), expected, "{member}");
    }
    assert!(group_passes(&GroupTest::HasMembers));
    assert!(!GroupTest::HasMembers.passes(&DirectoryGroup { members: 0, ..group() }, |_| true));
}

#[test]
fn groups_are_sorted_by_a_field_then_by_age() {
    use GroupSortField::{Created, LastModified, Text};
    let named = |name: &str, external_id: Option<&str>, group_id: &str, created: i64| DirectoryGroup {
        id: id(group_id),
        display_name: name.parse().unwrap(),
        external_id: external_id.map(|id| id.parse().unwrap()),
        created_at: at(created),
        ..group()
    };
    let (ada, bob) = (named("ada", Some("B"), "b", 2), named("BOB", Some("a"), "a", 1));
    let (zoe, eve) = (named("zoe", None, "b", 2), named("eve", None, "a", 2));
    let later = DirectoryGroup { updated_at: at(31), ..bob.clone() };
    for (field, a, b, ascending, descending) in [
        (Text(GroupText::DisplayName), &ada, &bob, Ordering::Less, Ordering::Greater),
        (Text(GroupText::ExternalId), &ada, &bob, Ordering::Less, Ordering::Greater),
        (Text(GroupText::Id), &ada, &bob, Ordering::Greater, Ordering::Less),
        (Created, &ada, &bob, Ordering::Greater, Ordering::Less),
        (LastModified, &ada, &later, Ordering::Less, Ordering::Greater),
        // A text that is not there comes last.
        (Text(GroupText::ExternalId), &ada, &eve, Ordering::Less, Ordering::Greater),
        // By age, and then by identifier.
        (LastModified, &ada, &bob, Ordering::Greater, Ordering::Greater),
        (LastModified, &zoe, &eve, Ordering::Greater, Ordering::Greater),
        (Text(GroupText::ExternalId), &zoe, &eve, Ordering::Greater, Ordering::Greater),
        (Created, &eve, &zoe, Ordering::Less, Ordering::Less),
        (Created, &eve, &eve, Ordering::Equal, Ordering::Equal),
    ] {
        assert_eq!(field.compare(SortOrder::Ascending, a, b), ascending, "{field:?}");
        assert_eq!(field.compare(SortOrder::Descending, a, b), descending, "{field:?}");
        assert_eq!(field.compare(SortOrder::Ascending, b, a), ascending.reverse(), "{field:?}");
    }
}

#[test]
fn names_are_kept_as_sent_and_compared_without_case() {
    for good in ["a", " ada ", "Ada@Example.com", "ADA\u{301}", &"ü".repeat(255)] {
        let name: DirectoryName = good.parse().unwrap();
        assert_eq!((name.as_str(), json!(name)), (good, json!(good)));
        assert_eq!(serde_json::from_value::<DirectoryName>(json!(good)).unwrap(), name);
    }
    let key = |name: &str| name.parse::<DirectoryName>().unwrap().key();
    assert_eq!((key("STRASSE@x"), key("Ada")), (key("straße@X"), key("ADA")));
    assert_ne!(key("ada"), key(" ada"));
    for bad in ["", " ", "\u{a0}", "a\nb", "a\0", "a\u{202e}b", &"ü".repeat(256)] {
        assert!(bad.parse::<DirectoryName>().is_err(), "{bad:?}");
    }
}
