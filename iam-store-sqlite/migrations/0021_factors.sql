-- A session becomes free of its restriction by a factor that it authenticates by itself. Other servers then read it again.
CREATE TRIGGER sessions_tell_methods AFTER UPDATE OF methods ON sessions
WHEN NEW.methods IS NOT OLD.methods
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

-- The passkeys of the whole installation. The identifier of a passkey belongs to one user of it, so its key does not begin
-- with the tenant. Who tries to register the identifier of another passkey must know it, and learns only that it is
-- registered.
CREATE TABLE passkeys (
    tenant_id     BLOB NOT NULL,
    factor_id     BLOB NOT NULL,
    credential_id BLOB NOT NULL,
    CONSTRAINT passkeys_pkey PRIMARY KEY (credential_id)
) STRICT;

-- To remove the passkeys of a user.
CREATE INDEX passkeys_factor_idx ON passkeys (tenant_id, factor_id);

-- Users of two tenants may have registered the same identifier. Both keep their passkey.
INSERT OR IGNORE INTO passkeys (tenant_id, factor_id, credential_id)
SELECT tenant_id, id, credential_id
FROM factors
WHERE credential_id IS NOT NULL;
