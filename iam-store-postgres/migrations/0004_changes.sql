-- Tells whoever listens to the channel iam_changes what is committed that may change who may do what: the identifier of a
-- user whose status or role assignments change, of a session that ends, of a role or an organization that is changed. The
-- database tells it itself, whoever makes the change, and keeps to itself what is rolled back.
--
-- Transactions that tell commit one after the other, throughout the server. So what happens all the time tells nothing: a
-- login, a refresh, a change of somebody's name, an audit entry. Nor does a new session, which nobody can have known yet. A
-- new role is told all the same: its permissions look like those that an older role gets.
--
-- PostgreSQL tells what a transaction tells several times only once, so that nothing here looks for what is the same.

-- The row itself.
CREATE FUNCTION iam.tell_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('iam_changes', OLD.id::text);
    RETURN NULL;
END
$$;

-- The others are for statements, which may be about hundreds of rows.

CREATE FUNCTION iam.tell_changed_sessions() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('iam_changes', c.id::text) FROM changed c;
    RETURN NULL;
END
$$;

-- Whose role assignments they are.
CREATE FUNCTION iam.tell_changed_users() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('iam_changes', c.user_id::text) FROM changed c;
    RETURN NULL;
END
$$;

-- What the permissions are of.
CREATE FUNCTION iam.tell_changed_roles() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('iam_changes', c.role_id::text) FROM changed c;
    RETURN NULL;
END
$$;

-- Truncating tells no rows.
CREATE FUNCTION iam.tell_everything_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('iam_changes', 'everything');
    RETURN NULL;
END
$$;

-- Nobody needs a right to what a trigger does.
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
-- A refresh puts the end off; whoever brings it forward ends the session.
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
