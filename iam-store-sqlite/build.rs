//! Rebuilds the crate when something the query macros and the migrator read at compile time changes.

fn main() {
    for path in ["migrations", ".sqlx", "sqlx.toml"] {
        println!("cargo::rerun-if-changed={path}");
    }
}
