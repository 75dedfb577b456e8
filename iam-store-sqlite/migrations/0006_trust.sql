-- Protection against strangers, tenant administrators and insiders: verified addresses, suspended tenants, quotas,
-- revoked keys, and a retention that cannot be shortened at once.

-- When it was proven that the user receives mail at the address. NULL if that is not proven.
ALTER TABLE users ADD COLUMN email_verified_at INTEGER;

-- The operator can suspend tenants. SQLite cannot change a constraint, so the table is created again. The foreign
-- keys to it are checked at the commit.
PRAGMA defer_foreign_keys = ON;

CREATE TEMPORARY TABLE former_tenants AS SELECT number, id, name, slug, status, created_at, updated_at FROM tenants;

DROP TABLE tenants;

CREATE TABLE tenants (
    -- SQLite assigns it. The numbers of a tenant's users are in a range of their own. So a search by these numbers
    -- finds only users of the tenant.
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
    -- The exception: a tenant is found by its slug.
    CONSTRAINT tenants_slug_key UNIQUE (slug),
    CONSTRAINT tenants_status_check CHECK (status IN ('ACTIVE', 'SUSPENDED'))
) STRICT;

INSERT INTO tenants (number, id, name, slug, status, created_at, updated_at) SELECT * FROM former_tenants;

DROP TABLE former_tenants;

-- Dropping the table has dropped this trigger.
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

-- A revoked key does not verify tokens any more. The private half of a revoked key is erased, and also that of a
-- replaced key: then the private key is empty.
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

-- A retention that takes effect at a later moment.
ALTER TABLE audit_logs ADD COLUMN pending_retention_days INTEGER;
ALTER TABLE audit_logs ADD COLUMN pending_retention_from INTEGER;

-- There are quotas for organizations and roles, too, so these are counted like users and role assignments.
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
