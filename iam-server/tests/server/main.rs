//! The server as an operator sees it: a process that has settings, a log and an address, and that ends.
#![cfg(test)]

mod api_key;
mod audit;
mod browser;
mod client;
mod collector;
mod command;
mod config;
mod crash;
mod demo;
mod documents;
mod factor;
mod failover;
mod fault;
mod http;
mod load;
mod log;
mod mail;
mod passkey;
mod process;
mod rate_limit;
mod replicas;
mod revocation;
mod session;
mod settings;
mod smtp;
mod software_authenticator;
mod start;
mod stop;
mod store;
mod sweep;
mod tenant;
mod trace;
mod user;
mod webdriver;
mod webhook;
