use iam_store_sql::key_ports;

use crate::PostgresStore;

key_ports! {
    PostgresStore,
    by_purpose: "FROM iam.signing_keys WHERE purpose = $1 ORDER BY generation",
    insert: r#"
        INSERT INTO iam.signing_keys (
            purpose, generation, id, public_key, private_key, encrypted, created_at, signs_from,
            revoked_at
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    "#,
    replace: r#"
        UPDATE iam.signing_keys
        SET private_key = $4, encrypted = $5
        WHERE id = $1 AND private_key = $2 AND encrypted = $3
    "#,
    revoke: r#"
        UPDATE iam.signing_keys
        SET private_key = '', encrypted = false, revoked_at = $2
        WHERE id = $1 AND purpose = 'ACCESS_TOKENS' AND revoked_at IS NULL
    "#,
}
