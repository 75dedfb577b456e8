-- Attributes of users and organizations. They are not columns of these tables: most reads of a user need none of up to
-- 16 KiB. An owner is a user or an organization, so there are no foreign keys to these; neither is ever deleted.

-- What a tenant defines, as lists of JSON.
ALTER TABLE tenants ADD COLUMN user_attributes TEXT NOT NULL DEFAULT '[]';
ALTER TABLE tenants ADD COLUMN organization_attributes TEXT NOT NULL DEFAULT '[]';
ALTER TABLE tenants ADD COLUMN unregistered_attributes TEXT NOT NULL DEFAULT 'ALLOWED'
    CONSTRAINT tenants_unregistered_attributes_check CHECK (unregistered_attributes IN ('ALLOWED', 'REFUSED'));

-- The servers keep it.
CREATE TRIGGER tenants_tell_attributes
AFTER UPDATE OF user_attributes, organization_attributes, unregistered_attributes ON tenants
WHEN NEW.user_attributes IS NOT OLD.user_attributes
    OR NEW.organization_attributes IS NOT OLD.organization_attributes
    OR NEW.unregistered_attributes IS NOT OLD.unregistered_attributes
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

-- An owner without attributes has no row.
CREATE TABLE attributes (
    tenant_id  BLOB NOT NULL,
    owner_id   BLOB NOT NULL,
    -- A JSON object with sorted keys. A text, so that every store answers the same numbers.
    attributes TEXT NOT NULL,
    CONSTRAINT attributes_pkey PRIMARY KEY (tenant_id, owner_id),
    CONSTRAINT attributes_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;

-- The values by which owners are found: all texts, numbers and truth values, whether or not the tenant has made their
-- key searchable. So another definition needs no change here.
CREATE TABLE attribute_values (
    tenant_id BLOB NOT NULL,
    owner_id  BLOB NOT NULL,
    key       TEXT NOT NULL,
    -- The type and the text of the value.
    value     TEXT NOT NULL,
    CONSTRAINT attribute_values_pkey PRIMARY KEY (tenant_id, owner_id, key),
    CONSTRAINT attribute_values_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;

CREATE INDEX attribute_values_value_idx ON attribute_values (tenant_id, key, value, owner_id);
