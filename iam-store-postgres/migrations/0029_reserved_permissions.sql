-- Permissions whose names are reserved: those of the resources of this release and of later ones. An application that
-- had registered such a name would get the rights of the service by it.

-- The tenants in which an application may have registered one. SQL cannot write audit entries, so the store renames the
-- permissions after the migrations, one tenant after the other, and removes the row in the same transaction.
CREATE TABLE iam.unchecked_permissions (
    tenant_id uuid NOT NULL,
    CONSTRAINT unchecked_permissions_pkey PRIMARY KEY (tenant_id)
);

-- The built-in permissions of a tenant have its moment, also those that a migration added. One with another moment was
-- registered by an application, and the migration took it over.
INSERT INTO iam.unchecked_permissions (tenant_id)
SELECT DISTINCT p.tenant_id
FROM iam.permissions p
JOIN iam.tenants t ON t.id = p.tenant_id
WHERE (NOT p.system OR p.created_at <> t.created_at)
    AND p.name ~ '^(domains|identity-providers|directories|eligibilities|access-requests|impersonations|iam-[a-z0-9-]*):'
ON CONFLICT DO NOTHING;

-- A wildcard stays in a role when the last permission of its resource is deleted, and any name stays in a key.
INSERT INTO iam.unchecked_permissions (tenant_id)
SELECT DISTINCT p.tenant_id
FROM iam.role_permissions p
WHERE p.permission
    ~ '^(domains|identity-providers|directories|eligibilities|access-requests|impersonations|iam-[a-z0-9-]*):'
ON CONFLICT DO NOTHING;

INSERT INTO iam.unchecked_permissions (tenant_id)
SELECT DISTINCT k.tenant_id
FROM iam.api_keys k
WHERE k.permissions
    ~ '(^| )(domains|identity-providers|directories|eligibilities|access-requests|impersonations|iam-[a-z0-9-]*):'
ON CONFLICT DO NOTHING;

-- Servers of the previous release still accept these names. The rows that are there stay until the store renames them.
ALTER TABLE iam.permissions ADD CONSTRAINT permissions_reserved_check CHECK (
    system
    OR name !~ '^(domains|identity-providers|directories|eligibilities|access-requests|impersonations|iam-[a-z0-9-]*):'
) NOT VALID;
