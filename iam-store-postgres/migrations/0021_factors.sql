-- A session becomes free of its restriction by a factor that it authenticates by itself. Other servers then read it again.
CREATE TRIGGER sessions_tell_methods AFTER UPDATE OF methods ON iam.sessions
    FOR EACH ROW WHEN (NEW.methods IS DISTINCT FROM OLD.methods)
    EXECUTE FUNCTION iam.tell_change();

-- The passkeys of the whole installation. The identifier of a passkey belongs to one user of it, so its key does not begin
-- with the tenant, and a distributed database has a copy of this small table on every node. Who tries to register the
-- identifier of another passkey must know it, and learns only that it is registered.
CREATE TABLE iam.passkeys (
    tenant_id     uuid  NOT NULL,
    factor_id     uuid  NOT NULL,
    credential_id bytea NOT NULL,
    CONSTRAINT passkeys_pkey PRIMARY KEY (credential_id)
);

-- To remove the passkeys of a user.
CREATE INDEX passkeys_factor_idx ON iam.passkeys (tenant_id, factor_id);

-- Users of two tenants may have registered the same identifier. Both keep their passkey.
INSERT INTO iam.passkeys (tenant_id, factor_id, credential_id)
SELECT tenant_id, id, credential_id
FROM iam.factors
WHERE credential_id IS NOT NULL
ON CONFLICT DO NOTHING;
