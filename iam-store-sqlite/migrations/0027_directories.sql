-- Directories: where the identity provider of a company writes its people.

CREATE TABLE directories (
    tenant_id            BLOB    NOT NULL,
    id                   BLOB    NOT NULL,
    name                 TEXT    NOT NULL,
    -- The service account whose API keys the directory uses.
    service_account_id   BLOB    NOT NULL,
    -- The provider by which the users of the directory log in; NULL if they log in by other means.
    identity_provider_id BLOB,
    adopt                INTEGER NOT NULL,
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    version              INTEGER NOT NULL DEFAULT 1,
    -- What the directory has sent last. It is no part of the version.
    last_request_at      INTEGER,
    -- The requests that were refused, newest first.
    refusals             TEXT    NOT NULL DEFAULT '[]',
    CONSTRAINT directories_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT directories_account_key UNIQUE (tenant_id, service_account_id),
    CONSTRAINT directories_account_fkey
        FOREIGN KEY (tenant_id, service_account_id) REFERENCES users (tenant_id, id),
    CONSTRAINT directories_provider_fkey
        FOREIGN KEY (tenant_id, identity_provider_id) REFERENCES identity_providers (tenant_id, id)
) STRICT;

-- What directories say of their users. It ends with the directory; the users stay.
CREATE TABLE directory_users (
    tenant_id     BLOB    NOT NULL,
    user_id       BLOB    NOT NULL,
    directory_id  BLOB    NOT NULL,
    user_name     TEXT    NOT NULL,
    -- The form by which names are compared.
    user_name_key TEXT    NOT NULL,
    -- When the directory deleted the user; NULL if it has not. The name stays taken.
    deleted_at    INTEGER,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    version       INTEGER NOT NULL DEFAULT 1,
    -- The texts of the attributes that requests search, in the form by which they are compared.
    search        TEXT    NOT NULL,
    -- They are large, so they come last: SQLite reads a row up to the column that it needs.
    attributes    TEXT    NOT NULL,
    CONSTRAINT directory_users_pkey PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT directory_users_name_key UNIQUE (tenant_id, directory_id, user_name_key),
    CONSTRAINT directory_users_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id),
    CONSTRAINT directory_users_directory_fkey
        FOREIGN KEY (tenant_id, directory_id) REFERENCES directories (tenant_id, id) ON DELETE CASCADE
) STRICT;

-- The users of a directory, in the order of its lists.
CREATE INDEX directory_users_created_idx ON directory_users (tenant_id, directory_id, created_at, user_id)
    WHERE deleted_at IS NULL;

-- The catalogues of the tenants that exist already. An application may have registered one of these permissions.
INSERT INTO permissions (tenant_id, id, name, description, system, created_at)
SELECT
    t.id,
    -- A UUID of version 7: the time of the tenant's identifier, and random bits.
    CAST(substr(t.id, 1, 6) || x'7000' || x'80' || randomblob(7) AS BLOB),
    p.column1,
    p.column2,
    1,
    t.created_at
FROM tenants t
CROSS JOIN (
    VALUES
        ('directories:create', 'Make directories.'),
        ('directories:read', 'See directories.'),
        ('directories:update', 'Change directories.'),
        ('directories:delete', 'Remove directories.')
) p
WHERE TRUE
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = 1;
