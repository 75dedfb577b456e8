-- Tenants and everything that belongs to a tenant: users, sessions, organizations, permissions, roles. The audit log
-- is in 0002.
--
-- Every primary key and every unique constraint of a tenant's table starts with tenant_id, and every foreign key
-- contains it. So no code can write a reference to another tenant.
--
-- The tables are those of the PostgreSQL store, with the types that SQLite has:
--
-- * identifiers are BLOBs of 16 bytes;
-- * moments are INTEGERs, the milliseconds since 1970: exact to the precision of the service, compact, and compared
--   as numbers;
-- * truth values are the INTEGERs 0 and 1;
-- * JSON is TEXT.
--
-- STRICT makes SQLite refuse a value of another type. Texts are compared by code point.
--
-- The store recognizes a violated constraint by the columns in SQLite's message. When you rename a column, change
-- src/error.rs too. A column that contains an identifier or a truth value must also be in sqlx.toml.

CREATE TABLE tenants (
    -- SQLite assigns it. The numbers of a tenant's users are in a range of their own. So a search by these numbers
    -- finds only users of the tenant.
    number     INTEGER NOT NULL PRIMARY KEY,
    first_user INTEGER NOT NULL GENERATED ALWAYS AS (number << 32),
    last_user  INTEGER NOT NULL GENERATED ALWAYS AS ((number << 32) + 0xffffffff),
    id         BLOB    NOT NULL,
    name       TEXT    NOT NULL,
    slug       TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT tenants_id_key UNIQUE (id),
    -- The exception: a tenant is found by its slug.
    CONSTRAINT tenants_slug_key UNIQUE (slug),
    CONSTRAINT tenants_status_check CHECK (status IN ('ACTIVE'))
) STRICT;

CREATE TABLE users (
    -- The number of the user in the search index. It is a declared column, because otherwise SQLite may change the
    -- numbers of rows.
    number         INTEGER NOT NULL PRIMARY KEY,
    tenant_id      BLOB    NOT NULL,
    id             BLOB    NOT NULL,
    email          TEXT    NOT NULL,
    -- The *_key columns contain the text in lower case, and names with σ for ς. The service folds them, because SQLite
    -- folds only ASCII.
    email_key      TEXT    NOT NULL,
    first_name     TEXT    NOT NULL,
    first_name_key TEXT    NOT NULL,
    last_name      TEXT    NOT NULL,
    last_name_key  TEXT    NOT NULL,
    status         TEXT    NOT NULL,
    last_login_at  INTEGER,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    CONSTRAINT users_id_key UNIQUE (tenant_id, id),
    CONSTRAINT users_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    -- Deleted users stay in the table, so no other user can take their e-mails.
    CONSTRAINT users_email_key UNIQUE (tenant_id, email_key),
    CONSTRAINT users_status_check CHECK (status IN ('ACTIVE', 'SUSPENDED', 'INACTIVE'))
) STRICT;

-- A login that names no tenant searches for the e-mail in all tenants.
CREATE INDEX users_email_idx ON users (email_key);
-- The orders of the list, in either direction: backwards, only rows with the same value must be sorted. The order by
-- e-mail uses the constraint. The status has no such index, because it has three values: a client that looks for one of
-- them filters by it.
CREATE INDEX users_created_idx ON users (tenant_id, created_at DESC, id);
CREATE INDEX users_updated_idx ON users (tenant_id, updated_at DESC, id);
CREATE INDEX users_first_name_idx ON users (tenant_id, first_name_key, id);
CREATE INDEX users_last_name_idx ON users (tenant_id, last_name_key, id);
-- Ascending, because in this order all users that never logged in come first.
CREATE INDEX users_last_login_idx ON users (tenant_id, last_login_at, id);
-- The users with one status, in the default order.
CREATE INDEX users_status_idx ON users (tenant_id, status, created_at DESC, id);

-- Separate from users, so that a query for users never reads a hash.
CREATE TABLE credentials (
    tenant_id     BLOB NOT NULL,
    user_id       BLOB NOT NULL,
    password_hash TEXT NOT NULL,
    CONSTRAINT credentials_pkey PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT credentials_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id)
) STRICT;

-- Failed logins. They have no foreign keys: failed logins with an e-mail that no user has are counted too. If not
-- even the tenant is known, they are counted under the nil tenant.
CREATE TABLE login_attempts (
    tenant_id    BLOB NOT NULL,
    email_key    TEXT NOT NULL,
    -- A JSON array of moments, read and written as a whole.
    failed_at    TEXT NOT NULL,
    locked_until INTEGER,
    CONSTRAINT login_attempts_pkey PRIMARY KEY (tenant_id, email_key)
) STRICT;

-- Sessions that have not ended. A session that ends is removed, and the audit log records it.
CREATE TABLE sessions (
    tenant_id       BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    user_id         BLOB    NOT NULL,
    ip_address      TEXT,
    user_agent      TEXT,
    created_at      INTEGER NOT NULL,
    last_used_at    INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL,
    -- A reader of these columns cannot make a refresh token.
    refresh_tag_key BLOB    NOT NULL,
    refresh_current BLOB    NOT NULL,
    spent_hash      BLOB,
    spent_nonce     BLOB,
    spent_at        INTEGER,
    CONSTRAINT sessions_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT sessions_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id),
    CONSTRAINT sessions_spent_check CHECK (
        (spent_hash IS NULL) = (spent_nonce IS NULL) AND (spent_hash IS NULL) = (spent_at IS NULL)
    )
) STRICT;

CREATE INDEX sessions_user_idx ON sessions (tenant_id, user_id);

CREATE TABLE organizations (
    tenant_id  BLOB    NOT NULL,
    id         BLOB    NOT NULL,
    name       TEXT    NOT NULL,
    name_key   TEXT    NOT NULL,
    slug       TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    parent_id  BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT organizations_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT organizations_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT organizations_parent_fkey FOREIGN KEY (tenant_id, parent_id) REFERENCES organizations (tenant_id, id),
    CONSTRAINT organizations_status_check CHECK (status IN ('ACTIVE', 'SUSPENDED', 'INACTIVE'))
) STRICT;

-- Deleted organizations stay in the table, and their slugs are free.
CREATE UNIQUE INDEX organizations_slug_key ON organizations (tenant_id, slug) WHERE status <> 'INACTIVE';
-- To go down the tree. The primary key is used to go up.
CREATE INDEX organizations_parent_idx ON organizations (tenant_id, parent_id);
-- The default order of the list.
CREATE INDEX organizations_created_idx ON organizations (tenant_id, created_at DESC, id);

-- The catalogue of permissions.
CREATE TABLE permissions (
    tenant_id   BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    name        TEXT    NOT NULL,
    description TEXT    NOT NULL,
    system      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    CONSTRAINT permissions_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT permissions_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT permissions_name_key UNIQUE (tenant_id, name),
    CONSTRAINT permissions_system_check CHECK (system IN (0, 1))
) STRICT;

CREATE TABLE roles (
    tenant_id   BLOB    NOT NULL,
    id          BLOB    NOT NULL,
    name        TEXT    NOT NULL,
    description TEXT    NOT NULL,
    scope       TEXT    NOT NULL,
    system      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    CONSTRAINT roles_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT roles_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT roles_name_key UNIQUE (tenant_id, name),
    CONSTRAINT roles_scope_check CHECK (scope IN ('TENANT', 'ORGANIZATION', 'ANY')),
    CONSTRAINT roles_system_check CHECK (system IN (0, 1))
) STRICT;

-- No foreign key to the catalogue: the permission may be a wildcard, which is in no catalogue.
CREATE TABLE role_permissions (
    tenant_id  BLOB NOT NULL,
    role_id    BLOB NOT NULL,
    permission TEXT NOT NULL,
    CONSTRAINT role_permissions_pkey PRIMARY KEY (tenant_id, role_id, permission),
    CONSTRAINT role_permissions_role_fkey FOREIGN KEY (tenant_id, role_id) REFERENCES roles (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- To find the roles that have a permission that is to be deleted.
CREATE INDEX role_permissions_permission_idx ON role_permissions (tenant_id, permission);

CREATE TABLE role_assignments (
    tenant_id       BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    user_id         BLOB    NOT NULL,
    role_id         BLOB    NOT NULL,
    organization_id BLOB,
    expires_at      INTEGER,
    created_at      INTEGER NOT NULL,
    -- The user who made the assignment. Recorded like the user of an audit entry, without a foreign key.
    created_by      BLOB,
    CONSTRAINT role_assignments_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT role_assignments_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id),
    CONSTRAINT role_assignments_role_fkey FOREIGN KEY (tenant_id, role_id) REFERENCES roles (tenant_id, id),
    CONSTRAINT role_assignments_organization_fkey FOREIGN KEY (tenant_id, organization_id)
        REFERENCES organizations (tenant_id, id)
) STRICT;

-- A user has a role at most once tenant-wide, too, that is, without an organization. Without coalesce, two NULLs would
-- count as different.
CREATE UNIQUE INDEX role_assignments_context_key
    ON role_assignments (tenant_id, user_id, role_id, coalesce(organization_id, x''));
-- The indexes include the expiry, so that assignments that have not expired are counted without reading the rows. A
-- list for a visible scope of organizations may have to find most assignments of the tenant: this index alone answers
-- it, except for the rows that are shown.
CREATE INDEX role_assignments_organization_idx
    ON role_assignments (tenant_id, organization_id, role_id, user_id, expires_at, created_at, id);
CREATE INDEX role_assignments_role_idx ON role_assignments (tenant_id, role_id, created_at DESC, id, expires_at);
-- The order of the list.
CREATE INDEX role_assignments_created_idx ON role_assignments (tenant_id, created_at DESC, id, expires_at);
-- The sweeper first searches for expired assignments in all tenants. Assignments that never expire are excluded.
CREATE INDEX role_assignments_expiry_idx ON role_assignments (expires_at, tenant_id) WHERE expires_at IS NOT NULL;

-- How many users of each status and how many role assignments a tenant has, so that lists need not count them.
-- Triggers update the counts in the transactions that change the rows. So they are exact for a statement that reads
-- both.
CREATE TABLE tenant_counts (
    tenant_id        BLOB    NOT NULL,
    active_users     INTEGER NOT NULL DEFAULT 0,
    suspended_users  INTEGER NOT NULL DEFAULT 0,
    inactive_users   INTEGER NOT NULL DEFAULT 0,
    role_assignments INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT tenant_counts_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT tenant_counts_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tenants_count_insert AFTER INSERT ON tenants
BEGIN
    INSERT INTO tenant_counts (tenant_id) VALUES (NEW.id);
END;

CREATE TRIGGER users_count_insert AFTER INSERT ON users
BEGIN
    UPDATE tenant_counts
    SET
        active_users = active_users + (NEW.status = 'ACTIVE'),
        suspended_users = suspended_users + (NEW.status = 'SUSPENDED'),
        inactive_users = inactive_users + (NEW.status = 'INACTIVE')
    WHERE tenant_id = NEW.tenant_id;
END;

CREATE TRIGGER users_count_update AFTER UPDATE OF status ON users
WHEN NEW.status <> OLD.status
BEGIN
    UPDATE tenant_counts
    SET
        active_users = active_users + (NEW.status = 'ACTIVE') - (OLD.status = 'ACTIVE'),
        suspended_users = suspended_users + (NEW.status = 'SUSPENDED') - (OLD.status = 'SUSPENDED'),
        inactive_users = inactive_users + (NEW.status = 'INACTIVE') - (OLD.status = 'INACTIVE')
    WHERE tenant_id = NEW.tenant_id;
END;

CREATE TRIGGER users_count_delete AFTER DELETE ON users
BEGIN
    UPDATE tenant_counts
    SET
        active_users = active_users - (OLD.status = 'ACTIVE'),
        suspended_users = suspended_users - (OLD.status = 'SUSPENDED'),
        inactive_users = inactive_users - (OLD.status = 'INACTIVE')
    WHERE tenant_id = OLD.tenant_id;
END;

CREATE TRIGGER role_assignments_count_insert AFTER INSERT ON role_assignments
BEGIN
    UPDATE tenant_counts SET role_assignments = role_assignments + 1 WHERE tenant_id = NEW.tenant_id;
END;

CREATE TRIGGER role_assignments_count_delete AFTER DELETE ON role_assignments
BEGIN
    UPDATE tenant_counts SET role_assignments = role_assignments - 1 WHERE tenant_id = OLD.tenant_id;
END;

-- The keys that sign access tokens and checkpoints of audit logs. They belong to the installation and to no tenant.
CREATE TABLE signing_keys (
    purpose     TEXT    NOT NULL,
    -- If two processes add a key at the same time, they choose the same generation, and one of them fails.
    generation  INTEGER NOT NULL,
    id          BLOB    NOT NULL,
    public_key  BLOB    NOT NULL,
    private_key BLOB    NOT NULL,
    -- Whether the private key is encrypted under the master key.
    encrypted      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    signs_from  INTEGER NOT NULL,
    CONSTRAINT signing_keys_pkey PRIMARY KEY (purpose, generation),
    CONSTRAINT signing_keys_id_key UNIQUE (id),
    -- No key can be older than the first one, which names the logs.
    CONSTRAINT signing_keys_generation_check CHECK (generation >= 1),
    CONSTRAINT signing_keys_purpose_check CHECK (purpose IN ('ACCESS_TOKENS', 'CHECKPOINTS')),
    CONSTRAINT signing_keys_encrypted_check CHECK (encrypted IN (0, 1))
) STRICT;

-- Statistics for the planner. Without them, it expects that a tenant has ten rows. Then it would rather read the
-- whole tenant in the order of a list than sort the few rows that a longer index finds. The numbers say how many rows
-- an index has, and how many of them have the same value in the first column, in the first two columns, and so on.
-- They are not measured, and need not change when a table grows.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('users', 'sqlite_autoindex_users_1', '1000000 10000 1'),
    ('users', 'sqlite_autoindex_users_2', '1000000 10000 1'),
    ('users', 'users_email_idx', '1000000 1'),
    ('users', 'users_created_idx', '1000000 10000 2 1'),
    ('users', 'users_updated_idx', '1000000 10000 2 1'),
    ('users', 'users_first_name_idx', '1000000 10000 20 1'),
    ('users', 'users_last_name_idx', '1000000 10000 10 1'),
    ('users', 'users_last_login_idx', '1000000 10000 2 1'),
    ('users', 'users_status_idx', '1000000 10000 2000 2 1'),
    ('organizations', 'sqlite_autoindex_organizations_1', '100000 1000 1'),
    ('organizations', 'organizations_slug_key', '100000 1000 1'),
    ('organizations', 'organizations_parent_idx', '100000 1000 5'),
    ('organizations', 'organizations_created_idx', '100000 1000 2 1'),
    ('roles', 'sqlite_autoindex_roles_1', '2000 20 1'),
    ('roles', 'sqlite_autoindex_roles_2', '2000 20 1'),
    ('role_assignments', 'sqlite_autoindex_role_assignments_1', '2000000 20000 1'),
    ('role_assignments', 'role_assignments_context_key', '2000000 20000 2 2 1'),
    ('role_assignments', 'role_assignments_organization_idx', '2000000 20000 20 10 1 1 1 1'),
    ('role_assignments', 'role_assignments_role_idx', '2000000 20000 1000 2 1 1'),
    ('role_assignments', 'role_assignments_created_idx', '2000000 20000 2 1 1'),
    ('role_assignments', 'role_assignments_expiry_idx', '200000 1 1');
-- This connection reads the statistics here. The other connections read them together with the new schema.
ANALYZE sqlite_schema;
