//! Stored password hashes: hashes of this library, and hashes that were imported from other systems.

use std::num::NonZero;

use argon2::password_hash::phc::{Output, PasswordHash as Phc, Salt};
use argon2::{Algorithm, Argon2, Params, Version};
use aws_lc_rs::pbkdf2;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use iam_model::secret::{HashSecret, PasswordHash};
use iam_model::validate::Invalid;

use crate::hashing::cost::HashingCost;
#[cfg(feature = "bcrypt")]
use crate::hashing::function::{BCRYPT_OUTPUT, BcryptInput};
use crate::hashing::function::{Cost, Function, Work, work_of};

/// The limits on the cost of a hash. At each limit, a hash takes about a second on one core. They keep an imported
/// hash from exhausting the machine.
const MAX_MEMORY_KIB: u32 = 256 * 1024;

const MAX_PASSES: u32 = 16;

const MAX_LANES: u32 = 16;

/// In KiB times passes.
const MAX_ARGON2_WORK: u32 = 1024 * 1024;

#[cfg(feature = "bcrypt")]
const MAX_BCRYPT_COST: u32 = 14;

/// In rounds times blocks of output.
const MAX_PBKDF2_ROUNDS: u64 = 2_000_000;

/// In KiB times lanes: OWASP's first choice for scrypt is half of it.
const MAX_SCRYPT_WORK: u64 = 256 * 1024;

/// The bytes of the longest text of a hash: twice what the longest salt and output need.
const MAX_TEXT: usize = 1024;

/// The bytes of the longest secret of another system: Firebase's key has 88 characters.
const MAX_SECRET: usize = 256;

/// The minimum cost of an imported hash. Passwords behind cheaper hashes are guessed too fast after a leak.
///
/// In KiB times passes: a third of the default of [`HashingCost`](crate::hashing::HashingCost).
const MIN_ARGON2_WORK: u32 = 12 * 1024;

/// How often the cost of a hash of this installation a hash that a tenant imports may cost.
pub(super) const MAX_RELATIVE_COST: u32 = 2;

/// The memory that a hash which a tenant imports may need, if the installation's own hashes need less.
const MAX_TENANT_MEMORY_KIB: u32 = 64 * 1024;

/// A common default of bcrypt libraries, and the minimum that OWASP recommends.
#[cfg(feature = "bcrypt")]
const MIN_BCRYPT_COST: u32 = 10;

/// The minimum of NIST SP 800-63B (2017, 5.1.1.2).
const MIN_PBKDF2_ROUNDS: u32 = 10_000;

/// In KiB times lanes: the cost that the paper of scrypt (2009) recommends for logins, which is Firebase's.
const MIN_SCRYPT_WORK: u64 = 16 * 1024;

/// The limits on the cost of a hash that is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImportLimit {
    work: Work,
    memory_kib: u32,
}

impl ImportLimit {
    /// The limit for a tenant whose installation makes hashes of this cost: twice that cost. An installation that makes
    /// cheaper hashes than by default still accepts what costs little.
    pub(super) fn of_tenant(own: &Params) -> Self {
        let default = HashingCost::default();
        let least = Work::from(default.memory_kib) * Work::from(default.passes);
        let work = Work::from(MAX_RELATIVE_COST) * work_of(own).max(least);
        Self { work, memory_kib: own.m_cost().max(MAX_TENANT_MEMORY_KIB) }
    }

    fn allows(self, function: &Function) -> bool {
        function.work() <= self.work && function.memory_kib() <= self.memory_kib.into()
    }
}

/// Accepts a hash that this library can verify and whose cost is within the limits. `secret` is that of the system which
/// made it. `limit` is `None` for trusted code, whose hashes may take about a second.
pub(super) fn accept_hash(
    hash: PasswordHash,
    secret: Option<&HashSecret>,
    limit: Option<ImportLimit>,
) -> Result<PasswordHash, Invalid> {
    if hash.expose().len() > MAX_TEXT {
        return Err(unknown());
    }
    let function = StoredHash::parse(hash.expose(), secret)?.function;
    let is_enough = match function.cost() {
        Cost::Argon2 { memory_kib, passes, .. } => memory_kib * passes >= MIN_ARGON2_WORK,
        #[cfg(feature = "bcrypt")]
        Cost::Bcrypt { cost } => cost >= MIN_BCRYPT_COST,
        Cost::Pbkdf2 { rounds, .. } => rounds.get() >= MIN_PBKDF2_ROUNDS,
        Cost::Scrypt { table_kib, lanes } => table_kib * u64::from(lanes) >= MIN_SCRYPT_WORK,
    };
    if !is_enough {
        return Err(Invalid::new("costs an attacker too little to guess: the user must set a new password"));
    }
    if limit.is_some_and(|limit| !limit.allows(&function)) {
        return Err(Invalid::new(
            "costs more than twice as much to verify as a hash of this installation: only its operator can import it",
        ));
    }
    Ok(hash)
}

/// Checks the secret of another system, without which its hashes cannot be verified.
pub(super) fn check_secret(secret: &HashSecret) -> Result<(), Invalid> {
    if (1..=MAX_SECRET).contains(&secret.expose().len()) {
        Ok(())
    } else {
        Err(Invalid::new(format!("must be 1 to {MAX_SECRET} bytes")))
    }
}

/// A parsed hash.
pub(super) struct StoredHash {
    pub(super) function: Function,
    pub(super) salt: Box<[u8]>,
    pub(super) expected: Output,
}

/// Accepts base64 with or without padding, and any values of the unused trailing bits.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

const BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);

impl StoredHash {
    /// Parses a hash. `secret` is that of the system which made it.
    ///
    /// # Errors
    ///
    /// [`Invalid`] when its format is not supported, when its cost exceeds a limit, or when it needs a secret and there is
    /// none, or the other way round.
    pub(super) fn parse(text: &str, secret: Option<&HashSecret>) -> Result<Self, Invalid> {
        let word = text.trim_start_matches('$').split(['$', '_']).next().unwrap_or_default();
        match (word, secret) {
            ("2a" | "2b" | "2y", None) => Self::bcrypt(text),
            ("2a" | "2b" | "2y", Some(pepper)) => Self::peppered(text, pepper),
            ("firebase-scrypt", Some(signer_key)) => Self::firebase(text, signer_key),
            ("firebase-scrypt", None) => Err(Invalid::new("cannot be verified without the signer key of its project")),
            (_, Some(_)) => Err(Invalid::new("is of a kind that needs no secret, but one is given")),
            ("argon2id" | "argon2i" | "argon2d", None) => Self::argon2(text),
            ("scrypt", None) => Self::scrypt(text),
            (word, None) if word.starts_with("pbkdf2") => Self::pbkdf2(text),
            // Django writes a name of its own before the hashes of other libraries.
            ("argon2", None) => Self::argon2(text.strip_prefix("argon2").unwrap_or_default()),
            ("bcrypt", None) => Self::bcrypt_of_django(text),
            _ => Err(unknown()),
        }
    }

    fn argon2(text: &str) -> Result<Self, Invalid> {
        let hash = Phc::new(text).map_err(|_| unknown())?;
        let (Some(salt), Some(expected)) = (hash.salt, hash.hash) else { return Err(unknown()) };
        let algorithm = Algorithm::try_from(hash.algorithm.as_str()).map_err(|_| unknown())?;
        let version = hash.version.map_or(Ok(Version::default()), Version::try_from).map_err(|_| unknown())?;
        let [Some(memory), Some(passes), Some(lanes)] = params_of(hash.params.as_str(), ["m", "t", "p"])? else {
            return Err(unknown());
        };
        let params = Params::new(memory, passes, lanes, Some(expected.len())).map_err(|_| unknown())?;
        if memory > MAX_MEMORY_KIB || passes > MAX_PASSES || lanes > MAX_LANES || memory * passes > MAX_ARGON2_WORK {
            return Err(too_expensive());
        }
        Ok(Self {
            function: Function::Argon2(algorithm, version, Argon2::new(algorithm, version, params)),
            salt: bytes_of(salt),
            expected,
        })
    }

    /// Parses the PHC string format, which is also that of passlib (`$scrypt$ln=14,r=8,p=1$SALT$HASH`), and the format of
    /// Django (`scrypt$16384$SALT$8$1$HASH`).
    fn scrypt(text: &str) -> Result<Self, Invalid> {
        let parts: Vec<&str> = text.trim_start_matches('$').split('$').collect();
        let (params, salt, expected) = match (text.starts_with('$'), parts.as_slice()) {
            (true, [_, params, salt, expected]) => (scrypt_params(params)?, decode(salt)?.into(), expected),
            (false, [_, n, salt, r, p, expected]) => {
                let n = n.parse().ok().filter(|n: &u64| n.is_power_of_two()).ok_or_else(unknown)?;
                (limited(n.ilog2(), number(r)?, number(p)?)?, salt.as_bytes().into(), expected)
            }
            _ => return Err(unknown()),
        };
        let expected = Output::new(&decode(expected)?).map_err(|_| unknown())?;
        Ok(Self { function: Function::Scrypt { params, length: expected.len() }, salt, expected })
    }

    /// Parses `$firebase-scrypt$ln=14,r=8$SALT$HASH`, where the salt of the user and the separator of the project make the
    /// salt.
    fn firebase(text: &str, signer_key: &HashSecret) -> Result<Self, Invalid> {
        let parts: Vec<&str> = text.split('$').collect();
        let ["", _, params, salt, expected] = parts.as_slice() else { return Err(unknown()) };
        let expected = Output::new(&decode(expected)?).map_err(|_| unknown())?;
        let no_key = || Invalid::new("needs a signer key in base64, as long as the hash");
        let signer_key = BASE64.decode(signer_key.expose()).map_err(|_| no_key())?;
        if signer_key.len() != expected.len() {
            return Err(no_key());
        }
        let function = Function::Firebase { params: scrypt_params(params)?, signer_key: signer_key.into() };
        Ok(Self { function, salt: decode(salt)?.into(), expected })
    }

    #[cfg(feature = "bcrypt")]
    fn bcrypt(text: &str) -> Result<Self, Invalid> {
        Self::bcrypt_of(text, BcryptInput::Password)
    }

    #[cfg(feature = "bcrypt")]
    fn peppered(text: &str, pepper: &HashSecret) -> Result<Self, Invalid> {
        Self::bcrypt_of(text, BcryptInput::Peppered(pepper.expose().as_bytes().to_vec().into()))
    }

    /// Parses Django's `bcrypt_sha256$$2b$12$…` and `bcrypt$$2b$12$…`.
    #[cfg(feature = "bcrypt")]
    fn bcrypt_of_django(text: &str) -> Result<Self, Invalid> {
        if let Some(hash) = text.strip_prefix("bcrypt_sha256$") {
            return Self::bcrypt_of(hash, BcryptInput::Sha256);
        }
        Self::bcrypt(text.strip_prefix("bcrypt$").ok_or_else(unknown)?)
    }

    /// Parses `$2b$12$`, followed by 22 characters of salt and 31 characters of hash.
    #[cfg(feature = "bcrypt")]
    fn bcrypt_of(text: &str, input: BcryptInput) -> Result<Self, Invalid> {
        const CODE: GeneralPurpose = GeneralPurpose::new(&alphabet::BCRYPT, LENIENT);
        let mut parts = text.splitn(4, '$');
        let (Some(""), Some("2a" | "2b" | "2y"), Some(cost), Some(rest)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(unknown());
        };
        let cost: u32 = cost.parse().map_err(|_| unknown())?;
        if cost > MAX_BCRYPT_COST {
            return Err(too_expensive());
        }
        let (salt, expected) = rest.split_at_checked(22).ok_or_else(unknown)?;
        let (salt, expected) =
            (CODE.decode(salt).map_err(|_| unknown())?, CODE.decode(expected).map_err(|_| unknown())?);
        if cost < 4 || salt.len() != 16 || expected.len() != BCRYPT_OUTPUT {
            return Err(unknown());
        }
        let expected = Output::new(&expected).map_err(|_| unknown())?;
        Ok(Self { function: Function::Bcrypt { cost, input }, salt: salt.into(), expected })
    }

    #[cfg(not(feature = "bcrypt"))]
    fn bcrypt(_: &str) -> Result<Self, Invalid> {
        Err(Invalid::new("is a bcrypt hash, but this program was built without the feature `bcrypt`"))
    }

    #[cfg(not(feature = "bcrypt"))]
    fn peppered(text: &str, _: &HashSecret) -> Result<Self, Invalid> {
        Self::bcrypt(text)
    }

    #[cfg(not(feature = "bcrypt"))]
    fn bcrypt_of_django(text: &str) -> Result<Self, Invalid> {
        Self::bcrypt(text)
    }

    /// Parses the PHC string format (`$pbkdf2-sha256$i=600000,l=32$SALT$HASH`), the format of passlib
    /// (`$pbkdf2-sha256$29000$SALT$HASH`), and the format of Django (`pbkdf2_sha256$600000$SALT$HASH`).
    fn pbkdf2(text: &str) -> Result<Self, Invalid> {
        let is_django = !text.starts_with('$');
        let mut parts = text.trim_start_matches('$').split('$');
        let (Some(name), Some(params), Some(salt), Some(expected), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(unknown());
        };
        let (algorithm, block) = match name.trim_start_matches("pbkdf2").trim_start_matches(['-', '_']) {
            "" | "sha1" => (pbkdf2::PBKDF2_HMAC_SHA1, 20),
            "sha256" => (pbkdf2::PBKDF2_HMAC_SHA256, 32),
            "sha512" => (pbkdf2::PBKDF2_HMAC_SHA512, 64),
            _ => return Err(unknown()),
        };
        let rounds = if params.contains('=') {
            let [rounds, _] = params_of(params, ["i", "l"])?;
            rounds.ok_or_else(unknown)?
        } else {
            number(params)?
        };
        let rounds = NonZero::new(rounds).ok_or_else(unknown)?;
        let salt = if is_django { salt.as_bytes().into() } else { decode(salt)?.into() };
        let expected = Output::new(&decode(expected)?).map_err(|_| unknown())?;
        if u64::from(rounds.get()) * expected.len().div_ceil(block) as u64 > MAX_PBKDF2_ROUNDS {
            return Err(too_expensive());
        }
        let function = Function::Pbkdf2 { algorithm, rounds, length: expected.len() };
        Ok(Self { function, salt, expected })
    }
}

/// Returns the values of parameters such as `ln=14,r=8,p=1`, in the order of the names.
///
/// # Errors
///
/// A parameter with another name, and one that is there twice: two readers of such a text could take different values.
fn params_of<const N: usize>(text: &str, names: [&str; N]) -> Result<[Option<u32>; N], Invalid> {
    let mut values = [None; N];
    for param in text.split(',') {
        let (name, value) = param.split_once('=').ok_or_else(unknown)?;
        let (_, place) = names
            .iter()
            .zip(&mut values)
            .find(|(known, place)| **known == name && place.is_none())
            .ok_or_else(unknown)?;
        *place = Some(number(value)?);
    }
    Ok(values)
}

/// Parses `ln=14,r=8,p=1`; `p` may be missing.
fn scrypt_params(text: &str) -> Result<scrypt::Params, Invalid> {
    let [Some(log_n), Some(r), p] = params_of(text, ["ln", "r", "p"])? else { return Err(unknown()) };
    limited(log_n, r, p.unwrap_or(1))
}

/// Returns the parameters of scrypt, if they are within the limits.
fn limited(log_n: u32, r: u32, p: u32) -> Result<scrypt::Params, Invalid> {
    if log_n == 0 || r == 0 || p == 0 {
        return Err(unknown());
    }
    // The first three keep the product within its type.
    let is_affordable = log_n <= 24
        && r <= MAX_MEMORY_KIB
        && p <= MAX_LANES
        && ((u64::from(r) << log_n) / 8).saturating_mul(p.into()) <= MAX_SCRYPT_WORK;
    if !is_affordable {
        return Err(too_expensive());
    }
    let log_n = u8::try_from(log_n).map_err(|_| too_expensive())?;
    scrypt::Params::new(log_n, r, p).map_err(|_| unknown())
}

fn number(text: &str) -> Result<u32, Invalid> {
    text.parse().map_err(|_| unknown())
}

/// Decodes base64. passlib writes a dot instead of a plus.
fn decode(text: &str) -> Result<Vec<u8>, Invalid> {
    BASE64.decode(text.replace('.', "+")).map_err(|_| unknown())
}

fn bytes_of(salt: Salt) -> Box<[u8]> {
    salt.as_ref().into()
}

fn unknown() -> Invalid {
    Invalid::new("is no password hash in a supported format (Argon2, bcrypt, PBKDF2, scrypt)")
}

fn too_expensive() -> Invalid {
    Invalid::new("costs more to verify than is allowed")
}

#[cfg(test)]
mod tests;
