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
use sqlx::types::Json;
use uuid::Uuid;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = OrganizationRow<i64>;

// The recursive statements use UNION and not UNION ALL: a row that was found is not followed again. So even a cycle,
// which the service never writes, would end. They use CROSS JOIN, whose order SQLite never changes: in the other order,
// it would read all organizations of the tenant at each step.

#[async_trait]
impl OrganizationStore for SqliteStore {
    async fn lineages(&self, tenant: TenantId, of: &[OrganizationId]) -> Result<Vec<Organization>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            WITH RECURSIVE lineage (id) AS (
                SELECT unhex(value, '-')
                FROM json_each(?2)
                UNION
                SELECT o.parent_id
                FROM lineage l
                CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = l.id
                WHERE o.parent_id IS NOT NULL
            )
            SELECT
                o.tenant_id AS "tenant_id!", o.id AS "id!", o.name AS "name!", o.slug AS "slug!", o.status AS "status!",
                o.parent_id, o.created_at AS "created_at!", o.updated_at AS "updated_at!", o.version AS "version!"
            FROM lineage l
            CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = l.id
            "#,
            tenant.as_uuid(),
            Json(of)
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Organization::try_from).collect()
    }

    async fn subtree(&self, tenant: TenantId, root: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            WITH RECURSIVE subtree (id) AS (
                SELECT ?2
                UNION
                SELECT o.id
                FROM subtree s
                CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.parent_id = s.id
                WHERE o.status <> 'INACTIVE'
            )
            SELECT
                o.tenant_id AS "tenant_id!", o.id AS "id!", o.name AS "name!", o.slug AS "slug!", o.status AS "status!",
                o.parent_id, o.created_at AS "created_at!", o.updated_at AS "updated_at!", o.version AS "version!"
            FROM subtree s
            CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = s.id
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
                FROM organizations
                WHERE tenant_id = ?1 AND parent_id = ?2 AND status <> 'INACTIVE'
                LIMIT ?3
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
        let rows = sqlx::query_as!(
            Row,
            r#"
            WITH child AS (
                SELECT o.id, row_number() OVER (PARTITION BY o.parent_id ORDER BY o.name_key, o.id) AS number
                FROM (SELECT DISTINCT unhex(value, '-') AS id FROM json_each(?2)) p
                CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.parent_id = p.id
                WHERE o.status <> 'INACTIVE'
            )
            SELECT
                o.tenant_id AS "tenant_id!", o.id AS "id!", o.name AS "name!", o.slug AS "slug!", o.status AS "status!",
                o.parent_id, o.created_at AS "created_at!", o.updated_at AS "updated_at!", o.version AS "version!"
            FROM child c
            CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = c.id
            WHERE c.number <= ?3
            ORDER BY o.name_key, o.id
            LIMIT ?4
            "#,
            tenant.as_uuid(),
            Json(parents),
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
        let counts = sqlx::query!(
            r#"
            WITH RECURSIVE place (root, id) AS (
                SELECT o.id, o.id
                FROM json_each(?2) e
                CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = unhex(e.value, '-')
                UNION
                SELECT p.root, o.id
                FROM place p
                CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.parent_id = p.id
                WHERE o.status <> 'INACTIVE'
            ),
            held (id, user_id) AS MATERIALIZED (
                SELECT p.id, a.user_id
                FROM (SELECT DISTINCT id FROM place) p
                CROSS JOIN role_assignments a ON a.tenant_id = ?1 AND a.organization_id = p.id
                WHERE a.expires_at IS NULL OR a.expires_at > ?3
                LIMIT ?4
            ),
            member (root, is_own, is_below) AS (
                SELECT p.root, max(p.id = p.root), max(p.id <> p.root)
                FROM place p
                JOIN held h ON h.id = p.id
                GROUP BY p.root, h.user_id
            ),
            members (root, own, below) AS (
                SELECT m.root, sum(m.is_own), sum(m.is_below)
                FROM member m
                GROUP BY m.root
            )
            SELECT
                p.root AS "id!: Uuid",
                count(*) - 1 AS "below!: i64",
                coalesce(max(m.own), 0) AS "members!: i64",
                coalesce(max(m.below), 0) AS "members_below!: i64",
                (SELECT count(*) FROM held) AS "assignments!: i64"
            FROM place p
            LEFT JOIN members m ON m.root = p.root
            GROUP BY p.root
            "#,
            tenant.as_uuid(),
            Json(organizations),
            millis(now),
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
        let slugs = Json(slugs.iter().map(Slug::as_str).collect::<Vec<_>>());
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT o.tenant_id, o.id, o.name, o.slug, o.status, o.parent_id, o.created_at, o.updated_at, o.version
            FROM organizations o
            WHERE o.tenant_id = ?1 AND o.slug IN (SELECT value FROM json_each(?2)) AND o.status <> 'INACTIVE'
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
        let scope = self.scope(tenant, visible_scope).await?;
        let list = |page| list::<Self>(tenant, filter, sort, page, &scope);
        self.page::<Organization, Row>(tenant, page, list).await
    }
}

#[async_trait]
impl OrganizationTransaction for SqliteTransaction {
    async fn lineages(&mut self, of: &[OrganizationId]) -> Result<Vec<Organization>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            WITH RECURSIVE lineage (id) AS (
                SELECT unhex(value, '-')
                FROM json_each(?2)
                UNION
                SELECT o.parent_id
                FROM lineage l
                CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = l.id
                WHERE o.parent_id IS NOT NULL
            )
            SELECT
                o.tenant_id AS "tenant_id!", o.id AS "id!", o.name AS "name!", o.slug AS "slug!", o.status AS "status!",
                o.parent_id, o.created_at AS "created_at!", o.updated_at AS "updated_at!", o.version AS "version!"
            FROM lineage l
            CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = l.id
            "#,
            self.tenant(),
            Json(of)
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Organization::try_from).collect()
    }

    async fn subtree(&mut self, root: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            WITH RECURSIVE subtree (id) AS (
                SELECT ?2
                UNION
                SELECT o.id
                FROM subtree s
                CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.parent_id = s.id
                WHERE o.status <> 'INACTIVE'
            )
            SELECT
                o.tenant_id AS "tenant_id!", o.id AS "id!", o.name AS "name!", o.slug AS "slug!", o.status AS "status!",
                o.parent_id, o.created_at AS "created_at!", o.updated_at AS "updated_at!", o.version AS "version!"
            FROM subtree s
            CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = s.id
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
            FROM organizations o
            WHERE o.tenant_id = ?1 AND o.status <> 'INACTIVE'
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
                SELECT 1 FROM organizations WHERE tenant_id = ?1 AND slug = ?2 AND status <> 'INACTIVE'
            ) AS "exists!: bool"
            "#,
            self.tenant(),
            slug.as_str()
        );
        is_taken.fetch_one(self.connection()).await.map_err(store_error)
    }
}

impl SqliteTransaction {
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
            INSERT INTO organizations (
                tenant_id, id, name, name_key, slug, status, parent_id, created_at, updated_at, keyed_at
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)
            "#,
            self.tenant(),
            organization.id.as_uuid(),
            organization.name.as_str(),
            folded(organization.name.as_str()),
            organization.slug.as_str(),
            organization.status.as_str(),
            organization.parent_id.map(OrganizationId::as_uuid),
            millis(organization.created_at),
            millis(organization.updated_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_organization(&mut self, organization: &Organization) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE organizations
            SET
                name = ?3,
                name_key = ?4,
                slug = ?5,
                status = ?6,
                parent_id = ?7,
                updated_at = ?8,
                keyed_at = ?8,
                version = version + 1
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            organization.id.as_uuid(),
            organization.name.as_str(),
            folded(organization.name.as_str()),
            organization.slug.as_str(),
            organization.status.as_str(),
            organization.parent_id.map(OrganizationId::as_uuid),
            millis(organization.updated_at)
        );
        expect_row(self.execute(update).await?, "organization")
    }
}

#[cfg(test)]
mod tests {
    use iam_model::organization::ParentFilter;

    use super::*;
    use crate::plan::assert_list;

    /// All organizations that match are counted and sorted.
    #[tokio::test]
    async fn every_filter_finds_its_organizations_by_an_index() {
        let (plain, root) = (OrganizationFilter::default, ParentFilter::Of(OrganizationId::from(uuid::Uuid::nil())));
        let below = |parent| OrganizationFilter { parent: Some(parent), ..plain() };
        let within = VisibleScope::Organizations(Vec::new());
        for (filter, visible_scope, index) in [
            (plain(), &VisibleScope::Tenant, "organizations_created_idx (tenant_id=?)"),
            (
                below(ParentFilter::Root),
                &VisibleScope::Tenant,
                "organizations_parent_idx (tenant_id=? AND parent_id=?)",
            ),
            (below(root), &VisibleScope::Tenant, "organizations_parent_idx (tenant_id=? AND parent_id=?)"),
            (plain(), &within, "sqlite_autoindex_organizations_1 (tenant_id=? AND id=?)"),
        ] {
            let (sort, page) = (OrganizationSort::default(), PageRequest::default());
            let query = list::<SqliteStore>(TenantId::NONE, &filter, sort, page, visible_scope);
            assert_list(query, &format!("SEARCH o USING INDEX {index}"), true).await;
        }
    }
}
