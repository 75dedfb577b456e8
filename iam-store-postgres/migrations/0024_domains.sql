-- Domains: which tenant has proven which domain of the Internet.

CREATE TABLE iam.domains (
    tenant_id    uuid             NOT NULL,
    id           uuid             NOT NULL,
    name         text COLLATE "C" NOT NULL,
    -- The random part of the record that proves the domain. It is no secret: anyone can read the record.
    challenge    text             NOT NULL,
    -- NULL while the domain is PENDING.
    verified_at  timestamptz,
    -- Whether trusted code has verified the domain.
    is_trusted   boolean          NOT NULL,
    -- When the record was looked for the last time, and since when it is missing.
    checked_at   timestamptz,
    absent_since timestamptz,
    created_at   timestamptz      NOT NULL,
    CONSTRAINT domains_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT domains_name_key UNIQUE (tenant_id, name),
    CONSTRAINT domains_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id)
);

-- A domain is VERIFIED in only one tenant of the installation, so the key does not begin with the tenant, and a
-- distributed database has a copy of this small table on every node. Who verifies a domain manages its DNS, and learns
-- only that another tenant has it, too.
CREATE UNIQUE INDEX domains_verified_key ON iam.domains (name) WHERE verified_at IS NOT NULL;

-- To find the domains whose record is to be looked for again.
CREATE INDEX domains_checked_idx ON iam.domains (checked_at, id) WHERE verified_at IS NOT NULL AND NOT is_trusted;

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
        ('domains:create', 'Add domains.'),
        ('domains:read', 'See domains.'),
        ('domains:update', 'Verify domains.'),
        ('domains:delete', 'Remove domains.')
) p (name, description)
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = TRUE;
