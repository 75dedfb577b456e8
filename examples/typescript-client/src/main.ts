import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import { Client, Problem } from "iam-client";

const url = process.env["IAM_URL"] ?? "http://localhost:8080/api/v1";
const password = "Passw0rd!";
// So that it can run again on the same database.
const person = (name: string) => `${name}.${randomUUID()}@example.com`;

// A tenant with its first administrator, and her login.
const email = person("ada");
const ada = new Client({ url });
await ada.POST("/auth/register", {
  body: { email, password, firstName: "Ada", lastName: "Lovelace", tenantName: "Analytical Engines" },
});
await ada.login({ email, password });

// A user. The key lets a program that ended without an answer repeat the request: it is made once.
const newGrace = {
  params: { header: { "Idempotency-Key": randomUUID() } },
  body: { email: person("grace"), password, firstName: "Grace", lastName: "Hopper" },
};
const grace = await ada.POST("/users", newGrace);
const repeated = await ada.request("post", "/users", newGrace);
assert.equal(repeated.data.id, grace.id);
assert.equal(repeated.response.headers.get("Idempotent-Replayed"), "true");

// What is refused has a reason, and names the fields that it is about.
await assert.rejects(ada.POST("/users", { body: { ...newGrace.body, email: "grace" } }), (problem) => {
  assert(problem instanceof Problem);
  assert.equal(problem.code, "validation-error");
  console.log(`refused: ${problem.errors.map(({ field, message }) => `${field} ${message}`).join(", ")}`);
  return true;
});

// A permission of the application, a role that holds it, and the role for Grace in one organization.
const branch = await ada.POST("/organizations", { body: { name: "Northern branch" } });
await ada.POST("/permissions", { body: { name: "orders:refund" } });
const cashier = await ada.POST("/roles", {
  body: { name: "CASHIER", permissions: ["orders:refund"], scope: "ORGANIZATION" },
});
const assignment = { userId: grace.id, roleId: cashier.id, organizationId: branch.id };
const preview = await ada.POST("/role-assignments", { params: { query: { preview: true } }, body: assignment });
console.log(`would change: ${preview.changes.map(({ change, permission }) => `${change} ${permission}`).join(", ")}`);
await ada.POST("/role-assignments", { body: assignment });

// She may, there and nowhere else.
const question = { permission: "orders:refund", userId: grace.id };
const there = await ada.POST("/authz/check", { body: { ...question, organizationId: branch.id } });
assert(there.allowed);
console.log(`allowed: ${there.reason}`);
const anywhere = await ada.POST("/authz/check", { body: question });
assert(!anywhere.allowed);
console.log(`not allowed: ${anywhere.reason}`);

// Every user, page by page.
const names: string[] = [];
for await (const user of ada.paginate("/users", { params: { query: { limit: 1 } } })) {
  names.push(`${user.firstName} ${user.lastName}`);
}
assert.deepEqual(names.sort(), ["Ada Lovelace", "Grace Hopper"]);
console.log(`users: ${names.join(", ")}`);

// Everything that was done stands in the audit log, newest first.
const recorded: string[] = [];
for await (const { action, resourceType } of ada.paginate("/audit-logs", { params: { query: { limit: 3 } } })) {
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
for await (const { type } of ada.events()) {
  followed.push(type);
  if (type === "ROLE.CREATE") {
    await ada.POST("/permissions", { body: { name: "orders:cancel" } });
  } else if (followed.filter((type) => type === "PERMISSION.CREATE").length === 2) {
    break;
  }
}
console.log(`followed: ${followed.join(", ")}`);
await ada.logout();
