-- Tenants and everything that belongs to a tenant: users, sessions, organizations, permissions, roles. The audit log
-- is in 0002.
--
-- Every primary key and every unique constraint of a tenant's table starts with tenant_id, and every foreign key
-- contains it. So no code can write a reference to another tenant, and the tables could be sharded by tenant: a
-- distributed engine refuses a unique index without the distribution column.
--
-- The store recognizes a violated constraint by its name. When you rename a constraint, change src/error.rs too.
--
-- The migrator creates the schema iam, which also contains its own table of migrations.

CREATE TABLE iam.tenants (
    id         uuid        NOT NULL,
    name       text        NOT NULL,
    slug       text        NOT NULL,
    status     text        NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT tenants_pkey PRIMARY KEY (id),
    -- The exception: a tenant is found by its slug.
    CONSTRAINT tenants_slug_key UNIQUE (slug),
    CONSTRAINT tenants_status_check CHECK (status IN ('ACTIVE'))
);

CREATE TABLE iam.users (
    tenant_id      uuid             NOT NULL,
    id             uuid             NOT NULL,
    email          text             NOT NULL,
    -- The *_key columns contain the text in lower case, and names with σ for ς. The service folds them, not the
    -- database, and they are compared by code point. So every store finds and sorts in the same way, in any locale of
    -- its database.
    email_key      text COLLATE "C" NOT NULL,
    first_name     text             NOT NULL,
    first_name_key text COLLATE "C" NOT NULL,
    last_name      text             NOT NULL,
    last_name_key  text COLLATE "C" NOT NULL,
    status         text             NOT NULL,
    last_login_at  timestamptz,
    created_at     timestamptz      NOT NULL,
    updated_at     timestamptz      NOT NULL,
    CONSTRAINT users_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT users_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id),
    -- Deleted users stay in the table, so no other user can take their e-mails.
    CONSTRAINT users_email_key UNIQUE (tenant_id, email_key),
    CONSTRAINT users_status_check CHECK (status IN ('ACTIVE', 'SUSPENDED', 'INACTIVE'))
) WITH (
    -- Free space in each page for the next versions of its users: every login changes a user, and without space in
    -- the same page, all indexes must be written too.
    fillfactor = 90
);

-- A login that names no tenant searches for the e-mail in all tenants.
CREATE INDEX users_email_idx ON iam.users (email_key);
-- The orders of the list, in either direction: backwards, only rows with the same value must be sorted. The order by
-- e-mail uses the constraint. The last login has no index, because every login would then have to write all indexes.
-- The status has no such index, because it has three values: a client that looks for one of them filters by it.
CREATE INDEX users_created_idx ON iam.users (tenant_id, created_at DESC, id);
CREATE INDEX users_updated_idx ON iam.users (tenant_id, updated_at DESC, id);
CREATE INDEX users_first_name_idx ON iam.users (tenant_id, first_name_key, id);
CREATE INDEX users_last_name_idx ON iam.users (tenant_id, last_name_key, id);
-- The users with one status, in the default order.
CREATE INDEX users_status_idx ON iam.users (tenant_id, status, created_at DESC, id);

-- Separate from users, so that a query for users never reads a hash.
CREATE TABLE iam.credentials (
    tenant_id     uuid NOT NULL,
    user_id       uuid NOT NULL,
    password_hash text NOT NULL,
    CONSTRAINT credentials_pkey PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT credentials_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id)
);

-- Failed logins. They have no foreign keys: failed logins with an e-mail that no user has are counted too. If not
-- even the tenant is known, they are counted under the nil tenant.
CREATE TABLE iam.login_attempts (
    tenant_id    uuid             NOT NULL,
    email_key    text COLLATE "C" NOT NULL,
    failed_at    timestamptz[]    NOT NULL DEFAULT '{}',
    locked_until timestamptz,
    CONSTRAINT login_attempts_pkey PRIMARY KEY (tenant_id, email_key)
);

-- Sessions that have not ended. A session that ends is removed, and the audit log records it.
CREATE TABLE iam.sessions (
    tenant_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    user_id         uuid        NOT NULL,
    -- Text, because inet would also take networks.
    ip_address      text,
    user_agent      text,
    created_at      timestamptz NOT NULL,
    last_used_at    timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    -- A reader of these columns cannot make a refresh token.
    refresh_tag_key bytea       NOT NULL,
    refresh_current bytea       NOT NULL,
    spent_hash      bytea,
    spent_nonce     bytea,
    spent_at        timestamptz,
    CONSTRAINT sessions_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT sessions_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id),
    CONSTRAINT sessions_spent_check CHECK (num_nulls(spent_hash, spent_nonce, spent_at) IN (0, 3))
);

CREATE INDEX sessions_user_idx ON iam.sessions (tenant_id, user_id);

CREATE TABLE iam.organizations (
    tenant_id  uuid             NOT NULL,
    id         uuid             NOT NULL,
    name       text             NOT NULL,
    name_key   text COLLATE "C" NOT NULL,
    slug       text             NOT NULL,
    status     text             NOT NULL,
    parent_id  uuid,
    created_at timestamptz      NOT NULL,
    updated_at timestamptz      NOT NULL,
    CONSTRAINT organizations_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT organizations_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id),
    -- The service ensures that no organization is above itself: a constraint sees only one row at a time.
    CONSTRAINT organizations_parent_fkey FOREIGN KEY (tenant_id, parent_id)
        REFERENCES iam.organizations (tenant_id, id),
    CONSTRAINT organizations_status_check CHECK (status IN ('ACTIVE', 'SUSPENDED', 'INACTIVE'))
);

-- Deleted organizations stay in the table, and their slugs are free. An index can exclude rows, a constraint cannot.
CREATE UNIQUE INDEX organizations_slug_key ON iam.organizations (tenant_id, slug) WHERE status <> 'INACTIVE';
-- To go down the tree. The primary key is used to go up.
CREATE INDEX organizations_parent_idx ON iam.organizations (tenant_id, parent_id);
-- The default order of the list.
CREATE INDEX organizations_created_idx ON iam.organizations (tenant_id, created_at DESC, id);

-- The catalogue of permissions.
CREATE TABLE iam.permissions (
    tenant_id   uuid             NOT NULL,
    id          uuid             NOT NULL,
    name        text COLLATE "C" NOT NULL,
    description text             NOT NULL,
    system      boolean          NOT NULL,
    created_at  timestamptz      NOT NULL,
    CONSTRAINT permissions_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT permissions_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id),
    CONSTRAINT permissions_name_key UNIQUE (tenant_id, name)
);

CREATE TABLE iam.roles (
    tenant_id   uuid        NOT NULL,
    id          uuid        NOT NULL,
    name        text        NOT NULL,
    description text        NOT NULL,
    scope       text        NOT NULL,
    system      boolean     NOT NULL,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    CONSTRAINT roles_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT roles_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id),
    CONSTRAINT roles_name_key UNIQUE (tenant_id, name),
    CONSTRAINT roles_scope_check CHECK (scope IN ('TENANT', 'ORGANIZATION', 'ANY'))
);

CREATE TABLE iam.role_permissions (
    tenant_id  uuid             NOT NULL,
    role_id    uuid             NOT NULL,
    -- No foreign key to the catalogue: the permission may be a wildcard, which is in no catalogue.
    permission text COLLATE "C" NOT NULL,
    CONSTRAINT role_permissions_pkey PRIMARY KEY (tenant_id, role_id, permission),
    CONSTRAINT role_permissions_role_fkey FOREIGN KEY (tenant_id, role_id) REFERENCES iam.roles (tenant_id, id)
);

-- To check whether a role still has a permission that is to be deleted.
CREATE INDEX role_permissions_permission_idx ON iam.role_permissions (tenant_id, permission);

CREATE TABLE iam.role_assignments (
    tenant_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    user_id         uuid        NOT NULL,
    role_id         uuid        NOT NULL,
    organization_id uuid,
    expires_at      timestamptz,
    created_at      timestamptz NOT NULL,
    -- The user who made the assignment. Recorded like the user of an audit entry, without a foreign key.
    created_by      uuid,
    CONSTRAINT role_assignments_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT role_assignments_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id),
    CONSTRAINT role_assignments_role_fkey FOREIGN KEY (tenant_id, role_id) REFERENCES iam.roles (tenant_id, id),
    CONSTRAINT role_assignments_organization_fkey FOREIGN KEY (tenant_id, organization_id)
        REFERENCES iam.organizations (tenant_id, id),
    -- A user has a role at most once tenant-wide, too, that is, without an organization.
    CONSTRAINT role_assignments_context_key UNIQUE NULLS NOT DISTINCT (tenant_id, user_id, role_id, organization_id)
);

-- The order of the list, for all assignments and for each filter. The filter by user needs no such index, because a
-- user has few assignments. The indexes include the expiry, so that assignments that have not expired are counted
-- without reading the rows.
CREATE INDEX role_assignments_created_idx ON iam.role_assignments (tenant_id, created_at DESC, id) INCLUDE (expires_at);
CREATE INDEX role_assignments_organization_idx
    ON iam.role_assignments (tenant_id, organization_id, created_at DESC, id) INCLUDE (expires_at);
CREATE INDEX role_assignments_role_idx
    ON iam.role_assignments (tenant_id, role_id, created_at DESC, id) INCLUDE (expires_at);
-- The sweeper searches for expired assignments in all tenants. Assignments that never expire are excluded.
CREATE INDEX role_assignments_expires_idx ON iam.role_assignments (expires_at, tenant_id) WHERE expires_at IS NOT NULL;

-- The keys that sign access tokens and checkpoints of audit logs. They belong to the installation and to no tenant.
CREATE TABLE iam.signing_keys (
    purpose     text        NOT NULL,
    -- If two replicas add a key at the same time, they choose the same generation, and one of them fails.
    generation  bigint      NOT NULL,
    id          uuid        NOT NULL,
    public_key  bytea       NOT NULL,
    private_key bytea       NOT NULL,
    -- Whether the private key is encrypted under the master key.
    encrypted      boolean     NOT NULL,
    created_at  timestamptz NOT NULL,
    signs_from  timestamptz NOT NULL,
    CONSTRAINT signing_keys_pkey PRIMARY KEY (purpose, generation),
    CONSTRAINT signing_keys_id_key UNIQUE (id),
    -- No key can be older than the first one, which names the logs.
    CONSTRAINT signing_keys_generation_check CHECK (generation >= 1),
    CONSTRAINT signing_keys_purpose_check CHECK (purpose IN ('ACCESS_TOKENS', 'CHECKPOINTS'))
);

-- How many users of each status and how many role assignments a tenant has, so that lists need not count them.
-- Triggers update the counts in the transactions that change the rows. So they are exact for a statement that reads
-- both.
--
-- A tenant has up to sixteen rows, and each of its counts is the sum over them. With one row, all transactions that
-- create users of the tenant at the same time would wait for each other's commits. So a transaction writes the row of
-- the server process that executes it. A transaction that changes statuses or role assignments holds the tenant's
-- lock. A transaction that creates a user locks no rows of other transactions afterwards. So there is no deadlock.
CREATE TABLE iam.tenant_counts (
    tenant_id        uuid     NOT NULL,
    slot             smallint NOT NULL,
    -- The count of a single row may be negative: another transaction may subtract from another row.
    active_users     bigint   NOT NULL,
    suspended_users  bigint   NOT NULL,
    inactive_users   bigint   NOT NULL,
    role_assignments bigint   NOT NULL,
    CONSTRAINT tenant_counts_pkey PRIMARY KEY (tenant_id, slot)
) WITH (
    -- Rows are updated all the time. With free space in the page, the new version of a row is on the same page, and
    -- no index must be written.
    fillfactor = 50
);

-- The functions of the triggers run with the privileges of the owner of the tables: the role of the server may read
-- the counts, but not write them.

CREATE FUNCTION iam.add_to_tenant_counts(tenant uuid, active bigint, suspended bigint, inactive bigint, assignments bigint)
    RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO iam.tenant_counts AS c
    VALUES (tenant, pg_backend_pid() % 16, active, suspended, inactive, assignments)
    ON CONFLICT (tenant_id, slot) DO UPDATE SET
        active_users = c.active_users + excluded.active_users,
        suspended_users = c.suspended_users + excluded.suspended_users,
        inactive_users = c.inactive_users + excluded.inactive_users,
        role_assignments = c.role_assignments + excluded.role_assignments
$$;

-- Runs once for each statement, for all rows that it writes. A deleted row is subtracted.
CREATE FUNCTION iam.count_users() RETURNS trigger
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sign constant bigint := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    PERFORM iam.add_to_tenant_counts(
        w.tenant_id,
        sign * count(*) FILTER (WHERE w.status = 'ACTIVE'),
        sign * count(*) FILTER (WHERE w.status = 'SUSPENDED'),
        sign * count(*) FILTER (WHERE w.status = 'INACTIVE'),
        0
    )
    FROM written w
    GROUP BY w.tenant_id
    ORDER BY w.tenant_id;
    RETURN NULL;
END
$$;

CREATE FUNCTION iam.count_user_status() RETURNS trigger
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM iam.add_to_tenant_counts(
        NEW.tenant_id,
        (NEW.status = 'ACTIVE')::integer - (OLD.status = 'ACTIVE')::integer,
        (NEW.status = 'SUSPENDED')::integer - (OLD.status = 'SUSPENDED')::integer,
        (NEW.status = 'INACTIVE')::integer - (OLD.status = 'INACTIVE')::integer,
        0
    );
    RETURN NULL;
END
$$;

CREATE FUNCTION iam.count_role_assignments() RETURNS trigger
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sign constant bigint := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    PERFORM iam.add_to_tenant_counts(w.tenant_id, 0, 0, 0, sign * count(*))
    FROM written w
    GROUP BY w.tenant_id
    ORDER BY w.tenant_id;
    RETURN NULL;
END
$$;

-- TRUNCATE does not show which rows the table had, so the counts of all tenants become zero.
CREATE FUNCTION iam.forget_counts() RETURNS trigger
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_TABLE_NAME = 'users' THEN
        UPDATE iam.tenant_counts SET active_users = 0, suspended_users = 0, inactive_users = 0;
    ELSE
        UPDATE iam.tenant_counts SET role_assignments = 0;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER users_count_insert AFTER INSERT ON iam.users
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION iam.count_users();
CREATE TRIGGER users_count_delete AFTER DELETE ON iam.users
    REFERENCING OLD TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION iam.count_users();
-- For each row, because only such a trigger can skip the updates that do not change the status: every login makes
-- one.
CREATE TRIGGER users_count_update AFTER UPDATE OF status ON iam.users
    FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION iam.count_user_status();
CREATE TRIGGER users_count_truncate AFTER TRUNCATE ON iam.users
    EXECUTE FUNCTION iam.forget_counts();

CREATE TRIGGER role_assignments_count_insert AFTER INSERT ON iam.role_assignments
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION iam.count_role_assignments();
CREATE TRIGGER role_assignments_count_delete AFTER DELETE ON iam.role_assignments
    REFERENCING OLD TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION iam.count_role_assignments();
CREATE TRIGGER role_assignments_count_truncate AFTER TRUNCATE ON iam.role_assignments
    EXECUTE FUNCTION iam.forget_counts();
