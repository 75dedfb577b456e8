-- Search for users, by any part of their e-mail address, first name and last name.
--
-- For each group of three characters, the index contains the numbers of the users that have it. Whether a user has the
-- whole text is checked in its row. The numbers of a tenant's users are in the range of the tenant. Names have σ for ς
-- already.
CREATE VIRTUAL TABLE user_search USING fts5 (
    email_key,
    first_name_key,
    last_name_key,
    content = '',
    tokenize = 'trigram case_sensitive 1',
    detail = 'none',
    columnsize = 0
);

CREATE TRIGGER users_search_insert AFTER INSERT ON users
BEGIN
    INSERT INTO user_search (rowid, email_key, first_name_key, last_name_key)
    VALUES (NEW.number, replace(NEW.email_key, 'ς', 'σ'), NEW.first_name_key, NEW.last_name_key);
END;

CREATE TRIGGER users_search_update AFTER UPDATE OF email_key, first_name_key, last_name_key ON users
WHEN (NEW.email_key, NEW.first_name_key, NEW.last_name_key) <> (OLD.email_key, OLD.first_name_key, OLD.last_name_key)
BEGIN
    INSERT INTO user_search (user_search, rowid, email_key, first_name_key, last_name_key)
    VALUES ('delete', OLD.number, replace(OLD.email_key, 'ς', 'σ'), OLD.first_name_key, OLD.last_name_key);
    INSERT INTO user_search (rowid, email_key, first_name_key, last_name_key)
    VALUES (NEW.number, replace(NEW.email_key, 'ς', 'σ'), NEW.first_name_key, NEW.last_name_key);
END;

CREATE TRIGGER users_search_delete AFTER DELETE ON users
BEGIN
    INSERT INTO user_search (user_search, rowid, email_key, first_name_key, last_name_key)
    VALUES ('delete', OLD.number, replace(OLD.email_key, 'ς', 'σ'), OLD.first_name_key, OLD.last_name_key);
END;
