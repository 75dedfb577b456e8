-- Whether the users of a tenant log in by a message to their address.
-- Two statements: Citus adds no column together with a constraint.
ALTER TABLE iam.tenants ADD COLUMN email_login text NOT NULL DEFAULT 'OFF';
ALTER TABLE iam.tenants ADD CONSTRAINT tenants_email_login_check CHECK (email_login IN ('OFF', 'ON'));

-- The page for sign-in asks whether there is such a tenant.
CREATE INDEX tenants_email_login_idx ON iam.tenants (email_login) WHERE email_login = 'ON';
