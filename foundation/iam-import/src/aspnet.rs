//! The table `AspNetUsers` of ASP.NET Identity, as a CSV file with the names of its columns.

use std::io::BufRead;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};
use csv::StringRecord;
use iam_model::clock::Timestamp;
use iam_model::validate::FieldError;

use crate::column::{Columns, is_true};
use crate::error::ReadError;
use crate::password::{Sha, decode, pbkdf2, unusable};
use crate::record::{ForeignPassword, Record, status};
use crate::row::Row;
use crate::user_table::{UserTable, record_of};

/// The columns that are read, without the required ones and those of all tables.
const OTHERS: [&str; 6] =
    ["emailconfirmed", "twofactorenabled", "phonenumber", "lockoutend", "lockoutenddateutc", "lockoutenabled"];

/// Reads the users. A lockout counts if it ends after this moment.
pub(crate) fn read<R: BufRead>(
    input: R,
    now: Timestamp,
) -> Result<impl Iterator<Item = Result<Row, ReadError>>, ReadError> {
    let required = [("email", "Email"), ("passwordhash", "PasswordHash")];
    UserTable::read(input, required, &[&OTHERS], move |columns, record| user(columns, record, now))
}

fn user(columns: &Columns, record: &StringRecord, now: Timestamp) -> Result<Record, FieldError> {
    let value = |name: &str| columns.value(record, name);
    let given = |name: &str| columns.given(record, name);
    let mut user = record_of(columns, record);
    user.is_email_verified = is_true(value("emailconfirmed"));
    // ASP.NET Identity has no such field: programs disable a user by a long lockout.
    user.status = status(is_locked_out(columns, record, now)?);
    user.password = password(value("passwordhash"));
    user.leave_out("second factors", usize::from(is_true(value("twofactorenabled"))));
    if let Some(phone) = given("phonenumber") {
        user.attributes.insert("PhoneNumber".to_owned(), phone.into());
    }
    Ok(user)
}

/// Whether a lockout holds. Its end has another name in version 2.
fn is_locked_out(columns: &Columns, record: &StringRecord, now: Timestamp) -> Result<bool, FieldError> {
    let ends = [("lockoutend", "LockoutEnd"), ("lockoutenddateutc", "LockoutEndDateUtc")];
    let end = ends.into_iter().find_map(|(folded, name)| Some((name, columns.given(record, folded)?)));
    let Some((name, end)) = end else { return Ok(false) };
    if columns.flag(record, "LockoutEnabled")? == Some(false) {
        return Ok(false);
    }
    match end {
        // Npgsql writes the first and the last moment of .NET so.
        "infinity" => Ok(true),
        "-infinity" => Ok(false),
        end => match moment(end) {
            Some(end) => Ok(end > now),
            None => {
                Err(FieldError::new(name, "must be a moment as ISO 8601 has it, such as 2030-12-31 23:59:59+00:00"))
            }
        },
    }
}

/// Reads a moment as databases write it. One without an offset is in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    // A shorter year could be a day of another order of the parts.
    text.split_once('-').filter(|(year, _)| year.len() == 4 && year.bytes().all(|digit| digit.is_ascii_digit()))?;
    let text = text.replacen('T', " ", 1);
    let with_offset = DateTime::parse_from_str(&text, "%Y-%m-%d %H:%M:%S%.f%#z").map(|moment| moment.to_utc());
    let without = || NaiveDateTime::parse_from_str(&text, "%Y-%m-%d %H:%M:%S%.f").map(|moment| moment.and_utc());
    let day = || NaiveDate::parse_from_str(&text, "%Y-%m-%d").map(|day| day.and_time(NaiveTime::MIN).and_utc());
    with_offset.or_else(|_| without()).or_else(|_| day()).ok()
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

    #[test]
    fn a_moment_is_read_as_databases_write_it() {
        for text in [
            "2030-12-31T22:59:59.0000000Z",
            "2030-12-31 23:59:59.0000000 +01:00",
            "2030-12-31 22:59:59+00",
            "2030-12-31 22:59:59",
            "2030-12-31T22:59:59.000",
        ] {
            assert_eq!(moment(text).map(|moment| moment.timestamp()), Some(1_924_988_399), "{text}");
        }
        assert_eq!(moment("2030-12-31").map(|moment| moment.timestamp()), Some(1_924_905_600));
        for text in
            ["12/31/2030 11:59:59 PM", "31.12.2030 23:59:59", "31-12-30", "30-12-31 22:59:59", "2030-31-12", "x", "-"]
        {
            assert_eq!(moment(text), None, "{text}");
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
