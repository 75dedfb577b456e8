-- How and when the user has authenticated. The previous release writes neither column, and all its sessions began with
-- a password alone. If the moment is NULL, it is created_at: a default cannot name another column.
ALTER TABLE iam.sessions
    ADD COLUMN methods text NOT NULL DEFAULT 'password',
    ADD COLUMN authenticated_at timestamptz;
