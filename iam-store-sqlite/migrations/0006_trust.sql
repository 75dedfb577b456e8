-- What keeps strangers, neighbours and insiders within their bounds: verified addresses, suspended tenants, quotas, keys that
-- are withdrawn, and a retention that cannot be shortened at once.

-- When it was proven that the user receives mail at the address; NULL where that is not proven.
ALTER TABLE users ADD COLUMN email_verified_at INTEGER;

-- The operator suspends tenants. SQLite cannot change a constraint, so the table is made anew. References to it are checked
-- when all of this is committed.
PRAGMA defer_foreign_keys = ON;

CREATE TEMPORARY TABLE former_tenants AS SELECT number, id, name, slug, status, created_at, updated_at FROM tenants;

DROP TABLE tenants;

CREATE TABLE tenants (
    -- SQLite gives it. A tenant's users have the numbers of a range of their own, so that what is found of a text by their
    -- numbers is of the tenant alone.
    number     INTEGER NOT NULL PRIMARY KEY,
    first_user INTEGER NOT NULL GENERATED ALWAYS AS (number << 32),
    last_user  INTEGER NOT NULL GENERATED ALWAYS AS ((number << 32) + 0xffffffff),
    id         BLOB    NOT NULL,
    name       TEXT    NOT NULL,
    slug       TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT tenants_id_key UNIQUE (id),
    -- The exception: the slug is what a tenant is found by.
    CONSTRAINT tenants_slug_key UNIQUE (slug),
    CONSTRAINT tenants_status_check CHECK (status IN ('ACTIVE', 'SUSPENDED'))
) STRICT;

INSERT INTO tenants (number, id, name, slug, status, created_at, updated_at) SELECT * FROM former_tenants;

DROP TABLE former_tenants;

-- It went with the table.
CREATE TRIGGER tenants_count_insert AFTER INSERT ON tenants
BEGIN
    INSERT INTO tenant_counts (tenant_id) VALUES (NEW.id);
END;

-- Every session of the tenant depends on its status.
CREATE TRIGGER tenants_tell_update AFTER UPDATE OF status ON tenants
WHEN NEW.status IS NOT OLD.status
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

-- A key that was withdrawn verifies nothing any more. It keeps no private half, and neither does one that has been replaced:
-- there the private key is empty.
ALTER TABLE signing_keys ADD COLUMN revoked_at INTEGER;

CREATE TRIGGER signing_keys_tell_update AFTER UPDATE OF revoked_at ON signing_keys
WHEN NEW.revoked_at IS NOT OLD.revoked_at
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

CREATE TRIGGER signing_keys_tell_delete AFTER DELETE ON signing_keys
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

-- A retention that counts from a later moment on.
ALTER TABLE audit_logs ADD COLUMN pending_retention_days INTEGER;
ALTER TABLE audit_logs ADD COLUMN pending_retention_from INTEGER;

-- Quotas are also on organizations and roles, so these are counted like users and role assignments.
ALTER TABLE tenant_counts ADD COLUMN organizations INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tenant_counts ADD COLUMN roles INTEGER NOT NULL DEFAULT 0;

UPDATE tenant_counts
SET
    organizations = (SELECT count(*) FROM organizations o WHERE o.tenant_id = tenant_counts.tenant_id),
    roles = (SELECT count(*) FROM roles r WHERE r.tenant_id = tenant_counts.tenant_id);

CREATE TRIGGER organizations_count_insert AFTER INSERT ON organizations
BEGIN
    UPDATE tenant_counts SET organizations = organizations + 1 WHERE tenant_id = NEW.tenant_id;
END;

CREATE TRIGGER organizations_count_delete AFTER DELETE ON organizations
BEGIN
    UPDATE tenant_counts SET organizations = organizations - 1 WHERE tenant_id = OLD.tenant_id;
END;

CREATE TRIGGER roles_count_insert AFTER INSERT ON roles
BEGIN
    UPDATE tenant_counts SET roles = roles + 1 WHERE tenant_id = NEW.tenant_id;
END;

CREATE TRIGGER roles_count_delete AFTER DELETE ON roles
BEGIN
    UPDATE tenant_counts SET roles = roles - 1 WHERE tenant_id = OLD.tenant_id;
END;
