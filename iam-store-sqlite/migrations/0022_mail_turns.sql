-- The line in which messages wait, so that tenants take turns.

-- The key of the address. NULL for a message that an earlier release has queued.
ALTER TABLE messages ADD COLUMN email_key TEXT;
-- The place in the line: first the lane, then the turn. A message without a turn is not in the line.
ALTER TABLE messages ADD COLUMN lane INTEGER;
ALTER TABLE messages ADD COLUMN turn INTEGER;
-- Until when a process has the message for itself.
ALTER TABLE messages ADD COLUMN claimed_until INTEGER;

-- An earlier release reads the outbox in the order of the first column, for all tenants.
DROP INDEX messages_due_idx;
CREATE INDEX messages_due_idx ON messages (next_attempt_at, id) WHERE turn IS NULL;
CREATE INDEX messages_line_idx ON messages (lane, turn, id) WHERE turn IS NOT NULL;
CREATE INDEX messages_tenant_line_idx ON messages (tenant_id, lane, turn) WHERE turn IS NOT NULL;
CREATE INDEX messages_address_idx ON messages (email_key, kind);

-- How many messages each tenant has sent in the hour that began with the first of them.
CREATE TABLE sent_messages (
    tenant_id   BLOB    NOT NULL,
    since       INTEGER NOT NULL,
    urgent      INTEGER NOT NULL,
    invitations INTEGER NOT NULL,
    CONSTRAINT sent_messages_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT sent_messages_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;

-- The invitations that can be accepted are counted.
CREATE INDEX invitations_expiry_idx ON invitations (tenant_id, expires_at) WHERE status = 'PENDING';
