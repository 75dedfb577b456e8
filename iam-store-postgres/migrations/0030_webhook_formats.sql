-- How a webhook writes events.
ALTER TABLE iam.webhooks
    ADD COLUMN format text NOT NULL DEFAULT 'native'
    CONSTRAINT webhooks_format_check CHECK (format IN ('native', 'ocsf'));
