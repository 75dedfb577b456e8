//! Lists, and how to read all of their pages.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::call::Request;
use crate::error::{Error, Result};
use crate::models::{AuditEntry, AuditLog, Pagination};

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Collection<T> {
    /// The items of this page.
    pub data: Vec<T>,
    /// The position of this page in the collection.
    pub pagination: Pagination,
}

/// A list without pages.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct List<T> {
    /// The items.
    pub data: Vec<T>,
}

/// An answer that can have a next page.
pub trait Page: DeserializeOwned + Send + sealed::Sealed + 'static {
    /// What the page lists.
    type Item: Send + 'static;

    /// The items of the page.
    fn into_items(self) -> Vec<Self::Item>;

    /// The parameter of the query that gives the next page, with its value. `number` is that of this page.
    #[doc(hidden)]
    fn next(&self, number: u64) -> Option<(&'static str, String)>;
}

mod sealed {
    /// Later versions may add methods to `Page`.
    pub trait Sealed {}
    impl<T> Sealed for super::Collection<T> {}
    impl Sealed for super::AuditLog {}
}

impl<T: DeserializeOwned + Send + 'static> Page for Collection<T> {
    type Item = T;

    fn into_items(self) -> Vec<T> {
        self.data
    }

    fn next(&self, number: u64) -> Option<(&'static str, String)> {
        self.pagination.has_next.then(|| ("page", number.saturating_add(1).to_string()))
    }
}

impl Page for AuditLog {
    type Item = AuditEntry;

    fn into_items(self) -> Vec<AuditEntry> {
        self.data
    }

    fn next(&self, _: u64) -> Option<(&'static str, String)> {
        Some(("cursor", self.pagination.next_cursor.clone()?))
    }
}

impl<P: Page> Request<P> {
    /// Reads this page and all pages after it, each when it is asked for.
    ///
    /// ```no_run
    /// use iam_client::Client;
    /// use iam_client::models::ListUsers;
    ///
    /// # async fn example(client: &Client) -> iam_client::Result<()> {
    /// let mut pages = client.list_users(&ListUsers { limit: Some(100), ..Default::default() }).pages();
    /// while let Some(page) = pages.next().await {
    ///     for user in page?.data {
    ///         println!("{:?}", user.email);
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn pages(self) -> Items<P> {
        let Self { client, call, .. } = self;
        let first = call.query.iter().find(|(name, _)| name == "page").and_then(|(_, value)| value.parse().ok());
        let state = Some((call, first.unwrap_or(1)));
        let pages = stream::try_unfold(state, move |state| {
            let client = client.clone();
            async move {
                let Some((call, number)) = state else { return Ok(None) };
                let page: P = client.send(call.clone()).await?;
                let next = match page.next(number) {
                    // A server that always names the same page would be read without an end.
                    Some((name, value)) if call.query.iter().any(|(other, same)| other == name && *same == value) => {
                        return Err(Error::Answer {
                            status: 200,
                            reason: "the next page is this page".to_owned(),
                            retry_after: None,
                        });
                    }
                    Some((name, value)) => Some((call.with(name, value), number.saturating_add(1))),
                    None => None,
                };
                Ok(Some((page, next)))
            }
        });
        Items(pages.boxed())
    }

    /// Reads the items of this page and of all pages after it.
    pub fn items(self) -> Items<P::Item> {
        let items = self.pages().map_ok(|page| stream::iter(page.into_items().into_iter().map(Ok)));
        Items(items.try_flatten().boxed())
    }
}

/// What several requests give, one by one. Also a [`Stream`].
pub struct Items<T>(BoxStream<'static, Result<T>>);

impl<T> Items<T> {
    pub(crate) const fn new(items: BoxStream<'static, Result<T>>) -> Self {
        Self(items)
    }

    /// Returns the next one. After an error, there are no further ones.
    pub async fn next(&mut self) -> Option<Result<T>> {
        self.0.next().await
    }

    /// Collects all of them.
    ///
    /// # Errors
    ///
    /// The first [`Error`].
    pub async fn collect(self) -> Result<Vec<T>> {
        self.0.try_collect().await
    }
}

impl<T> Stream for Items<T> {
    type Item = Result<T>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        self.0.poll_next_unpin(context)
    }
}

impl<T> fmt::Debug for Items<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Items").finish_non_exhaustive()
    }
}
