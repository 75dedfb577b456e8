-- Permissions whose names are reserved: those of the resources of this release and of later ones. An application that
-- had registered such a name would get the rights of the service by it.

-- The tenants in which an application may have registered one. SQL cannot write audit entries, so the store renames the
-- permissions after the migrations, one tenant after the other, and removes the row in the same transaction.
CREATE TABLE unchecked_permissions (
    tenant_id BLOB NOT NULL,
    CONSTRAINT unchecked_permissions_pkey PRIMARY KEY (tenant_id)
) STRICT;

-- The built-in permissions of a tenant have its moment, also those that a migration added. One with another moment was
-- registered by an application, and the migration took it over.
INSERT INTO unchecked_permissions (tenant_id)
SELECT DISTINCT p.tenant_id
FROM permissions p
JOIN tenants t ON t.id = p.tenant_id
WHERE (p.system = 0 OR p.created_at <> t.created_at)
    AND (
        p.name GLOB 'iam-*:*'
        OR substr(p.name, 1, instr(p.name, ':') - 1) IN (
            'domains', 'identity-providers', 'directories', 'eligibilities', 'access-requests', 'impersonations'
        )
    )
ON CONFLICT DO NOTHING;

-- A wildcard stays in a role when the last permission of its resource is deleted, and any name stays in a key.
INSERT INTO unchecked_permissions (tenant_id)
SELECT DISTINCT p.tenant_id
FROM role_permissions p
WHERE p.permission GLOB 'iam-*:*'
    OR substr(p.permission, 1, instr(p.permission, ':') - 1) IN (
        'domains', 'identity-providers', 'directories', 'eligibilities', 'access-requests', 'impersonations'
    )
ON CONFLICT DO NOTHING;

INSERT INTO unchecked_permissions (tenant_id)
SELECT DISTINCT k.tenant_id
FROM api_keys k
JOIN json_each('["' || replace(k.permissions, ' ', '","') || '"]') p
WHERE p.value GLOB 'iam-*:*'
    OR substr(p.value, 1, instr(p.value, ':') - 1) IN (
        'domains', 'identity-providers', 'directories', 'eligibilities', 'access-requests', 'impersonations'
    )
ON CONFLICT DO NOTHING;

-- A process of the previous release still accepts these names. The rows that are there stay until the store renames them.
CREATE TRIGGER permissions_reserved_insert BEFORE INSERT ON permissions
WHEN NEW.system = 0
    AND (
        NEW.name GLOB 'iam-*:*'
        OR substr(NEW.name, 1, instr(NEW.name, ':') - 1) IN (
            'domains', 'identity-providers', 'directories', 'eligibilities', 'access-requests', 'impersonations'
        )
    )
BEGIN
    SELECT RAISE(ABORT, 'the name of the permission is reserved');
END;

CREATE TRIGGER permissions_reserved_update BEFORE UPDATE OF name, system ON permissions
WHEN NEW.system = 0
    AND (
        NEW.name GLOB 'iam-*:*'
        OR substr(NEW.name, 1, instr(NEW.name, ':') - 1) IN (
            'domains', 'identity-providers', 'directories', 'eligibilities', 'access-requests', 'impersonations'
        )
    )
BEGIN
    SELECT RAISE(ABORT, 'the name of the permission is reserved');
END;
