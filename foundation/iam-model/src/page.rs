//! Pages of lists (`docs/http-api.md#lists`).

use std::cmp::Ordering;

use crate::validate::{Fields, InvalidFields};

/// The number of items of a page if the caller does not choose one.
pub const DEFAULT_LIMIT: u32 = 20;

/// The maximum number of items of a page.
pub const MAX_LIMIT: u32 = 100;

/// A request for a page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    page: u64,
    limit: u32,
}

impl PageRequest {
    /// Requests page `page` (from 1) of `limit` items (1–100).
    ///
    /// # Errors
    ///
    /// [`InvalidFields`] that name `page` or `limit`.
    pub fn new(page: u64, limit: u32) -> Result<Self, InvalidFields> {
        let mut fields = Fields::default();
        if page < 1 {
            fields.reject("page", "must be at least 1");
        }
        check_limit(&mut fields, limit);
        fields.finish()?;
        Ok(Self { page, limit })
    }

    /// The page's number, from 1.
    #[must_use]
    pub fn page(self) -> u64 {
        self.page
    }

    /// The maximum number of items of the page.
    #[must_use]
    pub fn limit(self) -> u32 {
        self.limit
    }

    /// The number of items before the page.
    #[must_use]
    pub fn offset(self) -> u64 {
        (self.page - 1).saturating_mul(u64::from(self.limit))
    }
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { page: 1, limit: DEFAULT_LIMIT }
    }
}

/// Adds an error if the limit of a page is out of bounds.
pub fn check_limit(fields: &mut Fields, limit: u32) {
    if !(1..=MAX_LIMIT).contains(&limit) {
        fields.reject("limit", format!("must be between 1 and {MAX_LIMIT}"));
    }
}

/// A page of a list, with the count of the whole list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items of this page; empty past the end.
    pub items: Vec<T>,
    /// The number of items of the whole list.
    pub total: u64,
    /// The request for this page.
    pub request: PageRequest,
}

impl<T> Page<T> {
    /// Returns the number of pages of the whole list.
    #[must_use]
    pub fn total_pages(&self) -> u64 {
        self.total.div_ceil(u64::from(self.request.limit))
    }

    /// Whether a later page has items.
    #[must_use]
    pub fn has_next(&self) -> bool {
        self.request.page < self.total_pages()
    }

    /// Whether an earlier page exists.
    #[must_use]
    pub fn has_previous(&self) -> bool {
        self.request.page > 1
    }
}

/// The direction of a sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortOrder {
    /// Smallest or earliest first. A missing moment (a user that never logged in) comes before all moments.
    Ascending,
    /// Largest or latest first. A missing moment comes after all moments.
    #[default]
    Descending,
}

impl SortOrder {
    /// Returns how two values compare in this order. `ascending` is how they compare in ascending order.
    #[must_use]
    pub fn directed(self, ascending: Ordering) -> Ordering {
        match self {
            Self::Ascending => ascending,
            Self::Descending => ascending.reverse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(total: u64, page: u64, limit: u32) -> Page<()> {
        Page { items: Vec::new(), total, request: PageRequest::new(page, limit).unwrap() }
    }

    #[test]
    fn page_counts_are_right_at_the_edges() {
        assert_eq!(page_of(0, 1, 20).total_pages(), 0);
        assert!(!page_of(0, 1, 20).has_next());
        assert_eq!(page_of(40, 2, 20).total_pages(), 2);
        assert!(!page_of(40, 2, 20).has_next());
        assert!(page_of(41, 2, 20).has_next());
        assert!(page_of(5, 9, 20).has_previous());
        assert_eq!(PageRequest::new(u64::MAX, 100).unwrap().offset(), u64::MAX);
    }

    #[test]
    fn page_and_limit_out_of_bounds_are_both_named() {
        let InvalidFields(errors) = PageRequest::new(0, 101).unwrap_err();
        assert_eq!(errors.iter().map(|e| e.field.as_str()).collect::<Vec<_>>(), ["page", "limit"]);
    }
}
