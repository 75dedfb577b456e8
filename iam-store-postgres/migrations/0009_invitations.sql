-- Invitations, and the permissions for them.

CREATE TABLE iam.invitations (
    tenant_id  uuid             NOT NULL,
    id         uuid             NOT NULL,
    email      text             NOT NULL,
    email_key  text COLLATE "C" NOT NULL,
    first_name text,
    last_name  text,
    -- The roles, each with its organization and expiry. There are no foreign keys: a role may be deleted while an
    -- invitation names it. The assignments of the new user have them.
    roles      jsonb            NOT NULL,
    -- An invitation that has expired stays PENDING until the address is invited again.
    status     text             NOT NULL,
    invited_by uuid,
    expires_at timestamptz      NOT NULL,
    created_at timestamptz      NOT NULL,
    CONSTRAINT invitations_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT invitations_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id),
    CONSTRAINT invitations_status_check CHECK (status IN ('PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED'))
);

CREATE UNIQUE INDEX invitations_pending_key ON iam.invitations (tenant_id, email_key) WHERE status = 'PENDING';
-- The order of the list, for all invitations and for each filter.
CREATE INDEX invitations_created_idx ON iam.invitations (tenant_id, created_at DESC, id);
CREATE INDEX invitations_email_idx ON iam.invitations (tenant_id, email_key, created_at DESC, id);
CREATE INDEX invitations_status_idx ON iam.invitations (tenant_id, status, created_at DESC, id);

-- A message is about a user or an invitation.
ALTER TABLE iam.messages RENAME COLUMN user_id TO subject;

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
        ('invitations:create', 'Invite people.'),
        ('invitations:read', 'See invitations.'),
        ('invitations:update', 'Send invitations again.'),
        ('invitations:delete', 'Revoke invitations.')
) p (name, description)
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = TRUE;
