-- The identifiers of users in another system, such as a directory. They are compared letter by letter.
ALTER TABLE iam.users ADD COLUMN external_id text COLLATE "C";

CREATE UNIQUE INDEX users_external_id_key ON iam.users (tenant_id, external_id) WHERE external_id IS NOT NULL;
