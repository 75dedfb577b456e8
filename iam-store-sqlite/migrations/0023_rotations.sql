-- Whether the user of a key has rotated it. A reset of the password by mail revokes such a key.
ALTER TABLE api_keys ADD COLUMN rotated_by_owner INTEGER NOT NULL DEFAULT 0;
