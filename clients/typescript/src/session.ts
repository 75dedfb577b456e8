import { shared, type Environment } from "./environment.js";
import { Problem } from "./problem.js";
import { Tokens, type TokenValues } from "./tokens.js";

/** Sends the refresh token, and returns the next pair. */
export type Exchange = (refreshToken: string) => Promise<TokenValues>;

/** The credentials of a client. Of all calls that need new tokens at the same time, one asks for them. */
export class Session {
  readonly #exchange: Exchange;
  readonly #onTokens: ((tokens: Tokens | undefined) => unknown) | undefined;
  readonly #environment: Environment;
  /** An API key, or an access token without a refresh token. */
  readonly #fixed: string | undefined;
  #tokens: Tokens | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(
    exchange: Exchange,
    environment: Environment,
    credentials: { fixed?: string | undefined; tokens?: TokenValues | undefined },
    onTokens?: (tokens: Tokens | undefined) => unknown,
  ) {
    this.#exchange = exchange;
    this.#environment = environment;
    this.#fixed = credentials.fixed;
    this.#tokens = credentials.tokens && Tokens.kept(credentials.tokens, environment.now());
    this.#onTokens = onTokens;
  }

  get tokens(): Tokens | undefined {
    return this.#tokens;
  }

  /** Uses other tokens. They stay, too, if the callback fails: the former ones may be spent. */
  async replace(values: TokenValues | undefined): Promise<void> {
    this.#tokens = values && new Tokens(values, this.#environment.now());
    await this.#onTokens?.(this.#tokens);
  }

  /** The token to send, a new one if the present one is about to expire. `undefined` without a login. */
  async token(signal?: AbortSignal): Promise<string | undefined> {
    const { now } = this.#environment;
    const tokens = this.#tokens;
    if (tokens?.isAlmostExpired(now()) === true) {
      try {
        await this.refresh(signal);
      } catch (error) {
        // The server may answer again before the token expires.
        if (this.#tokens !== tokens || tokens.expiresAt <= now()) {
          throw error;
        }
      }
    }
    return this.#tokens?.accessToken ?? this.#fixed;
  }

  /** Gets another token than the refused one, unless another call has got it already. Returns whether there is one. */
  async renew(refused: string, signal?: AbortSignal): Promise<boolean> {
    const tokens = this.#tokens;
    if (tokens === undefined) {
      return false;
    }
    if (tokens.accessToken === refused) {
      await this.refresh(signal);
    }
    return this.#tokens !== undefined && this.#tokens.accessToken !== refused;
  }

  /** Gets new tokens, together with all others that ask for them meanwhile. */
  async refresh(signal?: AbortSignal): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    await shared(this.#refreshing, signal);
  }

  async #refresh(): Promise<void> {
    const used = this.#tokens;
    if (used === undefined) {
      return;
    }
    let next: TokenValues | undefined;
    try {
      next = await this.#exchange(used.refreshToken);
    } catch (error) {
      if (this.#tokens === used && error instanceof Problem && error.status === 401) {
        await this.replace(undefined);
      }
      throw error;
    }
    // A login or a logout meanwhile is newer.
    if (this.#tokens === used) {
      await this.replace(next);
    }
  }
}
