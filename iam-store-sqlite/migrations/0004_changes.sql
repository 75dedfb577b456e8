-- The commits that may change the rights of a caller: the identifier of a user whose status or role assignments change,
-- of a session that ends, of a role or an organization that changes. A subscriber asks for the rows after the last one
-- that it has read. Triggers write the rows, for the changes of every program, if the program enforces foreign keys
-- (PRAGMA foreign_keys) and replaces no row (REPLACE).
--
-- A new session writes no row, because no process can have cached it. Neither does a change that leaves all rights as
-- they are: a login, a refresh, a change of a user's name. A new role does write rows: the trigger cannot distinguish
-- its permissions from new permissions of an older role.

CREATE TABLE changes (
    -- One greater for each row: the newest row is never removed, and there is only one writer at a time.
    id      INTEGER NOT NULL PRIMARY KEY,
    changed BLOB    NOT NULL
) STRICT;

-- The table always has a last row.
INSERT INTO changes (id, changed) VALUES (0, zeroblob(16));

-- A subscriber reads four times a second, so it needs only the last few rows. If the last row that it has read is
-- removed, it has missed some rows.
CREATE TRIGGER changes_trim AFTER INSERT ON changes
WHEN NEW.id % 1000 = 0
BEGIN
    DELETE FROM changes WHERE id <= NEW.id - 5000;
END;

CREATE TRIGGER users_tell_update AFTER UPDATE OF status ON users
WHEN NEW.status IS NOT OLD.status
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

CREATE TRIGGER sessions_tell_delete AFTER DELETE ON sessions
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

-- A refresh makes the expiry later. An update that makes it earlier ends the session.
CREATE TRIGGER sessions_tell_update AFTER UPDATE OF expires_at ON sessions
WHEN NEW.expires_at < OLD.expires_at
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

CREATE TRIGGER role_assignments_tell_insert AFTER INSERT ON role_assignments
BEGIN
    INSERT INTO changes (changed) VALUES (NEW.user_id);
END;

CREATE TRIGGER role_assignments_tell_update AFTER UPDATE ON role_assignments
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.user_id);
END;

CREATE TRIGGER role_assignments_tell_delete AFTER DELETE ON role_assignments
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.user_id);
END;

CREATE TRIGGER roles_tell_update AFTER UPDATE ON roles
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

CREATE TRIGGER roles_tell_delete AFTER DELETE ON roles
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;

CREATE TRIGGER role_permissions_tell_insert AFTER INSERT ON role_permissions
BEGIN
    INSERT INTO changes (changed) VALUES (NEW.role_id);
END;

CREATE TRIGGER role_permissions_tell_update AFTER UPDATE ON role_permissions
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.role_id);
END;

CREATE TRIGGER role_permissions_tell_delete AFTER DELETE ON role_permissions
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.role_id);
END;

CREATE TRIGGER organizations_tell_update AFTER UPDATE OF status, parent_id ON organizations
WHEN NEW.status IS NOT OLD.status OR NEW.parent_id IS NOT OLD.parent_id
BEGIN
    INSERT INTO changes (changed) VALUES (OLD.id);
END;
