-- The database of the billing. It is separate from IAM's database.

CREATE TABLE IF NOT EXISTS invoices (
    number TEXT PRIMARY KEY,
    tenant_id BLOB NOT NULL,
    due_on TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'OPEN'
) STRICT;

-- For each tenant's audit log, the first sequence number that has not been forwarded.
CREATE TABLE IF NOT EXISTS positions (
    tenant_id BLOB PRIMARY KEY,
    next INTEGER NOT NULL
) STRICT;
