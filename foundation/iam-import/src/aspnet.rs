//! The table `AspNetUsers` of ASP.NET Identity, as a CSV file with the names of its columns.

use std::io::BufRead;

use csv::StringRecord;

use crate::column::{Columns, is_true};
use crate::error::ReadError;
use crate::names::Known;
use crate::password::{Sha, decode, pbkdf2, unusable};
use crate::record::{ForeignPassword, Record, status};
use crate::row::Row;
use crate::table::Table;

pub(crate) struct Aspnet<R> {
    table: Table<R>,
    columns: Columns,
}

impl<R: BufRead> Aspnet<R> {
    pub(crate) fn read(input: R) -> Result<Self, ReadError> {
        let mut table = Table::with_header(input)?;
        let columns = Columns::folded(&table.header()?);
        for (folded, name) in [("email", "Email"), ("passwordhash", "PasswordHash")] {
            if !columns.has(folded) {
                return Err(ReadError::malformed(1, format!("has no column {name}")));
            }
        }
        Ok(Self { table, columns })
    }
}

impl<R: BufRead> Iterator for Aspnet<R> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (line, record) = match self.table.next() {
            Ok(found) => found?,
            Err(error) => return Some(Err(error)),
        };
        Some(Ok(match record {
            Ok(record) => Row::of(line, user(&self.columns, &record)),
            Err(error) => Row::refused(line, error),
        }))
    }
}

fn user(columns: &Columns, record: &StringRecord) -> Record {
    let value = |name: &str| columns.value(record, name);
    let given = |name: &str| Some(value(name)).filter(|value| !value.is_empty());
    let mut user = Record::new(value("email"));
    user.name(Known {
        first: given("firstname"),
        last: given("lastname"),
        whole: given("name").or_else(|| given("fullname")),
    });
    user.foreign_id = given("id").map(str::to_owned);
    user.is_email_verified = is_true(value("emailconfirmed"));
    // ASP.NET Identity has no such field: programs disable a user by a lockout until the end of time.
    user.status = status(value("lockoutend").starts_with("9999"));
    user.password = password(value("passwordhash"));
    user.roles = [columns.list(record, "roles"), columns.list(record, "role")].concat();
    user.groups = columns.list(record, "groups");
    user.leave_out("second factors", usize::from(is_true(value("twofactorenabled"))));
    if let Some(phone) = given("phonenumber") {
        user.attributes.insert("PhoneNumber".to_owned(), phone.into());
    }
    user
}

/// Reads a hash of version 2 or 3: a byte with the version, the parameters, the salt and the output of PBKDF2.
fn password(text: &str) -> ForeignPassword {
    if text.is_empty() {
        return ForeignPassword::None;
    }
    let Some(bytes) = decode(text) else { return unusable("it is not base64") };
    version_2(&bytes)
        .or_else(|| version_3(&bytes))
        .unwrap_or_else(|| unusable("it is of no version of ASP.NET Identity"))
}

/// 1,000 rounds with SHA-1, 16 bytes of salt and 32 bytes of output.
fn version_2(bytes: &[u8]) -> Option<ForeignPassword> {
    let (salt, hash) = bytes.strip_prefix(&[0_u8])?.split_at_checked(16)?;
    (hash.len() == 32).then(|| pbkdf2(Sha::One, 1_000, salt, hash))
}

/// Three numbers of four bytes, the highest byte first: the hash function, the rounds, and the length of the salt.
fn version_3(bytes: &[u8]) -> Option<ForeignPassword> {
    let (function, rest) = bytes.strip_prefix(&[1_u8])?.split_first_chunk()?;
    let (rounds, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (salt, hash) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    let sha = match u32::from_be_bytes(*function) {
        0 => Sha::One,
        1 => Sha::Two256,
        2 => Sha::Two512,
        _ => return None,
    };
    (salt.len() >= 8 && hash.len() >= 16).then(|| pbkdf2(sha, u32::from_be_bytes(*rounds).into(), salt, hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(hash: &str) -> String {
        match password(hash) {
            ForeignPassword::None => "none".to_owned(),
            ForeignPassword::Hash(hash) => hash.expose().to_owned(),
            ForeignPassword::Unusable(why) => why,
        }
    }

    /// The hashes of "Passw0rd!" are made by Python's hashlib in the published layout.
    #[test]
    fn hashes_of_both_versions_are_read() {
        assert_eq!(
            text("AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg8a3RJST3ZL0eWWP7ZG5qnxmnu+1xsChmurHg4P2C3T8g=="),
            "$pbkdf2-sha256$i=10000$AAECAwQFBgcICQoLDA0ODw$Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I"
        );
        let newest = text("AQAAAAIAAYagAAAAEAABAgMEBQYHCAkKCwwNDg9tHDBVNhTVA+6E1t6Gpb7bZypsIX6UNUiGvKx4ddfq6Q==");
        assert!(newest.starts_with("$pbkdf2-sha512$i=100000$AAECAwQFBgcICQoLDA0ODw$"), "{newest}");
        let oldest = text("AAABAgMEBQYHCAkKCwwNDg8mGGxJ6RXbpV3Eeve8lImVPiBvo46mNFMTIr+N+UuQ6w==");
        assert!(oldest.starts_with("$pbkdf2$i=1000$AAECAwQFBgcICQoLDA0ODw$"), "{oldest}");
    }

    #[test]
    fn a_hash_that_is_cut_or_of_another_version_is_unusable() {
        let whole =
            decode("AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg8a3RJST3ZL0eWWP7ZG5qnxmnu+1xsChmurHg4P2C3T8g==").unwrap();
        for length in (0..40).chain([44]) {
            assert!(version_3(&whole[..length]).is_none(), "{length}");
        }
        for (place, byte) in [(0, 2), (4, 3), (9, 255), (12, 7)] {
            let mut changed = whole.clone();
            changed[place] = byte;
            assert!(version_2(&changed).is_none() && version_3(&changed).is_none(), "{place}");
        }
        assert_eq!((text(""), text("!")), ("none".to_owned(), "it is not base64".to_owned()));
    }
}
