use std::fmt::Write as _;
use std::ops::Range;

use chrono::Utc;
use iam_benches::Outcome;
use iam_core::TenantId;
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::{Crowd, id, organization};

pub(super) async fn users(connection: &mut PgConnection, crowd: &Crowd, numbers: Range<u64>) -> Outcome {
    let (tenant, hash, now) = (crowd.tenant, &crowd.password_hash, Utc::now());
    let (mut users, mut credentials) = (String::new(), String::new());
    for number in numbers {
        let user = crowd.user(number, now)?;
        let (id, email, first, last, created) =
            (user.id, user.email, user.first_name, user.last_name, user.created_at.to_rfc3339());
        let (first_key, last_key) = (first.to_lowercase(), last.to_lowercase());
        writeln!(
            users,
            "{tenant}\t{id}\t{email}\t{email}\t{first}\t{first_key}\t{last}\t{last_key}\tACTIVE\t{created}\t{created}"
        )?;
        writeln!(credentials, "{tenant}\t{id}\t{hash}")?;
    }
    let into_users = "COPY iam.users (tenant_id, id, email, email_key, first_name, first_name_key, last_name,
        last_name_key, status, created_at, updated_at) FROM STDIN";
    copy(connection, into_users, users).await?;
    let into_credentials = "COPY iam.credentials (tenant_id, user_id, password_hash) FROM STDIN";
    copy(connection, into_credentials, credentials).await
}

pub(super) async fn organizations(connection: &mut PgConnection, tenant: TenantId, numbers: Range<u64>) -> Outcome {
    let (mut rows, now) = (String::new(), Utc::now().to_rfc3339());
    for organization in numbers.map(organization) {
        let (id, name, slug) = (organization.id, organization.name, organization.slug);
        let key = name.to_lowercase();
        let parent = organization.parent.map_or_else(|| "\\N".to_owned(), |parent| parent.to_string());
        writeln!(rows, "{tenant}\t{id}\t{name}\t{key}\t{slug}\tACTIVE\t{parent}\t{now}\t{now}")?;
    }
    let into_organizations =
        "COPY iam.organizations (tenant_id, id, name, name_key, slug, status, parent_id, created_at,
        updated_at) FROM STDIN";
    copy(connection, into_organizations, rows).await
}

async fn copy(connection: &mut PgConnection, statement: &str, rows: String) -> Outcome {
    let mut copy = connection.copy_in_raw(statement).await?;
    copy.send(rows.into_bytes()).await?;
    copy.finish().await?;
    Ok(())
}

pub(super) async fn assign(
    connection: &mut PgConnection,
    tenant: TenantId,
    role: Uuid,
    organization: Option<Uuid>,
    users: Range<u64>,
) -> Outcome {
    let assign = sqlx::query(
        "INSERT INTO iam.role_assignments (tenant_id, id, user_id, role_id, organization_id, created_at)
        SELECT tenant_id, id, id, $2, $5, created_at FROM iam.users WHERE tenant_id = $1 AND id >= $3 AND id < $4",
    );
    let assign = assign.bind(tenant.as_uuid()).bind(role).bind(id(users.start)).bind(id(users.end));
    assign.bind(organization).execute(connection).await?;
    Ok(())
}
