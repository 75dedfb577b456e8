use iam_model::id::UserId;
use iam_model::store_error::StoreError;
use iam_store_sql::factor_ports;

use crate::PostgresStore;
use crate::audit::execute_audited;
use crate::transaction::PostgresTransaction;
use crate::values::Row;

factor_ports! {
    PostgresStore,
    PostgresTransaction,
    of_user: "FROM iam.factors f WHERE f.tenant_id = $1 AND f.user_id = $2 ORDER BY f.created_at, f.id",
    insert: (
        "$12",
        r#"
        INSERT INTO iam.factors (
            tenant_id, id, user_id, kind, name, key, credential_id, counter, created_at, confirmed_at, last_used_at
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        "#
    ),
    update: (
        "$8",
        r#"
        UPDATE iam.factors
        SET name = $3, key = $4, counter = $5, confirmed_at = $6, last_used_at = $7
        WHERE tenant_id = $1 AND id = $2
        "#
    ),
    delete_unconfirmed: "DELETE FROM iam.factors WHERE tenant_id = $1 AND user_id = $2 AND confirmed_at IS NULL",
    delete: (
        "$3",
        "DELETE FROM iam.factors WHERE tenant_id = $1 AND id = ANY($2)"
    ),
    recovery_codes: "SELECT hash FROM iam.recovery_codes WHERE tenant_id = $1 AND user_id = $2",
    count_recovery_codes: r#"
        SELECT count(*) AS "count!" FROM iam.recovery_codes WHERE tenant_id = $1 AND user_id = $2
    "#,
    delete_recovery_codes: "DELETE FROM iam.recovery_codes WHERE tenant_id = $1 AND user_id = $2",
    delete_recovery_code: (
        "$4",
        "DELETE FROM iam.recovery_codes WHERE tenant_id = $1 AND user_id = $2 AND hash = $3"
    ),
    challenge: "FROM iam.challenges WHERE tenant_id = $1 AND token_hash = $2",
    lock_challenge: "FROM iam.challenges WHERE tenant_id = $1 AND token_hash = $2 FOR UPDATE",
    insert_challenge: r#"
        INSERT INTO iam.challenges (
            tenant_id, token_hash, purpose, user_id, tries, ceremony, created_at, expires_at
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    "#,
    update_challenge: r#"
        UPDATE iam.challenges SET tries = $3, ceremony = $4 WHERE tenant_id = $1 AND token_hash = $2
    "#,
    delete_challenge: "DELETE FROM iam.challenges WHERE tenant_id = $1 AND token_hash = $2",
    delete_challenges_of_user: "DELETE FROM iam.challenges WHERE tenant_id = $1 AND user_id = $2",
}

impl PostgresTransaction {
    async fn insert_recovery_codes(&mut self, user: UserId, hashes: &[[u8; 32]]) -> Result<(), StoreError> {
        let hashes: Vec<Vec<u8>> = hashes.iter().map(|hash| hash.to_vec()).collect();
        if self.is_distributed() {
            let (tenant, user) = (self.tenant(), user.as_uuid());
            let insert = "INSERT INTO iam.recovery_codes (tenant_id, user_id, hash) ";
            let push = |row: &mut Row<'_>, hash| {
                row.push_bind(tenant).push_bind(user).push_bind(hash);
            };
            return self.insert_values(insert, hashes, push).await;
        }
        execute_audited!(
            self,
            "$4",
            "INSERT INTO iam.recovery_codes (tenant_id, user_id, hash) SELECT $1, $2, * FROM unnest($3::bytea[])",
            self.tenant(),
            user.as_uuid(),
            &hashes
        )?;
        Ok(())
    }
}
