-- What manifests have made: a manifest that does not name one of these any more may remove it. The items are of several
-- tables, so there are no foreign keys. The next manifest forgets those that are gone.

CREATE TABLE manifest_items (
    tenant_id BLOB NOT NULL,
    item_id   BLOB NOT NULL,
    CONSTRAINT manifest_items_pkey PRIMARY KEY (tenant_id, item_id),
    CONSTRAINT manifest_items_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;
