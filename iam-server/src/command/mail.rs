//! The commands of `mail`.

use clap::Subcommand;
use iam_core::Email;

use crate::command::output::print;
use crate::failure::Failure;
use crate::mail::{smtp_mailer, templates};
use crate::settings::{MailRoute, Settings};

#[derive(Clone, Subcommand)]
pub(crate) enum Mail {
    /// Send a test message, and print what the mail server answers
    Test {
        /// The address to which the message is sent
        #[arg(value_name = "ADDRESS")]
        address: Email,
    },
}

pub(crate) async fn mail(command: Mail, settings: &Settings) -> Result<(), Failure> {
    match command {
        Mail::Test { address } => test(&address, settings).await,
    }
}

async fn test(address: &Email, settings: &Settings) -> Result<(), Failure> {
    let Some(mail) = &settings.mail else {
        return Err(Failure("mail is off: set smtp_url and mail_from".to_owned()));
    };
    let MailRoute::Smtp(server) = &mail.route else {
        templates(mail, &settings.http.brand)?;
        return Err(Failure("mail_dir is set, so no message is sent: set smtp_url instead".to_owned()));
    };
    let answer = smtp_mailer(server, mail, templates(mail, &settings.http.brand)?).test(address).await;
    let answer = answer.map_err(|error| Failure(format!("the message was not sent: {error}")))?;
    print(&format!("The mail server has accepted the message: {answer}"))
}
