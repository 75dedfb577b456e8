import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { inspect } from "node:util";

import { Client, Problem, RequestFailed, Tokens } from "iam-client";

import { fakeClient, firstTokens, json, problem, url } from "../fake.js";

const SECRETS = ["access-1", "refresh-1", "iamk_secret", "iamc_secret"];

/** Everything that a log or an error report could make of a value. */
function shown(value: unknown): string {
  const own =
    value instanceof Error
      ? Object.fromEntries(Object.getOwnPropertyNames(value).map((name) => [name, (value as never)[name]]))
      : {};
  return [
    inspect(value, { depth: 20, showHidden: true, getters: false }),
    String(value),
    JSON.stringify(value),
    JSON.stringify(own),
  ].join("\n");
}

function assertNoSecret(value: unknown): void {
  for (const secret of SECRETS) {
    assert.ok(!shown(value).includes(secret), `${secret} in ${shown(value)}`);
  }
}

const servers: ReturnType<typeof createServer>[] = [];
after(() => servers.forEach((server) => server.close().closeAllConnections()));

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`a ${status} to another origin gets no token`, async () => {
    let visits = 0;
    const other = await listen((_, response) => {
      visits += 1;
      response.end("{}");
    });
    const here = await listen((_, response) =>
      response.writeHead(status, { location: `${other}/api/v1/auth/me` }).end(),
    );
    const client = new Client({ url: `${here}/api/v1`, tokens: firstTokens });
    const calls = [
      () => client.GET("/auth/me"),
      () => client.refresh(),
      () => client.POST("/organizations", { body: { name: "x" } }),
    ];
    for (const call of calls) {
      await assert.rejects(call, (error) => error instanceof RequestFailed && error.code === "redirect");
    }
    assert.equal(visits, 0);
  });
}

test("a redirect on the same origin is not followed either", async () => {
  let visits = 0;
  const here = await listen((request, response) => {
    visits += 1;
    response.writeHead(307, { location: `${request.url}/again` }).end();
  });
  await assert.rejects(new Client({ url: here, apiKey: "iamk_secret" }).GET("/auth/me"), { code: "redirect" });
  assert.equal(visits, 1);
});

test("an endless response is cut off, of a success and of a problem", async () => {
  for (const status of [200, 400]) {
    let isEnded = false;
    const chunk = Buffer.alloc(64 * 1024, "[");
    const here = await listen((_, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.on("close", () => (isEnded = true));
      const more = () => {
        while (!isEnded && response.write(chunk));
      };
      response.on("drain", more);
      more();
    });
    const client = new Client({ url: here, apiKey: "iamk_secret", maxBytes: 1024 * 1024, retry: { attempts: 1 } });
    await assert.rejects(
      client.GET("/auth/me"),
      (error) => error instanceof RequestFailed && error.code === "too-large",
    );
  }
});

test("a response that comes byte by byte is ended by the time limit", async () => {
  const here = await listen((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(timer));
  });
  const client = new Client({ url: here, apiKey: "iamk_secret", timeout: 50, retry: { attempts: 1 } });
  await assert.rejects(client.GET("/auth/me"), { code: "timeout" });
});

for (const body of [
  "<html>iamk_secret</html>",
  "",
  "null",
  "17",
  '"iamk_secret"',
  '{"accessToken":"iamk_secret"',
  "\u0000",
]) {
  test(`a success of ${JSON.stringify(body).slice(0, 20)} is no login`, async () => {
    const { client } = fakeClient(() => new Response(body, { headers: { "content-type": "application/json" } }));
    const login = client.login({ email: "a@example.com", password: "x" });
    await assert.rejects(login, (error) => {
      assertNoSecret(error);
      return error instanceof RequestFailed && error.code === "malformed";
    });
    assert.equal(client.tokens?.accessToken, "access-1");
  });
}

test("a refusal that is no problem document is still a problem", async () => {
  for (const body of ["<html>", "[]", "null", '{"type":7,"errors":[null,{"field":1}],"status":"x"}', ""]) {
    const { client } = fakeClient(() => new Response(body, { status: 400, headers: { "x-correlation-id": "c-9" } }));
    await assert.rejects(client.GET("/auth/me"), (error) => {
      assert.ok(error instanceof Problem);
      assert.deepEqual([error.status, error.code, error.errors, error.correlationId], [400, "unknown", [], "c-9"]);
      return true;
    });
  }
});

test("a problem names the fields, and has the other members of the document", async () => {
  const errors = [{ field: "email", message: "must be a valid e-mail address" }];
  const { client } = fakeClient(() => problem(400, "validation-error", {}, { errors, tenants: [{ slug: "a" }] }));
  await assert.rejects(client.GET("/auth/me"), (error) => {
    assert.ok(error instanceof Problem);
    assert.deepEqual(error.errors, errors);
    assert.deepEqual(error.member("tenants"), [{ slug: "a" }]);
    assert.equal(error.message, "400 validation-error: What happened. (c-1)");
    return true;
  });
});

test("no object and no error shows a secret", async () => {
  const { client } = fakeClient(() =>
    problem(401, "second-factor-required", {}, { challenge: "iamc_secret", detail: "access-1" }),
  );
  assertNoSecret(client);
  assertNoSecret(client.tokens);
  assertNoSecret(new Tokens(firstTokens));
  assertNoSecret(new Client({ url, apiKey: "iamk_secret" }));
  // The detail repeats the token, as a proxy that explains what it refuses may do.
  await assert.rejects(client.GET("/auth/me"), (error) => {
    assertNoSecret(error);
    return error instanceof Problem && error.challenge === "iamc_secret";
  });
  const refused = new Client({ url: "http://127.0.0.1:1", apiKey: "iamk_secret", retry: { attempts: 1 } });
  await assert.rejects(refused.GET("/auth/me"), (error) => {
    assertNoSecret(error);
    return error instanceof RequestFailed && error.code === "connection";
  });
});

test("a request goes to no other address, and to no other operation", async () => {
  const { client, requests } = fakeClient(() => json({}));
  const other = { baseUrl: "https://evil.example", fetch: () => assert.fail("sent elsewhere") };
  await client.GET("/auth/me", other as object);
  assert.equal(requests.length, 1);
  for (const id of ["..", ".", ""]) {
    await assert.rejects(client.POST("/users/{id}/suspend", { params: { path: { id } } }), { code: "argument" });
  }
  await client.GET("/users/{id}", { params: { path: { id: "../tenants/x?y#z" } } });
  assert.equal(requests.length, 2);
  assert.equal(requests[1]?.path, "/api/v1/users/..%2Ftenants%2Fx%3Fy%23z");
  for (const bad of [
    "iam.example.com",
    "ftp://iam.example.com",
    "https://user:pw@iam.example.com",
    "https://iam.example.com/?a",
  ]) {
    assert.throws(() => new Client({ url: bad, apiKey: "iamk_secret" }), { code: "argument" });
  }
});

test("an unchanged resource is no problem", async () => {
  const { client } = fakeClient(() => new Response(null, { status: 304, headers: { etag: '"3"' } }));
  const init = { params: { path: { id: "r" }, header: { "If-None-Match": '"3"' } } };
  const { data, response } = await client.request("get", "/roles/{id}", init);
  assert.deepEqual([data, response.status, response.headers.get("etag")], [undefined, 304, '"3"']);
});
