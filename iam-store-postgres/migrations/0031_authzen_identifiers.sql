-- How requests of AuthZEN name users and organizations.

ALTER TABLE iam.tenants ADD COLUMN authzen_identifiers text NOT NULL DEFAULT 'ID'
    CONSTRAINT tenants_authzen_identifiers_check CHECK (authzen_identifiers IN ('ID', 'NAME'));

-- The servers keep it with the sessions and API keys of the tenant.
CREATE TRIGGER tenants_tell_authzen_identifiers AFTER UPDATE OF authzen_identifiers ON iam.tenants
    FOR EACH ROW WHEN (NEW.authzen_identifiers IS DISTINCT FROM OLD.authzen_identifiers)
    EXECUTE FUNCTION iam.tell_change();
