-- Mail: the links that messages contain, the outbox, and the limit for an address.

-- The newest link of each subject for each purpose. A link that is used is removed.
CREATE TABLE iam.links (
    tenant_id  uuid        NOT NULL,
    purpose    text        NOT NULL,
    subject    uuid        NOT NULL,
    id         uuid        NOT NULL,
    email      text        NOT NULL,
    -- The SHA-256 digest of the token. A reader of this column cannot make the token.
    token_hash bytea       NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT links_pkey PRIMARY KEY (tenant_id, purpose, subject),
    CONSTRAINT links_token_key UNIQUE (tenant_id, token_hash),
    CONSTRAINT links_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id),
    CONSTRAINT links_token_check CHECK (octet_length(token_hash) = 32)
);

CREATE INDEX links_expiry_idx ON iam.links (expires_at);

-- The messages that are not sent yet. There are no foreign keys: a request for an address that no user has is queued
-- too, under the nil tenant if it names no tenant.
CREATE TABLE iam.messages (
    tenant_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    kind            text        NOT NULL,
    email           text        NOT NULL,
    user_id         uuid,
    link_id         uuid,
    correlation_id  text,
    ip_address      text,
    user_agent      text,
    attempts        integer     NOT NULL,
    next_attempt_at timestamptz NOT NULL,
    created_at      timestamptz NOT NULL,
    CONSTRAINT messages_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT messages_attempts_check CHECK (attempts >= 0)
);

-- The outbox is read in this order, for all tenants.
CREATE INDEX messages_due_idx ON iam.messages (next_attempt_at);

-- When messages of each kind were queued for an address, in the last hour. Messages with links are counted for all
-- tenants together, under the nil tenant.
CREATE TABLE iam.queued_messages (
    tenant_id uuid             NOT NULL,
    email_key text COLLATE "C" NOT NULL,
    kind      text             NOT NULL,
    queued_at timestamptz[]    NOT NULL DEFAULT '{}',
    CONSTRAINT queued_messages_pkey PRIMARY KEY (tenant_id, email_key, kind)
);
