-- Creates the two roles and the database. A superuser runs it once with psql. The server's role owns nothing;
-- grants.sql gives it the permissions that it needs.
\set owner_password `cat /run/secrets/owner-password`
\set server_password `cat /run/secrets/server-password`

CREATE ROLE iam_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE iam_server LOGIN PASSWORD :'server_password';
CREATE DATABASE iam OWNER iam_owner;
REVOKE ALL ON DATABASE iam FROM PUBLIC;
GRANT CONNECT ON DATABASE iam TO iam_server;
