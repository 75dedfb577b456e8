/**
 * How a request is repeated after 429, 502 to 504 and failures of the connection. A request with `If-Match` is repeated
 * after 429 alone. If the answer to a DELETE may be lost, 404 to the repeated one counts as a success with the status 204.
 */
export interface RetryOptions {
  /** How often a request is sent at most, 4 by default; 1 repeats none. */
  readonly attempts?: number;
  /**
   * The longest wait between two of them in milliseconds, 20,000 by default. A longer `Retry-After` ends the attempts.
   */
  readonly maxDelay?: number;
}

const FIRST_DELAY = 250;

/** The facts about a failed attempt. */
export interface Attempt {
  /** How often the request was sent. */
  readonly number: number;
  /**
   * Whether a second effect is impossible: it only reads, its effect is the same again, or it has an `Idempotency-Key`.
   */
  readonly isRepeatable: boolean;
  /** Whether it has an `Idempotency-Key`. */
  readonly hasKey: boolean;
  /** `undefined` after a failure of the connection. */
  readonly response: { readonly status: number; readonly headers: Headers } | undefined;
}

/** How many milliseconds to wait before the next attempt; `undefined` for the last one. */
export function retryDelay(
  { number, isRepeatable, hasKey, response }: Attempt,
  { attempts = 4, maxDelay = 20_000 }: RetryOptions,
  { now, random }: { now(): number; random(): number },
): number | undefined {
  if (number >= attempts || !mayRepeat(isRepeatable, hasKey, response)) {
    return undefined;
  }
  const asked = response === undefined ? undefined : retryAfterOf(response.headers, now());
  if (asked !== undefined) {
    // Clients that were refused at the same moment must not come back at the same moment.
    const spread = random() * Math.min(1_000, FIRST_DELAY + asked / 4);
    return asked > maxDelay ? undefined : Math.min(maxDelay, asked + spread);
  }
  const bound = Math.min(maxDelay, FIRST_DELAY * 2 ** (number - 1));
  return bound / 2 + (random() * bound) / 2;
}

function mayRepeat(isRepeatable: boolean, hasKey: boolean, response: Attempt["response"]): boolean {
  switch (response?.status) {
    case undefined:
      return isRepeatable;
    // Refused before any work.
    case 429:
      return true;
    // A problem without Retry-After does not pass soon: what the operation needs is turned off.
    case 503:
      return isRepeatable && (response?.headers.has("retry-after") === true || !isProblem(response?.headers));
    // A gateway that does not reach the service, or got no answer from it.
    case 502:
    case 504:
      return isRepeatable;
    // The first request with this key is still running.
    case 409:
      return hasKey && response?.headers.has("retry-after") === true;
    default:
      return false;
  }
}

/** Whether a response has a problem document, so that it is one of the service. */
export function isProblem(headers: Headers | undefined): boolean {
  return headers?.get("content-type")?.startsWith("application/problem+json") === true;
}

/** The wait that a `Retry-After` header asks for, in milliseconds: a number of seconds or a date. */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined || value === "") {
    return undefined;
  }
  if (/^\d+$/.test(value)) {
    return Number(value) * 1_000;
  }
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
