//! Pages of lists (`interface.md` §2.7, §8).

use crate::validate::Fields;

/// How many items a page holds when the caller does not say.
pub const DEFAULT_LIMIT: u32 = 20;
/// How many items a page may hold at most.
pub const MAX_LIMIT: u32 = 100;

/// Which page of a list is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    page: u64,
    limit: u32,
}

impl PageRequest {
    /// Page `page` (from 1) of `limit` items (1–100).
    ///
    /// # Errors
    ///
    /// [`Error::Validation`](crate::Error::Validation) naming `page` or `limit`.
    pub fn new(page: u64, limit: u32) -> crate::Result<Self> {
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

    /// How many items the page holds at most.
    #[must_use]
    pub fn limit(self) -> u32 {
        self.limit
    }

    /// How many items come before the page.
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

pub(crate) fn check_limit(fields: &mut Fields, limit: u32) {
    if !(1..=MAX_LIMIT).contains(&limit) {
        fields.reject("limit", format!("must be between 1 and {MAX_LIMIT}"));
    }
}

/// A page of a list, with the count of the whole list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items of this page; empty past the end.
    pub items: Vec<T>,
    /// How many items the whole list has.
    pub total: u64,
    /// Which page this is.
    pub request: PageRequest,
}

impl<T> Page<T> {
    /// How many pages the whole list has.
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
    /// Smallest, earliest or never first.
    Ascending,
    /// Largest or latest first.
    #[default]
    Descending,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(total: u64, page: u64, limit: u32) -> Page<()> {
        Page { items: Vec::new(), total, request: PageRequest::new(page, limit).unwrap() }
    }

    #[test]
    fn page_numbers_at_the_edges() {
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
        let crate::Error::Validation(errors) = PageRequest::new(0, 101).unwrap_err() else { panic!() };
        assert_eq!(errors.iter().map(|e| e.field.as_str()).collect::<Vec<_>>(), ["page", "limit"]);
    }
}
