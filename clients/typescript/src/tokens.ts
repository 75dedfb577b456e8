/** A token that is this near to its end is replaced before it is used. Milliseconds. */
const ALMOST_EXPIRED = 20_000;

/** What a login gives, and what each refresh replaces. */
export interface TokenValues {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** For how many seconds the access token is valid, from the answer with it on. If it is absent, its `exp` counts. */
  readonly expiresIn?: number;
}

/**
 * The tokens of a session. `console.log` and `JSON.stringify` show none of them: a program that keeps them reads the
 * two properties.
 */
export class Tokens {
  readonly #accessToken: string;
  readonly #refreshToken: string;
  readonly #expiresAt: number;
  readonly #margin: number;

  /** Tokens that were kept for a while, so that `expiresIn` no longer counts from now on. */
  static kept(values: TokenValues, now: number): Tokens {
    return new Tokens(values, now, expiryOf(values.accessToken));
  }

  /**
   * `now` and `expiresAt` are in milliseconds. `expiresIn` goes before the `exp` of the token, because the clocks of this
   * program and of the service may differ. Throws a `TypeError` if a token is not a text.
   */
  constructor({ accessToken, refreshToken, expiresIn }: TokenValues, now = Date.now(), expiresAt?: number) {
    if (typeof accessToken !== "string" || typeof refreshToken !== "string") {
      throw new TypeError("accessToken and refreshToken must be texts");
    }
    this.#accessToken = accessToken;
    this.#refreshToken = refreshToken;
    const lifetime = typeof expiresIn === "number" ? expiresIn * 1_000 : Infinity;
    this.#expiresAt = expiresAt ?? (lifetime === Infinity ? expiryOf(accessToken) : undefined) ?? now + lifetime;
    this.#margin = Math.min(ALMOST_EXPIRED, lifetime / 5);
  }

  get accessToken(): string {
    return this.#accessToken;
  }

  get refreshToken(): string {
    return this.#refreshToken;
  }

  /** When the access token expires, in milliseconds since 1970; `Infinity` if that is not known. */
  get expiresAt(): number {
    return this.#expiresAt;
  }

  isAlmostExpired(now: number): boolean {
    return this.#expiresAt - now < this.#margin;
  }

  toJSON(): string {
    return "[Tokens]";
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return "[Tokens]";
  }
}

/** The `exp` of an access token in milliseconds, if it is a JWT with one. This verifies nothing. */
function expiryOf(accessToken: unknown): number | undefined {
  try {
    const payload = String(accessToken).split(".")[1] ?? "";
    const { exp } = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))) as { exp?: unknown };
    return typeof exp === "number" && Number.isFinite(exp) ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
