-- What was committed that may change who may do what: the identifier of a user whose status or role assignments change, of
-- a session that ends, of a role or an organization that is changed. Whoever follows asks for the rows behind the last one
-- that it has seen. The triggers write it, whatever program makes the change, if it keeps references (PRAGMA foreign_keys)
-- and replaces no row (REPLACE).
--
-- Nobody asks for what cannot be known yet, such as a new session, nor for what changes no rights: a login, a refresh, a
-- change of somebody's name. A new role is told all the same: its permissions look like those that an older role gets.

CREATE TABLE changes (
    -- Grows by one each time: the newest row is never removed, and there is one writer.
    id      INTEGER NOT NULL PRIMARY KEY,
    changed BLOB    NOT NULL
) STRICT;

-- There is always a last one.
INSERT INTO changes (id, changed) VALUES (0, zeroblob(16));

-- Whoever looks four times a second needs the last few. Who finds the last one that it has seen removed has missed some.
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

-- A refresh puts the end off; whoever brings it forward ends the session.
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
