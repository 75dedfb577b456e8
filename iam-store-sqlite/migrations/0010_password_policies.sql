-- The rules for the new passwords of each tenant.

ALTER TABLE tenants
    ADD COLUMN password_policy TEXT NOT NULL DEFAULT 'seed'
    CONSTRAINT tenants_password_policy_check CHECK (password_policy IN ('seed', 'nist-800-63b-4', 'asvs-5'));
