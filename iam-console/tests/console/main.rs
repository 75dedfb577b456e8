//! Tests of the console's router, without a browser. Each test checks one rule.
#![cfg(test)]

mod app;
mod attack;
mod audit;
mod overview;
mod session;
mod sign_in;
mod tenant;
mod users;
mod webhooks;
