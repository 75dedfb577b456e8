-- Access reviews: who holds which role, and whether that stays, decided one by one.

CREATE TABLE iam.access_reviews (
    tenant_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    name            text        NOT NULL,
    organization_id uuid,
    -- To which roles and users the review is restricted; empty for all. There are no foreign keys: a role may be
    -- deleted while a review names it.
    role_ids        jsonb       NOT NULL,
    user_ids        jsonb       NOT NULL,
    due_at          timestamptz NOT NULL,
    status          text        NOT NULL,
    created_at      timestamptz NOT NULL,
    created_by      uuid,
    -- When, and by which user, it was completed or cancelled.
    closed_at       timestamptz,
    closed_by       uuid,
    CONSTRAINT access_reviews_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT access_reviews_tenant_fkey FOREIGN KEY (tenant_id) REFERENCES iam.tenants (id),
    CONSTRAINT access_reviews_organization_fkey
        FOREIGN KEY (tenant_id, organization_id) REFERENCES iam.organizations (tenant_id, id),
    CONSTRAINT access_reviews_status_check CHECK (status IN ('OPEN', 'COMPLETED', 'CANCELLED')),
    CONSTRAINT access_reviews_closed_check CHECK ((status = 'OPEN') = (closed_at IS NULL))
);

CREATE INDEX access_reviews_status_idx ON iam.access_reviews (tenant_id, status, created_at DESC, id);

-- The assignments as they were when the review began. There are no foreign keys to assignments and roles: they end,
-- and the items stay.
CREATE TABLE iam.access_review_items (
    tenant_id             uuid        NOT NULL,
    review_id             uuid        NOT NULL,
    assignment_id         uuid        NOT NULL,
    user_id               uuid        NOT NULL,
    role_id               uuid        NOT NULL,
    role_name             text        NOT NULL,
    organization_id       uuid,
    organization_name     text,
    expires_at            timestamptz,
    assignment_created_at timestamptz NOT NULL,
    granted_by            uuid,
    last_login_at         timestamptz,
    decision              text,
    reason                text,
    decided_by            uuid,
    decided_at            timestamptz,
    -- What the completion made of the decision.
    outcome               text,
    CONSTRAINT access_review_items_pkey PRIMARY KEY (tenant_id, review_id, assignment_id),
    CONSTRAINT access_review_items_review_fkey
        FOREIGN KEY (tenant_id, review_id) REFERENCES iam.access_reviews (tenant_id, id),
    CONSTRAINT access_review_items_user_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES iam.users (tenant_id, id),
    CONSTRAINT access_review_items_decision_check CHECK (decision IN ('KEEP', 'REVOKE')),
    CONSTRAINT access_review_items_decided_check CHECK ((decision IS NULL) = (decided_at IS NULL)),
    CONSTRAINT access_review_items_outcome_check CHECK (outcome IN ('KEPT', 'REVOKED', 'GONE'))
);

CREATE INDEX access_review_items_decision_idx
    ON iam.access_review_items (tenant_id, review_id, decision, assignment_id);

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
        ('access-reviews:create', 'Begin access reviews.'),
        ('access-reviews:read', 'See access reviews and their items.'),
        ('access-reviews:update', 'Decide in access reviews, complete and cancel them.'),
        ('access-reviews:delete', 'Reserved.')
) p (name, description)
ON CONFLICT (tenant_id, name) DO UPDATE SET description = excluded.description, system = TRUE;
