import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeClient, invalidToken, json, problem, tokens, type Received } from "../fake.js";

const lines = (sequence: number, type = "USER.CREATE") =>
  `id: ${sequence}\ndata: ${JSON.stringify({ sequence, type, entry: {} })}\n\n`;

/** A stream of these chunks, which then ends, fails or stays open. */
function stream(chunks: (string | Uint8Array)[], end: "close" | "error" | "open" = "close"): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
      }
      if (end === "close") {
        controller.close();
      } else if (end === "error") {
        setImmediate(() => controller.error(new TypeError("terminated")));
      }
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

test("a stream goes on after the last event, and shows none twice", async () => {
  const answers = [
    stream([": comment\n\n", lines(1) + lines(2)], "error"),
    problem(503, "unavailable"),
    // A server that repeats what was read.
    stream([lines(2) + lines(3)]),
    stream([lines(4)], "open"),
  ];
  const { client, requests, waits } = fakeClient(() => answers.shift() ?? assert.fail("no further connection"), {
    retry: { attempts: 1 },
  });
  const seen: number[] = [];
  for await (const { sequence } of client.events({ types: ["USER.*", "ROLE.CREATE"] })) {
    seen.push(sequence);
    if (sequence === 4) {
      break;
    }
  }
  assert.deepEqual(seen, [1, 2, 3, 4]);
  assert.deepEqual(
    requests.map(({ query }) => query.get("after")),
    [null, "2", "2", "3"],
  );
  assert.ok(
    requests.every(
      ({ query, headers }) =>
        query.get("types") === "USER.*,ROLE.CREATE" && headers.get("accept") === "text/event-stream",
    ),
  );
  assert.ok(waits.length === 3 && waits.every((wait) => wait > 0 && wait <= 1_000), String(waits));
});

test("an event may be cut anywhere", async () => {
  const bytes = new TextEncoder().encode(lines(1).replace("USER", "BÜRÖ").replaceAll("\n", "\r\n") + lines(2));
  const { client } = fakeClient(() =>
    stream(
      Array.from(bytes, (byte) => Uint8Array.of(byte)),
      "open",
    ),
  );
  const seen: string[] = [];
  for await (const { type, sequence } of client.events()) {
    seen.push(type);
    if (sequence === 2) {
      break;
    }
  }
  assert.deepEqual(seen, ["BÜRÖ.CREATE", "USER.CREATE"]);
});

test("a token that expires meanwhile is replaced", async () => {
  const { client } = fakeClient((request) => {
    if (request.path.endsWith("/refresh")) {
      return tokens(2);
    }
    return request.headers.get("authorization") === "Bearer access-2"
      ? stream([lines(8)], "open")
      : problem(401, "unauthorized", invalidToken);
  });
  const { value } = await client.events({ after: 7 }).next();
  assert.equal(value?.sequence, 8);
});

test("what no new connection changes is thrown", async () => {
  const answers: [Response, object][] = [
    [problem(410, "gone", {}, { firstSequence: 1001 }), { code: "gone", firstSequence: 1001 }],
    [problem(403, "forbidden"), { code: "forbidden" }],
    [stream(["data: nonsense\n\n"]), { code: "malformed" }],
    [stream(['data: {"sequence":"1"}\n\n']), { code: "malformed" }],
    [new Response(null, { status: 204 }), { code: "malformed" }],
    [json({ data: [], next: 0 }), { code: "malformed" }],
    [stream(Array.from({ length: 9 }, () => `data: ${"x".repeat(1024 * 1024)}`)), { code: "too-large" }],
    [stream(Array.from({ length: 20_000 }, () => `data: ${"x".repeat(500)}\n`)), { code: "too-large" }],
  ];
  for (const [answer, expected] of answers) {
    const { client, requests } = fakeClient(() => answer);
    await assert.rejects(client.events().next(), expected);
    assert.equal(requests.length, 1);
  }
});

test("waits between connections grow, and are bounded", async () => {
  const controller = new AbortController();
  const { client, waits } = fakeClient(
    (_: Received, number) => {
      if (number === 20) {
        controller.abort(new Error("enough"));
      }
      throw new TypeError("fetch failed");
    },
    { retry: { attempts: 1 } },
  );
  await assert.rejects(client.events({ signal: controller.signal }).next(), { message: "enough" });
  assert.ok(waits[0]! <= 500 && waits.at(-1)! > 15_000 && Math.max(...waits) <= 30_000, String(waits));
});

test("a caller that stops closes the connection", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(lines(1))),
    cancel: () => {
      isCancelled = true;
    },
  });
  let signal: AbortSignal | null | undefined;
  const { Client } = await import("iam-client");
  const client = new Client({
    url: "https://iam.example.com/api/v1",
    apiKey: "k",
    fetch: async (_, init) => {
      signal = init?.signal;
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  for await (const _ of client.events()) {
    break;
  }
  assert.ok(isCancelled || signal?.aborted === true);
});
