import { createLocalJWKSet, errors, type CryptoKey, type JWK, type JWSHeaderParameters } from "jose";

import { exchange } from "./exchange.js";
import { RequestFailed } from "./problem.js";

/** How long the keys are used before they are read again: so long a revoked key is accepted. Milliseconds. */
const FRESH = 5 * 60_000;
/** How long they are used while the server does not answer. */
const USABLE = 60 * 60_000;
/** The shortest time between two reads. It depends neither on tokens nor on the success of a read. */
const COOLDOWN = 60_000;
/** The same while there are no keys at all, so that a program may start before the service. */
const COOLDOWN_WITHOUT_KEYS = 5_000;
const TIMEOUT = 5_000;
const LARGEST_SET = 256 * 1024;
const MOST_KEYS = 100;

type Find = ReturnType<typeof createLocalJWKSet>;

/** The public keys of an installation, read when they are needed. */
export class PublicKeys {
  readonly #url: string;
  readonly #fetch: typeof fetch;
  readonly #now: () => number;
  #find: Find | undefined;
  #readAt = -Infinity;
  #triedAt = -Infinity;
  #reading: Promise<void> | undefined;
  #failure: unknown;

  constructor(url: string, send: typeof fetch, now: () => number) {
    this.#url = url;
    this.#fetch = send;
    this.#now = now;
  }

  /** The key that the header of a token names. Throws a `RequestFailed` if the keys cannot be read. */
  async find(header: JWSHeaderParameters): Promise<CryptoKey> {
    if (this.#isOver(FRESH, this.#readAt)) {
      await this.#readUnlessTried(!this.#isOver(USABLE, this.#readAt));
    }
    const known = await this.#known(header);
    if (known !== undefined) {
      return known;
    }
    await this.#readUnlessTried(true);
    const found = await this.#known(header);
    if (found === undefined) {
      throw new errors.JWKSNoMatchingKey();
    }
    return found;
  }

  /** Whether a time has passed. It has, too, if the clock was set back. */
  #isOver(milliseconds: number, since: number): boolean {
    const passed = this.#now() - since;
    return passed < 0 || passed >= milliseconds;
  }

  async #known(header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
    try {
      return await this.#find?.(header);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) {
        return undefined;
      }
      throw error;
    }
  }

  /** Reads the keys, at most once in a minute. */
  async #readUnlessTried(isFailureAllowed: boolean): Promise<void> {
    const cooldown = this.#find === undefined ? COOLDOWN_WITHOUT_KEYS : COOLDOWN;
    if (this.#reading === undefined && this.#isOver(cooldown, this.#triedAt)) {
      this.#triedAt = this.#now();
      this.#failure = undefined;
      this.#reading = this.#read()
        .catch((error: unknown) => {
          this.#failure = error;
        })
        .finally(() => {
          this.#reading = undefined;
        });
    }
    await this.#reading;
    if (this.#failure !== undefined && !isFailureAllowed) {
      throw this.#failure;
    }
  }

  async #read(): Promise<void> {
    const headers = new Headers({ accept: "application/json" });
    const outgoing = {
      method: "GET",
      url: this.#url,
      headers,
      body: undefined,
      signal: undefined,
      isStream: false,
    };
    const response = await exchange(this.#fetch, outgoing, { timeout: TIMEOUT, maxBytes: LARGEST_SET });
    let keys: unknown;
    try {
      keys = response.status === 200 ? ((await response.json()) as { keys?: unknown } | null)?.keys : undefined;
    } catch {
      // Handled like JSON without keys.
    }
    if (!Array.isArray(keys)) {
      throw new RequestFailed("malformed", `${new URL(this.#url).pathname}: the response is no JWK set`);
    }
    const usable = keys.slice(0, MOST_KEYS).filter(isOfAccessTokens);
    if (usable.length === 0) {
      // A service always has a key. The former ones are used as long as they are not too old.
      throw new RequestFailed("malformed", `${new URL(this.#url).pathname}: no key signs access tokens`);
    }
    this.#find = createLocalJWKSet({ keys: usable });
    this.#readAt = this.#now();
  }
}

/** Access tokens are signed by Ed25519 alone, so no other key of a set may verify one. */
function isOfAccessTokens(key: JWK | null): key is JWK {
  return (
    key?.kty === "OKP" &&
    key.crv === "Ed25519" &&
    key.alg === "EdDSA" &&
    key.use === "sig" &&
    typeof key.kid === "string" &&
    typeof key.x === "string" &&
    key.d === undefined
  );
}
