//! The client against a server that does what a test needs, and against the real one.
#![cfg(test)]

mod fake;
mod guard;
mod hostile;
mod pages;
mod problem;
mod retry;
mod server;
mod session;
mod step_up;
mod tokens;
mod verify;
