import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import { connect, events, given, previewed, type Iam } from "./client.js";

const address = process.env["IAM_URL"] ?? "http://localhost:8080/api/v1";
const password = "Passw0rd!";
// So that it can run again on the same database.
const person = (name: string) => `${name}.${randomUUID()}@example.com`;

// A tenant with its first administrator, and her login.
const email = person("ada");
const stranger = connect(address);
await given(
  stranger.POST("/auth/register", {
    body: { email, password, firstName: "Ada", lastName: "Lovelace", tenantName: "Analytical Engines" },
  }),
);
const login = await given(stranger.POST("/auth/login", { body: { email, password } }));
const ada = connect(address, login.accessToken);

// A user. The key lets a client that got no answer repeat the request: it is made once.
const newGrace = {
  params: { header: { "Idempotency-Key": randomUUID() } },
  body: { email: person("grace"), password, firstName: "Grace", lastName: "Hopper" },
};
const grace = await given(ada.POST("/users", newGrace));
const repeated = await ada.POST("/users", newGrace);
assert.equal(repeated.data?.id, grace.id);
assert.equal(repeated.response.headers.get("Idempotent-Replayed"), "true");

// What is refused has a reason, and names the fields that it is about.
const { error: problem } = await ada.POST("/users", { body: { ...newGrace.body, email: "grace" } });
assert(problem !== undefined);
assert.equal(problem.status, 400);
assert.deepEqual(
  problem.errors?.map(({ field }) => field),
  ["email"],
);
console.log(`refused: ${problem.errors?.map(({ field, message }) => `${field} ${message}`).join(", ")}`);

// A permission of the application, a role that holds it, and the role for Grace in one organization.
const branch = await given(ada.POST("/organizations", { body: { name: "Northern branch" } }));
await given(ada.POST("/permissions", { body: { name: "orders:refund" } }));
const cashier = await given(
  ada.POST("/roles", { body: { name: "CASHIER", permissions: ["orders:refund"], scope: "ORGANIZATION" } }),
);
const assignment = { userId: grace.id, roleId: cashier.id, organizationId: branch.id };
const preview = await previewed(
  ada.POST("/role-assignments", { params: { query: { preview: true } }, body: assignment }),
);
console.log(`would change: ${preview.changes.map(({ change, permission }) => `${change} ${permission}`).join(", ")}`);
await given(ada.POST("/role-assignments", { body: assignment }));

// She may, there and nowhere else.
const question = { permission: "orders:refund", userId: grace.id };
const there = await given(ada.POST("/authz/check", { body: { ...question, organizationId: branch.id } }));
assert(there.allowed);
console.log(`allowed: ${there.reason}`);
const anywhere = await given(ada.POST("/authz/check", { body: question }));
assert(!anywhere.allowed);
console.log(`not allowed: ${anywhere.reason}`);

// Every user, page by page.
async function* users(iam: Iam) {
  for (let page = 1; ; page++) {
    const { data, pagination } = await given(iam.GET("/users", { params: { query: { page, limit: 1 } } }));
    yield* data;
    if (!pagination.hasNext) {
      return;
    }
  }
}
const names: string[] = [];
for await (const user of users(ada)) {
  names.push(`${user.firstName} ${user.lastName}`);
}
assert.deepEqual(names.sort(), ["Ada Lovelace", "Grace Hopper"]);
console.log(`users: ${names.join(", ")}`);

// Everything that was done stands in the audit log, newest first.
async function* auditLog(iam: Iam) {
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = cursor === null ? { limit: 3 } : { limit: 3, cursor };
    const { data, pagination } = await given(iam.GET("/audit-logs", { params: { query } }));
    yield* data;
    cursor = pagination.nextCursor;
  } while (cursor !== null);
}
const recorded: string[] = [];
for await (const { action, resourceType } of auditLog(ada)) {
  recorded.unshift(`${action} ${resourceType}`);
}
assert.deepEqual(recorded, [
  "CREATE TENANT",
  "CREATE USER",
  "ROLE_ASSIGNED ROLE_ASSIGNMENT",
  "LOGIN SESSION",
  "LOGIN SESSION",
  "CREATE USER",
  "CREATE ORGANIZATION",
  "CREATE PERMISSION",
  "CREATE ROLE",
  "ROLE_ASSIGNED ROLE_ASSIGNMENT",
]);
console.log(`recorded: ${recorded.join(", ")}`);

// The same as a feed, oldest first. It goes on as things happen: a program that reads it waits here for the next event.
const followed: string[] = [];
for await (const { type } of events(ada)) {
  followed.push(type);
  if (type === "ROLE.CREATE") {
    await given(ada.POST("/permissions", { body: { name: "orders:cancel" } }));
  } else if (followed.filter((type) => type === "PERMISSION.CREATE").length === 2) {
    break;
  }
}
console.log(`followed: ${followed.join(", ")}`);
