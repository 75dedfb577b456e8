-- Identity providers: OpenID Connect providers by which the people of a tenant log in, and the accounts there to which
-- users are linked.

-- A provider is also found by its identifier alone, so a distributed database has a copy of this small table on every
-- node.
CREATE TABLE iam.identity_providers (
    tenant_id         uuid             NOT NULL,
    id                uuid             NOT NULL,
    name              text COLLATE "C" NOT NULL,
    slug              text             NOT NULL,
    issuer            text             NOT NULL,
    client_id         text             NOT NULL,
    -- The encrypted secret of this service at the provider; NULL if it has none.
    client_secret     bytea,
    -- Separated by spaces.
    scopes            text             NOT NULL,
    -- The domains for which the provider speaks. The service removes no domain that a provider names.
    domain_ids        jsonb            NOT NULL,
    trusts_email      boolean          NOT NULL,
    subject_claim     text             NOT NULL,
    provisioning      text             NOT NULL,
    -- The roles of the users that are made, each with its organization. There are no foreign keys: a role may be
    -- deleted while a provider names it. The assignments of the new user have them.
    roles             jsonb            NOT NULL,
    factor_is_trusted boolean          NOT NULL,
    enabled           boolean          NOT NULL,
    created_at        timestamptz      NOT NULL,
    updated_at        timestamptz      NOT NULL,
    version           bigint           NOT NULL DEFAULT 1,
    CONSTRAINT identity_providers_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT identity_providers_slug_key UNIQUE (tenant_id, slug),
    CONSTRAINT identity_providers_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id),
    CONSTRAINT identity_providers_subject_claim_check CHECK (subject_claim IN ('sub', 'oid')),
    CONSTRAINT identity_providers_provisioning_check CHECK (provisioning IN ('OFF', 'LINK', 'CREATE'))
);

-- To find a provider by its identifier alone.
CREATE INDEX identity_providers_id_idx ON iam.identity_providers (id);

-- Identities: links of users to accounts at a provider. They end with their provider.
CREATE TABLE iam.identities (
    tenant_id     uuid             NOT NULL,
    id            uuid             NOT NULL,
    user_id       uuid             NOT NULL,
    provider_id   uuid             NOT NULL,
    -- That of the provider at the time of the link. Another issuer may give the same subject to another person.
    issuer        text COLLATE "C" NOT NULL,
    -- The person, as the provider names it.
    subject       text COLLATE "C" NOT NULL,
    -- The address of the account at the provider, at the last login.
    email         text,
    linked_at     timestamptz      NOT NULL,
    last_login_at timestamptz,
    CONSTRAINT identities_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT identities_subject_key UNIQUE (tenant_id, provider_id, issuer, subject),
    CONSTRAINT identities_user_key UNIQUE (tenant_id, user_id, provider_id),
    CONSTRAINT identities_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id),
    CONSTRAINT identities_provider_fkey
        FOREIGN KEY (tenant_id, provider_id) REFERENCES iam.identity_providers (tenant_id, id) ON DELETE CASCADE
) WITH (
    -- Every login by an identity changes it. With free space in the page, no index must be written.
    fillfactor = 90
);

-- The session at the provider by which a user has logged in: of a session, and of a login that waits for a second factor.
-- There is no foreign key: sessions go on without their provider.
ALTER TABLE iam.sessions ADD COLUMN provider_id uuid;
ALTER TABLE iam.sessions ADD COLUMN provider_session text COLLATE "C";
ALTER TABLE iam.challenges ADD COLUMN provider_id uuid;
ALTER TABLE iam.challenges ADD COLUMN provider_session text COLLATE "C";

-- A logout at the provider ends its sessions.
CREATE INDEX sessions_provider_idx ON iam.sessions (tenant_id, provider_id, provider_session)
    WHERE provider_session IS NOT NULL;

-- Whether users whose provider is known log in by it alone.
ALTER TABLE iam.tenants ADD COLUMN password_login text NOT NULL DEFAULT 'ALLOWED'
    CONSTRAINT tenants_password_login_check CHECK (password_login IN ('ALLOWED', 'FEDERATED'));

-- The catalogues of the tenants that exist already. An application may have registered one of these permissions.
INSERT INTO iam.permissions (tenant_id, id, name, description, system, created_at)
SELECT
    t.id,
    -- A UUID of version 7: the time of the tenant's identifier, and random bits.
    encode(
        substring(uuid_send(t.id) FROM 1 FOR 6)
            || set_bit(set_bit(substring(uuid_send(gen_random_uuid()) FROM 7), 4, 1), 5, 1),
        'hex'
    )::uuid,
    p.name,
    p.description,
    TRUE,
    t.created_at
FROM iam.tenants t
CROSS JOIN (
    VALUES
        ('identity-providers:create', 'Make identity providers, with all permissions.'),
        ('identity-providers:read', 'See identity providers.'),
        ('identity-providers:update', 'Rename identity providers; change them, with all permissions.'),
        ('identity-providers:delete', 'Remove identity providers, with all permissions.')
) p (name, description)
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = TRUE;
