-- The deletion of tenants: it waits, can be called off until it begins, and then removes all rows but those of the audit
-- log.

CREATE TABLE iam.tenant_deletions (
    -- There is no foreign key: the row is the last one of the tenant to go.
    tenant_id    uuid        NOT NULL,
    due_at       timestamptz NOT NULL,
    -- Whether the entries of the audit log stay. Its hashes always do.
    keeps_log    boolean     NOT NULL,
    reason       text        NOT NULL,
    scheduled_at timestamptz NOT NULL,
    -- NULL while it waits.
    begun_at     timestamptz,
    -- What the tenant had when it began.
    contents     json,
    CONSTRAINT tenant_deletions_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT tenant_deletions_begun_check CHECK (begun_at >= due_at AND due_at >= scheduled_at)
);

-- To find those that are due, in all tenants. There are few.
CREATE INDEX tenant_deletions_due_idx ON iam.tenant_deletions (due_at, tenant_id);

-- The role of a server cannot delete users and tenants. These functions run with the privileges of the owner, and only
-- where a deletion has begun. They cannot touch the audit log.

-- Deletes at most that many rows of a tenant in one table. Returns how many.
CREATE FUNCTION iam.delete_rows_of_tenant(tenant uuid, name text, most bigint) RETURNS bigint
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    key_columns text;
    deleted     bigint;
BEGIN
    IF name LIKE 'audit%' OR name IN ('tenants', 'tenant_deletions', 'signing_keys') THEN
        RAISE EXCEPTION 'the rows of this table stay' USING ERRCODE = 'restrict_violation';
    END IF;
    PERFORM FROM iam.tenant_deletions d WHERE d.tenant_id = tenant AND d.begun_at IS NOT NULL;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.position) INTO STRICT key_columns
    FROM pg_index i
    CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (attnum, position)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
    WHERE i.indrelid = ('iam.' || quote_ident(name))::regclass AND i.indisprimary;
    EXECUTE format(
        'DELETE FROM iam.%1$I
        WHERE tenant_id = $1 AND (%2$s) IN (
            SELECT %2$s FROM iam.%1$I r WHERE r.tenant_id = $1 %3$s ORDER BY %2$s LIMIT $2
        )',
        name,
        key_columns,
        -- An organization goes after those below it, which refer to it.
        CASE name
            WHEN 'organizations' THEN
                'AND NOT EXISTS (
                    SELECT FROM iam.organizations c WHERE c.tenant_id = r.tenant_id AND c.parent_id = r.id
                )'
            ELSE ''
        END
    ) USING tenant, most;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;

-- Deletes a tenant without other rows, and its deletion.
CREATE FUNCTION iam.delete_tenant(tenant uuid) RETURNS void
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM iam.tenant_deletions d WHERE d.tenant_id = tenant AND d.begun_at IS NOT NULL;
    IF FOUND THEN
        DELETE FROM iam.tenants WHERE id = tenant;
        DELETE FROM iam.tenant_deletions WHERE tenant_id = tenant;
    END IF;
END
$$;

REVOKE EXECUTE ON FUNCTION iam.delete_rows_of_tenant, iam.delete_tenant FROM PUBLIC;
