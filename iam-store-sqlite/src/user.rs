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
use iam_store_sql::user::{UserRow, UserSearch, list};
use sqlx::types::Json;
use sqlx::{QueryBuilder, Sqlite};

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = UserRow<i64>;

#[async_trait]
impl UserStore for SqliteStore {
    async fn user(&self, tenant: TenantId, id: UserId) -> Result<Option<User>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM users u
            WHERE u.tenant_id = ?1 AND u.id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(User::try_from).transpose()
    }

    async fn users_by_id(&self, tenant: TenantId, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        let ids = Json(ids.iter().map(|id| id.as_uuid()).collect::<Vec<_>>());
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM users u
            WHERE u.tenant_id = ?1 AND u.id IN (SELECT unhex(value, '-') FROM json_each(?2))
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
            FROM users u
            WHERE u.tenant_id = ?1 AND u.external_id = ?2
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
        let external_ids = Json(external_ids.iter().map(ExternalId::as_str).collect::<Vec<_>>());
        let emails = Json(emails.iter().map(EmailKey::as_str).collect::<Vec<_>>());
        // Not OR, for which all users of the tenant would be read.
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM users u
            WHERE u.tenant_id = ?1 AND u.id IN (
                SELECT e.id
                FROM users e
                WHERE e.tenant_id = ?1 AND e.external_id IN (SELECT value FROM json_each(?2))
                UNION ALL
                SELECT m.id
                FROM users m
                WHERE m.tenant_id = ?1 AND m.email_key IN (SELECT value FROM json_each(?3))
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
        let list = |page| list::<Self>(tenant, filter, sort, page, now, &scope);
        self.page::<User, Row>(tenant, page, list).await
    }
}

#[async_trait]
impl UserTransaction for SqliteTransaction {
    async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM users u
            WHERE u.tenant_id = ?1 AND u.id = ?2
            "#,
            self.tenant(),
            id.as_uuid()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(User::try_from).transpose()
    }

    async fn users_by_id(&mut self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        let ids = Json(ids.iter().map(|id| id.as_uuid()).collect::<Vec<_>>());
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version
            FROM users u
            WHERE u.tenant_id = ?1 AND u.id IN (SELECT unhex(value, '-') FROM json_each(?2))
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
            FROM users u
            WHERE u.tenant_id = ?1 AND u.kind = 'SERVICE' AND u.status <> 'INACTIVE'
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
            FROM users u
            WHERE u.tenant_id = ?1 AND u.external_id = ?2
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
            FROM users u
            WHERE u.tenant_id = ?1 AND u.home_organization_id = ?2
            ORDER BY u.id
            LIMIT ?3
            "#,
            self.tenant(),
            organization.as_uuid(),
            i64::from(limit)
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(User::try_from).collect()
    }
}

impl SqliteTransaction {
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
        let insert = sqlx::query!(
            r#"
            INSERT INTO users (
                number,
                tenant_id, id, email, email_key, email_verified_at, first_name, first_name_key, last_name, last_name_key,
                status, updated_at, keyed_at, home_organization_id, last_login_at, created_at, kind, external_id
            )
            VALUES (
                (
                    SELECT coalesce(
                        (SELECT max(u.number) + 1 FROM users u WHERE u.number BETWEEN t.first_user AND t.last_user),
                        t.first_user
                    )
                    FROM tenants t
                    WHERE t.id = ?1
                ),
                ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12, ?13, ?14, ?15, ?16
            )
            "#,
            self.tenant(),
            user.id.as_uuid(),
            user.email.as_str(),
            user.email.key().as_str().to_owned(),
            user.email_verified_at.map(millis),
            user.first_name.as_str(),
            folded(user.first_name.as_str()),
            user.last_name.as_str(),
            folded(user.last_name.as_str()),
            user.status.as_str(),
            millis(user.updated_at),
            user.home_organization_id.map(OrganizationId::as_uuid),
            user.last_login_at.map(millis),
            millis(user.created_at),
            user.kind.as_str(),
            user.external_id.as_ref().map(ExternalId::as_str)
        );
        self.execute(insert).await?;
        if let Some(password) = password {
            let insert = sqlx::query!(
                "INSERT INTO credentials (tenant_id, user_id, password_hash) VALUES (?1, ?2, ?3)",
                self.tenant(),
                user.id.as_uuid(),
                password.expose()
            );
            self.execute(insert).await?;
        }
        Ok(())
    }

    /// A key that does not belong to the address any more stays with the address; see [`keys`](iam_store_sql::keys).
    async fn update_user(&mut self, user: &User) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE users
            SET
                email = ?3,
                email_key = CASE WHEN email = ?3 AND email_key LIKE '% %' THEN email_key ELSE ?4 END,
                email_verified_at = ?5,
                first_name = ?6,
                first_name_key = ?7,
                last_name = ?8,
                last_name_key = ?9,
                status = ?10,
                updated_at = ?11,
                keyed_at = ?11,
                home_organization_id = ?12,
                external_id = ?13,
                version = version + 1
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            user.id.as_uuid(),
            user.email.as_str(),
            user.email.key().as_str().to_owned(),
            user.email_verified_at.map(millis),
            user.first_name.as_str(),
            folded(user.first_name.as_str()),
            user.last_name.as_str(),
            folded(user.last_name.as_str()),
            user.status.as_str(),
            millis(user.updated_at),
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
        let ids = Json(users.iter().map(|user| user.id.as_uuid()).collect::<Vec<_>>());
        let update = sqlx::query!(
            r#"
            UPDATE users
            SET home_organization_id = ?3, updated_at = ?4, version = version + 1
            WHERE tenant_id = ?1 AND id IN (SELECT unhex(value, '-') FROM json_each(?2))
            "#,
            self.tenant(),
            &ids,
            home.map(OrganizationId::as_uuid),
            millis(at)
        );
        self.execute(update).await.map(drop)
    }
}

impl UserSearch for SqliteStore {
    fn push_candidates(query: &mut QueryBuilder<Sqlite>, tenant: TenantId, search: &[SearchWord]) {
        match search {
            [] => query.push(" FROM users u WHERE u.tenant_id = "),
            words => {
                query.push(" FROM tenants t");
                match candidates(words) {
                    Some(candidates) => {
                        query.push(" CROSS JOIN user_search s ON s.rowid BETWEEN t.first_user AND t.last_user");
                        query.push(" AND s.user_search MATCH ").push_bind(candidates);
                        query.push(" CROSS JOIN users u ON u.number = s.rowid")
                    }
                    None => query.push(" CROSS JOIN users u ON u.number BETWEEN t.first_user AND t.last_user"),
                };
                // The plus sign keeps SQLite from using an index on tenant_id: the range of the tenant is read as a
                // whole.
                query.push(" WHERE t.id = ").push_bind(tenant.as_uuid()).push(" AND +u.tenant_id = ")
            }
        }
        .push_bind(tenant.as_uuid());
    }

    /// Not LIKE, in which some characters of the text would have a special meaning, and which limits the length of the
    /// text.
    fn push_search(query: &mut QueryBuilder<Sqlite>, word: &SearchWord) {
        query.push(" AND (FALSE");
        for form in word.forms() {
            for column in ["replace(u.email_key, 'ς', 'σ')", "u.first_name_key", "u.last_name_key"] {
                query.push(" OR instr(").push(column).push(", ").push_bind(form.clone()).push(") > 0");
            }
        }
        query.push(")");
    }

    /// Not EXISTS, which would be evaluated for every user of the tenant, even if only few users have such an
    /// assignment.
    fn push_holds(query: &mut QueryBuilder<Sqlite>, tenant: TenantId) {
        query.push(" AND u.id IN (SELECT a.user_id FROM role_assignments a WHERE a.tenant_id = ");
        query.push_bind(tenant.as_uuid());
    }
}

/// The index is searched for at most this many groups of three characters of a word. They leave few other users. The
/// beginning of an address excludes more users than its end, which all users may share and which makes the search
/// slower.
const MAX_GROUPS: usize = 10;

/// Returns the search expression for all users that have the first groups of three characters of each word. `None` if
/// no word has such a group.
fn candidates(words: &[SearchWord]) -> Option<String> {
    let of_words: Vec<String> = words.iter().filter_map(candidates_of).collect();
    (!of_words.is_empty()).then(|| of_words.join(" AND "))
}

/// Returns the search expression for a word. `None` for a word with a short form, which has no group of three
/// characters, and for one with a NUL character, for which the index has no answer.
fn candidates_of(word: &SearchWord) -> Option<String> {
    let quoted = |group: &[char]| format!("\"{}\"", group.iter().collect::<String>().replace('"', "\"\""));
    let mut forms = Vec::new();
    for form in word.forms() {
        let characters: Vec<char> = form.chars().collect();
        if characters.len() < 3 || characters.contains(&'\0') {
            return None;
        }
        let groups: Vec<String> = characters.windows(3).take(MAX_GROUPS).map(quoted).collect();
        forms.push(format!("({})", groups.join(" AND ")));
    }
    Some(format!("({})", forms.join(" OR ")))
}

#[cfg(test)]
mod tests {
    use iam_model::page::SortOrder;
    use iam_model::user::{UserSortKey, UserStatus};
    use uuid::Uuid;

    use super::*;
    use crate::plan::{assert_list, plan};

    fn page(filter: &UserFilter, sort: UserSort) -> QueryBuilder<Sqlite> {
        listed(filter, sort, &VisibleScope::Tenant)
    }

    fn listed(filter: &UserFilter, sort: UserSort, scope: &VisibleScope) -> QueryBuilder<Sqlite> {
        let (page, now) = (PageRequest::default(), Timestamp::UNIX_EPOCH);
        list::<SqliteStore>(TenantId::NONE, filter, sort, page, now, scope)
    }

    /// Backwards, only rows with the same value are sorted.
    #[tokio::test]
    async fn every_order_except_by_status_is_read_from_an_index() {
        for (by, index) in [
            (UserSortKey::CreatedAt, "COVERING INDEX users_created_idx"),
            (UserSortKey::UpdatedAt, "COVERING INDEX users_updated_idx"),
            (UserSortKey::Email, "INDEX sqlite_autoindex_users_2"),
            (UserSortKey::FirstName, "COVERING INDEX users_first_name_idx"),
            (UserSortKey::LastName, "COVERING INDEX users_last_name_idx"),
            (UserSortKey::LastLoginAt, "COVERING INDEX users_last_login_idx"),
        ] {
            for order in [SortOrder::Ascending, SortOrder::Descending] {
                let query = page(&UserFilter::default(), UserSort { by, order });
                assert_list(query, &format!("SEARCH u USING {index} (tenant_id=?)"), false).await;
            }
        }
    }

    #[tokio::test]
    async fn every_filter_finds_its_users_by_an_index() {
        let query = |filter| page(&filter, UserSort::default());
        let status = query(UserFilter { status: Some(UserStatus::Active), ..UserFilter::default() });
        assert_list(status, "SEARCH u USING COVERING INDEX users_status_idx (tenant_id=? AND status=?)", false).await;

        let search = plan(query(UserFilter { search: Some("ada".to_owned()), ..UserFilter::default() })).await;
        assert!(search[1].starts_with("SCAN s VIRTUAL TABLE INDEX "), "{search:#?}");
        assert_eq!(search[2], "SEARCH u USING INTEGER PRIMARY KEY (rowid=?)");
        let short = plan(query(UserFilter { search: Some("ad".to_owned()), ..UserFilter::default() })).await;
        assert_eq!(short[1], "SEARCH u USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)");

        let organization = Some(OrganizationId::from(Uuid::nil()));
        let members = plan(query(UserFilter { organization, ..UserFilter::default() })).await;
        let key = "role_assignments_organization_idx (tenant_id=? AND organization_id=?)";
        let expected = [
            "SEARCH u USING INDEX sqlite_autoindex_users_1 (tenant_id=? AND id=?)",
            &format!("SEARCH a USING COVERING INDEX {key}"),
        ];
        assert_eq!(members[..2], expected);

        let within = VisibleScope::Organizations(Vec::new());
        let reached = plan(listed(&UserFilter::default(), UserSort::default(), &within)).await;
        assert_eq!(reached[..2], expected);
        let at_home =
            "SEARCH h USING COVERING INDEX users_home_idx (tenant_id=? AND home_organization_id=?)".to_owned();
        assert!(reached.contains(&at_home), "{reached:#?}");
    }

    #[test]
    fn a_text_is_searched_by_its_groups_of_three_characters() {
        let candidates = |search: &str| candidates(&SearchWord::all(search));
        assert_eq!(candidates("Ad"), None);
        assert_eq!(candidates("a\0da").as_deref(), None);
        assert_eq!(candidates("ÉMI").as_deref(), Some("((\"émi\"))"));
        assert_eq!(candidates("a\"\"b OR").as_deref(), Some("((\"a\"\"\"\"\" AND \"\"\"\"\"b\"))"));
        assert_eq!(candidates("ada lov").as_deref(), Some("((\"ada\")) AND ((\"lov\"))"));
        assert_eq!(candidates("weiß").as_deref(), Some("((\"wei\" AND \"eis\" AND \"iss\") OR (\"wei\" AND \"eiß\"))"));
        assert_eq!(candidates(&"abc".repeat(100)).map(|all| all.matches(" AND ").count()), Some(MAX_GROUPS - 1));
    }
}
