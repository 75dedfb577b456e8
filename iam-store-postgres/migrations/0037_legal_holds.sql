-- Legal holds: what is not destroyed while a court or an authority may ask for it. A hold that is released has no row.
-- Holds are placed and released under the lock of the tenant, and what they keep is destroyed under it.

CREATE TABLE iam.legal_holds (
    tenant_id  uuid        NOT NULL,
    id         uuid        NOT NULL,
    -- The user whose data is kept. NULL for the data of the whole tenant.
    user_id    uuid,
    reason     text        NOT NULL,
    -- NULL for trusted code.
    placed_by  uuid,
    created_at timestamptz NOT NULL,
    CONSTRAINT legal_holds_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT legal_holds_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id),
    CONSTRAINT legal_holds_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id)
);

-- The order of the list.
CREATE INDEX legal_holds_created_idx ON iam.legal_holds (tenant_id, created_at DESC, id);

-- The catalogues of the tenants that exist already. No application could register one of these permissions.
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
        ('iam-legal-holds:create', 'Place legal holds.'),
        ('iam-legal-holds:read', 'See legal holds.'),
        ('iam-legal-holds:update', 'Reserved.'),
        ('iam-legal-holds:delete', 'Release legal holds.')
) p (name, description)
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = TRUE;
