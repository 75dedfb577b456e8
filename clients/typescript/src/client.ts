import createClient from "openapi-fetch";

import { newUuid, shared, system, type Environment } from "./environment.js";
import { events, type EventOptions, type Event } from "./events.js";
import { exchange, type Limits, type Outgoing } from "./exchange.js";
import type { paths } from "./generated/api.js";
import { keyedOperations, publicOperations } from "./generated/operations.js";
import { paginate } from "./pages.js";
import { Problem, RequestFailed } from "./problem.js";
import { isProblem, retryDelay, type RetryOptions } from "./retry.js";
import { Session } from "./session.js";
import type { Tokens, TokenValues } from "./tokens.js";
import type { Answer, AnyInit, Arguments, InitOf, ItemOf, ListPath, Method, PathOf, Schemas } from "./types.js";

/** A second factor, for the second half of a login: a `code`, a `recoveryCode` or a `credential`. */
export type SecondFactorProof = Omit<Schemas["SecondFactor"], "challenge">;

/** How a session authenticates again: a `code`, a `credential`, or the `password` of a user without a second factor. */
export type StepUpProof = Schemas["StepUp"];

/** Why a request needs a recent authentication. */
export interface StepUpRequest {
  readonly problem: Problem;
  /** How many seconds ago the authentication may be, if the server says it. */
  readonly maxAge: number | undefined;
}

export interface ClientOptions {
  /** The address of the API, such as `https://iam.example.com/api/v1`. */
  readonly url: string | URL;
  /** The key of a program, in place of a login. */
  readonly apiKey?: string;
  /**
   * An access token that cannot be refreshed, in place of a login: that of a session in which one acts as another user.
   */
  readonly accessToken?: string;
  /** The tokens of a session that another program or an earlier run began. */
  readonly tokens?: TokenValues;
  /**
   * Is called with each new pair of tokens, so that a program can keep them, and with `undefined` when the session has
   * ended. An older refresh token ends the session if it is sent again, so keep the newest only. A promise is awaited.
   * If it fails, the login or the call that refreshed fails with its error, and the client goes on with the new tokens:
   * `client.tokens` has them.
   */
  readonly onTokens?: (tokens: Tokens | undefined) => unknown;
  /**
   * Asks the person for a proof, when a request needs a recent authentication. The request is then repeated once.
   * `true` if the callback has authenticated the session itself; `undefined` gives the request up. Requests of the
   * callback must not need a recent authentication themselves.
   */
  readonly onStepUp?: (request: StepUpRequest) => Promise<StepUpProof | true | undefined>;
  readonly retry?: RetryOptions;
  /** How many milliseconds a response may take, 35,000 by default. The server itself gives up after 30 seconds. */
  readonly timeout?: number;
  /** How many bytes a response that is not a stream may have, 16 MiB by default. */
  readonly maxBytes?: number;
  /** Replaces `fetch`, for example to use a proxy. It must not follow redirects. */
  readonly fetch?: typeof fetch;
  /** Time and randomness, for tests. */
  readonly environment?: Environment;
}

/** The response of an operation. */
export interface Answered<T> {
  readonly data: T;
  /** The head of the response, for `ETag` or `Idempotent-Replayed`. Its body has been read. */
  readonly response: Response;
}

/** A response, and the token that was sent. */
interface Sent {
  readonly response: Response;
  readonly token: string | undefined;
}

/**
 * Within ten seconds, a spent refresh token gives the same next token once more. Later it ends the session. So a lost
 * answer is noticed after `REFRESH_TIMEOUT` milliseconds, no pause is longer than `REFRESH_MAX_DELAY`, and the last attempt
 * begins before the ten seconds are over. A longer `Retry-After` ends the attempts.
 */
const REFRESH_TIMEOUT = 4_000;
const REFRESH_MAX_DELAY = 1_500;
const REFRESH_ATTEMPTS = 3;

/** Requests with the method POST that change nothing. */
const READING = new Set(["POST /auth/introspect", "POST /authz/check", "POST /authz/check/bulk"]);

/** A client of the API, of one user or of one API key. */
export class Client {
  readonly #base: string;
  readonly #untyped: (method: string, path: string, init: object) => Promise<{ data?: unknown }>;
  readonly #session: Session;
  readonly #fetch: typeof fetch;
  readonly #environment: Environment;
  readonly #limits: Limits;
  readonly #retry: RetryOptions;
  readonly #onStepUp: ClientOptions["onStepUp"];
  #steppingUp: Promise<boolean> | undefined;
  #stepUps = 0;

  /** Throws a `RequestFailed` if the address is not one of an API, or if there is more than one kind of credentials. */
  constructor(options: ClientOptions) {
    if ([options.apiKey, options.accessToken, options.tokens].filter((given) => given !== undefined).length > 1) {
      throw new RequestFailed("argument", "give one of apiKey, accessToken and tokens");
    }
    this.#base = baseOf(options.url);
    this.#untyped = createClient<paths>().request as (
      method: string,
      path: string,
      init: object,
    ) => Promise<{ data?: unknown }>;
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#environment = options.environment ?? system;
    this.#limits = { timeout: options.timeout ?? 35_000, maxBytes: options.maxBytes ?? 16 * 1024 * 1024 };
    this.#retry = options.retry ?? {};
    this.#onStepUp = options.onStepUp;
    const credentials = { fixed: options.apiKey ?? options.accessToken, tokens: options.tokens };
    const next = (refreshToken: string) => this.#nextTokens(refreshToken);
    this.#session = new Session(next, this.#environment, credentials, options.onTokens);
  }

  /** The address of the API, without a slash at its end. */
  get url(): string {
    return this.#base;
  }

  /** The tokens of the session, for a program that keeps them. */
  get tokens(): Tokens | undefined {
    return this.#session.tokens;
  }

  /**
   * The token for a request to another service of yours, which verifies it: an API key, or an access token that is
   * refreshed if it is about to expire. Throws a `RequestFailed` without a login.
   */
  async accessToken(signal?: AbortSignal): Promise<string> {
    const token = await this.#session.token(signal);
    if (token === undefined) {
      throw new RequestFailed("argument", "there is no login");
    }
    return token;
  }

  /**
   * Logs in by e-mail and password. If the user has a second factor, `secondFactor` gets the problem with the `methods`
   * and the `challenge`, and returns a proof. Without it, the problem is thrown.
   */
  async login(
    credentials: Schemas["Login"],
    options: { secondFactor?: (problem: Problem) => Promise<SecondFactorProof>; signal?: AbortSignal } = {},
  ): Promise<Omit<Schemas["LoggedIn"], keyof Schemas["Tokens"]>> {
    const signal = options.signal === undefined ? {} : { signal: options.signal };
    let answer: Schemas["LoggedIn"];
    try {
      answer = await this.POST("/auth/login", { body: credentials, ...signal });
    } catch (problem) {
      const challenge = problem instanceof Problem ? problem.challenge : undefined;
      if (challenge === undefined || options.secondFactor === undefined) {
        throw problem;
      }
      const proof = await options.secondFactor(problem as Problem);
      answer = await this.POST("/auth/login/second-factor", { body: { ...proof, challenge }, ...signal });
    }
    return this.useLogin(answer);
  }

  /**
   * Uses the tokens in the response of another operation that logs in: registration, a passkey, an e-mail, an identity
   * provider, an accepted invitation. Returns the response without them.
   */
  async useLogin<T extends TokenValues>(answer: T): Promise<Omit<T, keyof Schemas["Tokens"]>> {
    const {
      accessToken,
      refreshToken,
      expiresIn,
      tokenType: _,
      ...rest
    } = (answer ?? {}) as T & { tokenType?: unknown };
    if (typeof accessToken !== "string" || typeof refreshToken !== "string") {
      throw new RequestFailed("malformed", "the response of the login has no tokens");
    }
    await this.#session.replace({ accessToken, refreshToken, ...(expiresIn === undefined ? {} : { expiresIn }) });
    return rest as Omit<T, keyof Schemas["Tokens"]>;
  }

  /** Ends the session at the server. The client then has no tokens. */
  async logout(signal?: AbortSignal): Promise<void> {
    await this.POST("/auth/logout", signal === undefined ? {} : { signal });
    await this.#session.replace(undefined);
  }

  /**
   * Exchanges the refresh token. Calls at the same time share one exchange. Requests do this by themselves; call it to
   * have new claims in the access token.
   */
  async refresh(signal?: AbortSignal): Promise<void> {
    if (this.#session.tokens === undefined) {
      throw new RequestFailed("argument", "there is no login");
    }
    await this.#session.refresh(signal);
  }

  /** Authenticates the session again, and refreshes: the next access token says when and how. */
  async stepUp(proof: StepUpProof, signal?: AbortSignal): Promise<void> {
    await this.POST("/auth/step-up", { body: proof, ...(signal === undefined ? {} : { signal }) });
    this.#stepUps += 1;
    if (this.#session.tokens !== undefined) {
      await this.#session.refresh(signal);
    }
  }

  /** Every item of a list, page by page, whether it has pages by number, by cursor or none. */
  paginate<P extends ListPath, Init extends InitOf<P, "get">>(
    path: P,
    ...init: Arguments<Init>
  ): AsyncGenerator<ItemOf<P>, void, undefined> {
    const get = (init: AnyInit) => this.#call("get", path, init);
    return paginate<ItemOf<P>>(async (query) => (await get(withQuery(init[0] as AnyInit | undefined, query))).data);
  }

  /**
   * Every event after the one with the number `after`, as it happens. It connects again after an interruption, and
   * continues after the last event. It ends only by its signal, by `break`, or by a problem such as `gone` or
   * `forbidden`.
   */
  events(options: EventOptions = {}): AsyncGenerator<Event, void, undefined> {
    return events((init) => this.#call("get", "/events", init), this.#environment, options);
  }

  /**
   * Calls an operation. Throws a `Problem` if the server refuses, and a `RequestFailed` if there is no usable response.
   */
  async request<M extends Method, P extends PathOf<M>, Init extends InitOf<P, M>>(
    method: M,
    path: P,
    ...init: Arguments<Init>
  ): Promise<Answered<Answer<P, M, Init>>> {
    return (await this.#call(method, path, init[0] as AnyInit | undefined)) as Answered<Answer<P, M, Init>>;
  }

  async GET<P extends PathOf<"get">, Init extends InitOf<P, "get">>(
    path: P,
    ...init: Arguments<Init>
  ): Promise<Answer<P, "get", Init>> {
    return (await this.request<"get", P, Init>("get", path, ...init)).data;
  }

  async POST<P extends PathOf<"post">, Init extends InitOf<P, "post">>(
    path: P,
    ...init: Arguments<Init>
  ): Promise<Answer<P, "post", Init>> {
    return (await this.request<"post", P, Init>("post", path, ...init)).data;
  }

  async PUT<P extends PathOf<"put">, Init extends InitOf<P, "put">>(
    path: P,
    ...init: Arguments<Init>
  ): Promise<Answer<P, "put", Init>> {
    return (await this.request<"put", P, Init>("put", path, ...init)).data;
  }

  async PATCH<P extends PathOf<"patch">, Init extends InitOf<P, "patch">>(
    path: P,
    ...init: Arguments<Init>
  ): Promise<Answer<P, "patch", Init>> {
    return (await this.request<"patch", P, Init>("patch", path, ...init)).data;
  }

  async DELETE<P extends PathOf<"delete">, Init extends InitOf<P, "delete">>(
    path: P,
    ...init: Arguments<Init>
  ): Promise<Answer<P, "delete", Init>> {
    return (await this.request<"delete", P, Init>("delete", path, ...init)).data;
  }

  toJSON(): object {
    return { url: this.url };
  }

  async #call(method: Method, path: string, init: AnyInit = {}): Promise<Answered<unknown>> {
    refusePathParameters(path, init.params?.path);
    const operation = `${method.toUpperCase()} ${path}`;
    // The signal ends attempts and waits. The request that openapi-fetch makes is not sent itself.
    const { signal, ...rest } = init;
    let sent: Sent | undefined;
    const send = async (request: Request) => {
      sent = await this.#authorized(
        operation,
        await outgoingOf(request, this.#base, signal, init.parseAs === "stream"),
      );
      // What is no success is read here.
      return sent.response.ok ? sent.response : new Response(null, { status: 204 });
    };
    let data: unknown;
    try {
      const options = { ...rest, method: method.toUpperCase(), baseUrl: this.#base, fetch: send };
      ({ data } = await this.#untyped(method, path, options));
    } catch (error) {
      // The message of a syntax error shows a part of the response.
      throw error instanceof SyntaxError ? malformed(operation) : error;
    }
    const { response, token } = sent as unknown as Sent;
    if (!response.ok && response.status !== 304) {
      throw await Problem.from(response, token);
    }
    const isJson = (init.parseAs ?? "json") === "json";
    if (isJson && data !== undefined && (typeof data !== "object" || data === null)) {
      throw malformed(operation);
    }
    return { data, response };
  }

  /** Sends a request with the token, and once more after a refresh and after a step-up. */
  async #authorized(operation: string, outgoing: Outgoing): Promise<Sent> {
    const { signal } = outgoing;
    const isPublic = publicOperations.has(operation);
    const isStepUp = operation.startsWith("POST /auth/step-up");
    if (keyedOperations.has(operation) && !outgoing.headers.has("idempotency-key")) {
      outgoing.headers.set("idempotency-key", newUuid());
    }
    let [mayRefresh, mayStepUp] = [true, this.#onStepUp !== undefined && !isStepUp];
    for (;;) {
      const stepUps = this.#stepUps;
      const token = isPublic ? undefined : await this.#session.token(signal);
      if (token !== undefined) {
        outgoing.headers.set("authorization", `Bearer ${token}`);
      }
      const response = await this.#attempts(outgoing, { isHarmless: READING.has(operation) });
      const sent = { response, token };
      if (token === undefined || (response.status !== 401 && response.status !== 403)) {
        return sent;
      }
      const problem = await Problem.from(response.clone(), token);
      // A wrong proof is also 401, and must not be sent twice.
      const isToken =
        problem.status === 401 && problem.code === "unauthorized" && (!isStepUp || problem.isTokenInvalid);
      if (isToken && mayRefresh && (await this.#session.renew(token, signal))) {
        mayRefresh = false;
      } else if (problem.asksForStepUp && mayStepUp && (await this.#stepUpFor(problem, stepUps, signal))) {
        mayStepUp = false;
      } else {
        return sent;
      }
    }
  }

  /** Whether the session has authenticated again since the request, which counted this many step-ups. */
  async #stepUpFor(problem: Problem, counted: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#stepUps > counted) {
      return true;
    }
    this.#steppingUp ??= this.#askForStepUp(problem).finally(() => {
      this.#steppingUp = undefined;
    });
    return shared(this.#steppingUp, signal);
  }

  async #askForStepUp(problem: Problem): Promise<boolean> {
    const proof = await this.#onStepUp?.({ problem, maxAge: problem.maxAge });
    if (proof === undefined) {
      return false;
    }
    if (proof === true) {
      this.#stepUps += 1;
    } else {
      await this.stepUp(proof);
    }
    return true;
  }

  /** Sends a request until it is answered, or may not be repeated. */
  async #attempts(
    outgoing: Outgoing,
    {
      isHarmless,
      limits = this.#limits,
      retry = this.#retry,
    }: { isHarmless: boolean; limits?: Limits; retry?: RetryOptions },
  ): Promise<Response> {
    const hasKey = outgoing.headers.has("idempotency-key");
    // After a lost answer, a condition on the former version fails.
    const isIdempotent = ["GET", "PUT", "DELETE"].includes(outgoing.method) && !outgoing.headers.has("if-match");
    const isRepeatable = isHarmless || hasKey || isIdempotent;
    let mayBeDone = false;
    for (let number = 1; ; number++) {
      let response: Response | undefined;
      let failure: unknown;
      try {
        response = await exchange(this.#fetch, outgoing, limits);
      } catch (error) {
        if (!(error instanceof RequestFailed) || (error.code !== "connection" && error.code !== "timeout")) {
          throw error;
        }
        failure = error;
      }
      const attempt = { number, isRepeatable, hasKey, response };
      const delay = response?.ok === true ? undefined : retryDelay(attempt, retry, this.#environment);
      if (delay !== undefined) {
        mayBeDone ||= response?.status !== 429;
        await this.#environment.sleep(delay, outgoing.signal);
      } else if (response !== undefined) {
        return mayBeDone && isGone(outgoing, response) ? new Response(null, { status: 204 }) : response;
      } else {
        throw failure;
      }
    }
  }

  async #nextTokens(refreshToken: string): Promise<TokenValues> {
    const outgoing: Outgoing = {
      method: "POST",
      url: `${this.#base}/auth/refresh`,
      headers: new Headers({ "content-type": "application/json" }),
      body: new TextEncoder().encode(JSON.stringify({ refreshToken })),
      signal: undefined,
      isStream: false,
    };
    const limits = { ...this.#limits, timeout: Math.min(this.#limits.timeout, REFRESH_TIMEOUT) };
    const retry = {
      ...this.#retry,
      attempts: Math.min(this.#retry.attempts ?? REFRESH_ATTEMPTS, REFRESH_ATTEMPTS),
      maxDelay: Math.min(this.#retry.maxDelay ?? REFRESH_MAX_DELAY, REFRESH_MAX_DELAY),
    };
    const response = await this.#attempts(outgoing, { isHarmless: true, limits, retry });
    if (response.ok) {
      return tokensOf(await response.text());
    }
    throw await Problem.from(response, refreshToken);
  }
}

/** Whether the service says that what a request deletes does not exist. */
function isGone({ method, url }: Outgoing, { status, headers }: Response): boolean {
  return method === "DELETE" && status === 404 && isProblem(headers) && !new URL(url).searchParams.has("preview");
}

function malformed(operation: string): RequestFailed {
  return new RequestFailed("malformed", `${operation}: the response is not the JSON of this API`);
}

function tokensOf(text: string): TokenValues {
  let values: Partial<TokenValues> | null = null;
  try {
    values = JSON.parse(text) as Partial<TokenValues> | null;
  } catch {
    // Handled like JSON without tokens.
  }
  const { accessToken, refreshToken, expiresIn } = values ?? {};
  if (typeof accessToken !== "string" || typeof refreshToken !== "string") {
    throw malformed("POST /auth/refresh");
  }
  return { accessToken, refreshToken, ...(typeof expiresIn === "number" ? { expiresIn } : {}) };
}

/** The address without a slash at its end. */
function baseOf(url: string | URL): string {
  let base: URL;
  try {
    base = new URL(url);
  } catch {
    throw new RequestFailed("argument", "url must be an address such as https://iam.example.com/api/v1");
  }
  if (
    !/^https?:$/.test(base.protocol) ||
    base.username !== "" ||
    base.password !== "" ||
    base.search !== "" ||
    base.hash !== ""
  ) {
    throw new RequestFailed("argument", "url must begin with https:// or http://, and have no user, query or fragment");
  }
  return base.href.replace(/\/+$/, "");
}

/** `..` as an identifier would lead to another operation. */
function refusePathParameters(path: string, parameters: object | undefined): void {
  for (const [name, value] of Object.entries(parameters ?? {})) {
    if (typeof value !== "string" || ["", ".", ".."].includes(value)) {
      throw new RequestFailed("argument", `${path}: ${name} is not an identifier`);
    }
  }
}

async function outgoingOf(
  request: Request,
  base: string,
  signal: AbortSignal | null | undefined,
  isStream: boolean,
): Promise<Outgoing> {
  const { method, url, headers } = request;
  if (!url.startsWith(`${base}/`)) {
    throw new RequestFailed("argument", "the request leads to another address, which would get the token");
  }
  const body = method === "GET" ? undefined : new Uint8Array(await request.arrayBuffer());
  const hasBody = body !== undefined && body.byteLength > 0;
  return {
    method,
    url,
    headers: new Headers(headers),
    body: hasBody ? body : undefined,
    signal: signal ?? undefined,
    isStream,
  };
}

function withQuery(init: AnyInit = {}, query: object): AnyInit {
  return { ...init, params: { ...init.params, query: { ...init.params?.query, ...query } } };
}
