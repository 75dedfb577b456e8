-- Answers to requests that were made under an idempotency key, for a day.

-- Without a reference to tenants: who founds one has none yet, and keeps its answer under the tenant of nobody.
CREATE TABLE iam.idempotency_records (
    tenant_id  uuid        NOT NULL,
    -- Stands for the key and the caller.
    id         bytea       NOT NULL,
    -- Stands for what was asked for.
    request    bytea       NOT NULL,
    -- JSON, and text: it is only ever given back.
    answer     text        NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT idempotency_records_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT idempotency_records_id_check CHECK (octet_length(id) = 32),
    CONSTRAINT idempotency_records_request_check CHECK (octet_length(request) = 32)
);

CREATE INDEX idempotency_records_created_idx ON iam.idempotency_records (created_at);

-- Lets one unit of work at a time ask for an answer, also where there is none yet to be locked. Whoever waits for longer
-- than a few seconds fails (55P03).
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
