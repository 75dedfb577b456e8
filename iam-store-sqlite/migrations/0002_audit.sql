-- The audit log: what happened, and the trees by which anybody can check that none of it was touched.
--
-- An entry is written in the transaction of its change, together with a row of the queue audit_unsealed. The sealer
-- gives it a place in its tenant's sequence: a leaf takes the place of the queue's row. So every entry is found in one
-- of the two, also by its identifier alone, and one that is in neither was not put there by the service.
--
-- The types are those of 0001. Nothing here refers to anything: what happened is on record whatever becomes of what it
-- happened to, and the trees outlive the entries that retention removes.

CREATE TABLE audit_entries (
    tenant_id       BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    action          TEXT    NOT NULL,
    resource_type   TEXT    NOT NULL,
    resource_id     TEXT,
    organization_id BLOB,
    user_id         BLOB,
    old_value       TEXT,
    new_value       TEXT,
    metadata        TEXT    NOT NULL,
    correlation_id  TEXT,
    ip_address      TEXT,
    user_agent      TEXT,
    created_at      INTEGER NOT NULL,
    -- 16 bytes of salt, or in their place the 32 of the commitment once the personal fields were erased: among the
    -- values and the metadata, and of the client.
    details_salt    BLOB    NOT NULL,
    origin_salt     BLOB    NOT NULL,
    -- The order of the list. Not WITHOUT ROWID: by its row number an entry is only ever appended, and no insert moves
    -- another one to make room. Moving leaves copies in the unused parts of pages, and erasing would not reach them.
    CONSTRAINT audit_entries_pkey PRIMARY KEY (tenant_id, created_at, id),
    CONSTRAINT audit_entries_details_salt_check CHECK (length(details_salt) IN (16, 32)),
    CONSTRAINT audit_entries_origin_salt_check CHECK (length(origin_salt) IN (16, 32))
) STRICT;

-- One for each filter of the list, so that a page of any single one is a range of one index that has its order: nothing
-- is sorted, and nothing read that is not shown. A NULL is not looked for.
CREATE INDEX audit_entries_action_idx ON audit_entries (tenant_id, action, created_at, id);
CREATE INDEX audit_entries_resource_type_idx ON audit_entries (tenant_id, resource_type, created_at, id);
CREATE INDEX audit_entries_resource_idx ON audit_entries (tenant_id, resource_id, created_at, id)
    WHERE resource_id IS NOT NULL;
CREATE INDEX audit_entries_organization_idx ON audit_entries (tenant_id, organization_id, created_at, id)
    WHERE organization_id IS NOT NULL;
CREATE INDEX audit_entries_user_idx ON audit_entries (tenant_id, user_id, created_at, id)
    WHERE user_id IS NOT NULL;
CREATE INDEX audit_entries_correlation_idx ON audit_entries (tenant_id, correlation_id, created_at, id)
    WHERE correlation_id IS NOT NULL;

-- Entries that wait to be sealed. There are few of them at a time, so that sorting those of all tenants by age costs
-- less than an index for it, which every entry would be put into and taken out of.
CREATE TABLE audit_unsealed (
    tenant_id  BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    id         BLOB    NOT NULL,
    -- What the leaf will commit to. Whoever changes the entry before it is sealed is found out by it.
    digest     BLOB    NOT NULL,
    CONSTRAINT audit_unsealed_pkey PRIMARY KEY (tenant_id, created_at, id)
) STRICT, WITHOUT ROWID;

-- The sequence of each tenant. A leaf stays when its entry goes, so that everything else can still be proven.
CREATE TABLE audit_leaves (
    tenant_id  BLOB    NOT NULL,
    -- The place, counted from zero.
    sequence   INTEGER NOT NULL,
    -- Where the entry stands in the order of the list.
    created_at INTEGER NOT NULL,
    entry_id   BLOB    NOT NULL,
    hash       BLOB    NOT NULL,
    CONSTRAINT audit_leaves_pkey PRIMARY KEY (tenant_id, sequence),
    -- No entry is sealed twice, and each is found by its identifier.
    CONSTRAINT audit_leaves_entry_key UNIQUE (tenant_id, entry_id)
) STRICT, WITHOUT ROWID;

-- The complete subtrees of 256 leaves, of 65,536, and so on. All other hashes of the tree are made from these and the
-- leaves.
CREATE TABLE audit_nodes (
    tenant_id BLOB    NOT NULL,
    -- The height.
    level     INTEGER NOT NULL,
    -- How many subtrees of that height stand before it.
    position  INTEGER NOT NULL,
    hash      BLOB    NOT NULL,
    CONSTRAINT audit_nodes_pkey PRIMARY KEY (tenant_id, level, position)
) STRICT, WITHOUT ROWID;

-- What is known of each log as a whole. A tenant has a row as soon as something of its log is sealed, or it sets a
-- retention.
CREATE TABLE audit_logs (
    tenant_id      BLOB    NOT NULL,
    -- How many entries are sealed.
    size           INTEGER NOT NULL DEFAULT 0,
    -- The right edge of their tree: hashes of 32 bytes, one after the other.
    peaks          BLOB    NOT NULL DEFAULT x'',
    -- The signed checkpoint of just that.
    note           TEXT    NOT NULL DEFAULT '',
    -- Retention has given up the entries before this place in the sequence.
    removed        INTEGER NOT NULL DEFAULT 0,
    -- Those before this place are gone indeed, so that nobody looks for them again.
    purged         INTEGER NOT NULL DEFAULT 0,
    retention_days INTEGER,
    CONSTRAINT audit_logs_pkey PRIMARY KEY (tenant_id)
) STRICT, WITHOUT ROWID;

-- Entries of which personal fields were erased. No other entry can be changed.
CREATE TABLE audit_erasures (
    tenant_id  BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    id         BLOB    NOT NULL,
    CONSTRAINT audit_erasures_pkey PRIMARY KEY (tenant_id, created_at, id)
) STRICT, WITHOUT ROWID;

-- The triggers keep programs and people from changing what happened by mistake, or by a statement that they got in
-- somewhere. Whoever owns the file can drop them; that is what the trees are for.
--
-- INSERT OR REPLACE takes away the row that is in its way without asking the trigger of DELETE, so that inserting must
-- refuse it too.

CREATE TRIGGER audit_entries_insert BEFORE INSERT ON audit_entries
WHEN EXISTS (
    SELECT 1
    FROM audit_entries e
    WHERE e.rowid = NEW.rowid OR (e.tenant_id = NEW.tenant_id AND e.created_at = NEW.created_at AND e.id = NEW.id)
)
BEGIN
    SELECT RAISE(ABORT, 'an audit entry cannot be replaced');
END;

-- An erasure is recorded first. It touches nothing that the log shows of the entry but the personal fields of a part
-- whose salt it destroys.
CREATE TRIGGER audit_entries_update BEFORE UPDATE ON audit_entries
WHEN NEW.rowid IS NOT OLD.rowid
    OR NEW.tenant_id IS NOT OLD.tenant_id
    OR NEW.id IS NOT OLD.id
    OR NEW.action IS NOT OLD.action
    OR NEW.resource_type IS NOT OLD.resource_type
    OR NEW.resource_id IS NOT OLD.resource_id
    OR NEW.organization_id IS NOT OLD.organization_id
    OR NEW.user_id IS NOT OLD.user_id
    OR NEW.correlation_id IS NOT OLD.correlation_id
    OR NEW.created_at IS NOT OLD.created_at
    OR ((length(NEW.details_salt) <> 32 OR length(OLD.details_salt) <> 16)
        AND (NEW.old_value IS NOT OLD.old_value
            OR NEW.new_value IS NOT OLD.new_value
            OR NEW.metadata IS NOT OLD.metadata
            OR NEW.details_salt IS NOT OLD.details_salt))
    OR ((length(NEW.origin_salt) <> 32
            OR length(OLD.origin_salt) <> 16
            OR NEW.ip_address IS NOT NULL
            OR NEW.user_agent IS NOT NULL)
        AND (NEW.ip_address IS NOT OLD.ip_address
            OR NEW.user_agent IS NOT OLD.user_agent
            OR NEW.origin_salt IS NOT OLD.origin_salt))
    OR NOT EXISTS (
        SELECT 1
        FROM audit_erasures r
        WHERE r.tenant_id = OLD.tenant_id AND r.created_at = OLD.created_at AND r.id = OLD.id
    )
BEGIN
    SELECT RAISE(ABORT, 'an audit entry cannot be changed, except that personal fields are erased');
END;

CREATE TRIGGER audit_entries_delete BEFORE DELETE ON audit_entries
WHEN NOT EXISTS (
    SELECT 1
    FROM audit_leaves l
    JOIN audit_logs g ON g.tenant_id = l.tenant_id
    WHERE l.tenant_id = OLD.tenant_id AND l.entry_id = OLD.id AND l.sequence < g.removed
)
BEGIN
    SELECT RAISE(ABORT, 'an audit entry cannot be deleted before retention has given it up');
END;

CREATE TRIGGER audit_leaves_insert BEFORE INSERT ON audit_leaves
WHEN EXISTS (
    SELECT 1
    FROM audit_leaves l
    WHERE l.tenant_id = NEW.tenant_id AND (l.sequence = NEW.sequence OR l.entry_id = NEW.entry_id)
)
BEGIN
    SELECT RAISE(ABORT, 'a leaf of an audit log cannot be replaced');
END;

CREATE TRIGGER audit_leaves_update BEFORE UPDATE ON audit_leaves
BEGIN
    SELECT RAISE(ABORT, 'a leaf of an audit log cannot be changed');
END;

CREATE TRIGGER audit_leaves_delete BEFORE DELETE ON audit_leaves
BEGIN
    SELECT RAISE(ABORT, 'a leaf of an audit log cannot be deleted');
END;

CREATE TRIGGER audit_nodes_insert BEFORE INSERT ON audit_nodes
WHEN EXISTS (
    SELECT 1
    FROM audit_nodes n
    WHERE n.tenant_id = NEW.tenant_id AND n.level = NEW.level AND n.position = NEW.position
)
BEGIN
    SELECT RAISE(ABORT, 'a node of an audit log cannot be replaced');
END;

CREATE TRIGGER audit_nodes_update BEFORE UPDATE ON audit_nodes
BEGIN
    SELECT RAISE(ABORT, 'a node of an audit log cannot be changed');
END;

CREATE TRIGGER audit_nodes_delete BEFORE DELETE ON audit_nodes
BEGIN
    SELECT RAISE(ABORT, 'a node of an audit log cannot be deleted');
END;

CREATE TRIGGER audit_logs_insert BEFORE INSERT ON audit_logs
WHEN EXISTS (SELECT 1 FROM audit_logs g WHERE g.tenant_id = NEW.tenant_id)
BEGIN
    SELECT RAISE(ABORT, 'the head of an audit log cannot be replaced');
END;

CREATE TRIGGER audit_logs_update BEFORE UPDATE ON audit_logs
WHEN NEW.tenant_id IS NOT OLD.tenant_id
    OR NEW.size < OLD.size
    OR NEW.removed < OLD.removed
    OR NEW.purged < OLD.purged
BEGIN
    SELECT RAISE(ABORT, 'an audit log cannot shrink');
END;

CREATE TRIGGER audit_logs_delete BEFORE DELETE ON audit_logs
BEGIN
    SELECT RAISE(ABORT, 'the head of an audit log cannot be deleted');
END;

CREATE TRIGGER audit_erasures_update BEFORE UPDATE ON audit_erasures
BEGIN
    SELECT RAISE(ABORT, 'the record of an erasure cannot be changed');
END;

CREATE TRIGGER audit_erasures_delete BEFORE DELETE ON audit_erasures
BEGIN
    SELECT RAISE(ABORT, 'the record of an erasure cannot be deleted');
END;

-- What the planner is to expect, as at the end of 0001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('audit_entries', 'sqlite_autoindex_audit_entries_1', '10000000 100000 2 1'),
    ('audit_entries', 'audit_entries_action_idx', '10000000 100000 10000 2 1'),
    ('audit_entries', 'audit_entries_resource_type_idx', '10000000 100000 20000 2 1'),
    ('audit_entries', 'audit_entries_resource_idx', '10000000 100000 10 2 1'),
    ('audit_entries', 'audit_entries_organization_idx', '5000000 50000 1000 2 1'),
    ('audit_entries', 'audit_entries_user_idx', '10000000 100000 100 2 1'),
    ('audit_entries', 'audit_entries_correlation_idx', '10000000 100000 2 1 1'),
    ('audit_unsealed', 'sqlite_autoindex_audit_unsealed_1', '2000 20 2 1'),
    ('audit_leaves', 'sqlite_autoindex_audit_leaves_1', '10000000 100000 1'),
    ('audit_leaves', 'sqlite_autoindex_audit_leaves_2', '10000000 100000 1'),
    ('audit_logs', 'sqlite_autoindex_audit_logs_1', '100 1'),
    ('audit_erasures', 'sqlite_autoindex_audit_erasures_1', '1000 100 2 1');
-- This connection reads them now, the others with the new schema.
ANALYZE sqlite_schema;
