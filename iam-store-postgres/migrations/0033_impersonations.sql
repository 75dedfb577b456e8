-- Users who act as other ones.

-- Who acts in a session of another user, in which session of its own, and why; NULL for a login. There is no foreign key:
-- no user is removed, and what refers to a session that has ended is refused.
ALTER TABLE iam.sessions
    ADD COLUMN actor_id uuid,
    ADD COLUMN actor_session_id uuid,
    ADD COLUMN actor_reason text,
    -- Whether the actor can change nothing.
    ADD COLUMN read_only boolean NOT NULL DEFAULT FALSE,
    ADD CONSTRAINT sessions_actor_check CHECK (num_nulls(actor_id, actor_session_id, actor_reason) IN (0, 3));

-- They end with the sessions of the actor. There are few of them.
CREATE INDEX sessions_actor_idx ON iam.sessions (tenant_id, actor_id) WHERE actor_id IS NOT NULL;
CREATE INDEX sessions_actor_session_idx ON iam.sessions (tenant_id, actor_session_id)
    WHERE actor_session_id IS NOT NULL;

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
        ('impersonations:create', 'Act as other users, with all of their permissions oneself.'),
        ('impersonations:read', 'Reserved.'),
        ('impersonations:update', 'Reserved.'),
        ('impersonations:delete', 'Reserved.')
) p (name, description)
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = TRUE;
