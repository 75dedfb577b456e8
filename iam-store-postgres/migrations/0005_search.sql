-- Search for users, by any part of their e-mail address, first name and last name.
--
-- The index contains all groups of three characters, and the tenants: matches in other tenants are skipped in the
-- index, and their rows are not read. The index needs two extensions that come with PostgreSQL and that the owner of
-- a database may install. Extensions that are already installed stay in their schema, so the operator class of
-- pg_trgm is named with its schema.

CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- The fields are separated by a character that no field can contain, so that no match spans two fields. Names have σ
-- for ς already.
--
-- New index entries are collected in a pending list and inserted together. A search reads the whole pending list, so
-- its limit is low.
DO $$
BEGIN
    EXECUTE format(
        'CREATE INDEX users_search_idx ON iam.users USING gin (
            tenant_id,
            (replace(email_key, ''ς'', ''σ'') || E''\n'' || first_name_key || E''\n'' || last_name_key) %I.gin_trgm_ops
        ) WITH (gin_pending_list_limit = 256)',
        (
            SELECT n.nspname
            FROM pg_extension e
            JOIN pg_namespace n ON n.oid = e.extnamespace
            WHERE e.extname = 'pg_trgm'
        )
    );
END
$$;
