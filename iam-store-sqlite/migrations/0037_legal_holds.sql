-- Legal holds: what is not destroyed while a court or an authority may ask for it. A hold that is released has no row.

CREATE TABLE legal_holds (
    tenant_id  BLOB    NOT NULL,
    id         BLOB    NOT NULL,
    -- The user whose data is kept. NULL for the data of the whole tenant.
    user_id    BLOB,
    reason     TEXT    NOT NULL,
    -- NULL for trusted code.
    placed_by  BLOB,
    created_at INTEGER NOT NULL,
    CONSTRAINT legal_holds_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT legal_holds_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT legal_holds_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id)
) STRICT;

-- The order of the list.
CREATE INDEX legal_holds_created_idx ON legal_holds (tenant_id, created_at DESC, id);

-- Statistics for the planner. Without them, it expects that a value of each index has ten rows.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('legal_holds', 'sqlite_autoindex_legal_holds_1', '1000 100 1'),
    ('legal_holds', 'legal_holds_created_idx', '1000 100 2 1');
ANALYZE sqlite_schema;

-- The catalogues of the tenants that exist already. No application could register one of these permissions.
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
        ('iam-legal-holds:create', 'Place legal holds.'),
        ('iam-legal-holds:read', 'See legal holds.'),
        ('iam-legal-holds:update', 'Reserved.'),
        ('iam-legal-holds:delete', 'Release legal holds.')
) p
WHERE TRUE
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = 1;
