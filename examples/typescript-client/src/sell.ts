// Starts the shop, and uses it as a cashier whose session authenticates again for a refund.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";

import { Client } from "iam-client";

import { shop } from "./shop.js";

const url = process.env["IAM_URL"] ?? "http://localhost:8080/api/v1";
const password = "Passw0rd!";
const person = (name: string) => `${name}.${randomUUID()}@example.com`;

const ada = new Client({ url });
const registration = { email: person("ada"), password, firstName: "Ada", lastName: "Lovelace" };
const { tenant } = await ada.useLogin(await ada.POST("/auth/register", { body: registration }));
const branch = await ada.POST("/organizations", { body: { name: "Northern branch" } });
const other = await ada.POST("/organizations", { body: { name: "Southern branch" } });
for (const name of ["orders:place", "orders:refund"]) {
  await ada.POST("/permissions", { body: { name } });
}
const cashier = await ada.POST("/roles", {
  body: { name: "CASHIER", permissions: ["orders:*"], scope: "ORGANIZATION" },
});
const newGrace = { email: person("grace"), password, firstName: "Grace", lastName: "Hopper" };
const { id: userId } = await ada.POST("/users", { body: newGrace });
await ada.POST("/role-assignments", { body: { userId, roleId: cashier.id, organizationId: branch.id } });
const grace = new Client({ url });
await grace.login({ email: newGrace.email, password });

const server = shop(url, tenant.id).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function post(client: Client, path: string, body: object = {}) {
  const headers = { authorization: `Bearer ${await client.accessToken()}`, "content-type": "application/json" };
  const response = await fetch(address + path, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    redirect: "error",
  });
  return { status: response.status, body: (await response.json()) as { id?: number; type?: string } };
}

const placed = await post(grace, `/branches/${branch.id}/orders`, { cents: 4200 });
assert.equal(placed.status, 201);
assert.equal((await post(grace, `/branches/${branch.id}/orders`, { cents: -1 })).status, 400);
assert.equal(
  (await post(grace, `/branches/${other.id}/orders`, { cents: 4200 })).status,
  404,
  "she holds nothing there",
);
assert.equal((await post(grace, `/orders/${placed.body.id}/refund`)).status, 200);
const again = await post(grace, `/orders/${placed.body.id}/refund`);
assert.deepEqual([again.status, again.body.type], [409, "https://iam.invalid/problems/conflict"]);

// After the next refresh, the token says when she has authenticated again.
await grace.stepUp({ password });
assert.equal((await post(grace, "/orders/17/refund")).status, 404);

// The administrator of another tenant holds every permission there, and none here.
const stranger = new Client({ url });
await stranger.useLogin(await stranger.POST("/auth/register", { body: { ...registration, email: person("eve") } }));
assert.equal((await post(stranger, `/branches/${branch.id}/orders`, { cents: 1 })).status, 401);
console.log("the shop sells, refunds, and refuses tokens of other tenants");
server.close();
