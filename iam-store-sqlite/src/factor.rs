use iam_model::id::UserId;
use iam_model::store_error::StoreError;
use iam_store_sql::factor_ports;

use crate::SqliteStore;
use crate::error::store_error;
use crate::transaction::{SqliteTransaction, execute_audited};

factor_ports! {
    SqliteStore,
    SqliteTransaction,
    of_user: "FROM factors f WHERE f.tenant_id = ?1 AND f.user_id = ?2 ORDER BY f.created_at, f.id",
    insert: (
        r#"
        INSERT INTO factors (
            tenant_id, id, user_id, kind, name, key, credential_id, counter, created_at, confirmed_at, last_used_at
        )
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
        "#
    ),
    update: (
        r#"
        UPDATE factors
        SET name = ?3, key = ?4, counter = ?5, confirmed_at = ?6, last_used_at = ?7
        WHERE tenant_id = ?1 AND id = ?2
        "#
    ),
    delete_unconfirmed: "DELETE FROM factors WHERE tenant_id = ?1 AND user_id = ?2 AND confirmed_at IS NULL",
    delete: ("DELETE FROM factors WHERE tenant_id = ?1 AND id IN (SELECT unhex(value, '-') FROM json_each(?2))"),
    recovery_codes: "SELECT hash FROM recovery_codes WHERE tenant_id = ?1 AND user_id = ?2",
    count_recovery_codes: "SELECT count(*) FROM recovery_codes WHERE tenant_id = ?1 AND user_id = ?2",
    delete_recovery_codes: "DELETE FROM recovery_codes WHERE tenant_id = ?1 AND user_id = ?2",
    delete_recovery_code: ("DELETE FROM recovery_codes WHERE tenant_id = ?1 AND user_id = ?2 AND hash = ?3"),
    challenge: "FROM challenges WHERE tenant_id = ?1 AND token_hash = ?2",
    lock_challenge: "FROM challenges WHERE tenant_id = ?1 AND token_hash = ?2",
    insert_challenge: r#"
        INSERT INTO challenges (
            tenant_id, token_hash, purpose, user_id, tries, ceremony, created_at, expires_at
        )
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    "#,
    update_challenge: "UPDATE challenges SET tries = ?3, ceremony = ?4 WHERE tenant_id = ?1 AND token_hash = ?2",
    delete_challenge: "DELETE FROM challenges WHERE tenant_id = ?1 AND token_hash = ?2",
    delete_challenges_of_user: "DELETE FROM challenges WHERE tenant_id = ?1 AND user_id = ?2",
}

impl SqliteTransaction {
    async fn insert_recovery_codes(&mut self, user: UserId, hashes: &[[u8; 32]]) -> Result<(), StoreError> {
        for hash in hashes {
            let insert = sqlx::query!(
                "INSERT INTO recovery_codes (tenant_id, user_id, hash) VALUES (?1, ?2, ?3)",
                self.tenant(),
                user.as_uuid(),
                hash.as_slice()
            );
            insert.execute(self.connection()).await.map_err(store_error)?;
        }
        Ok(())
    }
}
