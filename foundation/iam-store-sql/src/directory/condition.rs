//! Lists of users and groups, and the conditions of both.
//!
//! A list is built at run time, because its conditions and its order vary from call to call. Only text of this folder
//! and of the stores is pushed. All values from outside are bound, except numbers.

use iam_model::clock::{Timestamp, cut};
use iam_model::directory::{Condition, Order, TextOperator};
use iam_model::id::TenantId;
use iam_model::page::SortOrder;
use sqlx::{Encode, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::integer;
use crate::store::SqlStore;

/// How a database searches the users and the groups of a directory. `u` is a user, `d` is what the directory says of
/// it, and `g` is a group.
pub trait DirectorySearch: SqlStore {
    /// The text of the identifier of a user.
    const USER_ID: &'static str;
    /// The text of the identifier of a group.
    const GROUP_ID: &'static str;
    /// The e-mails `e` of a user, each in the column `value`.
    const EMAILS: &'static str;
    /// When the user or what the directory says of it was changed last.
    const LAST_MODIFIED: &'static str;
    /// Follows a text that is sorted by Unicode code point.
    const BY_CODE_POINT: &'static str;

    /// Joins what the directory says of the users of the page, as [`push_rows`](SqlStore::push_rows) joins rows.
    fn push_entries(query: &mut QueryBuilder<Self::Database>, tenant: TenantId);
}

/// By what the column `key` of a list sorts it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SortKey {
    /// The time when the directory made the user or the group.
    Created,
    /// Another time.
    Moment,
    /// A text that may be NULL.
    Text,
}

/// A statement of a list in a tenant that is being built.
pub(super) struct Statement<S: SqlStore> {
    pub(super) tenant: TenantId,
    pub(super) query: QueryBuilder<S::Database>,
}

impl<S> Statement<S>
where
    S: DirectorySearch,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    /// Begins the statement for rows `found`, whose columns `id`, `created_at` and `key` follow.
    pub(super) fn begin(tenant: TenantId) -> Self {
        Self { tenant, query: QueryBuilder::new("WITH found AS MATERIALIZED (SELECT ") }
    }

    /// Ends the rows `found`, of which `first` are skipped, and adds the columns of the list and the page `p`.
    pub(super) fn push_page(&mut self, columns: &'static str, sort: (SortKey, SortOrder), first: u64, limit: u32) {
        self.query.push(") SELECT (SELECT count(*) FROM found) AS total,").push(columns);
        self.query.push(" FROM (SELECT f.id, f.key, f.created_at FROM found f");
        self.push_order("f", sort);
        // Not parameters; see `push_page` of the stores.
        self.query.push(" LIMIT ").push(limit).push(" OFFSET ").push(integer(first)).push(") p");
    }

    /// Adds the order of the rows under an alias.
    pub(super) fn push_order(&mut self, alias: &'static str, (key, order): (SortKey, SortOrder)) {
        self.query.push(" ORDER BY ").push(alias).push(".key");
        match (key, order) {
            (SortKey::Text, SortOrder::Ascending) => self.query.push(" ASC NULLS LAST"),
            (SortKey::Text, SortOrder::Descending) => self.query.push(" DESC NULLS FIRST"),
            _ => self.query.push(S::direction(order, false)),
        };
        if key != SortKey::Created {
            self.query.push(", ").push(alias).push(".created_at");
        }
        self.query.push(", ").push(alias).push(".id");
    }

    /// Adds a condition that all rows must meet. `alone` adds a test that stands alone, in a form for which the planner
    /// finds an index.
    pub(super) fn push_required<T>(
        &mut self,
        condition: &Condition<T>,
        alone: fn(&mut Self, &T),
        test: fn(&mut Self, &T),
    ) {
        if let Condition::All(conditions) = condition {
            return conditions.iter().for_each(|condition| self.push_required(condition, alone, test));
        }
        self.query.push(" AND ");
        match condition {
            Condition::Test(one) => alone(self, one),
            condition => self.push_condition(condition, test),
        }
    }

    /// Adds a condition that is true or false, and never NULL, like its tests.
    pub(super) fn push_condition<T>(&mut self, condition: &Condition<T>, test: fn(&mut Self, &T)) {
        match condition {
            Condition::All(conditions) => self.push_joined(conditions, " AND ", "TRUE", test),
            Condition::Any(conditions) => self.push_joined(conditions, " OR ", "FALSE", test),
            Condition::Not(condition) => {
                self.query.push("NOT ");
                self.push_condition(condition, test);
            }
            Condition::Test(one) => test(self, one),
        }
    }

    fn push_joined<T>(
        &mut self,
        conditions: &[Condition<T>],
        word: &'static str,
        without: &'static str,
        test: fn(&mut Self, &T),
    ) {
        let mut before = "(";
        for condition in conditions {
            self.query.push(before);
            self.push_condition(condition, test);
            before = word;
        }
        self.query.push(if conditions.is_empty() { without } else { ")" });
    }

    /// Adds the test that the text of an identifier equals a value. The test may be NULL, so it must stand alone.
    pub(super) fn push_equal_id(&mut self, column: &'static str, value: &str) {
        match value.parse::<Uuid>().ok().filter(|id| id.to_string() == value) {
            Some(id) => self.query.push(column).push(" = ").push_bind(id),
            None => self.query.push("FALSE"),
        };
    }

    /// Adds the test that a text equals a value. The test may be NULL, so it must stand alone.
    pub(super) fn push_equal_text(&mut self, column: &'static str, value: String) {
        if value.contains('\0') {
            self.query.push("FALSE");
        } else {
            self.query.push(column).push(" = ").push_bind(value);
        }
    }

    /// Adds a test of a text that may be NULL.
    pub(super) fn push_text_test(&mut self, column: &'static str, operator: TextOperator, value: &str) {
        if let Some((before, _)) = value.split_once('\0') {
            return self.push_unstorable_test(column, operator, before);
        }
        let query = &mut self.query;
        query.push("coalesce(");
        // Not LIKE, in which some characters of the value would have a special meaning.
        match operator {
            TextOperator::Equals => query.push(column).push(" = "),
            TextOperator::Differs => query.push(column).push(" <> "),
            TextOperator::Contains | TextOperator::StartsWith => {
                query.push(S::POSITION).push("(").push(column).push(", ")
            }
            TextOperator::EndsWith => {
                query.push("substr(").push(column).push(", length(").push(column).push(") + 1 - ");
                query.push(value.chars().count()).push(") = ")
            }
            TextOperator::Sorted(order) => query.push(column).push(S::BY_CODE_POINT).push(comparison(order)),
        };
        query.push_bind(value.to_owned()).push(match operator {
            TextOperator::Differs => ", TRUE)",
            TextOperator::Contains => ") > 0, FALSE)",
            TextOperator::StartsWith => ") = 1, FALSE)",
            TextOperator::Equals | TextOperator::EndsWith | TextOperator::Sorted(_) => ", FALSE)",
        });
    }

    /// Adds a test of a text against a value with U+0000, which no stored text has. `before` is the value up to there:
    /// no text is between both.
    fn push_unstorable_test(&mut self, column: &'static str, operator: TextOperator, before: &str) {
        match operator {
            TextOperator::Differs => drop(self.query.push("TRUE")),
            TextOperator::Equals
            | TextOperator::Contains
            | TextOperator::StartsWith
            | TextOperator::EndsWith
            | TextOperator::Sorted(Order::Equal) => drop(self.query.push("FALSE")),
            TextOperator::Sorted(Order::NotEqual) => drop(self.query.push(column).push(" IS NOT NULL")),
            TextOperator::Sorted(order) => self.push_text_test(column, TextOperator::Sorted(beyond(order)), before),
        }
    }

    /// Adds a test of a moment.
    pub(super) fn push_moment_test(&mut self, column: &'static str, order: Order, value: Timestamp) {
        // Stored moments have whole milliseconds. A value within a millisecond is between two of them.
        let is_whole = cut(value) == value;
        match order {
            Order::Equal if !is_whole => drop(self.query.push("FALSE")),
            Order::NotEqual if !is_whole => drop(self.query.push("TRUE")),
            order => {
                let order = if is_whole { order } else { beyond(order) };
                self.query.push(column).push(comparison(order)).push_bind(S::stored(cut(value)));
            }
        }
    }
}

/// Whether an operator is an equality, for which an index finds a row.
pub(super) fn is_equality(operator: TextOperator) -> bool {
    matches!(operator, TextOperator::Equals | TextOperator::Sorted(Order::Equal))
}

/// Returns the order against a stored value that is the order against a value directly after it.
fn beyond(order: Order) -> Order {
    match order {
        Order::Greater | Order::GreaterOrEqual => Order::Greater,
        Order::Less | Order::LessOrEqual => Order::LessOrEqual,
        Order::Equal | Order::NotEqual => order,
    }
}

fn comparison(order: Order) -> &'static str {
    match order {
        Order::Equal => " = ",
        Order::NotEqual => " <> ",
        Order::Greater => " > ",
        Order::GreaterOrEqual => " >= ",
        Order::Less => " < ",
        Order::LessOrEqual => " <= ",
    }
}
