-- The answers to requests with an idempotency key, for one day.

-- Without a foreign key to tenants: a caller that creates a tenant has no tenant yet, and its answer is stored under
-- the nil tenant.
CREATE TABLE idempotency_records (
    tenant_id  BLOB    NOT NULL,
    -- A hash that stands for the key and the caller.
    id         BLOB    NOT NULL,
    -- A hash that stands for the request.
    request    BLOB    NOT NULL,
    -- JSON in a text column: it is only returned, never queried.
    answer     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT idempotency_records_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT idempotency_records_id_check CHECK (length(id) = 32),
    CONSTRAINT idempotency_records_request_check CHECK (length(request) = 32)
) STRICT;

CREATE INDEX idempotency_records_created_idx ON idempotency_records (created_at);

-- Statistics for the planner, as at the end of 0001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('idempotency_records', 'sqlite_autoindex_idempotency_records_1', '100000 1000 1'),
    ('idempotency_records', 'idempotency_records_created_idx', '100000 1');
ANALYZE sqlite_schema;
