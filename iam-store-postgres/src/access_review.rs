use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::access_review::{
    AccessReview, AccessReviewFilter, AccessReviewItem, AccessReviewStatus, ListedReviewItem, ReviewDecision,
    ReviewItemFilter, ReviewProgress, ReviewSubject,
};
use iam_model::change::AccessReviewChange;
use iam_model::clock::Timestamp;
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
use iam_store_sql::store::SqlStore as _;
use sqlx::types::Json;
use uuid::Uuid;

use crate::PostgresStore;
use crate::column::{Moment, in_range};
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Roles = Json<Vec<RoleId>>;
type Users = Json<Vec<UserId>>;
type Row = AccessReviewRow<Timestamp>;
/// Other programs may have written moments that the usual type cannot hold.
type ItemRow = ReviewItemRow<Moment>;
type ListedRow = ListedReviewItemRow<Moment>;

#[async_trait]
impl AccessReviewStore for PostgresStore {
    async fn access_review(&self, tenant: TenantId, id: AccessReviewId) -> Result<Option<AccessReview>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, name, organization_id, role_ids AS "role_ids: Roles", user_ids AS "user_ids: Users",
                due_at, status, created_at, created_by, closed_at, closed_by
            FROM iam.access_reviews
            WHERE tenant_id = $1 AND id = $2
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
        let is_steady = filter.status.is_none() && Self::is_everywhere(&scope);
        let list = |page| list::<Self>(tenant, filter, page, &scope);
        self.page::<AccessReview, Row>(tenant, page, is_steady, list).await
    }

    async fn access_review_progress(
        &self,
        tenant: TenantId,
        reviews: &[AccessReviewId],
    ) -> Result<Vec<(AccessReviewId, ReviewProgress)>, StoreError> {
        let reviews: Vec<Uuid> = reviews.iter().map(|id| id.as_uuid()).collect();
        let rows = sqlx::query_as!(
            ProgressRow,
            r#"
            SELECT
                review_id,
                count(*) AS "total!",
                count(*) FILTER (WHERE decision = 'KEEP') AS "keep!",
                count(*) FILTER (WHERE decision = 'REVOKE') AS "revoke!"
            FROM iam.access_review_items
            WHERE tenant_id = $1 AND review_id = ANY($2)
            GROUP BY review_id
            "#,
            tenant.as_uuid(),
            &reviews
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
        self.page::<ListedReviewItem, ListedRow>(tenant, page, false, list).await
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
impl AccessReviewTransaction for PostgresTransaction {
    async fn count_items_of(&mut self, review: &AccessReview, limit: u64) -> Result<u64, StoreError> {
        let roles: Vec<Uuid> = review.role_ids.iter().map(|id| id.as_uuid()).collect();
        let users: Vec<Uuid> = review.user_ids.iter().map(|id| id.as_uuid()).collect();
        let count = sqlx::query_scalar!(
            r#"
            WITH RECURSIVE within AS (
                SELECT o.id
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id = $2
                UNION
                SELECT o.id
                FROM within w
                JOIN iam.organizations o ON o.tenant_id = $1 AND o.parent_id = w.id
            ),
            reviewed AS (
                SELECT a.id
                FROM iam.role_assignments a
                WHERE a.tenant_id = $1
                    AND ($2::uuid IS NULL OR a.organization_id IN (SELECT w.id FROM within w))
                    AND (cardinality($3::uuid[]) = 0 OR a.role_id = ANY($3))
                    AND (cardinality($4::uuid[]) = 0 OR a.user_id = ANY($4))
                    AND (a.expires_at IS NULL OR a.expires_at > $5)
                UNION ALL
                SELECT e.id
                FROM iam.eligibilities e
                WHERE e.tenant_id = $1
                    AND ($2::uuid IS NULL OR e.organization_id IN (SELECT w.id FROM within w))
                    AND (cardinality($3::uuid[]) = 0 OR e.role_id = ANY($3))
                    AND (cardinality($4::uuid[]) = 0 OR e.user_id = ANY($4))
                    AND (e.expires_at IS NULL OR e.expires_at > $5)
            )
            SELECT count(*) AS "count!" FROM (SELECT FROM reviewed LIMIT $6) found
            "#,
            self.tenant(),
            review.organization_id.map(OrganizationId::as_uuid),
            &roles,
            &users,
            in_range(review.created_at),
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
            FROM iam.access_reviews
            WHERE tenant_id = $1 AND id = $2
            FOR UPDATE
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
                count(*) AS "total!",
                count(*) FILTER (WHERE decision = 'KEEP') AS "keep!",
                count(*) FILTER (WHERE decision = 'REVOKE') AS "revoke!"
            FROM iam.access_review_items
            WHERE tenant_id = $1 AND review_id = ANY($2)
            GROUP BY review_id
            "#,
            self.tenant(),
            &[review.as_uuid()]
        );
        let row = row.fetch_optional(self.connection()).await.map_err(store_error)?;
        Ok(row.map(ReviewProgress::from).unwrap_or_default())
    }

    async fn items_to_revoke(&mut self, review: AccessReviewId) -> Result<Vec<ReviewSubject>, StoreError> {
        let rows = sqlx::query_as!(
            ReviewSubjectRow,
            r#"
            SELECT kind, assignment_id, user_id, held_role_id, directory_group_id
            FROM iam.access_review_items
            WHERE tenant_id = $1 AND review_id = $2 AND decision = $3
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
                organization_name, expires_at AS "expires_at: Moment",
                assignment_created_at AS "assignment_created_at: Moment", granted_by, directory_group_id,
                last_login_at AS "last_login_at: Moment", decision, reason, decided_by,
                decided_at AS "decided_at: Moment", outcome
            FROM iam.access_review_items
            WHERE tenant_id = $1 AND review_id = $2 AND assignment_id = $3
            FOR UPDATE
            "#,
            self.tenant(),
            review.as_uuid(),
            id.as_uuid()
        );
        let row = row.fetch_optional(self.connection()).await.map_err(store_error)?;
        row.map(AccessReviewItem::try_from).transpose()
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_access_review(&mut self, change: &AccessReviewChange) -> Result<(), StoreError> {
        match change {
            AccessReviewChange::Create { review, .. } => {
                self.insert_access_review(review).await?;
                self.freeze_access_review(review).await
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
            INSERT INTO iam.access_reviews (
                tenant_id, id, name, organization_id, role_ids, user_ids, due_at, status, created_at, created_by
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            "#,
            self.tenant(),
            review.id.as_uuid(),
            review.name.as_str(),
            review.organization_id.map(OrganizationId::as_uuid),
            Json(&review.role_ids) as _,
            Json(&review.user_ids) as _,
            in_range(review.due_at),
            review.status.as_str(),
            in_range(review.created_at),
            review.created_by.map(UserId::as_uuid)
        );
        self.execute(insert).await.map(drop)
    }

    /// Writes the items of a new review: the assignments and the eligibilities that it is about.
    async fn freeze_access_review(&mut self, review: &AccessReview) -> Result<(), StoreError> {
        if self.freeze_distributed_access_review(review).await? {
            return Ok(());
        }
        let roles: Vec<Uuid> = review.role_ids.iter().map(|id| id.as_uuid()).collect();
        let users: Vec<Uuid> = review.user_ids.iter().map(|id| id.as_uuid()).collect();
        self.freeze_assignments(review, &roles, &users).await?;
        self.freeze_eligibilities(review, &roles, &users).await
    }

    async fn freeze_assignments(
        &mut self,
        review: &AccessReview,
        roles: &[Uuid],
        users: &[Uuid],
    ) -> Result<(), StoreError> {
        let freeze = sqlx::query!(
            r#"
            WITH RECURSIVE within AS (
                SELECT o.id
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id = $2
                UNION
                SELECT o.id
                FROM within w
                JOIN iam.organizations o ON o.tenant_id = $1 AND o.parent_id = w.id
            ),
            reviewed AS (
                SELECT a.*
                FROM iam.role_assignments a
                WHERE a.tenant_id = $1
                    AND ($2::uuid IS NULL OR a.organization_id IN (SELECT w.id FROM within w))
                    AND (cardinality($3::uuid[]) = 0 OR a.role_id = ANY($3))
                    AND (cardinality($4::uuid[]) = 0 OR a.user_id = ANY($4))
                    AND (a.expires_at IS NULL OR a.expires_at > $5)
            )
            INSERT INTO iam.access_review_items (
                tenant_id, review_id, assignment_id, user_id, role_id, role_name, organization_id, organization_name,
                expires_at, assignment_created_at, granted_by, directory_group_id, last_login_at
            )
            SELECT
                a.tenant_id, $6, a.id, a.user_id, a.role_id, r.name, a.organization_id, o.name,
                a.expires_at, a.created_at, a.created_by, a.directory_group_id, u.last_login_at
            FROM reviewed a
            JOIN iam.users u ON u.tenant_id = a.tenant_id AND u.id = a.user_id
            JOIN iam.roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id
            LEFT JOIN iam.organizations o ON o.tenant_id = a.tenant_id AND o.id = a.organization_id
            "#,
            self.tenant(),
            review.organization_id.map(OrganizationId::as_uuid),
            roles,
            users,
            in_range(review.created_at),
            review.id.as_uuid()
        );
        freeze.execute(self.connection()).await.map(drop).map_err(store_error)
    }

    async fn freeze_eligibilities(
        &mut self,
        review: &AccessReview,
        roles: &[Uuid],
        users: &[Uuid],
    ) -> Result<(), StoreError> {
        let freeze = sqlx::query!(
            r#"
            WITH RECURSIVE within AS (
                SELECT o.id
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id = $2
                UNION
                SELECT o.id
                FROM within w
                JOIN iam.organizations o ON o.tenant_id = $1 AND o.parent_id = w.id
            ),
            reviewed AS (
                SELECT e.*
                FROM iam.eligibilities e
                WHERE e.tenant_id = $1
                    AND ($2::uuid IS NULL OR e.organization_id IN (SELECT w.id FROM within w))
                    AND (cardinality($3::uuid[]) = 0 OR e.role_id = ANY($3))
                    AND (cardinality($4::uuid[]) = 0 OR e.user_id = ANY($4))
                    AND (e.expires_at IS NULL OR e.expires_at > $5)
            )
            INSERT INTO iam.access_review_items (
                tenant_id, review_id, kind, assignment_id, user_id, held_role_id, role_id, role_name, organization_id,
                organization_name, expires_at, assignment_created_at, granted_by, last_login_at
            )
            SELECT
                e.tenant_id, $6, 'ELIGIBILITY', e.id, e.user_id, e.held_role_id, e.role_id, r.name, e.organization_id,
                o.name, e.expires_at, e.created_at, e.created_by, u.last_login_at
            FROM reviewed e
            JOIN iam.roles r ON r.tenant_id = e.tenant_id AND r.id = e.role_id
            LEFT JOIN iam.users u ON u.tenant_id = e.tenant_id AND u.id = e.user_id
            LEFT JOIN iam.organizations o ON o.tenant_id = e.tenant_id AND o.id = e.organization_id
            "#,
            self.tenant(),
            review.organization_id.map(OrganizationId::as_uuid),
            roles,
            users,
            in_range(review.created_at),
            review.id.as_uuid()
        );
        freeze.execute(self.connection()).await.map(drop).map_err(store_error)
    }

    /// The lock of the review waits for a completion in progress, and lets several decisions run at the same time.
    async fn decide_about_item(&mut self, item: &AccessReviewItem) -> Result<(), StoreError> {
        let decided = item.decided.as_ref();
        let update = sqlx::query!(
            r#"
            WITH open AS (
                SELECT v.id
                FROM iam.access_reviews v
                WHERE v.tenant_id = $1 AND v.id = $2 AND v.status = 'OPEN'
                FOR SHARE
            )
            UPDATE iam.access_review_items i
            SET decision = $4, reason = $5, decided_by = $6, decided_at = $7
            FROM open
            WHERE i.tenant_id = $1 AND i.review_id = open.id AND i.assignment_id = $3
            "#,
            self.tenant(),
            item.review_id.as_uuid(),
            item.id().as_uuid(),
            item.decision().map(ReviewDecision::as_str),
            decided.and_then(|decided| decided.reason.as_ref()).map(Reason::as_str),
            decided.and_then(|decided| decided.decided_by).map(UserId::as_uuid),
            decided.map(|decided| in_range(decided.decided_at))
        );
        expect_open(self.execute(update).await?)
    }

    async fn close_access_review(&mut self, review: &AccessReview) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.access_reviews
            SET status = $3, closed_at = $4, closed_by = $5
            WHERE tenant_id = $1 AND id = $2 AND status = 'OPEN'
            "#,
            self.tenant(),
            review.id.as_uuid(),
            review.status.as_str(),
            review.closed_at.map(in_range),
            review.closed_by.map(UserId::as_uuid)
        );
        expect_open(self.execute(update).await?)
    }

    async fn remove_oldest_access_reviews(&mut self, status: AccessReviewStatus, kept: u32) -> Result<(), StoreError> {
        let items = sqlx::query!(
            r#"
            DELETE FROM iam.access_review_items
            WHERE tenant_id = $1 AND review_id IN (
                SELECT v.id
                FROM iam.access_reviews v
                WHERE v.tenant_id = $1 AND v.status = $2
                ORDER BY v.created_at DESC, v.id
                OFFSET $3
            )
            "#,
            self.tenant(),
            status.as_str(),
            i64::from(kept)
        );
        items.execute(self.connection()).await.map_err(store_error)?;
        let reviews = sqlx::query!(
            r#"
            DELETE FROM iam.access_reviews
            WHERE tenant_id = $1 AND id IN (
                SELECT v.id
                FROM iam.access_reviews v
                WHERE v.tenant_id = $1 AND v.status = $2
                ORDER BY v.created_at DESC, v.id
                OFFSET $3
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
        let gone: Vec<Uuid> = gone.iter().map(|id| id.as_uuid()).collect();
        let update = sqlx::query!(
            r#"
            UPDATE iam.access_review_items
            SET outcome = CASE
                WHEN decision = 'REVOKE' AND assignment_id = ANY($3) THEN 'GONE'
                WHEN decision = 'REVOKE' THEN 'REVOKED'
                ELSE 'KEPT'
            END
            WHERE tenant_id = $1 AND review_id = $2
            "#,
            self.tenant(),
            review.as_uuid(),
            &gone
        );
        update.execute(self.connection()).await.map(drop).map_err(store_error)
    }
}
