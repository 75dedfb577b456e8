"""Sends requests through Envoy, with the filters of docs/authzen.md, to a program behind it, as users of the server of
scripts/check-gateway."""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

import yaml

URL = os.environ["CHECK_GATEWAY_URL"]
SERVER_PORT = urllib.parse.urlsplit(URL).port
SERVER = int(os.environ["CHECK_GATEWAY_SERVER"])
DIRECTORY = pathlib.Path(os.environ["CHECK_GATEWAY_DIRECTORY"])
PASSWORD = "Passw0rd!"
LOOPBACK = "127.0.0.1"

# The requests that have reached the program behind the gateway.
reached = []
requests = 0
failures = []


class Orders(http.server.BaseHTTPRequestHandler):
    """The program behind the gateway."""

    def answer(self):
        reached.append(self.command)
        self.succeed()

    def succeed(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer

    def log_message(self, *_):
        pass


class Empty(Orders):
    """A program in the place of the server, whose answers are empty."""

    do_GET = do_POST = Orders.succeed


def serve(port, handler):
    """Serves in a thread that ends with this program, and returns the port."""
    server = http.server.ThreadingHTTPServer((LOOPBACK, port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def call(path, body, token=None):
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(f"{URL}/{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or "null")


def user(administrator, name, permissions):
    """Makes a user with a role, and returns its identifier and its token."""
    person = {"email": f"{name}@example.com", "password": PASSWORD, "firstName": name, "lastName": "Example"}
    identifier = call("users", person, administrator)["id"]
    role = call("roles", {"name": name.upper(), "permissions": permissions}, administrator)["id"]
    call("role-assignments", {"userId": identifier, "roleId": role}, administrator)
    return identifier, call("auth/login", {"email": person["email"], "password": PASSWORD})["accessToken"]


def free_port():
    with socket.socket() as it:
        it.bind((LOOPBACK, 0))
        return it.getsockname()[1]


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=5):
        return True
    return False


def wait_until(what, condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"not within a minute: {what}")
        time.sleep(0.1)


def filters():
    """Returns the filters as they are in the document."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", pathlib.Path("docs/authzen.md").read_text(), re.MULTILINE | re.DOTALL)
    (found,) = [block for block in map(yaml.safe_load, blocks) if "http_filters" in block]
    return found["http_filters"]


def cluster(name, port):
    address = {"socket_address": {"address": LOOPBACK, "port_value": port}}
    endpoints = [{"lb_endpoints": [{"endpoint": {"address": address}}]}]
    return {"name": name, "load_assignment": {"cluster_name": name, "endpoints": endpoints}}


def configuration(port, orders):
    """Returns the configuration of Envoy. Its cluster `iam` leads to the server without TLS."""
    routes = [{"match": {"prefix": "/"}, "route": {"cluster": "orders"}}]
    extensions = "type.googleapis.com/envoy.extensions"
    manager = {
        "@type": f"{extensions}.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "orders",
        "route_config": {"virtual_hosts": [{"name": "orders", "domains": ["*"], "routes": routes}]},
        "http_filters": filters(),
    }
    chain = {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}
    address = {"socket_address": {"address": LOOPBACK, "port_value": port}}
    return {
        "static_resources": {
            "listeners": [{"address": address, "filter_chains": [chain]}],
            "clusters": [cluster("iam", SERVER_PORT), cluster("orders", orders)],
        }
    }


@contextlib.contextmanager
def envoy(orders):
    """Runs Envoy, and gives the port on which it listens."""
    port = free_port()
    file = DIRECTORY / "envoy.json"
    file.write_text(json.dumps(configuration(port, orders)))
    log = DIRECTORY / "envoy.log"
    options = ["--concurrency", "1", "--disable-hot-restart", "--log-path", str(log)]
    process = subprocess.Popen(["envoy", "--config-path", str(file), *options])
    try:
        wait_until("Envoy listens", lambda: process.poll() is not None or listens(port))
        if process.poll() is not None:
            sys.exit(f"Envoy did not start:\n{log.read_text()}")
        yield port
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=30)
        process.kill()
    if failures:
        print(log.read_text(), file=sys.stderr)


def expect(gateway, expected, what, method, token=None, path="/orders/17"):
    """Sends a request, and compares the status code with those expected. What is refused must not reach the program."""
    global requests
    requests += 1
    reached.clear()
    connection = http.client.HTTPConnection(LOOPBACK, gateway, timeout=30)
    connection.request(method, path, headers={"Authorization": f"Bearer {token}"} if token else {})
    status = connection.getresponse().status
    connection.close()
    if status not in expected or reached != ([method] if status == 200 else []):
        failures.append(what)
        print(f"{what}: {method} is {status} instead of {expected}, and reached: {reached}", file=sys.stderr)


def check(gateway):
    person = {"email": "ada@example.com", "password": PASSWORD, "firstName": "Ada", "lastName": "Lovelace"}
    administrator = call("auth/register", person)["accessToken"]
    for action in ["create", "read", "update", "delete"]:
        call("permissions", {"name": f"orders:{action}"}, administrator)
    grace, reader = user(administrator, "grace", ["orders:read"])
    alan, deleter = user(administrator, "alan", ["orders:read", "orders:delete"])
    key = call(f"users/{grace}/api-keys", {"name": "key", "permissions": ["orders:read"]}, administrator)["key"]
    reason = {"reason": "Ticket 4711", "seconds": 300}
    acting = call(f"users/{alan}/impersonations", reason, administrator)["accessToken"]

    expect(gateway, [200], "a user who may read", "GET", reader)
    for method in ["POST", "PUT", "PATCH", "DELETE"]:
        expect(gateway, [403], "a user who may only read", method, reader)
        expect(gateway, [200], "an administrator", method, administrator)
    expect(gateway, [405], "a method without an action", "OPTIONS", administrator)
    expect(gateway, [401], "no token", "GET")
    expect(gateway, [401], "no token of this service", "GET", "eyJhbGciOiJub25lIn0.eyJpc3MiOiJpYW0iLCJhdWQiOiJpYW0ifQ.")
    expect(gateway, [401], "an API key", "GET", key)
    expect(gateway, [200], "a user who may delete", "DELETE", deleter)
    expect(gateway, [200], "an acting user who can change nothing", "GET", acting)
    expect(gateway, [403], "an acting user who can change nothing", "DELETE", acting)

    call("auth/logout", {}, deleter)
    expect(gateway, [401], "a session that has ended", "GET", deleter)
    # Envoy and the service must read the same token: this one verifies, and has no claim `readOnly`.
    expect(gateway, [403], "a second token", "DELETE", acting, f"/orders/17?access_token={deleter}")
    expect(gateway, [401], "a token in the address", "GET", None, f"/orders/17?access_token={administrator}")

    os.kill(SERVER, signal.SIGTERM)
    wait_until("the server has stopped", lambda: not listens(SERVER_PORT))
    # Without a service, Envoy cannot verify a token after a while.
    expect(gateway, [401, 403], "a service that does not answer", "GET", administrator)
    serve(SERVER_PORT, Empty)
    expect(gateway, [401, 403], "a service with empty answers", "GET", administrator)


# So that Envoy does not outlive this program.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
with envoy(serve(0, Orders)) as gateway:
    check(gateway)
print(f"Envoy: {requests} requests, {len(failures)} with another answer than expected")
sys.exit(len(failures) > 0)
