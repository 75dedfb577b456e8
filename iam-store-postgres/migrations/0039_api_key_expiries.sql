-- The keys of a tenant that expire soon are found. The use of a key changes no column of the index.
CREATE INDEX api_keys_expiry_idx ON iam.api_keys (tenant_id, expires_at, id);
