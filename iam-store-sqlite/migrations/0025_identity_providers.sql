-- Identity providers: OpenID Connect providers by which the people of a tenant log in, and the accounts there to which
-- users are linked.

CREATE TABLE identity_providers (
    tenant_id         BLOB    NOT NULL,
    id                BLOB    NOT NULL,
    name              TEXT    NOT NULL,
    slug              TEXT    NOT NULL,
    issuer            TEXT    NOT NULL,
    client_id         TEXT    NOT NULL,
    -- The encrypted secret of this service at the provider; NULL if it has none.
    client_secret     BLOB,
    -- Separated by spaces.
    scopes            TEXT    NOT NULL,
    -- The domains for which the provider speaks. The service removes no domain that a provider names.
    domain_ids        TEXT    NOT NULL,
    trusts_email      INTEGER NOT NULL,
    subject_claim     TEXT    NOT NULL,
    provisioning      TEXT    NOT NULL,
    -- The roles of the users that are made, each with its organization. There are no foreign keys: a role may be
    -- deleted while a provider names it. The assignments of the new user have them.
    roles             TEXT    NOT NULL,
    factor_is_trusted INTEGER NOT NULL,
    enabled           INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    version           INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT identity_providers_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT identity_providers_slug_key UNIQUE (tenant_id, slug),
    CONSTRAINT identity_providers_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT identity_providers_subject_claim_check CHECK (subject_claim IN ('sub', 'oid')),
    CONSTRAINT identity_providers_provisioning_check CHECK (provisioning IN ('OFF', 'LINK', 'CREATE'))
) STRICT;

-- To find a provider by its identifier alone.
CREATE INDEX identity_providers_id_idx ON identity_providers (id);

-- Identities: links of users to accounts at a provider. They end with their provider.
CREATE TABLE identities (
    tenant_id     BLOB    NOT NULL,
    id            BLOB    NOT NULL,
    user_id       BLOB    NOT NULL,
    provider_id   BLOB    NOT NULL,
    -- That of the provider at the time of the link. Another issuer may give the same subject to another person.
    issuer        TEXT    NOT NULL,
    -- The person, as the provider names it.
    subject       TEXT    NOT NULL,
    -- The address of the account at the provider, at the last login.
    email         TEXT,
    linked_at     INTEGER NOT NULL,
    last_login_at INTEGER,
    CONSTRAINT identities_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT identities_subject_key UNIQUE (tenant_id, provider_id, issuer, subject),
    CONSTRAINT identities_user_key UNIQUE (tenant_id, user_id, provider_id),
    CONSTRAINT identities_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id),
    CONSTRAINT identities_provider_fkey
        FOREIGN KEY (tenant_id, provider_id) REFERENCES identity_providers (tenant_id, id) ON DELETE CASCADE
) STRICT;

-- The session at the provider by which a user has logged in: of a session, and of a login that waits for a second factor.
-- There is no foreign key: sessions go on without their provider.
ALTER TABLE sessions ADD COLUMN provider_id BLOB;
ALTER TABLE sessions ADD COLUMN provider_session TEXT;
ALTER TABLE challenges ADD COLUMN provider_id BLOB;
ALTER TABLE challenges ADD COLUMN provider_session TEXT;

-- A logout at the provider ends its sessions.
CREATE INDEX sessions_provider_idx ON sessions (tenant_id, provider_id, provider_session)
    WHERE provider_session IS NOT NULL;

-- Whether users whose provider is known log in by it alone.
ALTER TABLE tenants ADD COLUMN password_login TEXT NOT NULL DEFAULT 'ALLOWED'
    CONSTRAINT tenants_password_login_check CHECK (password_login IN ('ALLOWED', 'FEDERATED'));

-- The catalogues of the tenants that exist already. An application may have registered one of these permissions.
INSERT INTO permissions (tenant_id, id, name, description, system, created_at)
SELECT
    t.id,
    -- A UUID of version 7: the time of the tenant's identifier, and random bits.
    CAST(substr(t.id, 1, 6) || x'7000' || x'80' || randomblob(7) AS BLOB),
    p.column1,
    p.column2,
    1,
    t.created_at
FROM tenants t
CROSS JOIN (
    VALUES
        ('identity-providers:create', 'Make identity providers, with all permissions.'),
        ('identity-providers:read', 'See identity providers.'),
        ('identity-providers:update', 'Rename identity providers; change them, with all permissions.'),
        ('identity-providers:delete', 'Remove identity providers, with all permissions.')
) p
WHERE TRUE
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = 1;
