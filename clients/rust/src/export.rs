//! Answers with one JSON document on each line, which are read while they arrive.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use serde::de::DeserializeOwned;

use crate::call::Request;
use crate::client::has_type;
use crate::error::{Error, Result};
use crate::page::Items;

/// How long a whole export may take, and how long the client waits for its next part.
const WHOLE: Duration = Duration::from_secs(24 * 60 * 60);
const NEXT_PART: Duration = Duration::from_secs(60);
/// How long a line may be, in bytes.
const LONGEST_LINE: usize = 1024 * 1024;

/// An answer with a `T` on each line: see [`Request::lines`].
pub struct Lines<T> {
    line: PhantomData<fn() -> T>,
    never: Infallible,
}

impl<T> fmt::Debug for Lines<T> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.never {}
    }
}

struct Reader {
    response: reqwest::Response,
    /// What has arrived of a line whose end has not.
    part: Vec<u8>,
    lines: VecDeque<Vec<u8>>,
}

impl<T: DeserializeOwned + Send + 'static> Request<Lines<T>> {
    /// Sends the request, and reads the lines of the answer while they arrive. An export that breaks off is an error;
    /// the last line has the `cursor` to go on from.
    pub fn lines(mut self) -> Items<T> {
        self.call.accept = "application/x-ndjson, application/problem+json";
        self.call.timeout = Some(WHOLE);
        let Self { client, call, .. } = self;
        let lines = stream::try_unfold(None, move |reader: Option<Reader>| {
            let (client, call) = (client.clone(), call.clone());
            async move {
                let mut reader = match reader {
                    Some(reader) => reader,
                    None => {
                        let token = client.current_token().await?;
                        let response = client.open(&call, token.as_ref()).await?;
                        if !has_type(response.headers(), "application/x-ndjson") {
                            return Err(invalid("the body is not NDJSON"));
                        }
                        Reader { response, part: Vec::new(), lines: VecDeque::new() }
                    }
                };
                let Some(line) = reader.next().await? else { return Ok(None) };
                // The text of the error may have a value in it.
                let value =
                    serde_json::from_slice(&line).map_err(|_| invalid("a line is not the JSON of the export"))?;
                Ok(Some((value, Some(reader))))
            }
        });
        Items::new(lines.boxed())
    }
}

impl Reader {
    async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return Ok(Some(line));
            }
            let chunk = tokio::time::timeout(NEXT_PART, self.response.chunk()).await;
            let Some(chunk) = chunk.map_err(|_| invalid("the export does not go on"))?? else {
                let last = std::mem::take(&mut self.part);
                return Ok((!last.is_empty()).then_some(last));
            };
            let mut parts = chunk.split(|byte| *byte == b'\n');
            self.part.extend_from_slice(parts.next().unwrap_or_default());
            for part in parts {
                let line = std::mem::replace(&mut self.part, part.to_vec());
                if !line.is_empty() {
                    self.lines.push_back(line);
                }
            }
            if self.part.len() > LONGEST_LINE {
                return Err(invalid("a line is too long"));
            }
        }
    }
}

fn invalid(reason: &str) -> Error {
    Error::Answer { status: 200, reason: reason.to_owned(), retry_after: None }
}
