//! Tests of the console's router, without a browser. Each test checks one rule.
#![cfg(test)]

mod account;
mod app;
mod attack;
mod audit;
mod import;
mod invitations;
mod keys;
mod overview;
mod session;
mod sign_in;
mod users;
