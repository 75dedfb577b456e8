/** A token that is this near to its end is replaced before it is used. Milliseconds. */
const ALMOST_EXPIRED = 20_000;

/** What a login gives, and what each refresh replaces. */
export interface TokenValues {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** For how many seconds the access token is valid. If it is absent, the server decides. */
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

  /** `now` is in milliseconds. Throws a `TypeError` if a token is not a text. */
  constructor({ accessToken, refreshToken, expiresIn }: TokenValues, now = Date.now()) {
    if (typeof accessToken !== "string" || typeof refreshToken !== "string") {
      throw new TypeError("accessToken and refreshToken must be texts");
    }
    this.#accessToken = accessToken;
    this.#refreshToken = refreshToken;
    const lifetime = typeof expiresIn === "number" ? expiresIn * 1_000 : Infinity;
    this.#expiresAt = now + lifetime;
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
