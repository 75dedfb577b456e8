-- Whether the user of a key has rotated it. A reset of the password by mail revokes such a key.
ALTER TABLE iam.api_keys ADD COLUMN rotated_by_owner boolean NOT NULL DEFAULT FALSE;
