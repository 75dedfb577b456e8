-- Whether the users of a tenant log in by a message to their address.
ALTER TABLE tenants ADD COLUMN email_login TEXT NOT NULL DEFAULT 'OFF'
    CONSTRAINT tenants_email_login_check CHECK (email_login IN ('OFF', 'ON'));

-- The page for sign-in asks whether there is such a tenant.
CREATE INDEX tenants_email_login_idx ON tenants (email_login) WHERE email_login = 'ON';
