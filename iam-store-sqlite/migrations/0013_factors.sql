-- Second factors: the factors of users, their recovery codes, and proofs of identity that have begun.

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

-- The session of a user without a required factor is restricted. A login uses a factor and changes neither whether it
-- exists nor whether it is confirmed, so it is not notified.
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

-- The previous release does not ask for a second factor. It must not begin sessions of users who have one: this release
-- would accept them. It writes no authenticated_at.
CREATE TRIGGER sessions_need_factor BEFORE INSERT ON sessions
WHEN NEW.authenticated_at IS NULL AND EXISTS (
    SELECT 1
    FROM factors
    WHERE tenant_id = NEW.tenant_id AND user_id = NEW.user_id AND confirmed_at IS NOT NULL
)
BEGIN
    SELECT RAISE(ABORT, 'the user has a second factor, for which this release does not ask');
END;
