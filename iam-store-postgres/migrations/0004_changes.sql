-- Notifications on the channel iam_changes of commits that may change the rights of a caller: the identifier of a
-- user whose status or role assignments change, of a session that ends, of a role or an organization that changes.
-- The database sends them itself, for the changes of every program, and sends none for a transaction that is rolled
-- back.
--
-- Transactions with notifications commit one after the other, in the whole database server. So frequent changes send
-- none: a login, a refresh, a change of a user's name, an audit entry. A new session sends none either, because no
-- process can have cached it. A new role does send one: the trigger cannot distinguish its permissions from new
-- permissions of an older role.
--
-- PostgreSQL sends equal notifications of one transaction only once, so the functions do not remove duplicates.

-- Sends the identifier of the row itself.
CREATE FUNCTION iam.tell_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('iam_changes', OLD.id::text);
    RETURN NULL;
END
$$;

-- The other triggers run once for each statement, which may change hundreds of rows.

CREATE FUNCTION iam.tell_changed_sessions() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('iam_changes', c.id::text) FROM changed c;
    RETURN NULL;
END
$$;

-- Sends the users of the role assignments.
CREATE FUNCTION iam.tell_changed_users() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('iam_changes', c.user_id::text) FROM changed c;
    RETURN NULL;
END
$$;

-- Sends the roles of the permissions.
CREATE FUNCTION iam.tell_changed_roles() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('iam_changes', c.role_id::text) FROM changed c;
    RETURN NULL;
END
$$;

-- TRUNCATE does not show which rows the table had.
CREATE FUNCTION iam.tell_everything_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('iam_changes', 'everything');
    RETURN NULL;
END
$$;

-- No role needs the EXECUTE privilege on the function of a trigger.
REVOKE EXECUTE ON FUNCTION
    iam.tell_change,
    iam.tell_changed_sessions,
    iam.tell_changed_users,
    iam.tell_changed_roles,
    iam.tell_everything_changed
FROM PUBLIC;

CREATE TRIGGER users_tell_update AFTER UPDATE OF status ON iam.users
    FOR EACH ROW WHEN (NEW.status IS DISTINCT FROM OLD.status)
    EXECUTE FUNCTION iam.tell_change();

CREATE TRIGGER sessions_tell_delete AFTER DELETE ON iam.sessions
    REFERENCING OLD TABLE AS changed
    EXECUTE FUNCTION iam.tell_changed_sessions();
-- A refresh makes the expiry later. An update that makes it earlier ends the session.
CREATE TRIGGER sessions_tell_update AFTER UPDATE OF expires_at ON iam.sessions
    FOR EACH ROW WHEN (NEW.expires_at < OLD.expires_at)
    EXECUTE FUNCTION iam.tell_change();
CREATE TRIGGER sessions_tell_truncate AFTER TRUNCATE ON iam.sessions
    EXECUTE FUNCTION iam.tell_everything_changed();

CREATE TRIGGER role_assignments_tell_insert AFTER INSERT ON iam.role_assignments
    REFERENCING NEW TABLE AS changed
    EXECUTE FUNCTION iam.tell_changed_users();
CREATE TRIGGER role_assignments_tell_update AFTER UPDATE ON iam.role_assignments
    REFERENCING OLD TABLE AS changed
    EXECUTE FUNCTION iam.tell_changed_users();
CREATE TRIGGER role_assignments_tell_delete AFTER DELETE ON iam.role_assignments
    REFERENCING OLD TABLE AS changed
    EXECUTE FUNCTION iam.tell_changed_users();
CREATE TRIGGER role_assignments_tell_truncate AFTER TRUNCATE ON iam.role_assignments
    EXECUTE FUNCTION iam.tell_everything_changed();

CREATE TRIGGER roles_tell_change AFTER UPDATE OR DELETE ON iam.roles
    FOR EACH ROW EXECUTE FUNCTION iam.tell_change();

CREATE TRIGGER role_permissions_tell_insert AFTER INSERT ON iam.role_permissions
    REFERENCING NEW TABLE AS changed
    EXECUTE FUNCTION iam.tell_changed_roles();
CREATE TRIGGER role_permissions_tell_update AFTER UPDATE ON iam.role_permissions
    REFERENCING OLD TABLE AS changed
    EXECUTE FUNCTION iam.tell_changed_roles();
CREATE TRIGGER role_permissions_tell_delete AFTER DELETE ON iam.role_permissions
    REFERENCING OLD TABLE AS changed
    EXECUTE FUNCTION iam.tell_changed_roles();
CREATE TRIGGER role_permissions_tell_truncate AFTER TRUNCATE ON iam.role_permissions
    EXECUTE FUNCTION iam.tell_everything_changed();

CREATE TRIGGER organizations_tell_update AFTER UPDATE OF status, parent_id ON iam.organizations
    FOR EACH ROW WHEN ((NEW.status, NEW.parent_id) IS DISTINCT FROM (OLD.status, OLD.parent_id))
    EXECUTE FUNCTION iam.tell_change();
