-- The answers to requests with an idempotency key, for one day.

-- Without a foreign key to tenants: a caller that creates a tenant has no tenant yet, and its answer is stored under
-- the nil tenant.
CREATE TABLE iam.idempotency_records (
    tenant_id  uuid        NOT NULL,
    -- A hash that stands for the key and the caller.
    id         bytea       NOT NULL,
    -- A hash that stands for the request.
    request    bytea       NOT NULL,
    -- JSON in a text column: it is only returned, never queried.
    answer     text        NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT idempotency_records_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT idempotency_records_id_check CHECK (octet_length(id) = 32),
    CONSTRAINT idempotency_records_request_check CHECK (octet_length(request) = 32)
);

CREATE INDEX idempotency_records_created_idx ON iam.idempotency_records (created_at);

-- Reads an answer. Only one unit of work at a time does so for the same key, also if there is no row yet that could
-- be locked. A unit of work that waits for more than a few seconds fails (55P03).
CREATE FUNCTION iam.lock_idempotency_record(tenant uuid, record bytea) RETURNS SETOF iam.idempotency_records
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET lock_timeout = '5s'
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(
        hashtextextended('iam.idempotency_records ' || tenant || ' ' || encode(record, 'hex'), 0)
    );
    RETURN QUERY SELECT * FROM iam.idempotency_records r WHERE r.tenant_id = tenant AND r.id = record;
END
$$;

REVOKE EXECUTE ON FUNCTION iam.lock_idempotency_record FROM PUBLIC;
