-- The version of a tenant, a user, a role or an organization: 1 for a new row, and 1 more with every change. The HTTP
-- interface makes the entity tag of it. The permissions of a role belong to its version.
--
-- The statements of the service raise it. A trigger would also raise it for statements of other programs, but an
-- UPDATE with a BEFORE trigger locks a row like a DELETE if it names a column of a unique constraint.

ALTER TABLE iam.tenants ADD COLUMN version bigint NOT NULL DEFAULT 1;
ALTER TABLE iam.users ADD COLUMN version bigint NOT NULL DEFAULT 1;
ALTER TABLE iam.roles ADD COLUMN version bigint NOT NULL DEFAULT 1;
ALTER TABLE iam.organizations ADD COLUMN version bigint NOT NULL DEFAULT 1;
