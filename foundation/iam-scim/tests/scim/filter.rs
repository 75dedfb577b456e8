use iam_model::directory::{
    Condition, EmailField, EmailTest, GroupMoment, GroupTest, GroupText, Order, TextOperator, UserMoment, UserTest,
    UserText,
};
use iam_scim::filter::{group_filter, user_filter};
use iam_scim::{ScimError, ScimType};

use crate::{ENTERPRISE, GROUP, USER, kind};

fn text(field: UserText, operator: TextOperator, value: &str) -> Condition<UserTest> {
    Condition::Test(UserTest::Text { field, operator, value: value.to_owned() })
}

fn equals(field: UserText, value: &str) -> Condition<UserTest> {
    text(field, TextOperator::Equals, value)
}

fn present(field: UserText) -> Condition<UserTest> {
    Condition::Test(UserTest::Present(field))
}

fn not<T>(condition: Condition<T>) -> Condition<T> {
    Condition::Not(Box::new(condition))
}

fn email(field: EmailField, operator: TextOperator, value: &str) -> Condition<EmailTest> {
    Condition::Test(EmailTest::Text { field, operator, value: value.to_owned() })
}

fn of_email(condition: Condition<EmailTest>) -> Condition<UserTest> {
    Condition::Test(UserTest::Email(condition))
}

fn refused(filter: &str) -> ScimError {
    let error = user_filter(filter).expect_err(filter);
    assert_eq!(kind(&error), "invalidFilter", "{filter}");
    error
}

#[test]
fn the_grammar_is_read() {
    use TextOperator::{Contains, EndsWith, Equals, Sorted, StartsWith};
    let given_name = || present(UserText::GivenName);
    let display_name = || present(UserText::DisplayName);
    let name = |value| equals(UserText::UserName, value);
    for (filter, expected) in [
        (r#"userName eq "ana@firma.example""#.to_owned(), name("ana@firma.example")),
        (r#"USERNAME Eq "Ana""#.to_owned(), name("Ana")),
        ("userName\teq   \"x\"".to_owned(), name("x")),
        (r#"userName eq "a \"b\" \u00e9 ] (""#.to_owned(), name("a \"b\" é ] (")),
        (format!(r#"{USER}:userName eq "x""#), name("x")),
        (format!(r#"{}:name.familyName eq "x""#, USER.to_uppercase()), equals(UserText::FamilyName, "x")),
        (r#"displayName ne "x""#.to_owned(), text(UserText::DisplayName, TextOperator::Differs, "x")),
        (r#"name.givenName co "x""#.to_owned(), text(UserText::GivenName, Contains, "x")),
        (r#"name.formatted sw "x""#.to_owned(), text(UserText::FormattedName, StartsWith, "x")),
        (r#"externalId ew "x""#.to_owned(), text(UserText::ExternalId, EndsWith, "x")),
        (r#"userName gt "x""#.to_owned(), text(UserText::UserName, Sorted(Order::Greater), "x")),
        (r#"id ge "x""#.to_owned(), text(UserText::Id, Sorted(Order::GreaterOrEqual), "x")),
        (r#"id lt "x""#.to_owned(), text(UserText::Id, Sorted(Order::Less), "x")),
        (r#"id LE "x""#.to_owned(), text(UserText::Id, Sorted(Order::LessOrEqual), "x")),
        ("( displayName pr )".to_owned(), display_name()),
        ("not(displayName pr)".to_owned(), not(display_name())),
        ("not (not (displayName pr))".to_owned(), not(not(display_name()))),
        (
            // `and` binds more tightly than `or`.
            r#"displayName pr or name.givenName pr and not (id eq "x")"#.to_owned(),
            Condition::Any(vec![display_name(), Condition::All(vec![given_name(), not(equals(UserText::Id, "x"))])]),
        ),
        (
            r#"(displayName pr OR name.givenName pr) AND userName eq "x""#.to_owned(),
            Condition::All(vec![Condition::Any(vec![display_name(), given_name()]), name("x")]),
        ),
        ("displayName eq null".to_owned(), not(display_name())),
        ("displayName ne null".to_owned(), display_name()),
        (
            "name pr".to_owned(),
            Condition::Any(vec![given_name(), present(UserText::FamilyName), present(UserText::FormattedName)]),
        ),
        ("meta.created pr".to_owned(), Condition::always()),
        ("active eq true".to_owned(), Condition::Test(UserTest::Active(true))),
        (r#"active eq "True""#.to_owned(), Condition::Test(UserTest::Active(true))),
        ("active ne true".to_owned(), Condition::Test(UserTest::Active(false))),
        ("emails pr".to_owned(), of_email(Condition::always())),
        (r#"emails co "x""#.to_owned(), of_email(email(EmailField::Value, Contains, "x"))),
        (r#"emails.type eq "work""#.to_owned(), of_email(email(EmailField::Type, Equals, "work"))),
        (r#"emails.value ne "x""#.to_owned(), not(of_email(email(EmailField::Value, Equals, "x")))),
        ("emails.primary eq true".to_owned(), of_email(Condition::Test(EmailTest::Primary(true)))),
    ] {
        assert_eq!(user_filter(&filter), Ok(expected), "{filter}");
    }
}

/// The standard lets a filter end at the bracket. Entra ID sends the second form where the address finds the user.
#[test]
fn one_email_meets_the_filter_in_brackets() {
    let work = email(EmailField::Type, TextOperator::Equals, "work");
    let value = |operator| email(EmailField::Value, operator, "x");
    for (filter, expected) in [
        (
            r#"emails[type eq "work" and value co "x"]"#,
            Condition::All(vec![work.clone(), value(TextOperator::Contains)]),
        ),
        (r#"emails[type eq "work"].value eq "x""#, Condition::All(vec![work.clone(), value(TextOperator::Equals)])),
        (r#"emails[not(type eq "work")]"#, not(work.clone())),
        (r#"emails[value ne "x"]"#, value(TextOperator::Differs)),
        (
            r#"Emails[Primary eq "True" or value pr]"#,
            Condition::Any(vec![
                Condition::Test(EmailTest::Primary(true)),
                Condition::Test(EmailTest::Present(EmailField::Value)),
            ]),
        ),
    ] {
        assert_eq!(user_filter(filter), Ok(of_email(expected)), "{filter}");
    }
    let both = r#"not (emails[type eq "work"].value eq "x") and active eq true"#;
    let emails = of_email(Condition::All(vec![work, value(TextOperator::Equals)]));
    let expected = Condition::All(vec![not(emails), Condition::Test(UserTest::Active(true))]);
    assert_eq!(user_filter(both), Ok(expected));
}

#[test]
fn moments_are_compared_as_instants() {
    for value in
        ["2026-01-31T09:15:00Z", "2026-01-31T10:15:00+01:00", "2026-01-31T09:15:00.0000000Z", "2026-01-31T09:15:00"]
    {
        let filter = format!(r#"meta.lastModified ge "{value}""#);
        let expected = UserTest::Moment {
            field: UserMoment::LastModified,
            order: Order::GreaterOrEqual,
            value: "2026-01-31T09:15:00Z".parse().unwrap(),
        };
        assert_eq!(user_filter(&filter), Ok(Condition::Test(expected)), "{filter}");
    }
}

#[test]
fn what_is_not_of_the_grammar_is_refused() {
    for filter in [
        "",
        " ",
        "title",
        "userName",
        "userName eq",
        r#"userName eq"x""#,
        r#"userName eq 'x'"#,
        r#"userName eq "x"#,
        r#"userName eq "\q""#,
        r#"userName eq "x" and"#,
        r#"userName eq "x" userName eq "y""#,
        r#"userName is "x""#,
        r#"title pr "x""#,
        "(displayName pr",
        "displayName pr)",
        "emails[type pr",
        "emails type pr]",
        "emails[]",
        r#"emails[type eq "work"][value pr]"#,
        r#"emails[type eq "work"].value"#,
        r#"emails[type eq "work"].value eq"#,
        r#"a[b[c eq 1]]"#,
        r#"name.givenName.x eq "x""#,
        r#"name. eq "x""#,
        "active eq True",
        "externalId eq jyoung",
    ] {
        refused(filter);
    }
}

/// A filter that is not applied would show all users, and a client would take the first one.
#[test]
fn what_users_do_not_have_is_refused() {
    for filter in [
        r#"title eq "x""#.to_owned(),
        r#"password eq "x""#.to_owned(),
        r#"manager eq "x""#.to_owned(),
        r#"name.middleName eq "x""#.to_owned(),
        r#"emails.display eq "x""#.to_owned(),
        r#"emails[display eq "x"]"#.to_owned(),
        r#"name[givenName eq "x"]"#.to_owned(),
        r#"members.value eq "x""#.to_owned(),
        format!(r#"{ENTERPRISE}:department eq "x""#),
        format!(r#"{GROUP}:displayName eq "x""#),
        format!("{USER} pr"),
        r#"urn:other:userName eq "x""#.to_owned(),
        r#"name eq "x""#.to_owned(),
        "userName eq 1".to_owned(),
        "userName gt null".to_owned(),
        r#"userName eq "\u0000""#.to_owned(),
        r#"active eq "yes""#.to_owned(),
        "active gt true".to_owned(),
        r#"meta.created co "2026""#.to_owned(),
        r#"meta.created eq "yesterday""#.to_owned(),
        r#"meta.created eq "+262143-01-01T00:00:00Z""#.to_owned(),
    ] {
        refused(&filter);
    }
}

#[test]
fn work_is_bounded_before_it_begins() {
    let levels = |count| format!("{}displayName pr{}", "(".repeat(count), ")".repeat(count));
    let negations = |count| format!("{}displayName pr{}", "not (".repeat(count), ")".repeat(count));
    let terms = |count| vec!["displayName pr"; count].join(" or ");
    let long = |length: usize| format!("id eq \"{}\"", "x".repeat(length - 8));
    let in_brackets = format!("{}emails[type pr]{}", "(".repeat(64), ")".repeat(64));
    for filter in [levels(64), negations(60), terms(100), long(4096)] {
        assert!(user_filter(&filter).is_ok(), "{filter:.20}");
    }
    for filter in [
        levels(65),
        negations(65),
        terms(101),
        long(4097),
        in_brackets,
        "(".repeat(200_000),
        "not (".repeat(800),
        "a[".repeat(2_000),
    ] {
        refused(&filter);
    }
}

#[test]
fn a_filter_has_twenty_tests_of_emails() {
    let apart = |count: usize| vec![r#"emails.value ew "a""#; count].join(" or ");
    let inside = |count: usize| format!("not (emails[{}])", vec![r#"value ew "a""#; count].join(" or "));
    let whole = |count: usize| vec!["emails pr"; count].join(" and ");
    for filter in [apart, inside, whole] {
        assert!(user_filter(&filter(20)).is_ok());
        assert_eq!(user_filter(&filter(21)).unwrap_err().scim_type, Some(ScimType::TooMany));
    }
}

#[test]
fn an_error_has_no_value_of_a_person() {
    for filter in [
        r#"title eq "ana@firma.example""#,
        r#"userName eq "ana@firma.example" ana@firma.example"#,
        r#"active eq "ana@firma.example""#,
        r#"meta.created gt "ana@firma.example""#,
        r#"emails[type eq "ana@firma.example"#,
    ] {
        assert!(!refused(filter).detail.contains("ana@"), "{filter}");
    }
}

#[test]
fn groups_have_a_filter_of_their_own() {
    let of_text =
        |field, operator, value: &str| Condition::Test(GroupTest::Text { field, operator, value: value.to_owned() });
    let member = |id: &str| Condition::Test(GroupTest::Member(id.to_owned()));
    for (filter, expected) in [
        (r#"displayName EQ "Sales""#.to_owned(), of_text(GroupText::DisplayName, TextOperator::Equals, "Sales")),
        (format!(r#"{GROUP}:externalId sw "a""#), of_text(GroupText::ExternalId, TextOperator::StartsWith, "a")),
        ("externalId pr".to_owned(), Condition::Test(GroupTest::Present(GroupText::ExternalId))),
        (
            r#"meta.created lt "2026-01-31T09:15:00Z""#.to_owned(),
            Condition::Test(GroupTest::Moment {
                field: GroupMoment::Created,
                order: Order::Less,
                value: "2026-01-31T09:15:00Z".parse().unwrap(),
            }),
        ),
        (
            r#"id eq "5f0" and members eq "77c""#.to_owned(),
            Condition::All(vec![of_text(GroupText::Id, TextOperator::Equals, "5f0"), member("77c")]),
        ),
        (r#"members.value eq "77c""#.to_owned(), member("77c")),
        (r#"members[value eq "77c"]"#.to_owned(), member("77c")),
        (r#"members[value eq "a" or value eq "b"]"#.to_owned(), Condition::Any(vec![member("a"), member("b")])),
        (r#"members.value ne "77c""#.to_owned(), not(member("77c"))),
        ("members pr".to_owned(), Condition::Test(GroupTest::HasMembers)),
    ] {
        assert_eq!(group_filter(&filter), Ok(expected), "{filter}");
    }
    for filter in [
        r#"userName eq "x""#.to_owned(),
        r#"members co "x""#.to_owned(),
        r#"members.display eq "x""#.to_owned(),
        r#"members[value ne "x"]"#.to_owned(),
        r#"members[value eq "x" and value eq "y"]"#.to_owned(),
        r#"members[type eq "User"]"#.to_owned(),
        r#"members.value[value eq "x"]"#.to_owned(),
        format!(r#"{USER}:displayName eq "x""#),
    ] {
        let error = group_filter(&filter).expect_err(&filter);
        assert_eq!(kind(&error), "invalidFilter", "{filter}");
    }
}
