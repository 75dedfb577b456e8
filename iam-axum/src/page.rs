//! The collection envelope (`docs/http-api.md#lists`).

use std::str::FromStr;

use iam_core::page::{DEFAULT_LIMIT, Page, PageRequest, SortOrder};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::extract::Params;
use crate::problem::Problem;

/// A page of a collection.
#[derive(Serialize, ToSchema)]
pub(crate) struct Collection<T> {
    /// The items of this page; empty past the end.
    data: Vec<T>,
    pagination: Pagination,
}

/// The position of a page in the whole collection.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pagination {
    /// How many items the whole collection has.
    total: u64,
    /// The number of this page, from 1.
    page: u64,
    /// How many items a page holds at most.
    limit: u32,
    /// How many pages there are.
    total_pages: u64,
    /// Whether a later page has items.
    has_next: bool,
    /// Whether there is an earlier page.
    has_prev: bool,
}

impl<T> Collection<T> {
    pub(crate) fn of<D>(page: Page<D>) -> Self
    where
        T: From<D>,
    {
        let pagination = Pagination {
            total: page.total,
            page: page.request.page(),
            limit: page.request.limit(),
            total_pages: page.total_pages(),
            has_next: page.has_next(),
            has_prev: page.has_previous(),
        };
        Self { data: page.items.into_iter().map(T::from).collect(), pagination }
    }
}

/// A collection without pages.
#[derive(Serialize, ToSchema)]
pub(crate) struct List<T> {
    /// All items.
    pub(crate) data: Vec<T>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase", default = "desc")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum SortOrderDto {
    Asc,
    Desc,
}

pub(crate) fn sort_order(text: &str) -> Result<SortOrder, String> {
    match text {
        "asc" => Ok(SortOrder::Ascending),
        "desc" => Ok(SortOrder::Descending),
        _ => Err("must be one of asc, desc".to_owned()),
    }
}

/// Which page of a list to show.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// The number of the page, from 1.
    #[param(value_type = Option<u64>, format = "uint64", minimum = 1, maximum = 18446744073709551615_u64, default = 1)]
    page: Option<String>,
    /// How many items a page holds at most.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100, default = 20)]
    limit: Option<String>,
}

impl PageQuery {
    /// Returns the requested page, for a list without other parameters.
    pub(crate) fn request(&self) -> Result<PageRequest, Problem> {
        let mut params = Params::default();
        let page = self.request_among(&mut params);
        params.finish()?;
        Ok(page)
    }

    /// Returns the requested page. `params` collects the errors, together with those of the other parameters.
    pub(crate) fn request_among(&self, params: &mut Params) -> PageRequest {
        page_request(params, self.page.as_deref(), self.limit.as_deref())
    }
}

/// Returns the page that these texts request. `params` collects the errors, together with those of the other
/// parameters.
pub(crate) fn page_request(params: &mut Params, page: Option<&str>, limit: Option<&str>) -> PageRequest {
    let (given_page, given_limit) = (number::<u64>(params, "page", page), number::<u32>(params, "limit", limit));
    if given_page.is_none() && page.is_some() || given_limit.is_none() && limit.is_some() {
        return PageRequest::default();
    }
    let request = PageRequest::new(given_page.unwrap_or(1), given_limit.unwrap_or(DEFAULT_LIMIT));
    params.check(request).unwrap_or_default()
}

/// Parses a whole number that is not negative.
pub(crate) fn number<T: FromStr>(params: &mut Params, name: &str, text: Option<&str>) -> Option<T> {
    params.parse_with(name, text, |text| text.parse().map_err(|_| "must be a whole number".to_owned()))
}
