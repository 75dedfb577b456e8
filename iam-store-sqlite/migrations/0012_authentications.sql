-- How and when the user has authenticated. The previous release writes neither column, and all its sessions began with
-- a password alone. If the moment is NULL, it is created_at: a default cannot name another column.
ALTER TABLE sessions ADD COLUMN methods TEXT NOT NULL DEFAULT 'password';
ALTER TABLE sessions ADD COLUMN authenticated_at INTEGER;
