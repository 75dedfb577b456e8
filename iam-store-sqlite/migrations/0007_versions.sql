-- The version of a tenant, a user, a role or an organization: 1 for a new row, and 1 more with every change. The HTTP
-- interface makes the entity tag of it. The permissions of a role belong to its version.
--
-- The statements of the service raise it. A trigger would also raise it for statements of other programs, but
-- SQLite would write every row twice.

ALTER TABLE tenants ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE users ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE roles ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE organizations ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
