-- Enough data for realistic plans: a tenant with four thousand users, ten tenants with four hundred users each, five
-- thousand tenants with one user, and their other rows. No row has expired, so that nothing is swept.

CREATE FUNCTION pg_temp.id(kind integer, number bigint) RETURNS uuid LANGUAGE sql AS $$
    SELECT ('0000000' || kind || '-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid
$$;

INSERT INTO iam.tenants
SELECT pg_temp.id(1, n), 'Tenant ' || n, 'beside-' || n, 'ACTIVE', now(), now()
FROM generate_series(0, 5010) n;

INSERT INTO iam.users
SELECT
    pg_temp.id(1, CASE WHEN n < 4000 THEN 0 WHEN n < 8000 THEN (n - 4000) / 400 + 1 ELSE n - 7989 END),
    pg_temp.id(2, n),
    'user' || n || '@example.com',
    'user' || n || '@example.com',
    'First' || n % 500,
    'first' || n % 500,
    'Last' || n % 5000,
    'last' || n % 5000,
    CASE n % 100 WHEN 0 THEN 'SUSPENDED' WHEN 1 THEN 'INACTIVE' ELSE 'ACTIVE' END,
    CASE WHEN n % 10 > 0 THEN '2026-01-01'::timestamptz + n * interval '7 s' END,
    '2026-01-01'::timestamptz + n * interval '1 s',
    '2026-01-01'::timestamptz + n * interval '3 s'
FROM generate_series(0, 12999) n;

INSERT INTO iam.credentials SELECT tenant_id, id, 'hash' FROM iam.users;

INSERT INTO iam.login_attempts SELECT tenant_id, email_key, ARRAY['2100-01-01'::timestamptz], NULL FROM iam.users;

INSERT INTO iam.sessions
SELECT
    u.tenant_id,
    pg_temp.id(3, row_number() OVER ()),
    u.id,
    NULL,
    NULL,
    now(),
    now(),
    '2100-01-01',
    sha256(''),
    sha256(''),
    NULL,
    NULL,
    NULL
FROM iam.users u;

INSERT INTO iam.organizations
SELECT
    pg_temp.id(1, n % 21),
    pg_temp.id(4, n),
    'Organization ' || n,
    'organization ' || n,
    'organization-' || n,
    'ACTIVE',
    CASE WHEN n >= 210 THEN pg_temp.id(4, n / 210 * 21 + n % 21 - 21) END,
    now(),
    now()
FROM generate_series(0, 4199) n;

INSERT INTO iam.permissions
SELECT pg_temp.id(1, n % 21), pg_temp.id(5, n), 'orders:act-' || n, '', false, now()
FROM generate_series(0, 2099) n;

INSERT INTO iam.roles
SELECT pg_temp.id(1, n % 21), pg_temp.id(6, n), 'ROLE_' || n, '', 'ANY', false, now(), now()
FROM generate_series(0, 2099) n;

INSERT INTO iam.manifest_items SELECT tenant_id, id FROM iam.permissions UNION ALL SELECT tenant_id, id FROM iam.roles;

INSERT INTO iam.attributes SELECT tenant_id, id, '{"costCentre":"4711"}' FROM iam.organizations;

INSERT INTO iam.attribute_values SELECT tenant_id, id, 'costCentre', 's:' || id FROM iam.organizations;

INSERT INTO iam.role_permissions
SELECT r.tenant_id, r.id, 'orders:act-' || n
FROM iam.roles r
CROSS JOIN generate_series(0, 3) n;

INSERT INTO iam.role_assignments
SELECT
    u.tenant_id,
    pg_temp.id(7, row_number() OVER ()),
    u.id,
    r.id,
    o.id,
    CASE WHEN random() < 0.1 THEN '2100-01-01'::timestamptz END,
    u.created_at,
    NULL
FROM iam.users u
CROSS JOIN LATERAL (SELECT ('x' || right(u.id::text, 6))::bit(24)::integer AS number) n
JOIN iam.roles r
    ON r.tenant_id = u.tenant_id
    AND r.id = pg_temp.id(6, (n.number % 100) * 21 + ('x' || right(u.tenant_id::text, 6))::bit(24)::integer)
JOIN iam.organizations o
    ON o.tenant_id = u.tenant_id
    AND o.id = pg_temp.id(4, (n.number % 200) * 21 + ('x' || right(u.tenant_id::text, 6))::bit(24)::integer);

-- A user has its home where it has its first role.
UPDATE iam.users u
SET external_id = u.id::text, home_organization_id = (
    SELECT a.organization_id
    FROM iam.role_assignments a
    WHERE a.tenant_id = u.tenant_id AND a.user_id = u.id
    ORDER BY a.id
    LIMIT 1
);

INSERT INTO iam.idempotency_records
SELECT tenant_id, sha256(uuid_send(id)), sha256(uuid_send(id)), '{}', '2100-01-01' FROM iam.users;

INSERT INTO iam.invitations
SELECT tenant_id, id, 'invited-' || email, 'invited-' || email_key, NULL, NULL, '[]', 'PENDING', NULL, '2100-01-01', now()
FROM iam.users;

INSERT INTO iam.past_assignments
SELECT
    tenant_id, id, now() - n * interval '1 day', user_id, role_id, organization_id, expires_at, created_at, created_by,
    created_at
FROM iam.role_assignments
CROSS JOIN generate_series(1, 3) n;

INSERT INTO iam.past_versions
SELECT tenant_id, past.kind, id, now() - interval '1 day', '{"status": "ACTIVE"}'
FROM iam.users
CROSS JOIN unnest(ARRAY['ROLE', 'ORGANIZATION', 'STATUS']) past (kind);

INSERT INTO iam.history_starts
SELECT id, now()
FROM iam.tenants;

INSERT INTO iam.access_reviews (
    tenant_id, id, name, role_ids, user_ids, due_at, status, created_at, closed_at
)
SELECT
    tenant_id,
    id,
    'Review',
    '[]',
    '[]',
    '2100-01-01',
    CASE status WHEN 'ACTIVE' THEN 'OPEN' ELSE 'COMPLETED' END,
    created_at,
    CASE status WHEN 'ACTIVE' THEN NULL ELSE now() END
FROM iam.users;

INSERT INTO iam.access_review_items (
    tenant_id,
    review_id,
    assignment_id,
    user_id,
    role_id,
    role_name,
    assignment_created_at,
    decision,
    decided_at
)
SELECT
    tenant_id,
    id,
    pg_temp.id(5, n),
    id,
    pg_temp.id(3, 0),
    'ROLE',
    now(),
    (ARRAY['KEEP', 'REVOKE', NULL])[n],
    (ARRAY[now(), now(), NULL])[n]
FROM iam.users
CROSS JOIN generate_series(1, 3) n;

-- A tenant has as many eligibilities as it may have, of the holders of a role or of a user.
INSERT INTO iam.eligibilities (
    tenant_id, id, role_id, organization_id, user_id, held_role_id, max_seconds, approvals, approver_role_id,
    created_at, updated_at
)
SELECT
    a.tenant_id,
    ('00000008' || substring(a.id::text FROM 9))::uuid,
    a.role_id,
    a.organization_id,
    CASE a.n % 2 WHEN 0 THEN a.user_id END,
    CASE a.n % 2 WHEN 1 THEN a.role_id END,
    28800,
    1,
    CASE a.n % 4 WHEN 1 THEN a.role_id END,
    a.created_at,
    a.created_at
FROM (SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY id) AS n FROM iam.role_assignments) a
WHERE a.n <= 1000;

-- Each user has asked often, and one of its requests waits for a decision.
INSERT INTO iam.access_requests (
    tenant_id, id, eligibility_id, role_id, role_name, organization_id, requested_by, reason, seconds,
    approvals_needed, approver_role_id, decisions, status, lapses_at, created_at, closed_at
)
SELECT
    a.tenant_id,
    ('0000000' || n || substring(a.id::text FROM 9))::uuid,
    a.id,
    a.role_id,
    'ROLE',
    a.organization_id,
    a.user_id,
    'Reason',
    28800,
    1,
    CASE ('x' || right(a.id::text, 2))::bit(8)::integer % 4 WHEN 1 THEN a.role_id END,
    '[]',
    (ARRAY['PENDING', 'ENDED', 'DENIED', 'CANCELLED', 'LAPSED'])[n],
    '2100-01-01',
    a.created_at + n * interval '1 hour',
    CASE WHEN n > 1 THEN now() END
FROM iam.role_assignments a
CROSS JOIN generate_series(1, 5) n;

-- Some are approved for later, and some are active.
UPDATE iam.access_requests
SET status = CASE WHEN id::text LIKE '%3' THEN 'APPROVED' ELSE 'ACTIVE' END,
    assignment_id = eligibility_id,
    starts_at = '2100-01-01',
    ends_at = '2100-01-02'
WHERE status = 'PENDING' AND (id::text LIKE '%3' OR id::text LIKE '%7');

UPDATE iam.role_assignments SET access_request_id = id WHERE expires_at IS NOT NULL AND id::text LIKE '%7';

INSERT INTO iam.links
SELECT tenant_id, purpose, id, id, email, sha256(uuid_send(id) || convert_to(purpose, 'UTF8')), now(), '2100-01-01'
FROM iam.users, unnest(ARRAY['VERIFY', 'RESET']) purpose;

INSERT INTO iam.messages
SELECT tenant_id, id, 'VERIFY', email, id, id, NULL, NULL, NULL, 0, '2100-01-01', now() FROM iam.users;

INSERT INTO iam.sent_messages SELECT id, now(), 0, 0 FROM iam.tenants;

INSERT INTO iam.queued_messages SELECT tenant_id, email_key, 'VERIFY', ARRAY['2100-01-01'::timestamptz] FROM iam.users;

INSERT INTO iam.factors
SELECT tenant_id, id, id, 'passkey', 'Passkey', '', uuid_send(id), 0, now(), now(), NULL FROM iam.users;

INSERT INTO iam.passkeys SELECT tenant_id, id, uuid_send(id) FROM iam.users;

INSERT INTO iam.domains
SELECT tenant_id, id, id::text || '.example.com', '', now(), false, '2100-01-01', NULL, now() FROM iam.users;

INSERT INTO iam.identity_providers
SELECT
    tenant_id, id, 'Provider', id::text, 'https://login.example.com', 'iam', NULL, 'openid', '[]', false, 'sub', 'LINK',
    '[]', false, false, now(), now(), 1
FROM iam.users;

INSERT INTO iam.identities
SELECT tenant_id, id, id, id, 'https://login.example.com', id::text, email, now(), now() FROM iam.users;

INSERT INTO iam.directories (tenant_id, id, name, service_account_id, identity_provider_id, adopt, created_at, updated_at)
SELECT tenant_id, id, 'Directory', id, id, false, now(), now() FROM iam.users;

-- The users of a tenant are in one directory.
INSERT INTO iam.directory_users
SELECT
    tenant_id, id, first_value(id) OVER (PARTITION BY tenant_id ORDER BY id), email, email_key, NULL, created_at,
    updated_at, 1, '{"emails": []}', '{}'
FROM iam.users;

-- Each user is in a group of its own and in a group of all users. One of sixteen groups gives a role.
INSERT INTO iam.directory_groups
SELECT
    tenant_id, user_id, directory_id, user_name, user_name_key, user_id, 1,
    CASE
        WHEN user_id::text LIKE '%7'
            THEN jsonb_build_array(jsonb_build_object('roleId', pg_temp.id(6, 0), 'organizationId', NULL))
        ELSE '[]'
    END,
    created_at, updated_at, 1
FROM iam.directory_users;

INSERT INTO iam.directory_group_members
SELECT tenant_id, user_id, user_id FROM iam.directory_users
UNION
SELECT tenant_id, directory_id, user_id FROM iam.directory_users;

INSERT INTO iam.directory_withheld
SELECT tenant_id, group_id, user_id, pg_temp.id(6, 0), NULL FROM iam.directory_group_members;

INSERT INTO iam.api_keys (tenant_id, id, user_id, name, secret_hash, expires_at, created_at)
SELECT tenant_id, id, id, 'Key', sha256(uuid_send(id)), '2100-01-01', now() FROM iam.users;

INSERT INTO iam.webhooks (tenant_id, id, url, types, description, enabled, salt, created_at, attempted)
SELECT tenant_id, id, 'https://example.com', 'USER.*', '', false, sha256(''), now(), 0 FROM iam.users;

INSERT INTO iam.webhook_deliveries
SELECT tenant_id, id, n, id, 'USER.CREATE', 1, 'DELIVERED', 204, NULL, '2100-01-01', 1, NULL
FROM iam.users
CROSS JOIN generate_series(1, 2) n;

INSERT INTO iam.webhook_deliveries
SELECT tenant_id, id, 3, id, 'USER.CREATE', 1, 'PENDING', 500, NULL, '2100-01-01', 1, '2100-01-02' FROM iam.users;

INSERT INTO iam.legal_holds SELECT tenant_id, id, id, 'Case 7', id, now() FROM iam.users;

INSERT INTO iam.tenant_deletions SELECT id, '2100-01-01', true, 'The contract has ended.', now() FROM iam.tenants;

INSERT INTO iam.recovery_codes SELECT tenant_id, id, sha256(uuid_send(id)) FROM iam.users;

INSERT INTO iam.challenges
SELECT tenant_id, sha256(uuid_send(id)), 'LOGIN', id, 0, NULL, now(), '2100-01-01' FROM iam.users;

SELECT iam.make_audit_month(make_date(2026, month, 1)) FROM generate_series(1, 3) month;

INSERT INTO iam.audit_entries
SELECT
    u.tenant_id,
    u.id,
    'ACTION_' || n % 10,
    'TYPE_' || n % 7,
    'resource-' || n % 40,
    CASE WHEN n % 2 = 0 THEN pg_temp.id(4, n % 500) END,
    pg_temp.id(2, n % 5000),
    NULL,
    NULL,
    '{}',
    'correlation-' || n,
    NULL,
    NULL,
    '2026-01-01'::timestamptz + n * interval '9 minutes',
    decode(md5(''), 'hex'),
    decode(md5(''), 'hex')
FROM (SELECT tenant_id, id, row_number() OVER () AS n FROM iam.users) u;

INSERT INTO iam.audit_leaves
SELECT
    e.tenant_id,
    row_number() OVER (PARTITION BY e.tenant_id ORDER BY e.created_at, e.id) - 1,
    e.created_at,
    e.id,
    sha256('')
FROM iam.audit_entries e;

INSERT INTO iam.audit_logs (tenant_id, size, peaks, note)
SELECT tenant_id, count(*), '', '' FROM iam.audit_leaves GROUP BY tenant_id;

INSERT INTO iam.audit_nodes
SELECT l.tenant_id, 8, l.sequence / 8, l.hash FROM iam.audit_leaves l WHERE l.sequence % 8 = 0;

INSERT INTO iam.audit_erasures SELECT tenant_id, created_at, id FROM iam.audit_entries WHERE correlation_id LIKE '%7';
