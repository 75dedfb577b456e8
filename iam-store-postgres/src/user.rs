use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::attribute::Attributes;
use iam_model::change::UserChange;
use iam_model::clock::Timestamp;
use iam_model::id::{OrganizationId, TenantId, UserId};
use iam_model::page::{Page, PageRequest};
use iam_model::search::SearchWord;
use iam_model::secret::PasswordHash;
use iam_model::store::{UserStore, UserTransaction};
use iam_model::store_error::StoreError;
use iam_model::text::folded;
use iam_model::user::{User, UserFilter, UserSort};
use iam_model::validate::{EmailKey, ExternalId};
use iam_store_sql::error::expect_row;
use iam_store_sql::store::SqlStore as _;
use iam_store_sql::user::{UserRow, UserSearch, list};
use sqlx::{Postgres, QueryBuilder};
use uuid::Uuid;

use crate::PostgresStore;
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Row = UserRow<Timestamp>;

#[async_trait]
impl UserStore for PostgresStore {
    async fn user(&self, tenant: TenantId, id: UserId) -> Result<Option<User>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM iam.users u
            WHERE u.tenant_id = $1 AND u.id = $2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(User::try_from).transpose()
    }

    async fn users_by_id(&self, tenant: TenantId, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.as_uuid()).collect();
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM iam.users u
            WHERE u.tenant_id = $1 AND u.id = ANY($2)
            "#,
            tenant.as_uuid(),
            &ids
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(User::try_from).collect()
    }

    async fn user_by_external_id(
        &self,
        tenant: TenantId,
        external_id: &ExternalId,
    ) -> Result<Option<User>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM iam.users u
            WHERE u.tenant_id = $1 AND u.external_id = $2
            "#,
            tenant.as_uuid(),
            external_id.as_str()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(User::try_from).transpose()
    }

    async fn users_named(
        &self,
        tenant: TenantId,
        external_ids: &[ExternalId],
        emails: &[EmailKey],
    ) -> Result<Vec<User>, StoreError> {
        let external_ids: Vec<String> = external_ids.iter().map(ExternalId::to_string).collect();
        let emails: Vec<String> = emails.iter().map(|email| email.as_str().to_owned()).collect();
        // Not OR, for which all users of the tenant could be read.
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM iam.users u
            WHERE u.tenant_id = $1 AND u.id IN (
                SELECT e.id
                FROM iam.users e
                WHERE e.tenant_id = $1 AND e.external_id = ANY($2)
                UNION ALL
                SELECT m.id
                FROM iam.users m
                WHERE m.tenant_id = $1 AND m.email_key = ANY($3)
            )
            "#,
            tenant.as_uuid(),
            &external_ids,
            &emails
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(User::try_from).collect()
    }

    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        visible_scope: &VisibleScope,
        sort: UserSort,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<User>, StoreError> {
        if !filter.search.as_deref().is_none_or(Self::can_match) {
            return Ok(Page { items: Vec::new(), total: 0, request: page });
        }
        let scope = self.scope(tenant, visible_scope).await?;
        let is_steady = filter.search.is_none()
            && filter.attribute.is_none()
            && filter.has_factor.is_none()
            && Self::is_everywhere(&scope);
        let list = |page| list::<Self>(tenant, filter, sort, page, now, &scope);
        self.page::<User, Row>(tenant, page, is_steady, list).await
    }
}

#[async_trait]
impl UserTransaction for PostgresTransaction {
    async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM iam.users u
            WHERE u.tenant_id = $1 AND u.id = $2
            FOR UPDATE
            "#,
            self.tenant(),
            id.as_uuid()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(User::try_from).transpose()
    }

    async fn users_by_id(&mut self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.as_uuid()).collect();
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM iam.users u
            WHERE u.tenant_id = $1 AND u.id = ANY($2)
            "#,
            self.tenant(),
            &ids
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(User::try_from).collect()
    }

    async fn all_service_accounts(&mut self) -> Result<Vec<User>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM iam.users u
            WHERE u.tenant_id = $1 AND u.kind = 'SERVICE' AND u.status <> 'INACTIVE'
            "#,
            self.tenant()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(User::try_from).collect()
    }

    async fn user_by_external_id(&mut self, external_id: &ExternalId) -> Result<Option<User>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM iam.users u
            WHERE u.tenant_id = $1 AND u.external_id = $2
            "#,
            self.tenant(),
            external_id.as_str()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(User::try_from).transpose()
    }

    async fn lock_users_at_home(&mut self, organization: OrganizationId, limit: u32) -> Result<Vec<User>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM iam.users u
            WHERE u.tenant_id = $1 AND u.home_organization_id = $2
            ORDER BY u.id
            LIMIT $3
            FOR UPDATE
            "#,
            self.tenant(),
            organization.as_uuid(),
            i64::from(limit)
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(User::try_from).collect()
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_user(&mut self, change: &UserChange) -> Result<(), StoreError> {
        match change {
            UserChange::Create { user, password, attributes, .. } => {
                self.insert_user(user, password.as_ref()).await?;
                match attributes.is_empty() {
                    true => Ok(()),
                    false => self.write_attributes(user.id.into(), attributes).await,
                }
            }
            UserChange::Update { after, attributes, .. } => {
                self.update_user(after).await?;
                match attributes {
                    Some(attributes) => self.write_attributes(after.id.into(), &attributes.after).await,
                    None => Ok(()),
                }
            }
            UserChange::ForgetAttributes { after } => {
                self.update_user(after).await?;
                self.write_attributes(after.id.into(), &Attributes::default()).await
            }
            UserChange::ChangeStatus { after, .. }
            | UserChange::VerifyEmail { after, .. }
            | UserChange::ConfirmEmail { after, .. }
            | UserChange::Delete { after, .. } => self.update_user(after).await,
            UserChange::MoveHomes { before, home, at } => self.move_homes(before, *home, *at).await,
        }
    }

    /// Inserts a user, and its password if it has one.
    async fn insert_user(&mut self, user: &User, password: Option<&PasswordHash>) -> Result<(), StoreError> {
        if self.insert_distributed_user(user, password).await? {
            return Ok(());
        }
        let insert = sqlx::query!(
            r#"
            WITH password AS (
                INSERT INTO iam.credentials (tenant_id, user_id, password_hash)
                SELECT $1, $2, $17
                WHERE $17::text IS NOT NULL
            )
            INSERT INTO iam.users (
                tenant_id, id, email, email_key, email_verified_at, first_name, first_name_key, last_name, last_name_key,
                status, updated_at, keyed_at, home_organization_id, last_login_at, created_at, kind, external_id
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14, $15, $16)
            "#,
            self.tenant(),
            user.id.as_uuid(),
            user.email.as_str(),
            user.email.key().as_str().to_owned(),
            user.email_verified_at.map(in_range),
            user.first_name.as_str(),
            folded(user.first_name.as_str()),
            user.last_name.as_str(),
            folded(user.last_name.as_str()),
            user.status.as_str(),
            in_range(user.updated_at),
            user.home_organization_id.map(OrganizationId::as_uuid),
            user.last_login_at.map(in_range),
            in_range(user.created_at),
            user.kind.as_str(),
            user.external_id.as_ref().map(ExternalId::as_str),
            password.map(PasswordHash::expose)
        );
        self.execute(insert).await.map(drop)
    }

    /// A key that does not belong to the address any more stays with the address; see [`keys`](iam_store_sql::keys).
    async fn update_user(&mut self, user: &User) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.users
            SET
                email = $3,
                email_key = CASE WHEN email = $3 AND email_key LIKE '% %' THEN email_key ELSE $4 END,
                email_verified_at = $5,
                first_name = $6,
                first_name_key = $7,
                last_name = $8,
                last_name_key = $9,
                status = $10,
                updated_at = $11,
                keyed_at = $11,
                home_organization_id = $12,
                external_id = $13,
                version = version + 1
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            user.id.as_uuid(),
            user.email.as_str(),
            user.email.key().as_str().to_owned(),
            user.email_verified_at.map(in_range),
            user.first_name.as_str(),
            folded(user.first_name.as_str()),
            user.last_name.as_str(),
            folded(user.last_name.as_str()),
            user.status.as_str(),
            in_range(user.updated_at),
            user.home_organization_id.map(OrganizationId::as_uuid),
            user.external_id.as_ref().map(ExternalId::as_str)
        );
        expect_row(self.execute(update).await?, "user")
    }

    async fn move_homes(
        &mut self,
        users: &[User],
        home: Option<OrganizationId>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = users.iter().map(|user| user.id.as_uuid()).collect();
        let update = sqlx::query!(
            r#"
            UPDATE iam.users
            SET home_organization_id = $3, updated_at = $4, version = version + 1
            WHERE tenant_id = $1 AND id = ANY($2)
            "#,
            self.tenant(),
            &ids,
            home.map(OrganizationId::as_uuid),
            in_range(at)
        );
        self.execute(update).await.map(drop)
    }
}

impl UserSearch for PostgresStore {
    /// No name and no address has a control character. One such character separates the searched fields, and another
    /// one ends a text. Those that separate words are in no word.
    fn can_match(search: &str) -> bool {
        !search.split_whitespace().any(|word| word.contains(char::is_control))
    }

    fn push_candidates(query: &mut QueryBuilder<Postgres>, tenant: TenantId, _search: &[SearchWord]) {
        query.push(" FROM iam.users u WHERE u.tenant_id = ").push_bind(tenant.as_uuid());
    }

    fn push_search(query: &mut QueryBuilder<Postgres>, word: &SearchWord) {
        let mut before = " AND (";
        for form in word.forms() {
            let indexed: String = form.chars().take(INDEXED).collect();
            query.push(before).push(SEARCHED).push(" LIKE ").push_bind(containing(&indexed));
            query.push(" AND strpos(").push(SEARCHED).push(", ").push_bind(form.clone()).push(") > 0");
            before = " OR ";
        }
        query.push(")");
    }

    fn push_holds(query: &mut QueryBuilder<Postgres>, _tenant: TenantId) {
        query.push(" AND EXISTS (SELECT FROM iam.role_assignments a");
        query.push(" WHERE a.tenant_id = u.tenant_id AND a.user_id = u.id");
    }
}

/// The searched text. It is the expression of the index.
const SEARCHED: &str = "(replace(u.email_key, 'ς', 'σ') || E'\\n' || u.first_name_key || E'\\n' || u.last_name_key)";

/// The index is searched for at most this many characters of a text. They leave few other users. The beginning of an
/// address excludes more users than its end, which all users may share and which makes the search slower.
const INDEXED: usize = 12;

/// Returns the LIKE pattern for all texts that contain a text.
fn containing(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_pattern_matches_special_characters_literally() {
        assert_eq!(containing("50%_\\é"), "%50\\%\\_\\\\é%");
    }
}
