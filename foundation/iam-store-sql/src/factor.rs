//! Second factors, recovery codes and challenges.

use iam_model::challenge::{Ceremony, Challenge};
use iam_model::factor::{Factor, FactorKey};
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, counted, moment, moment_optional, parse};

/// A factor as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct FactorRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub user_id: Uuid,
    pub kind: String,
    pub name: String,
    pub key: Vec<u8>,
    pub credential_id: Option<Vec<u8>>,
    pub counter: i64,
    pub created_at: T,
    pub confirmed_at: Option<T>,
    pub last_used_at: Option<T>,
}

impl<T: StoredMoment> TryFrom<FactorRow<T>> for Factor {
    type Error = StoreError;

    fn try_from(row: FactorRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            user_id: row.user_id.into(),
            kind: parse("factors.kind", &row.kind)?,
            name: parse("factors.name", &row.name)?,
            key: FactorKey(row.key),
            credential_id: row.credential_id,
            counter: counted("factors.counter", row.counter)?,
            created_at: moment("factors.created_at", row.created_at)?,
            confirmed_at: moment_optional("factors.confirmed_at", row.confirmed_at)?,
            last_used_at: moment_optional("factors.last_used_at", row.last_used_at)?,
        })
    }
}

/// A challenge as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct ChallengeRow<T> {
    pub tenant_id: Uuid,
    pub token_hash: Vec<u8>,
    pub purpose: String,
    pub user_id: Option<Uuid>,
    pub tries: i64,
    pub ceremony: Option<Vec<u8>>,
    pub created_at: T,
    pub expires_at: T,
}

impl<T: StoredMoment> TryFrom<ChallengeRow<T>> for Challenge {
    type Error = StoreError;

    fn try_from(row: ChallengeRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            tenant_id: row.tenant_id.into(),
            token_hash: bytes_32("challenges.token_hash", &row.token_hash)?,
            purpose: parse("challenges.purpose", &row.purpose)?,
            user_id: row.user_id.map(Into::into),
            tries: row.tries.try_into().map_err(|cause| StoreError::corrupt("challenges.tries", cause))?,
            ceremony: row.ceremony.map(Ceremony),
            created_at: moment("challenges.created_at", row.created_at)?,
            expires_at: moment("challenges.expires_at", row.expires_at)?,
        })
    }
}

/// Selects factors; the literal says which.
#[doc(hidden)]
#[macro_export]
macro_rules! select_factors {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            r#"
            SELECT
                f.tenant_id,
                f.id,
                f.user_id,
                f.kind,
                f.name,
                f.key,
                f.credential_id,
                f.counter,
                f.created_at,
                f.confirmed_at,
                f.last_used_at
            "# + $which,
            $($argument),+
        )
    };
}

/// Selects challenges; the literal says which.
#[doc(hidden)]
#[macro_export]
macro_rules! select_challenges {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            "SELECT tenant_id, token_hash, purpose, user_id, tries, ceremony, created_at, expires_at " + $which,
            $($argument),+
        )
    };
}

/// Implements the ports of factors and challenges; see [`store`](crate::store).
///
/// The transaction also has a method `insert_recovery_codes`, because each database has its own way to bind many rows.
#[macro_export]
macro_rules! factor_ports {
    (
        $store:ident,
        $transaction:ident,
        of_user: $of_user:literal,
        insert: ($($insert:tt)+),
        update: ($($update:tt)+),
        delete_unconfirmed: $delete_unconfirmed:literal,
        delete: ($($delete:tt)+),
        recovery_codes: $recovery_codes:literal,
        count_recovery_codes: $count_recovery_codes:literal,
        delete_recovery_codes: $delete_recovery_codes:literal,
        delete_recovery_code: ($($delete_recovery_code:tt)+),
        challenge: $challenge:literal,
        lock_challenge: $lock_challenge:literal,
        insert_challenge: $insert_challenge:literal,
        update_challenge: $update_challenge:literal,
        delete_challenge: $delete_challenge:literal,
        delete_challenges_of_user: $delete_challenges_of_user:literal $(,)?
    ) => {
        const _: () = {
            use iam_model::challenge::{Ceremony, Challenge};
            use iam_model::change::{ChallengeChange, FactorChange};
            use iam_model::factor::Factor;
            use iam_model::id::{TenantId, UserId};
            use iam_model::store::{FactorStore, FactorTransaction};
            use iam_model::store_error::StoreError;
            use $crate::column::{bytes_32, counted, integer};
            use $crate::error::expect_row;
            use $crate::store::SqlStore;

            type Row = $crate::factor::FactorRow<<$store as SqlStore>::Moment>;
            type ChallengeRow = $crate::factor::ChallengeRow<<$store as SqlStore>::Moment>;

            #[async_trait::async_trait]
            impl FactorStore for $store {
                async fn factors(&self, tenant: TenantId, user: UserId) -> Result<Vec<Factor>, StoreError> {
                    let rows = $crate::select_factors!(Row, $of_user, tenant.as_uuid(), user.as_uuid());
                    self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(Factor::try_from).collect()
                }

                async fn recovery_codes_left(&self, tenant: TenantId, user: UserId) -> Result<u64, StoreError> {
                    let left = sqlx::query_scalar!($count_recovery_codes, tenant.as_uuid(), user.as_uuid());
                    counted("recovery_codes", self.answer(left.fetch_one(&self.reads())).await?)
                }

                async fn challenge(
                    &self,
                    tenant: TenantId,
                    token_hash: &[u8; 32],
                ) -> Result<Option<Challenge>, StoreError> {
                    let row = $crate::select_challenges!(
                        ChallengeRow,
                        $challenge,
                        tenant.as_uuid(),
                        token_hash.as_slice()
                    );
                    self.answer(row.fetch_optional(&self.reads())).await?.map(Challenge::try_from).transpose()
                }
            }

            #[async_trait::async_trait]
            impl FactorTransaction for $transaction {
                async fn factors(&mut self, user: UserId) -> Result<Vec<Factor>, StoreError> {
                    let rows = $crate::select_factors!(Row, $of_user, self.tenant(), user.as_uuid());
                    let rows = rows.fetch_all(self.connection()).await.map_err($store::store_error)?;
                    rows.into_iter().map(Factor::try_from).collect()
                }

                async fn recovery_codes(&mut self, user: UserId) -> Result<Vec<[u8; 32]>, StoreError> {
                    let hashes = sqlx::query_scalar!($recovery_codes, self.tenant(), user.as_uuid());
                    let hashes = hashes.fetch_all(self.connection()).await.map_err($store::store_error)?;
                    hashes.iter().map(|hash| bytes_32("recovery_codes.hash", hash)).collect()
                }

                async fn lock_challenge(&mut self, token_hash: &[u8; 32]) -> Result<Option<Challenge>, StoreError> {
                    let row = $crate::select_challenges!(
                        ChallengeRow,
                        $lock_challenge,
                        self.tenant(),
                        token_hash.as_slice()
                    );
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    row.map(Challenge::try_from).transpose()
                }
            }

            impl $transaction {
                pub(crate) async fn write_factor(&mut self, change: &FactorChange) -> Result<(), StoreError> {
                    match change {
                        FactorChange::Prepare(factor) => {
                            self.delete_unconfirmed_factors(factor.user_id).await?;
                            self.insert_factor(factor).await
                        }
                        FactorChange::Register(factor) => self.insert_factor(factor).await,
                        FactorChange::Confirm(after)
                        | FactorChange::Rename { after, .. }
                        | FactorChange::Use { after, .. } => self.update_factor(after).await,
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
                        FactorChange::UseRecoveryCode { user, hash, .. } => {
                            self.delete_recovery_code(*user, hash).await
                        }
                    }
                }

                async fn delete_unconfirmed_factors(&mut self, user: UserId) -> Result<(), StoreError> {
                    let delete = sqlx::query!($delete_unconfirmed, self.tenant(), user.as_uuid());
                    delete.execute(self.connection()).await.map(drop).map_err($store::store_error)
                }

                async fn insert_factor(&mut self, factor: &Factor) -> Result<(), StoreError> {
                    execute_audited!(
                        self,
                        $($insert)+,
                        self.tenant(),
                        factor.id.as_uuid(),
                        factor.user_id.as_uuid(),
                        factor.kind.as_str(),
                        factor.name.as_str(),
                        factor.key.0.as_slice(),
                        factor.credential_id.as_deref(),
                        integer(factor.counter),
                        $store::stored(factor.created_at),
                        factor.confirmed_at.map($store::stored),
                        factor.last_used_at.map($store::stored)
                    )?;
                    Ok(())
                }

                async fn update_factor(&mut self, factor: &Factor) -> Result<(), StoreError> {
                    let updated = execute_audited!(
                        self,
                        $($update)+,
                        self.tenant(),
                        factor.id.as_uuid(),
                        factor.name.as_str(),
                        factor.key.0.as_slice(),
                        integer(factor.counter),
                        factor.confirmed_at.map($store::stored),
                        factor.last_used_at.map($store::stored)
                    )?;
                    expect_row(updated.rows_affected(), "factor")
                }

                async fn delete_factors(&mut self, factors: &[Factor]) -> Result<(), StoreError> {
                    let ids = $store::ids(factors.iter().map(|factor| factor.id.as_uuid()));
                    execute_audited!(self, $($delete)+, self.tenant(), &ids)?;
                    Ok(())
                }

                async fn delete_recovery_codes(&mut self, user: UserId) -> Result<(), StoreError> {
                    let delete = sqlx::query!($delete_recovery_codes, self.tenant(), user.as_uuid());
                    delete.execute(self.connection()).await.map(drop).map_err($store::store_error)
                }

                async fn delete_recovery_code(&mut self, user: UserId, hash: &[u8; 32]) -> Result<(), StoreError> {
                    let deleted = execute_audited!(
                        self,
                        $($delete_recovery_code)+,
                        self.tenant(),
                        user.as_uuid(),
                        hash.as_slice()
                    )?;
                    expect_row(deleted.rows_affected(), "recovery code")
                }

                pub(crate) async fn write_challenge(&mut self, change: &ChallengeChange) -> Result<(), StoreError> {
                    match change {
                        ChallengeChange::Issue(challenge) => self.insert_challenge(challenge).await,
                        ChallengeChange::Update(challenge) => self.update_challenge(challenge).await,
                        ChallengeChange::End(challenge) => self.delete_challenge(challenge).await,
                        ChallengeChange::EndAll(user) => self.delete_challenges_of_user(*user).await,
                    }
                }

                async fn insert_challenge(&mut self, challenge: &Challenge) -> Result<(), StoreError> {
                    let insert = sqlx::query!(
                        $insert_challenge,
                        self.tenant(),
                        challenge.token_hash.as_slice(),
                        challenge.purpose.as_str(),
                        challenge.user_id.map(UserId::as_uuid),
                        i64::from(challenge.tries),
                        challenge.ceremony.as_ref().map(|Ceremony(state)| state.as_slice()),
                        $store::stored(challenge.created_at),
                        $store::stored(challenge.expires_at)
                    );
                    insert.execute(self.connection()).await.map(drop).map_err($store::store_error)
                }

                async fn update_challenge(&mut self, challenge: &Challenge) -> Result<(), StoreError> {
                    let update = sqlx::query!(
                        $update_challenge,
                        self.tenant(),
                        challenge.token_hash.as_slice(),
                        i64::from(challenge.tries),
                        challenge.ceremony.as_ref().map(|Ceremony(state)| state.as_slice())
                    );
                    let updated = update.execute(self.connection()).await.map_err($store::store_error)?;
                    expect_row(updated.rows_affected(), "challenge")
                }

                async fn delete_challenge(&mut self, challenge: &Challenge) -> Result<(), StoreError> {
                    let delete = sqlx::query!($delete_challenge, self.tenant(), challenge.token_hash.as_slice());
                    delete.execute(self.connection()).await.map(drop).map_err($store::store_error)
                }

                async fn delete_challenges_of_user(&mut self, user: UserId) -> Result<(), StoreError> {
                    let delete = sqlx::query!($delete_challenges_of_user, self.tenant(), user.as_uuid());
                    delete.execute(self.connection()).await.map(drop).map_err($store::store_error)
                }
            }
        };
    };
}
