-- Second factors: the factors of users, their recovery codes, proofs of identity that have begun, and what a tenant
-- demands of its users.

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

-- How and when the user has authenticated. The previous release writes neither column, and all its sessions began with
-- a password alone. If the moment is NULL, it is created_at: a default cannot name another column.
ALTER TABLE sessions ADD COLUMN methods TEXT NOT NULL DEFAULT 'password';
ALTER TABLE sessions ADD COLUMN authenticated_at INTEGER;

CREATE TABLE factors (
    tenant_id     BLOB    NOT NULL,
    id            BLOB    NOT NULL,
    user_id       BLOB    NOT NULL,
    kind          TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    -- TOTP: the secret, encrypted if there is a master key. A passkey: its public key and its properties.
    key           BLOB    NOT NULL,
    -- The identifier that the authenticator gave a passkey.
    credential_id BLOB,
    -- TOTP: the last step that was used. A passkey: its last signature counter.
    counter       INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    -- NULL until the first code is confirmed. Until then the factor proves nothing.
    confirmed_at  INTEGER,
    last_used_at  INTEGER,
    CONSTRAINT factors_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT factors_credential_key UNIQUE (tenant_id, credential_id),
    CONSTRAINT factors_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id),
    CONSTRAINT factors_counter_check CHECK (counter >= 0)
) STRICT;

CREATE INDEX factors_user_idx ON factors (tenant_id, user_id);

-- The recovery codes that are not used yet.
CREATE TABLE recovery_codes (
    tenant_id BLOB NOT NULL,
    user_id   BLOB NOT NULL,
    -- The SHA-256 digest of the code. A code has 80 random bits, so a reader of this column cannot guess it.
    hash      BLOB NOT NULL,
    CONSTRAINT recovery_codes_pkey PRIMARY KEY (tenant_id, user_id, hash),
    CONSTRAINT recovery_codes_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id),
    CONSTRAINT recovery_codes_hash_check CHECK (length(hash) = 32)
) STRICT;

-- Proofs of identity that have begun. There are no foreign keys: a login by a passkey alone names neither a user nor a
-- tenant, and is stored under the nil tenant.
CREATE TABLE challenges (
    tenant_id  BLOB    NOT NULL,
    -- The SHA-256 digest of what the answer must contain. A reader of this column cannot make the answer.
    token_hash BLOB    NOT NULL,
    purpose    TEXT    NOT NULL,
    user_id    BLOB,
    tries      INTEGER NOT NULL,
    ceremony   BLOB,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    CONSTRAINT challenges_pkey PRIMARY KEY (tenant_id, token_hash),
    CONSTRAINT challenges_token_check CHECK (length(token_hash) = 32),
    CONSTRAINT challenges_tries_check CHECK (tries >= 0)
) STRICT;

-- To end all challenges of a user.
CREATE INDEX challenges_user_idx ON challenges (tenant_id, user_id);
CREATE INDEX challenges_expiry_idx ON challenges (expires_at);

-- Where a tenant requires a second factor, the session of a user without one is restricted. A login uses a factor and
-- changes neither whether it exists nor whether it is confirmed, so it writes no row of changes.

CREATE TRIGGER tenants_tell_second_factor
AFTER UPDATE OF second_factor_required_at, second_factor_grace_days ON tenants
WHEN NEW.second_factor_required_at IS NOT OLD.second_factor_required_at
    OR NEW.second_factor_grace_days IS NOT OLD.second_factor_grace_days
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

CREATE TRIGGER factors_tell_insert AFTER INSERT ON factors
WHEN NEW.confirmed_at IS NOT NULL
BEGIN
    INSERT INTO changes (changed) VALUES (NEW.user_id);
END;

CREATE TRIGGER factors_tell_update AFTER UPDATE OF confirmed_at ON factors
WHEN NEW.confirmed_at IS NOT OLD.confirmed_at
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.user_id);
END;

CREATE TRIGGER factors_tell_delete AFTER DELETE ON factors
WHEN OLD.confirmed_at IS NOT NULL
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.user_id);
END;
