import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeClient, invalidToken, json, problem, settle, tokens, type Received } from "../fake.js";

const notFresh = () =>
  problem(401, "insufficient-authentication", {
    "www-authenticate": 'Bearer error="insufficient_user_authentication", max_age="600"',
  });

/** Refuses until the session has authenticated again. */
function server() {
  let isFresh = false;
  return (request: Received) => {
    switch (request.path) {
      case "/api/v1/auth/step-up":
        if ((request.body as { password: string }).password !== "Passw0rd!") {
          return problem(401, "unauthorized", { "www-authenticate": "Bearer" });
        }
        isFresh = true;
        return new Response(null, { status: 204 });
      case "/api/v1/auth/refresh":
        return tokens(2);
      default:
        return isFresh ? json({ key: "iamk_1" }, { status: 201 }) : notFresh();
    }
  };
}

const newKey = { params: { path: { id: "u" } }, body: { name: "cron" } };

test("the callback is called once, and the request is repeated under its key", async () => {
  const asked: (number | undefined)[] = [];
  const { client, requests } = fakeClient(server(), {
    onStepUp: async ({ maxAge, problem }) => {
      assert.equal(problem.code, "insufficient-authentication");
      asked.push(maxAge);
      return { password: "Passw0rd!" };
    },
  });
  await client.POST("/users/{id}/api-keys", newKey);
  assert.deepEqual(asked, [600]);
  const sent = requests.filter(({ path }) => path.endsWith("/api-keys"));
  assert.equal(sent.length, 2);
  assert.equal(sent[0]?.headers.get("idempotency-key"), sent[1]?.headers.get("idempotency-key"));
  assert.equal(sent[1]?.headers.get("authorization"), "Bearer access-2", "the claims of the new token are recent");
});

test("calls at the same time ask the person once", async () => {
  let asked = 0;
  const { client } = fakeClient(server(), {
    onStepUp: async () => {
      asked += 1;
      await settle();
      return { password: "Passw0rd!" };
    },
  });
  await Promise.all(Array.from({ length: 10 }, () => client.POST("/users/{id}/api-keys", newKey)));
  assert.equal(asked, 1);
});

test("without a callback, or without a proof, the problem is thrown", async () => {
  const none = fakeClient(server());
  await assert.rejects(none.client.POST("/users/{id}/api-keys", newKey), {
    code: "insufficient-authentication",
    maxAge: 600,
  });
  assert.equal(none.requests.length, 1);
  const given = fakeClient(server(), { onStepUp: async () => undefined });
  await assert.rejects(given.client.POST("/users/{id}/api-keys", newKey), { code: "insufficient-authentication" });
  assert.equal(given.requests.length, 1);
});

test("a request that is refused again does not ask again", async () => {
  let asked = 0;
  const { client } = fakeClient(notFresh, {
    onStepUp: async () => {
      asked += 1;
      return true;
    },
  });
  await assert.rejects(client.POST("/users/{id}/api-keys", newKey), { code: "insufficient-authentication" });
  assert.equal(asked, 1);
});

test("a wrong proof is sent once: it counts as a failed login", async () => {
  const { client, requests } = fakeClient(server(), { onStepUp: async () => ({ password: "wrong" }) });
  await assert.rejects(client.POST("/users/{id}/api-keys", newKey), { status: 401, code: "unauthorized" });
  assert.equal(requests.filter(({ path }) => path.endsWith("/step-up")).length, 1);
  assert.equal(requests.filter(({ path }) => path.endsWith("/refresh")).length, 0);
});

test("a step-up by an expired token is repeated with a new one", async () => {
  let steps = 0;
  const { client } = fakeClient(({ path }) => {
    if (path.endsWith("/refresh")) {
      return tokens(2);
    }
    return steps++ === 0 ? problem(401, "unauthorized", invalidToken) : new Response(null, { status: 204 });
  });
  await client.stepUp({ password: "Passw0rd!" });
  assert.equal(steps, 2);
});

test("a tenant that requires a second factor asks for a step-up, too", async () => {
  let isRestricted = true;
  const { client } = fakeClient(() => (isRestricted ? problem(403, "second-factor-required") : json({})), {
    onStepUp: async ({ problem }) => {
      assert.equal(problem.code, "second-factor-required");
      isRestricted = false;
      return true;
    },
  });
  await client.GET("/tenants/{id}", { params: { path: { id: "t" } } });
});
