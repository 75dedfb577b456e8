//! Access reviews.

use iam_model::access_review::{
    AccessReview, AccessReviewFilter, AccessReviewItem, Decided, ListedReviewItem, ReviewItemFilter, ReviewItemKind,
    ReviewProgress, ReviewSubject,
};
use iam_model::id::{AccessReviewId, DirectoryGroupId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::OrganizationSummary;
use iam_model::page::{PageRequest, SortOrder};
use iam_model::role::RoleSummary;
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::UserSummary;
use sqlx::types::Json;
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{StoredMoment, moment, moment_optional, not_negative, parse, parse_optional, text};
use crate::eligibility::eligible;
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
            name: text("access_reviews.name", row.name)?,
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

/// What an item of a review is about, as the stores read it: columns of the table of items.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct ReviewSubjectRow {
    pub kind: String,
    pub assignment_id: Uuid,
    pub user_id: Option<Uuid>,
    pub held_role_id: Option<Uuid>,
    pub directory_group_id: Option<Uuid>,
}

impl TryFrom<ReviewSubjectRow> for ReviewSubject {
    type Error = StoreError;

    fn try_from(row: ReviewSubjectRow) -> Result<Self, StoreError> {
        const USER: &str = "access_review_items.user_id";
        Ok(match parse::<ReviewItemKind>("access_review_items.kind", &row.kind)? {
            ReviewItemKind::Assignment => Self::Assignment {
                id: row.assignment_id.into(),
                user: row.user_id.ok_or_else(|| StoreError::corrupt(USER, "is missing"))?.into(),
                directory_group: row.directory_group_id.map(DirectoryGroupId::from),
            },
            ReviewItemKind::Eligibility => Self::Eligibility {
                id: row.assignment_id.into(),
                eligible: eligible(USER, row.user_id, row.held_role_id)?,
            },
        })
    }
}

/// An item of a review as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct ReviewItemRow<T> {
    pub review_id: Uuid,
    pub kind: String,
    pub assignment_id: Uuid,
    pub user_id: Option<Uuid>,
    pub held_role_id: Option<Uuid>,
    pub role_id: Uuid,
    pub role_name: String,
    pub organization_id: Option<Uuid>,
    pub organization_name: Option<String>,
    pub expires_at: Option<T>,
    pub assignment_created_at: T,
    pub granted_by: Option<Uuid>,
    pub directory_group_id: Option<Uuid>,
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
                reason: row.reason.map(|reason| text("access_review_items.reason", reason)).transpose()?,
                decided_by: row.decided_by.map(UserId::from),
                decided_at,
            }),
            None => None,
        };
        let subject = ReviewSubjectRow {
            kind: row.kind,
            assignment_id: row.assignment_id,
            user_id: row.user_id,
            held_role_id: row.held_role_id,
            directory_group_id: row.directory_group_id,
        };
        Ok(Self {
            review_id: row.review_id.into(),
            subject: subject.try_into()?,
            role: RoleSummary { id: row.role_id.into(), name: parse("access_review_items.role_name", &row.role_name)? },
            organization: row
                .organization_id
                .zip(row.organization_name)
                .map(|(id, name)| OrganizationSummary { id: id.into(), name }),
            expires_at: moment_optional("access_review_items.expires_at", row.expires_at)?,
            granted_at: moment("access_review_items.assignment_created_at", row.assignment_created_at)?,
            granted_by: row.granted_by.map(UserId::from),
            last_login_at: moment_optional("access_review_items.last_login_at", row.last_login_at)?,
            decided,
            outcome: parse_optional("access_review_items.outcome", row.outcome.as_deref())?,
        })
    }
}

/// An item of a list, with the summary of its user.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct ListedReviewItemRow<T> {
    #[sqlx(flatten)]
    pub item: ReviewItemRow<T>,
    /// `None` without a user.
    pub email: Option<String>,
    /// The name of a service account.
    pub service_name: Option<String>,
}

impl<T: StoredMoment> TryFrom<ListedReviewItemRow<T>> for ListedReviewItem {
    type Error = StoreError;

    fn try_from(row: ListedReviewItemRow<T>) -> Result<Self, StoreError> {
        let user = row.email.map(|email| UserSummaryRow { email, service_name: row.service_name });
        Ok(Self { item: row.item.try_into()?, user: user.map(UserSummary::try_from).transpose()? })
    }
}

/// How many items of a review are decided.
#[expect(missing_docs, reason = "the fields are the columns of the statement")]
#[derive(Debug)]
pub struct ProgressRow {
    pub review_id: Uuid,
    pub total: i64,
    pub keep: i64,
    pub revoke: i64,
}

impl From<ProgressRow> for ReviewProgress {
    fn from(row: ProgressRow) -> Self {
        Self::of(not_negative(row.total), not_negative(row.keep), not_negative(row.revoke))
    }
}

/// Fails when a statement found no row in an OPEN review.
///
/// # Errors
///
/// [`Constraint::AccessReviewOpen`] when no row was changed.
pub fn expect_open(rows_affected: u64) -> Result<(), StoreError> {
    if rows_affected == 0 { Err(StoreError::Conflict(Constraint::AccessReviewOpen)) } else { Ok(()) }
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
        i.kind,
        i.assignment_id,
        i.user_id,
        i.held_role_id,
        i.role_id,
        i.role_name,
        i.organization_id,
        i.organization_name,
        i.expires_at,
        i.assignment_created_at,
        i.granted_by,
        i.directory_group_id,
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

/// Joins the users of the items `i`. An eligibility of the holders of a role has none.
fn push_users<S: SqlStore>(query: &mut QueryBuilder<S::Database>) {
    query.push(" LEFT JOIN ").push(S::SCHEMA).push("users u ON u.tenant_id = i.tenant_id AND u.id = i.user_id");
}
