-- Mail: the links that messages contain, the outbox, and the limit for an address.

-- The newest link of each subject for each purpose. A link that is used is removed.
CREATE TABLE links (
    tenant_id  BLOB    NOT NULL,
    purpose    TEXT    NOT NULL,
    subject    BLOB    NOT NULL,
    id         BLOB    NOT NULL,
    email      TEXT    NOT NULL,
    -- The SHA-256 digest of the token. A reader of this column cannot make the token.
    token_hash BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    CONSTRAINT links_pkey PRIMARY KEY (tenant_id, purpose, subject),
    CONSTRAINT links_token_key UNIQUE (tenant_id, token_hash),
    CONSTRAINT links_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT links_token_check CHECK (length(token_hash) = 32)
) STRICT;

CREATE INDEX links_expiry_idx ON links (expires_at);

-- The messages that are not sent yet. There are no foreign keys: a request for an address that no user has is queued
-- too, under the nil tenant if it names no tenant.
CREATE TABLE messages (
    tenant_id       BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    kind            TEXT    NOT NULL,
    email           TEXT    NOT NULL,
    user_id         BLOB,
    link_id         BLOB,
    correlation_id  TEXT,
    ip_address      TEXT,
    user_agent      TEXT,
    attempts        INTEGER NOT NULL,
    next_attempt_at INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    CONSTRAINT messages_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT messages_attempts_check CHECK (attempts >= 0)
) STRICT;

-- The outbox is read in this order, for all tenants.
CREATE INDEX messages_due_idx ON messages (next_attempt_at);

-- When messages of each kind were queued for an address, in the last hour. Messages with links are counted for all
-- tenants together, under the nil tenant.
CREATE TABLE queued_messages (
    tenant_id BLOB NOT NULL,
    email_key TEXT NOT NULL,
    kind      TEXT NOT NULL,
    -- A JSON array of moments, read and written as a whole.
    queued_at TEXT NOT NULL,
    CONSTRAINT queued_messages_pkey PRIMARY KEY (tenant_id, email_key, kind)
) STRICT;
