-- Webhooks: how events are sent to other systems.

CREATE TABLE iam.webhooks (
    tenant_id    uuid        NOT NULL,
    id           uuid        NOT NULL,
    url          text        NOT NULL,
    -- Patterns, separated by spaces.
    types        text        NOT NULL,
    description  text        NOT NULL,
    enabled      boolean     NOT NULL,
    -- What the secret is computed from, together with a key of the installation.
    salt         bytea       NOT NULL,
    -- That of the secret before the last rotation, and until when requests are also signed with it.
    former_salt  bytea,
    former_until timestamptz,
    created_at   timestamptz NOT NULL,
    created_by   uuid,
    version      bigint      NOT NULL DEFAULT 1,
    -- Each event up to this number was attempted, or is not meant. Numbers are counted from one.
    attempted    bigint      NOT NULL,
    -- How many attempts failed since the last success, and until when further events pause.
    failures     bigint      NOT NULL DEFAULT 0,
    paused_until timestamptz,
    CONSTRAINT webhooks_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT webhooks_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id),
    CONSTRAINT webhooks_salt_check CHECK (octet_length(salt) = 32),
    CONSTRAINT webhooks_former_check CHECK (octet_length(former_salt) = 32),
    CONSTRAINT webhooks_attempted_check CHECK (attempted >= 0)
) WITH (
    -- Each delivery changes the row. With free space in the page, no index must be written.
    fillfactor = 50
);

-- What became of the events that were attempted.
CREATE TABLE iam.webhook_deliveries (
    tenant_id       uuid        NOT NULL,
    webhook_id      uuid        NOT NULL,
    sequence        bigint      NOT NULL,
    entry_id        uuid        NOT NULL,
    event_type      text        NOT NULL,
    attempt         bigint      NOT NULL,
    status          text        NOT NULL,
    http_status     bigint,
    error           text,
    started_at      timestamptz NOT NULL,
    duration_ms     bigint      NOT NULL,
    next_attempt_at timestamptz,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (tenant_id, webhook_id, sequence),
    CONSTRAINT webhook_deliveries_webhook_fkey
        FOREIGN KEY (tenant_id, webhook_id) REFERENCES iam.webhooks (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX webhook_deliveries_started_idx
    ON iam.webhook_deliveries (tenant_id, webhook_id, started_at DESC, sequence DESC);

CREATE INDEX webhook_deliveries_due_idx
    ON iam.webhook_deliveries (tenant_id, webhook_id, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;

CREATE INDEX webhook_deliveries_ended_idx ON iam.webhook_deliveries (started_at) WHERE next_attempt_at IS NULL;

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
        ('webhooks:create', 'Make webhooks.'),
        ('webhooks:read', 'See webhooks and their deliveries.'),
        ('webhooks:update', 'Change, test and replay webhooks, and rotate their secrets.'),
        ('webhooks:delete', 'Remove webhooks.')
) p (name, description)
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = TRUE;
