-- Attributes of users and organizations. They are not columns of these tables: most reads of a user need none of up to
-- 16 KiB. An owner is a user or an organization, so there are no foreign keys to these; neither is ever deleted.

-- What a tenant defines, as lists of JSON.
ALTER TABLE iam.tenants ADD COLUMN user_attributes text NOT NULL DEFAULT '[]';
ALTER TABLE iam.tenants ADD COLUMN organization_attributes text NOT NULL DEFAULT '[]';
ALTER TABLE iam.tenants ADD COLUMN unregistered_attributes text NOT NULL DEFAULT 'ALLOWED'
    CONSTRAINT tenants_unregistered_attributes_check CHECK (unregistered_attributes IN ('ALLOWED', 'REFUSED'));

-- The servers keep it.
CREATE TRIGGER tenants_tell_attributes
    AFTER UPDATE OF user_attributes, organization_attributes, unregistered_attributes ON iam.tenants
    FOR EACH ROW WHEN (
        (NEW.user_attributes, NEW.organization_attributes, NEW.unregistered_attributes)
            IS DISTINCT FROM (OLD.user_attributes, OLD.organization_attributes, OLD.unregistered_attributes)
    )
    EXECUTE FUNCTION iam.tell_change();

-- An owner without attributes has no row.
CREATE TABLE iam.attributes (
    tenant_id  uuid NOT NULL,
    owner_id   uuid NOT NULL,
    -- A JSON object with sorted keys. A text, so that every store answers the same numbers.
    attributes text NOT NULL,
    CONSTRAINT attributes_pkey PRIMARY KEY (tenant_id, owner_id),
    CONSTRAINT attributes_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id)
);

-- The values by which owners are found: all texts, numbers and truth values, whether or not the tenant has made their
-- key searchable. So another definition needs no change here.
CREATE TABLE iam.attribute_values (
    tenant_id uuid NOT NULL,
    owner_id  uuid NOT NULL,
    key       text COLLATE "C" NOT NULL,
    -- The type and the text of the value.
    value     text COLLATE "C" NOT NULL,
    CONSTRAINT attribute_values_pkey PRIMARY KEY (tenant_id, owner_id, key),
    CONSTRAINT attribute_values_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id)
);

CREATE INDEX attribute_values_value_idx ON iam.attribute_values (tenant_id, key, value, owner_id);
