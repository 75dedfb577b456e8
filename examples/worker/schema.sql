-- The database of the billing, which is another one than IAM's.

CREATE TABLE IF NOT EXISTS invoices (
    number TEXT PRIMARY KEY,
    tenant_id BLOB NOT NULL,
    due_on TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'OPEN'
) STRICT;

-- The place in each tenant's audit log from which on nothing has been forwarded.
CREATE TABLE IF NOT EXISTS positions (
    tenant_id BLOB PRIMARY KEY,
    next INTEGER NOT NULL
) STRICT;
