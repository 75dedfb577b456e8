-- Past versions: what changes replaced or removed. They answer what was assigned at an earlier moment.

CREATE TABLE past_assignments (
    tenant_id       BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    -- The instant from which on this version did not count any more.
    until           INTEGER NOT NULL,
    user_id         BLOB    NOT NULL,
    role_id         BLOB    NOT NULL,
    organization_id BLOB,
    expires_at      INTEGER,
    created_at      INTEGER NOT NULL,
    created_by      BLOB,
    -- The instant from which on this version counted.
    since           INTEGER NOT NULL,
    CONSTRAINT past_assignments_pkey PRIMARY KEY (tenant_id, id, until),
    CONSTRAINT past_assignments_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;

CREATE INDEX past_assignments_user_idx ON past_assignments (tenant_id, user_id, until);
-- To count the versions of a moment without reading their rows.
CREATE INDEX past_assignments_until_idx
    ON past_assignments (tenant_id, until, since, expires_at, user_id, role_id, organization_id);
-- The order of the list.
CREATE INDEX past_assignments_created_idx ON past_assignments (tenant_id, created_at DESC, id);

-- The instant from which on the current version counts; NULL if it is the first one, which counts from created_at on.
ALTER TABLE role_assignments ADD COLUMN since INTEGER;

-- Of roles, organizations and statuses of users.
CREATE TABLE past_versions (
    tenant_id BLOB    NOT NULL,
    kind      TEXT    NOT NULL,
    id        BLOB    NOT NULL,
    until     INTEGER NOT NULL,
    value     TEXT    NOT NULL,
    CONSTRAINT past_versions_pkey PRIMARY KEY (tenant_id, kind, id, until),
    CONSTRAINT past_versions_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT past_versions_kind_check CHECK (kind IN ('ROLE', 'ORGANIZATION', 'STATUS'))
) STRICT;

CREATE INDEX past_versions_until_idx ON past_versions (tenant_id, until);

-- From which moment on the history of a tenant is complete. A tenant without a row here has all of its history.
CREATE TABLE history_starts (
    tenant_id BLOB    NOT NULL,
    since     INTEGER NOT NULL,
    CONSTRAINT history_starts_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT history_starts_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;

-- Nothing kept the earlier versions of these tenants. Their history begins with what they have now.
INSERT INTO history_starts (tenant_id, since)
SELECT id, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM tenants;
