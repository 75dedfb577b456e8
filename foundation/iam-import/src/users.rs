use std::io::{BufReader, Read};

use iam_model::clock::Timestamp;

use crate::auth0::{Auth0, Auth0Hashes};
use crate::django::Django;
use crate::error::ReadError;
use crate::firebase::{Firebase, FirebaseParameters};
use crate::keycloak::Keycloak;
use crate::ndjson::Ndjson;
use crate::plain::Plain;
use crate::row::Row;
use crate::{aspnet, devise};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A realm that Keycloak has exported, or one of its files of users.
    Keycloak,
    /// The users that Auth0 has exported, or the hashes of their passwords.
    Auth0,
    /// The users that `firebase auth:export` has written as JSON. Its CSV is refused, because people can write other
    /// columns of it.
    Firebase,
    /// The users and groups that `manage.py dumpdata` of Django has written.
    Django,
    /// The table of users of Devise, as CSV.
    Devise,
    /// The table of users of ASP.NET Identity, as CSV.
    Aspnet,
    /// CSV with the columns of this service.
    Csv,
    /// One JSON object in each line, with the fields of this service.
    Ndjson,
}

/// A format, with what its users need beside the file.
#[derive(Default)]
pub struct Source {
    /// The present moment: a lockout of ASP.NET Identity that ends later suspends its user. The default, the beginning
    /// of 1970, lets each lockout count.
    pub now: Timestamp,
    /// The parameters of the hashes of a Firebase project.
    pub firebase: Option<FirebaseParameters>,
    /// The hashes of the users of Auth0, if they are in another file.
    pub auth0: Auth0Hashes,
}

/// The users of a file, one after the other. After an error, there are no more.
pub type Rows<'a> = Box<dyn Iterator<Item = Result<Row, ReadError>> + Send + 'a>;

/// Reads a file, and keeps no more than one of its records in memory.
///
/// # Errors
///
/// [`ReadError`] when the beginning of the file is not of the format.
pub fn read<'a>(format: Format, input: impl Read + Send + 'a, source: &'a Source) -> Result<Rows<'a>, ReadError> {
    let input = BufReader::with_capacity(64 * 1024, input);
    Ok(match format {
        Format::Keycloak => until_error(Keycloak::read(input)),
        Format::Auth0 => until_error(Auth0::read(input, &source.auth0)?),
        Format::Firebase => until_error(Firebase::read(input, source.firebase.as_ref())?),
        Format::Django => until_error(Django::read(input)?),
        Format::Devise => until_error(devise::read(input)?),
        Format::Aspnet => until_error(aspnet::read(input, source.now)?),
        Format::Csv => until_error(Plain::read(input)?),
        Format::Ndjson => until_error(Ndjson::read(input)),
    })
}

/// Ends after the first error: the next record cannot be found.
fn until_error<'a>(rows: impl Iterator<Item = Result<Row, ReadError>> + Send + 'a) -> Rows<'a> {
    let mut has_failed = false;
    Box::new(rows.take_while(move |row| !std::mem::replace(&mut has_failed, row.is_err())))
}
