-- Past versions: what changes replaced or removed. They answer what was assigned at an earlier moment.

CREATE TABLE iam.past_assignments (
    tenant_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    -- The instant from which on this version did not count any more.
    until           timestamptz NOT NULL,
    user_id         uuid        NOT NULL,
    role_id         uuid        NOT NULL,
    organization_id uuid,
    expires_at      timestamptz,
    created_at      timestamptz NOT NULL,
    created_by      uuid,
    -- The instant from which on this version counted.
    since           timestamptz NOT NULL,
    CONSTRAINT past_assignments_pkey PRIMARY KEY (tenant_id, id, until),
    CONSTRAINT past_assignments_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id)
);

CREATE INDEX past_assignments_user_idx ON iam.past_assignments (tenant_id, user_id, until);
-- To count the versions of a moment without reading their rows.
CREATE INDEX past_assignments_until_idx
    ON iam.past_assignments (tenant_id, until) INCLUDE (since, expires_at, user_id, role_id, organization_id);
-- The order of the list.
CREATE INDEX past_assignments_created_idx ON iam.past_assignments (tenant_id, created_at DESC, id);

-- The instant from which on the current version counts; NULL if it is the first one, which counts from created_at on.
ALTER TABLE iam.role_assignments ADD COLUMN since timestamptz;

-- Of roles, organizations and statuses of users.
CREATE TABLE iam.past_versions (
    tenant_id uuid        NOT NULL,
    kind      text        NOT NULL,
    id        uuid        NOT NULL,
    until     timestamptz NOT NULL,
    value     json        NOT NULL,
    CONSTRAINT past_versions_pkey PRIMARY KEY (tenant_id, kind, id, until),
    CONSTRAINT past_versions_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id),
    CONSTRAINT past_versions_kind_check CHECK (kind IN ('ROLE', 'ORGANIZATION', 'STATUS'))
);

CREATE INDEX past_versions_until_idx ON iam.past_versions (tenant_id, until);

-- From which moment on the history of a tenant is complete. A tenant without a row here has all of its history.
CREATE TABLE iam.history_starts (
    tenant_id uuid        NOT NULL,
    since     timestamptz NOT NULL,
    CONSTRAINT history_starts_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT history_starts_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id)
);

-- Nothing kept the earlier versions of these tenants. Their history begins with what they have now, and an hour later:
-- until then, servers of the former release may still make changes without keeping the former versions.
INSERT INTO iam.history_starts (tenant_id, since)
SELECT id, date_trunc('milliseconds', now()) + interval '1 hour' FROM iam.tenants;
