"""Makes users, sessions and audit entries by requests, and prints what they take: see bench-sizes."""

import concurrent.futures
import json
import os
import subprocess
import sys
import time
import urllib.request

API, USERS = sys.argv[1], int(sys.argv[2])
# As many as a server of two cores keeps busy. More would wait for a hash, and be refused.
CLIENTS = 4
PASSWORD = "Passw0rd!"
SLUG = "analytical-engines"


def query(sql):
    command = ["psql", "--no-psqlrc", "--tuples-only", "--no-align", os.environ["IAM_DATABASE_URL"], "--command", sql]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def post(path, body, token=None):
    headers = {"Content-Type": "application/json", "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(API + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def settled_position():
    """Waits until every entry is sequenced. Returns the position in the log of the database."""
    while query("SELECT count(*) FROM iam.audit_unsealed") != "0":
        time.sleep(0.2)
    query("CHECKPOINT")
    return int(query("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"))


def measure(what, work, items):
    begun = settled_position()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(clients.map(work, items))
    print(f"{what}: {(settled_position() - begun) / len(items):,.0f} bytes of the log of the database")
    return answers


owner = {"email": "owner@example.com", "password": PASSWORD, "firstName": "Ada", "lastName": "Lovelace"}
post("/auth/register", {**owner, "tenantName": "Analytical Engines"})
login = post("/auth/login", {"email": owner["email"], "password": PASSWORD})
token = login["accessToken"]


def user(number):
    names = {"firstName": f"First{number % 500}", "lastName": f"Last{number}"}
    return post("/users", {"email": f"user{number}@example.com", "password": PASSWORD, **names}, token)


def log_in(number):
    return post("/auth/login", {"email": f"user{number}@example.com", "password": PASSWORD, "tenant": SLUG})


def refresh(session):
    return post("/auth/refresh", {"refreshToken": session["refreshToken"]})


numbers = range(USERS)
measure("a user is created", user, numbers)
sessions = measure("a login", log_in, numbers)
sessions = measure("a refresh", refresh, sessions)
measure("a further refresh", refresh, sessions)
query("VACUUM ANALYZE")
SIZE = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c WHERE c.oid::regclass::text ~ '^iam\\.({})$'"
for what, tables, count in [
    ("a user with its password", "users|credentials|tenant_counts", "users"),
    ("a session", "sessions", "sessions"),
    ("an audit entry", r"audit_entries_\d+_\d+", "audit_entries"),
    ("its leaf and nodes", "audit_leaves|audit_nodes", "audit_leaves"),
]:
    rows = int(query(f"SELECT count(*) FROM iam.{count}"))
    print(f"{what}: {int(query(SIZE.format(tables))) / rows:,.0f} bytes ({rows:,} rows)")
