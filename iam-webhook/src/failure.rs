use std::error::Error;
use std::io;

use iam_model::webhook::SendError;

/// Returns what an error of the connection or of the client means.
pub(crate) fn classify(error: &(dyn Error + 'static)) -> SendError {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<SendError>() {
            return error.clone();
        }
        if is_tls(error) {
            return SendError::Tls;
        }
        cause = error.source();
    }
    SendError::Interrupted
}

/// The source of an `io::Error` is the source of the error in it, so the error in it is asked for, too.
fn is_tls(error: &(dyn Error + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || inner.is_some_and(|inner| inner.is::<rustls::Error>())
}
