//! Tests of the verification of passkeys, against a software authenticator and against fixed vectors of others.
#![cfg(test)]

mod authentication;
mod authenticator;
mod fuzz;
mod key;
mod properties;
mod registration;
mod relying_party;
mod response;
mod vectors;
