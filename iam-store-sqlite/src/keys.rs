//! The keys of rows that were written with keys of an earlier form; see [`iam_store_sql::keys`].

use iam_model::store_error::{Constraint, StoreError};
use iam_model::text::folded;
use iam_store_sql::keys::{
    AddressConflict, BATCH, KeyedCount, KeyedInvitation, KeyedOrganization, KeyedUser, conflict_key, key_of,
};
use sqlx::sqlite::SqliteConnection;
use uuid::Uuid;

use crate::error::store_error;
use crate::store::SqliteStore;

impl SqliteStore {
    /// Returns the users whose address has the key that another account of their tenant keeps. No login finds such a
    /// user, until an administrator changes one of the two addresses.
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn address_conflicts(&self) -> Result<Vec<AddressConflict>, StoreError> {
        let mut reader = self.readers.acquire().await.map_err(store_error)?;
        let mut conflicts = Vec::new();
        for user in users_in_conflict(&mut reader).await? {
            if let Some(holder) = holder_of(&mut reader, &user, &user.key()).await? {
                let (tenant_id, user_id) = (user.tenant_id.into(), user.id.into());
                conflicts.push(AddressConflict { tenant_id, user_id, holder_id: holder.id.into() });
            }
        }
        reader.give_back();
        Ok(conflicts)
    }

    /// Makes the keys of all rows that have keys of an earlier form. The finished part stays when it is interrupted.
    pub(crate) async fn make_keys(&self) -> Result<(), StoreError> {
        loop {
            let mut work = self.writer.begin().await.map_err(store_error)?;
            let made = make_batch(work.connection()).await?;
            work.commit().await.map_err(store_error)?;
            if !made {
                break;
            }
        }
        let mut work = self.writer.begin().await.map_err(store_error)?;
        for user in users_in_conflict(work.connection()).await? {
            let key = user.key();
            if holder_of(work.connection(), &user, &key).await?.is_none() {
                set_email_key(work.connection(), user.tenant_id, user.id, &key).await?;
            }
        }
        work.commit().await.map_err(store_error)
    }

    /// Moves the counts of failed logins and of messages to the keys of this release. They are short-lived, so this
    /// is done once, with the migration.
    pub(crate) async fn move_counts(connection: &mut SqliteConnection) -> Result<(), StoreError> {
        let counts = sqlx::query_as!(
            KeyedCount,
            r#"
            SELECT tenant_id AS "tenant_id: Uuid", email_key
            FROM login_attempts
            WHERE length(CAST(email_key AS BLOB)) > length(email_key) OR instr(email_key, 'xn--') > 0
            "#
        );
        for count in counts.fetch_all(&mut *connection).await.map_err(store_error)? {
            let Some(key) = count.moved() else { continue };
            let moved = sqlx::query!(
                r#"
                INSERT INTO login_attempts (tenant_id, email_key, failed_at, locked_until)
                SELECT tenant_id, ?3, failed_at, locked_until
                FROM login_attempts
                WHERE tenant_id = ?1 AND email_key = ?2
                ON CONFLICT (tenant_id, email_key) DO UPDATE
                SET failed_at = (
                        SELECT json_group_array(value)
                        FROM (
                            SELECT value FROM json_each(login_attempts.failed_at)
                            UNION ALL
                            SELECT value FROM json_each(excluded.failed_at)
                            ORDER BY value
                        )
                    ),
                    locked_until = nullif(
                        max(coalesce(login_attempts.locked_until, 0), coalesce(excluded.locked_until, 0)),
                        0
                    )
                "#,
                count.tenant_id,
                count.email_key,
                key
            );
            moved.execute(&mut *connection).await.map_err(store_error)?;
            let old = sqlx::query!(
                "DELETE FROM login_attempts WHERE tenant_id = ?1 AND email_key = ?2",
                count.tenant_id,
                count.email_key
            );
            old.execute(&mut *connection).await.map_err(store_error)?;
        }
        let counts = sqlx::query_as!(
            KeyedCount,
            r#"
            SELECT DISTINCT tenant_id AS "tenant_id: Uuid", email_key
            FROM queued_messages
            WHERE length(CAST(email_key AS BLOB)) > length(email_key) OR instr(email_key, 'xn--') > 0
            "#
        );
        for count in counts.fetch_all(&mut *connection).await.map_err(store_error)? {
            let Some(key) = count.moved() else { continue };
            let moved = sqlx::query!(
                r#"
                INSERT INTO queued_messages (tenant_id, email_key, kind, queued_at)
                SELECT tenant_id, ?3, kind, queued_at
                FROM queued_messages
                WHERE tenant_id = ?1 AND email_key = ?2
                ON CONFLICT (tenant_id, email_key, kind) DO UPDATE
                SET queued_at = (
                    SELECT json_group_array(value)
                    FROM (
                        SELECT value FROM json_each(queued_messages.queued_at)
                        UNION ALL
                        SELECT value FROM json_each(excluded.queued_at)
                        ORDER BY value
                    )
                )
                "#,
                count.tenant_id,
                count.email_key,
                key
            );
            moved.execute(&mut *connection).await.map_err(store_error)?;
            let old = sqlx::query!(
                "DELETE FROM queued_messages WHERE tenant_id = ?1 AND email_key = ?2",
                count.tenant_id,
                count.email_key
            );
            old.execute(&mut *connection).await.map_err(store_error)?;
        }
        Ok(())
    }
}

/// Makes the keys of some rows of each table. Returns whether there were any.
async fn make_batch(connection: &mut SqliteConnection) -> Result<bool, StoreError> {
    let users = sqlx::query_as!(
        KeyedUser,
        r#"
        SELECT tenant_id, id, email, email_key, first_name, last_name, status,
            email_verified_at IS NOT NULL AS "is_verified!: bool", last_login_at, created_at, updated_at
        FROM users INDEXED BY users_keys_idx
        WHERE keyed_at IS NOT updated_at
            AND (
                length(CAST(email || first_name || last_name AS BLOB)) > length(email || first_name || last_name)
                OR instr(lower(email), 'xn--') > 0
            )
        ORDER BY tenant_id, id
        LIMIT ?1
        "#,
        BATCH
    );
    let users: Vec<KeyedUser<i64>> = users.fetch_all(&mut *connection).await.map_err(store_error)?;
    for user in &users {
        make_user_keys(connection, user).await?;
    }
    let organizations = sqlx::query_as!(
        KeyedOrganization,
        r#"
        SELECT tenant_id, id, name, updated_at
        FROM organizations INDEXED BY organizations_keys_idx
        WHERE keyed_at IS NOT updated_at AND length(CAST(name AS BLOB)) > length(name)
        ORDER BY tenant_id, id
        LIMIT ?1
        "#,
        BATCH
    );
    let organizations: Vec<KeyedOrganization<i64>> =
        organizations.fetch_all(&mut *connection).await.map_err(store_error)?;
    for organization in &organizations {
        let key = folded(&organization.name);
        let made = sqlx::query!(
            "UPDATE organizations SET name_key = ?3, keyed_at = updated_at WHERE tenant_id = ?1 AND id = ?2",
            organization.tenant_id,
            organization.id,
            key
        );
        made.execute(&mut *connection).await.map_err(store_error)?;
    }
    let invitations = sqlx::query_as!(
        KeyedInvitation,
        r#"
        SELECT tenant_id, id, email
        FROM invitations INDEXED BY invitations_keys_idx
        WHERE keyed = 0 AND (length(CAST(email AS BLOB)) > length(email) OR instr(lower(email), 'xn--') > 0)
        ORDER BY tenant_id, id
        LIMIT ?1
        "#,
        BATCH
    );
    let invitations = invitations.fetch_all(&mut *connection).await.map_err(store_error)?;
    for invitation in &invitations {
        let key = key_of(&invitation.email);
        match set_invitation_key(connection, invitation, &key).await {
            // The address has a pending invitation already.
            Err(StoreError::Conflict(Constraint::Invitation)) => {
                set_invitation_key(connection, invitation, &conflict_key(&key, invitation.id)).await?;
            }
            made => made?,
        }
    }
    Ok(!users.is_empty() || !organizations.is_empty() || !invitations.is_empty())
}

async fn make_user_keys(connection: &mut SqliteConnection, user: &KeyedUser<i64>) -> Result<(), StoreError> {
    let mut key = user.key();
    if let Some(holder) = holder_of(connection, user, &key).await? {
        if holder.keeps(&key, user) {
            key = user.conflict_key();
        } else {
            set_email_key(connection, holder.tenant_id, holder.id, &conflict_key(&key, holder.id)).await?;
        }
    }
    let (first_name_key, last_name_key) = user.names();
    let made = sqlx::query!(
        r#"
        UPDATE users
        SET email_key = ?3, first_name_key = ?4, last_name_key = ?5, keyed_at = updated_at
        WHERE tenant_id = ?1 AND id = ?2
        "#,
        user.tenant_id,
        user.id,
        key,
        first_name_key,
        last_name_key
    );
    made.execute(connection).await.map_err(store_error).map(drop)
}

/// Returns the other user that has a key.
async fn holder_of(
    connection: &mut SqliteConnection,
    user: &KeyedUser<i64>,
    key: &str,
) -> Result<Option<KeyedUser<i64>>, StoreError> {
    let holder = sqlx::query_as!(
        KeyedUser,
        r#"
        SELECT tenant_id, id, email, email_key, first_name, last_name, status,
            email_verified_at IS NOT NULL AS "is_verified!: bool", last_login_at, created_at, updated_at
        FROM users
        WHERE tenant_id = ?1 AND email_key = ?2 AND id <> ?3
        "#,
        user.tenant_id,
        key,
        user.id
    );
    holder.fetch_optional(connection).await.map_err(store_error)
}

async fn users_in_conflict(connection: &mut SqliteConnection) -> Result<Vec<KeyedUser<i64>>, StoreError> {
    let users = sqlx::query_as!(
        KeyedUser,
        r#"
        SELECT tenant_id, id, email, email_key, first_name, last_name, status,
            email_verified_at IS NOT NULL AS "is_verified!: bool", last_login_at, created_at, updated_at
        FROM users INDEXED BY users_conflicts_idx
        WHERE instr(email_key, ' ') > 0
        ORDER BY tenant_id, id
        "#
    );
    let mut users = users.fetch_all(connection).await.map_err(store_error)?;
    users.retain(|user| user.email_key == user.conflict_key());
    Ok(users)
}

async fn set_email_key(
    connection: &mut SqliteConnection,
    tenant: Uuid,
    user: Uuid,
    key: &str,
) -> Result<(), StoreError> {
    let set = sqlx::query!("UPDATE users SET email_key = ?3 WHERE tenant_id = ?1 AND id = ?2", tenant, user, key);
    set.execute(connection).await.map_err(store_error).map(drop)
}

async fn set_invitation_key(
    connection: &mut SqliteConnection,
    invitation: &KeyedInvitation,
    key: &str,
) -> Result<(), StoreError> {
    let set = sqlx::query!(
        "UPDATE invitations SET email_key = ?3, keyed = 1 WHERE tenant_id = ?1 AND id = ?2",
        invitation.tenant_id,
        invitation.id,
        key
    );
    set.execute(connection).await.map_err(store_error).map(drop)
}
