-- Access reviews: who holds which role, and whether that stays, decided one by one.

CREATE TABLE access_reviews (
    tenant_id       BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    organization_id BLOB,
    -- To which roles and users the review is restricted; empty for all. There are no foreign keys: a role may be
    -- deleted while a review names it.
    role_ids        TEXT    NOT NULL,
    user_ids        TEXT    NOT NULL,
    due_at          INTEGER NOT NULL,
    status          TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    created_by      BLOB,
    -- When, and by which user, it was completed or cancelled.
    closed_at       INTEGER,
    closed_by       BLOB,
    CONSTRAINT access_reviews_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT access_reviews_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT access_reviews_organization_fkey
        FOREIGN KEY (tenant_id, organization_id) REFERENCES organizations (tenant_id, id),
    CONSTRAINT access_reviews_status_check CHECK (status IN ('OPEN', 'COMPLETED', 'CANCELLED')),
    CONSTRAINT access_reviews_closed_check CHECK ((status = 'OPEN') = (closed_at IS NULL))
) STRICT;

CREATE INDEX access_reviews_status_idx ON access_reviews (tenant_id, status, created_at DESC, id);

-- The assignments as they were when the review began. There are no foreign keys to assignments and roles: they end,
-- and the items stay.
CREATE TABLE access_review_items (
    tenant_id             BLOB    NOT NULL,
    review_id             BLOB    NOT NULL,
    assignment_id         BLOB    NOT NULL,
    user_id               BLOB    NOT NULL,
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
    CONSTRAINT access_review_items_pkey PRIMARY KEY (tenant_id, review_id, assignment_id),
    CONSTRAINT access_review_items_review_fkey
        FOREIGN KEY (tenant_id, review_id) REFERENCES access_reviews (tenant_id, id),
    CONSTRAINT access_review_items_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id),
    CONSTRAINT access_review_items_decision_check CHECK (decision IN ('KEEP', 'REVOKE')),
    CONSTRAINT access_review_items_decided_check CHECK ((decision IS NULL) = (decided_at IS NULL)),
    CONSTRAINT access_review_items_outcome_check CHECK (outcome IN ('KEPT', 'REVOKED', 'GONE'))
) STRICT;

CREATE INDEX access_review_items_decision_idx
    ON access_review_items (tenant_id, review_id, decision, assignment_id);

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
        ('access-reviews:create', 'Begin access reviews.'),
        ('access-reviews:read', 'See access reviews and their items.'),
        ('access-reviews:update', 'Decide in access reviews, complete and cancel them.'),
        ('access-reviews:delete', 'Reserved.')
) p
WHERE TRUE
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = 1;
