-- Invitations, and the permissions for them.

CREATE TABLE invitations (
    tenant_id  BLOB    NOT NULL,
    id         BLOB    NOT NULL,
    email      TEXT    NOT NULL,
    email_key  TEXT    NOT NULL,
    first_name TEXT,
    last_name  TEXT,
    -- The roles, each with its organization and expiry. There are no foreign keys: a role may be deleted while an
    -- invitation names it. The assignments of the new user have them.
    roles      TEXT    NOT NULL,
    -- An invitation that has expired stays PENDING until the address is invited again.
    status     TEXT    NOT NULL,
    invited_by BLOB,
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT invitations_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT invitations_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT invitations_status_check CHECK (status IN ('PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED'))
) STRICT;

CREATE UNIQUE INDEX invitations_pending_key ON invitations (tenant_id, email_key) WHERE status = 'PENDING';
-- The order of the list, for all invitations and for each filter.
CREATE INDEX invitations_created_idx ON invitations (tenant_id, created_at DESC, id);
CREATE INDEX invitations_email_idx ON invitations (tenant_id, email_key, created_at DESC, id);
CREATE INDEX invitations_status_idx ON invitations (tenant_id, status, created_at DESC, id);

-- A message is about a user or an invitation.
ALTER TABLE messages RENAME COLUMN user_id TO subject;

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
        ('invitations:create', 'Invite people.'),
        ('invitations:read', 'See invitations.'),
        ('invitations:update', 'Send invitations again.'),
        ('invitations:delete', 'Revoke invitations.')
) p
WHERE TRUE
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = 1;
