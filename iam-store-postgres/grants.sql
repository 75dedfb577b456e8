-- The privileges that the role of a server needs, and no others. The role that migrates owns the tables. The role of
-- the server owns nothing:
--
--   CREATE ROLE iam_server LOGIN;
--   \i grants.sql
--
-- Run this file again after every upgrade. The role can neither change nor delete audit entries, leaves, nodes and
-- erasures, and it can neither truncate, create nor drop tables. It sequences and erases entries, applies retention
-- and makes partitions with functions, which do only what the triggers allow.

BEGIN;

REVOKE ALL ON ALL TABLES IN SCHEMA iam FROM iam_server;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA iam FROM iam_server;

GRANT USAGE ON SCHEMA iam TO iam_server;

-- To check whether the schema is up to date.
GRANT SELECT ON iam._migrations TO iam_server;

GRANT SELECT, INSERT, UPDATE ON
    iam.tenants,
    iam.users,
    iam.credentials,
    iam.organizations,
    iam.invitations,
    iam.history_starts
TO iam_server;

GRANT SELECT, INSERT, UPDATE, DELETE ON
    iam.api_keys,
    iam.login_attempts,
    iam.sessions,
    iam.roles,
    iam.role_assignments,
    iam.idempotency_records,
    iam.links,
    iam.factors,
    iam.challenges,
    iam.messages,
    iam.queued_messages,
    iam.sent_messages,
    iam.webhooks,
    iam.webhook_deliveries,
    iam.access_reviews,
    iam.access_review_items,
    iam.eligibilities,
    iam.access_requests,
    iam.domains,
    iam.identity_providers,
    iam.identities,
    iam.directories,
    iam.directory_users,
    iam.directory_groups,
    iam.attributes,
    iam.tenant_deletions
TO iam_server;

GRANT SELECT, INSERT, DELETE ON
    iam.passkeys,
    iam.past_assignments,
    iam.past_versions,
    iam.permissions,
    iam.role_permissions,
    iam.recovery_codes,
    iam.directory_group_members,
    iam.manifest_items,
    iam.attribute_values,
    iam.legal_holds
TO iam_server;

-- A row ends with the membership.
GRANT SELECT, INSERT ON iam.directory_withheld TO iam_server;

-- The migration writes this table. A start that continues an interrupted one empties it.
GRANT SELECT, DELETE ON iam.unchecked_permissions TO iam_server;

-- A private key is encrypted again when the master key changes, and erased when the signing key is revoked or
-- replaced. The public key stays.
GRANT SELECT, INSERT, UPDATE (private_key, encrypted, revoked_at) ON iam.signing_keys TO iam_server;

-- Triggers write this table.
GRANT SELECT ON iam.tenant_counts TO iam_server;

-- The partitions need no grants of their own: all access goes through the partitioned table.
GRANT SELECT ON iam.audit_entries TO iam_server;

GRANT SELECT, INSERT ON
    iam.audit_unsealed,
    iam.audit_leaves,
    iam.audit_nodes
TO iam_server;

GRANT
    SELECT,
    INSERT (tenant_id, size, peaks, note, retention_days, pending_retention_days, pending_retention_from),
    UPDATE (size, peaks, note, removed, retention_days, pending_retention_days, pending_retention_from)
ON iam.audit_logs TO iam_server;

GRANT EXECUTE ON FUNCTION
    iam.lock_idempotency_record(uuid, bytea),
    iam.delete_rows_of_tenant(uuid, text, bigint),
    iam.delete_tenant(uuid),
    iam.make_audit_month(date),
    iam.drop_given_up_audit_month(date),
    iam.delete_given_up_audit_entries(integer),
    iam.move_sealed_audit_entries(uuid[], timestamptz[], uuid[]),
    iam.erase_audit_entries(
        uuid,
        timestamptz[],
        uuid[],
        text[],
        text[],
        text[],
        bytea[],
        timestamptz[],
        uuid[],
        bytea[]
    )
TO iam_server;

COMMIT;
