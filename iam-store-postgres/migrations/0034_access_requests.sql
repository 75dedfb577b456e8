-- Eligibilities and access requests: who may ask for a role for a time, and who has asked.

CREATE TABLE iam.eligibilities (
    tenant_id        uuid        NOT NULL,
    id               uuid        NOT NULL,
    role_id          uuid        NOT NULL,
    organization_id  uuid,
    -- Who may ask: this user, or the holders of this role.
    user_id          uuid,
    held_role_id     uuid,
    max_seconds      bigint      NOT NULL,
    approvals        bigint      NOT NULL,
    -- The role whose holders decide. NULL for the holders of access-requests:update.
    approver_role_id uuid,
    expires_at       timestamptz,
    created_at       timestamptz NOT NULL,
    created_by       uuid,
    updated_at       timestamptz NOT NULL,
    version          bigint      NOT NULL DEFAULT 1,
    CONSTRAINT eligibilities_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT eligibilities_role_fkey FOREIGN KEY (tenant_id, role_id) REFERENCES iam.roles (tenant_id, id),
    CONSTRAINT eligibilities_organization_fkey
        FOREIGN KEY (tenant_id, organization_id) REFERENCES iam.organizations (tenant_id, id),
    CONSTRAINT eligibilities_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id),
    CONSTRAINT eligibilities_held_role_fkey FOREIGN KEY (tenant_id, held_role_id) REFERENCES iam.roles (tenant_id, id),
    CONSTRAINT eligibilities_approver_role_fkey
        FOREIGN KEY (tenant_id, approver_role_id) REFERENCES iam.roles (tenant_id, id),
    CONSTRAINT eligibilities_eligible_check CHECK (num_nulls(user_id, held_role_id) = 1),
    CONSTRAINT eligibilities_seconds_check CHECK (max_seconds BETWEEN 300 AND 2592000),
    CONSTRAINT eligibilities_approvals_check CHECK (approvals BETWEEN 0 AND 2)
);

-- The order of the list.
CREATE INDEX eligibilities_created_idx ON iam.eligibilities (tenant_id, created_at DESC, id);
-- To find those of a user and of the roles that it holds, and those about which the holders of a role decide.
CREATE INDEX eligibilities_user_idx ON iam.eligibilities (tenant_id, user_id);
CREATE INDEX eligibilities_held_role_idx ON iam.eligibilities (tenant_id, held_role_id);
CREATE INDEX eligibilities_approver_role_idx ON iam.eligibilities (tenant_id, approver_role_id);

CREATE TABLE iam.access_requests (
    tenant_id        uuid        NOT NULL,
    id               uuid        NOT NULL,
    -- What the eligibility said when the user asked. There are no foreign keys to eligibilities, roles and assignments:
    -- they end, and the requests stay.
    eligibility_id   uuid        NOT NULL,
    role_id          uuid        NOT NULL,
    role_name        text        NOT NULL,
    organization_id  uuid,
    requested_by     uuid        NOT NULL,
    reason           text        NOT NULL,
    ticket           text,
    seconds          bigint      NOT NULL,
    approvals_needed bigint      NOT NULL,
    approver_role_id uuid,
    -- The decisions, oldest first.
    decisions        jsonb       NOT NULL,
    -- A request that has lapsed stays PENDING or APPROVED, and one that has ended stays ACTIVE, until the service
    -- writes that.
    status           text        NOT NULL,
    assignment_id    uuid,
    starts_at        timestamptz,
    ends_at          timestamptz,
    lapses_at        timestamptz NOT NULL,
    created_at       timestamptz NOT NULL,
    closed_at        timestamptz,
    closed_by        uuid,
    -- Why it was closed: by the user who closed it, or by the service, which cancels requests that cannot begin.
    close_reason     text,
    cancel_cause     text,
    version          bigint      NOT NULL DEFAULT 1,
    -- When the status is to change by itself: it lapses, begins or ends.
    due_at           timestamptz GENERATED ALWAYS AS (
        CASE status WHEN 'PENDING' THEN lapses_at WHEN 'APPROVED' THEN starts_at WHEN 'ACTIVE' THEN ends_at END
    ) STORED,
    CONSTRAINT access_requests_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT access_requests_organization_fkey
        FOREIGN KEY (tenant_id, organization_id) REFERENCES iam.organizations (tenant_id, id),
    CONSTRAINT access_requests_requester_fkey
        FOREIGN KEY (tenant_id, requested_by) REFERENCES iam.users (tenant_id, id),
    CONSTRAINT access_requests_seconds_check CHECK (seconds BETWEEN 60 AND 2592000),
    CONSTRAINT access_requests_approvals_check CHECK (approvals_needed BETWEEN 0 AND 2),
    CONSTRAINT access_requests_status_check
        CHECK (status IN ('PENDING', 'APPROVED', 'ACTIVE', 'ENDED', 'DENIED', 'CANCELLED', 'LAPSED')),
    CONSTRAINT access_requests_closed_check
        CHECK ((status IN ('PENDING', 'APPROVED', 'ACTIVE')) = (closed_at IS NULL)),
    CONSTRAINT access_requests_times_check
        CHECK (status NOT IN ('APPROVED', 'ACTIVE') OR num_nulls(starts_at, ends_at) = 0),
    CONSTRAINT access_requests_assignment_check CHECK (status <> 'ACTIVE' OR assignment_id IS NOT NULL)
);

-- The order of the list, for all requests, for each filter, and for each part of what a caller sees.
CREATE INDEX access_requests_created_idx ON iam.access_requests (tenant_id, created_at DESC, id);
CREATE INDEX access_requests_status_idx ON iam.access_requests (tenant_id, status, created_at DESC, id);
CREATE INDEX access_requests_requester_idx ON iam.access_requests (tenant_id, requested_by, created_at DESC, id);
CREATE INDEX access_requests_role_idx ON iam.access_requests (tenant_id, role_id, created_at DESC, id);
CREATE INDEX access_requests_organization_idx ON iam.access_requests (tenant_id, organization_id, created_at DESC, id);
CREATE INDEX access_requests_approver_idx ON iam.access_requests (tenant_id, approver_role_id, created_at DESC, id);
-- To decide. The requests that wait for a decision are few.
CREATE INDEX access_requests_pending_idx ON iam.access_requests (tenant_id, approver_role_id, organization_id)
    WHERE status = 'PENDING';
-- The sweeper searches in all tenants, and then in each one of them.
CREATE INDEX access_requests_due_idx ON iam.access_requests (due_at, tenant_id) WHERE due_at IS NOT NULL;
CREATE INDEX access_requests_tenant_due_idx ON iam.access_requests (tenant_id, due_at, id) WHERE due_at IS NOT NULL;

-- The request with whose elevation the assignment ends. There is no foreign key: the closed requests of a user are
-- removed when they become too many, and past assignments name them.
ALTER TABLE iam.role_assignments ADD COLUMN access_request_id uuid;
-- A statement of its own: Citus adds no column together with a constraint. No assignment has a request yet, so none is
-- checked.
ALTER TABLE iam.role_assignments ADD CONSTRAINT role_assignments_elevation_check
    CHECK (access_request_id IS NULL OR expires_at IS NOT NULL) NOT VALID;
ALTER TABLE iam.past_assignments ADD COLUMN access_request_id uuid;

CREATE INDEX role_assignments_access_request_idx ON iam.role_assignments (tenant_id, access_request_id)
    WHERE access_request_id IS NOT NULL;

-- An item of a review is about an assignment or about an eligibility, whose identifier is in the column assignment_id.
-- An eligibility of the holders of a role has no user. The previous release writes items of assignments alone.
ALTER TABLE iam.access_review_items ADD COLUMN kind text NOT NULL DEFAULT 'ASSIGNMENT';
ALTER TABLE iam.access_review_items ADD COLUMN held_role_id uuid;
ALTER TABLE iam.access_review_items ALTER COLUMN user_id DROP NOT NULL;
ALTER TABLE iam.access_review_items ADD CONSTRAINT access_review_items_subject_check CHECK (
    (kind = 'ASSIGNMENT' AND user_id IS NOT NULL AND held_role_id IS NULL)
    OR (kind = 'ELIGIBILITY' AND num_nulls(user_id, held_role_id) = 1)
);

-- The catalogues of the tenants that exist already. An application may have registered one of these permissions.
INSERT INTO iam.permissions (tenant_id, id, name, description, system, created_at)
SELECT
    t.id,
    -- A UUID of version 7: the time of the tenant's identifier, and random bits.
    encode(
        substring(uuid_send(t.id) FROM 1 FOR 6)
            || set_bit(set_bit(substring(uuid_send(gen_random_uuid()) FROM 7), 4, 1), 5, 1),
        'hex'
    )::uuid,
    p.name,
    p.description,
    TRUE,
    t.created_at
FROM iam.tenants t
CROSS JOIN (
    VALUES
        ('eligibilities:create', 'Let users ask for roles, with all permissions of these oneself.'),
        ('eligibilities:read', 'See who may ask for which role.'),
        ('eligibilities:update', 'Change who may ask for roles for how long, and who decides.'),
        ('eligibilities:delete', 'Remove the right of users to ask for roles.'),
        ('access-requests:create', 'Reserved: users ask by eligibilities.'),
        ('access-requests:read', 'See the access requests of other users.'),
        ('access-requests:update', 'Decide about the access requests of other users, and cancel them.'),
        ('access-requests:delete', 'Reserved.')
) p (name, description)
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = TRUE;
