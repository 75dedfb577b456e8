use async_trait::async_trait;
use iam_model::challenge::{Ceremony, Challenge, ChallengePurpose};
use iam_model::change::{ChallengeChange, FactorChange};
use iam_model::factor::Factor;
use iam_model::id::{TenantId, UserId};
use iam_model::store::{FactorStore, FactorTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::column::{bytes_32, counted, integer};
use iam_store_sql::error::expect_row;
use iam_store_sql::factor::{ChallengeRow, FactorRow};
use sqlx::types::Json;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = FactorRow<i64>;
type ChallengesRow = ChallengeRow<i64>;

#[async_trait]
impl FactorStore for SqliteStore {
    async fn factors(&self, tenant: TenantId, user: UserId) -> Result<Vec<Factor>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                f.tenant_id, f.id, f.user_id, f.kind, f.name, f.key, f.credential_id, f.counter, f.created_at,
                f.confirmed_at, f.last_used_at
            FROM factors f
            WHERE f.tenant_id = ?1 AND f.user_id = ?2
            ORDER BY f.created_at, f.id
            "#,
            tenant.as_uuid(),
            user.as_uuid()
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Factor::try_from).collect()
    }

    async fn recovery_codes_left(&self, tenant: TenantId, user: UserId) -> Result<u64, StoreError> {
        let left = sqlx::query_scalar!(
            "SELECT count(*) FROM recovery_codes WHERE tenant_id = ?1 AND user_id = ?2",
            tenant.as_uuid(),
            user.as_uuid()
        );
        counted("recovery_codes", self.answer(left.fetch_one(&self.reads_of(tenant))).await?)
    }

    async fn people_with_factor(&self, tenant: TenantId, limit: u32) -> Result<u64, StoreError> {
        let people = sqlx::query_scalar!(
            r#"
            SELECT count(*) AS "count!: i64"
            FROM (
                SELECT u.id
                FROM users u
                WHERE u.tenant_id = ?1
                    AND u.status = 'ACTIVE'
                    AND u.kind = 'HUMAN'
                    AND EXISTS (
                        SELECT 1
                        FROM factors f
                        WHERE f.tenant_id = ?1 AND f.user_id = u.id AND f.confirmed_at IS NOT NULL
                    )
                LIMIT ?2
            ) person
            "#,
            tenant.as_uuid(),
            i64::from(limit)
        );
        counted("factors", self.answer(people.fetch_one(&self.reads_of(tenant))).await?)
    }

    async fn challenge(&self, tenant: TenantId, token_hash: &[u8; 32]) -> Result<Option<Challenge>, StoreError> {
        let row = sqlx::query_as!(
            ChallengesRow,
            r#"
            SELECT
                tenant_id, token_hash, purpose, user_id, tries, ceremony, provider_id, provider_session, created_at,
                expires_at
            FROM challenges
            WHERE tenant_id = ?1 AND token_hash = ?2
            "#,
            tenant.as_uuid(),
            token_hash.as_slice()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Challenge::try_from).transpose()
    }
}

#[async_trait]
impl FactorTransaction for SqliteTransaction {
    async fn factors(&mut self, user: UserId) -> Result<Vec<Factor>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                f.tenant_id, f.id, f.user_id, f.kind, f.name, f.key, f.credential_id, f.counter, f.created_at,
                f.confirmed_at, f.last_used_at
            FROM factors f
            WHERE f.tenant_id = ?1 AND f.user_id = ?2
            ORDER BY f.created_at, f.id
            "#,
            self.tenant(),
            user.as_uuid()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Factor::try_from).collect()
    }

    async fn recovery_codes(&mut self, user: UserId) -> Result<Vec<[u8; 32]>, StoreError> {
        let hashes = sqlx::query_scalar!(
            "SELECT hash FROM recovery_codes WHERE tenant_id = ?1 AND user_id = ?2",
            self.tenant(),
            user.as_uuid()
        );
        let hashes = hashes.fetch_all(self.connection()).await.map_err(store_error)?;
        hashes.iter().map(|hash| bytes_32("recovery_codes.hash", hash)).collect()
    }

    async fn lock_challenge(&mut self, token_hash: &[u8; 32]) -> Result<Option<Challenge>, StoreError> {
        let row = sqlx::query_as!(
            ChallengesRow,
            r#"
            SELECT
                tenant_id, token_hash, purpose, user_id, tries, ceremony, provider_id, provider_session, created_at,
                expires_at
            FROM challenges
            WHERE tenant_id = ?1 AND token_hash = ?2
            "#,
            self.tenant(),
            token_hash.as_slice()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(Challenge::try_from).transpose()
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_factor(&mut self, change: &FactorChange) -> Result<(), StoreError> {
        match change {
            FactorChange::Prepare(factor) => {
                self.delete_unconfirmed_factors(factor.user_id).await?;
                self.insert_factor(factor).await
            }
            FactorChange::Register(factor) => {
                self.insert_passkey(factor).await?;
                self.insert_factor(factor).await
            }
            FactorChange::Confirm(after) | FactorChange::Rename { after, .. } | FactorChange::Use { after, .. } => {
                self.update_factor(after).await
            }
            FactorChange::Remove { user, factors, is_last, .. } => {
                self.delete_factors(factors).await?;
                if *is_last {
                    self.delete_recovery_codes(*user).await?;
                }
                Ok(())
            }
            FactorChange::IssueRecoveryCodes { user, hashes } => {
                self.delete_recovery_codes(*user).await?;
                self.insert_recovery_codes(*user, hashes).await
            }
            FactorChange::UseRecoveryCode { user, hash, .. } => self.delete_recovery_code(*user, hash).await,
        }
    }

    async fn delete_unconfirmed_factors(&mut self, user: UserId) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM factors WHERE tenant_id = ?1 AND user_id = ?2 AND confirmed_at IS NULL",
            self.tenant(),
            user.as_uuid()
        );
        self.execute(delete).await.map(drop)
    }

    /// Keeps that a passkey belongs to a user of the installation.
    async fn insert_passkey(&mut self, factor: &Factor) -> Result<(), StoreError> {
        let Some(credential) = factor.credential_id.as_deref() else { return Ok(()) };
        let insert = sqlx::query!(
            "INSERT INTO passkeys (tenant_id, factor_id, credential_id) VALUES (?1, ?2, ?3)",
            self.tenant(),
            factor.id.as_uuid(),
            credential
        );
        self.execute(insert).await.map(drop)
    }

    async fn insert_factor(&mut self, factor: &Factor) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO factors (
                tenant_id, id, user_id, kind, name, key, credential_id, counter, created_at, confirmed_at, last_used_at
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            "#,
            self.tenant(),
            factor.id.as_uuid(),
            factor.user_id.as_uuid(),
            factor.kind.as_str(),
            factor.name.as_str(),
            factor.key.0.as_slice(),
            factor.credential_id.as_deref(),
            integer(factor.counter),
            millis(factor.created_at),
            factor.confirmed_at.map(millis),
            factor.last_used_at.map(millis)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_factor(&mut self, factor: &Factor) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE factors
            SET name = ?3, key = ?4, counter = ?5, confirmed_at = ?6, last_used_at = ?7
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            factor.id.as_uuid(),
            factor.name.as_str(),
            factor.key.0.as_slice(),
            integer(factor.counter),
            factor.confirmed_at.map(millis),
            factor.last_used_at.map(millis)
        );
        expect_row(self.execute(update).await?, "factor")
    }

    async fn delete_factors(&mut self, factors: &[Factor]) -> Result<(), StoreError> {
        let ids = Json(factors.iter().map(|factor| factor.id.as_uuid()).collect::<Vec<_>>());
        let delete = sqlx::query!(
            r#"
            DELETE FROM passkeys
            WHERE tenant_id = ?1 AND factor_id IN (SELECT unhex(value, '-') FROM json_each(?2))
            "#,
            self.tenant(),
            &ids
        );
        self.execute(delete).await?;
        let delete = sqlx::query!(
            "DELETE FROM factors WHERE tenant_id = ?1 AND id IN (SELECT unhex(value, '-') FROM json_each(?2))",
            self.tenant(),
            &ids
        );
        self.execute(delete).await.map(drop)
    }

    async fn insert_recovery_codes(&mut self, user: UserId, hashes: &[[u8; 32]]) -> Result<(), StoreError> {
        for hash in hashes {
            let insert = sqlx::query!(
                "INSERT INTO recovery_codes (tenant_id, user_id, hash) VALUES (?1, ?2, ?3)",
                self.tenant(),
                user.as_uuid(),
                hash.as_slice()
            );
            self.execute(insert).await?;
        }
        Ok(())
    }

    async fn delete_recovery_codes(&mut self, user: UserId) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM recovery_codes WHERE tenant_id = ?1 AND user_id = ?2",
            self.tenant(),
            user.as_uuid()
        );
        self.execute(delete).await.map(drop)
    }

    async fn delete_recovery_code(&mut self, user: UserId, hash: &[u8; 32]) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM recovery_codes WHERE tenant_id = ?1 AND user_id = ?2 AND hash = ?3",
            self.tenant(),
            user.as_uuid(),
            hash.as_slice()
        );
        expect_row(self.execute(delete).await?, "recovery code")
    }

    pub(crate) async fn write_challenge(&mut self, change: &ChallengeChange) -> Result<(), StoreError> {
        match change {
            ChallengeChange::Issue(challenge) => self.insert_challenge(challenge).await,
            ChallengeChange::Update(challenge) => self.update_challenge(challenge).await,
            ChallengeChange::End(challenge) => self.delete_challenge(challenge).await,
            ChallengeChange::EndAll(user) => self.delete_challenges_of_user(*user).await,
            ChallengeChange::EndAllFor(purpose) => self.delete_challenges_for(*purpose).await,
            ChallengeChange::EndAllOfTenant => self.delete_challenges_of_tenant().await,
        }
    }

    async fn insert_challenge(&mut self, challenge: &Challenge) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO challenges (
                tenant_id, token_hash, purpose, user_id, tries, ceremony, created_at, expires_at, provider_id,
                provider_session
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            "#,
            self.tenant(),
            challenge.token_hash.as_slice(),
            challenge.purpose.as_str(),
            challenge.user_id.map(UserId::as_uuid),
            i64::from(challenge.tries),
            challenge.ceremony.as_ref().map(|Ceremony(state)| state.as_slice()),
            millis(challenge.created_at),
            millis(challenge.expires_at),
            challenge.provider.as_ref().map(|provider| provider.provider_id.as_uuid()),
            challenge.provider.as_ref().and_then(|provider| provider.session.as_deref())
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_challenge(&mut self, challenge: &Challenge) -> Result<(), StoreError> {
        let update = sqlx::query!(
            "UPDATE challenges SET tries = ?3, ceremony = ?4 WHERE tenant_id = ?1 AND token_hash = ?2",
            self.tenant(),
            challenge.token_hash.as_slice(),
            i64::from(challenge.tries),
            challenge.ceremony.as_ref().map(|Ceremony(state)| state.as_slice())
        );
        expect_row(self.execute(update).await?, "challenge")
    }

    async fn delete_challenge(&mut self, challenge: &Challenge) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM challenges WHERE tenant_id = ?1 AND token_hash = ?2",
            self.tenant(),
            challenge.token_hash.as_slice()
        );
        self.execute(delete).await.map(drop)
    }

    async fn delete_challenges_for(&mut self, purpose: ChallengePurpose) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM challenges WHERE tenant_id = ?1 AND purpose = ?2",
            self.tenant(),
            purpose.as_str()
        );
        self.execute(delete).await.map(drop)
    }

    async fn delete_challenges_of_tenant(&mut self) -> Result<(), StoreError> {
        let delete = sqlx::query!("DELETE FROM challenges WHERE tenant_id = ?1", self.tenant());
        self.execute(delete).await.map(drop)
    }

    async fn delete_challenges_of_user(&mut self, user: UserId) -> Result<(), StoreError> {
        let delete =
            sqlx::query!("DELETE FROM challenges WHERE tenant_id = ?1 AND user_id = ?2", self.tenant(), user.as_uuid());
        self.execute(delete).await.map(drop)
    }
}
