import type { KnownCode } from "./generated/operations.js";

/** A field that a problem is about. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** The kind of a problem. A later release of the server may have more than the known ones. */
export type ProblemCode = KnownCode | (string & {});

/** An error message or a member of a hostile answer must not fill a log. */
const LONGEST_TEXT = 2_000;
const MOST_ERRORS = 500;

const NO_DOCUMENT = "The response is no problem document.";

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value.slice(0, LONGEST_TEXT) : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function fieldErrors(value: unknown): FieldError[] {
  const items = Array.isArray(value) ? value.slice(0, MOST_ERRORS) : [];
  return items.flatMap((item: { field?: unknown; message?: unknown } | null) => {
    const [field, message] = [text(item?.field), text(item?.message)];
    return field === undefined || message === undefined ? [] : [{ field, message }];
  });
}

/** The number of seconds in `max_age` of a `WWW-Authenticate` header (RFC 9470). */
function maxAgeOf(header: string | null): number | undefined {
  const seconds = /\bmax_age="?(\d{1,9})\b/.exec(header ?? "")?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

/** The server has refused a request, and says why (RFC 9457; `docs/http-api.md#problems`). */
export class Problem extends Error {
  /** The status of the response. */
  readonly status: number;
  /** The last part of the `type`, such as `validation-error`; `unknown` for a response that is no problem document. */
  readonly code: ProblemCode;
  readonly title: string;
  readonly detail: string;
  /** The path of the request. */
  readonly instance: string;
  /** Names the request in the logs of the server. */
  readonly correlationId: string;
  /** The fields that the problem is about. */
  readonly errors: readonly FieldError[];
  /** After how many seconds to try again. */
  readonly retryAfter: number | undefined;
  /** For `gone`: the number of the first event that is left. */
  readonly firstSequence: number | undefined;
  /** For a login that needs a second factor: how the user can finish it. Ignore methods that you do not know. */
  readonly methods: readonly string[];
  /** For `insufficient-authentication`: how many seconds ago the authentication may be. */
  readonly maxAge: number | undefined;
  /** Whether the server says that the access token is invalid, rather than what the request contains. */
  readonly #isTokenInvalid: boolean;
  // Private, so that neither `console.log` nor `JSON.stringify` shows the challenge of a login.
  readonly #document: Readonly<Record<string, unknown>>;

  private constructor(status: number, document: Readonly<Record<string, unknown>>, headers: Headers) {
    const title = text(document["title"]) ?? `HTTP ${status}`;
    const detail = text(document["detail"]) ?? NO_DOCUMENT;
    const correlationId = text(document["correlationId"]) ?? text(headers.get("x-correlation-id")) ?? "";
    super(`${status} ${title}: ${detail}${correlationId === "" ? "" : ` (${correlationId})`}`);
    this.name = "Problem";
    this.status = status;
    this.code = text(document["type"])?.split("/").at(-1) || "unknown";
    this.title = title;
    this.detail = detail;
    this.instance = text(document["instance"]) ?? "";
    this.correlationId = correlationId;
    this.errors = fieldErrors(document["errors"]);
    this.retryAfter = count(document["retryAfter"]);
    this.firstSequence = count(document["firstSequence"]);
    const methods = Array.isArray(document["methods"]) ? document["methods"] : [];
    this.methods = methods.filter((method): method is string => typeof method === "string").slice(0, 20);
    this.maxAge = maxAgeOf(headers.get("www-authenticate"));
    this.#isTokenInvalid = /\berror="?invalid_token\b/.test(headers.get("www-authenticate") ?? "");
    this.#document = document;
  }

  /**
   * Reads a response that is not a success. `secret` is a text that the response may repeat, and that no error shows.
   */
  static async from(response: Response, secret?: string): Promise<Problem> {
    let body = await response.text();
    if (secret !== undefined && secret !== "") {
      body = body.replaceAll(secret, "…");
    }
    return new Problem(response.status, documentOf(body), response.headers);
  }

  /** The challenge that continues a login. It is a secret: no log and no JSON of the problem shows it. */
  get challenge(): string | undefined {
    const challenge = this.#document["challenge"];
    return typeof challenge === "string" ? challenge : undefined;
  }

  /** For how many seconds the challenge can be answered. */
  get expiresIn(): number | undefined {
    return count(this.#document["expiresIn"]);
  }

  /** Whether the response said that the access token is invalid or has expired. */
  get isTokenInvalid(): boolean {
    return this.#isTokenInvalid;
  }

  /**
   * Whether the session must authenticate again for this request: too much time has passed, or the tenant requires a
   * second factor that the session has not used.
   */
  get asksForStepUp(): boolean {
    return (
      (this.status === 401 && this.code === "insufficient-authentication") ||
      (this.status === 403 && this.code === "second-factor-required")
    );
  }

  /** Another member of the document, such as `tenants` of a login that is possible in several, or `providers`. */
  member(name: string): unknown {
    return this.#document[name];
  }

  /** What a log may have of the problem. */
  toJSON(): object {
    const { status, code, title, detail, instance, correlationId, errors } = this;
    return { status, code, title, detail, instance, correlationId, errors };
  }
}

function documentOf(body: string): Record<string, unknown> {
  try {
    const document: unknown = JSON.parse(body);
    const isProblem =
      typeof document === "object" && document !== null && !Array.isArray(document) && "type" in document;
    return isProblem ? (document as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Why there is no usable response. */
export type FailureCode = "connection" | "timeout" | "redirect" | "too-large" | "malformed" | "argument";

/** A request has no usable response: the connection failed, or the answer is not one of this API. */
export class RequestFailed extends Error {
  /**
   * `connection` and `timeout`: it is unknown whether the request had an effect. `redirect`: the server sent the client
   * elsewhere, and the client did not go. `too-large`, `malformed`: what is at this address is probably not the
   * service. `argument`: the request was not sent.
   */
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RequestFailed";
    this.code = code;
  }
}
