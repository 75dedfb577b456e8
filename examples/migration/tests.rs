use iam_store_memory::MemoryStore;

use super::*;

fn rows() -> Vec<Row> {
    legacy::read(concat!(env!("CARGO_MANIFEST_DIR"), "/migration/legacy-users.csv")).unwrap()
}

async fn migration() -> Migration {
    Migration::begin(Arc::new(MemoryStore::new())).await.unwrap()
}

fn lines(out: Vec<u8>) -> Vec<String> {
    String::from_utf8(out).unwrap().lines().map(|line| line.trim().to_owned()).collect()
}

#[tokio::test]
async fn a_dry_run_reports_the_same_rows_as_the_import() {
    let (migration, mut dry, mut real) = (migration().await, Vec::new(), Vec::new());
    assert!(migration.import(&rows(), true, &mut dry).await.unwrap().is_empty());
    let users = migration.import(&rows(), false, &mut real).await.unwrap();
    assert_eq!((lines(dry.clone()), users.len()), (lines(real), 5));
    let refused: Vec<String> = lines(dry).into_iter().filter(|line| line.contains("refused")).collect();
    assert_eq!(refused.len(), 3, "{refused:?}");
    assert!(refused[0].starts_with("row 6: ADA@example.com is refused: A user with this e-mail"), "{refused:?}");
    assert!(refused[1].starts_with("row 7: emmy@example.com") && refused[1].contains("passwordHash"), "{refused:?}");
    assert!(refused[2].contains("email") && refused[2].contains("firstName"), "{refused:?}");
}

#[tokio::test]
async fn the_first_login_replaces_an_imported_hash_by_argon2id() {
    let migration = migration().await;
    let users = migration.import(&rows(), false, &mut io::sink()).await.unwrap();
    for user in users.iter().filter(|user| user.status == UserStatus::Active) {
        let foreign = migration.hash_of(user).await.unwrap();
        migration.log_in(user).await.unwrap();
        let own = migration.hash_of(user).await.unwrap();
        assert_ne!(own, foreign);
        let cost = migration.iam.settings().hashing_cost;
        let cost = format!("$argon2id$v=19$m={},t={},p={}$", cost.memory_kib, cost.passes, cost.lanes);
        assert!(own.starts_with(&cost), "{} has {}", user.email, kind(&own));
        migration.log_in(user).await.unwrap();
        assert_eq!(migration.hash_of(user).await.unwrap(), own, "the hash is replaced only once");
    }
}

#[tokio::test]
async fn the_migration_program_prints_no_hash() {
    let mut out = Vec::new();
    migration().await.run(&rows(), &mut out).await.unwrap();
    let lines = lines(out);
    for line in [
        "ada@example.com    logged in: bcrypt -> argon2id",
        "grace@example.com  logged in: argon2i -> argon2id",
        "alan@example.com   logged in: pbkdf2_sha256 -> argon2id",
        "alan@example.com   logged in: argon2id -> argon2id",
        "eve@example.com    suspended, as before: pbkdf2_sha256 -> pbkdf2_sha256",
    ] {
        assert!(lines.iter().any(|written| written == line), "{line} is missing in {lines:#?}");
    }
    assert!(!lines.iter().any(|line| line.contains('$')), "{lines:#?}");
}
