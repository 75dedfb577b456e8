-- What a tenant demands of its users. Each table that requests read is changed in a migration of its own. A
-- migration that locks two of them can deadlock with requests.

ALTER TABLE tenants
    ADD COLUMN second_factor TEXT NOT NULL DEFAULT 'OPTIONAL'
    CONSTRAINT tenants_second_factor_check CHECK (second_factor IN ('OFF', 'OPTIONAL', 'REQUIRED'));
ALTER TABLE tenants
    ADD COLUMN second_factor_grace_days INTEGER NOT NULL DEFAULT 7
    CONSTRAINT tenants_second_factor_grace_days_check CHECK (second_factor_grace_days BETWEEN 0 AND 90);
-- When the tenant began to require second factors.
ALTER TABLE tenants
    ADD COLUMN second_factor_required_at INTEGER
    CONSTRAINT tenants_second_factor_required_at_check
    CHECK ((second_factor = 'REQUIRED') = (second_factor_required_at IS NOT NULL));

-- Where a tenant requires a second factor, the sessions of users without one are restricted.
CREATE TRIGGER tenants_tell_second_factor
AFTER UPDATE OF second_factor_required_at, second_factor_grace_days ON tenants
WHEN NEW.second_factor_required_at IS NOT OLD.second_factor_required_at
    OR NEW.second_factor_grace_days IS NOT OLD.second_factor_grace_days
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;
