-- API keys: how programs act as a user.

CREATE TABLE iam.api_keys (
    tenant_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    user_id         uuid        NOT NULL,
    name            text        NOT NULL,
    -- The SHA-256 digest of the secret. It has 256 random bits, so a reader of this column cannot guess it.
    secret_hash     bytea       NOT NULL,
    -- That of the secret before the last rotation, and until when it is valid.
    former_hash     bytea,
    former_until    timestamptz,
    -- Patterns, separated by spaces. NULL for all permissions of the user.
    permissions     text,
    organization_id uuid,
    expires_at      timestamptz NOT NULL,
    created_at      timestamptz NOT NULL,
    created_by      uuid,
    last_used_at    timestamptz,
    version         bigint      NOT NULL DEFAULT 1,
    CONSTRAINT api_keys_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT api_keys_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id),
    CONSTRAINT api_keys_organization_fkey
        FOREIGN KEY (tenant_id, organization_id) REFERENCES iam.organizations (tenant_id, id),
    CONSTRAINT api_keys_secret_check CHECK (octet_length(secret_hash) = 32),
    CONSTRAINT api_keys_former_check CHECK (octet_length(former_hash) = 32)
) WITH (
    -- Its use changes it. With free space in the page, no index must be written.
    fillfactor = 90
);

CREATE INDEX api_keys_user_idx ON iam.api_keys (tenant_id, user_id, created_at DESC, id);

-- A key that was revoked or changed. Its use is not notified.
CREATE TRIGGER api_keys_tell_delete AFTER DELETE ON iam.api_keys
    FOR EACH ROW EXECUTE FUNCTION iam.tell_change();
CREATE TRIGGER api_keys_tell_update
    AFTER UPDATE OF user_id, secret_hash, former_hash, former_until, permissions, organization_id, expires_at ON iam.api_keys
    FOR EACH ROW EXECUTE FUNCTION iam.tell_change();
CREATE TRIGGER api_keys_tell_truncate AFTER TRUNCATE ON iam.api_keys
    EXECUTE FUNCTION iam.tell_everything_changed();

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
        ('api-keys:create', 'Make API keys for other users.'),
        ('api-keys:read', 'See the API keys of other users.'),
        ('api-keys:update', 'Change and rotate the API keys of other users.'),
        ('api-keys:delete', 'Revoke the API keys of other users.')
) p (name, description)
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = TRUE;
