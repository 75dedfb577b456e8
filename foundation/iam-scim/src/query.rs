//! Queries (RFC 7644, section 3.4.2): the parameters of a list, and the body of a search (section 3.4.3).

use iam_model::directory::{Condition, GroupSortField, GroupTest, UserSortField, UserTest};
use iam_model::page::SortOrder;
use serde_json::Value;

use crate::error::ScimError;
use crate::filter::{group_filter, group_sort, shared_filter, user_filter, user_sort};
use crate::projection::Projection;
use crate::value;

/// The number of resources of a page, if the request does not say.
const DEFAULT_COUNT: i64 = 100;

/// The maximum number of resources of a page.
pub(crate) const MAX_COUNT: u32 = 200;

const ATTRIBUTES: &str = "attributes";
const EXCLUDED: &str = "excludedAttributes";

/// A query.
#[derive(Clone, Debug, PartialEq)]
pub struct ListQuery<T, F> {
    /// Which resources are meant.
    pub condition: Condition<T>,
    /// The position of the first one, from 1.
    pub start_index: u64,
    /// The maximum number of resources, at most 200. With 0, only the total is answered.
    pub count: u32,
    /// How they are sorted.
    pub sort: (F, SortOrder),
    /// What is shown of them.
    pub projection: Projection,
}

/// A query of users.
pub type UserQuery = ListQuery<UserTest, UserSortField>;

/// A query of groups.
pub type GroupQuery = ListQuery<GroupTest, GroupSortField>;

/// The parameters of a query, which are the same for users and for groups.
#[derive(Debug, Default)]
pub struct Parameters {
    filter: Option<String>,
    start_index: Option<i64>,
    count: Option<i64>,
    sort_by: Option<String>,
    sort_order: Option<String>,
    attributes: Vec<String>,
    excluded: Vec<String>,
}

impl Parameters {
    /// Reads the parameters of a URL, decoded. Unknown ones are ignored.
    ///
    /// # Errors
    ///
    /// 400 `invalidFilter` for a second filter, and `invalidValue` for a position or a count that is no integer.
    pub fn from_pairs<N: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, ScimError> {
        let mut parameters = Self::default();
        for (name, value) in pairs {
            parameters.read(name.as_ref(), value.as_ref())?;
        }
        Ok(parameters)
    }

    /// Reads the body of a search.
    ///
    /// # Errors
    ///
    /// As [`from_pairs`](Self::from_pairs), also for a value of another type, and 400 `invalidSyntax` if the body is no
    /// object.
    pub fn from_search(body: &Value) -> Result<Self, ScimError> {
        let mut parameters = Self::default();
        for (name, value) in value::body(body)? {
            match value {
                Value::Null => {}
                Value::String(text) => parameters.read(name, text)?,
                Value::Number(number) => parameters.read(name, &number.to_string())?,
                Value::Array(names) if is_projection(name) => {
                    names.iter().filter_map(Value::as_str).for_each(|one| parameters.read_projection(name, one));
                }
                Value::Array(_) | Value::Bool(_) | Value::Object(_) => refuse(name)?,
            }
        }
        Ok(parameters)
    }

    /// Returns the query of users.
    ///
    /// # Errors
    ///
    /// As [`user_filter`], and 400 `invalidValue` for the other parameters.
    pub fn of_users(&self) -> Result<UserQuery, ScimError> {
        let condition = self.filter.as_deref().map_or(Ok(Condition::always()), user_filter)?;
        self.query(condition, self.sort(user_sort, |_| false)?)
    }

    /// Returns the query of groups.
    ///
    /// # Errors
    ///
    /// As [`group_filter`], and 400 `invalidValue` for the other parameters.
    pub fn of_groups(&self) -> Result<GroupQuery, ScimError> {
        let condition = self.filter.as_deref().map_or(Ok(Condition::always()), group_filter)?;
        self.query(condition, self.sort(group_sort, |_| false)?)
    }

    /// Returns the query of all resources, as one of users and one of groups. Attributes that only one kind has are
    /// absent in the other.
    ///
    /// # Errors
    ///
    /// As [`of_users`](Self::of_users).
    pub fn of_all(&self) -> Result<(UserQuery, GroupQuery), ScimError> {
        let always = Ok((Condition::always(), Condition::always()));
        let (of_users, of_groups) = self.filter.as_deref().map_or(always, shared_filter)?;
        let users = self.sort(user_sort, |name| group_sort(name).is_some())?;
        let groups = self.sort(group_sort, |name| user_sort(name).is_some())?;
        Ok((self.query(of_users, users)?, self.query(of_groups, groups)?))
    }

    fn read(&mut self, name: &str, value: &str) -> Result<(), ScimError> {
        match name.to_ascii_lowercase().as_str() {
            // The second one must not replace the first one: a filter that is not applied shows too much.
            "filter" if self.filter.is_some() => return Err(ScimError::invalid_filter("filter is given twice")),
            "filter" => self.filter = Some(value.to_owned()),
            "startindex" => self.start_index = Some(integer("startIndex", value)?),
            "count" => self.count = Some(integer("count", value)?),
            "sortby" => self.sort_by = Some(value.trim().to_owned()).filter(|name| !name.is_empty()),
            "sortorder" => self.sort_order = Some(value.trim().to_owned()).filter(|order| !order.is_empty()),
            _ => self.read_projection(name, value),
        }
        Ok(())
    }

    fn read_projection(&mut self, name: &str, value: &str) {
        let names = value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        if name.eq_ignore_ascii_case(ATTRIBUTES) {
            self.attributes.extend(names);
        } else if name.eq_ignore_ascii_case(EXCLUDED) {
            self.excluded.extend(names);
        }
    }

    /// Returns how resources are sorted. What only another kind of them has does not sort these.
    fn sort<F: Default>(
        &self,
        field: fn(&str) -> Option<F>,
        is_of_another: impl Fn(&str) -> bool,
    ) -> Result<(F, SortOrder), ScimError> {
        let order = match self.sort_order.as_deref() {
            None => SortOrder::Ascending,
            Some(order) if order.eq_ignore_ascii_case("ascending") => SortOrder::Ascending,
            Some(order) if order.eq_ignore_ascii_case("descending") => SortOrder::Descending,
            Some(_) => return Err(ScimError::invalid_value("sortOrder must be ascending or descending")),
        };
        let Some(name) = self.sort_by.as_deref() else { return Ok((F::default(), SortOrder::Ascending)) };
        match field(name) {
            Some(field) => Ok((field, order)),
            None if is_of_another(name) => Ok((F::default(), SortOrder::Ascending)),
            None => Err(ScimError::invalid_value("sortBy names no attribute by which resources are sorted")),
        }
    }

    fn projection(&self) -> Result<Projection, ScimError> {
        Projection::new(&self.attributes, &self.excluded)
    }

    fn query<T, F>(&self, condition: Condition<T>, sort: (F, SortOrder)) -> Result<ListQuery<T, F>, ScimError> {
        let count = self.count.unwrap_or(DEFAULT_COUNT).clamp(0, i64::from(MAX_COUNT));
        Ok(ListQuery {
            condition,
            start_index: self.start_index.and_then(|index| u64::try_from(index).ok()).unwrap_or(1).max(1),
            count: u32::try_from(count).unwrap_or(MAX_COUNT),
            sort,
            projection: self.projection()?,
        })
    }
}

/// Reads which attributes of one resource are shown, from the parameters of its URL.
///
/// # Errors
///
/// 400 `invalidValue` for `attributes` beside `excludedAttributes`.
pub fn projection<N: AsRef<str>, V: AsRef<str>>(
    pairs: impl IntoIterator<Item = (N, V)>,
) -> Result<Projection, ScimError> {
    let mut parameters = Parameters::default();
    for (name, value) in pairs {
        parameters.read_projection(name.as_ref(), value.as_ref());
    }
    parameters.projection()
}

fn integer(name: &str, text: &str) -> Result<i64, ScimError> {
    text.trim().parse().map_err(|_| ScimError::invalid_value(format!("{name} must be an integer")))
}

fn is_projection(name: &str) -> bool {
    name.eq_ignore_ascii_case(ATTRIBUTES) || name.eq_ignore_ascii_case(EXCLUDED)
}

/// Fails for a parameter that cannot have such a value. Unknown parameters can have any.
fn refuse(name: &str) -> Result<(), ScimError> {
    let names = ["filter", "startIndex", "count", "sortBy", "sortOrder", ATTRIBUTES, EXCLUDED];
    match names.into_iter().find(|known| known.eq_ignore_ascii_case(name)) {
        Some("filter") => Err(ScimError::invalid_filter("filter must be a text")),
        Some(known) => Err(ScimError::invalid_value(format!("{known} has a value of another type"))),
        None => Ok(()),
    }
}
