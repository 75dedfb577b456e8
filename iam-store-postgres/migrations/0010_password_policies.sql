-- The rules for the new passwords of each tenant.

ALTER TABLE iam.tenants
    ADD COLUMN password_policy text NOT NULL DEFAULT 'seed'
    CONSTRAINT tenants_password_policy_check CHECK (password_policy IN ('seed', 'nist-800-63b-4', 'asvs-5'));
