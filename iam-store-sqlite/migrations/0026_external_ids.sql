-- The identifiers of users in another system, such as a directory. They are compared letter by letter.
ALTER TABLE users ADD COLUMN external_id TEXT;

CREATE UNIQUE INDEX users_external_id_key ON users (tenant_id, external_id) WHERE external_id IS NOT NULL;

-- Statistics for the planner; see 0001_spine.sql.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('users', 'users_external_id_key', '1000000 10000 1');
ANALYZE sqlite_schema;
