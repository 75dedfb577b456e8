import { Client, type ClientOptions, type Environment } from "iam-client";

/** A request that a fake server has got. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: unknown;
}

export type Handler = (request: Received, number: number) => Response | Promise<Response>;

export const url = "https://iam.example.com/api/v1";

/** A server in place of `fetch`, that records what it gets. */
export function fakeServer(handler: Handler) {
  const requests: Received[] = [];
  const send: typeof fetch = async (input, init) => {
    const { pathname, searchParams } = new URL(String(input));
    const text = init?.body === undefined ? "" : new TextDecoder().decode(init.body as Uint8Array);
    const request: Received = {
      method: init?.method ?? "GET",
      path: pathname,
      query: searchParams,
      headers: new Headers(init?.headers),
      body: text === "" ? undefined : (JSON.parse(text) as unknown),
    };
    requests.push(request);
    const signal = init?.signal;
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
    aborted.catch(() => undefined);
    return Promise.race([handler(request, requests.length), aborted]);
  };
  return { requests, fetch: send };
}

/** A clock that tests set, whose waits end at once. */
export function fakeTime() {
  const waits: number[] = [];
  const environment: Environment & { time: number } = {
    time: 1_800_000_000_000,
    now: () => environment.time,
    random: () => 0.5,
    sleep: async (milliseconds, signal) => {
      signal?.throwIfAborted();
      waits.push(milliseconds);
      environment.time += milliseconds;
      await Promise.resolve();
    },
  };
  return { environment, waits };
}

export const firstTokens = { accessToken: "access-1", refreshToken: "refresh-1", expiresIn: 900 };

/** A client with tokens, and what it talks to. */
export function fakeClient(handler: Handler, options: Partial<ClientOptions> = {}) {
  const server = fakeServer(handler);
  const time = fakeTime();
  const client = new Client({
    url,
    tokens: firstTokens,
    fetch: server.fetch,
    environment: time.environment,
    ...options,
  });
  return { client, ...server, ...time };
}

export function json(body: unknown, init: ResponseInit = {}): Response {
  const headers = new Headers(init.headers);
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify(body), { ...init, headers });
}

export function problem(
  status: number,
  code: string,
  headers: Record<string, string> = {},
  members: object = {},
): Response {
  const document = {
    type: `https://iam.invalid/problems/${code}`,
    title: code,
    status,
    detail: "What happened.",
    instance: "/api/v1",
    correlationId: "c-1",
    ...members,
  };
  return new Response(JSON.stringify(document), {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
  });
}

export const invalidToken = { "www-authenticate": 'Bearer error="invalid_token"' };

/** A refresh that answers with tokens of this number. */
export function tokens(number: number): Response {
  return json({
    accessToken: `access-${number}`,
    refreshToken: `refresh-${number}`,
    tokenType: "Bearer",
    expiresIn: 900,
  });
}

/** Lets all that is ready run. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
