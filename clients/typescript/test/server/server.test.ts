// Against a real server, whose address is in IAM_URL. It must let webhooks reach this machine.

import assert from "node:assert/strict";
import { createHash, createHmac, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before, test } from "node:test";

import express from "express";
import { Client, documentDigest, InvalidWebhook, Problem, verifyWebhook, type StepUpRequest } from "iam-client";
import { callerOf, guards } from "iam-client/express";
import { InvalidToken, Introspection, TokenVerifier } from "iam-client/verifier";

const url = process.env["IAM_URL"] ?? "http://localhost:8080/api/v1";
const password = "Passw0rd!";
const person = (name: string) => `${name}.${randomUUID()}@example.com`;

/** A new tenant, and its administrator. */
async function register() {
  const client = new Client({ url });
  const email = person("ada");
  const body = { email, password, firstName: "Ada", lastName: "Lovelace", tenantName: "Analytical Engines" };
  const { tenant, user } = await client.useLogin(await client.POST("/auth/register", { body }));
  return { client, email, tenant, user };
}

/** The code of an authenticator app (RFC 6238), some steps of 30 seconds from now. */
function totp(secret: string, steps = 0): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret.replaceAll("=", "")]
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const mac = createHmac("sha1", key).update(counter).digest();
  const offset = mac[19]! & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

const ada: Awaited<ReturnType<typeof register>> = {} as never;
before(async () => {
  Object.assign(ada, await register());
});

const verifier = (tenant: string | string[] = ada.tenant.id) =>
  new TokenVerifier({ url, issuer: "iam", audience: "iam", tenant });

async function memberWithout(rights: { name: string }): Promise<Client> {
  const body = { email: person("grace"), password, firstName: rights.name, lastName: "Hopper" };
  await ada.client.POST("/users", { body });
  const grace = new Client({ url });
  await grace.login({ email: body.email, password });
  return grace;
}

test("the types are those of this server", async () => {
  const sorted = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(sorted)
      : value !== null && typeof value === "object"
        ? Object.fromEntries(
            Object.entries(value)
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([key, item]) => [key, sorted(item)]),
          )
        : value;
  const response = await fetch(new URL("/openapi.json", url));
  const { paths, components } = (await response.json()) as { paths: unknown; components: unknown };
  const digest = createHash("sha256")
    .update(JSON.stringify(sorted({ paths, components })))
    .digest("hex");
  assert.equal(
    documentDigest,
    digest,
    "the client was generated from another docs/openapi.json: write that file again",
  );
});

test("a request is repeated with one effect, and a refusal names the fields", async () => {
  const body = { email: person("grace"), password, firstName: "Grace", lastName: "Hopper" };
  const init = { body, params: { header: { "Idempotency-Key": randomUUID() } } };
  const first = await ada.client.request("post", "/users", init);
  const again = await ada.client.request("post", "/users", init);
  assert.equal(again.data.id, first.data.id);
  assert.equal(again.response.headers.get("idempotent-replayed"), "true");
  await assert.rejects(ada.client.POST("/users", { body: { ...body, email: "grace" } }), (error) => {
    assert.ok(error instanceof Problem);
    assert.deepEqual([error.status, error.code, error.errors[0]?.field], [400, "validation-error", "email"]);
    return true;
  });
  await assert.rejects(new Client({ url }).GET("/auth/me"), { status: 401, code: "unauthorized" });
});

test("a lost answer is asked for again, and the user is made once", async () => {
  let isLost = false;
  const lossy: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method === "POST" && !isLost) {
      isLost = true;
      await response.text();
      throw new TypeError("the answer is lost");
    }
    return response;
  };
  const client = new Client({ url, accessToken: ada.client.tokens!.accessToken, fetch: lossy });
  const email = person("katherine");
  const made = await client.POST("/users", {
    body: { email, password, firstName: "Katherine", lastName: "Johnson" },
  });
  assert.ok(isLost);
  assert.equal(made.email, email);
});

test("lists are read to their end", async () => {
  const { client } = await register();
  for (const name of ["A", "B", "C"]) {
    await client.POST("/organizations", { body: { name } });
  }
  const names: string[] = [];
  for await (const { name } of client.paginate("/organizations", {
    params: { query: { limit: 1, sortBy: "name", sortOrder: "asc" } },
  })) {
    names.push(name);
  }
  assert.deepEqual(names, ["A", "B", "C"]);
  const entries = new Set<string>();
  for await (const { id } of client.paginate("/audit-logs", { params: { query: { limit: 2 } } })) {
    assert.ok(!entries.has(id));
    entries.add(id);
  }
  assert.ok(entries.size >= 7);
  for await (const _ of client.paginate("/webhooks")) {
    assert.fail("there is no webhook");
  }
});

test("events arrive as they happen, and after an interruption each once", async () => {
  const { client } = await register();
  const token = client.tokens!.accessToken;
  let connections = 0;
  /** Breaks each of the first connections off after some hundred bytes. */
  const fragile: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    connections += 1;
    if (connections > 2) {
      return response;
    }
    let rest = 1_500;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.subarray(0, rest));
        rest -= chunk.byteLength;
        if (rest <= 0) {
          controller.error(new TypeError("reset"));
        }
      },
    });
    return new Response(response.body?.pipeThrough(cut), { headers: response.headers });
  };
  const follower = new Client({ url, accessToken: token, fetch: fragile });
  const seen: number[] = [];
  let isMade = false;
  for await (const { sequence, type } of follower.events()) {
    seen.push(sequence);
    if (type === "ORGANIZATION.CREATE") {
      break;
    }
    if (!isMade && type === "SESSION.LOGIN") {
      isMade = true;
      await client.POST("/organizations", { body: { name: "Branch" } });
    }
  }
  assert.deepEqual(
    seen,
    seen.map((_, index) => index + 1),
  );
  assert.ok(connections > 1, "the stream was interrupted");
  await assert.rejects(follower.events({ after: 1_000_000 }).next(), { status: 400 });
});

test("a token is refreshed once for all calls", async () => {
  const client = new Client({ url });
  await client.login({ email: ada.email, password });
  const first = client.tokens!.accessToken;
  let refreshes = 0;
  const counting: typeof fetch = (input, init) => {
    refreshes += String(input).endsWith("/auth/refresh") ? 1 : 0;
    return fetch(input, init);
  };
  const { refreshToken } = client.tokens!;
  const expired = new Client({ url, tokens: { accessToken: `${first}x`, refreshToken }, fetch: counting });
  await Promise.all(Array.from({ length: 8 }, () => expired.GET("/auth/me")));
  assert.equal(refreshes, 1);
  assert.notEqual(expired.tokens?.refreshToken, refreshToken);
  await expired.logout();
  assert.equal(expired.tokens, undefined);
  await assert.rejects(client.refresh(), { status: 401 });
});

test("a session authenticates again by the callback, and logs in by two factors", async () => {
  const { client, email } = await register();
  const asked: StepUpRequest[] = [];
  let proof = "";
  const other = new Client({
    url,
    onStepUp: async (request) => {
      asked.push(request);
      return { code: proof };
    },
  });
  await other.login({ email, password });
  const setup = await client.POST("/auth/factors/totp", { body: { name: "Phone" } });
  const secret = setup.secret ?? assert.fail("no secret");
  const codes = await client.POST("/auth/factors/totp/{id}/confirm", {
    params: { path: { id: setup.id } },
    body: { code: totp(secret) },
  });

  // The other session has authenticated by the password alone.
  const { user } = await other.GET("/auth/me");
  proof = totp(secret, 1);
  const key = await other.POST("/users/{id}/api-keys", {
    params: { path: { id: user.id } },
    body: { name: "cron", permissions: ["users:read"] },
  });
  assert.match(key.key ?? "", /^iamk_/);
  assert.deepEqual(
    asked.map(({ problem, maxAge }) => [problem.code, maxAge]),
    [["insufficient-authentication", 600]],
  );
  const { tenantId, amr } = await new TokenVerifier({ url, issuer: "iam", audience: "iam", tenant: "*" }).verify(
    await other.accessToken(),
  );
  assert.ok(amr.includes("mfa"), `the new token of ${tenantId} has ${amr.join(" ")}`);

  const recoveryCode = codes.recoveryCodes?.[0] ?? assert.fail("no recovery code");
  const third = new Client({ url });
  await third.login({ email, password }, { secondFactor: async () => ({ recoveryCode }) });
  assert.equal((await third.GET("/auth/me")).user.id, user.id);
});

test("tokens are verified by the published keys, for their tenant only", async () => {
  const claims = await verifier().verify(await ada.client.accessToken());
  assert.deepEqual([claims.sub, claims.tenantId, claims.readOnly], [ada.user.id, ada.tenant.id, false]);
  const stranger = await register();
  const stolen = await stranger.client.accessToken();
  await assert.rejects(verifier().verify(stolen), InvalidToken);
  await verifier([ada.tenant.id, stranger.tenant.id]).verify(stolen);
  const elsewhere = new TokenVerifier({ url, issuer: "iam", audience: "shop", tenant: ada.tenant.id });
  await assert.rejects(elsewhere.verify(await ada.client.accessToken()), InvalidToken);
  await assert.rejects(verifier().verify(ada.client.tokens!.refreshToken), InvalidToken);
});

test("guards let in who may, and learn of ended sessions by introspection", async () => {
  const robot = await ada.client.POST("/service-accounts", { body: { name: `Shop ${randomUUID()}` } });
  const auditors = await ada.client.POST("/roles", {
    body: { name: `R${Date.now()}`, permissions: ["sessions:read"], scope: "TENANT" },
  });
  await ada.client.POST("/role-assignments", { body: { userId: robot.id, roleId: auditors.id } });
  const issued = await ada.client.POST("/users/{id}/api-keys", {
    params: { path: { id: robot.id } },
    body: { name: "shop", permissions: ["sessions:read"] },
  });
  const introspection = new Introspection(new Client({ url, apiKey: issued.key ?? "" }));

  const branch = await ada.client.POST("/organizations", { body: { name: "Shop" } });
  const permission = "users:read";
  const app = express();
  for (const [path, by] of [
    ["keys", verifier()],
    ["introspection", introspection],
  ] as const) {
    const guard = guards({ url, verifier: by });
    const routes = express.Router();
    routes.use(guard.authenticate());
    routes.all(
      "/branches/:branch",
      guard.requirePermission(permission, { organization: "branch" }),
      (request, response) => {
        response.json({ sub: callerOf(request).claims.sub });
      },
    );
    routes.all("/fresh", guard.requireFresh({ maxAge: 300 }), (_, response) => void response.json({}));
    routes.use(guard.notFound(), guard.problems());
    app.use(`/${path}`, routes);
  }
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = async (path: string, token: string, method = "GET") =>
    (await fetch(address + path, { method, headers: { authorization: `Bearer ${token}` } })).status;
  try {
    const token = await ada.client.accessToken();
    const grace = await memberWithout({ name: "Grace" });
    const stranger = await register();
    for (const path of ["/keys", "/introspection"]) {
      assert.equal(await ask(`${path}/branches/${branch.id}`, token), 200);
      assert.equal(
        await ask(`${path}/branches/${branch.id}`, await grace.accessToken()),
        404,
        "Grace holds nothing there",
      );
      assert.equal(await ask(`${path}/branches/${branch.id}`, await stranger.client.accessToken()), 401);
      assert.equal(await ask(`${path}/branches/${branch.id}`, "iamk_1"), 401);
      assert.equal(await ask(`${path}/fresh`, token), 200);
    }
    assert.equal(await ask("/keys/fresh", issued.key ?? ""), 401, "an API key is no token with a signature");
    assert.equal(await ask("/introspection/fresh", issued.key ?? ""), 403);

    const reason = "Ticket 4711";
    const graceId = (await grace.GET("/auth/me")).user.id;
    const acting = await ada.client.POST("/users/{id}/impersonations", {
      params: { path: { id: graceId } },
      body: { reason, seconds: 60 },
    });
    const actingToken = acting.accessToken ?? assert.fail("no token");
    const claims = await verifier().verify(actingToken);
    assert.deepEqual([claims.sub, claims.act?.sub, claims.readOnly], [graceId, ada.user.id, true]);
    for (const path of ["/keys", "/introspection"]) {
      assert.equal(await ask(`${path}/branches/${branch.id}`, actingToken, "POST"), 403);
      assert.equal(await ask(`${path}/fresh`, actingToken), 401);
    }

    const ended = await grace.accessToken();
    await grace.logout();
    assert.equal(await ask("/introspection/fresh", ended), 401);
    assert.equal(await ask("/keys/fresh", ended), 200, "until the token expires");
    assert.equal(await ask(`/keys/branches/${branch.id}`, ended), 401, "the check of the permission knows it");
  } finally {
    server.close();
  }
});

test("a webhook of the server is verified", async () => {
  let secret = "";
  const answers: number[] = [];
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    try {
      await verifyWebhook(secret, request.headers, Buffer.concat(chunks));
      response.statusCode = 204;
    } catch (error) {
      assert.ok(error instanceof InvalidWebhook);
      response.statusCode = 401;
    }
    answers.push(response.statusCode);
    response.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  try {
    const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const hook = await ada.client.POST("/webhooks", { body: { url: target, types: ["ROLE.*"] } });
    const test = () => ada.client.POST("/webhooks/{id}/test", { params: { path: { id: hook.id } } });
    secret = `whsec_${Buffer.from("another secret").toString("base64")}`;
    assert.equal((await test()).httpStatus, 401);
    secret = hook.secret ?? assert.fail("no secret");
    assert.equal((await test()).httpStatus, 204);
    assert.deepEqual(answers, [401, 204]);
  } finally {
    receiver.close();
  }
});
