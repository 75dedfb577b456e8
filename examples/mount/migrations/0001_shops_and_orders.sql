-- No foreign keys to tables of IAM: they are its own, and may change with its migrations.

CREATE TABLE shops (
    tenant_id BLOB PRIMARY KEY,
    vat_number TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    tenant_id BLOB NOT NULL REFERENCES shops,
    branch BLOB, -- an organization of the tenant
    cents INTEGER NOT NULL,
    refunded INTEGER NOT NULL DEFAULT FALSE
) STRICT;

CREATE INDEX orders_tenant_idx ON orders (tenant_id, id);
