-- Removes every tenant except those of plans.sql, rows that belong to no tenant, and the keys. No trigger runs, so
-- none refuses this or sends a notification.
SET session_replication_role = replica;
SET enable_seqscan = off;

DO $$
DECLARE
    owned regclass;
BEGIN
    FOR owned IN
        SELECT a.attrelid
        FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.attname = 'tenant_id' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            AND c.relnamespace = 'iam'::regnamespace
    LOOP
        EXECUTE format(
            'DELETE FROM %s WHERE tenant_id < ''00000001-0000-7000-8000-000000000000''
                OR tenant_id > ''00000001-0000-7000-8000-ffffffffffff''',
            owned
        );
    END LOOP;
END
$$;

DELETE FROM iam.tenants WHERE id > '00000001-0000-7000-8000-ffffffffffff';
DELETE FROM iam.signing_keys;
