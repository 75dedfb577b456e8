-- The deletion of tenants: it waits, can be called off until it begins, and then removes all rows but those of the audit
-- log.

CREATE TABLE tenant_deletions (
    -- There is no foreign key: the row is the last one of the tenant to go.
    tenant_id    BLOB    NOT NULL,
    due_at       INTEGER NOT NULL,
    -- Whether the entries of the audit log stay. Its hashes always do.
    keeps_log    INTEGER NOT NULL,
    reason       TEXT    NOT NULL,
    scheduled_at INTEGER NOT NULL,
    -- NULL while it waits.
    begun_at     INTEGER,
    -- What the tenant had when it began.
    contents     TEXT,
    CONSTRAINT tenant_deletions_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT tenant_deletions_begun_check CHECK (begun_at >= due_at AND due_at >= scheduled_at)
) STRICT;

-- To find those that are due, in all tenants. There are few.
CREATE INDEX tenant_deletions_due_idx ON tenant_deletions (due_at, tenant_id);

-- Statistics for the planner. Without them, it expects that a value of each index has ten rows.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('tenant_deletions', 'sqlite_autoindex_tenant_deletions_1', '10 1'),
    ('tenant_deletions', 'tenant_deletions_due_idx', '10 1 1');
ANALYZE sqlite_schema;
