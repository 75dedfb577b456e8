-- The keys by which texts are found, compared and sorted are made in another way: with the full case folding of Unicode
-- and its compatible forms. SQL cannot make them, so the store does, after this migration and from time to time, because
-- the previous release still writes keys of the old form. Texts of ASCII have the same key in both forms, except
-- domains in the form for the network.
--
-- A key counts if it was written together with the last change: the previous release writes updated_at alone.
ALTER TABLE iam.users ADD COLUMN keyed_at timestamptz;

CREATE INDEX users_keys_idx ON iam.users (tenant_id, id)
    WHERE keyed_at IS DISTINCT FROM updated_at
        AND (
            octet_length(email || first_name || last_name) > char_length(email || first_name || last_name)
            OR email ILIKE '%xn--%'
        );

-- Users whose address is that of an older account. A blank and the identifier follow the address in their key.
CREATE INDEX users_conflicts_idx ON iam.users (tenant_id, id) WHERE email_key LIKE '% %';

ALTER TABLE iam.organizations ADD COLUMN keyed_at timestamptz;

CREATE INDEX organizations_keys_idx ON iam.organizations (tenant_id, id)
    WHERE keyed_at IS DISTINCT FROM updated_at AND octet_length(name) > char_length(name);

-- The address of an invitation never changes.
ALTER TABLE iam.invitations ADD COLUMN keyed boolean NOT NULL DEFAULT false;

CREATE INDEX invitations_keys_idx ON iam.invitations (tenant_id, id)
    WHERE NOT keyed AND (octet_length(email) > char_length(email) OR email ILIKE '%xn--%');
