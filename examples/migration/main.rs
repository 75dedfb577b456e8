//! Imports the users of another system with their password hashes.
//!
//! `cargo run -p iam-examples --example migration` reads `legacy-users.csv` and prints the result for each row.

mod legacy;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use iam_core::secret::Password;
use iam_core::session::Login;
use iam_core::tenant::NewTenant;
use iam_core::user::{Imported, NewUser, User, UserStatus};
use iam_core::{Caller, Iam, RequestContext, Store, TenantId};
use iam_store_sqlite::SqliteStore;

use legacy::Row;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The password of every user in the file of this example.
const PASSWORD: &str = "Passw0rd!";

#[tokio::main]
async fn main() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let store = SqliteStore::open(&format!("sqlite://{}", directory.path().join("iam.db").display())).await?;
    store.migrate().await?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/migration/legacy-users.csv");
    let migration = Migration::begin(Arc::new(store)).await?;
    migration.run(&legacy::read(file)?, &mut io::stdout()).await
}

struct Migration {
    store: Arc<dyn Store>,
    iam: Iam,
    tenant: TenantId,
}

impl Migration {
    async fn begin(store: Arc<dyn Store>) -> Result<Self> {
        let iam = Iam::builder(Arc::clone(&store)).build().await?;
        let administrator = NewUser {
            email: "operator@example.com".to_owned(),
            password: Password::from("An0ther one!"),
            first_name: "The".to_owned(),
            last_name: "Operator".to_owned(),
        };
        let new = NewTenant { name: "Acme".to_owned(), slug: None, administrator };
        let tenant = iam.tenants().create("migration", new).await?.tenant.id;
        Ok(Self { store, iam, tenant })
    }

    async fn run(&self, rows: &[Row], out: &mut impl Write) -> Result<()> {
        writeln!(out, "Dry run:")?;
        self.import(rows, true, out).await?;
        writeln!(out, "\nImport:")?;
        let users = self.import(rows, false, out).await?;
        for attempt in ["first", "second"] {
            writeln!(out, "\nThe {attempt} login with the old password:")?;
            for user in &users {
                let before = self.hash_of(user).await?;
                let outcome = match self.log_in(user).await {
                    Ok(()) => "logged in",
                    Err(iam_core::Error::Forbidden(_)) if user.status == UserStatus::Suspended => {
                        "suspended, as before"
                    }
                    Err(error) => return Err(format!("{}: {error}", user.email).into()),
                };
                let after = self.hash_of(user).await?;
                writeln!(out, "  {:<18} {outcome}: {} -> {}", user.email.as_str(), kind(&before), kind(&after))?;
            }
        }
        Ok(())
    }

    /// Imports the rows, or only checks them in a dry run. Reports a refused row, and continues with the next one.
    async fn import(&self, rows: &[Row], is_dry_run: bool, out: &mut impl Write) -> Result<Vec<User>> {
        let caller = Caller::system(self.tenant, "migration");
        let import = self.iam.users().import(&caller)?;
        let mut import = if is_dry_run { import.dry_run() } else { import };
        let mut users = Vec::new();
        for (number, row) in (1..).zip(rows) {
            match import.add(row.to_user()).await {
                Ok(imported) => {
                    writeln!(out, "  row {number}: {} is fine", row.email)?;
                    if let Imported::Created(user) = imported {
                        users.push(*user);
                    }
                }
                // The store has failed, so it could not record the next rows either.
                Err(error @ iam_core::Error::Store(_)) => return Err(error.into()),
                Err(error) => writeln!(out, "  row {number}: {} is refused: {}", row.email, why(&error))?,
            }
        }
        Ok(users)
    }

    async fn log_in(&self, user: &User) -> iam_core::Result<()> {
        let tenant = Some(self.tenant.to_string());
        let login = Login { email: user.email.to_string(), password: PASSWORD.into(), tenant };
        self.iam.sessions().login(&RequestContext::default(), login).await.map(drop)
    }

    /// Reads the hash from the store. No service returns it.
    async fn hash_of(&self, user: &User) -> Result<String> {
        let found = self.store.guarded_account(self.tenant, &user.email.key()).await?;
        let account = found.account.ok_or("the user is gone")?;
        Ok(account.password.expose().to_owned())
    }
}

/// The text of an error. For a validation error, it names the invalid fields, which the error's own text does not.
fn why(error: &iam_core::Error) -> String {
    match error {
        iam_core::Error::Validation(errors) => {
            let fields: Vec<String> = errors.iter().map(|error| format!("{} {}", error.field, error.message)).collect();
            fields.join("; ")
        }
        error => error.to_string(),
    }
}

/// The algorithm of a hash. It does not help to guess the password.
fn kind(hash: &str) -> &str {
    match hash.trim_start_matches('$').split('$').next().unwrap_or_default() {
        "2a" | "2b" | "2y" => "bcrypt",
        kind => kind,
    }
}
