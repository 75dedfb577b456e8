-- Homes: the organization to which a user belongs. NULL for the tenant. The foreign key blocks only
-- writers of organizations, and these read no users afterwards.

ALTER TABLE iam.users
    ADD COLUMN home_organization_id uuid,
    ADD CONSTRAINT users_home_fkey
        FOREIGN KEY (tenant_id, home_organization_id) REFERENCES iam.organizations (tenant_id, id);

-- To find the users of organizations. Users of the tenant are excluded.
CREATE INDEX users_home_idx ON iam.users (tenant_id, home_organization_id, id) WHERE home_organization_id IS NOT NULL;
