//! Stored password hashes: hashes of this library, and hashes that were imported from other systems.

use std::num::NonZero;

use argon2::password_hash::phc::{Output, PasswordHash as Phc, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use aws_lc_rs::pbkdf2;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use iam_model::error::{Error, Result};
use iam_model::secret::{Password, PasswordHash};
use iam_model::validate::Invalid;

use crate::hashing::cost::HashingCost;

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

/// The time that a hash needs, as the memory in KiB times the passes of an Argon2 hash that takes as long.
///
/// Whether a hash is accepted must not depend on the machine and its load, so the other functions are converted by
/// ratios that were measured once. Shares of hashing go by the time that a hash really took.
pub(super) type Work = u64;

/// The work of bcrypt at cost 0: at cost 10, it takes two to three times as long as OWASP's first choice for Argon2id.
#[cfg(feature = "bcrypt")]
const BCRYPT_WORK: Work = 100;

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
        let memory_kib = match function {
            Function::Argon2(_, argon2) => argon2.params().m_cost(),
            #[cfg(feature = "bcrypt")]
            Function::Bcrypt { .. } => 0,
            Function::Pbkdf2 { .. } => 0,
        };
        function.work() <= self.work && memory_kib <= self.memory_kib
    }
}

/// Returns the work of an Argon2 hash.
pub(super) fn work_of(argon2: &Params) -> Work {
    Work::from(argon2.m_cost()) * Work::from(argon2.t_cost())
}

/// Accepts a hash that this library can verify and whose cost is within the limits. `limit` is `None` for trusted code,
/// whose hashes may take about a second.
pub(super) fn accept_hash(hash: PasswordHash, limit: Option<ImportLimit>) -> Result<PasswordHash, Invalid> {
    let function = StoredHash::parse(&hash)?.function;
    let is_enough = match function.cost() {
        Cost::Argon2 { memory_kib, passes, .. } => memory_kib * passes >= MIN_ARGON2_WORK,
        #[cfg(feature = "bcrypt")]
        Cost::Bcrypt { cost } => cost >= MIN_BCRYPT_COST,
        Cost::Pbkdf2 { rounds, .. } => rounds.get() >= MIN_PBKDF2_ROUNDS,
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

/// The parameters that determine how long a hash takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cost {
    Argon2 {
        memory_kib: u32,
        passes: u32,
        lanes: u32,
    },
    #[cfg(feature = "bcrypt")]
    Bcrypt {
        cost: u32,
    },
    Pbkdf2 {
        rounds: NonZero<u32>,
        length: usize,
    },
}

/// A parsed hash.
pub(super) struct StoredHash {
    pub(super) function: Function,
    pub(super) salt: Box<[u8]>,
    pub(super) expected: Output,
}

/// The function that makes a hash from a password and a salt, with its parameters.
#[derive(Clone)]
pub(super) enum Function {
    Argon2(Algorithm, Argon2<'static>),
    #[cfg(feature = "bcrypt")]
    Bcrypt {
        cost: u32,
    },
    Pbkdf2 {
        algorithm: pbkdf2::Algorithm,
        rounds: NonZero<u32>,
        length: usize,
    },
}

impl Function {
    /// Returns the number of memory blocks that the function needs.
    pub(super) fn blocks(&self) -> usize {
        match self {
            Self::Argon2(_, argon2) => argon2.params().block_count(),
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { .. } => 0,
            Self::Pbkdf2 { .. } => 0,
        }
    }

    /// Computes the hash. `memory` must have at least as many [blocks](Self::blocks) as the function needs.
    pub(super) fn output(&self, password: &Password, salt: &[u8], memory: &mut [Block]) -> Result<Output> {
        let password = password.expose().as_bytes();
        let output = match self {
            Self::Argon2(_, argon2) => {
                let mut bytes = vec![0; argon2.params().output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN)];
                let hashed = argon2.hash_password_into_with_memory(password, salt, &mut bytes, memory);
                hashed.map_err(|cause| Error::internal("password hashing", cause))?;
                Output::new(&bytes)
            }
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { cost } => Output::new(&bcrypt(*cost, password, salt)?),
            Self::Pbkdf2 { algorithm, rounds, length } => {
                let mut bytes = vec![0; *length];
                pbkdf2::derive(*algorithm, *rounds, salt, password, &mut bytes);
                Output::new(&bytes)
            }
        };
        output.map_err(|cause| Error::internal("password hashing", cause))
    }

    /// Returns the time that the function needs.
    pub(super) fn work(&self) -> Work {
        match self {
            Self::Argon2(_, argon2) => work_of(argon2.params()),
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { cost } => BCRYPT_WORK << cost,
            Self::Pbkdf2 { algorithm, rounds, length } => {
                // Two rounds of SHA-1 or SHA-256, and one of SHA-512, take as long as three or four KiB of Argon2.
                let (block, work) = match *algorithm {
                    algorithm if algorithm == pbkdf2::PBKDF2_HMAC_SHA512 => (64, 3),
                    algorithm if algorithm == pbkdf2::PBKDF2_HMAC_SHA256 => (32, 2),
                    _ => (20, 2),
                };
                Work::from(rounds.get()) * length.div_ceil(block) as Work * work
            }
        }
    }

    /// Returns the parameters that determine how long the function takes.
    pub(super) fn cost(&self) -> Cost {
        match self {
            Self::Argon2(_, argon2) => {
                let params = argon2.params();
                Cost::Argon2 { memory_kib: params.m_cost(), passes: params.t_cost(), lanes: params.p_cost() }
            }
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { cost } => Cost::Bcrypt { cost: *cost },
            Self::Pbkdf2 { rounds, length, .. } => Cost::Pbkdf2 { rounds: *rounds, length: *length },
        }
    }

    /// Whether the function reads the whole password, however long it is.
    #[cfg_attr(not(feature = "bcrypt"), expect(unused_variables, reason = "only bcrypt truncates passwords"))]
    pub(super) fn reads_all_of(&self, password: &Password) -> bool {
        match self {
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { .. } => password.expose().len() <= BCRYPT_INPUT,
            Self::Argon2(..) | Self::Pbkdf2 { .. } => true,
        }
    }

    /// Whether the function is weaker than the one for new hashes.
    pub(super) fn is_weaker_than(&self, wanted: &Argon2<'_>) -> bool {
        let Self::Argon2(algorithm, argon2) = self else { return true };
        let (stored, wanted) = (argon2.params(), wanted.params());
        *algorithm != Algorithm::Argon2id
            || stored.m_cost() < wanted.m_cost()
            || stored.t_cost() < wanted.t_cost()
            || stored.p_cost() < wanted.p_cost()
    }
}

/// Returns the bcrypt hash of the first 72 bytes of a password. Of the 24 bytes of output, bcrypt never stores the
/// last one.
#[cfg(feature = "bcrypt")]
fn bcrypt(cost: u32, password: &[u8], salt: &[u8]) -> Result<[u8; BCRYPT_OUTPUT]> {
    let terminated: zeroize::Zeroizing<Vec<u8>> =
        password.iter().copied().chain([0]).take(BCRYPT_INPUT).collect::<Vec<u8>>().into();
    let salt = salt.try_into().map_err(|cause| Error::internal("password hashing", cause))?;
    let mut output = [0; BCRYPT_OUTPUT];
    output.iter_mut().zip(bcrypt::bcrypt(cost, salt, &terminated)).for_each(|(to, byte)| *to = byte);
    Ok(output)
}

#[cfg(feature = "bcrypt")]
const BCRYPT_INPUT: usize = 72;

#[cfg(feature = "bcrypt")]
const BCRYPT_OUTPUT: usize = 23;

impl StoredHash {
    /// Parses a hash.
    ///
    /// # Errors
    ///
    /// [`Invalid`] when its format is not supported, or when its cost exceeds a limit.
    pub(super) fn parse(hash: &PasswordHash) -> Result<Self, Invalid> {
        let text = hash.expose();
        let word = text.trim_start_matches('$').split(['$', '_']).next().unwrap_or_default();
        match word {
            "argon2id" | "argon2i" | "argon2d" => Self::argon2(text),
            "2a" | "2b" | "2y" => Self::bcrypt(text),
            word if word.starts_with("pbkdf2") => Self::pbkdf2(text),
            _ => Err(unknown()),
        }
    }

    fn argon2(text: &str) -> Result<Self, Invalid> {
        let hash = Phc::new(text).map_err(|_| unknown())?;
        let (Some(salt), Some(expected)) = (hash.salt, hash.hash) else { return Err(unknown()) };
        let algorithm = Algorithm::try_from(hash.algorithm.as_str()).map_err(|_| unknown())?;
        let version = hash.version.map_or(Ok(Version::default()), Version::try_from).map_err(|_| unknown())?;
        let params = Params::try_from(&hash).map_err(|_| unknown())?;
        let (memory, passes, lanes) = (params.m_cost(), params.t_cost(), params.p_cost());
        if memory > MAX_MEMORY_KIB || passes > MAX_PASSES || lanes > MAX_LANES || memory * passes > MAX_ARGON2_WORK {
            return Err(too_expensive());
        }
        Ok(Self {
            function: Function::Argon2(algorithm, Argon2::new(algorithm, version, params)),
            salt: bytes_of(salt),
            expected,
        })
    }

    /// Parses `$2b$12$`, followed by 22 characters of salt and 31 characters of hash.
    #[cfg(feature = "bcrypt")]
    fn bcrypt(text: &str) -> Result<Self, Invalid> {
        const CODE: GeneralPurpose = GeneralPurpose::new(&alphabet::BCRYPT, LENIENT);
        let mut parts = text.splitn(4, '$').skip(2);
        let (Some(cost), Some(rest)) = (parts.next(), parts.next()) else { return Err(unknown()) };
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
        Ok(Self { function: Function::Bcrypt { cost }, salt: salt.into(), expected })
    }

    #[cfg(not(feature = "bcrypt"))]
    fn bcrypt(_: &str) -> Result<Self, Invalid> {
        Err(Invalid::new("is a bcrypt hash, but this program was built without the feature `bcrypt`"))
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
        let rounds = params.split(',').find_map(|param| param.strip_prefix("i=")).unwrap_or(params);
        let rounds: NonZero<u32> = rounds.parse().map_err(|_| unknown())?;
        // passlib writes a dot instead of a plus.
        let decode = |text: &str| CODE.decode(text.replace('.', "+")).map_err(|_| unknown());
        const CODE: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
        let salt = if is_django { salt.as_bytes().into() } else { decode(salt)?.into() };
        let expected = Output::new(&decode(expected)?).map_err(|_| unknown())?;
        if u64::from(rounds.get()) * expected.len().div_ceil(block) as u64 > MAX_PBKDF2_ROUNDS {
            return Err(too_expensive());
        }
        let function = Function::Pbkdf2 { algorithm, rounds, length: expected.len() };
        Ok(Self { function, salt, expected })
    }
}

/// Accepts base64 with or without padding, and any values of the unused trailing bits.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

fn bytes_of(salt: Salt) -> Box<[u8]> {
    salt.as_ref().into()
}

fn unknown() -> Invalid {
    Invalid::new("is no password hash in a supported format (Argon2, bcrypt, PBKDF2)")
}

fn too_expensive() -> Invalid {
    Invalid::new("costs more to verify than is allowed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_right(hash: &str, password: &str) -> bool {
        let StoredHash { function, salt, expected } = StoredHash::parse(&hash.into()).unwrap();
        let mut memory = vec![Block::default(); function.blocks()];
        function.output(&password.into(), &salt, &mut memory).unwrap() == expected
    }

    fn refusal(hash: &str) -> String {
        StoredHash::parse(&hash.into()).err().expect(hash).to_string()
    }

    /// The vectors are from the reference implementation, crypt_blowfish.
    #[cfg(feature = "bcrypt")]
    #[test]
    fn imported_bcrypt_hashes_are_verified() {
        let long = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        for (hash, password) in [
            ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U"),
            ("$2b$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK", "U*U*"),
            ("$2y$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a", "U*U*U"),
            ("$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui", long),
            ("$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui", &format!("{long}is not looked at")),
        ] {
            assert!(is_right(hash, password), "{hash}");
            assert!(!is_right(hash, "u*u"), "{hash}");
        }
    }

    /// The vectors are from Python's hashlib, in the formats of the PHC, of passlib and of Django.
    #[test]
    fn imported_pbkdf2_hashes_are_verified() {
        for hash in [
            "$pbkdf2-sha256$i=1200,l=32$AAECAwQFBgcICQoLDA0ODw$M1w1HNSutl+q2tPWS7ejhzxW7bIM4CBZ/OFYO3LKkMo",
            "$pbkdf2-sha512$i=1200$AAECAwQFBgcICQoLDA0ODw$BewofhsmGxDWz9aWBHHnfy+tjLUVwDLgJ6A4OWgGSII+e+BlKY3a7hP11xqoEVL0+3pGTUmeHPcW7a3CuvM9Uw",
            "$pbkdf2-sha512$1200$AAECAwQFBgcICQoLDA0ODw$BewofhsmGxDWz9aWBHHnfy.tjLUVwDLgJ6A4OWgGSII.e.BlKY3a7hP11xqoEVL0.3pGTUmeHPcW7a3CuvM9Uw",
            "$pbkdf2$1200$AAECAwQFBgcICQoLDA0ODw$V1Uj4sMq5YkJt/j67oKaOBYma3A",
            "pbkdf2_sha256$1200$aBcD_12+/.salt$iHETL0nku48Iyo0mfmtWfFh5M8ZWeM4Z5PipbZA6By8=",
        ] {
            assert!(is_right(hash, "Passw0rd!"), "{hash}");
            assert!(!is_right(hash, "Passw0rd?"), "{hash}");
        }
    }

    #[test]
    fn an_invalid_hash_is_refused_and_the_error_does_not_show_it() {
        for hash in [
            "",
            "hunter2",
            "$",
            "$2b$10$x",
            "$2b$03$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe\u{fc}",
            "$argon2id$v=19$m=64,t=1,p=1",
            "$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0",
            "$argon2x$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng",
            "$pbkdf2-sha256$i=0$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
            "$pbkdf2-sha256$1200$AAECAwQFBgc$",
            "$pbkdf2-sha256$1200$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng$more",
            "$pbkdf2-md5$1200$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        ] {
            let refusal = refusal(hash);
            assert!(hash.len() < 2 || !refusal.contains(hash), "{refusal}");
        }
    }

    #[test]
    fn a_hash_below_the_minimum_cost_is_not_accepted() {
        let rest = "$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng";
        let argon2 = |cost: &str| accept_hash(format!("$argon2id$v=19${cost}{rest}").as_str().into(), None);
        let pbkdf2 = |rounds: &str| accept_hash(format!("$pbkdf2-sha256${rounds}{rest}").as_str().into(), None);
        for refused in [argon2("m=12287,t=1,p=1"), argon2("m=4095,t=3,p=1"), pbkdf2("9999")] {
            assert!(refused.unwrap_err().to_string().contains("too little"));
        }
        for accepted in [argon2("m=12288,t=1,p=1"), argon2("m=4096,t=3,p=1"), pbkdf2("10000")] {
            accepted.unwrap();
        }
        assert!(accept_hash("hunter2".into(), None).unwrap_err().to_string().contains("no password hash"));
        #[cfg(feature = "bcrypt")]
        {
            let bcrypt = |cost| {
                let hash = format!("$2b${cost}$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW");
                accept_hash(hash.as_str().into(), None)
            };
            bcrypt("10").unwrap();
            assert!(bcrypt("09").unwrap_err().to_string().contains("too little"));
        }
    }

    #[test]
    fn a_hash_that_a_tenant_imports_costs_at_most_twice_one_of_the_installation() {
        let rest = "$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng";
        let cheap = Params::new(64, 1, 1, None).unwrap();
        let (usual, dear) = (Params::default(), Params::new(128 * 1024, 3, 1, None).unwrap());
        for (own, hash, is_accepted) in [
            (&usual, "$argon2id$v=19$m=19456,t=4,p=1", true),
            (&usual, "$argon2id$v=19$m=47104,t=1,p=1", true),
            (&usual, "$argon2id$v=19$m=19456,t=5,p=1", false),
            (&usual, "$argon2id$v=19$m=65537,t=1,p=1", false),
            (&usual, "$argon2id$v=19$m=262144,t=1,p=1", false),
            (&cheap, "$argon2id$v=19$m=19456,t=4,p=1", true),
            (&cheap, "$argon2id$v=19$m=19456,t=5,p=1", false),
            (&dear, "$argon2id$v=19$m=131072,t=6,p=1", true),
            (&dear, "$argon2id$v=19$m=131072,t=7,p=1", false),
            (&dear, "$argon2id$v=19$m=131073,t=1,p=1", false),
            (&usual, "$pbkdf2-sha256$38912", true),
            (&usual, "$pbkdf2-sha256$38913", false),
            (&usual, "$pbkdf2-sha512$25941", true),
            (&usual, "$pbkdf2-sha512$25942", false),
            (&usual, "$pbkdf2$38913", false),
        ] {
            let hash = PasswordHash::from(format!("{hash}{rest}").as_str());
            accept_hash(hash.clone(), None).unwrap();
            let accepted = accept_hash(hash.clone(), Some(ImportLimit::of_tenant(own)));
            assert_eq!(accepted.is_ok(), is_accepted, "{own:?} {}", hash.expose());
        }
        #[cfg(feature = "bcrypt")]
        {
            let hash = PasswordHash::from("$2b$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW");
            let refused = accept_hash(hash.clone(), Some(ImportLimit::of_tenant(&usual))).unwrap_err();
            assert!(refused.to_string().contains("only its operator"), "{refused}");
            accept_hash(hash, Some(ImportLimit::of_tenant(&dear))).unwrap();
        }
    }

    #[test]
    fn a_hash_above_the_maximum_cost_is_refused() {
        let argon2 = |cost: &str| refusal(&format!("$argon2id$v=19${cost}$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng"));
        for cost in ["m=262145,t=1,p=1", "m=64,t=17,p=1", "m=256,t=1,p=17", "m=262144,t=5,p=1"] {
            assert!(argon2(cost).contains("costs more"), "{cost}");
        }
        let pbkdf2 = |rounds: &str| refusal(&format!("$pbkdf2-sha256${rounds}$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng"));
        assert!(pbkdf2("2000001").contains("costs more"));
        let long = "MTIzNDU2Nzg5MDEyMzQ1NjEyMzQ1Njc4OTAxMjM0NTYxMjM";
        assert!(refusal(&format!("$pbkdf2-sha256$1000001$AAECAwQFBgc${long}")).contains("costs more"));
        assert!(pbkdf2("4294967296").contains("no password hash"));
        #[cfg(feature = "bcrypt")]
        assert!(refusal("$2b$15$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW").contains("costs more"));
    }
}
