-- Second factors: the factors of users, their recovery codes, and proofs of identity that have begun.

CREATE TABLE iam.factors (
    tenant_id     uuid        NOT NULL,
    id            uuid        NOT NULL,
    user_id       uuid        NOT NULL,
    kind          text        NOT NULL,
    name          text        NOT NULL,
    -- TOTP: the secret, encrypted if there is a master key. A passkey: its public key and its properties.
    key           bytea       NOT NULL,
    -- The identifier that the authenticator gave a passkey.
    credential_id bytea,
    -- TOTP: the last step that was used. A passkey: its last signature counter.
    counter       bigint      NOT NULL,
    created_at    timestamptz NOT NULL,
    -- NULL until the first code is confirmed. Until then the factor proves nothing.
    confirmed_at  timestamptz,
    last_used_at  timestamptz,
    CONSTRAINT factors_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT factors_credential_key UNIQUE (tenant_id, credential_id),
    CONSTRAINT factors_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id),
    CONSTRAINT factors_counter_check CHECK (counter >= 0)
) WITH (
    -- Every login with a factor changes it. With free space in the page, no index must be written.
    fillfactor = 90
);

CREATE INDEX factors_user_idx ON iam.factors (tenant_id, user_id);

-- The recovery codes that are not used yet.
CREATE TABLE iam.recovery_codes (
    tenant_id uuid  NOT NULL,
    user_id   uuid  NOT NULL,
    -- The SHA-256 digest of the code. A code has 80 random bits, so a reader of this column cannot guess it.
    hash      bytea NOT NULL,
    CONSTRAINT recovery_codes_pkey PRIMARY KEY (tenant_id, user_id, hash),
    CONSTRAINT recovery_codes_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id),
    CONSTRAINT recovery_codes_hash_check CHECK (octet_length(hash) = 32)
);

-- Proofs of identity that have begun. There are no foreign keys: a login by a passkey alone names neither a user nor a
-- tenant, and is stored under the nil tenant.
CREATE TABLE iam.challenges (
    tenant_id  uuid        NOT NULL,
    -- The SHA-256 digest of what the answer must contain. A reader of this column cannot make the answer.
    token_hash bytea       NOT NULL,
    purpose    text        NOT NULL,
    user_id    uuid,
    tries      bigint      NOT NULL,
    ceremony   bytea,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT challenges_pkey PRIMARY KEY (tenant_id, token_hash),
    CONSTRAINT challenges_token_check CHECK (octet_length(token_hash) = 32),
    CONSTRAINT challenges_tries_check CHECK (tries >= 0)
);

-- To end all challenges of a user.
CREATE INDEX challenges_user_idx ON iam.challenges (tenant_id, user_id);
CREATE INDEX challenges_expiry_idx ON iam.challenges (expires_at);

-- The session of a user without a required factor is restricted. A login uses a factor and changes neither whether it
-- exists nor whether it is confirmed, so it is not notified.

-- Sends the user of the factor.
CREATE FUNCTION iam.tell_changed_factor() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('iam_changes', coalesce(OLD.user_id, NEW.user_id)::text);
    RETURN NULL;
END
$$;

REVOKE EXECUTE ON FUNCTION iam.tell_changed_factor FROM PUBLIC;

CREATE TRIGGER factors_tell_insert AFTER INSERT ON iam.factors
    FOR EACH ROW WHEN (NEW.confirmed_at IS NOT NULL)
    EXECUTE FUNCTION iam.tell_changed_factor();
CREATE TRIGGER factors_tell_update AFTER UPDATE OF confirmed_at ON iam.factors
    FOR EACH ROW WHEN (NEW.confirmed_at IS DISTINCT FROM OLD.confirmed_at)
    EXECUTE FUNCTION iam.tell_changed_factor();
CREATE TRIGGER factors_tell_delete AFTER DELETE ON iam.factors
    FOR EACH ROW WHEN (OLD.confirmed_at IS NOT NULL)
    EXECUTE FUNCTION iam.tell_changed_factor();
CREATE TRIGGER factors_tell_truncate AFTER TRUNCATE ON iam.factors
    EXECUTE FUNCTION iam.tell_everything_changed();

-- The previous release does not ask for a second factor. Until it is stopped, it must not begin sessions of users who have
-- one: every server would accept them. It writes no authenticated_at.
CREATE FUNCTION iam.refuse_session_without_factor() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (
        SELECT FROM iam.factors
        WHERE tenant_id = NEW.tenant_id AND user_id = NEW.user_id AND confirmed_at IS NOT NULL
    ) THEN
        RAISE EXCEPTION 'the user has a second factor, for which this release does not ask';
    END IF;
    RETURN NEW;
END
$$;

REVOKE EXECUTE ON FUNCTION iam.refuse_session_without_factor FROM PUBLIC;

CREATE TRIGGER sessions_need_factor BEFORE INSERT ON iam.sessions
    FOR EACH ROW WHEN (NEW.authenticated_at IS NULL)
    EXECUTE FUNCTION iam.refuse_session_without_factor();
