-- Distributes the tables over the nodes of Citus, by tenant. Runs on the coordinator after the migrations, and again
-- after each upgrade: then it distributes the tables of the new migrations.
--
-- All rows of a tenant are on one node, so a statement that names the tenant goes to that node alone. Triggers run on
-- the node of the row. There they find the other rows of the tenant, and no rows of other tenants.
--
-- One role must own the tables, migrate and run the servers. Citus opens one connection for each role, so in the
-- transaction of a role, a function that runs as another one would not see what the role has written.

-- PostgreSQL cannot prepare a transaction that has sent notifications. A transaction is prepared if it writes on several
-- nodes, so the triggers send none, and a server reads the session of each request from the database.

CREATE OR REPLACE FUNCTION iam.tell_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION iam.tell_changed_sessions() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION iam.tell_changed_users() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION iam.tell_changed_roles() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION iam.tell_changed_factor() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION iam.tell_everything_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN NULL;
END
$$;

-- A trigger on a node cannot join the deleted rows with a distributed table. For each tenant, it counts the leaves.
CREATE OR REPLACE FUNCTION iam.check_audit_unsealed_delete() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    log    record;
    leaves bigint;
BEGIN
    FOR log IN
        SELECT d.tenant_id, array_agg(d.id) AS ids, array_agg(d.created_at) AS moments
        FROM deleted d
        GROUP BY d.tenant_id
    LOOP
        SELECT count(*) INTO leaves
        FROM iam.audit_leaves l
        WHERE l.tenant_id = log.tenant_id
            AND (l.entry_id, l.created_at) IN (SELECT * FROM unnest(log.ids, log.moments));
        IF leaves <> cardinality(log.ids) THEN
            RAISE EXCEPTION 'an audit entry cannot be deleted before it is sequenced'
                USING ERRCODE = 'restrict_violation';
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

-- Citus locks no rows of several nodes, so the log is found first and locked then.
CREATE OR REPLACE FUNCTION iam.delete_given_up_audit_entries(leaves integer) RETURNS bigint
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    SET jit = off
AS $$
DECLARE
    tenant  uuid;
    done    bigint;
    given   bigint;
    upto    bigint;
    entries bigint;
BEGIN
    SELECT g.tenant_id INTO tenant FROM iam.audit_logs g WHERE g.purged < g.removed ORDER BY g.tenant_id LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT g.purged, g.removed INTO done, given FROM iam.audit_logs g WHERE g.tenant_id = tenant FOR NO KEY UPDATE;
    PERFORM pg_advisory_xact_lock(hashtextextended('iam.audit_erasures ' || tenant, 0));
    upto := least(given, done + leaves);
    DELETE FROM iam.audit_entries e
    USING iam.audit_leaves l
    WHERE l.tenant_id = tenant
        AND l.sequence >= done
        AND l.sequence < upto
        AND e.tenant_id = tenant
        AND e.created_at = l.created_at
        AND e.id = l.entry_id;
    GET DIAGNOSTICS entries = ROW_COUNT;
    UPDATE iam.audit_logs SET purged = upto WHERE tenant_id = tenant;
    RETURN entries;
END
$$;

-- Citus collects the rows of the subquery, so it needs a column. The other lines are those of the migration.
CREATE OR REPLACE FUNCTION iam.drop_given_up_audit_month(month date) RETURNS bigint
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    SET jit = off
    -- Dropping a partition locks the whole table for a moment. Later transactions queue behind a statement that waits
    -- for this lock.
    SET lock_timeout = '200ms'
AS $$
DECLARE
    partition constant text := 'audit_entries_' || to_char(month, 'YYYY_MM');
    is_kept   boolean;
    entries   bigint;
BEGIN
    -- The month must have ended a day ago, in case the clock of a server is behind: no server must write an entry
    -- into a month that was dropped. And the partition of a month BC would have the same name as that of a month AD.
    IF month < '1970-01-01'
        OR (month + interval '1 month') AT TIME ZONE 'UTC' > now() - interval '1 day'
        OR to_regclass('iam.' || partition) IS NULL
    THEN
        RETURN NULL;
    END IF;
    -- With this lock, no other transaction writes into the partition. All can still read it.
    EXECUTE format('LOCK TABLE iam.%I IN SHARE MODE', partition);
    EXECUTE format(
        'SELECT EXISTS (
            SELECT 1
            FROM iam.%I e
            WHERE NOT EXISTS (
                SELECT 1
                FROM iam.audit_leaves l
                JOIN iam.audit_logs g ON g.tenant_id = l.tenant_id
                WHERE l.tenant_id = e.tenant_id
                    AND l.entry_id = e.id
                    AND l.created_at = e.created_at
                    AND l.sequence < g.removed
            )
        )',
        partition
    ) INTO is_kept;
    IF is_kept THEN
        RETURN NULL;
    END IF;
    EXECUTE format('SELECT count(*) FROM iam.%I', partition) INTO entries;
    EXECUTE format('DROP TABLE iam.%I', partition);
    RETURN entries;
EXCEPTION
    -- iam.delete_given_up_audit_entries deletes the entries in it one by one. A later call drops the empty partition.
    WHEN lock_not_available THEN
        RETURN NULL;
    -- Another transaction has dropped it while this one waited for the lock.
    WHEN undefined_table THEN
        RETURN NULL;
END
$$;

-- For each tenant, with statements that Citus sends to the node of the tenant as they are. The lock keeps an erasure from
-- changing an entry between them.
CREATE OR REPLACE FUNCTION iam.move_sealed_audit_entries(tenants uuid[], moments timestamptz[], ids uuid[])
    RETURNS bigint
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    SET jit = off
AS $$
DECLARE
    log     record;
    moved   bigint;
    entries bigint := 0;
BEGIN
    FOR log IN
        SELECT s.tenant_id, array_agg(s.created_at) AS moments, array_agg(s.id) AS ids
        FROM unnest(tenants, moments, ids) s (tenant_id, created_at, id)
        GROUP BY s.tenant_id
        ORDER BY s.tenant_id
    LOOP
        PERFORM
        FROM iam.audit_unsealed u
        WHERE u.tenant_id = log.tenant_id
            AND (u.created_at, u.id) IN (SELECT * FROM unnest(log.moments, log.ids))
        FOR UPDATE;
        INSERT INTO iam.audit_entries (
            tenant_id,
            id,
            action,
            resource_type,
            resource_id,
            organization_id,
            user_id,
            old_value,
            new_value,
            metadata,
            correlation_id,
            ip_address,
            user_agent,
            created_at,
            details_salt,
            origin_salt
        )
        SELECT
            u.tenant_id,
            u.id,
            u.action,
            u.resource_type,
            u.resource_id,
            u.organization_id,
            u.user_id,
            u.old_value,
            u.new_value,
            u.metadata,
            u.correlation_id,
            u.ip_address,
            u.user_agent,
            u.created_at,
            u.details_salt,
            u.origin_salt
        FROM iam.audit_unsealed u
        WHERE u.tenant_id = log.tenant_id
            AND (u.created_at, u.id) IN (SELECT * FROM unnest(log.moments, log.ids));
        DELETE FROM iam.audit_unsealed u
        WHERE u.tenant_id = log.tenant_id
            AND (u.created_at, u.id) IN (SELECT * FROM unnest(log.moments, log.ids));
        GET DIAGNOSTICS moved = ROW_COUNT;
        entries := entries + moved;
    END LOOP;
    RETURN entries;
END
$$;

-- The failed logins that named no tenant are on one node. While it does not answer, logins that name their tenant must
-- work: no failure is found, and none is removed.
CREATE OR REPLACE FUNCTION iam.unnamed_attempts(
    email text,
    OUT failed_at timestamptz[],
    OUT locked_until timestamptz
)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT a.failed_at, a.locked_until INTO failed_at, locked_until
    FROM iam.login_attempts a
    WHERE a.tenant_id = '00000000-0000-0000-0000-000000000000' AND a.email_key = email;
EXCEPTION
    WHEN connection_exception OR admin_shutdown OR crash_shutdown OR cannot_connect_now THEN
        RETURN;
END
$$;

CREATE OR REPLACE FUNCTION iam.forget_unnamed_attempts(email text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM iam.login_attempts a
    WHERE a.tenant_id = '00000000-0000-0000-0000-000000000000' AND a.email_key = email;
EXCEPTION
    WHEN connection_exception OR admin_shutdown OR crash_shutdown OR cannot_connect_now THEN
        RETURN;
END
$$;

-- Writes the items of a new access review, like the statements of the store for tables that are not distributed. Citus
-- cannot plan them with parameters.
CREATE OR REPLACE FUNCTION iam.freeze_access_review(
    tenant uuid,
    organization uuid,
    roles uuid[],
    users uuid[],
    moment timestamptz,
    review uuid
) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format(
        'INSERT INTO iam.access_review_items (
            tenant_id,
            review_id,
            assignment_id,
            user_id,
            role_id,
            role_name,
            organization_id,
            organization_name,
            expires_at,
            assignment_created_at,
            granted_by,
            directory_group_id,
            last_login_at
        )
        WITH RECURSIVE within AS (
            SELECT o.id
            FROM iam.organizations o
            WHERE o.tenant_id = %1$L AND o.id = %2$L
            UNION
            SELECT o.id
            FROM within w
            JOIN iam.organizations o ON o.tenant_id = %1$L AND o.parent_id = w.id
        )
        SELECT
            a.tenant_id,
            %6$L::uuid,
            a.id,
            a.user_id,
            a.role_id,
            r.name,
            a.organization_id,
            o.name,
            a.expires_at,
            a.created_at,
            a.created_by,
            a.directory_group_id,
            u.last_login_at
        FROM iam.role_assignments a
        JOIN iam.users u ON u.tenant_id = %1$L AND u.id = a.user_id
        JOIN iam.roles r ON r.tenant_id = %1$L AND r.id = a.role_id
        LEFT JOIN iam.organizations o ON o.tenant_id = %1$L AND o.id = a.organization_id
        WHERE a.tenant_id = %1$L
            AND (%2$L::uuid IS NULL OR a.organization_id IN (SELECT w.id FROM within w))
            AND (cardinality(%3$L::uuid[]) = 0 OR a.role_id = ANY (%3$L::uuid[]))
            AND (cardinality(%4$L::uuid[]) = 0 OR a.user_id = ANY (%4$L::uuid[]))
            AND (a.expires_at IS NULL OR a.expires_at > %5$L)',
        tenant,
        organization,
        roles,
        users,
        moment,
        review
    );
    EXECUTE format(
        'INSERT INTO iam.access_review_items (
            tenant_id,
            review_id,
            kind,
            assignment_id,
            user_id,
            held_role_id,
            role_id,
            role_name,
            organization_id,
            organization_name,
            expires_at,
            assignment_created_at,
            granted_by,
            last_login_at
        )
        WITH RECURSIVE within AS (
            SELECT o.id
            FROM iam.organizations o
            WHERE o.tenant_id = %1$L AND o.id = %2$L
            UNION
            SELECT o.id
            FROM within w
            JOIN iam.organizations o ON o.tenant_id = %1$L AND o.parent_id = w.id
        )
        SELECT
            e.tenant_id,
            %6$L::uuid,
            ''ELIGIBILITY'',
            e.id,
            e.user_id,
            e.held_role_id,
            e.role_id,
            r.name,
            e.organization_id,
            o.name,
            e.expires_at,
            e.created_at,
            e.created_by,
            u.last_login_at
        FROM iam.eligibilities e
        JOIN iam.roles r ON r.tenant_id = %1$L AND r.id = e.role_id
        LEFT JOIN iam.users u ON u.tenant_id = %1$L AND u.id = e.user_id
        LEFT JOIN iam.organizations o ON o.tenant_id = %1$L AND o.id = e.organization_id
        WHERE e.tenant_id = %1$L
            AND (%2$L::uuid IS NULL OR e.organization_id IN (SELECT w.id FROM within w))
            AND (cardinality(%3$L::uuid[]) = 0 OR e.role_id = ANY (%3$L::uuid[]))
            AND (cardinality(%4$L::uuid[]) = 0 OR e.user_id = ANY (%4$L::uuid[]))
            AND (e.expires_at IS NULL OR e.expires_at > %5$L)',
        tenant,
        organization,
        roles,
        users,
        moment,
        review
    );
END
$$;

REVOKE EXECUTE ON FUNCTION iam.unnamed_attempts, iam.forget_unnamed_attempts, iam.freeze_access_review FROM PUBLIC;

-- A new partition has a trigger, and is distributed like its table.
ALTER FUNCTION iam.make_audit_month SET citus.enable_unsafe_triggers = on;

BEGIN;
SET LOCAL citus.enable_unsafe_triggers = on;
-- One connection to each node: the tables refer to each other.
SET LOCAL citus.multi_shard_modify_mode = 'sequential';
DO $$
DECLARE
    name      text;
    reference record;
    -- A table cannot be distributed while another one, which is not, refers to it.
    keys constant json := (
        SELECT json_agg(
            json_build_object(
                'table', k.conrelid::regclass::text, 'name', k.conname, 'definition', pg_get_constraintdef(k.oid)
            )
        )
        FROM pg_constraint k
        WHERE k.connamespace = 'iam'::regnamespace
            AND k.contype = 'f'
            AND k.conrelid NOT IN (
                SELECT p.logicalrelid FROM pg_dist_partition p WHERE p.partmethod = 'h' OR p.repmodel = 't'
            )
    );
BEGIN
    FOR reference IN SELECT * FROM json_to_recordset(keys) AS r ("table" text, name text) LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', reference.table, reference.name);
    END LOOP;
    -- Their rows are unique in the whole installation, or found without the tenant. Every node has a copy.
    FOREACH name IN ARRAY ARRAY['tenants', 'signing_keys', 'passkeys', 'domains', 'identity_providers'] LOOP
        IF NOT EXISTS (
            SELECT FROM pg_dist_partition WHERE logicalrelid = ('iam.' || name)::regclass AND repmodel = 't'
        ) THEN
            PERFORM create_reference_table(('iam.' || name)::regclass);
        END IF;
    END LOOP;
    FOREACH name IN ARRAY ARRAY[
        'users',
        'credentials',
        'login_attempts',
        'sessions',
        'organizations',
        'permissions',
        'roles',
        'role_permissions',
        'role_assignments',
        'tenant_counts',
        'audit_leaves',
        'audit_nodes',
        'audit_logs',
        'audit_erasures',
        'audit_unsealed',
        'audit_entries',
        'idempotency_records',
        'links',
        'messages',
        'queued_messages',
        'sent_messages',
        'invitations',
        'factors',
        'recovery_codes',
        'challenges',
        'api_keys',
        'webhooks',
        'webhook_deliveries',
        'past_assignments',
        'past_versions',
        'history_starts',
        'access_reviews',
        'access_review_items',
        'eligibilities',
        'access_requests',
        'identities',
        'directories',
        'directory_users',
        'directory_groups',
        'directory_group_members',
        'directory_withheld',
        'manifest_items',
        'attributes',
        'attribute_values',
        'legal_holds',
        'tenant_deletions',
        'unchecked_permissions'
    ]
    LOOP
        IF NOT EXISTS (
            SELECT FROM pg_dist_partition WHERE logicalrelid = ('iam.' || name)::regclass AND partmethod = 'h'
        ) THEN
            PERFORM create_distributed_table(
                ('iam.' || name)::regclass,
                'tenant_id',
                colocate_with => CASE name WHEN 'users' THEN 'none' ELSE 'iam.users' END
            );
        END IF;
    END LOOP;
    FOR reference IN
        SELECT * FROM json_to_recordset(keys) AS r ("table" text, name text, definition text)
    LOOP
        EXECUTE format(
            'ALTER TABLE %s ADD CONSTRAINT %I %s', reference.table, reference.name, reference.definition
        );
    END LOOP;
    -- The triggers call these.
    PERFORM create_distributed_function('iam.add_to_tenant_counts(uuid, bigint, bigint, bigint, bigint)');
    PERFORM create_distributed_function('iam.add_to_tenant_quotas(uuid, bigint, bigint)');
END
$$;
COMMIT;
