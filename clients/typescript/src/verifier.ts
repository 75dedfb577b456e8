import { errors, jwtVerify, type JWTPayload } from "jose";

import type { Client } from "./client.js";
import { UUID } from "./environment.js";
import { PublicKeys } from "./keys.js";
import { RequestFailed } from "./problem.js";

/** What a token says. The names are those of its claims (`docs/http-api.md#tokens`). */
export interface TokenClaims {
  /** The user. */
  readonly sub: string;
  readonly tenantId: string;
  /** When the token expires, in seconds since 1970. `undefined` for an API key without an end. */
  readonly exp: number | undefined;
  /** The session; `undefined` for an API key. */
  readonly sid: string | undefined;
  /** How the session has authenticated; `mfa` is among them if a second factor took part. */
  readonly amr: readonly string[];
  /** When, in seconds since 1970; 0 for a session that never counts as recent. */
  readonly auth_time: number;
  /** The user who acts as `sub`, if another one does: decide what it may change. */
  readonly act: { readonly sub: string } | undefined;
  /** Nothing may be changed by this token. */
  readonly readOnly: boolean;
  /** The API key, if the token is one. */
  readonly apiKeyId: string | undefined;
  /** The attributes of the user that its tenant puts into tokens. Read no rights from them. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Whether attributes are left out because not all fit. */
  readonly attributesTruncated: boolean;
}

/** A token is not one that this service accepts. */
export class InvalidToken extends Error {
  /** The reason for a log. It contains no part of the token. Do not tell it to the sender. */
  readonly reason: string;

  constructor(reason: string) {
    super(`the token is invalid: ${reason}`);
    this.name = "InvalidToken";
    this.reason = reason;
  }
}

/** Verifies tokens of others: by the published keys, or by introspection. */
export interface Verifier {
  /** Throws an `InvalidToken`, or a `RequestFailed` or a `Problem` if the service does not answer. */
  verify(token: string): Promise<TokenClaims>;
}

export interface TokenVerifierOptions {
  /**
   * The address of the API, such as `https://iam.example.com/api/v1`. The keys are at `/.well-known/jwks.json` there.
   */
  readonly url: string | URL;
  /** The address of the keys, if it is another one: where a host program mounts the API. */
  readonly jwksUrl?: string | URL;
  /** The `iss` of access tokens: the setting `IAM_ISSUER`. */
  readonly issuer: string;
  /** The `aud` of access tokens: the setting `IAM_AUDIENCE`. */
  readonly audience: string;
  /**
   * The ids of the tenants whose tokens are accepted: UUIDs, and not slugs. All tenants share keys, issuer and
   * audience. A service for every tenant says `"*"`, and must then use the `tenantId` of each token to choose the data.
   */
  readonly tenant: string | readonly string[];
  /** How many seconds the clocks of the service and of this program may differ, 5 by default, 60 at most. */
  readonly clockTolerance?: number;
  readonly fetch?: typeof fetch;
  /** Milliseconds since 1970, for tests. */
  readonly now?: () => number;
}

const LONGEST_TOKEN = 8 * 1024;

// The clients for other languages give the same reasons in the same words.
const NO_TOKEN = "it is no access token";
const TOO_LONG = "it is too long";
const BAD_CLAIMS = "a claim is missing or malformed";
/** The reasons for claims that have another value than they must have. */
const REFUSED_CLAIMS: Readonly<Record<string, string>> = {
  iss: "it is of another issuer",
  aud: "it is for another audience",
  nbf: "it is not valid yet",
};
/** The reasons for codes of jose. */
const REASONS: Readonly<Record<string, string>> = {
  ERR_JOSE_ALG_NOT_ALLOWED: "it has another algorithm, or names no key",
  ERR_JWKS_NO_MATCHING_KEY: "no key of the service has signed it",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "it has another algorithm, or names no key",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "its signature is wrong",
  ERR_JWT_EXPIRED: "it has expired",
};

/**
 * Verifies access tokens by the keys at `/.well-known/jwks.json`. It does not ask the service, so an ended session is
 * accepted until its token expires, within 15 minutes.
 */
export class TokenVerifier implements Verifier {
  readonly #keys: PublicKeys;
  readonly #options: { readonly issuer: string; readonly audience: string; readonly clockTolerance: number };
  /** `undefined`: all. */
  readonly #tenants: ReadonlySet<string> | undefined;
  readonly #now: () => number;

  /** Throws a `TypeError` if an option does not say what to accept. */
  constructor({ url, jwksUrl, issuer, audience, tenant, clockTolerance = 5, fetch: send, now }: TokenVerifierOptions) {
    const tenants = typeof tenant === "string" ? [tenant] : tenant;
    const isText = (value: unknown) => typeof value === "string" && value !== "";
    // Without them, jose would compare nothing.
    if (!isText(issuer) || !isText(audience)) {
      throw new TypeError("issuer and audience must say which tokens are accepted");
    }
    const isId = (value: unknown) => typeof value === "string" && UUID.test(value);
    if (tenant !== "*" && (!Array.isArray(tenants) || tenants.length === 0 || !tenants.every(isId))) {
      throw new TypeError('tenant must be the id of a tenant, a UUID and not its slug, or several ids, or "*"');
    }
    if (!(clockTolerance >= 0 && clockTolerance <= 60)) {
      throw new TypeError("clockTolerance must be 0 to 60 seconds");
    }
    this.#now = now ?? Date.now;
    const keys = new URL(jwksUrl ?? new URL("/.well-known/jwks.json", url));
    this.#keys = new PublicKeys(keys.href, send ?? ((input, init) => globalThis.fetch(input, init)), this.#now);
    this.#options = { issuer, audience, clockTolerance };
    this.#tenants = tenant === "*" ? undefined : new Set(tenants.map((id) => id.toLowerCase()));
  }

  async verify(token: string): Promise<TokenClaims> {
    if (typeof token !== "string") {
      throw new InvalidToken(NO_TOKEN);
    }
    if (token.length > LONGEST_TOKEN) {
      throw new InvalidToken(TOO_LONG);
    }
    const claims = claimsOf(await this.#signed(token));
    if (this.#tenants?.has(claims.tenantId) === false) {
      throw new InvalidToken("it is of another tenant");
    }
    return claims;
  }

  async #signed(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, (header) => this.#keys.find(header), {
        ...this.#options,
        algorithms: ["EdDSA"],
        currentDate: new Date(this.#now()),
        requiredClaims: ["sub", "sid", "jti", "tenantId", "iat", "nbf", "exp"],
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) {
        throw new InvalidToken(reasonOf(error));
      }
      if (error instanceof RequestFailed) {
        throw error;
      }
      throw new InvalidToken(NO_TOKEN);
    }
  }
}

/** The reason without the payload, which errors of jose carry. */
function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTClaimValidationFailed) {
    return (error.reason === "check_failed" ? REFUSED_CLAIMS[error.claim] : undefined) ?? BAD_CLAIMS;
  }
  return REASONS[error.code] ?? NO_TOKEN;
}

function claimsOf(payload: JWTPayload): TokenClaims {
  const { sub, tenantId, exp, sid, amr, auth_time, act, readOnly, apiKeyId } = payload as Record<string, unknown>;
  const { attributes = {}, attributesTruncated } = payload as Record<string, unknown>;
  const isOptionalText = (value: unknown): value is string | undefined =>
    value === undefined || typeof value === "string";
  const acting = act === undefined ? undefined : { sub: (act as { sub?: unknown } | null)?.sub };
  if (
    typeof sub !== "string" ||
    typeof tenantId !== "string" ||
    !isOptionalText(sid) ||
    !isOptionalText(apiKeyId) ||
    typeof attributes !== "object" ||
    attributes === null ||
    Array.isArray(attributes) ||
    (acting !== undefined && typeof acting.sub !== "string")
  ) {
    throw new InvalidToken(BAD_CLAIMS);
  }
  return Object.freeze({
    sub,
    tenantId,
    exp: typeof exp === "number" ? exp : undefined,
    sid,
    amr: Array.isArray(amr) ? amr.filter((method): method is string => typeof method === "string") : [],
    auth_time: typeof auth_time === "number" ? auth_time : 0,
    act: acting as { sub: string } | undefined,
    // What is not clearly false may change nothing.
    readOnly: readOnly !== undefined && readOnly !== false,
    apiKeyId,
    attributes: attributes as Record<string, unknown>,
    attributesTruncated: attributesTruncated === true,
  });
}

/**
 * Verifies access tokens and API keys by `POST /auth/introspect`, and learns of an ended session at once. Its client
 * has an API key with `sessions:read`. Tokens of other tenants than that of the key are invalid.
 */
export class Introspection implements Verifier {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async verify(token: string): Promise<TokenClaims> {
    if (typeof token !== "string" || token === "" || token.length > LONGEST_TOKEN) {
      throw new InvalidToken(token === "" || typeof token !== "string" ? NO_TOKEN : TOO_LONG);
    }
    const { active, ...claims } = await this.#client.POST("/auth/introspect", { body: { token } });
    if (active !== true) {
      throw new InvalidToken("it is not active");
    }
    return claimsOf(claims as JWTPayload);
  }
}
