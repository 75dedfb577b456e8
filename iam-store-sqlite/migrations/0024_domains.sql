-- Domains: which tenant has proven which domain of the Internet.

CREATE TABLE domains (
    tenant_id    BLOB    NOT NULL,
    id           BLOB    NOT NULL,
    name         TEXT    NOT NULL,
    -- The random part of the record that proves the domain. It is no secret: anyone can read the record.
    challenge    TEXT    NOT NULL,
    -- NULL while the domain is PENDING.
    verified_at  INTEGER,
    -- Whether trusted code has verified the domain.
    is_trusted   INTEGER NOT NULL,
    -- When the record was looked for the last time, and since when it is missing.
    checked_at   INTEGER,
    absent_since INTEGER,
    created_at   INTEGER NOT NULL,
    CONSTRAINT domains_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT domains_name_key UNIQUE (tenant_id, name),
    CONSTRAINT domains_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;

-- A domain is VERIFIED in only one tenant of the installation, so the key does not begin with the tenant. Who verifies
-- a domain manages its DNS, and learns only that another tenant has it, too.
CREATE UNIQUE INDEX domains_verified_key ON domains (name) WHERE verified_at IS NOT NULL;

-- To find the domains whose record is to be looked for again.
CREATE INDEX domains_checked_idx ON domains (checked_at, id) WHERE verified_at IS NOT NULL AND is_trusted = 0;

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
        ('domains:create', 'Add domains.'),
        ('domains:read', 'See domains.'),
        ('domains:update', 'Verify domains.'),
        ('domains:delete', 'Remove domains.')
) p
WHERE TRUE
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = 1;
