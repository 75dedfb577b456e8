-- The audit log: the entries, and the trees by which anyone can check that no entry was changed.
--
-- An entry is written into audit_unsealed, in the transaction of its change. It is pending there. The sequencer gives
-- it a leaf, which is its position in the sequence of its tenant, and moves it to audit_entries in the same
-- transaction. So every entry is in one of the two tables, and an entry in audit_entries without a leaf was not
-- inserted by the service.
--
-- There are two tables because a change waits until its entry is written: audit_entries has an index for each filter,
-- and to write all of them for a single entry costs more than most changes. The sequencer writes entries by the
-- hundred.
--
-- None of these tables has a foreign key to tenants. Every entry comes with a change of a row that has one. The
-- entries outlive the rows that they are about. And when a partition is added to or dropped from a table with a
-- foreign key, the table to which the key refers is locked against all writes.

-- Sequenced entries. A partition has the entries of a calendar month, by UTC. So retention can drop old months as a
-- whole, and a list that is limited by dates reads only its months.
CREATE TABLE iam.audit_entries (
    tenant_id       uuid             NOT NULL,
    id              uuid             NOT NULL,
    -- Texts are only compared for equality, without the order of a language. Comparing bytes is fastest.
    action          text COLLATE "C" NOT NULL,
    resource_type   text COLLATE "C" NOT NULL,
    -- No foreign key: the entry keeps the identifiers that it names, even when those rows are deleted.
    resource_id     text COLLATE "C",
    organization_id uuid,
    user_id         uuid,
    -- Not jsonb, which changes the form of numbers and refuses \u0000: a value that is read must have the digest that
    -- was computed before it was written.
    old_value       json,
    new_value       json,
    metadata        json             NOT NULL,
    correlation_id  text COLLATE "C",
    -- Text, because inet would also take networks.
    ip_address      text,
    user_agent      text,
    created_at      timestamptz      NOT NULL,
    -- 16 bytes of salt. When the personal fields are erased, the 32 bytes of the commitment replace the salt.
    -- details_salt is for the values and the metadata, origin_salt for the data of the client.
    details_salt    bytea            NOT NULL,
    origin_salt     bytea            NOT NULL,
    -- The order of the list. The key includes the time, because every unique index of a partitioned table must
    -- include the partition column. So no index can find an entry by its identifier alone. The leaves do that.
    CONSTRAINT audit_entries_pkey PRIMARY KEY (tenant_id, created_at, id)
) PARTITION BY RANGE (created_at);

-- One index for each filter of the list. So a page for any single filter is a range of one index in the order of the
-- list: no row is sorted, and no row is read that is not shown. The indexes are read backwards, for newest first. No
-- filter searches for NULL, so rows with NULL are not in the index.
CREATE INDEX audit_entries_action_idx ON iam.audit_entries (tenant_id, action, created_at, id);
CREATE INDEX audit_entries_resource_type_idx ON iam.audit_entries (tenant_id, resource_type, created_at, id);
CREATE INDEX audit_entries_resource_idx ON iam.audit_entries (tenant_id, resource_id, created_at, id)
    WHERE resource_id IS NOT NULL;
CREATE INDEX audit_entries_organization_idx ON iam.audit_entries (tenant_id, organization_id, created_at, id)
    WHERE organization_id IS NOT NULL;
CREATE INDEX audit_entries_user_idx ON iam.audit_entries (tenant_id, user_id, created_at, id)
    WHERE user_id IS NOT NULL;
CREATE INDEX audit_entries_correlation_idx ON iam.audit_entries (tenant_id, correlation_id, created_at, id)
    WHERE correlation_id IS NOT NULL;

-- An entry as the statement that writes it passes it to the database.
CREATE TYPE iam.written_audit_entry AS (
    id              uuid,
    action          text,
    resource_type   text,
    resource_id     text,
    organization_id uuid,
    user_id         uuid,
    old_value       text,
    new_value       text,
    metadata        text,
    correlation_id  text,
    ip_address      text,
    user_agent      text,
    created_at      timestamptz,
    details_salt    bytea,
    origin_salt     bytea,
    digest          bytea
);

-- Pending entries. Each is pending for about a second. The table has no check constraints: every statement that
-- writes an entry would compile them again.
CREATE TABLE iam.audit_unsealed (
    LIKE iam.audit_entries,
    -- The leaf will commit to this digest. The digest reveals a change of the entry before that.
    digest bytea NOT NULL,
    -- The order of the list.
    CONSTRAINT audit_unsealed_pkey PRIMARY KEY (tenant_id, created_at, id)
) WITH (
    -- Every row is deleted a moment after it is written. By default, a table is vacuumed when a fifth of its rows are
    -- dead: after a backlog of millions that is far too late, and the sequencer would read all dead rows in every
    -- round. A fixed number does not grow with the table. Without pauses, it takes milliseconds to vacuum such a
    -- small table.
    autovacuum_vacuum_scale_factor = 0,
    -- Erased data must not stay for long in the dead row from which the entry was moved.
    autovacuum_vacuum_threshold = 100,
    autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0,
    -- The planner must notice a backlog, and its end, soon.
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 5000
);

-- The order in which the sequencer takes the entries of all tenants. Without this index, it would sort them, which
-- takes longer the more entries are pending, so that it would never catch up with a long backlog.
CREATE INDEX audit_unsealed_created_idx ON iam.audit_unsealed (created_at, id);

-- The sequence of each tenant. A leaf stays when its entry is removed, so that all other entries can still be proven.
CREATE TABLE iam.audit_leaves (
    tenant_id  uuid        NOT NULL,
    -- The sequence number, counted from zero.
    sequence   bigint      NOT NULL,
    -- When the entry was created: with it, the primary key finds the entry.
    created_at timestamptz NOT NULL,
    entry_id   uuid        NOT NULL,
    hash       bytea       NOT NULL,
    CONSTRAINT audit_leaves_pkey PRIMARY KEY (tenant_id, sequence),
    -- No entry is sequenced twice, and each is found by its identifier.
    CONSTRAINT audit_leaves_entry_key UNIQUE (tenant_id, entry_id),
    -- The service could not calculate with a greater number.
    CONSTRAINT audit_leaves_sequence_check CHECK (sequence BETWEEN 0 AND 4611686018427387904),
    CONSTRAINT audit_leaves_hash_check CHECK (octet_length(hash) = 32)
);

-- The complete subtrees of 256 leaves, of 65,536 leaves, and so on. All other hashes of the tree are computed from
-- these and the leaves.
CREATE TABLE iam.audit_nodes (
    tenant_id uuid     NOT NULL,
    -- The height.
    level     smallint NOT NULL,
    -- How many subtrees of that height are to the left of it.
    position  bigint   NOT NULL,
    hash      bytea    NOT NULL,
    CONSTRAINT audit_nodes_pkey PRIMARY KEY (tenant_id, level, position),
    CONSTRAINT audit_nodes_hash_check CHECK (octet_length(hash) = 32)
);

-- The head of each log. A tenant has a row as soon as an entry was sequenced or a retention was set.
CREATE TABLE iam.audit_logs (
    tenant_id      uuid    NOT NULL,
    -- How many entries are sequenced.
    size           bigint  NOT NULL DEFAULT 0,
    -- The right edge of the tree: hashes of 32 bytes, one after the other.
    peaks          bytea   NOT NULL DEFAULT '',
    -- The note with the signed checkpoint of this tree.
    note           text    NOT NULL DEFAULT '',
    -- Retention has marked the entries with a lower sequence number for removal.
    removed        bigint  NOT NULL DEFAULT 0,
    -- The entries with a lower sequence number are deleted, so no later run searches for them.
    purged         bigint  NOT NULL DEFAULT 0,
    retention_days integer,
    CONSTRAINT audit_logs_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT audit_logs_places_check CHECK (0 <= purged AND purged <= removed AND removed <= size),
    CONSTRAINT audit_logs_retention_days_check CHECK (retention_days BETWEEN 1 AND 36500)
) WITH (
    -- Each sequencing round updates the row. With free space in the page, the new version of the row is on the same
    -- page, and no index must be written.
    fillfactor = 50
);

-- The logs with entries that must still be purged. Nearly always there are none.
CREATE INDEX audit_logs_unpurged_idx ON iam.audit_logs (tenant_id) WHERE purged < removed;

-- Entries of which personal fields were erased. No other entry can be changed.
CREATE TABLE iam.audit_erasures (
    tenant_id  uuid        NOT NULL,
    created_at timestamptz NOT NULL,
    id         uuid        NOT NULL,
    CONSTRAINT audit_erasures_pkey PRIMARY KEY (tenant_id, created_at, id)
);

-- The triggers prevent changes of the log by mistake, or by an injected statement. The owner of the tables can drop
-- the triggers. The trees reveal such changes.
--
-- Every function names all objects with their schema and sets its own search path. A search path that the calling
-- session chose could replace an operator.

CREATE FUNCTION iam.refuse_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END
$$;

-- An erasure is recorded before the update. The update may change only the personal fields of a part, and must
-- replace the salt of that part.
CREATE FUNCTION iam.check_audit_entry_update() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF (
            NEW.tenant_id,
            NEW.id,
            NEW.action,
            NEW.resource_type,
            NEW.resource_id,
            NEW.organization_id,
            NEW.user_id,
            NEW.correlation_id,
            NEW.created_at
        ) IS DISTINCT FROM (
            OLD.tenant_id,
            OLD.id,
            OLD.action,
            OLD.resource_type,
            OLD.resource_id,
            OLD.organization_id,
            OLD.user_id,
            OLD.correlation_id,
            OLD.created_at
        )
        -- The type json has no equality operator, but its text has one.
        OR (octet_length(NEW.details_salt) <> 32 OR octet_length(OLD.details_salt) <> 16)
            AND (NEW.old_value::text, NEW.new_value::text, NEW.metadata::text, NEW.details_salt)
                IS DISTINCT FROM (OLD.old_value::text, OLD.new_value::text, OLD.metadata::text, OLD.details_salt)
        OR (
                octet_length(NEW.origin_salt) <> 32
                OR octet_length(OLD.origin_salt) <> 16
                OR num_nonnulls(NEW.ip_address, NEW.user_agent) > 0
            )
            AND (NEW.ip_address, NEW.user_agent, NEW.origin_salt)
                IS DISTINCT FROM (OLD.ip_address, OLD.user_agent, OLD.origin_salt)
        OR NOT EXISTS (
            SELECT
            FROM iam.audit_erasures r
            WHERE r.tenant_id = OLD.tenant_id AND r.created_at = OLD.created_at AND r.id = OLD.id
        )
    THEN
        RAISE EXCEPTION 'an audit entry cannot be changed, except that personal fields are erased'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION iam.check_audit_unsealed_delete() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM deleted d
        WHERE NOT EXISTS (
            SELECT
            FROM iam.audit_leaves l
            WHERE l.tenant_id = d.tenant_id AND l.entry_id = d.id AND l.created_at = d.created_at
        )
    ) THEN
        RAISE EXCEPTION 'an audit entry cannot be deleted before it is sequenced' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION iam.check_audit_entry_delete() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (
        SELECT
        FROM iam.audit_leaves l
        JOIN iam.audit_logs g ON g.tenant_id = l.tenant_id
        WHERE l.tenant_id = OLD.tenant_id
            AND l.entry_id = OLD.id
            AND l.created_at = OLD.created_at
            AND l.sequence < g.removed
    ) THEN
        RAISE EXCEPTION 'an audit entry cannot be deleted before retention marks it for removal'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END
$$;

CREATE FUNCTION iam.check_audit_log_update() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NEW.tenant_id <> OLD.tenant_id
        OR NEW.size < OLD.size
        OR NEW.removed < OLD.removed
        OR NEW.purged < OLD.purged
    THEN
        RAISE EXCEPTION 'an audit log cannot shrink' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;

-- A partition gets copies of the row triggers, but not of the statement triggers: iam.make_audit_month creates these.
CREATE TRIGGER audit_entries_update BEFORE UPDATE ON iam.audit_entries
    FOR EACH ROW EXECUTE FUNCTION iam.check_audit_entry_update();
CREATE TRIGGER audit_entries_delete BEFORE DELETE ON iam.audit_entries
    FOR EACH ROW EXECUTE FUNCTION iam.check_audit_entry_delete();
CREATE TRIGGER audit_entries_truncate BEFORE TRUNCATE ON iam.audit_entries
    EXECUTE FUNCTION iam.refuse_audit_change('audit entries cannot be truncated');

CREATE TRIGGER audit_unsealed_digest_update BEFORE UPDATE OF digest ON iam.audit_unsealed
    EXECUTE FUNCTION iam.refuse_audit_change('the digest of an audit entry cannot be changed');
CREATE TRIGGER audit_unsealed_update BEFORE UPDATE ON iam.audit_unsealed
    FOR EACH ROW EXECUTE FUNCTION iam.check_audit_entry_update();
CREATE TRIGGER audit_unsealed_delete AFTER DELETE ON iam.audit_unsealed
    REFERENCING OLD TABLE AS deleted
    EXECUTE FUNCTION iam.check_audit_unsealed_delete();
CREATE TRIGGER audit_unsealed_truncate BEFORE TRUNCATE ON iam.audit_unsealed
    EXECUTE FUNCTION iam.refuse_audit_change('audit entries cannot be truncated');

CREATE TRIGGER audit_leaves_update BEFORE UPDATE ON iam.audit_leaves
    EXECUTE FUNCTION iam.refuse_audit_change('a leaf of an audit log cannot be changed');
CREATE TRIGGER audit_leaves_delete BEFORE DELETE OR TRUNCATE ON iam.audit_leaves
    EXECUTE FUNCTION iam.refuse_audit_change('a leaf of an audit log cannot be deleted');

CREATE TRIGGER audit_nodes_update BEFORE UPDATE ON iam.audit_nodes
    EXECUTE FUNCTION iam.refuse_audit_change('a node of an audit log cannot be changed');
CREATE TRIGGER audit_nodes_delete BEFORE DELETE OR TRUNCATE ON iam.audit_nodes
    EXECUTE FUNCTION iam.refuse_audit_change('a node of an audit log cannot be deleted');

CREATE TRIGGER audit_logs_update BEFORE UPDATE ON iam.audit_logs
    FOR EACH ROW EXECUTE FUNCTION iam.check_audit_log_update();
CREATE TRIGGER audit_logs_delete BEFORE DELETE OR TRUNCATE ON iam.audit_logs
    EXECUTE FUNCTION iam.refuse_audit_change('the head of an audit log cannot be deleted');

CREATE TRIGGER audit_erasures_update BEFORE UPDATE ON iam.audit_erasures
    EXECUTE FUNCTION iam.refuse_audit_change('the record of an erasure cannot be changed');
CREATE TRIGGER audit_erasures_delete BEFORE DELETE OR TRUNCATE ON iam.audit_erasures
    EXECUTE FUNCTION iam.refuse_audit_change('the record of an erasure cannot be deleted');

-- The following functions run with the privileges of the owner of the tables. So the role of the server needs neither
-- UPDATE nor DELETE on entries, and may not create tables. grants.sql has the privileges that it needs.
--
-- The functions to which entries are passed switch hash joins and merge joins off. The planner does not know how few
-- entries are passed. It would read all entries of a tenant instead of looking up each one by the primary key. For
-- the same reason it would compile the plan, which takes seconds with many partitions.

-- Makes the partition of the month of a day, unless it exists.
CREATE FUNCTION iam.make_audit_month(day date) RETURNS void
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    month     constant timestamp := date_trunc('month', day::timestamp);
    partition constant text := 'audit_entries_' || to_char(month, 'YYYY_MM');
BEGIN
    IF to_regclass('iam.' || partition) IS NOT NULL THEN
        RETURN;
    END IF;
    -- If two transactions make the partition at the same time, the second one waits until the first has committed,
    -- and then finds the partition. Attaching takes the same lock. Transactions that read or write entries do not
    -- wait for this lock.
    LOCK TABLE iam.audit_entries IN SHARE UPDATE EXCLUSIVE MODE;
    IF to_regclass('iam.' || partition) IS NOT NULL THEN
        RETURN;
    END IF;
    -- CREATE TABLE with PARTITION OF would make all entries of other months wait. Attaching a table does not, as long
    -- as there is no default partition, which would have to be searched.
    EXECUTE format(
        -- Erased data stays in a dead row until it is vacuumed. With a threshold that is a share of the rows, this
        -- could take forever.
        'CREATE TABLE iam.%I (LIKE iam.audit_entries INCLUDING CONSTRAINTS)
            WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100)',
        partition
    );
    EXECUTE format(
        'ALTER TABLE iam.audit_entries ATTACH PARTITION iam.%I FOR VALUES FROM (%L) TO (%L)',
        partition,
        to_char(month, 'YYYY-MM-DD 00:00:00+00'),
        to_char(month + interval '1 month', 'YYYY-MM-DD 00:00:00+00')
    );
    EXECUTE format(
        'CREATE TRIGGER audit_entries_truncate BEFORE TRUNCATE ON iam.%I
            EXECUTE FUNCTION iam.refuse_audit_change(%L)',
        partition,
        'audit entries cannot be truncated'
    );
END
$$;

-- Drops the partition of a month if retention has marked every entry in it for removal. Returns how many entries it
-- had. NULL means that it was not dropped.
CREATE FUNCTION iam.drop_given_up_audit_month(month date) RETURNS bigint
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
            SELECT
            FROM iam.%I e
            WHERE NOT EXISTS (
                SELECT
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

-- Deletes entries of one tenant that are marked for removal, for at most the given number of leaves. Returns how many
-- entries it deleted. NULL means that no tenant has entries to be deleted.
CREATE FUNCTION iam.delete_given_up_audit_entries(leaves integer) RETURNS bigint
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    SET jit = off
AS $$
DECLARE
    log     iam.audit_logs;
    upto    bigint;
    entries bigint;
BEGIN
    SELECT * INTO log FROM iam.audit_logs g WHERE g.purged < g.removed ORDER BY g.tenant_id LIMIT 1 FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('iam.audit_erasures ' || log.tenant_id, 0));
    upto := least(log.removed, log.purged + leaves);
    DELETE FROM iam.audit_entries e
    USING iam.audit_leaves l
    WHERE l.tenant_id = log.tenant_id
        AND l.sequence >= log.purged
        AND l.sequence < upto
        AND e.tenant_id = l.tenant_id
        AND e.created_at = l.created_at
        AND e.id = l.entry_id;
    GET DIAGNOSTICS entries = ROW_COUNT;
    UPDATE iam.audit_logs SET purged = upto WHERE tenant_id = log.tenant_id;
    RETURN entries;
END
$$;

-- Moves entries whose leaves have been written from the queue into the log. Returns how many.
CREATE FUNCTION iam.move_sealed_audit_entries(tenants uuid[], moments timestamptz[], ids uuid[]) RETURNS bigint
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    SET jit = off
AS $$
DECLARE
    entries bigint;
BEGIN
    -- Inserts the rows as they were when they were deleted, and not as they were when the statement began.
    WITH moved AS (
        DELETE FROM iam.audit_unsealed u
        USING unnest(tenants, moments, ids) s (tenant_id, created_at, id)
        WHERE u.tenant_id = s.tenant_id AND u.created_at = s.created_at AND u.id = s.id
        RETURNING u.*
    )
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
    FROM moved;
    GET DIAGNOSTICS entries = ROW_COUNT;
    RETURN entries;
END
$$;

-- Records that entries are erased, and erases them: replaces the values by values without personal data, removes the
-- address and the user agent of the client, and replaces the salts by commitments. Entries must be passed in the
-- order of their time.
CREATE FUNCTION iam.erase_audit_entries(
    tenant uuid,
    details_moments timestamptz[],
    details_ids uuid[],
    old_values text[],
    new_values text[],
    metadatas text[],
    details_commitments bytea[],
    origin_moments timestamptz[],
    origin_ids uuid[],
    origin_commitments bytea[]
) RETURNS void
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    SET jit = off
AS $$
BEGIN
    -- In a tenant, only one erasure runs at a time, and not while entries marked for removal are deleted: two
    -- transactions that write the same entries in different orders would deadlock.
    PERFORM pg_advisory_xact_lock(hashtextextended('iam.audit_erasures ' || tenant, 0));
    INSERT INTO iam.audit_erasures (tenant_id, created_at, id)
    SELECT tenant, x.created_at, x.id
    FROM unnest(details_moments || origin_moments, details_ids || origin_ids) x (created_at, id)
    ON CONFLICT DO NOTHING;
    -- For the same reason, locks all pending entries first, in the order in which the sequencer moves them. An entry
    -- that is being moved is found where it was moved to, because the queue is updated first.
    PERFORM
    FROM (
        SELECT DISTINCT x.created_at, x.id
        FROM unnest(details_moments || origin_moments, details_ids || origin_ids) x (created_at, id)
        ORDER BY x.created_at, x.id
    ) x
    JOIN iam.audit_unsealed e ON e.tenant_id = tenant AND e.created_at = x.created_at AND e.id = x.id
    FOR NO KEY UPDATE OF e;
    UPDATE iam.audit_unsealed e
    SET
        old_value = x.old_value::json,
        new_value = x.new_value::json,
        metadata = x.metadata::json,
        details_salt = x.commitment
    FROM unnest(details_moments, details_ids, old_values, new_values, metadatas, details_commitments)
        x (created_at, id, old_value, new_value, metadata, commitment)
    WHERE e.tenant_id = tenant AND e.created_at = x.created_at AND e.id = x.id;
    UPDATE iam.audit_unsealed e
    SET
        ip_address = NULL,
        user_agent = NULL,
        origin_salt = x.commitment
    FROM unnest(origin_moments, origin_ids, origin_commitments) x (created_at, id, commitment)
    WHERE e.tenant_id = tenant AND e.created_at = x.created_at AND e.id = x.id;
    UPDATE iam.audit_entries e
    SET
        old_value = x.old_value::json,
        new_value = x.new_value::json,
        metadata = x.metadata::json,
        details_salt = x.commitment
    FROM unnest(details_moments, details_ids, old_values, new_values, metadatas, details_commitments)
        x (created_at, id, old_value, new_value, metadata, commitment)
    WHERE e.tenant_id = tenant AND e.created_at = x.created_at AND e.id = x.id;
    UPDATE iam.audit_entries e
    SET
        ip_address = NULL,
        user_agent = NULL,
        origin_salt = x.commitment
    FROM unnest(origin_moments, origin_ids, origin_commitments) x (created_at, id, commitment)
    WHERE e.tenant_id = tenant AND e.created_at = x.created_at AND e.id = x.id;
END
$$;

-- By default, every role may call a function.
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA iam FROM PUBLIC;
