//! Tests of the console's router, without a browser. Each test checks one rule.
#![cfg(test)]

mod access;
mod access_requests;
mod access_reviews;
mod access_table;
mod account;
mod acting;
mod app;
mod attack;
mod attributes;
mod audit;
mod directories;
mod domains;
mod eligibilities;
mod email_login;
mod federation;
mod filters;
mod find;
mod frame;
mod identity_providers;
mod import;
mod invitations;
mod keys;
mod language;
mod look;
mod organizations;
mod overview;
mod permissions;
mod roles;
mod runs;
mod session;
mod sign_in;
mod tenant;
mod users;
mod webhooks;
