use iam_store_sql::invitation::InvitedRoles;
use iam_store_sql::invitation_ports;

use crate::SqliteStore;
use crate::transaction::{SqliteTransaction, execute_audited};

impl InvitedRoles for SqliteStore {
    const ROLES: &'static str = "json_each(i.roles) r";
    const ORGANIZATION: &'static str = "unhex(r.value ->> 'organizationId', '-')";
}

invitation_ports! {
    SqliteStore,
    SqliteTransaction,
    by_id: "FROM invitations WHERE tenant_id = ?1 AND id = ?2",
    lock: "FROM invitations WHERE tenant_id = ?1 AND id = ?2",
    expire: r#"
        UPDATE invitations
        SET status = 'EXPIRED'
        WHERE tenant_id = ?1 AND email_key = ?2 AND status = 'PENDING' AND expires_at <= ?3
    "#,
    insert: (
        r#"
        INSERT INTO invitations (
            tenant_id, id, email, email_key, first_name, last_name, roles, status, invited_by, expires_at, created_at
        )
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
        "#
    ),
    update: ("UPDATE invitations SET status = ?3, expires_at = ?4 WHERE tenant_id = ?1 AND id = ?2"),
}
