import assert from "node:assert/strict";
import { test } from "node:test";

import { RequestFailed } from "iam-client";

import { fakeClient, json, problem, settle } from "../fake.js";

const newOrganization = { body: { name: "Branch" } };

test("a request is repeated with the same key, after the time that the server asks for", async () => {
  const answers = [
    problem(429, "rate-limited", { "retry-after": "3" }),
    problem(503, "unavailable", { "retry-after": "1" }),
  ];
  const { client, requests, waits } = fakeClient(() => answers.shift() ?? json({}, { status: 201 }));
  await client.POST("/organizations", newOrganization);
  const keys = new Set(requests.map(({ headers }) => headers.get("idempotency-key")));
  assert.equal(requests.length, 3);
  assert.equal(keys.size, 1);
  assert.match([...keys][0] ?? "", /^[0-9a-f-]{36}$/);
  assert.ok(waits[0]! > 3_000 && waits[0]! <= 4_000, "at least what was asked for, with jitter");
  assert.ok(waits[1]! > 1_000 && waits[1]! <= 2_000);
});

test("each call has its own key, and a key of the caller stays", async () => {
  const { client, requests } = fakeClient(() => json({}, { status: 201 }));
  await client.POST("/organizations", newOrganization);
  await client.POST("/organizations", newOrganization);
  await client.POST("/organizations", { ...newOrganization, params: { header: { "Idempotency-Key": "import-17" } } });
  const keys = requests.map(({ headers }) => headers.get("idempotency-key"));
  assert.notEqual(keys[0], keys[1]);
  assert.equal(keys[2], "import-17");
});

test("the attempts and the waits are bounded", async () => {
  const { client, requests, waits } = fakeClient(() => {
    throw new TypeError("fetch failed");
  });
  await assert.rejects(
    client.GET("/auth/me"),
    (error) => error instanceof RequestFailed && error.code === "connection",
  );
  assert.equal(requests.length, 4);
  assert.ok(
    waits.every((wait, number) => wait > 0 && wait <= 250 * 2 ** number),
    String(waits),
  );
});

for (const asked of ["3600", "9".repeat(400), "Fri, 31 Dec 9999 23:59:59 GMT"]) {
  test(`a wait of ${asked.slice(0, 10)} is told and not waited for`, async () => {
    const { client, requests, waits } = fakeClient(() =>
      problem(429, "rate-limited", { "retry-after": asked }, { retryAfter: 3600 }),
    );
    await assert.rejects(client.GET("/auth/me"), { status: 429, retryAfter: 3600 });
    assert.equal(requests.length, 1);
    assert.deepEqual(waits, []);
  });
}

for (const nonsense of ["-5", "soon", "1e9", ""]) {
  test(`a Retry-After of "${nonsense}" is bounded like none`, async () => {
    const { client, requests, waits } = fakeClient(() => problem(429, "rate-limited", { "retry-after": nonsense }));
    await assert.rejects(client.GET("/auth/me"), { status: 429 });
    assert.equal(requests.length, 4);
    assert.ok(waits.every((wait) => wait <= 1_000));
  });
}

test("what may have had an effect that cannot be repeated is sent once", async () => {
  for (const answer of [
    () => new Response("<html>", { status: 502 }),
    () => problem(503, "unavailable", { "retry-after": "1" }),
    () => Promise.reject(new TypeError("reset")),
  ]) {
    const { client, requests } = fakeClient(answer);
    const id = "01a1fdcb-9b32-7000-8000-45f2b9876ce2";
    await assert.rejects(client.PATCH("/users/{id}", { params: { path: { id } }, body: { firstName: "Ada" } }));
    await assert.rejects(client.POST("/users/{id}/suspend", { params: { path: { id } } }));
    await assert.rejects(client.DELETE("/users/{id}", { params: { path: { id }, header: { "If-Match": '"3"' } } }));
    await assert.rejects(client.POST("/auth/login", { body: { email: "a@example.com", password: "x" } }));
    assert.equal(requests.length, 4);
  }
});

test("what a lost answer has deleted is gone", async () => {
  const id = "01a1fdcb-9b32-7000-8000-45f2b9876ce2";
  const lost = [() => Promise.reject(new TypeError("reset")), () => new Response("<html>", { status: 502 })];
  for (const first of lost) {
    const { client } = fakeClient((_, number) => (number === 1 ? first() : problem(404, "not-found")));
    const { response } = await client.request("delete", "/roles/{id}", { params: { path: { id } } });
    assert.equal(response.status, 204);
    const preview = fakeClient((_, number) => (number === 1 ? first() : problem(404, "not-found")));
    const asked = { params: { path: { id }, query: { preview: true } } };
    await assert.rejects(preview.client.DELETE("/roles/{id}", asked), { status: 404 });
  }
  for (const answers of [[problem(404, "not-found")], [problem(429, "rate-limited"), problem(404, "not-found")]]) {
    const { client } = fakeClient(() => answers.shift()!);
    await assert.rejects(client.DELETE("/roles/{id}", { params: { path: { id } } }), { status: 404 });
  }
  const proxy = fakeClient((_, number) => (number === 1 ? lost[0]!() : new Response("<html>", { status: 404 })));
  await assert.rejects(proxy.client.DELETE("/roles/{id}", { params: { path: { id } } }));
});

test("too many requests have had no effect, so each of them is repeated", async () => {
  const { client, requests } = fakeClient((_, number) =>
    number === 1 ? problem(429, "rate-limited", { "retry-after": "1" }) : new Response(null, { status: 204 }),
  );
  await client.POST("/auth/password", { body: { currentPassword: "a", newPassword: "b" } });
  assert.equal(requests.length, 2);
});

test("a first request that still runs is waited for", async () => {
  const { client, requests } = fakeClient((_, number) =>
    number === 1 ? problem(409, "conflict", { "retry-after": "1" }) : json({}, { status: 201 }),
  );
  await client.POST("/organizations", newOrganization);
  assert.equal(requests.length, 2);
});

test("what is turned off and other refusals are not repeated", async () => {
  for (const [status, code] of [
    [503, "unavailable"],
    [500, "internal"],
    [409, "conflict"],
    [422, "idempotency-key-reused"],
  ] as const) {
    const { client, requests } = fakeClient(() => problem(status, code));
    await assert.rejects(client.POST("/organizations", newOrganization), { status, code });
    assert.equal(requests.length, 1);
  }
});

test("a proxy without a problem document counts as one that soon answers again", async () => {
  const { client, requests } = fakeClient((_, number) =>
    number < 4 ? new Response("<html>", { status: 501 + number }) : json({}),
  );
  await client.GET("/auth/me");
  assert.equal(requests.length, 4);
});

test("a signal ends a request, and the wait for the next attempt", async () => {
  const controller = new AbortController();
  const never = fakeClient(() => new Promise<Response>(() => undefined));
  const call = never.client.GET("/auth/me", { signal: controller.signal });
  await settle();
  controller.abort(new Error("enough"));
  await assert.rejects(call, { message: "enough" });
  assert.equal(never.requests.length, 1);

  // With the real clock: the wait would take a second or more.
  const { Client } = await import("iam-client");
  const waiting = new AbortController();
  let sent = 0;
  const busy = async () => {
    sent += 1;
    setImmediate(() => waiting.abort(new Error("enough")));
    return problem(429, "rate-limited", { "retry-after": "15" });
  };
  const client = new Client({ url: "https://iam.example.com/api/v1", apiKey: "k", fetch: busy });
  await assert.rejects(client.GET("/auth/me", { signal: waiting.signal }), { message: "enough" });
  await assert.rejects(client.GET("/auth/me", { signal: waiting.signal }), { message: "enough" });
  assert.equal(sent, 1);
});

test("a response that does not come is a timeout", async () => {
  const { client, requests } = fakeClient(() => new Promise<Response>(() => undefined), {
    timeout: 5,
    retry: { attempts: 2 },
  });
  await assert.rejects(client.GET("/auth/me"), { name: "RequestFailed", code: "timeout" });
  assert.equal(requests.length, 2);
});
