-- Service accounts: users that are programs. They have no row in credentials, and their e-mail is a placeholder.

ALTER TABLE users
    ADD COLUMN kind TEXT NOT NULL DEFAULT 'HUMAN' CONSTRAINT users_kind_check CHECK (kind IN ('HUMAN', 'SERVICE'));

-- Few users are service accounts, so a list of them reads this index instead of all users.
CREATE INDEX users_service_idx ON users (tenant_id, created_at DESC, id) WHERE kind = 'SERVICE';
