-- The line in which messages wait, so that tenants take turns.

ALTER TABLE iam.messages
    -- The key of the address. NULL for a message that an earlier release has queued.
    ADD COLUMN email_key     text COLLATE "C",
    -- The place in the line: first the lane, then the turn. A message without a turn is not in the line.
    ADD COLUMN lane          bigint,
    ADD COLUMN turn          bigint,
    -- Until when a process has the message for itself.
    ADD COLUMN claimed_until timestamptz,
    ADD CONSTRAINT messages_turn_check CHECK (turn IS NULL OR lane IS NOT NULL);

-- An earlier release reads the outbox in the order of the first column, for all tenants.
DROP INDEX iam.messages_due_idx;
CREATE INDEX messages_due_idx ON iam.messages (next_attempt_at, id) WHERE turn IS NULL;
CREATE INDEX messages_line_idx ON iam.messages (lane, turn, id) WHERE turn IS NOT NULL;
CREATE INDEX messages_tenant_line_idx ON iam.messages (tenant_id, lane, turn) WHERE turn IS NOT NULL;
CREATE INDEX messages_address_idx ON iam.messages (email_key, kind);

-- How many messages each tenant has sent in the hour that began with the first of them.
CREATE TABLE iam.sent_messages (
    tenant_id   uuid        NOT NULL,
    since       timestamptz NOT NULL,
    urgent      bigint      NOT NULL,
    invitations bigint      NOT NULL,
    CONSTRAINT sent_messages_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT sent_messages_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id)
);

-- The invitations that can be accepted are counted.
CREATE INDEX invitations_expiry_idx ON iam.invitations (tenant_id, expires_at) WHERE status = 'PENDING';
