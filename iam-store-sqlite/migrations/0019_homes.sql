-- Homes: the organization to which a user belongs. NULL for the tenant.

ALTER TABLE users ADD COLUMN home_organization_id BLOB;

-- SQLite cannot add a foreign key of two columns to a table. Organizations are never deleted from their table, so it is
-- enough to check the users.
CREATE TRIGGER users_home_insert BEFORE INSERT ON users
WHEN NEW.home_organization_id IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM organizations WHERE tenant_id = NEW.tenant_id AND id = NEW.home_organization_id
    )
BEGIN
    SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;

CREATE TRIGGER users_home_update BEFORE UPDATE OF tenant_id, home_organization_id ON users
WHEN NEW.home_organization_id IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM organizations WHERE tenant_id = NEW.tenant_id AND id = NEW.home_organization_id
    )
BEGIN
    SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;

-- To find the users of organizations. Users of the tenant are excluded.
CREATE INDEX users_home_idx ON users (tenant_id, home_organization_id, id) WHERE home_organization_id IS NOT NULL;

-- Statistics for the planner; see 0001_spine.sql.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('users', 'users_home_idx', '1000000 10000 100 1');
ANALYZE sqlite_schema;
