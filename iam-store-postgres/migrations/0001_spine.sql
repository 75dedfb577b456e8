-- Tenants and everything that belongs to one: users, sessions, organizations, permissions, roles. The audit log is in
-- 0002.
--
-- Every primary key and every unique constraint of a tenant's table starts with tenant_id, and every foreign key
-- carries it. So a reference into another tenant cannot be written, whatever the code does, and the tables can one
-- day be sharded by tenant: a distributed engine refuses a unique index without the distribution column.
--
-- The store finds out by its name which constraint was violated. Whoever renames one changes src/error.rs too.
--
-- The migrator makes the schema iam, in which its own table of migrations stands too.

CREATE TABLE iam.tenants (
    id         uuid        NOT NULL,
    name       text        NOT NULL,
    slug       text        NOT NULL,
    status     text        NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT tenants_pkey PRIMARY KEY (id),
    -- The exception: the slug is what a tenant is found by.
    CONSTRAINT tenants_slug_key UNIQUE (slug),
    CONSTRAINT tenants_status_check CHECK (status IN ('ACTIVE'))
);

CREATE TABLE iam.users (
    tenant_id      uuid             NOT NULL,
    id             uuid             NOT NULL,
    email          text             NOT NULL,
    -- The *_key columns hold the text in lower case, names with σ for ς, folded by the service and not by the database, and
    -- are compared by code point. So every store finds and sorts the same, whatever the locale of its database.
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
    -- Deleted users stay in the table, so their e-mails stay taken.
    CONSTRAINT users_email_key UNIQUE (tenant_id, email_key),
    CONSTRAINT users_status_check CHECK (status IN ('ACTIVE', 'SUSPENDED', 'INACTIVE'))
) WITH (
    -- Room beside every user for its next version: a login changes one, and where that finds no room in the same page, all
    -- indexes are written too.
    fillfactor = 90
);

-- A login that names no tenant looks for the e-mail in all of them.
CREATE INDEX users_email_idx ON iam.users (email_key);
-- The orders of the list, in either direction: backwards, only those that have the same value are left to be sorted. The
-- e-mail has its constraint. The last login has no index, because every login would then have to write all of them, and
-- the state has none, because it has three values: who looks for one filters by it.
CREATE INDEX users_created_idx ON iam.users (tenant_id, created_at DESC, id);
CREATE INDEX users_updated_idx ON iam.users (tenant_id, updated_at DESC, id);
CREATE INDEX users_first_name_idx ON iam.users (tenant_id, first_name_key, id);
CREATE INDEX users_last_name_idx ON iam.users (tenant_id, last_name_key, id);
-- Those in one state, in the default order.
CREATE INDEX users_status_idx ON iam.users (tenant_id, status, created_at DESC, id);

-- Apart from users, so that reading users never touches a hash.
CREATE TABLE iam.credentials (
    tenant_id     uuid NOT NULL,
    user_id       uuid NOT NULL,
    password_hash text NOT NULL,
    CONSTRAINT credentials_pkey PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT credentials_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id)
);

-- Failed logins. They refer to nothing: an e-mail that nobody has is counted too, and one for which not even a tenant
-- is known is counted under the nil tenant.
CREATE TABLE iam.login_attempts (
    tenant_id    uuid             NOT NULL,
    email_key    text COLLATE "C" NOT NULL,
    failed_at    timestamptz[]    NOT NULL DEFAULT '{}',
    locked_until timestamptz,
    CONSTRAINT login_attempts_pkey PRIMARY KEY (tenant_id, email_key)
);

-- Sessions that have not ended: one that ends is removed, and the audit log remembers it.
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
    -- No refresh token can be made from these columns.
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
    -- That nobody stands above itself the service sees to: a constraint sees one row at a time.
    CONSTRAINT organizations_parent_fkey FOREIGN KEY (tenant_id, parent_id)
        REFERENCES iam.organizations (tenant_id, id),
    CONSTRAINT organizations_status_check CHECK (status IN ('ACTIVE', 'SUSPENDED', 'INACTIVE'))
);

-- Deleted organizations stay in the table, and their slugs are free. Only an index can leave rows aside, no constraint.
CREATE UNIQUE INDEX organizations_slug_key ON iam.organizations (tenant_id, slug) WHERE status <> 'INACTIVE';
-- The way down the tree; the primary key is the way up.
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
    -- No reference to the catalogue: it may be a wildcard, which is in no catalogue.
    permission text COLLATE "C" NOT NULL,
    CONSTRAINT role_permissions_pkey PRIMARY KEY (tenant_id, role_id, permission),
    CONSTRAINT role_permissions_role_fkey FOREIGN KEY (tenant_id, role_id) REFERENCES iam.roles (tenant_id, id)
);

-- Whether a role still holds a permission that is to go.
CREATE INDEX role_permissions_permission_idx ON iam.role_permissions (tenant_id, permission);

CREATE TABLE iam.role_assignments (
    tenant_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    user_id         uuid        NOT NULL,
    role_id         uuid        NOT NULL,
    organization_id uuid,
    expires_at      timestamptz,
    created_at      timestamptz NOT NULL,
    -- Who made it is on record like the user of an audit entry, and is no reference.
    created_by      uuid,
    CONSTRAINT role_assignments_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT role_assignments_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id),
    CONSTRAINT role_assignments_role_fkey FOREIGN KEY (tenant_id, role_id) REFERENCES iam.roles (tenant_id, id),
    CONSTRAINT role_assignments_organization_fkey FOREIGN KEY (tenant_id, organization_id)
        REFERENCES iam.organizations (tenant_id, id),
    -- Tenant-wide, that is without an organization, a role is held once too.
    CONSTRAINT role_assignments_context_key UNIQUE NULLS NOT DISTINCT (tenant_id, user_id, role_id, organization_id)
);

-- The order of the list, of all and of each filter but the user, who holds few. The indexes also have the expiry, so that
-- what has not expired is counted without reading the rows.
CREATE INDEX role_assignments_created_idx ON iam.role_assignments (tenant_id, created_at DESC, id) INCLUDE (expires_at);
CREATE INDEX role_assignments_organization_idx
    ON iam.role_assignments (tenant_id, organization_id, created_at DESC, id) INCLUDE (expires_at);
CREATE INDEX role_assignments_role_idx
    ON iam.role_assignments (tenant_id, role_id, created_at DESC, id) INCLUDE (expires_at);
-- The sweeper looks for what has expired in all tenants. What never expires is left aside.
CREATE INDEX role_assignments_expires_idx ON iam.role_assignments (expires_at, tenant_id) WHERE expires_at IS NOT NULL;

-- The keys that sign access tokens, and checkpoints of audit logs. They belong to the installation and to no tenant.
CREATE TABLE iam.signing_keys (
    purpose     text        NOT NULL,
    -- Two replicas that add a key at the same moment choose the same generation, and one of them fails.
    generation  bigint      NOT NULL,
    id          uuid        NOT NULL,
    public_key  bytea       NOT NULL,
    private_key bytea       NOT NULL,
    -- Whether the private key is encrypted under the master key.
    sealed      boolean     NOT NULL,
    created_at  timestamptz NOT NULL,
    signs_from  timestamptz NOT NULL,
    CONSTRAINT signing_keys_pkey PRIMARY KEY (purpose, generation),
    CONSTRAINT signing_keys_id_key UNIQUE (id),
    -- Nothing can come before the first, which names the logs.
    CONSTRAINT signing_keys_generation_check CHECK (generation >= 1),
    CONSTRAINT signing_keys_purpose_check CHECK (purpose IN ('ACCESS_TOKENS', 'CHECKPOINTS'))
);

-- How many users of each state and how many role assignments a tenant has, so that lists need not count them. Triggers keep
-- the counts in the transactions that change the rows, so they are exact for whoever reads both in one statement.
--
-- A tenant has up to sixteen rows, and what it has is their sum. With one row, all who make users of a tenant at the same
-- moment would wait for each other's commits; so a transaction writes the row of the process that serves it. Whoever changes
-- states or role assignments holds the tenant's lock, and whoever makes a user asks for nobody else's rows afterwards: none of
-- them waits for the other in a circle.
CREATE TABLE iam.tenant_counts (
    tenant_id        uuid     NOT NULL,
    slot             smallint NOT NULL,
    -- A single one may be negative: what one transaction adds here, another one takes away elsewhere.
    active_users     bigint   NOT NULL,
    suspended_users  bigint   NOT NULL,
    inactive_users   bigint   NOT NULL,
    role_assignments bigint   NOT NULL,
    CONSTRAINT tenant_counts_pkey PRIMARY KEY (tenant_id, slot)
) WITH (
    -- Rows are written anew all the time. With room beside it the new one lies on the same page, and no index learns of it.
    fillfactor = 50
);

-- The triggers' functions run with the rights of the tables' owner: the server's role may read the counts and not write them.

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

-- Once for a statement, however many rows that writes. A row that is deleted counts as one less.
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

-- A truncated table tells nobody which rows it had.
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
-- By row, because only then can it be left alone by the updates that change nothing of it: every login is one.
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
