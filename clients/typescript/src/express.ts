import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";

import { Client } from "./client.js";
import { newUuid, UUID } from "./environment.js";
import { Problem, RequestFailed, type FieldError } from "./problem.js";
import type { Schemas } from "./types.js";
import { InvalidToken, type TokenClaims, type Verifier } from "./verifier.js";

/** The kinds of problems that a service of yours answers with, as the API does (`docs/http-api.md#problems`). */
const KINDS = {
  "validation-error": [400, "Validation Error", "The request is invalid."],
  validation: [400, "Validation Error", "A rule does not allow this."],
  unauthorized: [401, "Unauthorized", "Authentication is required."],
  "insufficient-authentication": [401, "Insufficient Authentication", "Authenticate again."],
  forbidden: [403, "Forbidden", "You may not do this."],
  "second-factor-required": [403, "Second Factor Required", "A second factor is required."],
  "not-found": [404, "Not Found", "There is no such resource."],
  "request-timeout": [408, "Request Timeout", "The request body took too long to arrive."],
  conflict: [409, "Conflict", "The present state does not allow this."],
  "precondition-failed": [412, "Precondition Failed", "The resource has changed since it was read."],
  "payload-too-large": [413, "Payload Too Large", "The request body is too large."],
  "unsupported-media-type": [415, "Unsupported Media Type", "Send a body as application/json."],
  "rate-limited": [429, "Too Many Requests", "Too many requests."],
  internal: [500, "Internal Server Error", "An internal error occurred."],
  unavailable: [503, "Service Unavailable", "The service is temporarily unavailable."],
} as const satisfies Record<string, readonly [number, string, string]>;

export type Kind = keyof typeof KINDS;

export interface HttpProblemOptions {
  readonly errors?: readonly FieldError[];
  /** Seconds. */
  readonly retryAfter?: number;
  /** The value of `WWW-Authenticate`. */
  readonly challenge?: string;
}

/** A problem that this service answers with. A handler throws it; `problems()` makes it a response. */
export class HttpProblem extends Error {
  readonly kind: Kind;
  readonly status: number;
  readonly options: HttpProblemOptions;

  constructor(kind: Kind, detail: string = KINDS[kind][2], options: HttpProblemOptions = {}) {
    super(detail);
    this.name = "HttpProblem";
    this.kind = kind;
    this.status = KINDS[kind][0];
    this.options = options;
  }
}

export interface GuardOptions {
  /** The address of the API, such as `https://iam.example.com/api/v1`, for checks of permissions. */
  readonly url: string | URL;
  /** How tokens are verified: a `TokenVerifier`, or an `Introspection` that also accepts API keys. */
  readonly verifier: Verifier;
  /**
   * Whether a request changes something, which a token with `readOnly` may not. By default, all but GET, HEAD and
   * OPTIONS do.
   */
  readonly isChange?: (request: Request) => boolean;
  /** The start of the `type` of problems, `https://iam.invalid/problems` by default. */
  readonly problemTypeBase?: string;
  /** Gets errors that are no problems of the client. By default, they go to the error output. */
  readonly log?: (error: unknown, correlationId: string) => void;
  /** Gets the reason of each 401, such as an expired token, which the client is not told. It has no part of the token. */
  readonly onRefused?: (reason: string, correlationId: string) => void;
  readonly fetch?: typeof fetch;
}

/** The sender of a request. `console.log` and `JSON.stringify` do not show its token. */
export class Caller {
  readonly claims: TokenClaims;
  /** Calls the API as this caller. */
  readonly client: Client;

  constructor(claims: TokenClaims, client: Client) {
    this.claims = claims;
    this.client = client;
  }

  /** Asks whether the caller holds a permission in an organization, or tenant-wide. */
  async check(permission: string, organizationId?: string): Promise<Schemas["Decision"]> {
    return this.client.POST("/authz/check", {
      body: { permission, ...(organizationId === undefined ? {} : { organizationId }) },
    });
  }

  /**
   * Throws an `HttpProblem` unless the caller holds a permission: `forbidden`, and `not-found` for an organization
   * where it holds nothing.
   */
  async require(permission: string, organizationId?: string): Promise<void> {
    let decision;
    try {
      decision = await this.check(permission, organizationId);
    } catch (error) {
      throw answerFor(error);
    }
    if (decision.allowed !== true) {
      throw new HttpProblem("forbidden", `Missing permission: ${permission}.`);
    }
  }
}

/** Guards for the routes of a service, which make problem documents of refusals. */
export interface Guards {
  /** Lets a request pass only with a valid token. Behind it, `callerOf` returns the sender. */
  authenticate(): RequestHandler;
  /**
   * Lets a request pass only if its sender holds a permission, by `POST /authz/check`: tenant-wide, or in the
   * organization whose id is a parameter of the path.
   */
  requirePermission(permission: string, options?: { readonly organization?: string }): RequestHandler;
  /**
   * Lets a request pass only if the session has authenticated within the last `maxAge` seconds, and with `secondFactor`
   * by two factors or a passkey. It refuses API keys, and sessions in which one user acts as another.
   */
  requireFresh(options: { readonly maxAge: number; readonly secondFactor?: boolean }): RequestHandler;
  /** Answers every request that reaches it with 404. */
  notFound(): RequestHandler;
  /** Makes problem documents of errors. Use it last. */
  problems(): ErrorRequestHandler;
}

const callers = new WeakMap<Request, Caller>();
const correlationIds = new WeakMap<Request, string>();

/** The sender of a request behind `authenticate()`. */
export function callerOf(request: Request): Caller {
  const caller = callers.get(request);
  if (caller === undefined) {
    throw new TypeError("the route is not behind authenticate()");
  }
  return caller;
}

/** The id of the request in the logs: that of the client if it has sent one, else a new one. */
export function correlationIdOf(request: Request): string {
  let id = correlationIds.get(request);
  if (id === undefined) {
    const sent = request.headers["x-correlation-id"];
    id = typeof sent === "string" && /^[!-~]{1,128}$/.test(sent) ? sent : newUuid();
    correlationIds.set(request, id);
  }
  return id;
}

/** Milliseconds. The client of the route waits for it. */
const CHECK_TIMEOUT = 10_000;

/** Makes guards for the routes of one service. */
export function guards(options: GuardOptions): Guards {
  const { verifier, isChange = changes, log = logged, problemTypeBase = "https://iam.invalid/problems" } = options;

  /** Runs a check before the next handler. */
  const guard =
    (admit: (request: Request) => Promise<void> | void): RequestHandler =>
    (request, response, next) => {
      response.setHeader("x-correlation-id", correlationIdOf(request));
      Promise.resolve()
        .then(() => admit(request))
        .then(
          () => next(),
          (error: unknown) => refuse(error, request, response),
        );
    };

  const refuse = (error: unknown, request: Request, response: Response) => {
    const problem = problemFor(error);
    if (problem.status >= 500) {
      log(error, correlationIdOf(request));
    }
    if (problem.kind === "unauthorized") {
      const reason = typeof problem.cause === "string" ? problem.cause : problem.message;
      options.onRefused?.(reason, correlationIdOf(request));
    }
    send(problem, request, response, problemTypeBase);
  };

  const authenticate = async (request: Request) => {
    const token = bearerToken(request);
    if (token === undefined) {
      throw new HttpProblem("unauthorized", "Authentication is required: send a bearer access token.", {
        challenge: "Bearer",
      });
    }
    const claims = await verified(verifier, token);
    if (claims.readOnly && isChange(request)) {
      throw new HttpProblem("forbidden", "Nothing may be changed by this token.");
    }
    const send: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("x-correlation-id", correlationIdOf(request));
      return (options.fetch ?? globalThis.fetch)(input, { ...init, headers });
    };
    const retry = { attempts: 2, maxDelay: 1_000 };
    const client = new Client({ url: options.url, accessToken: token, fetch: send, timeout: CHECK_TIMEOUT, retry });
    callers.set(request, new Caller(claims, client));
  };

  return {
    authenticate: () => guard(authenticate),
    requirePermission: (permission, { organization } = {}) =>
      guard(async (request) => {
        const place = organization === undefined ? undefined : organizationOf(request, organization);
        await callerOf(request).require(permission, place);
      }),
    requireFresh: ({ maxAge, secondFactor = false }) =>
      guard((request) => refuseStale(callerOf(request).claims, maxAge, secondFactor)),
    notFound: () => guard(() => Promise.reject(new HttpProblem("not-found", "There is nothing at this path."))),
    problems: () => (error: unknown, request, response, next) => {
      if (response.headersSent) {
        next(error);
      } else {
        refuse(error, request, response);
      }
    },
  };
}

function changes({ method }: Request): boolean {
  return !["GET", "HEAD", "OPTIONS"].includes(method);
}

function logged(error: unknown, correlationId: string): void {
  console.error(`request ${correlationId} failed:`, error);
}

/** `undefined` for several `Authorization` fields, too: a proxy in front may have checked another one. */
function bearerToken(request: Request): string | undefined {
  const fields = request.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "authorization");
  const match = fields.length === 1 ? /^bearer +([\x21-\x7e]+) *$/i.exec(request.headers.authorization ?? "") : null;
  return match?.[1];
}

async function verified(verifier: Verifier, token: string): Promise<TokenClaims> {
  try {
    return await verifier.verify(token);
  } catch (error) {
    if (error instanceof InvalidToken) {
      throw invalidToken(error.reason);
    }
    // A refusal is one of the key of this service, and not of its client.
    const isBusy = error instanceof Problem && (error.status === 429 || error.status === 503);
    throw isBusy || error instanceof RequestFailed ? unavailable(error) : error;
  }
}

function invalidToken(reason: string): HttpProblem {
  const problem = new HttpProblem("unauthorized", "The access token is invalid.", {
    challenge: 'Bearer error="invalid_token"',
  });
  problem.cause = reason;
  return problem;
}

function unavailable(cause: unknown): HttpProblem {
  const problem = new HttpProblem("unavailable", undefined, { retryAfter: 1 });
  problem.cause = cause;
  return problem;
}

/** What the client of a route gets, when the API has refused the question about its permission. */
function answerFor(error: unknown): unknown {
  if (error instanceof RequestFailed) {
    return unavailable(error);
  }
  if (!(error instanceof Problem)) {
    return error;
  }
  switch (error.status) {
    case 401:
      return invalidToken("the API refuses it");
    case 403:
      return new HttpProblem(error.code === "second-factor-required" ? "second-factor-required" : "forbidden");
    case 404:
      return new HttpProblem("not-found");
    case 429:
      return new HttpProblem("rate-limited", undefined, { retryAfter: error.retryAfter ?? 1 });
    case 400:
      return error;
    default:
      return unavailable(error);
  }
}

function organizationOf(request: Request, parameter: string): string {
  const value: unknown = request.params[parameter];
  if (value === undefined) {
    throw new TypeError(`the path has no parameter ${parameter}`);
  }
  if (typeof value !== "string" || !UUID.test(value)) {
    throw new HttpProblem("validation-error", undefined, {
      errors: [{ field: parameter, message: "must be a UUID" }],
    });
  }
  return value;
}

function refuseStale(claims: TokenClaims, maxAge: number, secondFactor: boolean): void {
  if (claims.apiKeyId !== undefined) {
    throw new HttpProblem("forbidden", "An API key cannot do this.");
  }
  const age = Date.now() / 1_000 - claims.auth_time;
  if (claims.act !== undefined || !(age <= maxAge) || (secondFactor && !claims.amr.includes("mfa"))) {
    const challenge = `Bearer error="insufficient_user_authentication", max_age="${maxAge}"`;
    throw new HttpProblem("insufficient-authentication", undefined, { challenge });
  }
}

const BY_STATUS: Readonly<Record<number, Kind>> = {
  400: "validation-error",
  408: "request-timeout",
  413: "payload-too-large",
  415: "unsupported-media-type",
};

/** The problem for an error of a handler, of a guard, or of the parser of bodies. */
function problemFor(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) {
    return error;
  }
  // What Express and its parsers refuse has a status, and may be told. A `Problem` is an answer to this service.
  const { status, expose, type } = (error ?? {}) as { status?: unknown; expose?: unknown; type?: unknown };
  if (type === "entity.parse.failed" && expose === true) {
    const errors = [{ field: "$", message: "is not valid JSON" }];
    return new HttpProblem("validation-error", "The request body is not valid JSON.", { errors });
  }
  const kind = typeof status === "number" && expose === true ? BY_STATUS[status] : undefined;
  return new HttpProblem(kind ?? "internal");
}

function send(problem: HttpProblem, request: Request, response: Response, typeBase: string): void {
  const { kind, status, message, options } = problem;
  const correlationId = correlationIdOf(request);
  const instance = request.originalUrl.split("?", 1)[0];
  const errors = options.errors ?? (kind === "validation-error" ? [] : undefined);
  const document = {
    type: `${typeBase}/${kind}`,
    title: KINDS[kind][1],
    status,
    detail: message,
    instance,
    correlationId,
  };
  if (options.retryAfter !== undefined) {
    response.setHeader("retry-after", String(options.retryAfter));
  }
  if (options.challenge !== undefined) {
    response.setHeader("www-authenticate", options.challenge);
  }
  response.setHeader("x-correlation-id", correlationId);
  response.setHeader("cache-control", "no-store");
  response.setHeader("x-content-type-options", "nosniff");
  const { retryAfter } = options;
  const body = { ...document, ...(errors && { errors }), ...(retryAfter === undefined ? {} : { retryAfter }) };
  response.status(status).type("application/problem+json").send(JSON.stringify(body));
}
