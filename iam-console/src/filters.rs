//! What a list shows and in which order: its filters that are in force, each with a link without it, and the heads of
//! its columns, which sort it. Both are in the address of the list, so a link or a bookmark keeps them.

use iam_core::Error;
use iam_core::page::SortOrder;

use crate::text;
use crate::view::query;

/// A filter of a list.
pub(crate) struct Filter<'a> {
    /// Its parameters in the address. The filter is in force if they all have a value.
    fields: Vec<(&'static str, &'a str)>,
    label: &'static str,
    /// The value as a person reads it.
    shown: String,
}

impl<'a> Filter<'a> {
    pub(crate) fn of(name: &'static str, label: &'static str, value: &'a str, shown: impl Into<String>) -> Self {
        Self { fields: vec![(name, value)], label, shown: shown.into() }
    }

    /// Returns a filter whose value is shown as it is.
    pub(crate) fn typed(name: &'static str, label: &'static str, value: &'a str) -> Self {
        Self::of(name, label, value, value)
    }

    /// Returns the filter by the value of an attribute.
    pub(crate) fn attribute(key: &'a str, value: &'a str) -> Self {
        let fields = vec![("attribute", key), ("value", value)];
        Self { fields, label: text::t("attribute"), shown: format!("{key}: {value}") }
    }

    fn is_in_force(&self) -> bool {
        self.fields.iter().all(|(_, value)| !value.trim().is_empty())
    }
}

/// The filters in force, as links that remove them.
#[derive(Default)]
pub(crate) struct Chips {
    pub(crate) shown: Vec<Chip>,
    /// The address of the list without filters.
    pub(crate) none: String,
}

pub(crate) struct Chip {
    pub(crate) label: &'static str,
    pub(crate) value: String,
    /// The address of the list without this filter.
    pub(crate) without: String,
}

impl Chips {
    /// Returns the filters of the list at an address. `kept` are its other parameters, such as its order. The links
    /// lead to the first page of the list.
    pub(crate) fn of<'a>(address: &str, filters: &[Filter<'a>], kept: &[(&'a str, &'a str)]) -> Self {
        let to = |fields: &[(&str, &str)]| {
            let query = query(fields);
            if query.is_empty() { address.to_owned() } else { format!("{address}?{query}") }
        };
        let in_force: Vec<&Filter<'a>> = filters.iter().filter(|filter| filter.is_in_force()).collect();
        let chip = |removed: &&Filter<'a>| {
            let others = in_force.iter().filter(|other| other.fields != removed.fields);
            let fields: Vec<(&str, &str)> = others.flat_map(|other| &other.fields).chain(kept).copied().collect();
            Chip { label: removed.label, value: removed.shown.clone(), without: to(&fields) }
        };
        Self { shown: in_force.iter().map(chip).collect(), none: to(kept) }
    }
}

/// Returns the order of a list that its address names. `None` if it names none.
pub(crate) fn order(text: &str) -> Result<Option<SortOrder>, Error> {
    match text {
        "" => Ok(None),
        ASCENDING => Ok(Some(SortOrder::Ascending)),
        DESCENDING => Ok(Some(SortOrder::Descending)),
        _ => Err(Error::field("sortOrder", text::t("one-of-the-list"))),
    }
}

/// The names of the orders, as in the API.
const ASCENDING: &str = "asc";
const DESCENDING: &str = "desc";

/// The head of a column.
pub(crate) struct Head {
    pub(crate) label: &'static str,
    /// Where the list is sorted by this column, or the other way round if it is already. Empty for a column that does
    /// not sort.
    pub(crate) address: String,
    /// The value of `aria-sort`; empty if the list is not sorted by this column.
    pub(crate) sorted: &'static str,
}

impl Head {
    /// Returns the heads of the columns of a list, each with the name by which it sorts, or an empty one. `filters` are
    /// the parameters that stay; `by` is the name by which the list is sorted now.
    pub(crate) fn all<const N: usize>(
        address: &str,
        filters: &[(&str, &str)],
        (by, order): (&str, SortOrder),
        columns: [(&str, &'static str); N],
    ) -> [Self; N] {
        columns.map(|(name, label)| {
            if name.is_empty() {
                return Self { label, address: String::new(), sorted: "" };
            }
            let (next, sorted) = match order {
                _ if name != by => (ASCENDING, ""),
                SortOrder::Ascending => (DESCENDING, "ascending"),
                SortOrder::Descending => (ASCENDING, "descending"),
            };
            let fields = [filters, &[("sortBy", name), ("sortOrder", next)]].concat();
            Self { label, address: format!("{address}?{}", query(&fields)), sorted }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_removes_its_filter_and_keeps_the_others_and_the_order() {
        let filters = [
            Filter::typed("search", "Search", "a b"),
            Filter::of("status", "Status", "ACTIVE", "Active"),
            Filter::typed("user", "User", " "),
        ];
        let chips = Chips::of("/users", &filters, &[("sortBy", "email")]);
        let shown: Vec<(&str, &str)> = chips.shown.iter().map(|chip| (&*chip.value, &*chip.without)).collect();
        assert_eq!(shown, [("a b", "/users?status=ACTIVE&sortBy=email"), ("Active", "/users?search=a+b&sortBy=email")]);
        assert_eq!(chips.none, "/users?sortBy=email");
        let alone = Chips::of("/users", &filters[1..2], &[]);
        assert_eq!((&*alone.shown[0].without, &*alone.none), ("/users", "/users"));
    }

    #[test]
    fn the_head_of_the_present_order_turns_it_round() {
        let columns = [("email", "User"), ("status", "Status"), ("", "Above")];
        let heads = |order| Head::all("/users", &[("search", "x")], ("email", order), columns);
        for (order, sorted, next) in
            [(SortOrder::Ascending, "ascending", "desc"), (SortOrder::Descending, "descending", "asc")]
        {
            let [user, status, above] = heads(order);
            assert_eq!(user.sorted, sorted);
            assert_eq!(user.address, format!("/users?search=x&sortBy=email&sortOrder={next}"));
            assert_eq!((status.sorted, &*status.address), ("", "/users?search=x&sortBy=status&sortOrder=asc"));
            assert_eq!((above.sorted, &*above.address), ("", ""));
        }
    }

    #[test]
    fn an_unknown_order_is_refused() {
        assert_eq!(order("").unwrap(), None);
        assert_eq!(order("desc").unwrap(), Some(SortOrder::Descending));
        assert!(order("ascending").is_err());
    }
}
