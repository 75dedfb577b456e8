-- Answers to requests that were made under an idempotency key, for a day.

-- Without a reference to tenants: who founds one has none yet, and keeps its answer under the tenant of nobody.
CREATE TABLE idempotency_records (
    tenant_id  BLOB    NOT NULL,
    -- Stands for the key and the caller.
    id         BLOB    NOT NULL,
    -- Stands for what was asked for.
    request    BLOB    NOT NULL,
    -- JSON, and text: it is only ever given back.
    answer     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT idempotency_records_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT idempotency_records_id_check CHECK (length(id) = 32),
    CONSTRAINT idempotency_records_request_check CHECK (length(request) = 32)
) STRICT;

CREATE INDEX idempotency_records_created_idx ON idempotency_records (created_at);

-- What the planner is to expect, as at the end of 0001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('idempotency_records', 'sqlite_autoindex_idempotency_records_1', '100000 1000 1'),
    ('idempotency_records', 'idempotency_records_created_idx', '100000 1');
ANALYZE sqlite_schema;
