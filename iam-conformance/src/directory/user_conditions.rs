use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::clock::Timestamp;
use iam_model::directory::{
    Condition, Directory, DirectoryUser, EmailField, EmailTest, Order, ProvisionedUser, TextOperator, UserMoment,
    UserSortField, UserTest, UserText,
};
use iam_model::page::SortOrder;
use iam_model::store::Store;
use iam_model::user::{User, UserStatus};
use serde_json::json;

use super::{directory, enter, find, new_entry, not, provision};
use crate::world::World;

pub(super) fn text(field: UserText, operator: TextOperator, value: &str) -> Condition<UserTest> {
    Condition::Test(UserTest::Text { field, operator, value: value.to_owned() })
}

fn present(field: UserText) -> Condition<UserTest> {
    Condition::Test(UserTest::Present(field))
}

fn active(is: bool) -> Condition<UserTest> {
    Condition::Test(UserTest::Active(is))
}

fn moment(field: UserMoment, order: Order, value: Timestamp) -> Condition<UserTest> {
    Condition::Test(UserTest::Moment { field, order, value })
}

/// A directory with four users, who are named by the first letters of their addresses: `a`, `b`, `e` and `z`, in the
/// order in which the directory made them. A user that it has deleted, and one of another directory, are like `a`.
struct People {
    world: World,
    directory: Directory,
    people: Vec<ProvisionedUser>,
}

impl People {
    async fn new(store: Arc<dyn Store>) -> Self {
        let world = World::new(store);
        let tenant = world.tenant("acme").await;
        let (here, there) = (directory(&world, &tenant, "here").await, directory(&world, &tenant, "there").await);
        let of_ada = json!({
            "displayName": "Ada Straße",
            "name": { "givenName": "Ada", "familyName": "Lovelace", "formatted": "Ada \"x\" 100%_'\\ 🦀" },
            "emails": [
                { "value": "Ada@Work.example", "type": "work", "primary": true },
                { "value": "ada@home.example", "type": "home" },
            ],
            "title": "Countess",
        });
        let of_bob = json!({
            "displayName": "bob",
            "name": { "givenName": "Bob" },
            "emails": [
                { "value": "bob@home.example", "type": "work", "primary": false },
                { "type": "other", "primary": true },
            ],
        });
        let of_eve = json!({ "name": { "familyName": "Ængel" }, "emails": [] });
        let mut people = Vec::new();
        for (email, external_id, status, user_name, attributes) in [
            ("ada@example.com", Some("00u1A"), UserStatus::Active, "Ada@Example.com", &of_ada),
            ("bob@example.com", Some("00u1a"), UserStatus::Suspended, "BOB_1", &of_bob),
            ("eve@example.com", None, UserStatus::Inactive, "ève", &of_eve),
            ("zoe@example.com", None, UserStatus::Active, "zoe", &json!({})),
        ] {
            let external_id = external_id.map(|id| id.parse().unwrap());
            let mut user = User { external_id, status, ..world.new_user(&tenant, email) };
            let mut entry = new_entry(&world, &here, &user, user_name, attributes);
            match email.chars().next() {
                Some('a') => user.updated_at += TimeDelta::seconds(10),
                Some('z') => entry.updated_at += TimeDelta::milliseconds(17_001),
                _ => {}
            }
            let user = world.add(user).await;
            people.push(ProvisionedUser::new(user, enter(&world, entry).await));
            world.tick();
        }
        for (directory, email, is_deleted) in [(&here, "c@example.com", true), (&there, "d@example.com", false)] {
            let user = world.user(&tenant, email).await;
            let entry = new_entry(&world, directory, &user, "ada@example.org", &of_ada);
            let deleted_at = is_deleted.then(|| world.now());
            enter(&world, DirectoryUser { deleted_at, ..entry }).await;
        }
        Self { world, directory: here, people }
    }

    fn named(&self, letter: char) -> &ProvisionedUser {
        self.people.iter().find(|person| person.user.email.as_str().starts_with(letter)).unwrap()
    }

    /// Fails unless exactly the expected users meet a condition.
    async fn assert_found(&self, condition: &Condition<UserTest>, expected: &str) {
        let meets = |person: &&ProvisionedUser| condition.holds(&|test: &UserTest| test.passes(person));
        let by_model: Vec<&ProvisionedUser> = self.people.iter().filter(meets).collect();
        assert_eq!(letters(by_model.iter().copied()), expected, "the model disagrees: {condition:?}");
        let found = find(&self.world, &self.directory, condition).await;
        assert_eq!(letters(&found), expected, "{condition:?}");
        assert!(found.iter().eq(by_model), "{condition:?}");
    }
}

fn letters<'a>(people: impl IntoIterator<Item = &'a ProvisionedUser>) -> String {
    people.into_iter().filter_map(|person| person.user.email.as_str().chars().next()).collect()
}

/// The users of a directory are found by each text: without regard to case, but for the two identifiers, by Unicode
/// code point, and without wildcards.
pub async fn users_are_found_by_texts(store: Arc<dyn Store>) {
    use TextOperator::{Contains, Differs, EndsWith, Equals, Sorted, StartsWith};
    use UserText::{DisplayName, ExternalId, FamilyName, FormattedName, GivenName, Id, UserName};
    let people = People::new(store).await;
    let id = |letter| people.named(letter).user.id.to_string();
    let (of_ada, of_bob) = (id('a'), id('b'));
    let upper = of_ada.to_uppercase();
    for (field, operator, value, expected) in [
        (UserName, Equals, "ADA@EXAMPLE.COM", "a"),
        (UserName, Equals, "E\u{300}VE", "e"),
        (UserName, Equals, "ada", ""),
        (UserName, Equals, "bob%1", ""),
        (UserName, Differs, "bob_1", "aez"),
        (UserName, Contains, "_", "b"),
        (UserName, Contains, "%", ""),
        (UserName, Contains, "\\", ""),
        (UserName, Contains, "", "abez"),
        (UserName, StartsWith, "BOB", "b"),
        (UserName, StartsWith, "_", ""),
        (UserName, StartsWith, "ob", ""),
        (UserName, StartsWith, "", "abez"),
        (UserName, EndsWith, "OE", "z"),
        (UserName, EndsWith, "%.com", ""),
        (UserName, EndsWith, "the whole name and more ada@example.com", ""),
        (UserName, EndsWith, "", "abez"),
        (UserName, Sorted(Order::Equal), "ZOE", "z"),
        (UserName, Sorted(Order::NotEqual), "ZOE", "abe"),
        (UserName, Sorted(Order::Greater), "BOB_1", "ez"),
        (UserName, Sorted(Order::GreaterOrEqual), "BOB_1", "bez"),
        (UserName, Sorted(Order::Less), "ZOE", "ab"),
        (UserName, Sorted(Order::LessOrEqual), "ZOE", "abz"),
        (DisplayName, Equals, "ADA STRASSE", "a"),
        (DisplayName, StartsWith, "ada str", "a"),
        (DisplayName, EndsWith, "ASSE", "a"),
        (DisplayName, Equals, "Bob", "b"),
        (DisplayName, Differs, "BOB", "aez"),
        (DisplayName, Contains, "", "ab"),
        (DisplayName, StartsWith, "", "ab"),
        (DisplayName, EndsWith, "", "ab"),
        (DisplayName, Sorted(Order::NotEqual), "bob", "a"),
        (DisplayName, Sorted(Order::Less), "B", "a"),
        (GivenName, Equals, "ADA", "a"),
        (GivenName, Contains, "O", "b"),
        (GivenName, Differs, "ada", "bez"),
        (FamilyName, StartsWith, "LOVE", "a"),
        (FamilyName, Equals, "ÆNGEL", "e"),
        (FamilyName, Sorted(Order::Greater), "Lovelace", "e"),
        (FormattedName, Contains, "100%_'\\", "a"),
        (FormattedName, Contains, "100__", ""),
        (FormattedName, StartsWith, "ADA \"X\"", "a"),
        (FormattedName, EndsWith, "🦀", "a"),
        (ExternalId, Equals, "00u1A", "a"),
        (ExternalId, Equals, "00u1a", "b"),
        (ExternalId, Equals, "00U1A", ""),
        (ExternalId, Differs, "00u1A", "bez"),
        (ExternalId, Contains, "u1", "ab"),
        (ExternalId, StartsWith, "00U", ""),
        (ExternalId, EndsWith, "a", "b"),
        (ExternalId, Sorted(Order::Greater), "00u1A", "b"),
        (Id, Equals, of_ada.as_str(), "a"),
        (Id, Equals, upper.as_str(), ""),
        (Id, Equals, "no identifier", ""),
        (Id, Differs, of_ada.as_str(), "bez"),
        (Id, Contains, "-7", "abez"),
        (Id, StartsWith, of_ada.as_str(), "a"),
        (Id, EndsWith, of_ada.as_str(), "a"),
        (Id, Sorted(Order::Greater), of_bob.as_str(), "ez"),
        // A character that some databases have not in texts.
        (UserName, Equals, "\0", ""),
        (UserName, Contains, "\0", ""),
        (UserName, Differs, "ada\0", "abez"),
        (FormattedName, StartsWith, "\0", ""),
        (ExternalId, Equals, "\0", ""),
    ] {
        let condition = text(field, operator, value);
        people.assert_found(&condition, expected).await;
        // The opposite holds for all others, also where the text is not there.
        let others: String = "abez".chars().filter(|letter| !expected.contains(*letter)).collect();
        people.assert_found(&not(condition), &others).await;
    }
    for (field, expected, others) in [
        (Id, "abez", ""),
        (ExternalId, "ab", "ez"),
        (UserName, "abez", ""),
        (DisplayName, "ab", "ez"),
        (GivenName, "ab", "ez"),
        (FamilyName, "ae", "bz"),
        (FormattedName, "a", "bez"),
    ] {
        people.assert_found(&present(field), expected).await;
        people.assert_found(&not(present(field)), others).await;
    }
}

/// The users of a directory are found by their status, and by moments to the millisecond. The last modification is that
/// of the user or of what the directory says.
pub async fn users_are_found_by_status_and_moments(store: Arc<dyn Store>) {
    use Order::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    use UserMoment::{Created, LastModified};
    let people = People::new(store).await;
    let start = people.named('a').entry.created_at;
    for (is, expected) in [(true, "az"), (false, "be")] {
        people.assert_found(&active(is), expected).await;
        people.assert_found(&not(active(!is)), expected).await;
    }
    for (field, order, millis, expected) in [
        (Created, Equal, 1_000, "b"),
        (Created, Equal, 1_001, ""),
        (Created, NotEqual, 1_000, "aez"),
        (Created, Greater, 1_000, "ez"),
        (Created, Greater, 999, "bez"),
        (Created, GreaterOrEqual, 1_000, "bez"),
        (Created, Less, 1_000, "a"),
        (Created, LessOrEqual, 1_000, "ab"),
        (Created, GreaterOrEqual, -60_000_000_000_000, "abez"),
        (LastModified, Equal, 10_000, "a"),
        (LastModified, Equal, 0, ""),
        (LastModified, Equal, 20_001, "z"),
        (LastModified, NotEqual, 20_001, "abe"),
        (LastModified, Greater, 2_000, "az"),
        (LastModified, GreaterOrEqual, 20_001, "z"),
        (LastModified, Less, 20_001, "abe"),
        (LastModified, LessOrEqual, 2_000, "be"),
    ] {
        let condition = moment(field, order, start + TimeDelta::milliseconds(millis));
        people.assert_found(&condition, expected).await;
    }
}

/// The users of a directory are found by their e-mails. One e-mail meets the whole condition.
pub async fn users_are_found_by_emails(store: Arc<dyn Store>) {
    use TextOperator::{Contains, Differs, EndsWith, Equals, Sorted, StartsWith};
    let people = People::new(store).await;
    let text =
        |field, operator, value: &str| Condition::Test(EmailTest::Text { field, operator, value: value.to_owned() });
    let value = |operator, value: &str| text(EmailField::Value, operator, value);
    let kind = |operator, value: &str| text(EmailField::Type, operator, value);
    let primary = |is| Condition::Test(EmailTest::Primary(is));
    let present = |field| Condition::Test(EmailTest::Present(field));
    for (condition, expected) in [
        (Condition::always(), "ab"),
        (Condition::Any(vec![]), ""),
        (not(Condition::always()), ""),
        (present(EmailField::Value), "ab"),
        (present(EmailField::Type), "ab"),
        (not(present(EmailField::Value)), "b"),
        (not(present(EmailField::Type)), ""),
        (value(Equals, "ADA@work.example"), "a"),
        (value(Equals, "work"), ""),
        (value(StartsWith, "ADA@H"), "a"),
        (value(EndsWith, "@HOME.example"), "ab"),
        (value(Contains, "%"), ""),
        (value(Contains, "_"), ""),
        (value(Contains, "'"), ""),
        (value(Contains, "\0"), ""),
        (value(Contains, ""), "ab"),
        (value(EndsWith, ""), "ab"),
        (value(Differs, "bob@home.example"), "ab"),
        (value(Sorted(Order::Less), "ada@i"), "a"),
        (value(Sorted(Order::GreaterOrEqual), "BOB@home.example"), "b"),
        (kind(Equals, "WORK"), "ab"),
        (kind(Equals, "HOME"), "a"),
        (kind(Differs, "work"), "ab"),
        (primary(true), "ab"),
        (primary(false), "ab"),
        (Condition::All(vec![kind(Equals, "work"), value(EndsWith, "@home.example")]), "b"),
        (Condition::All(vec![kind(Equals, "home"), value(EndsWith, "@home.example")]), "a"),
        (Condition::All(vec![kind(Equals, "other"), present(EmailField::Value)]), ""),
        (Condition::All(vec![kind(Equals, "other"), value(Differs, "x")]), "b"),
        (Condition::All(vec![kind(Equals, "other"), value(Sorted(Order::NotEqual), "x")]), ""),
        (Condition::All(vec![primary(true), kind(Equals, "work")]), "a"),
        (Condition::All(vec![primary(false), kind(Equals, "work")]), "b"),
        (Condition::All(vec![primary(false), kind(Equals, "home")]), "a"),
        (Condition::All(vec![not(primary(true)), kind(Equals, "home")]), "a"),
        (Condition::All(vec![primary(true), present(EmailField::Value)]), "a"),
        (Condition::Any(vec![kind(Equals, "other"), value(StartsWith, "ada@home")]), "ab"),
        (not(Condition::Any(vec![kind(Equals, "work"), kind(Equals, "home")])), "b"),
    ] {
        let condition = Condition::Test(UserTest::Email(condition));
        people.assert_found(&condition, expected).await;
        let others: String = "abez".chars().filter(|letter| !expected.contains(*letter)).collect();
        people.assert_found(&not(condition), &others).await;
    }
}

/// Conditions are combined as they are nested, also if there are many of them.
pub async fn conditions_are_combined(store: Arc<dyn Store>) {
    use Condition::{All, Any};
    let people = People::new(store).await;
    let named = |name: &str| text(UserText::UserName, TextOperator::Equals, name);
    let with_display_name = || present(UserText::DisplayName);
    let with_work_email = || {
        let (field, operator, value) = (EmailField::Type, TextOperator::Equals, "work".to_owned());
        Condition::Test(UserTest::Email(Condition::Test(EmailTest::Text { field, operator, value })))
    };
    let mut many: Vec<_> = (0..99).map(|number| named(&format!("nobody{number}'"))).collect();
    many.push(named("zoe"));
    let deep = |levels: usize| (0..levels).fold(active(true), |condition, _| not(condition));
    for (condition, expected) in [
        (Condition::always(), "abez"),
        (Any(vec![]), ""),
        (not(Any(vec![])), "abez"),
        (not(Condition::always()), ""),
        (All(vec![active(true), with_display_name()]), "a"),
        (All(vec![active(true), not(with_display_name())]), "z"),
        (All(vec![not(active(true)), not(present(UserText::ExternalId))]), "e"),
        (Any(vec![named("zoe"), text(UserText::ExternalId, TextOperator::Equals, "00u1a")]), "bz"),
        (not(Any(vec![named("zoe"), with_work_email()])), "e"),
        (All(vec![with_work_email(), not(active(true))]), "b"),
        (Any(vec![named("zoe"), All(vec![active(false), with_display_name()])]), "bz"),
        (All(vec![Any(vec![named("zoe"), active(false)]), with_display_name()]), "b"),
        (not(not(named("zoe"))), "z"),
        (not(All(vec![active(true), not(named("zoe"))])), "bez"),
        (Any(many.clone()), "z"),
        (not(Any(many.clone())), "abe"),
        (All(many.into_iter().map(not).collect()), "abe"),
        (deep(64), "az"),
        (deep(63), "be"),
    ] {
        people.assert_found(&condition, expected).await;
    }
}

/// The users of a directory are sorted by every field in both directions. Users that are equal in it come in the order
/// in which the directory made them, and then by identifier.
pub async fn users_are_sorted_by_every_field(store: Arc<dyn Store>) {
    use UserSortField::{Created, LastModified, Text};
    use UserText::{DisplayName, ExternalId, FamilyName, FormattedName, GivenName, Id, UserName};
    let People { world, directory, mut people } = People::new(store).await;
    let tenant = world.store.tenant(directory.tenant_id).await.unwrap().unwrap();
    // Two users with one display name and one time, which are made in the opposite order of their identifiers.
    let new = ["f@example.com", "g@example.com"].map(|email| world.new_user(&tenant, email));
    for user in new.into_iter().rev() {
        let attributes = json!({ "displayName": "BOB", "name": { "formatted": "" } });
        let entry = new_entry(&world, &directory, &user, user.email.as_str(), &attributes);
        let user = world.add(user).await;
        people.push(ProvisionedUser::new(user, enter(&world, entry).await));
    }
    for (field, ascending, descending) in [
        (Created, "abezfg", "fgzeba"),
        (LastModified, "befgaz", "zafgeb"),
        (Text(Id), "abezfg", "gfzeba"),
        (Text(ExternalId), "abezfg", "ezfgba"),
        (Text(UserName), "abfgze", "ezgfba"),
        (Text(DisplayName), "abfgez", "ezbfga"),
        (Text(GivenName), "abezfg", "ezfgba"),
        (Text(FamilyName), "aebzfg", "bzfgea"),
        (Text(FormattedName), "fgabez", "bezafg"),
    ] {
        for (order, expected) in [(SortOrder::Ascending, ascending), (SortOrder::Descending, descending)] {
            people.sort_by(|a, b| field.compare(order, a, b));
            assert_eq!(letters(&people), expected, "the model disagrees: {field:?} {order:?}");
            let (condition, sort) = (Condition::always(), (field, order));
            let found =
                world.store.provisioned_users(directory.tenant_id, directory.id, &condition, sort, 0, 200).await;
            assert_eq!(found.unwrap(), (people.clone(), 6), "{field:?} {order:?}");
        }
    }
}

/// Users are skipped and bounded after they are sorted, and all that meet the condition are counted.
pub async fn users_are_skipped_bounded_and_counted(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (here, there) = (directory(&world, &tenant, "here").await, directory(&world, &tenant, "there").await);
    let mut all = Vec::new();
    for number in 0..9 {
        all.push(provision(&world, &tenant, &here, &format!("user{number}")).await);
        provision(&world, &tenant, &there, &format!("other{number}")).await;
    }
    let page = async |condition: &Condition<UserTest>, order, first, limit| {
        let sort = (UserSortField::Text(UserText::UserName), order);
        world.store.provisioned_users(tenant.id, here.id, condition, sort, first, limit).await.unwrap()
    };
    let some = not(text(UserText::UserName, TextOperator::EndsWith, "4"));
    let few: Vec<ProvisionedUser> =
        all.iter().filter(|found| found.entry.user_name.as_str() != "user4").cloned().collect();
    for (condition, ascending) in [(Condition::always(), all), (some, few)] {
        let descending: Vec<ProvisionedUser> = ascending.iter().rev().cloned().collect();
        for (order, expected) in [(SortOrder::Ascending, &ascending), (SortOrder::Descending, &descending)] {
            let total = expected.len() as u64;
            for (number, chunk) in expected.chunks(4).chain([&[][..]]).enumerate() {
                assert_eq!(page(&condition, order, number as u64 * 4, 4).await, (chunk.to_vec(), total));
            }
            assert_eq!(page(&condition, order, 3, 2).await, (expected[3..5].to_vec(), total));
            assert_eq!(page(&condition, order, 0, 0).await, (vec![], total));
            assert_eq!(page(&condition, order, u64::MAX, 200).await, (vec![], total));
            assert_eq!(page(&condition, order, 0, u32::MAX).await, (expected.clone(), total));
        }
    }
    let none = text(UserText::UserName, TextOperator::Equals, "nobody");
    assert_eq!(page(&none, SortOrder::Ascending, 0, 200).await, (vec![], 0));
}
