-- Protection against strangers, tenant administrators and insiders: verified addresses, suspended tenants, quotas,
-- revoked keys, and a retention that cannot be shortened at once.

-- When it was proven that the user receives mail at the address. NULL if that is not proven.
ALTER TABLE iam.users ADD COLUMN email_verified_at timestamptz;

-- The operator can suspend tenants.
ALTER TABLE iam.tenants
    DROP CONSTRAINT tenants_status_check,
    ADD CONSTRAINT tenants_status_check CHECK (status IN ('ACTIVE', 'SUSPENDED'));

-- Every session of the tenant depends on its status.
CREATE TRIGGER tenants_tell_update AFTER UPDATE OF status ON iam.tenants
    FOR EACH ROW WHEN (NEW.status IS DISTINCT FROM OLD.status)
    EXECUTE FUNCTION iam.tell_change();

-- A revoked key does not verify tokens any more. The private half of a revoked key is erased, and also that of a
-- replaced key: then the private key is empty.
ALTER TABLE iam.signing_keys ADD COLUMN revoked_at timestamptz;

CREATE TRIGGER signing_keys_tell_update AFTER UPDATE OF revoked_at ON iam.signing_keys
    FOR EACH ROW WHEN (NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
    EXECUTE FUNCTION iam.tell_change();
CREATE TRIGGER signing_keys_tell_delete AFTER DELETE ON iam.signing_keys
    FOR EACH ROW EXECUTE FUNCTION iam.tell_change();

-- A retention that takes effect at a later moment.
ALTER TABLE iam.audit_logs
    ADD COLUMN pending_retention_days integer,
    ADD COLUMN pending_retention_from timestamptz,
    ADD CONSTRAINT audit_logs_pending_retention_days_check CHECK (pending_retention_days BETWEEN 1 AND 36500),
    ADD CONSTRAINT audit_logs_pending_retention_check CHECK (
        (pending_retention_days IS NULL) = (pending_retention_from IS NULL)
    );

-- There are quotas for organizations and roles, too, so these are counted like users and role assignments.
ALTER TABLE iam.tenant_counts
    ADD COLUMN organizations bigint NOT NULL DEFAULT 0,
    ADD COLUMN roles bigint NOT NULL DEFAULT 0;

CREATE FUNCTION iam.add_to_tenant_quotas(tenant uuid, organizations bigint, roles bigint) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO iam.tenant_counts AS c
    VALUES (tenant, pg_backend_pid() % 16, 0, 0, 0, 0, organizations, roles)
    ON CONFLICT (tenant_id, slot) DO UPDATE SET
        organizations = c.organizations + excluded.organizations,
        roles = c.roles + excluded.roles
$$;

CREATE FUNCTION iam.count_organizations() RETURNS trigger
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sign constant bigint := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    PERFORM iam.add_to_tenant_quotas(w.tenant_id, sign * count(*), 0)
    FROM written w
    GROUP BY w.tenant_id
    ORDER BY w.tenant_id;
    RETURN NULL;
END
$$;

CREATE FUNCTION iam.count_roles() RETURNS trigger
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sign constant bigint := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    PERFORM iam.add_to_tenant_quotas(w.tenant_id, 0, sign * count(*))
    FROM written w
    GROUP BY w.tenant_id
    ORDER BY w.tenant_id;
    RETURN NULL;
END
$$;

CREATE FUNCTION iam.forget_quotas() RETURNS trigger
    LANGUAGE plpgsql
    SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_TABLE_NAME = 'organizations' THEN
        UPDATE iam.tenant_counts SET organizations = 0;
    ELSE
        UPDATE iam.tenant_counts SET roles = 0;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER organizations_count_insert AFTER INSERT ON iam.organizations
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION iam.count_organizations();
CREATE TRIGGER organizations_count_delete AFTER DELETE ON iam.organizations
    REFERENCING OLD TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION iam.count_organizations();
CREATE TRIGGER organizations_count_truncate AFTER TRUNCATE ON iam.organizations
    EXECUTE FUNCTION iam.forget_quotas();

CREATE TRIGGER roles_count_insert AFTER INSERT ON iam.roles
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION iam.count_roles();
CREATE TRIGGER roles_count_delete AFTER DELETE ON iam.roles
    REFERENCING OLD TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION iam.count_roles();
CREATE TRIGGER roles_count_truncate AFTER TRUNCATE ON iam.roles
    EXECUTE FUNCTION iam.forget_quotas();

-- Creating the triggers has locked the tables, so every existing row is counted exactly once.
INSERT INTO iam.tenant_counts AS c
SELECT
    t.id,
    0,
    0,
    0,
    0,
    0,
    (SELECT count(*) FROM iam.organizations o WHERE o.tenant_id = t.id),
    (SELECT count(*) FROM iam.roles r WHERE r.tenant_id = t.id)
FROM iam.tenants t
ON CONFLICT (tenant_id, slot) DO UPDATE SET
    organizations = excluded.organizations,
    roles = excluded.roles;

REVOKE EXECUTE ON FUNCTION
    iam.add_to_tenant_quotas,
    iam.count_organizations,
    iam.count_roles,
    iam.forget_quotas
FROM PUBLIC;
