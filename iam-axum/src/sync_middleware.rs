//! Middleware that works before and after the rest of the stack, at the lowest possible cost.
//!
//! [`axum::middleware::from_fn`] takes any async function. For that, it clones the rest of the stack, in which every
//! route and layer has a box of its own. It also puts this clone and its own future into boxes. Middleware that waits
//! for nothing needs none of this.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use pin_project_lite::pin_project;
use tower::{Layer, Service};

/// The work before a request is answered.
pub(crate) trait SyncMiddleware: Clone {
    type After: After;

    fn before(&self, request: Request) -> (Request, Self::After);
}

/// The work while a request is answered, and after that.
pub(crate) trait After {
    /// Runs a part of the work of the inner service.
    fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    fn after(self, response: Response) -> Response;
}

/// For middleware that has nothing to do after the response.
impl After for () {
    fn after(self, response: Response) -> Response {
        response
    }
}

/// Returns the layer of a [`SyncMiddleware`].
pub(crate) fn sync_middleware<A>(middleware: A) -> SyncMiddlewareLayer<A> {
    SyncMiddlewareLayer(middleware)
}

#[derive(Clone)]
pub(crate) struct SyncMiddlewareLayer<A>(A);

impl<A: SyncMiddleware, S> Layer<S> for SyncMiddlewareLayer<A> {
    type Service = SyncMiddlewareService<A, S>;

    fn layer(&self, inner: S) -> Self::Service {
        SyncMiddlewareService { middleware: self.0.clone(), inner }
    }
}

#[derive(Clone)]
pub(crate) struct SyncMiddlewareService<A, S> {
    middleware: A,
    inner: S,
}

impl<A, S> Service<Request> for SyncMiddlewareService<A, S>
where
    A: SyncMiddleware,
    S: Service<Request, Response: IntoResponse, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = SyncMiddlewareFuture<A::After, S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (request, after) = self.middleware.before(request);
        let inner = after.within(|| self.inner.call(request));
        SyncMiddlewareFuture { inner, after: Some(after) }
    }
}

pin_project! {
    pub(crate) struct SyncMiddlewareFuture<T, F> {
        #[pin]
        inner: F,
        // `None` after the response.
        after: Option<T>,
    }
}

impl<T, F, R> Future for SyncMiddlewareFuture<T, F>
where
    T: After,
    F: Future<Output = Result<R, Infallible>>,
    R: IntoResponse,
{
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let poll = || this.inner.poll(context);
        let Ok(response) = ready!(match &this.after {
            Some(after) => after.within(poll),
            None => poll(),
        });
        let response = response.into_response();
        Poll::Ready(Ok(match this.after.take() {
            Some(after) => after.after(response),
            None => response,
        }))
    }
}
