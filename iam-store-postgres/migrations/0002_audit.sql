-- The audit log: what happened, and the trees by which anybody can check that none of it was touched.
--
-- An entry is written in the transaction of its change, into audit_unsealed. The sealer gives it a place in its tenant's
-- sequence, a leaf, and moves it to audit_entries in the same transaction. So every entry stands in one of the two, and one
-- that stands in audit_entries without a leaf was not put there by the service.
--
-- Entries have two tables because changes wait for them to be written: audit_entries has an index for each filter, and one
-- entry at a time all of them together cost more than most changes do. The sealer writes them by the hundred.
--
-- None of these tables refers to tenants. Every entry comes with a change of something that does; the rows outlive what
-- they are about; and a partitioned table with a foreign key locks the table that it refers to, against all writing,
-- whenever a partition is added or dropped.

-- Sealed entries. A partition holds those of a calendar month, by UTC. So retention can drop old months whole, and a list
-- that is limited by dates touches those of its months only.
CREATE TABLE iam.audit_entries (
    tenant_id       uuid             NOT NULL,
    id              uuid             NOT NULL,
    -- Texts are found when they are equal, in no language's order: comparing bytes is the quickest.
    action          text COLLATE "C" NOT NULL,
    resource_type   text COLLATE "C" NOT NULL,
    -- What an entry names is on record whatever becomes of it, so it is no reference.
    resource_id     text COLLATE "C",
    organization_id uuid,
    user_id         uuid,
    -- Not jsonb, which writes numbers in its own way and refuses \u0000: what is read must have the digest that was
    -- computed before it was written.
    old_value       json,
    new_value       json,
    metadata        json             NOT NULL,
    correlation_id  text COLLATE "C",
    -- Text, because inet would also take networks.
    ip_address      text,
    user_agent      text,
    created_at      timestamptz      NOT NULL,
    -- 16 bytes of salt, or in their place the 32 of the commitment once the personal fields were erased: among the
    -- values and the metadata, and of the client.
    details_salt    bytea            NOT NULL,
    origin_salt     bytea            NOT NULL,
    -- The order of the list. The time is inside, because every unique index of a partitioned table has the column by
    -- which it is partitioned; so none can find an entry by its identifier. Leaves do that.
    CONSTRAINT audit_entries_pkey PRIMARY KEY (tenant_id, created_at, id)
) PARTITION BY RANGE (created_at);

-- One for each filter of the list, so that a page of any single one is a range of one index that has its order: nothing
-- is sorted, and nothing read that is not shown. Indexes are read backwards for the newest first. A NULL is not looked
-- for, so it costs no index anything.
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

-- An entry as it is handed over by the statement that writes it.
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

-- Entries that wait to be sealed, a second or so each. No constraint is checked: every statement that writes an entry
-- would compile it anew.
CREATE TABLE iam.audit_unsealed (
    LIKE iam.audit_entries,
    -- What the leaf will commit to. Whoever changes the entry before it is sealed is found out by it.
    digest bytea NOT NULL,
    -- The order of the list.
    CONSTRAINT audit_unsealed_pkey PRIMARY KEY (tenant_id, created_at, id)
) WITH (
    -- Every row that is written is deleted a moment later. By the defaults a table is vacuumed when a fifth of its rows
    -- are dead: after a backlog of millions that is far too late, and the sealer would wade through them every time. A
    -- number of its own does not grow with the table; without pauses, cleaning so small a table takes milliseconds.
    autovacuum_vacuum_scale_factor = 0,
    -- What is erased from an entry must not live on for long in the dead row that was moved.
    autovacuum_vacuum_threshold = 100,
    autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0,
    -- The planner must soon notice a backlog, and its end.
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 5000
);

-- The order in which the sealer takes them, of all tenants. Sorting them instead takes the longer the more are waiting,
-- so that it would never catch up with a long backlog.
CREATE INDEX audit_unsealed_created_idx ON iam.audit_unsealed (created_at, id);

-- The sequence of each tenant. A leaf stays when its entry goes, so that everything else can still be proven.
CREATE TABLE iam.audit_leaves (
    tenant_id  uuid        NOT NULL,
    -- The place, counted from zero.
    sequence   bigint      NOT NULL,
    -- Where the entry stands in the order of the list.
    created_at timestamptz NOT NULL,
    entry_id   uuid        NOT NULL,
    hash       bytea       NOT NULL,
    CONSTRAINT audit_leaves_pkey PRIMARY KEY (tenant_id, sequence),
    -- No entry is sealed twice, and each is found by its identifier.
    CONSTRAINT audit_leaves_entry_key UNIQUE (tenant_id, entry_id),
    -- A greater one could not be counted with.
    CONSTRAINT audit_leaves_sequence_check CHECK (sequence BETWEEN 0 AND 4611686018427387904),
    CONSTRAINT audit_leaves_hash_check CHECK (octet_length(hash) = 32)
);

-- The complete subtrees of 256 leaves, of 65,536, and so on. All other hashes of the tree are made from these and the
-- leaves.
CREATE TABLE iam.audit_nodes (
    tenant_id uuid     NOT NULL,
    -- The height.
    level     smallint NOT NULL,
    -- How many subtrees of that height stand before it.
    position  bigint   NOT NULL,
    hash      bytea    NOT NULL,
    CONSTRAINT audit_nodes_pkey PRIMARY KEY (tenant_id, level, position),
    CONSTRAINT audit_nodes_hash_check CHECK (octet_length(hash) = 32)
);

-- What is known of each log as a whole. A tenant has a row as soon as something of its log is sealed, or it sets a
-- retention.
CREATE TABLE iam.audit_logs (
    tenant_id      uuid    NOT NULL,
    -- How many entries are sealed.
    size           bigint  NOT NULL DEFAULT 0,
    -- The right edge of their tree: hashes of 32 bytes, one after the other.
    peaks          bytea   NOT NULL DEFAULT '',
    -- The signed checkpoint of just that.
    note           text    NOT NULL DEFAULT '',
    -- Retention has given up the entries before this place in the sequence.
    removed        bigint  NOT NULL DEFAULT 0,
    -- Those before this place are gone indeed, so that nobody looks for them again.
    purged         bigint  NOT NULL DEFAULT 0,
    retention_days integer,
    CONSTRAINT audit_logs_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT audit_logs_places_check CHECK (0 <= purged AND purged <= removed AND removed <= size),
    CONSTRAINT audit_logs_retention_days_check CHECK (retention_days BETWEEN 1 AND 36500)
) WITH (
    -- Each round of sealing writes the row anew. With room beside it the new one lies on the same page, and no index
    -- learns of it.
    fillfactor = 50
);

-- Where something is left to be purged: nearly always nowhere.
CREATE INDEX audit_logs_unpurged_idx ON iam.audit_logs (tenant_id) WHERE purged < removed;

-- Entries of which personal fields were erased. No other entry can be changed.
CREATE TABLE iam.audit_erasures (
    tenant_id  uuid        NOT NULL,
    created_at timestamptz NOT NULL,
    id         uuid        NOT NULL,
    CONSTRAINT audit_erasures_pkey PRIMARY KEY (tenant_id, created_at, id)
);

-- The triggers keep programs and people from changing what happened by mistake, or by a statement that they got in
-- somewhere. Whoever owns the tables can drop them; that is what the trees are for.
--
-- Every function names what it uses in full and has a search path of its own: one that its caller chose could put
-- something else in the place of an operator.

CREATE FUNCTION iam.refuse_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END
$$;

-- An erasure is recorded first. It touches nothing that the log shows of the entry but the personal fields of a part
-- whose salt it destroys.
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
        -- json has no equality, its text has.
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
        RAISE EXCEPTION 'an audit entry cannot be deleted before it is sealed' USING ERRCODE = 'restrict_violation';
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
        RAISE EXCEPTION 'an audit entry cannot be deleted before retention has given it up'
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

-- Partitions get copies of the triggers for rows, not of those for statements: iam.make_audit_month makes these.
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

-- What follows is done with the rights of the tables' owner, so that the server's own role needs neither UPDATE nor
-- DELETE on entries, and may make no tables: grants.sql says what it needs.
--
-- Where entries are named, joins that hash or sort are switched off: the planner, not knowing how few are named, would
-- rather read all of a tenant's than look for each in the primary key. By the same mistake it would compile the plan,
-- which takes seconds with many partitions.

-- Makes the partition of a day's month, unless there is one.
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
    -- Of two that make it at once, the second waits until the first has committed, and finds it. Attaching takes the
    -- same lock; nobody who reads or writes entries waits for it.
    LOCK TABLE iam.audit_entries IN SHARE UPDATE EXCLUSIVE MODE;
    IF to_regclass('iam.' || partition) IS NOT NULL THEN
        RETURN;
    END IF;
    -- A table made as a partition at once would keep all entries of other months waiting. One that is attached does
    -- not, as long as there is no default partition to be searched.
    EXECUTE format(
        -- What is erased stays in a dead row until that is vacuumed away: by a share of the rows this could take forever.
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

-- Drops a month's partition when retention has given up every entry in it; tells how many that were. NULL means that it
-- was not dropped.
CREATE FUNCTION iam.drop_given_up_audit_month(month date) RETURNS bigint
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    SET jit = off
    -- Dropping a partition locks the whole table for a moment, and whoever comes later waits behind it.
    SET lock_timeout = '200ms'
AS $$
DECLARE
    partition constant text := 'audit_entries_' || to_char(month, 'YYYY_MM');
    is_kept   boolean;
    entries   bigint;
BEGIN
    -- A day's grace, in case some server's clock is behind: nobody puts an entry into a month that is gone. A month before
    -- Christ would have the name of one after.
    IF month < '1970-01-01'
        OR (month + interval '1 month') AT TIME ZONE 'UTC' > now() - interval '1 day'
        OR to_regclass('iam.' || partition) IS NULL
    THEN
        RETURN NULL;
    END IF;
    -- From here on nobody else writes into the partition. Everything can still be read.
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
    -- The entries that are left in it are deleted one by one, and what is empty is dropped another time.
    WHEN lock_not_available THEN
        RETURN NULL;
    -- Somebody else has dropped it while this waited for the lock.
    WHEN undefined_table THEN
        RETURN NULL;
END
$$;

-- Deletes given-up entries of one tenant, those of at most so many leaves; tells how many. NULL means that nothing is
-- left to be deleted, of any tenant.
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

-- Moves entries that have leaves by now from the queue into the log; tells how many.
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
    -- What is inserted is what was deleted, and not what was there when the statement began.
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

-- Records that entries are erased, and erases them: writes the values without personal ones over those that were, removes
-- the client's address and user agent, and writes commitments over the salts. Entries must be named in the order of time.
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
    -- One after the other in a tenant, and not while given-up entries are deleted: two that write the same entries in
    -- another order would wait for each other.
    PERFORM pg_advisory_xact_lock(hashtextextended('iam.audit_erasures ' || tenant, 0));
    INSERT INTO iam.audit_erasures (tenant_id, created_at, id)
    SELECT tenant, x.created_at, x.id
    FROM unnest(details_moments || origin_moments, details_ids || origin_ids) x (created_at, id)
    ON CONFLICT DO NOTHING;
    -- For the same reason all at once in the order in which the sealer moves them. What it is moving is found where it
    -- was moved to: the queue comes first.
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

-- A function can be called by everybody until somebody says otherwise.
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA iam FROM PUBLIC;
