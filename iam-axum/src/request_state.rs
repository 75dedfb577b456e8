//! The state that goes with a request from layer to layer, and with its response back.
//!
//! This file has everything that this crate keeps in extensions for itself. Public extensions stand beside it:
//! `ConnectInfo`, `OriginalUri` and `MatchedPath` of axum and [`TraceId`](crate::TraceId) on requests, and
//! [`RequestContext`] and [`Caller`] on responses.

use std::sync::{Arc, OnceLock};

use axum::http::Extensions;
use axum::response::{IntoResponse, Response};
use iam_core::idempotency::Idempotency;
use iam_core::token::VerifiedToken;
use iam_core::{Caller, Iam, RequestContext};

use crate::demand::Demands;
use crate::problem::{DEFAULT_TYPE_BASE, Problem};

/// The facts of a request. The first layer that writes to it makes it: the conventions, or a guard of the host program
/// in front of them.
#[derive(Clone, Default)]
pub(crate) struct RequestState {
    /// The context for audit entries. The outermost conventions write it; inner conventions see it and do nothing.
    /// [`context_of`](crate::context::context_of) reads it.
    pub(crate) context: Option<RequestContext>,
    /// The bearer token with its verified signature. [`verify`](crate::extract::verify) writes and reads it, first for
    /// the rate limits and then for the authentication.
    pub(crate) token: Option<VerifiedToken>,
    /// The authenticated sender. [`authenticate`](crate::extract::authenticate) writes it, for a guard or for a
    /// handler. Later authentications and the reader of the body read it. A clone of the request that is not
    /// authenticated yet must not get it: the host program may give that clone another token.
    pub(crate) sender: Option<Sender>,
    /// The first caller that was authenticated. [`authenticate`](crate::extract::authenticate) writes it. The
    /// conventions hold it too, and put the caller into the response when the request is gone.
    pub(crate) caller: Arc<OnceLock<Caller>>,
    /// The permissions that guards have required. [`RequirePermission`](crate::RequirePermission) writes them,
    /// [`Call`](crate::Call) reads them after a late body.
    pub(crate) demands: Demands,
    /// The idempotency key and the content of the request. The layer of operations that create something writes it,
    /// [`RequestKey`](crate::idempotency::RequestKey) reads it.
    pub(crate) idempotency: Option<Idempotency>,
    /// Why the operation refuses the request, for a caller that it knows. The layer that refuses input that an
    /// operation does not evaluate writes it, the extractors of an authenticated caller read it.
    pub(crate) refusal: Option<Box<Problem>>,
}

impl RequestState {
    /// Returns the state of a request, if a layer has written to it.
    pub(crate) fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get()
    }

    /// Returns the state of a request, to write to it.
    pub(crate) fn of_mut(extensions: &mut Extensions) -> &mut Self {
        extensions.get_or_insert_default()
    }

    /// Fails if the operation refuses the request of a caller that is authenticated now.
    pub(crate) fn check(extensions: &Extensions) -> Result<(), Problem> {
        match Self::of(extensions).and_then(|state| state.refusal.as_deref()) {
            Some(refusal) => Err(refusal.clone()),
            None => Ok(()),
        }
    }

    /// Returns the sender of a request, if it is authenticated.
    pub(crate) fn sender(extensions: &Extensions) -> Option<&Sender> {
        Self::of(extensions)?.sender.as_ref()
    }
}

/// The sender of a request, with the rights that it had when the head of the request arrived.
#[derive(Clone)]
pub(crate) struct Sender {
    pub(crate) iam: Iam,
    pub(crate) token: VerifiedToken,
    pub(crate) caller: Caller,
}

impl Sender {
    /// Returns the same caller with its present rights, if its session has not ended.
    pub(crate) async fn renewed(&self) -> Result<Caller, Problem> {
        Ok(self.iam.authenticate_verified(&self.token, self.caller.context().clone()).await?)
    }
}

/// The facts of a response.
#[derive(Clone, Default)]
pub(crate) struct ResponseState {
    /// The problem that the response describes. Every problem writes it, the conventions read it and fill in what they
    /// know of the request.
    pub(crate) problem: Option<Problem>,
    /// Whether the response contains tokens. The operations that issue tokens write it, the compression reads it.
    pub(crate) has_tokens: bool,
    /// Whether the response is a page for people, also if it is an error. The conventions read it, and keep the page.
    pub(crate) is_page: bool,
}

impl ResponseState {
    /// Returns the state of a response, to write to it.
    pub(crate) fn of_mut(extensions: &mut Extensions) -> &mut Self {
        extensions.get_or_insert_default()
    }

    /// Whether a response contains tokens.
    pub(crate) fn has_tokens(extensions: &Extensions) -> bool {
        extensions.get::<Self>().is_some_and(|state| state.has_tokens)
    }

    /// Whether a response is a page for people.
    pub(crate) fn is_page(extensions: &Extensions) -> bool {
        extensions.get::<Self>().is_some_and(|state| state.is_page)
    }

    /// Returns the problem that a response describes, if this crate made the response. The response keeps it.
    pub(crate) fn problem(extensions: &Extensions) -> Option<&Problem> {
        extensions.get::<Self>()?.problem.as_ref()
    }

    /// Returns the problem that a response describes, if this crate made the response.
    pub(crate) fn take_problem(extensions: &mut Extensions) -> Option<Problem> {
        extensions.get_mut::<Self>()?.problem.take()
    }
}

/// A response that is a page for people. The conventions keep it, also if it is an error.
#[derive(Clone, Copy, Debug)]
pub struct HumanPage<R>(pub R);

impl<R: IntoResponse> IntoResponse for HumanPage<R> {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        ResponseState::of_mut(response.extensions_mut()).is_page = true;
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.respond(DEFAULT_TYPE_BASE, None);
        ResponseState::of_mut(response.extensions_mut()).problem = Some(self);
        response
    }
}
