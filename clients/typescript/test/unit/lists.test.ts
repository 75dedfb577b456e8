import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeClient, json, type Received } from "../fake.js";

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) {
    found.push(item);
  }
  return found;
}

test("a list is read by its pages", async () => {
  const { client, requests } = fakeClient(({ query }) => {
    const page = Number(query.get("page") ?? 1);
    return json({ data: [{ id: `${page}a` }, { id: `${page}b` }], pagination: { page, hasNext: page < 3 } });
  });
  const users = await all(client.paginate("/users", { params: { query: { limit: 2, search: "a b" } } }));
  assert.deepEqual(
    users.map(({ id }) => id),
    ["1a", "1b", "2a", "2b", "3a", "3b"],
  );
  assert.ok(requests.every(({ query }) => query.get("limit") === "2" && query.get("search") === "a b"));
  assert.deepEqual(
    requests.map(({ query }) => query.get("page")),
    [null, "2", "3"],
  );
});

test("the audit log is read by its cursors, a list without pages at once", async () => {
  const next: Record<string, string | null> = { first: "c1", c1: "c2", c2: null };
  const { client } = fakeClient(({ path, query }) => {
    const cursor = query.get("cursor") ?? "first";
    return path.endsWith("/webhooks")
      ? json({ data: [{ id: "w" }] })
      : json({ data: [{ id: cursor }], pagination: { nextCursor: next[cursor] } });
  });
  assert.deepEqual(
    (await all(client.paginate("/audit-logs"))).map(({ id }) => id),
    ["first", "c1", "c2"],
  );
  assert.deepEqual(
    (await all(client.paginate("/webhooks"))).map(({ id }) => id),
    ["w"],
  );
});

test("a caller that has enough reads no further page", async () => {
  const { client, requests } = fakeClient(() =>
    json({ data: [{ id: "a" }, { id: "b" }], pagination: { page: 1, hasNext: true } }),
  );
  for await (const user of client.paginate("/users")) {
    assert.equal(user.id, "a");
    break;
  }
  assert.equal(requests.length, 1);
});

test("a list that turns in a circle or has no items ends", async () => {
  const answers: ((request: Received) => Response)[] = [
    () => json({ data: [{ id: "a" }], pagination: { nextCursor: "same" } }),
    () => json({ data: [{ id: "a" }], pagination: { page: 1, hasNext: true } }),
    ({ query }) => json({ data: [], pagination: { page: Number(query.get("page") ?? 1), hasNext: true } }),
    () => json({ data: null }),
    () => json([]),
  ];
  for (const answer of answers) {
    const { client, requests } = fakeClient(answer);
    await assert.rejects(all(client.paginate("/users")), { code: "malformed" });
    assert.ok(requests.length <= 2);
  }
});
