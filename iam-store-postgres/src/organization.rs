use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::change::OrganizationChange;
use iam_model::clock::Timestamp;
use iam_model::id::{OrganizationId, TenantId};
use iam_model::organization::{MemberCounts, Organization, OrganizationCounts, OrganizationFilter, OrganizationSort};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{OrganizationStore, OrganizationTransaction};
use iam_model::store_error::StoreError;
use iam_model::text::folded;
use iam_model::validate::Slug;
use iam_store_sql::error::expect_row;
use iam_store_sql::organization::{OrganizationRow, list};
use iam_store_sql::store::SqlStore as _;
use uuid::Uuid;

use crate::PostgresStore;
use crate::column::{in_range, is_storable};
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Row = OrganizationRow<Timestamp>;

// The recursive statements use UNION and not UNION ALL: a row that was found is not followed again. So even a cycle,
// which the service never writes, would end. Every step selects whole rows, and each step up has a LIMIT, because the
// planner expects the steps to find ten times as many rows as the first part: to join so many, it would read all
// organizations of the tenant.
//
// The identifiers come from a subquery, whose rows the planner cannot count, so the plan is cached. For an array, the
// planner would make a new plan every time: the identifiers are fewer than it expects of any array, so a plan for just
// them seems better than a plan for all.

#[async_trait]
impl OrganizationStore for PostgresStore {
    async fn lineages(&self, tenant: TenantId, of: &[OrganizationId]) -> Result<Vec<Organization>, StoreError> {
        let ids: Vec<Uuid> = of.iter().map(|id| id.as_uuid()).collect();
        let rows = sqlx::query_as!(
            Row,
            r#"
            WITH RECURSIVE lineage AS (
                SELECT o.*
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id = ANY(ARRAY(SELECT unnest($2::uuid[])))
                UNION
                SELECT o.*
                FROM lineage l
                CROSS JOIN LATERAL (
                    SELECT o.*
                    FROM iam.organizations o
                    WHERE o.tenant_id = $1 AND o.id = l.parent_id
                    LIMIT 1
                ) o
            )
            SELECT
                o.tenant_id AS "tenant_id!", o.id AS "id!", o.name AS "name!", o.slug AS "slug!", o.status AS "status!",
                o.parent_id, o.created_at AS "created_at!", o.updated_at AS "updated_at!", o.version AS "version!"
            FROM lineage o
            "#,
            tenant.as_uuid(),
            &ids
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Organization::try_from).collect()
    }

    async fn subtree(&self, tenant: TenantId, root: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            WITH RECURSIVE subtree AS (
                SELECT o.*
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id = $2
                UNION
                SELECT o.*
                FROM subtree s
                JOIN iam.organizations o ON o.tenant_id = $1 AND o.parent_id = s.id
                WHERE o.status <> 'INACTIVE'
            )
            SELECT
                o.tenant_id AS "tenant_id!", o.id AS "id!", o.name AS "name!", o.slug AS "slug!", o.status AS "status!",
                o.parent_id, o.created_at AS "created_at!", o.updated_at AS "updated_at!", o.version AS "version!"
            FROM subtree o
            ORDER BY o.created_at DESC, o.id
            "#,
            tenant.as_uuid(),
            root.as_uuid()
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Organization::try_from).collect()
    }

    async fn children(
        &self,
        tenant: TenantId,
        parent: OrganizationId,
        limit: u32,
    ) -> Result<Vec<Organization>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                o.tenant_id AS "tenant_id!", o.id AS "id!", o.name AS "name!", o.slug AS "slug!", o.status AS "status!",
                o.parent_id, o.created_at AS "created_at!", o.updated_at AS "updated_at!", o.version AS "version!"
            FROM (
                SELECT *
                FROM iam.organizations
                WHERE tenant_id = $1 AND parent_id = $2 AND status <> 'INACTIVE'
                LIMIT $3
            ) o
            ORDER BY o.created_at DESC, o.id
            "#,
            tenant.as_uuid(),
            parent.as_uuid(),
            i64::from(limit)
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Organization::try_from).collect()
    }

    async fn children_of(
        &self,
        tenant: TenantId,
        parents: &[OrganizationId],
        each: u32,
        limit: u32,
    ) -> Result<Vec<Organization>, StoreError> {
        let parents: Vec<Uuid> = parents.iter().map(|parent| parent.as_uuid()).collect();
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                o.tenant_id AS "tenant_id!", o.id AS "id!", o.name AS "name!", o.slug AS "slug!", o.status AS "status!",
                o.parent_id, o.created_at AS "created_at!", o.updated_at AS "updated_at!", o.version AS "version!"
            FROM (SELECT DISTINCT unnest($2::uuid[]) AS id) p
            CROSS JOIN LATERAL (
                SELECT o.*
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.parent_id = p.id AND o.status <> 'INACTIVE'
                ORDER BY o.name_key, o.id
                LIMIT $3
            ) o
            ORDER BY o.name_key, o.id
            LIMIT $4
            "#,
            tenant.as_uuid(),
            &parents,
            i64::from(each),
            i64::from(limit)
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Organization::try_from).collect()
    }

    async fn organization_counts(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
        now: Timestamp,
        most: u32,
    ) -> Result<Vec<OrganizationCounts>, StoreError> {
        let ids: Vec<Uuid> = organizations.iter().map(|id| id.as_uuid()).collect();
        // Each step down and each place finds its rows by an index: with OFFSET 0, the planner cannot join them in
        // another way, for which it would read all rows of the tenant.
        let counts = sqlx::query!(
            r#"
            WITH RECURSIVE place AS (
                SELECT o.id AS root, o.id
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id = ANY(ARRAY(SELECT unnest($2::uuid[])))
                UNION
                SELECT p.root, o.id
                FROM place p
                CROSS JOIN LATERAL (
                    SELECT o.id
                    FROM iam.organizations o
                    WHERE o.tenant_id = $1 AND o.parent_id = p.id AND o.status <> 'INACTIVE'
                    OFFSET 0
                ) o
            ),
            held AS MATERIALIZED (
                SELECT p.id, a.user_id
                FROM (SELECT DISTINCT id FROM place) p
                CROSS JOIN LATERAL (
                    SELECT a.user_id
                    FROM iam.role_assignments a
                    WHERE a.tenant_id = $1
                        AND a.organization_id = p.id
                        AND (a.expires_at IS NULL OR a.expires_at > $3)
                    OFFSET 0
                ) a
                LIMIT $4
            ),
            member AS (
                SELECT p.root, h.user_id, bool_or(p.id = p.root) AS is_own, bool_or(p.id <> p.root) AS is_below
                FROM place p
                JOIN held h ON h.id = p.id
                GROUP BY p.root, h.user_id
            ),
            members AS (
                SELECT
                    m.root,
                    count(*) FILTER (WHERE m.is_own) AS own,
                    count(*) FILTER (WHERE m.is_below) AS below
                FROM member m
                GROUP BY m.root
            )
            SELECT
                p.root AS "id!",
                count(*) - 1 AS "below!",
                coalesce(max(m.own), 0) AS "members!",
                coalesce(max(m.below), 0) AS "members_below!",
                (SELECT count(*) FROM held) AS "assignments!"
            FROM place p
            LEFT JOIN members m ON m.root = p.root
            GROUP BY p.root
            "#,
            tenant.as_uuid(),
            &ids,
            in_range(now),
            i64::from(most) + 1
        );
        let counts = self.answer(counts.fetch_all(&self.reads_of(tenant))).await?;
        let counts = counts.into_iter().map(|row| OrganizationCounts {
            id: row.id.into(),
            below: row.below.unsigned_abs(),
            members: (row.assignments <= i64::from(most))
                .then(|| MemberCounts { own: row.members.unsigned_abs(), below: row.members_below.unsigned_abs() }),
        });
        Ok(counts.collect())
    }

    async fn organizations_by_slug(&self, tenant: TenantId, slugs: &[Slug]) -> Result<Vec<Organization>, StoreError> {
        let slugs: Vec<String> = slugs.iter().map(Slug::to_string).collect();
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT o.tenant_id, o.id, o.name, o.slug, o.status, o.parent_id, o.created_at, o.updated_at, o.version
            FROM iam.organizations o
            WHERE o.tenant_id = $1 AND o.slug = ANY($2) AND o.status <> 'INACTIVE'
            "#,
            tenant.as_uuid(),
            &slugs
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Organization::try_from).collect()
    }

    async fn organizations(
        &self,
        tenant: TenantId,
        filter: &OrganizationFilter,
        visible_scope: &VisibleScope,
        sort: OrganizationSort,
        page: PageRequest,
    ) -> Result<Page<Organization>, StoreError> {
        if !filter.search.as_deref().is_none_or(is_storable) {
            return Ok(Page { items: Vec::new(), total: 0, request: page });
        }
        let scope = self.scope(tenant, visible_scope).await?;
        let is_steady = filter.search.is_none() && Self::is_everywhere(&scope);
        let list = |page| list::<Self>(tenant, filter, sort, page, &scope);
        self.page::<Organization, Row>(tenant, page, is_steady, list).await
    }
}

#[async_trait]
impl OrganizationTransaction for PostgresTransaction {
    async fn lineages(&mut self, of: &[OrganizationId]) -> Result<Vec<Organization>, StoreError> {
        let ids: Vec<Uuid> = of.iter().map(|id| id.as_uuid()).collect();
        let rows = sqlx::query_as!(
            Row,
            r#"
            WITH RECURSIVE lineage AS (
                SELECT o.*
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id = ANY(ARRAY(SELECT unnest($2::uuid[])))
                UNION
                SELECT o.*
                FROM lineage l
                CROSS JOIN LATERAL (
                    SELECT o.*
                    FROM iam.organizations o
                    WHERE o.tenant_id = $1 AND o.id = l.parent_id
                    LIMIT 1
                ) o
            )
            SELECT
                o.tenant_id AS "tenant_id!", o.id AS "id!", o.name AS "name!", o.slug AS "slug!", o.status AS "status!",
                o.parent_id, o.created_at AS "created_at!", o.updated_at AS "updated_at!", o.version AS "version!"
            FROM lineage o
            "#,
            self.tenant(),
            &ids
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Organization::try_from).collect()
    }

    async fn subtree(&mut self, root: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            WITH RECURSIVE subtree AS (
                SELECT o.*
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id = $2
                UNION
                SELECT o.*
                FROM subtree s
                JOIN iam.organizations o ON o.tenant_id = $1 AND o.parent_id = s.id
                WHERE o.status <> 'INACTIVE'
            )
            SELECT
                o.tenant_id AS "tenant_id!", o.id AS "id!", o.name AS "name!", o.slug AS "slug!", o.status AS "status!",
                o.parent_id, o.created_at AS "created_at!", o.updated_at AS "updated_at!", o.version AS "version!"
            FROM subtree o
            ORDER BY o.created_at DESC, o.id
            "#,
            self.tenant(),
            root.as_uuid()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Organization::try_from).collect()
    }

    async fn all_organizations(&mut self) -> Result<Vec<Organization>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT o.tenant_id, o.id, o.name, o.slug, o.status, o.parent_id, o.created_at, o.updated_at, o.version
            FROM iam.organizations o
            WHERE o.tenant_id = $1 AND o.status <> 'INACTIVE'
            "#,
            self.tenant()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Organization::try_from).collect()
    }

    async fn is_organization_slug_taken(&mut self, slug: &Slug) -> Result<bool, StoreError> {
        let is_taken = sqlx::query_scalar!(
            r#"
            SELECT EXISTS (
                SELECT FROM iam.organizations WHERE tenant_id = $1 AND slug = $2 AND status <> 'INACTIVE'
            ) AS "exists!"
            "#,
            self.tenant(),
            slug.as_str()
        );
        is_taken.fetch_one(self.connection()).await.map_err(store_error)
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_organization(&mut self, change: &OrganizationChange) -> Result<(), StoreError> {
        match change {
            OrganizationChange::Create { organization, attributes } => {
                self.insert_organization(organization).await?;
                match attributes.is_empty() {
                    true => Ok(()),
                    false => self.write_attributes(organization.id.into(), attributes).await,
                }
            }
            OrganizationChange::Update { after, attributes, .. } => {
                self.update_organization(after).await?;
                match attributes {
                    Some(attributes) => self.write_attributes(after.id.into(), &attributes.after).await,
                    None => Ok(()),
                }
            }
            OrganizationChange::Delete { after, .. } => self.update_organization(after).await,
        }
    }

    async fn insert_organization(&mut self, organization: &Organization) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.organizations (
                tenant_id, id, name, name_key, slug, status, parent_id, created_at, updated_at, keyed_at
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
            "#,
            self.tenant(),
            organization.id.as_uuid(),
            organization.name.as_str(),
            folded(organization.name.as_str()),
            organization.slug.as_str(),
            organization.status.as_str(),
            organization.parent_id.map(OrganizationId::as_uuid),
            in_range(organization.created_at),
            in_range(organization.updated_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_organization(&mut self, organization: &Organization) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.organizations
            SET
                name = $3,
                name_key = $4,
                slug = $5,
                status = $6,
                parent_id = $7,
                updated_at = $8,
                keyed_at = $8,
                version = version + 1
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            organization.id.as_uuid(),
            organization.name.as_str(),
            folded(organization.name.as_str()),
            organization.slug.as_str(),
            organization.status.as_str(),
            organization.parent_id.map(OrganizationId::as_uuid),
            in_range(organization.updated_at)
        );
        expect_row(self.execute(update).await?, "organization")
    }
}

impl PostgresStore {
    /// Returns the organizations to which a list is restricted: those of the visible scope and all below them. `None`
    /// if the visible scope is the whole tenant.
    ///
    /// This is a separate statement: inside the statement of the list, the planner could not know how few these
    /// organizations are, and would read all users of the tenant.
    pub(crate) async fn scope(
        &self,
        tenant: TenantId,
        visible_scope: &VisibleScope,
    ) -> Result<Option<Vec<Uuid>>, StoreError> {
        let VisibleScope::Organizations(roots) = visible_scope else { return Ok(None) };
        let roots: Vec<Uuid> = roots.iter().map(|root| root.as_uuid()).collect();
        let organizations = sqlx::query_scalar!(
            r#"
            WITH RECURSIVE visible_scope AS (
                SELECT o.id
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id = ANY($2)
                UNION
                SELECT o.id
                FROM visible_scope r
                JOIN iam.organizations o ON o.tenant_id = $1 AND o.parent_id = r.id
            )
            SELECT ARRAY(SELECT r.id FROM visible_scope r) AS "ids!"
            "#,
            tenant.as_uuid(),
            &roots
        );
        self.answer(organizations.fetch_one(&self.reads_of(tenant))).await.map(Some)
    }
}
