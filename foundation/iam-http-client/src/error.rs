use std::error::Error;
use std::io;

use http_body_util::LengthLimitError;

/// Why a request has no answer, or an answer no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The host does not exist, or its address cannot be found at the moment.
    #[error("the host has no address")]
    Unresolved,
    /// The host has no address that the client may reach, or the request is not encrypted and should be.
    #[error("the address may not be reached")]
    NotAllowed,
    /// No connection could be made.
    #[error("no connection could be made")]
    Unreachable,
    /// The server has no valid certificate, or does not speak TLS.
    #[error("no secure connection could be made")]
    Tls,
    /// The connection ended too early, or the answer is not one of HTTP.
    #[error("the connection ended without an answer")]
    Interrupted,
    /// There was no answer in time.
    #[error("no answer in time")]
    TimedOut,
    /// The body of the answer has too many bytes.
    #[error("the answer is too long")]
    TooLong,
}

/// Returns what an error of the connection or of the client means.
pub(crate) fn classify(error: &(dyn Error + 'static)) -> RequestError {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<RequestError>() {
            return *error;
        }
        if is_tls(error) {
            return RequestError::Tls;
        }
        if error.is::<LengthLimitError>() {
            return RequestError::TooLong;
        }
        cause = error.source();
    }
    RequestError::Interrupted
}

/// The source of an `io::Error` is the source of the error in it, so the error in it is asked for, too.
fn is_tls(error: &(dyn Error + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || inner.is_some_and(|inner| inner.is::<rustls::Error>())
}
