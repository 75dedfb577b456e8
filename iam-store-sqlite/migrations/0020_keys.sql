-- The keys by which texts are found, compared and sorted are made in another way: with the full case folding of Unicode
-- and its compatible forms. SQL cannot make them, so the store does, after this migration and from time to time, because
-- the previous release still writes keys of the old form. Texts of ASCII have the same key in both forms, except
-- domains in the form for the network.
--
-- A key counts if it was written together with the last change: the previous release writes updated_at alone.
ALTER TABLE users ADD COLUMN keyed_at INTEGER;

CREATE INDEX users_keys_idx ON users (tenant_id, id)
    WHERE keyed_at IS NOT updated_at
        AND (
            length(CAST(email || first_name || last_name AS BLOB)) > length(email || first_name || last_name)
            OR instr(lower(email), 'xn--') > 0
        );

-- Users whose address is that of an older account. A blank and the identifier follow the address in their key.
CREATE INDEX users_conflicts_idx ON users (tenant_id, id) WHERE instr(email_key, ' ') > 0;

ALTER TABLE organizations ADD COLUMN keyed_at INTEGER;

CREATE INDEX organizations_keys_idx ON organizations (tenant_id, id)
    WHERE keyed_at IS NOT updated_at AND length(CAST(name AS BLOB)) > length(name);

-- The address of an invitation never changes.
ALTER TABLE invitations
    ADD COLUMN keyed INTEGER NOT NULL DEFAULT 0 CONSTRAINT invitations_keyed_check CHECK (keyed IN (0, 1));

CREATE INDEX invitations_keys_idx ON invitations (tenant_id, id)
    WHERE keyed = 0 AND (length(CAST(email AS BLOB)) > length(email) OR instr(lower(email), 'xn--') > 0);
