-- How a webhook writes events.
ALTER TABLE webhooks
    ADD COLUMN format TEXT NOT NULL DEFAULT 'native'
    CONSTRAINT webhooks_format_check CHECK (format IN ('native', 'ocsf'));
