-- What a tenant demands of its users. Each table that requests read is changed in a migration of its own. A
-- migration that locks two of them can deadlock with requests.

ALTER TABLE iam.tenants
    ADD COLUMN second_factor text NOT NULL DEFAULT 'OPTIONAL'
        CONSTRAINT tenants_second_factor_check CHECK (second_factor IN ('OFF', 'OPTIONAL', 'REQUIRED')),
    ADD COLUMN second_factor_grace_days bigint NOT NULL DEFAULT 7
        CONSTRAINT tenants_second_factor_grace_days_check CHECK (second_factor_grace_days BETWEEN 0 AND 90),
    -- When the tenant began to require second factors.
    ADD COLUMN second_factor_required_at timestamptz
        CONSTRAINT tenants_second_factor_required_at_check
        CHECK ((second_factor = 'REQUIRED') = (second_factor_required_at IS NOT NULL));

-- Where a tenant requires a second factor, the sessions of users without one are restricted.
CREATE TRIGGER tenants_tell_second_factor
    AFTER UPDATE OF second_factor_required_at, second_factor_grace_days ON iam.tenants
    FOR EACH ROW WHEN (
        (NEW.second_factor_required_at, NEW.second_factor_grace_days)
            IS DISTINCT FROM (OLD.second_factor_required_at, OLD.second_factor_grace_days)
    )
    EXECUTE FUNCTION iam.tell_change();
