import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import { exportJWK, exportSPKI, generateKeyPair, UnsecuredJWT, type JWK } from "jose";
import { InvalidToken, Introspection, TokenVerifier, type TokenVerifierOptions } from "iam-client/verifier";

import { fakeClient, json, problem } from "../fake.js";
import { claims, jwks, keyPair, now, sign, tenant, user } from "../keys.js";

const key = await keyPair("key-1");

function verifier(options: Partial<TokenVerifierOptions> = {}, keys: () => unknown = () => ({ keys: [key.jwk] })) {
  const set = jwks(keys);
  const clock = { time: now * 1_000 };
  const url = "https://iam.example.com/api/v1";
  const accepted = {
    url,
    issuer: "iam",
    audience: "iam",
    tenant,
    fetch: set.fetch,
    now: () => clock.time,
    ...options,
  };
  return { verifier: new TokenVerifier(accepted), set, clock };
}

async function assertInvalid(
  token: string,
  reason: RegExp,
  options?: Partial<TokenVerifierOptions>,
  keys?: () => unknown,
) {
  await assert.rejects(verifier(options, keys).verifier.verify(token), (error) => {
    assert.ok(error instanceof InvalidToken, inspect(error));
    assert.match(error.reason, reason);
    const shown = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error);
    assert.ok((token ?? "").length < 20 || !shown.includes(token), "the error shows the token");
    assert.ok(!shown.includes(user), "the error shows the claims");
    return true;
  });
}

test("a token of the service is verified, and its claims are visible", async () => {
  const { verifier: service, set } = verifier();
  const verified = await service.verify(await sign(key));
  assert.equal(verified.sub, user);
  assert.equal(verified.tenantId, tenant);
  assert.deepEqual([verified.amr, verified.auth_time, verified.exp], [["pwd"], now - 60, now + 900]);
  assert.deepEqual([verified.readOnly, verified.act, verified.apiKeyId], [false, undefined, undefined]);
  const acting = await service.verify(await sign(key, { readOnly: true, act: { sub: "someone" } }));
  assert.deepEqual([acting.readOnly, acting.act], [true, { sub: "someone" }]);
  assert.equal(set.reads, 1);
});

test("the attributes in a token are visible", async () => {
  const { verifier: service } = verifier();
  const none = await service.verify(await sign(key));
  assert.deepEqual([none.attributes, none.attributesTruncated], [{}, false]);
  const some = await service.verify(await sign(key, { attributes: { costCentre: "4711" }, attributesTruncated: true }));
  assert.deepEqual([some.attributes, some.attributesTruncated], [{ costCentre: "4711" }, true]);
  for (const attributes of ["4711", ["4711"], null]) {
    await assertInvalid(await sign(key, { attributes }), /malformed/);
  }
});

test("a token of another tenant, issuer or audience is refused", async () => {
  const other = "01a1fdcb-9b32-7000-8000-000000000009";
  await assertInvalid(await sign(key, { tenantId: other }), /^it is of another tenant$/);
  await assertInvalid(await sign(key, { tenantId: [tenant] }), /malformed/);
  await assertInvalid(await sign(key, { tenantId: undefined }), /a claim is missing/);
  await assertInvalid(await sign(key, { iss: "another" }), /^it is of another issuer$/);
  await assertInvalid(await sign(key, { iss: undefined }), /a claim is missing/);
  await assertInvalid(await sign(key, { aud: "another" }), /^it is for another audience$/);
  await assertInvalid(await sign(key, { aud: undefined }), /a claim is missing/);
  await verifier({ tenant: [other, tenant] }).verifier.verify(await sign(key, { tenantId: other }));
  await verifier({ tenant: "*" }).verifier.verify(await sign(key, { tenantId: other }));
});

test("a verifier must say what it accepts", () => {
  for (const missing of [
    { issuer: "" },
    { audience: "" },
    { clockTolerance: 3600 },
  ]) {
    assert.throws(() => verifier(missing), TypeError);
  }
  const slug = "analytical-engines";
  for (const none of ["", [], [""], slug, [tenant, slug], ["*"], undefined as never, null as never, 7 as never]) {
    assert.throws(() => verifier({ tenant: none }), { name: "TypeError", message: /^tenant must be the id .* a UUID/ });
  }
});

test("an id of a tenant is one in capitals, too", async () => {
  await verifier({ tenant: tenant.toUpperCase() }).verifier.verify(await sign(key));
});

test("the lifetime is checked", async () => {
  await assertInvalid(await sign(key, { exp: now - 60 }), /^it has expired$/);
  await assertInvalid(await sign(key, { exp: undefined }), /a claim is missing/);
  await assertInvalid(await sign(key, { nbf: now + 60 }), /^it is not valid yet$/);
  await verifier().verifier.verify(await sign(key, { nbf: now + 4, iat: now + 4 }));
});

test("a token without a signature, or with one by another algorithm, is refused", async () => {
  const unsigned = new UnsecuredJWT(claims).encode();
  await assertInvalid(unsigned, /./);
  const [, payload] = (await sign(key)).split(".");
  for (const alg of ["none", "None", "EdDSA"]) {
    const header = Buffer.from(JSON.stringify({ alg, kid: key.kid })).toString("base64url");
    await assertInvalid(`${header}.${payload}.`, /./);
  }
  // The public key, in each form that a careless verifier may take for the secret of an HMAC.
  const published = [
    Buffer.from(key.jwk.x!, "base64url"),
    Buffer.from(key.jwk.x!),
    Buffer.from(await exportSPKI(key.publicKey)),
    Buffer.from(JSON.stringify(key.jwk)),
  ];
  for (const secret of published) {
    const padded = Buffer.concat([secret, Buffer.alloc(Math.max(0, 32 - secret.length))]);
    await assertInvalid(await sign({ kid: key.kid, privateKey: padded }, {}, { alg: "HS256" }), /^it has another algorithm/);
  }
  const rsa = await generateKeyPair("RS256", { extractable: true });
  await assertInvalid(await sign({ kid: key.kid, privateKey: rsa.privateKey }, {}, { alg: "RS256" }), /^it has another algorithm/);
});

test("keys in the token, and keys of another kind in the set, verify nothing", async () => {
  const thief = await keyPair("key-1");
  await assertInvalid(await sign(thief, {}, { jwk: thief.jwk }), /^its signature is wrong$/);
  await assertInvalid(await sign(thief, {}, { jku: "https://evil.example/jwks.json" }), /^its signature is wrong$/);
  await assertInvalid(await sign(thief, {}, { crit: ["b64"], b64: true }), /./);

  const rsa = await generateKeyPair("RS256", { extractable: true });
  const rsaKey: JWK = { ...(await exportJWK(rsa.publicKey)), use: "sig", alg: "EdDSA", kid: "key-1" };
  const secretKey: JWK = {
    kty: "oct",
    k: Buffer.from("secret".repeat(8)).toString("base64url"),
    alg: "HS256",
    use: "sig",
    kid: "key-1",
  };
  const encryption: JWK = { ...key.jwk, use: "enc" };
  const withoutName: JWK = { ...key.jwk };
  delete withoutName.kid;
  const token = await sign(key);
  const other = await keyPair("key-2");
  for (const foreign of [rsaKey, secretKey, encryption, withoutName, null, 7, {}]) {
    await assertInvalid(token, /^no key of the service has signed it$/, {}, () => ({ keys: [foreign, other.jwk] }));
  }
  const hmac = await sign({ kid: "key-1", privateKey: Buffer.from("secret".repeat(8)) }, {}, { alg: "HS256" });
  await assertInvalid(hmac, /./, {}, () => ({ keys: [secretKey, other.jwk] }));
});

test("a changed or malformed token is refused", async () => {
  const token = await sign(key);
  const [header, payload, signature] = token.split(".") as [string, string, string];
  const changed = Buffer.from(JSON.stringify({ ...claims, sub: "another" })).toString("base64url");
  const odd = [
    "",
    ".",
    "..",
    "a.b",
    "a.b.c",
    "iamk_1_2",
    `${header}.${changed}.${signature}`,
    `${token}.`,
    `${header}.${payload}.${"A".repeat(86)}`,
  ];
  for (const text of odd) {
    await assertInvalid(text, /^it is no access token$|^its signature is wrong$/);
  }
  for (const text of ["x".repeat(100_000), `${header}.${"A".repeat(9_000)}.${signature}`]) {
    await assertInvalid(text, /^it is too long$/);
  }
  await assertInvalid(undefined as never, /^it is no access token$/);
  await assertInvalid(await sign(key, { act: "someone" }), /malformed/);
  await assertInvalid(await sign(key, { sub: 7 }), /./);
});

test("a new key is read when a token names it, and a key that is gone verifies nothing after some minutes", async () => {
  const next = await keyPair("key-2");
  let keys = [key.jwk];
  const { verifier: service, set, clock } = verifier({}, () => ({ keys }));
  const lasting = { exp: now + 9_000 };
  await service.verify(await sign(key, lasting));
  keys = [key.jwk, next.jwk];
  clock.time += 60_000;
  await service.verify(await sign(next, lasting));
  assert.equal(set.reads, 2);
  keys = [next.jwk];
  clock.time += 300_000;
  await assert.rejects(service.verify(await sign(key, lasting)), InvalidToken);
  await service.verify(await sign(next, lasting));
});

test("a set without a usable key replaces none", async () => {
  let keys: JWK[] = [key.jwk];
  const { verifier: service, set, clock } = verifier({}, () => ({ keys }));
  const lasting = await sign(key, { exp: now + 9_000 });
  await service.verify(lasting);
  for (const none of [[], [{ ...key.jwk, use: "enc" }]]) {
    keys = none;
    clock.time += 300_000;
    await service.verify(lasting);
  }
  assert.equal(set.reads, 3);
});

test("a flood of unknown keys reads the set at most once a minute", async () => {
  const { verifier: service, set, clock } = verifier();
  const forged = await Promise.all(
    Array.from({ length: 50 }, (_, number) => sign({ ...key, kid: `unknown-${number}` })),
  );
  const good = await sign(key, { exp: now + 3_600 });
  await service.verify(good);
  for (let minute = 1; minute <= 3; minute++) {
    clock.time += 60_000;
    await Promise.all(forged.map((token) => assert.rejects(service.verify(token), InvalidToken)));
    for (const token of forged) {
      await assert.rejects(service.verify(token), InvalidToken);
    }
    await service.verify(good);
    assert.equal(set.reads, 1 + minute);
  }
});

test("a flood while the service does not answer reads no more often", async () => {
  let isDown = false;
  const {
    verifier: service,
    set,
    clock,
  } = verifier({}, () => {
    if (isDown) {
      throw new TypeError("fetch failed");
    }
    return { keys: [key.jwk] };
  });
  await service.verify(await sign(key));
  isDown = true;
  clock.time += 61_000;
  const unknown = await sign({ ...key, kid: "unknown" });
  for (let number = 0; number < 20; number++) {
    await assert.rejects(service.verify(unknown), InvalidToken);
  }
  assert.equal(set.reads, 2);
  // The keys that are known are used on, for an hour.
  const lasting = await sign(key, { exp: now + 90_000 });
  clock.time += 600_000;
  await service.verify(lasting);
  clock.time += 3_600_000;
  await assert.rejects(service.verify(lasting), { name: "RequestFailed", code: "connection" });
});

test("a set that is endless, redirects or is no set is not a token's fault", async () => {
  const token = await sign(key);
  const endless = () =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024).fill(32)),
    });
  const answers: [() => Response, string][] = [
    [() => new Response(endless()), "too-large"],
    [() => new Response(null, { status: 302, headers: { location: "https://evil.example/" } }), "redirect"],
    [() => new Response("<html>"), "malformed"],
    [() => json({ keys: "none" }), "malformed"],
    [() => json({ keys: [] }), "malformed"],
    [() => json(null), "malformed"],
    [() => json({ keys: [key.jwk] }, { status: 500 }), "malformed"],
  ];
  for (const [answer, code] of answers) {
    const { verifier: service } = verifier({ fetch: async () => answer() });
    await assert.rejects(service.verify(token), { name: "RequestFailed", code });
    // Nor is the set asked for again for each token.
    await assert.rejects(service.verify(token), { name: "RequestFailed", code });
  }
});

test("the keys are at the root of the origin, or at an address of their own", async () => {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    asked.push(String(input));
    return json({ keys: [key.jwk] });
  };
  await verifier({ fetch }).verifier.verify(await sign(key));
  await verifier({ fetch, jwksUrl: "https://shop.example/iam/.well-known/jwks.json" }).verifier.verify(await sign(key));
  assert.deepEqual(asked, [
    "https://iam.example.com/.well-known/jwks.json",
    "https://shop.example/iam/.well-known/jwks.json",
  ]);
});

test("introspection learns of ended sessions and knows API keys", async () => {
  const live = { active: true, token_type: "Bearer", sub: user, tenantId: tenant, iss: "iam", iat: now };
  const { client, requests } = fakeClient(({ body }) => {
    const { token } = body as { token: string };
    return json(
      token === "live"
        ? { ...live, apiKeyId: "k", readOnly: false, attributes: { costCentre: "4711" }, attributesTruncated: true }
        : { active: token === "odd" ? "yes" : false },
    );
  });
  const service = new Introspection(client);
  assert.deepEqual(
    { ...(await service.verify("live")) },
    {
      sub: user,
      tenantId: tenant,
      exp: undefined,
      sid: undefined,
      amr: [],
      auth_time: 0,
      act: undefined,
      readOnly: false,
      apiKeyId: "k",
      attributes: { costCentre: "4711" },
      attributesTruncated: true,
    },
  );
  await assert.rejects(service.verify("ended"), InvalidToken);
  await assert.rejects(service.verify("odd"), InvalidToken);
  await assert.rejects(service.verify("x".repeat(9_000)), InvalidToken);
  assert.equal(requests.length, 3);
  const refused = fakeClient(() => problem(403, "forbidden"));
  await assert.rejects(new Introspection(refused.client).verify("live"), { code: "forbidden" });
});
