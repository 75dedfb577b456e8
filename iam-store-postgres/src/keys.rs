//! The keys of rows that were written with keys of an earlier form; see [`iam_store_sql::keys`].

use iam_model::clock::Timestamp;
use iam_model::store_error::{Constraint, StoreError};
use iam_model::text::folded;
use iam_store_sql::keys::{
    AddressConflict, BATCH, KeyedCount, KeyedInvitation, KeyedOrganization, KeyedUser, conflict_key, key_of,
};
use uuid::Uuid;

use crate::store::PostgresStore;

impl PostgresStore {
    /// Returns the users whose address has the key that another account of their tenant keeps. No login finds such a
    /// user, until an administrator changes one of the two addresses.
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn address_conflicts(&self) -> Result<Vec<AddressConflict>, StoreError> {
        let mut conflicts = Vec::new();
        for user in self.users_in_conflict().await? {
            if let Some(holder) = self.holder_of(&user, &user.key()).await? {
                let (tenant_id, user_id) = (user.tenant_id.into(), user.id.into());
                conflicts.push(AddressConflict { tenant_id, user_id, holder_id: holder.id.into() });
            }
        }
        Ok(conflicts)
    }

    /// Makes the keys of all rows that have keys of an earlier form. The finished part stays when it is interrupted,
    /// and replicas may do it at the same time.
    pub(crate) async fn make_keys(&self) -> Result<(), StoreError> {
        while self.make_user_keys().await?
            || self.make_organization_keys().await?
            || self.make_invitation_keys().await?
        {}
        for user in self.users_in_conflict().await? {
            let key = user.key();
            if self.holder_of(&user, &key).await?.is_none() {
                self.set_email_key(&user, &key).await?;
            }
        }
        Ok(())
    }

    /// Makes the keys of some users. Returns whether there were any.
    async fn make_user_keys(&self) -> Result<bool, StoreError> {
        let users = sqlx::query_as!(
            KeyedUser,
            r#"
            SELECT tenant_id, id, email, email_key, first_name, last_name, status,
                email_verified_at IS NOT NULL AS "is_verified!", last_login_at, created_at, updated_at
            FROM iam.users
            WHERE keyed_at IS DISTINCT FROM updated_at
                AND (
                    octet_length(email || first_name || last_name) > char_length(email || first_name || last_name)
                    OR email ILIKE '%xn--%'
                )
            ORDER BY tenant_id, id
            LIMIT $1
            "#,
            BATCH
        );
        let users: Vec<KeyedUser<Timestamp>> = self.answer(users.fetch_all(&self.writes())).await?;
        for user in users.iter().filter(|user| user.email_key != user.key()) {
            self.make_email_key(user).await?;
        }
        for users in users.chunk_by(|one, next| one.tenant_id == next.tenant_id) {
            self.make_name_keys(users).await?;
        }
        Ok(!users.is_empty())
    }

    async fn make_email_key(&self, user: &KeyedUser<Timestamp>) -> Result<(), StoreError> {
        let key = user.key();
        let Some(holder) = self.holder_of(user, &key).await? else { return self.set_email_key(user, &key).await };
        if holder.keeps(&key, user) {
            return self.set_email_key(user, &user.conflict_key()).await;
        }
        self.set_email_key(&holder, &conflict_key(&key, holder.id)).await?;
        self.set_email_key(user, &key).await
    }

    /// Makes the other keys of users of a tenant, unless they were changed in between: these stay for the next round.
    async fn make_name_keys(&self, users: &[KeyedUser<Timestamp>]) -> Result<(), StoreError> {
        let Some(tenant) = users.first().map(|user| user.tenant_id) else { return Ok(()) };
        let ids: Vec<Uuid> = users.iter().map(|user| user.id).collect();
        let moments: Vec<_> = users.iter().map(|user| user.updated_at).collect();
        let (first, last): (Vec<String>, Vec<String>) = users.iter().map(KeyedUser::names).unzip();
        let made = sqlx::query!(
            r#"
            UPDATE iam.users u
            SET first_name_key = k.first, last_name_key = k.last, keyed_at = u.updated_at
            FROM unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[]) k (id, updated_at, first, last)
            WHERE u.tenant_id = $1 AND u.id = k.id AND u.updated_at = k.updated_at
            "#,
            tenant,
            &ids,
            &moments,
            &first,
            &last
        );
        self.answer(made.execute(&self.writes())).await.map(drop)
    }

    /// Returns the other user that has a key.
    async fn holder_of(
        &self,
        user: &KeyedUser<Timestamp>,
        key: &str,
    ) -> Result<Option<KeyedUser<Timestamp>>, StoreError> {
        let holder = sqlx::query_as!(
            KeyedUser,
            r#"
            SELECT tenant_id, id, email, email_key, first_name, last_name, status,
                email_verified_at IS NOT NULL AS "is_verified!", last_login_at, created_at, updated_at
            FROM iam.users
            WHERE tenant_id = $1 AND email_key = $2 AND id <> $3
            "#,
            user.tenant_id,
            key,
            user.id
        );
        self.answer(holder.fetch_optional(&self.writes())).await
    }

    async fn users_in_conflict(&self) -> Result<Vec<KeyedUser<Timestamp>>, StoreError> {
        let users = sqlx::query_as!(
            KeyedUser,
            r#"
            SELECT tenant_id, id, email, email_key, first_name, last_name, status,
                email_verified_at IS NOT NULL AS "is_verified!", last_login_at, created_at, updated_at
            FROM iam.users
            WHERE email_key LIKE '% %'
            ORDER BY tenant_id, id
            "#
        );
        let mut users = self.answer(users.fetch_all(&self.writes())).await?;
        users.retain(|user| user.email_key == user.conflict_key());
        Ok(users)
    }

    /// Another replica, or a new account, may take the key at the same time. Then the next call finds it.
    async fn set_email_key(&self, user: &KeyedUser<Timestamp>, key: &str) -> Result<(), StoreError> {
        let set = sqlx::query!(
            "UPDATE iam.users SET email_key = $3 WHERE tenant_id = $1 AND id = $2 AND email = $4",
            user.tenant_id,
            user.id,
            key,
            user.email
        );
        match self.answer(set.execute(&self.writes())).await {
            Err(StoreError::Conflict(Constraint::UserEmail)) => Ok(()),
            set => set.map(drop),
        }
    }

    async fn make_organization_keys(&self) -> Result<bool, StoreError> {
        let organizations = sqlx::query_as!(
            KeyedOrganization,
            r#"
            SELECT tenant_id, id, name, updated_at
            FROM iam.organizations
            WHERE keyed_at IS DISTINCT FROM updated_at AND octet_length(name) > char_length(name)
            ORDER BY tenant_id, id
            LIMIT $1
            "#,
            BATCH
        );
        let organizations: Vec<KeyedOrganization<Timestamp>> =
            self.answer(organizations.fetch_all(&self.writes())).await?;
        for organization in &organizations {
            let made = sqlx::query!(
                r#"
                UPDATE iam.organizations
                SET name_key = $3, keyed_at = updated_at
                WHERE tenant_id = $1 AND id = $2 AND updated_at = $4
                "#,
                organization.tenant_id,
                organization.id,
                folded(&organization.name),
                organization.updated_at
            );
            self.answer(made.execute(&self.writes())).await?;
        }
        Ok(!organizations.is_empty())
    }

    async fn make_invitation_keys(&self) -> Result<bool, StoreError> {
        let invitations = sqlx::query_as!(
            KeyedInvitation,
            r#"
            SELECT tenant_id, id, email
            FROM iam.invitations
            WHERE NOT keyed AND (octet_length(email) > char_length(email) OR email ILIKE '%xn--%')
            ORDER BY tenant_id, id
            LIMIT $1
            "#,
            BATCH
        );
        let invitations = self.answer(invitations.fetch_all(&self.writes())).await?;
        for invitation in &invitations {
            let key = key_of(&invitation.email);
            match self.set_invitation_key(invitation, &key).await {
                // The address has a pending invitation already.
                Err(StoreError::Conflict(Constraint::Invitation)) => {
                    self.set_invitation_key(invitation, &conflict_key(&key, invitation.id)).await?;
                }
                made => made?,
            }
        }
        Ok(!invitations.is_empty())
    }

    async fn set_invitation_key(&self, invitation: &KeyedInvitation, key: &str) -> Result<(), StoreError> {
        let set = sqlx::query!(
            "UPDATE iam.invitations SET email_key = $3, keyed = TRUE WHERE tenant_id = $1 AND id = $2",
            invitation.tenant_id,
            invitation.id,
            key
        );
        self.answer(set.execute(&self.writes())).await.map(drop)
    }

    /// Moves the counts of failed logins and of messages to the keys of this release. They are short-lived, so this
    /// is done once, with the migration.
    pub(crate) async fn move_counts(&self) -> Result<(), StoreError> {
        let counts = sqlx::query_as!(
            KeyedCount,
            r#"
            SELECT tenant_id, email_key
            FROM iam.login_attempts
            WHERE octet_length(email_key) > char_length(email_key) OR email_key LIKE '%xn--%'
            "#
        );
        for count in self.answer(counts.fetch_all(&self.writes())).await? {
            let Some(key) = count.moved() else { continue };
            let moved = sqlx::query!(
                r#"
                WITH moved AS (
                    DELETE FROM iam.login_attempts
                    WHERE tenant_id = $1 AND email_key = $2
                    RETURNING failed_at, locked_until
                )
                INSERT INTO iam.login_attempts AS a (tenant_id, email_key, failed_at, locked_until)
                SELECT $1, $3, m.failed_at, m.locked_until
                FROM moved m
                ON CONFLICT (tenant_id, email_key) DO UPDATE
                SET failed_at = ARRAY(SELECT f FROM unnest(a.failed_at || excluded.failed_at) f ORDER BY f),
                    locked_until = greatest(a.locked_until, excluded.locked_until)
                "#,
                count.tenant_id,
                count.email_key,
                key
            );
            self.answer(moved.execute(&self.writes())).await?;
        }
        let counts = sqlx::query_as!(
            KeyedCount,
            r#"
            SELECT DISTINCT tenant_id, email_key
            FROM iam.queued_messages
            WHERE octet_length(email_key) > char_length(email_key) OR email_key LIKE '%xn--%'
            "#
        );
        for count in self.answer(counts.fetch_all(&self.writes())).await? {
            let Some(key) = count.moved() else { continue };
            let moved = sqlx::query!(
                r#"
                WITH moved AS (
                    DELETE FROM iam.queued_messages
                    WHERE tenant_id = $1 AND email_key = $2
                    RETURNING kind, queued_at
                )
                INSERT INTO iam.queued_messages AS q (tenant_id, email_key, kind, queued_at)
                SELECT $1, $3, m.kind, m.queued_at
                FROM moved m
                ON CONFLICT (tenant_id, email_key, kind) DO UPDATE
                SET queued_at = ARRAY(SELECT t FROM unnest(q.queued_at || excluded.queued_at) t ORDER BY t)
                "#,
                count.tenant_id,
                count.email_key,
                key
            );
            self.answer(moved.execute(&self.writes())).await?;
        }
        Ok(())
    }
}
