import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem, RequestFailed, type Tokens } from "iam-client";

import { fakeClient, firstTokens, invalidToken, json, problem, settle, tokens, type Received } from "../fake.js";

const isRefresh = ({ path }: Received) => path === "/api/v1/auth/refresh";
const bearer = ({ headers }: Received) => headers.get("authorization");

/** Accepts the token of this number, and gives it for the one before. */
function serverAt(number: number) {
  return (request: Received) => {
    if (isRefresh(request)) {
      const spent = (request.body as { refreshToken: string }).refreshToken;
      return spent === `refresh-${number - 1}` ? tokens(number) : problem(401, "unauthorized");
    }
    return bearer(request) === `Bearer access-${number}` ? json({}) : problem(401, "unauthorized", invalidToken);
  };
}

test("calls at the same time share one refresh", async () => {
  const kept: (Tokens | undefined)[] = [];
  const { client, requests } = fakeClient(serverAt(2), { onTokens: (tokens) => kept.push(tokens) });
  await Promise.all(Array.from({ length: 20 }, () => client.GET("/auth/me")));
  assert.equal(requests.filter(isRefresh).length, 1);
  assert.equal(requests.length, 41);
  assert.deepEqual(
    kept.map((tokens) => tokens?.refreshToken),
    ["refresh-2"],
  );
});

test("an answer that comes after the refresh of another call causes no second one", async () => {
  let late: (response: Response) => void = () => undefined;
  const answer = serverAt(2);
  const { client, requests } = fakeClient((request, number) =>
    number === 1 ? new Promise<Response>((resolve) => (late = resolve)) : answer(request),
  );
  const slow = client.GET("/auth/me");
  await client.GET("/auth/me");
  late(problem(401, "unauthorized", invalidToken));
  await slow;
  assert.equal(requests.filter(isRefresh).length, 1);
});

test("a token is replaced before it expires", async () => {
  const { client, requests, environment } = fakeClient((request) => (isRefresh(request) ? tokens(2) : json({})));
  environment.time += 870_000;
  await client.GET("/auth/me");
  assert.equal(bearer(requests[0]!), "Bearer access-1");
  environment.time += 15_000;
  await Promise.all([client.GET("/auth/me"), client.accessToken()]);
  assert.deepEqual(
    requests.slice(1).map((request) => [request.path, bearer(request)]),
    [
      ["/api/v1/auth/refresh", null],
      ["/api/v1/auth/me", "Bearer access-2"],
    ],
  );
});

test("a token that has not expired is used while a refresh fails", async () => {
  const { client, environment } = fakeClient(
    (request) => (isRefresh(request) ? problem(503, "unavailable") : json({})),
    {
      retry: { attempts: 1 },
    },
  );
  environment.time += 890_000;
  await client.GET("/auth/me");
  environment.time += 20_000;
  await assert.rejects(client.GET("/auth/me"), { status: 503 });
});

test("a session that has ended has no tokens, and its refresh token is sent once", async () => {
  const kept: (Tokens | undefined)[] = [];
  const { client, requests } = fakeClient(() => problem(401, "unauthorized", invalidToken), {
    onTokens: (tokens) => kept.push(tokens),
  });
  const calls = [client.GET("/auth/me"), client.GET("/auth/me"), client.refresh()];
  const results = await Promise.allSettled(calls);
  assert.ok(results.every((result) => result.status === "rejected" && result.reason instanceof Problem));
  assert.equal(requests.filter(isRefresh).length, 1);
  assert.deepEqual(kept, [undefined]);
  assert.equal(client.tokens, undefined);
  await assert.rejects(client.refresh(), RequestFailed);
});

test("a new token that is refused, too, is not refreshed again", async () => {
  let number = 1;
  const { client, requests } = fakeClient((request) =>
    isRefresh(request) ? tokens(++number) : problem(401, "unauthorized", invalidToken),
  );
  await assert.rejects(client.GET("/auth/me"), { status: 401, code: "unauthorized" });
  assert.equal(requests.length, 3);
});

test("a login during a refresh is not overwritten", async () => {
  let finish: (response: Response) => void = () => undefined;
  const { client } = fakeClient((request) =>
    isRefresh(request)
      ? new Promise<Response>((resolve) => (finish = resolve))
      : json({
          accessToken: "access-new",
          refreshToken: "refresh-new",
          tokenType: "Bearer",
          expiresIn: 900,
          user: {},
        }),
  );
  const refreshing = client.refresh();
  await settle();
  await client.login({ email: "ada@example.com", password: "Passw0rd!" });
  finish(tokens(2));
  await refreshing;
  assert.equal(client.tokens?.accessToken, "access-new");
});

test("a call that is aborted does not end the refresh of the others", async () => {
  let finish: (response: Response) => void = () => undefined;
  const answer = serverAt(2);
  const { client } = fakeClient((request) =>
    isRefresh(request) ? new Promise<Response>((resolve) => (finish = resolve)) : answer(request),
  );
  const controller = new AbortController();
  const aborted = client.GET("/auth/me", { signal: controller.signal });
  const other = client.GET("/auth/me");
  await settle();
  controller.abort(new Error("enough"));
  await assert.rejects(aborted, { message: "enough" });
  finish(tokens(2));
  await other;
});

test("a lost answer of a refresh is asked for again with the same token", async () => {
  let lost = 0;
  const { client, requests } = fakeClient((request) => {
    if (isRefresh(request) && lost++ === 0) {
      throw new TypeError("fetch failed");
    }
    return serverAt(2)(request);
  });
  await client.GET("/auth/me");
  const spent = requests.filter(isRefresh).map(({ body }) => (body as { refreshToken: string }).refreshToken);
  assert.deepEqual(spent, ["refresh-1", "refresh-1"]);
});

test("the last attempt of a refresh begins before a spent token ends the session", async () => {
  let begun = 0;
  const sent: number[] = [];
  const { client, environment } = fakeClient(() => {
    begun ||= environment.time;
    sent.push(environment.time - begun);
    // As if each answer was lost after the time limit.
    environment.time += 4_000;
    throw new TypeError("fetch failed");
  });
  await assert.rejects(client.refresh(), { code: "connection" });
  assert.equal(sent.length, 3);
  assert.ok(
    sent.every((milliseconds) => milliseconds < 10_000),
    String(sent),
  );
});

test("a refresh makes no long pause", async () => {
  for (const [asked, number] of [
    ["1", 2],
    ["2", 1],
  ] as const) {
    const { client, requests, waits } = fakeClient((_, number) =>
      number === 1 ? problem(503, "unavailable", { "retry-after": asked }) : tokens(2),
    );
    await client.refresh().catch((error: unknown) => assert.ok(error instanceof Problem));
    assert.equal(requests.length, number);
    assert.ok(waits.every((wait) => wait >= 1_000 && wait <= 1_500));
    // The tokens are not spent.
    assert.notEqual(client.tokens, undefined);
  }
});

test("tokens that were kept for a while expire when the access token says so", async () => {
  const { environment } = fakeClient(() => json({}));
  const accessTokenUntil = (exp: unknown) => `e30.${Buffer.from(JSON.stringify({ exp })).toString("base64url")}.AAAA`;
  const seconds = environment.time / 1_000;
  for (const [exp, isUsed] of [
    [seconds - 1, false],
    [seconds + 5, false],
    [seconds + 60, true],
    ["soon", true],
  ] as const) {
    for (const expiresIn of [{}, { expiresIn: 900 }]) {
      const kept = { accessToken: accessTokenUntil(exp), refreshToken: "refresh-1", ...expiresIn };
      const { client } = fakeClient(() => tokens(2), { tokens: kept });
      assert.equal(await client.accessToken(), isUsed ? kept.accessToken : "access-2");
    }
  }
  // Those of an answer expire by the clock of this program.
  const { client } = fakeClient(() => tokens(2));
  await client.useLogin({ accessToken: accessTokenUntil(1), refreshToken: "refresh-1", expiresIn: 900 });
  assert.equal(await client.accessToken(), accessTokenUntil(1));
});

test("a callback that keeps the tokens is waited for, and loses none if it fails", async () => {
  const kept: (string | undefined)[] = [];
  let isFull = false;
  const { client, requests } = fakeClient(serverAt(2), {
    onTokens: async (tokens) => {
      await settle();
      if (isFull) {
        throw new Error("the disk is full");
      }
      kept.push(tokens?.refreshToken);
    },
  });
  await client.useLogin({ accessToken: "access-1", refreshToken: "refresh-1" });
  assert.deepEqual(kept, ["refresh-1"]);
  isFull = true;
  await assert.rejects(client.GET("/auth/me"), { message: "the disk is full" });
  assert.equal(client.tokens?.refreshToken, "refresh-2");
  await client.GET("/auth/me");
  assert.equal(requests.filter(isRefresh).length, 1);
});

test("one kind of credentials is given", async () => {
  const { Client } = await import("iam-client");
  assert.throws(() => new Client({ url: "https://iam.example.com", apiKey: "iamk_1", tokens: firstTokens }), {
    code: "argument",
  });
});

test("an API key and a token without a refresh token are never refreshed", async () => {
  for (const options of [{ apiKey: "iamk_1" }, { accessToken: "access-1" }]) {
    const { requests, fetch, environment } = fakeClient(() => problem(401, "unauthorized", invalidToken));
    const { Client } = await import("iam-client");
    const client = new Client({ url: "https://iam.example.com/api/v1", fetch, environment, ...options });
    await assert.rejects(client.GET("/auth/me"), { status: 401 });
    assert.equal(requests.length, 1);
  }
});

test("a login finishes by a second factor, and returns no tokens", async () => {
  const { client, requests } = fakeClient((request) =>
    request.path.endsWith("/second-factor")
      ? json({
          accessToken: "a",
          refreshToken: "r",
          tokenType: "Bearer",
          expiresIn: 900,
          user: { id: "u" },
          enrolBy: null,
        })
      : problem(401, "second-factor-required", {}, { challenge: "iamc_1", methods: ["totp"], expiresIn: 300 }),
  );
  const credentials = { email: "ada@example.com", password: "Passw0rd!" };
  await assert.rejects(client.login(credentials), (error) => error instanceof Problem && error.challenge === "iamc_1");
  const answer = await client.login(credentials, {
    secondFactor: async ({ methods, expiresIn }) => {
      assert.deepEqual([methods, expiresIn], [["totp"], 300]);
      return { code: "123456" };
    },
  });
  assert.deepEqual(answer, { user: { id: "u" }, enrolBy: null });
  assert.deepEqual(requests.at(-1)?.body, { code: "123456", challenge: "iamc_1" });
  assert.ok(
    requests.every((request) => bearer(request) === null),
    "a login sends no token",
  );
  assert.equal(client.tokens?.refreshToken, "r");
});
