//! Rebuilds the crate when a file changes that the query macros or the migrator read at compile time.

fn main() {
    for path in ["migrations", ".sqlx", "sqlx.toml"] {
        println!("cargo::rerun-if-changed={path}");
    }
}
