-- Groups of directories, and the roles that their members hold.

CREATE TABLE directory_groups (
    tenant_id        BLOB    NOT NULL,
    id               BLOB    NOT NULL,
    directory_id     BLOB    NOT NULL,
    display_name     TEXT    NOT NULL,
    -- The form by which names are compared.
    display_name_key TEXT    NOT NULL,
    external_id      TEXT,
    -- How many members it has, so that lists need not count them.
    members          INTEGER NOT NULL,
    -- The roles that its members hold, with their organizations. There are no foreign keys: the service removes a grant
    -- before its organization, and keeps a role that a group gives.
    grants           TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    version          INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT directory_groups_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT directory_groups_name_key UNIQUE (tenant_id, directory_id, display_name_key),
    CONSTRAINT directory_groups_directory_fkey
        FOREIGN KEY (tenant_id, directory_id) REFERENCES directories (tenant_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX directory_groups_external_idx ON directory_groups (tenant_id, directory_id, external_id)
    WHERE external_id IS NOT NULL;
-- The groups that give roles are few.
CREATE INDEX directory_groups_granting_idx ON directory_groups (tenant_id, id) WHERE grants <> '[]';

CREATE TABLE directory_group_members (
    tenant_id BLOB NOT NULL,
    group_id  BLOB NOT NULL,
    user_id   BLOB NOT NULL,
    CONSTRAINT directory_group_members_pkey PRIMARY KEY (tenant_id, group_id, user_id),
    CONSTRAINT directory_group_members_group_fkey
        FOREIGN KEY (tenant_id, group_id) REFERENCES directory_groups (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT directory_group_members_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX directory_group_members_user_idx ON directory_group_members (tenant_id, user_id, group_id);

-- The roles that members do not get from a group that gives them, because an access review revoked them. It ends with
-- the membership.
CREATE TABLE directory_withheld (
    tenant_id       BLOB NOT NULL,
    group_id        BLOB NOT NULL,
    user_id         BLOB NOT NULL,
    role_id         BLOB NOT NULL,
    organization_id BLOB,
    CONSTRAINT directory_withheld_member_fkey FOREIGN KEY (tenant_id, group_id, user_id)
        REFERENCES directory_group_members (tenant_id, group_id, user_id) ON DELETE CASCADE
) STRICT;

-- Without coalesce, two NULLs would count as different.
CREATE UNIQUE INDEX directory_withheld_key
    ON directory_withheld (tenant_id, group_id, user_id, role_id, coalesce(organization_id, x''));

-- The group that gives the role. There is no foreign key: the assignments of a group end by themselves, and past ones
-- name groups that do not exist any more.
ALTER TABLE role_assignments ADD COLUMN directory_group_id BLOB;
ALTER TABLE past_assignments ADD COLUMN directory_group_id BLOB;
ALTER TABLE access_review_items ADD COLUMN directory_group_id BLOB;

CREATE INDEX role_assignments_directory_group_idx ON role_assignments (tenant_id, directory_group_id)
    WHERE directory_group_id IS NOT NULL;

-- Statistics for the planner. Without them, it expects that a directory has ten groups, and reads all of them.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('directory_groups', 'sqlite_autoindex_directory_groups_1', '100000 1000 1'),
    ('directory_groups', 'sqlite_autoindex_directory_groups_2', '100000 1000 500 1'),
    ('directory_groups', 'directory_groups_external_idx', '100000 1000 500 1'),
    ('directory_groups', 'directory_groups_granting_idx', '10000 100 1'),
    ('directory_group_members', 'sqlite_autoindex_directory_group_members_1', '2000000 20000 20 1'),
    ('directory_group_members', 'directory_group_members_user_idx', '2000000 20000 5 1'),
    ('directory_withheld', 'directory_withheld_key', '10000 100 10 1 1 1'),
    ('role_assignments', 'role_assignments_directory_group_idx', '1000000 10000 100');
ANALYZE sqlite_schema;
