//! A person on the command line. The password is never an argument: arguments are visible in the process list.

use std::io::{BufRead as _, IsTerminal as _, Read as _, stdin};

use clap::Args;
use iam_core::Iam;
use iam_core::secret::Password;
use iam_core::user::NewUser;

use crate::command::output::print;
use crate::failure::Failure;

#[derive(Clone, Args)]
pub(crate) struct Person {
    /// The user's e-mail
    #[arg(long, value_name = "ADDRESS")]
    email: String,
    /// The user's first name
    #[arg(long, value_name = "NAME")]
    first_name: String,
    /// The user's last name
    #[arg(long, value_name = "NAME")]
    last_name: String,
    #[command(flatten)]
    pub(crate) password: PasswordSource,
}

impl Person {
    pub(crate) fn with_password(&self, password: Password) -> NewUser {
        let (email, first_name, last_name) = (self.email.clone(), self.first_name.clone(), self.last_name.clone());
        NewUser { email, password, first_name, last_name }
    }
}

#[derive(Clone, Copy, Args)]
pub(crate) struct PasswordSource {
    /// Read the password from the first line of the standard input [default: generate one and print it once]
    #[arg(long)]
    password_stdin: bool,
}

impl PasswordSource {
    /// Returns the password from the standard input, or generates one.
    pub(crate) fn password(self, iam: &Iam) -> Result<Password, Failure> {
        if self.password_stdin { read_password() } else { Ok(iam.credentials().make_password()) }
    }

    /// Prints the password if it was generated: no user knows it yet.
    pub(crate) fn tell(self, password: &Password) -> Result<(), Failure> {
        if self.password_stdin { Ok(()) } else { print(&format!("Password: {}", password.expose())) }
    }
}

/// The most bytes that are read: far more than a password may have. Endless input is cut here, and then refused as a
/// password.
const MOST: u64 = 4096;

fn read_password() -> Result<Password, Failure> {
    if stdin().is_terminal() {
        let advice = "pipe it in, or omit --password-stdin to generate one";
        return Err(Failure(format!("the terminal would show a typed password: {advice}")));
    }
    let mut line = String::new();
    let read = stdin().lock().take(MOST).read_line(&mut line);
    read.map_err(|error| Failure::new("reading the password from the standard input", &error))?;
    let password = line.trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        return Err(Failure("there is no password in the standard input".to_owned()));
    }
    Ok(password.into())
}
