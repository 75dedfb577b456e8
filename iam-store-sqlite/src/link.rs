use iam_store_sql::link_ports;

use crate::SqliteStore;
use crate::transaction::SqliteTransaction;

link_ports! {
    SqliteStore,
    SqliteTransaction,
    by_token: "FROM links WHERE tenant_id = ?1 AND token_hash = ?2",
    by_subject: "FROM links WHERE tenant_id = ?1 AND purpose = ?2 AND subject = ?3",
    lock: "FROM links WHERE tenant_id = ?1 AND purpose = ?2 AND subject = ?3",
    issue: r#"
        INSERT INTO links (tenant_id, purpose, subject, id, email, token_hash, created_at, expires_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT (tenant_id, purpose, subject) DO UPDATE
        SET
            id = excluded.id,
            email = excluded.email,
            token_hash = excluded.token_hash,
            created_at = excluded.created_at,
            expires_at = excluded.expires_at
    "#,
    end: "DELETE FROM links WHERE tenant_id = ?1 AND purpose = ?2 AND subject = ?3",
}
