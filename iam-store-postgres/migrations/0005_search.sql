-- Search for users, by any part of their e-mail address, first and last name.
--
-- The index holds all groups of three characters, and the tenants: what is found of a text in other tenants is passed over
-- in the index and not read. It needs two of the extensions that come with PostgreSQL and that the owner of a database may
-- install. They stay where they are when they are installed already, and what the first one brings is named by its schema.

CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- The fields are parted by a character that none of them can contain, so that nothing is found across two of them. Names
-- have σ for ς already.
--
-- New entries are collected and put into their places together. Searches go through those that wait, so these are few.
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
