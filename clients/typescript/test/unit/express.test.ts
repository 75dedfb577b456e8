import assert from "node:assert/strict";
import { request as send } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { after, test } from "node:test";
import { inspect } from "node:util";

import express, { type Express } from "express";
import { callerOf, guards, HttpProblem, type GuardOptions } from "iam-client/express";
import { TokenVerifier, type Verifier } from "iam-client/verifier";

import { fakeServer, json, problem, url, type Handler } from "../fake.js";
import { claims, jwks, keyPair, now, sign, tenant } from "../keys.js";

const key = await keyPair("key-1");
const branch = "01a1fdcb-9b32-7000-8000-00000000000b";

const servers: Server[] = [];
after(() => servers.forEach((server) => server.close()));

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Record<string, unknown>;
}

/** A service with guards, in front of an IAM that answers as the handler says. */
async function service(iam: Handler, options: Partial<GuardOptions> = {}) {
  const set = jwks(() => ({ keys: [key.jwk] }));
  const verifier = new TokenVerifier({
    url,
    issuer: "iam",
    audience: "iam",
    tenant,
    fetch: set.fetch,
    now: () => now * 1_000,
  });
  const backend = fakeServer(iam);
  const logged: unknown[] = [];
  const guard = guards({ url, verifier, fetch: backend.fetch, log: (error) => logged.push(error), ...options });
  const app = express();
  const handled: string[] = [];
  app.get("/open", (_, response) => void response.json({}));
  app.get("/unguarded", (request, response) => void response.json({ user: callerOf(request).claims.sub }));
  app.use(guard.authenticate());
  app.use(express.json({ limit: 100 }));
  app.all(
    "/me",
    (request, response) =>
      void response.json({
        user: callerOf(request).claims.sub,
        shown: inspect(callerOf(request), { depth: 9, showHidden: true }) + JSON.stringify(callerOf(request)),
      }),
  );
  app.post(
    "/branches/:branch/refunds",
    guard.requirePermission("orders:refund", { organization: "branch" }),
    (request, response) => {
      handled.push(callerOf(request).claims.sub);
      response.json({});
    },
  );
  app.get("/report", guard.requirePermission("orders:report"), (_, response) => void response.json({}));
  app.get(
    "/misnamed/:branch",
    guard.requirePermission("orders:report", { organization: "brunch" }),
    (_, response) => void response.json({}),
  );
  app.get("/fresh", guard.requireFresh({ maxAge: 300 }), (_, response) => void response.json({}));
  app.get("/strong", guard.requireFresh({ maxAge: 300, secondFactor: true }), (_, response) => void response.json({}));
  app.get("/conflict", () => {
    throw new HttpProblem("conflict", "The order has been refunded already.");
  });
  app.get("/broken", () => {
    throw new Error("the password of the database is hunter2");
  });
  app.use(guard.notFound());
  app.use(guard.problems());
  return { ask: await listening(app), backend, logged, handled };
}

async function listening(app: Express) {
  const server = app.listen(0, "127.0.0.1");
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return (method: string, path: string, headers: Record<string, string | string[]> = {}, body?: string) =>
    new Promise<Answer>((resolve, reject) => {
      const request = send({ port, host: "127.0.0.1", method, path, headers }, (response) => {
        let text = "";
        response.on("data", (chunk) => (text += String(chunk)));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: JSON.parse(text || "{}") as Record<string, unknown>,
          }),
        );
      });
      request.on("error", reject);
      request.end(body);
    });
}

const allowed = () => json({ allowed: true, reason: "", grants: [] });
const bearer = async (changes: Record<string, unknown> = {}) => ({
  authorization: `Bearer ${await sign(key, changes)}`,
});

function assertProblem({ status, headers, body }: Answer, expected: number, code: string): void {
  assert.equal(status, expected, JSON.stringify(body));
  assert.match(String(headers["content-type"]), /^application\/problem\+json/);
  assert.equal(body["type"], `https://iam.invalid/problems/${code}`);
  assert.equal(body["status"], expected);
  assert.equal(body["correlationId"], headers["x-correlation-id"]);
}

test("a request without a token, or with an invalid one, is a problem", async () => {
  const { ask } = await service(allowed);
  assert.equal((await ask("GET", "/open")).status, 200);
  const none = await ask("GET", "/me?token=secret");
  assertProblem(none, 401, "unauthorized");
  assert.equal(none.headers["www-authenticate"], "Bearer");
  assert.equal(none.body["instance"], "/me");
  const { authorization } = await bearer();
  assertProblem(
    await ask("GET", "/me", { authorization: authorization.replace("Bearer", "Basic") }),
    401,
    "unauthorized",
  );
  assertProblem(await ask("GET", "/me", { authorization: [authorization, authorization] }), 401, "unauthorized");
  for (const text of ["Bearer iamk_1", "Bearer a.b.c", `${authorization}x`]) {
    const invalid = await ask("GET", "/me", { authorization: text });
    assertProblem(invalid, 401, "unauthorized");
    assert.equal(invalid.headers["www-authenticate"], 'Bearer error="invalid_token"');
    assert.equal(invalid.body["detail"], "The access token is invalid.");
  }
});

test("a stolen token of another tenant, and one without the audience, open nothing", async () => {
  const { ask, backend } = await service(allowed);
  for (const changes of [
    { tenantId: "01a1fdcb-9b32-7000-8000-00000000000f" },
    { aud: undefined },
    { aud: "another" },
  ]) {
    const answer = await ask("POST", `/branches/${branch}/refunds`, await bearer(changes));
    assertProblem(answer, 401, "unauthorized");
    assert.equal(answer.body["detail"], "The access token is invalid.", "the reason is not told");
  }
  assert.equal(backend.requests.length, 0);
});

test("the reason of a 401 is for the service alone", async () => {
  const refused: string[][] = [];
  const onRefused = (...told: string[]) => refused.push(told);
  const { ask } = await service(() => problem(401, "unauthorized"), { onRefused });
  const mine = { "x-correlation-id": "mine" };
  await ask("GET", "/me", mine);
  await ask("GET", "/me", { ...mine, authorization: "Bearer garbage" });
  await ask("GET", "/me", { ...mine, ...(await bearer({ exp: now - 60 })) });
  await ask("GET", "/me", { ...mine, ...(await bearer({ tenantId: branch })) });
  await ask("GET", "/report", { ...mine, ...(await bearer()) });
  assert.deepEqual(refused, [
    ["Authentication is required: send a bearer access token.", "mine"],
    ["it is no access token", "mine"],
    ["it has expired", "mine"],
    ["it is of another tenant", "mine"],
    ["the API refuses it", "mine"],
  ]);
});

test("the caller is known behind the guard, and shows no token", async () => {
  const { ask } = await service(allowed);
  const headers = await bearer();
  const { status, body } = await ask("GET", "/me", { ...headers, "x-correlation-id": "mine" });
  assert.deepEqual([status, body["user"]], [200, claims.sub]);
  assert.ok(!String(body["shown"]).includes(headers.authorization.slice(10, 60)), String(body["shown"]));
});

test("a permission is asked for with the token of the caller, in the organization of the path", async () => {
  const { ask, backend, handled } = await service(({ body }) =>
    json({ allowed: (body as { organizationId?: string }).organizationId === branch }),
  );
  const headers = { ...(await bearer()), "x-correlation-id": "mine" };
  assert.equal((await ask("POST", `/branches/${branch}/refunds`, headers)).status, 200);
  const missing = await ask("GET", "/report", headers);
  assertProblem(missing, 403, "forbidden");
  assert.equal(missing.body["detail"], "Missing permission: orders:report.");
  assert.deepEqual(
    backend.requests.map(({ path, body }) => [path, body]),
    [
      ["/api/v1/authz/check", { permission: "orders:refund", organizationId: branch }],
      ["/api/v1/authz/check", { permission: "orders:report" }],
    ],
  );
  assert.ok(backend.requests.every((request) => request.headers.get("authorization") === headers.authorization));
  assert.ok(backend.requests.every((request) => request.headers.get("x-correlation-id") === "mine"));
  const malformed = await ask("POST", "/branches/..%2f/refunds", headers);
  assertProblem(malformed, 400, "validation-error");
  assert.deepEqual(malformed.body["errors"], [{ field: "branch", message: "must be a UUID" }]);
  assertProblem(await ask("GET", "/misnamed/x", headers), 500, "internal");
  assert.deepEqual(handled, [claims.sub]);
});

test("what the service answers about a permission never opens a route by mistake", async () => {
  const cases: [() => Response, number, string][] = [
    [() => problem(401, "unauthorized"), 401, "unauthorized"],
    [() => problem(403, "second-factor-required"), 403, "second-factor-required"],
    [() => problem(404, "not-found"), 404, "not-found"],
    [() => problem(429, "rate-limited", { "retry-after": "30" }, { retryAfter: 30 }), 429, "rate-limited"],
    [() => problem(500, "internal"), 503, "unavailable"],
    [() => problem(503, "unavailable"), 503, "unavailable"],
    [() => problem(400, "validation-error"), 500, "internal"],
    [() => new Response("<html>", { status: 200 }), 503, "unavailable"],
    [() => json({ allowed: "true" }), 403, "forbidden"],
    [() => json([]), 403, "forbidden"],
    [() => new Response(null, { status: 307, headers: { location: "https://evil.example/" } }), 503, "unavailable"],
  ];
  for (const [answer, status, code] of cases) {
    const { ask, handled } = await service(answer);
    const refused = await ask("POST", `/branches/${branch}/refunds`, await bearer());
    assertProblem(refused, status, code);
    assert.equal(
      refused.headers["retry-after"],
      code === "unavailable" ? "1" : code === "rate-limited" ? "30" : undefined,
    );
    assert.deepEqual(handled, []);
  }
});

test("a token that may change nothing is refused where something changes", async () => {
  const headers = await bearer({ readOnly: true, act: { sub: "someone" }, auth_time: 0 });
  const { ask } = await service(allowed);
  assert.equal((await ask("GET", "/me", headers)).status, 200);
  assertProblem(await ask("POST", `/branches/${branch}/refunds`, headers), 403, "forbidden");
  assertProblem(await ask("DELETE", "/me", headers), 403, "forbidden");
  const searching = await service(allowed, { isChange: ({ path }) => path !== "/me" });
  assert.equal((await searching.ask("POST", "/me", headers)).status, 200);
});

test("a recent authentication is required by the claims", async () => {
  const seconds = Math.floor(Date.now() / 1_000);
  const { ask } = await service(allowed);
  const recent = { auth_time: seconds - 10 };
  assert.equal((await ask("GET", "/fresh", await bearer(recent))).status, 200);
  assert.equal((await ask("GET", "/strong", await bearer({ ...recent, amr: ["pwd", "otp", "mfa"] }))).status, 200);
  for (const changes of [
    { auth_time: seconds - 301 },
    { auth_time: undefined },
    { ...recent, act: { sub: "someone" } },
  ]) {
    const refused = await ask("GET", "/fresh", await bearer(changes));
    assertProblem(refused, 401, "insufficient-authentication");
    assert.equal(refused.headers["www-authenticate"], 'Bearer error="insufficient_user_authentication", max_age="300"');
  }
  assertProblem(await ask("GET", "/strong", await bearer(recent)), 401, "insufficient-authentication");
  const { exp, ...rest } = claims;
  const fixed = { act: undefined, readOnly: false, attributes: {}, attributesTruncated: false };
  const ofKey: Verifier = { verify: async () => ({ ...rest, exp, ...fixed, apiKeyId: "k" }) };
  const withKey = await service(allowed, { verifier: ofKey });
  assertProblem(await withKey.ask("GET", "/fresh", { authorization: "Bearer iamk_1" }), 403, "forbidden");
});

test("errors of handlers and of parsers are problems without their secrets", async () => {
  const { ask, logged } = await service(allowed);
  const headers = await bearer();
  const conflict = await ask("GET", "/conflict", headers);
  assertProblem(conflict, 409, "conflict");
  assert.equal(conflict.body["detail"], "The order has been refunded already.");
  const broken = await ask("GET", "/broken", headers);
  assertProblem(broken, 500, "internal");
  assert.ok(!JSON.stringify(broken).includes("hunter2"));
  assert.equal(logged.length, 1);
  assertProblem(await ask("GET", "/nowhere", headers), 404, "not-found");
  assertProblem(await ask("GET", "/unguarded"), 500, "internal");
  const sent = { ...headers, "content-type": "application/json" };
  const torn = await ask("POST", "/me", sent, "{");
  assertProblem(torn, 400, "validation-error");
  assert.deepEqual(torn.body["errors"], [{ field: "$", message: "is not valid JSON" }]);
  assertProblem(await ask("POST", "/me", sent, JSON.stringify("x".repeat(200))), 413, "payload-too-large");
  assert.equal(logged.length, 2);
});

test("a service that cannot verify is unavailable, and says nothing of its own key", async () => {
  for (const [failure, status] of [[new TypeError("boom"), 500]] as const) {
    const { ask } = await service(allowed, { verifier: { verify: () => Promise.reject(failure) } });
    assert.equal((await ask("GET", "/me", await bearer())).status, status);
  }
  const down = new TokenVerifier({
    url,
    issuer: "iam",
    audience: "iam",
    tenant,
    fetch: () => Promise.reject(new TypeError("down")),
  });
  const { ask } = await service(allowed, { verifier: down });
  const answer = await ask("GET", "/me", await bearer());
  assertProblem(answer, 503, "unavailable");
  assert.equal(answer.headers["retry-after"], "1");
});
