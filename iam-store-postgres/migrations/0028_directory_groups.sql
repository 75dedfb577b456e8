-- Groups of directories, and the roles that their members hold.

CREATE TABLE iam.directory_groups (
    tenant_id        uuid             NOT NULL,
    id               uuid             NOT NULL,
    directory_id     uuid             NOT NULL,
    display_name     text             NOT NULL,
    -- The form by which names are compared.
    display_name_key text COLLATE "C" NOT NULL,
    external_id      text COLLATE "C",
    -- How many members it has, so that lists need not count them.
    members          bigint           NOT NULL,
    -- The roles that its members hold, with their organizations. There are no foreign keys: the service removes a grant
    -- before its organization, and keeps a role that a group gives.
    grants           jsonb            NOT NULL,
    created_at       timestamptz      NOT NULL,
    updated_at       timestamptz      NOT NULL,
    version          bigint           NOT NULL DEFAULT 1,
    CONSTRAINT directory_groups_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT directory_groups_name_key UNIQUE (tenant_id, directory_id, display_name_key),
    CONSTRAINT directory_groups_directory_fkey
        FOREIGN KEY (tenant_id, directory_id) REFERENCES iam.directories (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX directory_groups_external_idx ON iam.directory_groups (tenant_id, directory_id, external_id)
    WHERE external_id IS NOT NULL;
-- The groups that give roles are few.
CREATE INDEX directory_groups_granting_idx ON iam.directory_groups (tenant_id, id) WHERE grants <> '[]';

CREATE TABLE iam.directory_group_members (
    tenant_id uuid NOT NULL,
    group_id  uuid NOT NULL,
    user_id   uuid NOT NULL,
    CONSTRAINT directory_group_members_pkey PRIMARY KEY (tenant_id, group_id, user_id),
    CONSTRAINT directory_group_members_group_fkey
        FOREIGN KEY (tenant_id, group_id) REFERENCES iam.directory_groups (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT directory_group_members_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id)
);

CREATE INDEX directory_group_members_user_idx ON iam.directory_group_members (tenant_id, user_id, group_id);

-- The roles that members do not get from a group that gives them, because an access review revoked them. It ends with
-- the membership.
CREATE TABLE iam.directory_withheld (
    tenant_id       uuid NOT NULL,
    group_id        uuid NOT NULL,
    user_id         uuid NOT NULL,
    role_id         uuid NOT NULL,
    organization_id uuid,
    CONSTRAINT directory_withheld_key
        UNIQUE NULLS NOT DISTINCT (tenant_id, group_id, user_id, role_id, organization_id),
    CONSTRAINT directory_withheld_member_fkey FOREIGN KEY (tenant_id, group_id, user_id)
        REFERENCES iam.directory_group_members (tenant_id, group_id, user_id) ON DELETE CASCADE
);

-- It has no primary key, and Citus moves a shard while rows of it are deleted only if they are identified.
ALTER TABLE iam.directory_withheld REPLICA IDENTITY FULL;

-- The group that gives the role. There is no foreign key: the assignments of a group end by themselves, and past ones
-- name groups that do not exist any more.
ALTER TABLE iam.role_assignments ADD COLUMN directory_group_id uuid;
ALTER TABLE iam.past_assignments ADD COLUMN directory_group_id uuid;
ALTER TABLE iam.access_review_items ADD COLUMN directory_group_id uuid;

CREATE INDEX role_assignments_directory_group_idx ON iam.role_assignments (tenant_id, directory_group_id)
    WHERE directory_group_id IS NOT NULL;
