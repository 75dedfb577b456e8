use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::access_review::{
    AccessReview, AccessReviewFilter, AccessReviewItem, AccessReviewStatus, ListedReviewItem, ReviewDecision,
    ReviewItemFilter, ReviewProgress, ReviewSubject,
};
use iam_model::change::AccessReviewChange;
use iam_model::id::{AccessReviewId, AccessReviewItemId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{AccessReviewStore, AccessReviewTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::Reason;
use iam_store_sql::access_review::{
    AccessReviewRow, ListedReviewItemRow, ProgressRow, ReviewItemRow, ReviewSubjectRow, all_items, expect_open, list,
    list_items,
};
use iam_store_sql::column::{integer, not_negative};
use sqlx::types::Json;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Roles = Json<Vec<RoleId>>;
type Users = Json<Vec<UserId>>;
type Row = AccessReviewRow<i64>;
type ItemRow = ReviewItemRow<i64>;
type ListedRow = ListedReviewItemRow<i64>;

#[async_trait]
impl AccessReviewStore for SqliteStore {
    async fn access_review(&self, tenant: TenantId, id: AccessReviewId) -> Result<Option<AccessReview>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, name, organization_id, role_ids AS "role_ids: Roles", user_ids AS "user_ids: Users",
                due_at, status, created_at, created_by, closed_at, closed_by
            FROM access_reviews
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(AccessReview::try_from).transpose()
    }

    async fn access_reviews(
        &self,
        tenant: TenantId,
        filter: &AccessReviewFilter,
        visible_scope: &VisibleScope,
        page: PageRequest,
    ) -> Result<Page<AccessReview>, StoreError> {
        let scope = self.scope(tenant, visible_scope).await?;
        let list = |page| list::<Self>(tenant, filter, page, &scope);
        self.page::<AccessReview, Row>(tenant, page, list).await
    }

    async fn access_review_progress(
        &self,
        tenant: TenantId,
        reviews: &[AccessReviewId],
    ) -> Result<Vec<(AccessReviewId, ReviewProgress)>, StoreError> {
        let rows = sqlx::query_as!(
            ProgressRow,
            r#"
            SELECT
                review_id,
                count(*) AS "total!: i64",
                count(*) FILTER (WHERE decision = 'KEEP') AS "keep!: i64",
                count(*) FILTER (WHERE decision = 'REVOKE') AS "revoke!: i64"
            FROM access_review_items
            WHERE tenant_id = ?1 AND review_id IN (SELECT unhex(value, '-') FROM json_each(?2))
            GROUP BY review_id
            "#,
            tenant.as_uuid(),
            Json(reviews)
        );
        let rows = self.answer(rows.fetch_all(&self.reads_of(tenant))).await?;
        Ok(rows.into_iter().map(|row| (row.review_id.into(), row.into())).collect())
    }

    async fn access_review_items(
        &self,
        tenant: TenantId,
        review: AccessReviewId,
        filter: Option<ReviewItemFilter>,
        page: PageRequest,
    ) -> Result<Page<ListedReviewItem>, StoreError> {
        let list = |page| list_items::<Self>(tenant, review, filter, page);
        self.page::<ListedReviewItem, ListedRow>(tenant, page, list).await
    }

    async fn all_access_review_items(
        &self,
        tenant: TenantId,
        review: AccessReviewId,
        filter: Option<ReviewItemFilter>,
    ) -> Result<Vec<ListedReviewItem>, StoreError> {
        let mut rows = all_items::<Self>(tenant, review, filter);
        let rows = rows.build_query_as::<ListedRow>();
        let rows = self.answer(rows.fetch_all(&self.reads_of(tenant))).await?;
        rows.into_iter().map(ListedReviewItem::try_from).collect()
    }
}

#[async_trait]
impl AccessReviewTransaction for SqliteTransaction {
    async fn count_items_of(&mut self, review: &AccessReview, limit: u64) -> Result<u64, StoreError> {
        let count = sqlx::query_scalar!(
            r#"
            WITH RECURSIVE within (id) AS (
                SELECT o.id
                FROM organizations o
                WHERE o.tenant_id = ?1 AND o.id = ?2
                UNION
                SELECT o.id
                FROM within w
                CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.parent_id = w.id
            ),
            reviewed (id) AS (
                SELECT a.id
                FROM role_assignments a
                WHERE a.tenant_id = ?1
                    AND (?2 IS NULL OR a.organization_id IN (SELECT w.id FROM within w))
                    AND (?3 = '[]' OR a.role_id IN (SELECT unhex(value, '-') FROM json_each(?3)))
                    AND (?4 = '[]' OR a.user_id IN (SELECT unhex(value, '-') FROM json_each(?4)))
                    AND (a.expires_at <= ?5) IS NOT TRUE
                UNION ALL
                SELECT e.id
                FROM eligibilities e
                WHERE e.tenant_id = ?1
                    AND (?2 IS NULL OR e.organization_id IN (SELECT w.id FROM within w))
                    AND (?3 = '[]' OR e.role_id IN (SELECT unhex(value, '-') FROM json_each(?3)))
                    AND (?4 = '[]' OR e.user_id IN (SELECT unhex(value, '-') FROM json_each(?4)))
                    AND (e.expires_at <= ?5) IS NOT TRUE
            )
            SELECT count(*) AS "count!: i64" FROM (SELECT 1 FROM reviewed LIMIT ?6)
            "#,
            self.tenant(),
            review.organization_id.map(OrganizationId::as_uuid),
            Json(&review.role_ids),
            Json(&review.user_ids),
            millis(review.created_at),
            integer(limit)
        );
        count.fetch_one(self.connection()).await.map(not_negative).map_err(store_error)
    }

    async fn lock_access_review(&mut self, id: AccessReviewId) -> Result<Option<AccessReview>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, name, organization_id, role_ids AS "role_ids: Roles", user_ids AS "user_ids: Users",
                due_at, status, created_at, created_by, closed_at, closed_by
            FROM access_reviews
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            id.as_uuid()
        );
        let row = row.fetch_optional(self.connection()).await.map_err(store_error)?;
        row.map(AccessReview::try_from).transpose()
    }

    async fn progress_of(&mut self, review: AccessReviewId) -> Result<ReviewProgress, StoreError> {
        let row = sqlx::query_as!(
            ProgressRow,
            r#"
            SELECT
                review_id,
                count(*) AS "total!: i64",
                count(*) FILTER (WHERE decision = 'KEEP') AS "keep!: i64",
                count(*) FILTER (WHERE decision = 'REVOKE') AS "revoke!: i64"
            FROM access_review_items
            WHERE tenant_id = ?1 AND review_id IN (SELECT unhex(value, '-') FROM json_each(?2))
            GROUP BY review_id
            "#,
            self.tenant(),
            Json([review])
        );
        let row = row.fetch_optional(self.connection()).await.map_err(store_error)?;
        Ok(row.map(ReviewProgress::from).unwrap_or_default())
    }

    async fn items_to_revoke(&mut self, review: AccessReviewId) -> Result<Vec<ReviewSubject>, StoreError> {
        let rows = sqlx::query_as!(
            ReviewSubjectRow,
            r#"
            SELECT kind, assignment_id, user_id, held_role_id, directory_group_id
            FROM access_review_items
            WHERE tenant_id = ?1 AND review_id = ?2 AND decision = ?3
            ORDER BY assignment_id
            "#,
            self.tenant(),
            review.as_uuid(),
            ReviewDecision::Revoke.as_str()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(ReviewSubject::try_from).collect()
    }

    async fn lock_access_review_item(
        &mut self,
        review: AccessReviewId,
        id: AccessReviewItemId,
    ) -> Result<Option<AccessReviewItem>, StoreError> {
        let row = sqlx::query_as!(
            ItemRow,
            r#"
            SELECT
                review_id, kind, assignment_id, user_id, held_role_id, role_id, role_name, organization_id,
                organization_name, expires_at, assignment_created_at, granted_by, directory_group_id, last_login_at,
                decision, reason, decided_by, decided_at, outcome
            FROM access_review_items
            WHERE tenant_id = ?1 AND review_id = ?2 AND assignment_id = ?3
            "#,
            self.tenant(),
            review.as_uuid(),
            id.as_uuid()
        );
        let row = row.fetch_optional(self.connection()).await.map_err(store_error)?;
        row.map(AccessReviewItem::try_from).transpose()
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_access_review(&mut self, change: &AccessReviewChange) -> Result<(), StoreError> {
        match change {
            AccessReviewChange::Create { review, .. } => {
                self.insert_access_review(review).await?;
                self.freeze_assignments(review).await?;
                self.freeze_eligibilities(review).await
            }
            AccessReviewChange::Decide { after, .. } => self.decide_about_item(after).await,
            AccessReviewChange::Complete { after, gone, .. } => {
                self.close_access_review(after).await?;
                self.set_outcomes(after.id, gone).await
            }
            AccessReviewChange::Cancel { after, .. } => self.close_access_review(after).await,
            AccessReviewChange::RemoveOldest { status, kept } => {
                self.remove_oldest_access_reviews(*status, *kept).await
            }
        }
    }

    async fn insert_access_review(&mut self, review: &AccessReview) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO access_reviews (
                tenant_id, id, name, organization_id, role_ids, user_ids, due_at, status, created_at, created_by
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            "#,
            self.tenant(),
            review.id.as_uuid(),
            review.name.as_str(),
            review.organization_id.map(OrganizationId::as_uuid),
            Json(&review.role_ids),
            Json(&review.user_ids),
            millis(review.due_at),
            review.status.as_str(),
            millis(review.created_at),
            review.created_by.map(UserId::as_uuid)
        );
        self.execute(insert).await.map(drop)
    }

    /// Writes items of a new review: the assignments that it is about.
    async fn freeze_assignments(&mut self, review: &AccessReview) -> Result<(), StoreError> {
        let freeze = sqlx::query!(
            r#"
            WITH RECURSIVE within (id) AS (
                SELECT o.id
                FROM organizations o
                WHERE o.tenant_id = ?1 AND o.id = ?2
                UNION
                SELECT o.id
                FROM within w
                CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.parent_id = w.id
            ),
            reviewed AS (
                SELECT a.*
                FROM role_assignments a
                WHERE a.tenant_id = ?1
                    AND (?2 IS NULL OR a.organization_id IN (SELECT w.id FROM within w))
                    AND (?3 = '[]' OR a.role_id IN (SELECT unhex(value, '-') FROM json_each(?3)))
                    AND (?4 = '[]' OR a.user_id IN (SELECT unhex(value, '-') FROM json_each(?4)))
                    AND (a.expires_at <= ?5) IS NOT TRUE
            )
            INSERT INTO access_review_items (
                tenant_id, review_id, assignment_id, user_id, role_id, role_name, organization_id, organization_name,
                expires_at, assignment_created_at, granted_by, directory_group_id, last_login_at
            )
            SELECT
                a.tenant_id, ?6, a.id, a.user_id, a.role_id, r.name, a.organization_id, o.name,
                a.expires_at, a.created_at, a.created_by, a.directory_group_id, u.last_login_at
            FROM reviewed a
            CROSS JOIN users u ON u.tenant_id = a.tenant_id AND u.id = a.user_id
            CROSS JOIN roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id
            LEFT JOIN organizations o ON o.tenant_id = a.tenant_id AND o.id = a.organization_id
            "#,
            self.tenant(),
            review.organization_id.map(OrganizationId::as_uuid),
            Json(&review.role_ids),
            Json(&review.user_ids),
            millis(review.created_at),
            review.id.as_uuid()
        );
        freeze.execute(self.connection()).await.map(drop).map_err(store_error)
    }

    /// Writes items of a new review: the eligibilities that it is about.
    async fn freeze_eligibilities(&mut self, review: &AccessReview) -> Result<(), StoreError> {
        let freeze = sqlx::query!(
            r#"
            WITH RECURSIVE within (id) AS (
                SELECT o.id
                FROM organizations o
                WHERE o.tenant_id = ?1 AND o.id = ?2
                UNION
                SELECT o.id
                FROM within w
                CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.parent_id = w.id
            ),
            reviewed AS (
                SELECT e.*
                FROM eligibilities e
                WHERE e.tenant_id = ?1
                    AND (?2 IS NULL OR e.organization_id IN (SELECT w.id FROM within w))
                    AND (?3 = '[]' OR e.role_id IN (SELECT unhex(value, '-') FROM json_each(?3)))
                    AND (?4 = '[]' OR e.user_id IN (SELECT unhex(value, '-') FROM json_each(?4)))
                    AND (e.expires_at <= ?5) IS NOT TRUE
            )
            INSERT INTO access_review_items (
                tenant_id, review_id, kind, assignment_id, user_id, held_role_id, role_id, role_name, organization_id,
                organization_name, expires_at, assignment_created_at, granted_by, last_login_at
            )
            SELECT
                e.tenant_id, ?6, 'ELIGIBILITY', e.id, e.user_id, e.held_role_id, e.role_id, r.name, e.organization_id,
                o.name, e.expires_at, e.created_at, e.created_by, u.last_login_at
            FROM reviewed e
            CROSS JOIN roles r ON r.tenant_id = e.tenant_id AND r.id = e.role_id
            LEFT JOIN users u ON u.tenant_id = e.tenant_id AND u.id = e.user_id
            LEFT JOIN organizations o ON o.tenant_id = e.tenant_id AND o.id = e.organization_id
            "#,
            self.tenant(),
            review.organization_id.map(OrganizationId::as_uuid),
            Json(&review.role_ids),
            Json(&review.user_ids),
            millis(review.created_at),
            review.id.as_uuid()
        );
        freeze.execute(self.connection()).await.map(drop).map_err(store_error)
    }

    async fn decide_about_item(&mut self, item: &AccessReviewItem) -> Result<(), StoreError> {
        let decided = item.decided.as_ref();
        let update = sqlx::query!(
            r#"
            UPDATE access_review_items
            SET decision = ?4, reason = ?5, decided_by = ?6, decided_at = ?7
            WHERE tenant_id = ?1
                AND review_id = ?2
                AND assignment_id = ?3
                AND EXISTS (
                    SELECT 1
                    FROM access_reviews v
                    WHERE v.tenant_id = ?1 AND v.id = ?2 AND v.status = 'OPEN'
                )
            "#,
            self.tenant(),
            item.review_id.as_uuid(),
            item.id().as_uuid(),
            item.decision().map(ReviewDecision::as_str),
            decided.and_then(|decided| decided.reason.as_ref()).map(Reason::as_str),
            decided.and_then(|decided| decided.decided_by).map(UserId::as_uuid),
            decided.map(|decided| millis(decided.decided_at))
        );
        expect_open(self.execute(update).await?)
    }

    async fn close_access_review(&mut self, review: &AccessReview) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE access_reviews
            SET status = ?3, closed_at = ?4, closed_by = ?5
            WHERE tenant_id = ?1 AND id = ?2 AND status = 'OPEN'
            "#,
            self.tenant(),
            review.id.as_uuid(),
            review.status.as_str(),
            review.closed_at.map(millis),
            review.closed_by.map(UserId::as_uuid)
        );
        expect_open(self.execute(update).await?)
    }

    async fn remove_oldest_access_reviews(&mut self, status: AccessReviewStatus, kept: u32) -> Result<(), StoreError> {
        let items = sqlx::query!(
            r#"
            DELETE FROM access_review_items
            WHERE tenant_id = ?1 AND review_id IN (
                SELECT v.id
                FROM access_reviews v
                WHERE v.tenant_id = ?1 AND v.status = ?2
                ORDER BY v.created_at DESC, v.id
                LIMIT -1 OFFSET ?3
            )
            "#,
            self.tenant(),
            status.as_str(),
            i64::from(kept)
        );
        items.execute(self.connection()).await.map_err(store_error)?;
        let reviews = sqlx::query!(
            r#"
            DELETE FROM access_reviews
            WHERE tenant_id = ?1 AND id IN (
                SELECT v.id
                FROM access_reviews v
                WHERE v.tenant_id = ?1 AND v.status = ?2
                ORDER BY v.created_at DESC, v.id
                LIMIT -1 OFFSET ?3
            )
            "#,
            self.tenant(),
            status.as_str(),
            i64::from(kept)
        );
        reviews.execute(self.connection()).await.map(drop).map_err(store_error)
    }

    /// Records the outcomes of the items that are to be revoked: `gone` were gone already.
    async fn set_outcomes(&mut self, review: AccessReviewId, gone: &[AccessReviewItemId]) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE access_review_items
            SET outcome = CASE
                WHEN decision = 'REVOKE'
                    AND assignment_id IN (SELECT unhex(value, '-') FROM json_each(?3)) THEN 'GONE'
                WHEN decision = 'REVOKE' THEN 'REVOKED'
                ELSE 'KEPT'
            END
            WHERE tenant_id = ?1 AND review_id = ?2
            "#,
            self.tenant(),
            review.as_uuid(),
            Json(gone)
        );
        update.execute(self.connection()).await.map(drop).map_err(store_error)
    }
}

#[cfg(test)]
mod tests {
    use iam_model::access_review::AccessReviewStatus;
    use uuid::Uuid;

    use super::*;
    use crate::plan::assert_list;

    /// The reviews of a tenant are few, so they are sorted.
    #[tokio::test]
    async fn every_filter_finds_its_reviews_by_an_index() {
        for (status, key) in [(None, "tenant_id=?"), (Some(AccessReviewStatus::Open), "tenant_id=? AND status=?")] {
            let (filter, page) = (AccessReviewFilter { status }, PageRequest::default());
            let reviews = list::<SqliteStore>(TenantId::NONE, &filter, page, &VisibleScope::Tenant);
            assert_list(reviews, &format!("SEARCH v USING COVERING INDEX access_reviews_status_idx ({key})"), true)
                .await;
        }
    }

    #[tokio::test]
    async fn every_filter_finds_its_items_by_an_index() {
        let (tenant, review) = (TenantId::NONE, Uuid::nil().into());
        let key = "sqlite_autoindex_access_review_items_1 (tenant_id=? AND review_id=?)";
        let by_decision = "access_review_items_decision_idx (tenant_id=? AND review_id=? AND decision=?)";
        for (filter, key) in
            [(None, key), (Some(ReviewItemFilter::Keep), by_decision), (Some(ReviewItemFilter::Undecided), by_decision)]
        {
            let page = list_items::<SqliteStore>(tenant, review, filter, PageRequest::default());
            assert_list(page, &format!("SEARCH i USING COVERING INDEX {key}"), true).await;
        }
        let all = all_items::<SqliteStore>(tenant, review, None);
        assert_list(all, &format!("SEARCH i USING INDEX {key}"), false).await;
    }
}
