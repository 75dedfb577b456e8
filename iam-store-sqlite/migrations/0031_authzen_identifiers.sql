-- How requests of AuthZEN name users and organizations.

ALTER TABLE tenants ADD COLUMN authzen_identifiers TEXT NOT NULL DEFAULT 'ID'
    CONSTRAINT tenants_authzen_identifiers_check CHECK (authzen_identifiers IN ('ID', 'NAME'));

-- The servers keep it with the sessions and API keys of the tenant.
CREATE TRIGGER tenants_tell_authzen_identifiers AFTER UPDATE OF authzen_identifiers ON tenants
WHEN NEW.authzen_identifiers IS NOT OLD.authzen_identifiers
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;
