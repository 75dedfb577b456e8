import type { Schemas } from "./types.js";

/** A request of a webhook in the format `native`. */
export interface WebhookEvent {
  /** The resource type and the action, such as `USER.CREATE`. */
  readonly type: string;
  readonly timestamp: string;
  readonly data: Schemas["AuditEntry"];
}

/** A request does not come from the service, or is too old. */
export class InvalidWebhook extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidWebhook";
  }
}

/** The headers of a request, as `fetch` or Node.js has them. Their names may have any case. */
export type ReceivedHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>;

const TOLERANCE_SECONDS = 300;
const MOST_SIGNATURES = 20;

function valueOf(headers: ReceivedHeaders, name: string): string {
  const values =
    headers instanceof Headers
      ? [headers.get(name)]
      : Object.entries(headers)
          .filter(([other, value]) => other.toLowerCase() === name && value !== undefined)
          .map(([, value]) => value);
  const [value] = values;
  if (typeof value !== "string" || value === "" || values.length > 1) {
    throw new InvalidWebhook(`the header ${name} is missing, or there is more than one`);
  }
  return value;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/**
 * Verifies a request of a webhook by Standard Webhooks 1.0, and returns what it contains: with the format `ocsf`, name
 * your type of such an event. `body` is the body as it was received, before any parser. A receiver handles each
 * `webhook-id` once.
 */
export async function verifyWebhook<Content = WebhookEvent>(
  secret: string,
  headers: ReceivedHeaders,
  body: string | Uint8Array,
  now: () => number = Date.now,
): Promise<Content> {
  const [id, timestamp, signatures] = [
    valueOf(headers, "webhook-id"),
    valueOf(headers, "webhook-timestamp"),
    valueOf(headers, "webhook-signature"),
  ];
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now() / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new InvalidWebhook("the header webhook-timestamp is not a time of the last minutes");
  }
  const key = bytesOf(secret.replace(/^whsec_/, ""));
  if (key === undefined || key.byteLength === 0) {
    throw new TypeError("the secret must be whsec_ and base64");
  }
  const hmac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.byteLength + bytes.byteLength);
  signed.set(head);
  signed.set(bytes, head.byteLength);
  for (const signature of signatures.split(" ").slice(0, MOST_SIGNATURES)) {
    const mac = signature.startsWith("v1,") ? bytesOf(signature.slice("v1,".length)) : undefined;
    // In constant time.
    if (mac !== undefined && (await crypto.subtle.verify("HMAC", hmac, mac, signed))) {
      return JSON.parse(new TextDecoder().decode(bytes)) as Content;
    }
  }
  throw new InvalidWebhook("no signature is one of this secret");
}
