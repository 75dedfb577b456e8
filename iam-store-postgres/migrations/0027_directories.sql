-- Directories: where the identity provider of a company writes its people.

CREATE TABLE iam.directories (
    tenant_id            uuid             NOT NULL,
    id                   uuid             NOT NULL,
    name                 text COLLATE "C" NOT NULL,
    -- The service account whose API keys the directory uses.
    service_account_id   uuid             NOT NULL,
    -- The provider by which the users of the directory log in; NULL if they log in by other means.
    identity_provider_id uuid,
    adopt                boolean          NOT NULL,
    created_at           timestamptz      NOT NULL,
    updated_at           timestamptz      NOT NULL,
    version              bigint           NOT NULL DEFAULT 1,
    -- What the directory has sent last. It is no part of the version.
    last_request_at      timestamptz,
    -- The requests that were refused, newest first.
    refusals             jsonb            NOT NULL DEFAULT '[]',
    CONSTRAINT directories_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT directories_account_key UNIQUE (tenant_id, service_account_id),
    CONSTRAINT directories_account_fkey
        FOREIGN KEY (tenant_id, service_account_id) REFERENCES iam.users (tenant_id, id),
    CONSTRAINT directories_provider_fkey
        FOREIGN KEY (tenant_id, identity_provider_id) REFERENCES iam.identity_providers (tenant_id, id)
) WITH (
    -- Requests of the directory change it. With free space in the page, no index must be written.
    fillfactor = 90
);

-- What directories say of their users. It ends with the directory; the users stay.
CREATE TABLE iam.directory_users (
    tenant_id     uuid             NOT NULL,
    user_id       uuid             NOT NULL,
    directory_id  uuid             NOT NULL,
    user_name     text             NOT NULL,
    -- The form by which names are compared.
    user_name_key text COLLATE "C" NOT NULL,
    -- When the directory deleted the user; NULL if it has not. The name stays taken.
    deleted_at    timestamptz,
    created_at    timestamptz      NOT NULL,
    updated_at    timestamptz      NOT NULL,
    version       bigint           NOT NULL DEFAULT 1,
    -- The texts of the attributes that requests search, in the form by which they are compared.
    search        jsonb            NOT NULL,
    -- Not jsonb, which changes numbers and takes no U+0000.
    attributes    json             NOT NULL,
    CONSTRAINT directory_users_pkey PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT directory_users_name_key UNIQUE (tenant_id, directory_id, user_name_key),
    CONSTRAINT directory_users_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id),
    CONSTRAINT directory_users_directory_fkey
        FOREIGN KEY (tenant_id, directory_id) REFERENCES iam.directories (tenant_id, id) ON DELETE CASCADE
);

-- The users of a directory, in the order of its lists.
CREATE INDEX directory_users_created_idx ON iam.directory_users (tenant_id, directory_id, created_at, user_id)
    WHERE deleted_at IS NULL;

-- The catalogues of the tenants that exist already. An application may have registered one of these permissions.
INSERT INTO iam.permissions (tenant_id, id, name, description, system, created_at)
SELECT
    t.id,
    -- A UUID of version 7: the time of the tenant's identifier, and random bits.
    encode(
        substring(uuid_send(t.id) FROM 1 FOR 6)
            || set_bit(set_bit(substring(uuid_send(gen_random_uuid()) FROM 7), 4, 1), 5, 1),
        'hex'
    )::uuid,
    p.name,
    p.description,
    TRUE,
    t.created_at
FROM iam.tenants t
CROSS JOIN (
    VALUES
        ('directories:create', 'Make directories.'),
        ('directories:read', 'See directories.'),
        ('directories:update', 'Change directories.'),
        ('directories:delete', 'Remove directories.')
) p (name, description)
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = TRUE;
