//! Access reviews.

use iam_model::access_review::{
    AccessReview, AccessReviewFilter, AccessReviewItem, Decided, ListedReviewItem, ReviewItemFilter,
};
use iam_model::id::{AccessReviewId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::OrganizationSummary;
use iam_model::page::{PageRequest, SortOrder};
use iam_model::role::RoleSummary;
use iam_model::store_error::StoreError;
use sqlx::types::Json;
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{StoredMoment, moment, moment_optional, parse, parse_optional};
use crate::store::SqlStore;
use crate::user::UserSummaryRow;

/// A review as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct AccessReviewRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub name: String,
    pub organization_id: Option<Uuid>,
    pub role_ids: Json<Vec<RoleId>>,
    pub user_ids: Json<Vec<UserId>>,
    pub due_at: T,
    pub status: String,
    pub created_at: T,
    pub created_by: Option<Uuid>,
    pub closed_at: Option<T>,
    pub closed_by: Option<Uuid>,
}

impl<T: StoredMoment> TryFrom<AccessReviewRow<T>> for AccessReview {
    type Error = StoreError;

    fn try_from(row: AccessReviewRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            name: parse("access_reviews.name", &row.name)?,
            organization_id: row.organization_id.map(OrganizationId::from),
            role_ids: row.role_ids.0,
            user_ids: row.user_ids.0,
            due_at: moment("access_reviews.due_at", row.due_at)?,
            status: parse("access_reviews.status", &row.status)?,
            created_at: moment("access_reviews.created_at", row.created_at)?,
            created_by: row.created_by.map(UserId::from),
            closed_at: moment_optional("access_reviews.closed_at", row.closed_at)?,
            closed_by: row.closed_by.map(UserId::from),
        })
    }
}

/// An item of a review as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct ReviewItemRow<T> {
    pub review_id: Uuid,
    pub assignment_id: Uuid,
    pub user_id: Uuid,
    pub role_id: Uuid,
    pub role_name: String,
    pub organization_id: Option<Uuid>,
    pub organization_name: Option<String>,
    pub expires_at: Option<T>,
    pub assignment_created_at: T,
    pub granted_by: Option<Uuid>,
    pub last_login_at: Option<T>,
    pub decision: Option<String>,
    pub reason: Option<String>,
    pub decided_by: Option<Uuid>,
    pub decided_at: Option<T>,
    pub outcome: Option<String>,
}

impl<T: StoredMoment> TryFrom<ReviewItemRow<T>> for AccessReviewItem {
    type Error = StoreError;

    fn try_from(row: ReviewItemRow<T>) -> Result<Self, StoreError> {
        let decided_at = moment_optional("access_review_items.decided_at", row.decided_at)?;
        let decided = match row.decision.zip(decided_at) {
            Some((decision, decided_at)) => Some(Decided {
                decision: parse("access_review_items.decision", decision)?,
                reason: parse_optional("access_review_items.reason", row.reason.as_deref())?,
                decided_by: row.decided_by.map(UserId::from),
                decided_at,
            }),
            None => None,
        };
        Ok(Self {
            review_id: row.review_id.into(),
            assignment_id: row.assignment_id.into(),
            user_id: row.user_id.into(),
            role: RoleSummary { id: row.role_id.into(), name: parse("access_review_items.role_name", &row.role_name)? },
            organization: row
                .organization_id
                .zip(row.organization_name)
                .map(|(id, name)| OrganizationSummary { id: id.into(), name }),
            expires_at: moment_optional("access_review_items.expires_at", row.expires_at)?,
            assignment_created_at: moment("access_review_items.assignment_created_at", row.assignment_created_at)?,
            granted_by: row.granted_by.map(UserId::from),
            last_login_at: moment_optional("access_review_items.last_login_at", row.last_login_at)?,
            decided,
            outcome: parse_optional("access_review_items.outcome", row.outcome.as_deref())?,
        })
    }
}

/// An item of a list, with what the list shows of its user.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct ListedReviewItemRow<T> {
    #[sqlx(flatten)]
    pub item: ReviewItemRow<T>,
    #[sqlx(flatten)]
    pub user: UserSummaryRow,
}

impl<T: StoredMoment> TryFrom<ListedReviewItemRow<T>> for ListedReviewItem {
    type Error = StoreError;

    fn try_from(row: ListedReviewItemRow<T>) -> Result<Self, StoreError> {
        Ok(Self { item: row.item.try_into()?, user: row.user.try_into()? })
    }
}

// The lists are built at run time, because their conditions vary from call to call. Only text of this file and of the
// stores is pushed. All values from outside are bound.

const REVIEW_COLUMNS: &str = "
        v.tenant_id,
        v.id,
        v.name,
        v.organization_id,
        v.role_ids,
        v.user_ids,
        v.due_at,
        v.status,
        v.created_at,
        v.created_by,
        v.closed_at,
        v.closed_by";

const ITEM_COLUMNS: &str = "
        i.review_id,
        i.assignment_id,
        i.user_id,
        i.role_id,
        i.role_name,
        i.organization_id,
        i.organization_name,
        i.expires_at,
        i.assignment_created_at,
        i.granted_by,
        i.last_login_at,
        i.decision,
        i.reason,
        i.decided_by,
        i.decided_at,
        i.outcome,
        u.email,
        CASE WHEN u.kind = 'SERVICE' THEN u.first_name END AS service_name";

/// Builds the statement for a page of the reviews that match a filter.
pub fn list<S>(
    tenant: TenantId,
    filter: &AccessReviewFilter,
    page: PageRequest,
    scope: &S::Scope,
) -> QueryBuilder<S::Database>
where
    S: SqlStore,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let mut query = QueryBuilder::new("WITH found AS MATERIALIZED (SELECT v.id, v.created_at AS key FROM ");
    query.push(S::SCHEMA).push("access_reviews v WHERE v.tenant_id = ").push_bind(tenant.as_uuid());
    if let Some(status) = filter.status {
        query.push(" AND v.status = ").push_bind(status.as_str().to_owned());
    }
    S::push_scope(&mut query, "v.organization_id", tenant, scope);
    query.push(") SELECT (SELECT count(*) FROM found) AS total,").push(REVIEW_COLUMNS);
    S::push_page(&mut query, " DESC", page);
    S::push_rows(&mut query, tenant, "access_reviews", "v");
    query.push(" ORDER BY p.key DESC, p.id");
    query
}

/// Builds the statement for a page of the items of a review that match a filter.
pub fn list_items<S>(
    tenant: TenantId,
    review: AccessReviewId,
    filter: Option<ReviewItemFilter>,
    page: PageRequest,
) -> QueryBuilder<S::Database>
where
    S: SqlStore,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let mut query =
        QueryBuilder::new("WITH found AS MATERIALIZED (SELECT i.assignment_id AS id, i.assignment_id AS key");
    push_items::<S>(&mut query, tenant, review, filter);
    query.push(") SELECT (SELECT count(*) FROM found) AS total,").push(ITEM_COLUMNS);
    S::push_page(&mut query, S::direction(SortOrder::Ascending, false), page);
    query.push(S::JOIN).push(S::SCHEMA).push("access_review_items i ON i.assignment_id = p.id AND i.tenant_id = ");
    query.push_bind(tenant.as_uuid()).push(" AND i.review_id = ").push_bind(review.as_uuid());
    push_users::<S>(&mut query);
    query.push(" ORDER BY p.id");
    query
}

/// Builds the statement for all items of a review that match a filter.
pub fn all_items<S>(
    tenant: TenantId,
    review: AccessReviewId,
    filter: Option<ReviewItemFilter>,
) -> QueryBuilder<S::Database>
where
    S: SqlStore,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let mut query = QueryBuilder::new("WITH i AS (SELECT *");
    push_items::<S>(&mut query, tenant, review, filter);
    query.push(") SELECT").push(ITEM_COLUMNS).push(" FROM i");
    push_users::<S>(&mut query);
    query.push(" ORDER BY i.assignment_id");
    query
}

/// Adds the items `i` of a review that match a filter.
fn push_items<S>(
    query: &mut QueryBuilder<S::Database>,
    tenant: TenantId,
    review: AccessReviewId,
    filter: Option<ReviewItemFilter>,
) where
    S: SqlStore,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    query.push(" FROM ").push(S::SCHEMA).push("access_review_items i WHERE i.tenant_id = ");
    query.push_bind(tenant.as_uuid()).push(" AND i.review_id = ").push_bind(review.as_uuid());
    match filter.map(ReviewItemFilter::decision) {
        None => {}
        Some(None) => drop(query.push(" AND i.decision IS NULL")),
        Some(Some(decision)) => drop(query.push(" AND i.decision = ").push_bind(decision.as_str().to_owned())),
    }
}

fn push_users<S: SqlStore>(query: &mut QueryBuilder<S::Database>) {
    query.push(S::JOIN).push(S::SCHEMA).push("users u ON u.tenant_id = i.tenant_id AND u.id = i.user_id");
}

/// Selects reviews; the literal says which. `Roles` and `Users` are the types of the columns with identifiers.
#[doc(hidden)]
#[macro_export]
macro_rules! select_access_reviews {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            r#"
            SELECT
                tenant_id,
                id,
                name,
                organization_id,
                role_ids AS "role_ids: Roles",
                user_ids AS "user_ids: Users",
                due_at,
                status,
                created_at,
                created_by,
                closed_at,
                closed_by
            "# + $which,
            $($argument),+
        )
    };
}

/// Implements the ports of access reviews; see [`store`](crate::store).
///
/// `reviewed` defines a common table `reviewed` of the assignments that a new review is about, and `count` and `freeze`
/// use it. If the tables are distributed, `distributed_freeze` calls a function of the database that does the same, and
/// is not checked when the crate is compiled. `list_moment` is the type of moments in items: other programs may have
/// written moments that the database's usual type cannot hold.
#[macro_export]
macro_rules! access_review_ports {
    (
        $store:ident,
        $transaction:ident,
        list_moment: $moment:ty,
        by_id: $by_id:literal,
        lock: $lock:literal,
        lock_item: $lock_item:literal,
        progress: $progress:literal,
        to_revoke: $to_revoke:literal,
        reviewed: $reviewed:literal,
        count: $count:literal,
        freeze: $freeze:literal,
        $(distributed_freeze: $distributed_freeze:literal,)?
        insert: ($($insert:tt)+),
        decide: ($($decide:tt)+),
        close: ($($close:tt)+),
        set_outcomes: $set_outcomes:literal $(,)?
    ) => {
        const _: () = {
            use iam_model::access::VisibleScope;
            use iam_model::access_review::{
                AccessReview, AccessReviewFilter, AccessReviewItem, ListedReviewItem, ReviewDecision, ReviewItemFilter,
                ReviewProgress,
            };
            use iam_model::change::AccessReviewChange;
            use iam_model::id::{AccessReviewId, AssignmentId, OrganizationId, RoleId, TenantId, UserId};
            use iam_model::page::{Page, PageRequest};
            use iam_model::store::{AccessReviewStore, AccessReviewTransaction};
            use iam_model::store_error::{Constraint, StoreError};
            use iam_model::validate::Description;
            use uuid::Uuid;
            use $crate::access_review::{all_items, list, list_items};
            use $crate::column::{integer, not_negative};
            use $crate::select_access_reviews;
            use $crate::store::SqlStore;

            type Moment = $moment;
            type Roles = sqlx::types::Json<Vec<RoleId>>;
            type Users = sqlx::types::Json<Vec<UserId>>;
            type Row = $crate::access_review::AccessReviewRow<<$store as SqlStore>::Moment>;
            type ItemRow = $crate::access_review::ReviewItemRow<Moment>;
            type ListedRow = $crate::access_review::ListedReviewItemRow<Moment>;

            struct ProgressRow {
                review_id: Uuid,
                total: i64,
                keep: i64,
                revoke: i64,
            }

            impl ProgressRow {
                fn progress(&self) -> ReviewProgress {
                    ReviewProgress::of(not_negative(self.total), not_negative(self.keep), not_negative(self.revoke))
                }
            }

            #[async_trait::async_trait]
            impl AccessReviewStore for $store {
                async fn access_review(
                    &self,
                    tenant: TenantId,
                    id: AccessReviewId,
                ) -> Result<Option<AccessReview>, StoreError> {
                    let row = select_access_reviews!(Row, $by_id, tenant.as_uuid(), id.as_uuid());
                    self.answer(row.fetch_optional(&self.reads())).await?.map(AccessReview::try_from).transpose()
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
                    self.page::<AccessReview, Row>(page, is_steady, list).await
                }

                async fn access_review_progress(
                    &self,
                    tenant: TenantId,
                    reviews: &[AccessReviewId],
                ) -> Result<Vec<(AccessReviewId, ReviewProgress)>, StoreError> {
                    let reviews = Self::ids(reviews.iter().map(|id| id.as_uuid()));
                    let rows = sqlx::query_as!(ProgressRow, $progress, tenant.as_uuid(), &reviews);
                    let rows = self.answer(rows.fetch_all(&self.reads())).await?;
                    Ok(rows.into_iter().map(|row| (row.review_id.into(), row.progress())).collect())
                }

                async fn access_review_items(
                    &self,
                    tenant: TenantId,
                    review: AccessReviewId,
                    filter: Option<ReviewItemFilter>,
                    page: PageRequest,
                ) -> Result<Page<ListedReviewItem>, StoreError> {
                    let list = |page| list_items::<Self>(tenant, review, filter, page);
                    self.page::<ListedReviewItem, ListedRow>(page, false, list).await
                }

                async fn all_access_review_items(
                    &self,
                    tenant: TenantId,
                    review: AccessReviewId,
                    filter: Option<ReviewItemFilter>,
                ) -> Result<Vec<ListedReviewItem>, StoreError> {
                    let mut rows = all_items::<Self>(tenant, review, filter);
                    let rows = rows.build_query_as::<ListedRow>();
                    let rows = self.answer(rows.fetch_all(&self.reads())).await?;
                    rows.into_iter().map(ListedReviewItem::try_from).collect()
                }
            }

            #[async_trait::async_trait]
            impl AccessReviewTransaction for $transaction {
                async fn count_items_of(&mut self, review: &AccessReview, limit: u64) -> Result<u64, StoreError> {
                    let (roles, users) = restrictions(review);
                    let count = sqlx::query_scalar!(
                        $reviewed + $count,
                        self.tenant(),
                        review.organization_id.map(OrganizationId::as_uuid),
                        &roles,
                        &users,
                        $store::stored(review.created_at),
                        integer(limit)
                    );
                    let count = count.fetch_one(self.connection()).await.map_err($store::store_error)?;
                    Ok(not_negative(count))
                }

                async fn lock_access_review(&mut self, id: AccessReviewId) -> Result<Option<AccessReview>, StoreError> {
                    let row = select_access_reviews!(Row, $lock, self.tenant(), id.as_uuid());
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    row.map(AccessReview::try_from).transpose()
                }

                async fn progress_of(&mut self, review: AccessReviewId) -> Result<ReviewProgress, StoreError> {
                    let reviews = $store::ids([review.as_uuid()]);
                    let row = sqlx::query_as!(ProgressRow, $progress, self.tenant(), &reviews);
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    Ok(row.map(|row| row.progress()).unwrap_or_default())
                }

                async fn items_to_revoke(&mut self, review: AccessReviewId) -> Result<Vec<AssignmentId>, StoreError> {
                    let revoke = ReviewDecision::Revoke.as_str();
                    let ids = sqlx::query_scalar!($to_revoke, self.tenant(), review.as_uuid(), revoke);
                    let ids = ids.fetch_all(self.connection()).await.map_err($store::store_error)?;
                    Ok(ids.into_iter().map(AssignmentId::from).collect())
                }

                async fn lock_access_review_item(
                    &mut self,
                    review: AccessReviewId,
                    id: AssignmentId,
                ) -> Result<Option<AccessReviewItem>, StoreError> {
                    let row = sqlx::query_as!(
                        ItemRow,
                        r#"
                        SELECT
                            review_id,
                            assignment_id,
                            user_id,
                            role_id,
                            role_name,
                            organization_id,
                            organization_name,
                            expires_at AS "expires_at: Moment",
                            assignment_created_at AS "assignment_created_at: Moment",
                            granted_by,
                            last_login_at AS "last_login_at: Moment",
                            decision,
                            reason,
                            decided_by,
                            decided_at AS "decided_at: Moment",
                            outcome
                        "# + $lock_item,
                        self.tenant(),
                        review.as_uuid(),
                        id.as_uuid()
                    );
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    row.map(AccessReviewItem::try_from).transpose()
                }
            }

            impl $transaction {
                pub(crate) async fn write_access_review(
                    &mut self,
                    change: &AccessReviewChange,
                ) -> Result<(), StoreError> {
                    match change {
                        AccessReviewChange::Create { review, .. } => self.insert_access_review(review).await,
                        AccessReviewChange::Decide { after, .. } => self.decide_about_item(after).await,
                        AccessReviewChange::Complete { after, gone, .. } => {
                            self.close_access_review(after).await?;
                            let gone = $store::ids(gone.iter().map(|id| id.as_uuid()));
                            let set = sqlx::query!($set_outcomes, self.tenant(), after.id.as_uuid(), &gone);
                            set.execute(self.connection()).await.map_err($store::store_error)?;
                            Ok(())
                        }
                        AccessReviewChange::Cancel { after, .. } => self.close_access_review(after).await,
                    }
                }

                async fn insert_access_review(&mut self, review: &AccessReview) -> Result<(), StoreError> {
                    let organization = review.organization_id.map(OrganizationId::as_uuid);
                    let created_at = $store::stored(review.created_at);
                    execute_audited!(
                        self,
                        $($insert)+,
                        self.tenant(),
                        review.id.as_uuid(),
                        review.name.as_str(),
                        organization,
                        sqlx::types::Json(&review.role_ids) as _,
                        sqlx::types::Json(&review.user_ids) as _,
                        $store::stored(review.due_at),
                        review.status.as_str(),
                        created_at,
                        review.created_by.map(UserId::as_uuid)
                    )?;
                    let (roles, users) = restrictions(review);
                    $(
                        if self.is_distributed() {
                            let freeze = sqlx::query($distributed_freeze)
                                .bind(self.tenant())
                                .bind(organization)
                                .bind(&roles)
                                .bind(&users)
                                .bind(created_at)
                                .bind(review.id.as_uuid());
                            return freeze.execute(self.connection()).await.map(drop).map_err($store::store_error);
                        }
                    )?
                    let freeze = sqlx::query!(
                        $reviewed + $freeze,
                        self.tenant(),
                        organization,
                        &roles,
                        &users,
                        created_at,
                        review.id.as_uuid()
                    );
                    freeze.execute(self.connection()).await.map_err($store::store_error)?;
                    Ok(())
                }

                async fn decide_about_item(&mut self, item: &AccessReviewItem) -> Result<(), StoreError> {
                    let decided = item.decided.as_ref();
                    let updated = execute_audited!(
                        self,
                        $($decide)+,
                        self.tenant(),
                        item.review_id.as_uuid(),
                        item.assignment_id.as_uuid(),
                        item.decision().map(ReviewDecision::as_str),
                        decided.and_then(|decided| decided.reason.as_ref()).map(Description::as_str),
                        decided.and_then(|decided| decided.decided_by).map(UserId::as_uuid),
                        decided.map(|decided| $store::stored(decided.decided_at))
                    )?;
                    expect_open(updated.rows_affected())
                }

                async fn close_access_review(&mut self, review: &AccessReview) -> Result<(), StoreError> {
                    let updated = execute_audited!(
                        self,
                        $($close)+,
                        self.tenant(),
                        review.id.as_uuid(),
                        review.status.as_str(),
                        review.closed_at.map($store::stored),
                        review.closed_by.map(UserId::as_uuid)
                    )?;
                    expect_open(updated.rows_affected())
                }
            }

            /// Returns the roles and the users to which a review is restricted.
            fn restrictions(review: &AccessReview) -> (<$store as SqlStore>::Ids, <$store as SqlStore>::Ids) {
                let roles = $store::ids(review.role_ids.iter().map(|id| id.as_uuid()));
                (roles, $store::ids(review.user_ids.iter().map(|id| id.as_uuid())))
            }

            /// Fails when a statement found no row in an OPEN review.
            fn expect_open(rows_affected: u64) -> Result<(), StoreError> {
                if rows_affected == 0 { Err(StoreError::Conflict(Constraint::AccessReviewOpen)) } else { Ok(()) }
            }
        };
    };
}
