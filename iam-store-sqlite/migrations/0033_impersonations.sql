-- Users who act as other ones.

-- Who acts in a session of another user, in which session of its own, and why; NULL for a login. There is no foreign key:
-- no user is removed, and what refers to a session that has ended is refused.
ALTER TABLE sessions ADD COLUMN actor_id BLOB;
ALTER TABLE sessions ADD COLUMN actor_session_id BLOB;
ALTER TABLE sessions ADD COLUMN actor_reason TEXT CONSTRAINT sessions_actor_check CHECK (
    (actor_id IS NULL) = (actor_session_id IS NULL) AND (actor_id IS NULL) = (actor_reason IS NULL)
);
-- Whether the actor can change nothing.
ALTER TABLE sessions ADD COLUMN read_only INTEGER NOT NULL DEFAULT 0;

-- They end with the sessions of the actor. There are few of them.
CREATE INDEX sessions_actor_idx ON sessions (tenant_id, actor_id) WHERE actor_id IS NOT NULL;
CREATE INDEX sessions_actor_session_idx ON sessions (tenant_id, actor_session_id) WHERE actor_session_id IS NOT NULL;

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
        ('impersonations:create', 'Act as other users, with all of their permissions oneself.'),
        ('impersonations:read', 'Reserved.'),
        ('impersonations:update', 'Reserved.'),
        ('impersonations:delete', 'Reserved.')
) p
WHERE TRUE
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = 1;
