//! The links between the pages of a list.

use iam_core::page::{Page, PageRequest};
use iam_core::{Error, InvalidFields};

use crate::text;

/// How many items a page of a list has.
pub(crate) const LIMIT: u32 = 25;

/// The value of a query that asks for pages of 100 items.
pub(crate) const LONG: &str = "100";

/// How many pages are read if all roles or permissions are wanted. A tenant has at most 1,000 of each by default.
pub(crate) const MAX_PAGES: u64 = 10;

/// Requests a page of a list.
pub(crate) fn request(page: Option<u64>) -> Result<PageRequest, Error> {
    PageRequest::new(page.unwrap_or(1), LIMIT).map_err(|invalid: InvalidFields| Error::from(invalid))
}

/// Requests a page of a list in which many items can be selected: it has 100 of them for a person who has asked for that.
pub(crate) fn request_of(page: Option<u64>, lines: &str) -> Result<PageRequest, Error> {
    let limit = match lines {
        "" => LIMIT,
        LONG => 100,
        _ => return Err(Error::field("lines", text::t("one-of-the-list"))),
    };
    PageRequest::new(page.unwrap_or(1), limit).map_err(|invalid: InvalidFields| Error::from(invalid))
}

/// Whether a person can ask for longer pages of a list with so many items.
pub(crate) fn can_be_longer(total: u64, lines: &str) -> bool {
    lines.is_empty() && total > u64::from(LIMIT)
}

/// Returns a page of a list that was read as a whole.
pub(crate) fn page<T>(all: Vec<T>, request: PageRequest) -> Page<T> {
    let total = all.len().try_into().unwrap_or(u64::MAX);
    let (before, limit) = (request.offset().try_into().unwrap_or(usize::MAX), request.limit() as usize);
    Page { items: all.into_iter().skip(before).take(limit).collect(), total, request }
}

/// The page of a list, and the addresses of those before and after it.
#[derive(Clone, Debug)]
pub(crate) struct Pages {
    pub(crate) number: u64,
    pub(crate) total: u64,
    pub(crate) previous: Option<String>,
    pub(crate) next: Option<String>,
}

impl Pages {
    pub(crate) fn of<T>(page: &Page<T>, address: impl Fn(u64) -> String) -> Self {
        let number = page.request.page();
        Self {
            number,
            total: page.total_pages(),
            previous: page.has_previous().then(|| address(number.saturating_sub(1))),
            next: page.has_next().then(|| address(number.saturating_add(1))),
        }
    }

    pub(crate) fn are_several(&self) -> bool {
        self.previous.is_some() || self.next.is_some()
    }
}
