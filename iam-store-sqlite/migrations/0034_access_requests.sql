-- Eligibilities and access requests: who may ask for a role for a time, and who has asked.

CREATE TABLE eligibilities (
    tenant_id        BLOB    NOT NULL,
    id               BLOB    NOT NULL,
    role_id          BLOB    NOT NULL,
    organization_id  BLOB,
    -- Who may ask: this user, or the holders of this role.
    user_id          BLOB,
    held_role_id     BLOB,
    max_seconds      INTEGER NOT NULL,
    approvals        INTEGER NOT NULL,
    -- The role whose holders decide. NULL for the holders of access-requests:update.
    approver_role_id BLOB,
    expires_at       INTEGER,
    created_at       INTEGER NOT NULL,
    created_by       BLOB,
    updated_at       INTEGER NOT NULL,
    version          INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT eligibilities_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT eligibilities_role_fkey FOREIGN KEY (tenant_id, role_id) REFERENCES roles (tenant_id, id),
    CONSTRAINT eligibilities_organization_fkey
        FOREIGN KEY (tenant_id, organization_id) REFERENCES organizations (tenant_id, id),
    CONSTRAINT eligibilities_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id),
    CONSTRAINT eligibilities_held_role_fkey FOREIGN KEY (tenant_id, held_role_id) REFERENCES roles (tenant_id, id),
    CONSTRAINT eligibilities_approver_role_fkey
        FOREIGN KEY (tenant_id, approver_role_id) REFERENCES roles (tenant_id, id),
    CONSTRAINT eligibilities_eligible_check CHECK ((user_id IS NULL) <> (held_role_id IS NULL)),
    CONSTRAINT eligibilities_seconds_check CHECK (max_seconds BETWEEN 300 AND 2592000),
    CONSTRAINT eligibilities_approvals_check CHECK (approvals BETWEEN 0 AND 2)
) STRICT;

-- The order of the list.
CREATE INDEX eligibilities_created_idx ON eligibilities (tenant_id, created_at DESC, id);
-- To find those of a user and of the roles that it holds, and those about which the holders of a role decide.
CREATE INDEX eligibilities_user_idx ON eligibilities (tenant_id, user_id);
CREATE INDEX eligibilities_held_role_idx ON eligibilities (tenant_id, held_role_id);
CREATE INDEX eligibilities_approver_role_idx ON eligibilities (tenant_id, approver_role_id);

CREATE TABLE access_requests (
    tenant_id        BLOB    NOT NULL,
    id               BLOB    NOT NULL,
    -- What the eligibility said when the user asked. There are no foreign keys to eligibilities, roles and assignments:
    -- they end, and the requests stay.
    eligibility_id   BLOB    NOT NULL,
    role_id          BLOB    NOT NULL,
    role_name        TEXT    NOT NULL,
    organization_id  BLOB,
    requested_by     BLOB    NOT NULL,
    reason           TEXT    NOT NULL,
    ticket           TEXT,
    seconds          INTEGER NOT NULL,
    approvals_needed INTEGER NOT NULL,
    approver_role_id BLOB,
    -- The decisions, oldest first.
    decisions        TEXT    NOT NULL,
    -- A request that has lapsed stays PENDING or APPROVED, and one that has ended stays ACTIVE, until the service
    -- writes that.
    status           TEXT    NOT NULL,
    assignment_id    BLOB,
    starts_at        INTEGER,
    ends_at          INTEGER,
    lapses_at        INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    closed_at        INTEGER,
    closed_by        BLOB,
    -- Why it was closed: by the user who closed it, or by the service, which cancels requests that cannot begin.
    close_reason     TEXT,
    cancel_cause     TEXT,
    version          INTEGER NOT NULL DEFAULT 1,
    -- When the status is to change by itself: it lapses, begins or ends.
    due_at           INTEGER GENERATED ALWAYS AS (
        CASE status WHEN 'PENDING' THEN lapses_at WHEN 'APPROVED' THEN starts_at WHEN 'ACTIVE' THEN ends_at END
    ),
    CONSTRAINT access_requests_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT access_requests_organization_fkey
        FOREIGN KEY (tenant_id, organization_id) REFERENCES organizations (tenant_id, id),
    CONSTRAINT access_requests_requester_fkey FOREIGN KEY (tenant_id, requested_by) REFERENCES users (tenant_id, id),
    CONSTRAINT access_requests_seconds_check CHECK (seconds BETWEEN 60 AND 2592000),
    CONSTRAINT access_requests_approvals_check CHECK (approvals_needed BETWEEN 0 AND 2),
    CONSTRAINT access_requests_status_check
        CHECK (status IN ('PENDING', 'APPROVED', 'ACTIVE', 'ENDED', 'DENIED', 'CANCELLED', 'LAPSED')),
    CONSTRAINT access_requests_closed_check
        CHECK ((status IN ('PENDING', 'APPROVED', 'ACTIVE')) = (closed_at IS NULL)),
    CONSTRAINT access_requests_times_check
        CHECK (status NOT IN ('APPROVED', 'ACTIVE') OR (starts_at IS NOT NULL AND ends_at IS NOT NULL)),
    CONSTRAINT access_requests_assignment_check CHECK (status <> 'ACTIVE' OR assignment_id IS NOT NULL)
) STRICT;

-- The order of the list, for all requests, for each filter, and for each part of what a caller sees.
CREATE INDEX access_requests_created_idx ON access_requests (tenant_id, created_at DESC, id);
CREATE INDEX access_requests_status_idx ON access_requests (tenant_id, status, created_at DESC, id);
CREATE INDEX access_requests_requester_idx ON access_requests (tenant_id, requested_by, created_at DESC, id);
CREATE INDEX access_requests_role_idx ON access_requests (tenant_id, role_id, created_at DESC, id);
CREATE INDEX access_requests_organization_idx ON access_requests (tenant_id, organization_id, created_at DESC, id);
CREATE INDEX access_requests_approver_idx ON access_requests (tenant_id, approver_role_id, created_at DESC, id);
-- To decide. The requests that wait for a decision are few.
CREATE INDEX access_requests_pending_idx ON access_requests (tenant_id, approver_role_id, organization_id)
    WHERE status = 'PENDING';
-- The sweeper searches in all tenants, and then in each one of them.
CREATE INDEX access_requests_due_idx ON access_requests (due_at, tenant_id) WHERE due_at IS NOT NULL;
CREATE INDEX access_requests_tenant_due_idx ON access_requests (tenant_id, due_at, id) WHERE due_at IS NOT NULL;

-- The request with whose elevation the assignment ends. There is no foreign key: the closed requests of a user are
-- removed when they become too many, and past assignments name them.
ALTER TABLE role_assignments ADD COLUMN access_request_id BLOB CONSTRAINT role_assignments_elevation_check CHECK (
    access_request_id IS NULL OR expires_at IS NOT NULL
);
ALTER TABLE past_assignments ADD COLUMN access_request_id BLOB;

CREATE INDEX role_assignments_access_request_idx ON role_assignments (tenant_id, access_request_id)
    WHERE access_request_id IS NOT NULL;

-- An item of a review is about an assignment or about an eligibility, whose identifier is in the column assignment_id.
-- An eligibility of the holders of a role has no user. The previous release writes items of assignments alone.
-- The table is made again, because SQLite cannot make a column nullable.
CREATE TABLE new_access_review_items (
    tenant_id             BLOB    NOT NULL,
    review_id             BLOB    NOT NULL,
    assignment_id         BLOB    NOT NULL,
    user_id               BLOB,
    role_id               BLOB    NOT NULL,
    role_name             TEXT    NOT NULL,
    organization_id       BLOB,
    organization_name     TEXT,
    expires_at            INTEGER,
    assignment_created_at INTEGER NOT NULL,
    granted_by            BLOB,
    last_login_at         INTEGER,
    decision              TEXT,
    reason                TEXT,
    decided_by            BLOB,
    decided_at            INTEGER,
    -- What the completion made of the decision.
    outcome               TEXT,
    directory_group_id    BLOB,
    kind                  TEXT    NOT NULL DEFAULT 'ASSIGNMENT',
    held_role_id          BLOB,
    CONSTRAINT access_review_items_pkey PRIMARY KEY (tenant_id, review_id, assignment_id),
    CONSTRAINT access_review_items_review_fkey
        FOREIGN KEY (tenant_id, review_id) REFERENCES access_reviews (tenant_id, id),
    CONSTRAINT access_review_items_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id),
    CONSTRAINT access_review_items_decision_check CHECK (decision IN ('KEEP', 'REVOKE')),
    CONSTRAINT access_review_items_decided_check CHECK ((decision IS NULL) = (decided_at IS NULL)),
    CONSTRAINT access_review_items_outcome_check CHECK (outcome IN ('KEPT', 'REVOKED', 'GONE')),
    CONSTRAINT access_review_items_subject_check CHECK (
        (kind = 'ASSIGNMENT' AND user_id IS NOT NULL AND held_role_id IS NULL)
        OR (kind = 'ELIGIBILITY' AND (user_id IS NULL) <> (held_role_id IS NULL))
    )
) STRICT;

INSERT INTO new_access_review_items (
    tenant_id, review_id, assignment_id, user_id, role_id, role_name, organization_id, organization_name, expires_at,
    assignment_created_at, granted_by, last_login_at, decision, reason, decided_by, decided_at, outcome,
    directory_group_id
)
SELECT
    tenant_id, review_id, assignment_id, user_id, role_id, role_name, organization_id, organization_name, expires_at,
    assignment_created_at, granted_by, last_login_at, decision, reason, decided_by, decided_at, outcome,
    directory_group_id
FROM access_review_items;

DROP TABLE access_review_items;
ALTER TABLE new_access_review_items RENAME TO access_review_items;

CREATE INDEX access_review_items_decision_idx
    ON access_review_items (tenant_id, review_id, decision, assignment_id);

-- Statistics for the planner. Without them, it expects that a value of each index has ten rows.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('eligibilities', 'sqlite_autoindex_eligibilities_1', '10000 100 1'),
    ('eligibilities', 'eligibilities_created_idx', '10000 100 2 1'),
    ('eligibilities', 'eligibilities_user_idx', '10000 100 5'),
    ('eligibilities', 'eligibilities_held_role_idx', '10000 100 5'),
    ('eligibilities', 'eligibilities_approver_role_idx', '10000 100 5'),
    ('access_requests', 'sqlite_autoindex_access_requests_1', '1000000 10000 1'),
    ('access_requests', 'access_requests_created_idx', '1000000 10000 2 1'),
    ('access_requests', 'access_requests_status_idx', '1000000 10000 2000 2 1'),
    ('access_requests', 'access_requests_requester_idx', '1000000 10000 20 2 1'),
    ('access_requests', 'access_requests_role_idx', '1000000 10000 500 2 1'),
    ('access_requests', 'access_requests_organization_idx', '1000000 10000 500 2 1'),
    ('access_requests', 'access_requests_approver_idx', '1000000 10000 500 2 1'),
    ('access_requests', 'access_requests_pending_idx', '10000 100 50 10'),
    ('access_requests', 'access_requests_due_idx', '20000 1 1'),
    ('access_requests', 'access_requests_tenant_due_idx', '20000 200 1 1'),
    ('role_assignments', 'role_assignments_access_request_idx', '20000 200 1');
ANALYZE sqlite_schema;

-- The catalogues of the tenants that exist already. An application may have registered one of these permissions.
INSERT INTO permissions (tenant_id, id, name, description, system, created_at)
SELECT
    t.id,
    -- A UUID of version 7: the time of the tenant's identifier, and random bits.
    CAST(substr(t.id, 1, 6) || x'7000' || x'80' || randomblob(7) AS BLOB),
    p.column1,
    p.column2,
    1,
    t.created_at
FROM tenants t
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
) p
WHERE TRUE
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = 1;
