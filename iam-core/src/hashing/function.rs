//! The functions that make hashes from passwords, and what they cost.

use std::num::NonZero;

use argon2::password_hash::phc::Output;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use aws_lc_rs::cipher::{AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::iv::{FixedLength, IV_LEN_128_BIT};
use aws_lc_rs::pbkdf2;
use iam_model::error::{Error, Result};
use iam_model::secret::Password;
use zeroize::Zeroizing;

/// The time that a hash needs, as the memory in KiB times the passes of an Argon2 hash that takes as long.
///
/// Whether a hash is accepted must not depend on the machine and its load, so the other functions are converted by
/// ratios that were measured once. Shares of hashing go by the time that a hash really took.
pub(super) type Work = u64;

/// The work of bcrypt at cost 0: at cost 10, it takes two to three times as long as OWASP's first choice for Argon2id.
#[cfg(feature = "bcrypt")]
const BCRYPT_WORK: Work = 100;

/// The work of a KiB of scrypt, which is written once and read once, by a slower function than Argon2's.
const SCRYPT_WORK: Work = 6;

/// The variant of Argon2 for new hashes.
pub(super) const ALGORITHM: Algorithm = Algorithm::Argon2id;

/// The version of Argon2 for new hashes.
pub(super) const VERSION: Version = Version::V0x13;

/// Returns the work of an Argon2 hash.
pub(super) fn work_of(argon2: &Params) -> Work {
    Work::from(argon2.m_cost()) * Work::from(argon2.t_cost())
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
    Scrypt {
        /// The table of one lane, in KiB.
        table_kib: u64,
        lanes: u32,
    },
}

/// The function that makes a hash from a password and a salt, with its parameters.
#[derive(Clone)]
pub(super) enum Function {
    Argon2(Algorithm, Version, Argon2<'static>),
    #[cfg(feature = "bcrypt")]
    Bcrypt {
        cost: u32,
        input: BcryptInput,
    },
    Pbkdf2 {
        algorithm: pbkdf2::Algorithm,
        rounds: NonZero<u32>,
        length: usize,
    },
    Scrypt {
        params: scrypt::Params,
        length: usize,
    },
    /// Firebase's: the output of scrypt is the key with which AES encrypts the signer key of the project, and the result
    /// of that is the hash.
    Firebase {
        params: scrypt::Params,
        signer_key: Zeroizing<Vec<u8>>,
    },
}

/// What a system gives to bcrypt in place of a password.
#[cfg(feature = "bcrypt")]
#[derive(Clone)]
pub(super) enum BcryptInput {
    /// The password itself.
    Password,
    /// The SHA-256 of the password in hexadecimal digits, as Django does it.
    Sha256,
    /// The password and then a secret, as Devise does it.
    Peppered(Zeroizing<Vec<u8>>),
}

impl Function {
    /// Returns the number of blocks of Argon2 that the function needs.
    pub(super) fn blocks(&self) -> usize {
        match self {
            Self::Argon2(_, _, argon2) => argon2.params().block_count(),
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { .. } => 0,
            Self::Pbkdf2 { .. } | Self::Scrypt { .. } | Self::Firebase { .. } => 0,
        }
    }

    /// Returns the memory in KiB that the function needs.
    pub(super) fn memory_kib(&self) -> u64 {
        match self {
            Self::Argon2(_, _, argon2) => argon2.params().m_cost().into(),
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { .. } => 0,
            Self::Pbkdf2 { .. } => 0,
            Self::Scrypt { params, .. } | Self::Firebase { params, .. } => {
                // The lanes use one table, one after the other, and each has a block of its own.
                let blocks = u64::from(params.r()) * u64::from(params.p()) / 8;
                table_kib(params) + blocks
            }
        }
    }

    /// Computes the hash. `memory` must have at least as many [blocks](Self::blocks) as the function needs.
    pub(super) fn output(&self, password: &Password, salt: &[u8], memory: &mut [Block]) -> Result<Output> {
        let password = password.expose().as_bytes();
        let output = match self {
            Self::Argon2(_, _, argon2) => {
                let mut bytes = vec![0; argon2.params().output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN)];
                let hashed = argon2.hash_password_into_with_memory(password, salt, &mut bytes, memory);
                hashed.map_err(|cause| Error::internal("password hashing", cause))?;
                Output::new(&bytes)
            }
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { cost, input } => Output::new(&bcrypt(*cost, &input.of(password), salt)?),
            Self::Pbkdf2 { algorithm, rounds, length } => {
                let mut bytes = vec![0; *length];
                pbkdf2::derive(*algorithm, *rounds, salt, password, &mut bytes);
                Output::new(&bytes)
            }
            Self::Scrypt { params, length } => {
                let mut bytes = vec![0; *length];
                scrypt::scrypt(password, salt, params, &mut bytes)
                    .map_err(|cause| Error::internal("password hashing", cause))?;
                Output::new(&bytes)
            }
            Self::Firebase { params, signer_key } => {
                let mut key = Zeroizing::new([0_u8; 32]);
                scrypt::scrypt(password, salt, params, key.as_mut_slice())
                    .map_err(|cause| Error::internal("password hashing", cause))?;
                Output::new(&encrypted_signer_key(key.as_slice(), signer_key)?)
            }
        };
        output.map_err(|cause| Error::internal("password hashing", cause))
    }

    /// Returns the time that the function needs.
    pub(super) fn work(&self) -> Work {
        match self {
            Self::Argon2(_, _, argon2) => work_of(argon2.params()),
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { cost, .. } => BCRYPT_WORK << cost,
            Self::Pbkdf2 { algorithm, rounds, length } => {
                // Two rounds of SHA-1 or SHA-256, and one of SHA-512, take as long as three or four KiB of Argon2.
                let (block, work) = match *algorithm {
                    algorithm if algorithm == pbkdf2::PBKDF2_HMAC_SHA512 => (64, 3),
                    algorithm if algorithm == pbkdf2::PBKDF2_HMAC_SHA256 => (32, 2),
                    _ => (20, 2),
                };
                Work::from(rounds.get()) * length.div_ceil(block) as Work * work
            }
            Self::Scrypt { params, .. } | Self::Firebase { params, .. } => {
                table_kib(params) * Work::from(params.p()) * SCRYPT_WORK
            }
        }
    }

    /// Returns the parameters that determine how long the function takes.
    pub(super) fn cost(&self) -> Cost {
        match self {
            Self::Argon2(_, _, argon2) => {
                let params = argon2.params();
                Cost::Argon2 { memory_kib: params.m_cost(), passes: params.t_cost(), lanes: params.p_cost() }
            }
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { cost, .. } => Cost::Bcrypt { cost: *cost },
            Self::Pbkdf2 { rounds, length, .. } => Cost::Pbkdf2 { rounds: *rounds, length: *length },
            Self::Scrypt { params, .. } | Self::Firebase { params, .. } => {
                Cost::Scrypt { table_kib: table_kib(params), lanes: params.p() }
            }
        }
    }

    /// Whether the function makes different hashes of passwords of which one has a NUL. PBKDF2 and scrypt pad a short
    /// password with NUL, and bcrypt repeats a password after a NUL until it is long enough.
    pub(super) fn distinguishes_nul(&self) -> bool {
        match self {
            Self::Argon2(..) => true,
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { .. } => false,
            Self::Pbkdf2 { .. } | Self::Scrypt { .. } | Self::Firebase { .. } => false,
        }
    }

    /// Whether the function reads the whole password, and no longer one has the same hash.
    #[cfg_attr(not(feature = "bcrypt"), expect(unused_variables, reason = "only bcrypt truncates passwords"))]
    pub(super) fn reads_all_of(&self, password: &Password) -> bool {
        match self {
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { input: BcryptInput::Sha256, .. } => true,
            #[cfg(feature = "bcrypt")]
            Self::Bcrypt { .. } => password.expose().len() < BCRYPT_INPUT,
            Self::Argon2(..) | Self::Pbkdf2 { .. } | Self::Scrypt { .. } | Self::Firebase { .. } => true,
        }
    }

    /// Whether the function is the one for new hashes.
    ///
    /// A stronger one is another one: it would cost its time and memory at every login, and the time would show whose
    /// hash it is.
    pub(super) fn is_that_of_new(&self, new: &Argon2<'_>) -> bool {
        let Self::Argon2(algorithm, version, argon2) = self else { return false };
        let of = |params: &Params| {
            let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
            (params.m_cost(), params.t_cost(), params.p_cost(), length)
        };
        (*algorithm, *version) == (ALGORITHM, VERSION) && of(argon2.params()) == of(new.params())
    }
}

/// Returns the size of the table of scrypt in KiB: N blocks of 128 times r bytes.
fn table_kib(params: &scrypt::Params) -> u64 {
    params.n().saturating_mul(params.r().into()) / 8
}

/// Encrypts the signer key of a Firebase project by AES-256 in the counter mode, which begins at zero.
fn encrypted_signer_key(key: &[u8], signer_key: &[u8]) -> Result<Vec<u8>> {
    let internal = |cause: Unspecified| Error::internal("password hashing", cause);
    let key = UnboundCipherKey::new(&AES_256, key).map_err(internal)?;
    let mut encrypted = signer_key.to_vec();
    // Each hash has a key of its own, so the vector of zeros that Firebase prescribes is not used twice with a key.
    let zeros = EncryptionContext::Iv128(FixedLength::from(&[0; IV_LEN_128_BIT]));
    EncryptingKey::ctr(key).map_err(internal)?.less_safe_encrypt(&mut encrypted, zeros).map_err(internal)?;
    Ok(encrypted)
}

#[cfg(feature = "bcrypt")]
impl BcryptInput {
    fn of(&self, password: &[u8]) -> Zeroizing<Vec<u8>> {
        match self {
            Self::Password => password.to_vec().into(),
            Self::Sha256 => {
                let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, password);
                data_encoding::HEXLOWER.encode(digest.as_ref()).into_bytes().into()
            }
            Self::Peppered(pepper) => [password, pepper.as_slice()].concat().into(),
        }
    }
}

/// Returns the bcrypt hash of the first 72 bytes of a password. Of the 24 bytes of output, bcrypt never stores the
/// last one.
#[cfg(feature = "bcrypt")]
fn bcrypt(cost: u32, password: &[u8], salt: &[u8]) -> Result<[u8; BCRYPT_OUTPUT]> {
    let terminated: Zeroizing<Vec<u8>> =
        password.iter().copied().chain([0]).take(BCRYPT_INPUT).collect::<Vec<u8>>().into();
    let salt = salt.try_into().map_err(|cause| Error::internal("password hashing", cause))?;
    let mut output = [0; BCRYPT_OUTPUT];
    output.iter_mut().zip(bcrypt::bcrypt(cost, salt, &terminated)).for_each(|(to, byte)| *to = byte);
    Ok(output)
}

#[cfg(feature = "bcrypt")]
const BCRYPT_INPUT: usize = 72;

#[cfg(feature = "bcrypt")]
pub(super) const BCRYPT_OUTPUT: usize = 23;
