import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { InvalidWebhook, verifyWebhook } from "iam-client";

const key = Buffer.from("a secret of thirty-two bytes or so");
const secret = `whsec_${key.toString("base64")}`;
const now = () => 1_769_850_900_000;
const body = JSON.stringify({ type: "USER.CREATE", timestamp: "2026-01-31T09:15:00.123Z", data: { id: "é" } });

function sign(text = body, id = "01a1", timestamp = "1769850900", by = key): string {
  return `v1,${createHmac("sha256", by).update(`${id}.${timestamp}.${text}`).digest("base64")}`;
}

function headers(changes: Record<string, string | string[] | undefined> = {}) {
  return { "webhook-id": "01a1", "webhook-timestamp": "1769850900", "webhook-signature": sign(), ...changes };
}

test("a request of the service is verified", async () => {
  const received = [body, Buffer.from(body)];
  for (const text of received) {
    const event = await verifyWebhook(secret, headers(), text, now);
    assert.equal(event.type, "USER.CREATE");
  }
  const capitals = Object.fromEntries(Object.entries(headers()).map(([name, value]) => [name.toUpperCase(), value]));
  await verifyWebhook(secret, capitals, body, now);
  const other = sign(body, "01a1", "1769850900", Buffer.from("another"));
  await verifyWebhook(
    secret,
    new Headers({ ...headers(), "webhook-signature": `v1a,AAAA v1,! ${other} ${sign()}` } as never),
    body,
    now,
  );
});

test("what another has signed, changed or kept is refused", async () => {
  const refused: [Record<string, string | string[] | undefined>, string][] = [
    [{}, body.replace("USER", "ROLE")],
    [{ "webhook-id": "01a2" }, body],
    [{ "webhook-timestamp": "1769850901" }, body],
    [{ "webhook-signature": sign(body, "01a1", "1769850900", Buffer.from("another")) }, body],
    [{ "webhook-signature": `${"v1,AAAA ".repeat(1000)}${sign()}` }, body],
    [{ "webhook-signature": undefined }, body],
    [{ "webhook-signature": [sign()] }, body],
    [{ "Webhook-Id": "01a1" }, body],
    [{ "webhook-timestamp": "1769850500", "webhook-signature": sign(body, "01a1", "1769850500") }, body],
    [{ "webhook-timestamp": "1769851300", "webhook-signature": sign(body, "01a1", "1769851300") }, body],
    [{ "webhook-timestamp": "NaN", "webhook-signature": sign(body, "01a1", "NaN") }, body],
  ];
  for (const [changes, text] of refused) {
    await assert.rejects(verifyWebhook(secret, headers(changes), text, now), InvalidWebhook);
  }
});

test("an empty secret verifies nothing", async () => {
  for (const none of ["", "whsec_", "whsec_***"]) {
    await assert.rejects(verifyWebhook(none, headers(), body, now), TypeError);
  }
});
