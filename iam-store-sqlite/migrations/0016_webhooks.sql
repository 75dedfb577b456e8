-- Webhooks: how events are sent to other systems.

CREATE TABLE webhooks (
    tenant_id    BLOB    NOT NULL,
    id           BLOB    NOT NULL,
    url          TEXT    NOT NULL,
    -- Patterns, separated by spaces.
    types        TEXT    NOT NULL,
    description  TEXT    NOT NULL,
    enabled      INTEGER NOT NULL,
    -- What the secret is computed from, together with a key of the installation.
    salt         BLOB    NOT NULL,
    -- That of the secret before the last rotation, and until when requests are also signed with it.
    former_salt  BLOB,
    former_until INTEGER,
    created_at   INTEGER NOT NULL,
    created_by   BLOB,
    version      INTEGER NOT NULL DEFAULT 1,
    -- Each event up to this number was attempted, or is not meant. Numbers are counted from one.
    attempted    INTEGER NOT NULL,
    -- How many attempts failed since the last success, and until when further events pause.
    failures     INTEGER NOT NULL DEFAULT 0,
    paused_until INTEGER,
    CONSTRAINT webhooks_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT webhooks_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT webhooks_salt_check CHECK (length(salt) = 32),
    CONSTRAINT webhooks_former_check CHECK (length(former_salt) = 32),
    CONSTRAINT webhooks_attempted_check CHECK (attempted >= 0)
) STRICT;

-- What became of the events that were attempted.
CREATE TABLE webhook_deliveries (
    tenant_id       BLOB    NOT NULL,
    webhook_id      BLOB    NOT NULL,
    sequence        INTEGER NOT NULL,
    entry_id        BLOB    NOT NULL,
    event_type      TEXT    NOT NULL,
    attempt         INTEGER NOT NULL,
    status          TEXT    NOT NULL,
    http_status     INTEGER,
    error           TEXT,
    started_at      INTEGER NOT NULL,
    duration_ms     INTEGER NOT NULL,
    next_attempt_at INTEGER,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (tenant_id, webhook_id, sequence),
    CONSTRAINT webhook_deliveries_webhook_fkey
        FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX webhook_deliveries_started_idx
    ON webhook_deliveries (tenant_id, webhook_id, started_at DESC, sequence DESC);

CREATE INDEX webhook_deliveries_due_idx
    ON webhook_deliveries (tenant_id, webhook_id, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;

CREATE INDEX webhook_deliveries_ended_idx ON webhook_deliveries (started_at) WHERE next_attempt_at IS NULL;

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
        ('webhooks:create', 'Make webhooks.'),
        ('webhooks:read', 'See webhooks and their deliveries.'),
        ('webhooks:update', 'Change, test and replay webhooks, and rotate their secrets.'),
        ('webhooks:delete', 'Remove webhooks.')
) p
WHERE TRUE
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = 1;
