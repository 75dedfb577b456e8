-- The audit log: the entries, and the trees by which anyone can check that no entry was changed.
--
-- An entry is written in the transaction of its change, together with a row of the queue audit_unsealed: it is
-- pending. The sequencer replaces the row of the queue by a leaf, which is the entry's position in the sequence of its
-- tenant. So every entry has a row in one of these two tables, and is found by it, also by its identifier alone. An
-- entry without such a row was not inserted by the service.
--
-- The types are those of 0001. None of these tables has a foreign key: the entries outlive the rows that they are
-- about, and the trees outlive the entries that retention removes.

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
    -- 16 bytes of salt. When the personal fields are erased, the 32 bytes of the commitment replace the salt.
    -- details_salt is for the values and the metadata, origin_salt for the data of the client.
    details_salt    BLOB    NOT NULL,
    origin_salt     BLOB    NOT NULL,
    -- The order of the list. Not WITHOUT ROWID: with row numbers, every insert appends its entry, and does not move
    -- another entry to make room. Moving would leave copies in the unused parts of pages, which erasure would not
    -- reach.
    CONSTRAINT audit_entries_pkey PRIMARY KEY (tenant_id, created_at, id),
    CONSTRAINT audit_entries_details_salt_check CHECK (length(details_salt) IN (16, 32)),
    CONSTRAINT audit_entries_origin_salt_check CHECK (length(origin_salt) IN (16, 32))
) STRICT;

-- One index for each filter of the list. So a page for any single filter is a range of one index in the order of the
-- list: no row is sorted, and no row is read that is not shown. No filter searches for NULL, so rows with NULL are not
-- in the index.
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

-- Pending entries. There are only few at a time. So it costs less to sort the pending entries of all tenants by age
-- than to have an index for this, into which every entry would be inserted, and from which it would be deleted.
CREATE TABLE audit_unsealed (
    tenant_id  BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    id         BLOB    NOT NULL,
    -- The leaf will commit to this digest. The digest reveals a change of the entry before that.
    digest     BLOB    NOT NULL,
    CONSTRAINT audit_unsealed_pkey PRIMARY KEY (tenant_id, created_at, id)
) STRICT, WITHOUT ROWID;

-- The sequence of each tenant. A leaf stays when its entry is removed, so that all other entries can still be proven.
CREATE TABLE audit_leaves (
    tenant_id  BLOB    NOT NULL,
    -- The sequence number, counted from zero.
    sequence   INTEGER NOT NULL,
    -- When the entry was created: with it, the primary key finds the entry.
    created_at INTEGER NOT NULL,
    entry_id   BLOB    NOT NULL,
    hash       BLOB    NOT NULL,
    CONSTRAINT audit_leaves_pkey PRIMARY KEY (tenant_id, sequence),
    -- No entry is sequenced twice, and each is found by its identifier.
    CONSTRAINT audit_leaves_entry_key UNIQUE (tenant_id, entry_id)
) STRICT, WITHOUT ROWID;

-- The complete subtrees of 256 leaves, of 65,536 leaves, and so on. All other hashes of the tree are computed from
-- these and the leaves.
CREATE TABLE audit_nodes (
    tenant_id BLOB    NOT NULL,
    -- The height.
    level     INTEGER NOT NULL,
    -- How many subtrees of that height are to the left of it.
    position  INTEGER NOT NULL,
    hash      BLOB    NOT NULL,
    CONSTRAINT audit_nodes_pkey PRIMARY KEY (tenant_id, level, position)
) STRICT, WITHOUT ROWID;

-- The head of each log. A tenant has a row as soon as an entry was sequenced or a retention was set.
CREATE TABLE audit_logs (
    tenant_id      BLOB    NOT NULL,
    -- How many entries are sequenced.
    size           INTEGER NOT NULL DEFAULT 0,
    -- The right edge of the tree: hashes of 32 bytes, one after the other.
    peaks          BLOB    NOT NULL DEFAULT x'',
    -- The note with the signed checkpoint of this tree.
    note           TEXT    NOT NULL DEFAULT '',
    -- Retention has marked the entries with a lower sequence number for removal.
    removed        INTEGER NOT NULL DEFAULT 0,
    -- The entries with a lower sequence number are deleted, so no later run searches for them.
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

-- The triggers prevent changes of the log by mistake, or by an injected statement. The owner of the file can drop the
-- triggers. The trees reveal such changes.
--
-- INSERT OR REPLACE deletes a conflicting row without firing the DELETE trigger, so the INSERT triggers must refuse it
-- too.

CREATE TRIGGER audit_entries_insert BEFORE INSERT ON audit_entries
WHEN EXISTS (
    SELECT 1
    FROM audit_entries e
    WHERE e.rowid = NEW.rowid OR (e.tenant_id = NEW.tenant_id AND e.created_at = NEW.created_at AND e.id = NEW.id)
)
BEGIN
    SELECT RAISE(ABORT, 'an audit entry cannot be replaced');
END;

-- An erasure is recorded before the update. The update may change only the personal fields of a part, and must
-- replace the salt of that part.
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
    SELECT RAISE(ABORT, 'an audit entry cannot be deleted before retention marks it for removal');
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

-- Statistics for the planner, as at the end of 0001.
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
-- This connection reads the statistics here. The other connections read them together with the new schema.
ANALYZE sqlite_schema;
