use iam_store_sql::invitation::InvitedRoles;
use iam_store_sql::invitation_ports;

use crate::PostgresStore;
use crate::audit::execute_audited;
use crate::transaction::PostgresTransaction;

impl InvitedRoles for PostgresStore {
    const ROLES: &'static str = "jsonb_array_elements(i.roles) r";
    const ORGANIZATION: &'static str = "(r.value ->> 'organizationId')::uuid";
}

invitation_ports! {
    PostgresStore,
    PostgresTransaction,
    by_id: "FROM iam.invitations WHERE tenant_id = $1 AND id = $2",
    lock: "FROM iam.invitations WHERE tenant_id = $1 AND id = $2 FOR UPDATE",
    expire: r#"
        UPDATE iam.invitations
        SET status = 'EXPIRED'
        WHERE tenant_id = $1 AND email_key = $2 AND status = 'PENDING' AND expires_at <= $3
    "#,
    insert: (
        "$12",
        r#"
        INSERT INTO iam.invitations (
            tenant_id, id, email, email_key, first_name, last_name, roles, status, invited_by, expires_at, created_at
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        "#
    ),
    update: (
        "$5",
        "UPDATE iam.invitations SET status = $3, expires_at = $4 WHERE tenant_id = $1 AND id = $2"
    ),
}
