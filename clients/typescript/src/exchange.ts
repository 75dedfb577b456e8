import { RequestFailed } from "./problem.js";

/** A request that can be sent more than once. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  readonly signal: AbortSignal | undefined;
  /** Whether the caller reads the body while it arrives. Then only the head of the response has the time limit. */
  readonly isStream: boolean;
}

/** What one attempt may take. */
export interface Limits {
  /** Milliseconds. */
  readonly timeout: number;
  /** Bytes of a response that is not a stream. */
  readonly maxBytes: number;
}

/** The path of a request, without its query, for messages. */
export function placeOf({ method, url }: Pick<Outgoing, "method" | "url">): string {
  return `${method} ${new URL(url).pathname}`;
}

/**
 * Sends a request once, and reads the response within the limits.
 *
 * No redirect is followed: the API has none, and the next address would get the token.
 */
export async function exchange(send: typeof fetch, outgoing: Outgoing, limits: Limits): Promise<Response> {
  const { method, url, headers, body, signal, isStream } = outgoing;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    controller.abort();
  }, limits.timeout);
  let isHandedOver = false;
  try {
    const init: RequestInit = {
      method,
      headers,
      signal: controller.signal,
      redirect: "manual",
      credentials: "omit",
    };
    const response = await send(url, body === undefined ? init : { ...init, body });
    refuseRedirect(response, outgoing);
    if (isStream && response.ok) {
      isHandedOver = true;
      return response;
    }
    const bytes = await read(response, limits.maxBytes, outgoing);
    return whole(response, bytes);
  } catch (error) {
    signal?.throwIfAborted();
    if (isLate) {
      throw new RequestFailed("timeout", `${placeOf(outgoing)}: no response within ${limits.timeout} ms`);
    }
    if (error instanceof RequestFailed) {
      controller.abort();
      throw error;
    }
    throw new RequestFailed("connection", `${placeOf(outgoing)}: the connection failed`, { cause: error });
  } finally {
    clearTimeout(timer);
    if (!isHandedOver) {
      signal?.removeEventListener("abort", abort);
    }
  }
}

function refuseRedirect(response: Response, outgoing: Outgoing): void {
  const isRedirect =
    response.type === "opaqueredirect" || response.redirected || [301, 302, 303, 307, 308].includes(response.status);
  if (isRedirect) {
    throw new RequestFailed("redirect", `${placeOf(outgoing)}: the server redirects, which is not followed`);
  }
}

/** Reads a body that has at most this number of bytes. */
export async function read(
  response: Response,
  maxBytes: number,
  outgoing: Pick<Outgoing, "method" | "url">,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) {
      break;
    }
    length += chunk.value.byteLength;
    if (length > maxBytes) {
      await reader?.cancel().catch(() => undefined);
      throw new RequestFailed("too-large", `${placeOf(outgoing)}: the response has more than ${maxBytes} bytes`);
    }
    chunks.push(chunk.value);
  }
  const bytes = new Uint8Array(length);
  let position = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, position);
    position += chunk.byteLength;
  }
  return bytes;
}

function whole({ status, statusText, headers }: Response, bytes: Uint8Array<ArrayBuffer>): Response {
  const copied = new Headers(headers);
  // They describe the bytes on the wire. These bytes are decompressed.
  copied.delete("content-encoding");
  copied.delete("content-length");
  const hasNoBody = status === 204 || status === 205 || status === 304;
  return new Response(hasNoBody ? null : bytes, { status, statusText, headers: copied });
}
