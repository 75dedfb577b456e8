-- API keys: how programs act as a user.

CREATE TABLE api_keys (
    tenant_id       BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    user_id         BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    -- The SHA-256 digest of the secret. It has 256 random bits, so a reader of this column cannot guess it.
    secret_hash     BLOB    NOT NULL,
    -- That of the secret before the last rotation, and until when it is valid.
    former_hash     BLOB,
    former_until    INTEGER,
    -- Patterns, separated by spaces. NULL for all permissions of the user.
    permissions     TEXT,
    organization_id BLOB,
    expires_at      INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    created_by      BLOB,
    last_used_at    INTEGER,
    version         INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT api_keys_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT api_keys_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id),
    CONSTRAINT api_keys_organization_fkey
        FOREIGN KEY (tenant_id, organization_id) REFERENCES organizations (tenant_id, id),
    CONSTRAINT api_keys_secret_check CHECK (length(secret_hash) = 32),
    CONSTRAINT api_keys_former_check CHECK (length(former_hash) = 32)
) STRICT;

CREATE INDEX api_keys_user_idx ON api_keys (tenant_id, user_id, created_at DESC, id);

-- A key that was revoked or changed. Its use is not notified.
CREATE TRIGGER api_keys_tell_delete AFTER DELETE ON api_keys
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

CREATE TRIGGER api_keys_tell_update
AFTER UPDATE OF user_id, secret_hash, former_hash, former_until, permissions, organization_id, expires_at ON api_keys
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

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
        ('api-keys:create', 'Make API keys for other users.'),
        ('api-keys:read', 'See the API keys of other users.'),
        ('api-keys:update', 'Change and rotate the API keys of other users.'),
        ('api-keys:delete', 'Revoke the API keys of other users.')
) p
WHERE TRUE
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = 1;
