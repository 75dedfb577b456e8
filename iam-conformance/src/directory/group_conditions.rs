use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::clock::Timestamp;
use iam_model::directory::{
    Condition, Directory, DirectoryGroup, GroupMoment, GroupSortField, GroupTest, GroupText, Order, TextOperator,
};
use iam_model::id::UserId;
use iam_model::page::SortOrder;
use iam_model::store::Store;

use super::{add_group, directory, find_groups, new_group, not, provision};
use crate::world::World;

fn text(field: GroupText, operator: TextOperator, value: &str) -> Condition<GroupTest> {
    Condition::Test(GroupTest::Text { field, operator, value: value.to_owned() })
}

fn present(field: GroupText) -> Condition<GroupTest> {
    Condition::Test(GroupTest::Present(field))
}

fn moment(field: GroupMoment, order: Order, value: Timestamp) -> Condition<GroupTest> {
    Condition::Test(GroupTest::Moment { field, order, value })
}

fn member(id: impl ToString) -> Condition<GroupTest> {
    Condition::Test(GroupTest::Member(id.to_string()))
}

fn has_members() -> Condition<GroupTest> {
    Condition::Test(GroupTest::HasMembers)
}

/// A directory with four groups, each with a letter: `a`, `b`, `e` and `z`, in the order in which the directory made
/// them. Of its users, `ada` is a member of `a`, and `bob` of `a` and `e`. A group of another directory, with the user
/// `zoe` of that one, is like `a`.
struct Groups {
    world: World,
    directory: Directory,
    groups: Vec<(char, DirectoryGroup, Vec<UserId>)>,
    ada: UserId,
    bob: UserId,
    zoe: UserId,
}

impl Groups {
    async fn new(store: Arc<dyn Store>) -> Self {
        let world = World::new(store);
        let tenant = world.tenant("acme").await;
        let (here, there) = (directory(&world, &tenant, "here").await, directory(&world, &tenant, "there").await);
        let [ada, bob, zoe] = [
            provision(&world, &tenant, &here, "ada").await.user.id,
            provision(&world, &tenant, &here, "bob").await.user.id,
            provision(&world, &tenant, &there, "zoe").await.user.id,
        ];
        let of_ada = "Ada \"x\" Straße 100%_'\\ 🦀";
        let mut groups = Vec::new();
        for (letter, name, external_id, members, age) in [
            ('a', of_ada, Some("00g1A"), vec![ada, bob], TimeDelta::seconds(10)),
            ('b', "BOB_1", Some("00g1a"), vec![], TimeDelta::zero()),
            ('e', "ève", None, vec![bob], TimeDelta::zero()),
            ('z', "zoe", None, vec![], TimeDelta::milliseconds(17_001)),
        ] {
            let external_id = external_id.map(|id| id.parse().unwrap());
            let updated_at = world.now() + age;
            let group = DirectoryGroup { external_id, updated_at, ..new_group(&world, &here, name) };
            groups.push((letter, add_group(&world, group, &members).await, members));
            world.tick();
        }
        let like_a =
            DirectoryGroup { external_id: Some("00g1A".parse().unwrap()), ..new_group(&world, &there, of_ada) };
        add_group(&world, like_a, &[zoe]).await;
        Self { world, directory: here, groups, ada, bob, zoe }
    }

    fn named(&self, letter: char) -> &DirectoryGroup {
        self.groups.iter().find(|(of, ..)| *of == letter).map(|(_, group, _)| group).unwrap()
    }

    /// The letters of these groups.
    fn letters<'a>(&self, groups: impl IntoIterator<Item = &'a DirectoryGroup>) -> String {
        let letter = |group: &DirectoryGroup| {
            self.groups.iter().find(|(_, of, _)| of.id == group.id).map_or('?', |(of, ..)| *of)
        };
        groups.into_iter().map(letter).collect()
    }

    /// Fails unless exactly the expected groups meet a condition.
    async fn assert_found(&self, condition: &Condition<GroupTest>, expected: &str) {
        let meets = |(_, group, members): &&(char, DirectoryGroup, Vec<UserId>)| {
            condition.holds(&|test: &GroupTest| test.passes(group, |user| members.contains(&user)))
        };
        let by_model: Vec<&DirectoryGroup> = self.groups.iter().filter(meets).map(|(_, group, _)| group).collect();
        assert_eq!(self.letters(by_model.iter().copied()), expected, "the model disagrees: {condition:?}");
        let found = find_groups(&self.world, &self.directory, condition).await;
        assert_eq!(self.letters(&found), expected, "{condition:?}");
        assert!(found.iter().eq(by_model), "{condition:?}");
    }

    /// Fails unless exactly the expected groups meet a condition, and all others its opposite.
    async fn assert_divided(&self, condition: Condition<GroupTest>, expected: &str) {
        self.assert_found(&condition, expected).await;
        let others: String = "abez".chars().filter(|letter| !expected.contains(*letter)).collect();
        self.assert_found(&not(condition), &others).await;
    }
}

/// The groups of a directory are found by each text: names without regard to case, the two identifiers letter by
/// letter. Texts are compared by Unicode code point, and without wildcards.
pub async fn groups_are_found_by_texts(store: Arc<dyn Store>) {
    use GroupText::{DisplayName, ExternalId, Id};
    use TextOperator::{Contains, Differs, EndsWith, Equals, Sorted, StartsWith};
    let groups = Groups::new(store).await;
    let id = |letter| groups.named(letter).id.to_string();
    let (of_ada, of_bob) = (id('a'), id('b'));
    let upper = of_ada.to_uppercase();
    for (field, operator, value, expected) in [
        (DisplayName, Equals, "ADA \"X\" STRASSE 100%_'\\ 🦀", "a"),
        (DisplayName, Equals, "E\u{300}VE", "e"),
        (DisplayName, Equals, "ada", ""),
        (DisplayName, Equals, "bob%1", ""),
        (DisplayName, Differs, "bob_1", "aez"),
        (DisplayName, Contains, "STRASSE", "a"),
        (DisplayName, Contains, "_", "ab"),
        (DisplayName, Contains, "%", "a"),
        (DisplayName, Contains, "100%_'\\", "a"),
        (DisplayName, Contains, "100__", ""),
        (DisplayName, Contains, "", "abez"),
        (DisplayName, StartsWith, "ADA \"X\"", "a"),
        (DisplayName, StartsWith, "BOB", "b"),
        (DisplayName, StartsWith, "_", ""),
        (DisplayName, StartsWith, "ob", ""),
        (DisplayName, StartsWith, "", "abez"),
        (DisplayName, EndsWith, "OE", "z"),
        (DisplayName, EndsWith, "🦀", "a"),
        (DisplayName, EndsWith, "%🦀", ""),
        (DisplayName, EndsWith, "the whole name and more than all the others have: zoe", ""),
        (DisplayName, EndsWith, "", "abez"),
        (DisplayName, Sorted(Order::Equal), "ZOE", "z"),
        (DisplayName, Sorted(Order::NotEqual), "ZOE", "abe"),
        (DisplayName, Sorted(Order::Greater), "BOB_1", "ez"),
        (DisplayName, Sorted(Order::GreaterOrEqual), "BOB_1", "bez"),
        (DisplayName, Sorted(Order::Less), "ZOE", "ab"),
        (DisplayName, Sorted(Order::LessOrEqual), "ZOE", "abz"),
        (ExternalId, Equals, "00g1A", "a"),
        (ExternalId, Equals, "00g1a", "b"),
        (ExternalId, Equals, "00G1A", ""),
        (ExternalId, Differs, "00g1A", "bez"),
        (ExternalId, Contains, "g1", "ab"),
        (ExternalId, Contains, "", "ab"),
        (ExternalId, StartsWith, "00G", ""),
        (ExternalId, EndsWith, "a", "b"),
        (ExternalId, Sorted(Order::NotEqual), "00g1A", "b"),
        (ExternalId, Sorted(Order::Greater), "00g1A", "b"),
        (ExternalId, Sorted(Order::LessOrEqual), "00g1a", "ab"),
        (Id, Equals, of_ada.as_str(), "a"),
        (Id, Equals, upper.as_str(), ""),
        (Id, Equals, "no identifier", ""),
        (Id, Differs, of_ada.as_str(), "bez"),
        (Id, Contains, "-7", "abez"),
        (Id, StartsWith, of_ada.as_str(), "a"),
        (Id, EndsWith, of_ada.as_str(), "a"),
        (Id, Sorted(Order::Greater), of_bob.as_str(), "ez"),
        // A character that some databases have not in texts.
        (DisplayName, Equals, "\0", ""),
        (DisplayName, Contains, "\0", ""),
        (DisplayName, Differs, "zoe\0", "abez"),
        (DisplayName, StartsWith, "\0", ""),
        (DisplayName, Sorted(Order::GreaterOrEqual), "bob_1\0", "ez"),
        (DisplayName, Sorted(Order::Less), "bob_1\0", "ab"),
        (ExternalId, Equals, "\0", ""),
    ] {
        // The opposite holds for all others, also where the text is not there.
        groups.assert_divided(text(field, operator, value), expected).await;
    }
    for (field, expected) in [(Id, "abez"), (ExternalId, "ab"), (DisplayName, "abez")] {
        groups.assert_divided(present(field), expected).await;
    }
}

/// The groups of a directory are found by moments to the millisecond.
pub async fn groups_are_found_by_moments(store: Arc<dyn Store>) {
    use GroupMoment::{Created, LastModified};
    use Order::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let groups = Groups::new(store).await;
    let start = groups.named('a').created_at;
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
        groups.assert_divided(condition, expected).await;
    }
}

/// The groups of a directory are found by a member, and by whether they have one. A text that is no identifier is that
/// of no member.
pub async fn groups_are_found_by_members(store: Arc<dyn Store>) {
    let groups = Groups::new(store).await;
    let (of_ada, group) = (groups.ada.to_string(), groups.named('a').id);
    for (condition, expected) in [
        (member(groups.ada), "a"),
        (member(groups.bob), "ae"),
        (member(groups.zoe), ""),
        (member(of_ada.to_uppercase()), "a"),
        (member(of_ada.replace('-', "")), ""),
        (member(format!("{of_ada} ")), ""),
        (member(group), ""),
        (member(groups.world.id::<UserId>()), ""),
        (member("ada"), ""),
        (member("%"), ""),
        (member("\0"), ""),
        (member(""), ""),
        (has_members(), "ae"),
    ] {
        groups.assert_divided(condition, expected).await;
    }
}

/// Conditions of groups are combined as they are nested, also if there are many of them.
pub async fn conditions_of_groups_are_combined(store: Arc<dyn Store>) {
    use Condition::{All, Any};
    let groups = Groups::new(store).await;
    let named = |name: &str| text(GroupText::DisplayName, TextOperator::Equals, name);
    let external = || present(GroupText::ExternalId);
    let (ada, bob) = (|| member(groups.ada), || member(groups.bob));
    let mut many: Vec<_> = (0..99).map(|number| named(&format!("none{number}'"))).collect();
    many.push(named("zoe"));
    let deep = |levels: usize| (0..levels).fold(bob(), |condition, _| not(condition));
    for (condition, expected) in [
        (Condition::always(), "abez"),
        (Any(vec![]), ""),
        (not(Any(vec![])), "abez"),
        (not(Condition::always()), ""),
        (All(vec![ada(), bob()]), "a"),
        (All(vec![bob(), not(ada())]), "e"),
        (All(vec![external(), not(has_members())]), "b"),
        (All(vec![not(bob()), not(external())]), "z"),
        (Any(vec![named("zoe"), text(GroupText::ExternalId, TextOperator::Equals, "00g1a")]), "bz"),
        (not(Any(vec![named("zoe"), ada()])), "be"),
        (Any(vec![named("zoe"), All(vec![bob(), external()])]), "az"),
        (All(vec![Any(vec![named("zoe"), named("bob_1")]), external()]), "b"),
        (not(not(named("zoe"))), "z"),
        (not(All(vec![bob(), not(ada())])), "abz"),
        (Any(many.clone()), "z"),
        (not(Any(many.clone())), "abe"),
        (All(many.into_iter().map(not).collect()), "abe"),
        (deep(64), "ae"),
        (deep(63), "bz"),
    ] {
        groups.assert_found(&condition, expected).await;
    }
}

/// The groups of a directory are sorted by every field in both directions. Groups that are equal in it come in the
/// order in which the directory made them, and then by identifier.
pub async fn groups_are_sorted_by_every_field(store: Arc<dyn Store>) {
    use GroupSortField::{Created, LastModified, Text};
    use GroupText::{DisplayName, ExternalId, Id};
    let mut groups = Groups::new(store).await;
    // Two groups with one external identifier and one time, which are made in the opposite order of their identifiers.
    let new = [('f', "Faa"), ('g', "gaa")].map(|(letter, name)| {
        let external_id = Some("00g1B".parse().unwrap());
        (letter, DirectoryGroup { external_id, ..new_group(&groups.world, &groups.directory, name) })
    });
    for (letter, group) in new.into_iter().rev() {
        let group = add_group(&groups.world, group, &[]).await;
        groups.groups.push((letter, group, vec![]));
    }
    let mut sorted: Vec<DirectoryGroup> = groups.groups.iter().map(|(_, group, _)| group.clone()).collect();
    for (field, ascending, descending) in [
        (Created, "abezfg", "fgzeba"),
        (LastModified, "befgaz", "zafgeb"),
        (Text(Id), "abezfg", "gfzeba"),
        (Text(ExternalId), "afgbez", "ezbfga"),
        (Text(DisplayName), "abfgze", "ezgfba"),
    ] {
        for (order, expected) in [(SortOrder::Ascending, ascending), (SortOrder::Descending, descending)] {
            sorted.sort_by(|a, b| field.compare(order, a, b));
            assert_eq!(groups.letters(&sorted), expected, "the model disagrees: {field:?} {order:?}");
            let (condition, sort) = (Condition::always(), (field, order));
            let Directory { id, tenant_id, .. } = groups.directory;
            let found = groups.world.store.directory_groups(tenant_id, id, &condition, sort, 0, 200).await;
            assert_eq!(found.unwrap(), (sorted.clone(), 6), "{field:?} {order:?}");
        }
    }
}

/// Groups are skipped and bounded after they are sorted, and all that meet the condition are counted.
pub async fn groups_are_skipped_bounded_and_counted(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (here, there) = (directory(&world, &tenant, "here").await, directory(&world, &tenant, "there").await);
    let mut all = Vec::new();
    for number in 0..9 {
        all.push(add_group(&world, new_group(&world, &here, &format!("group{number}")), &[]).await);
        add_group(&world, new_group(&world, &there, &format!("other{number}")), &[]).await;
    }
    let page = async |condition: &Condition<GroupTest>, order, first, limit| {
        let sort = (GroupSortField::Text(GroupText::DisplayName), order);
        world.store.directory_groups(tenant.id, here.id, condition, sort, first, limit).await.unwrap()
    };
    let some = not(text(GroupText::DisplayName, TextOperator::EndsWith, "4"));
    let few: Vec<DirectoryGroup> =
        all.iter().filter(|group| group.display_name.as_str() != "group4").cloned().collect();
    for (condition, ascending) in [(Condition::always(), all), (some, few)] {
        let descending: Vec<DirectoryGroup> = ascending.iter().rev().cloned().collect();
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
    let none = text(GroupText::DisplayName, TextOperator::Equals, "none");
    assert_eq!(page(&none, SortOrder::Ascending, 0, 200).await, (vec![], 0));
}
