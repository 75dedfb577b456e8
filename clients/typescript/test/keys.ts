import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";

export const tenant = "01a1fdcb-9b32-7000-8000-000000000001";
export const user = "01a1fdcb-9b32-7000-8000-000000000002";
export const now = 1_800_000_000;

/** A key pair of the service, with the public half as it is published. */
export async function keyPair(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const jwk: JWK = { ...(await exportJWK(publicKey)), use: "sig", alg: "EdDSA", kid };
  return { kid, privateKey, publicKey, jwk };
}

export const claims = {
  iss: "iam",
  aud: "iam",
  sub: user,
  sid: "01a1fdcb-9b32-7000-8000-000000000003",
  jti: "01a1fdcb-9b32-7000-8000-000000000004",
  tenantId: tenant,
  amr: ["pwd"],
  auth_time: now - 60,
  iat: now,
  nbf: now,
  exp: now + 900,
};

/** A token as the service signs it. A claim that is `undefined` is left out. */
export async function sign(
  { kid, privateKey }: { kid: string; privateKey: CryptoKey | Uint8Array },
  changes: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const payload = JSON.parse(JSON.stringify({ ...claims, ...changes })) as Record<string, unknown>;
  return new SignJWT(payload).setProtectedHeader({ typ: "JWT", alg: "EdDSA", kid, ...header }).sign(privateKey);
}

/** A JWK set in place of `fetch`, that counts how often it was read. */
export function jwks(keys: () => unknown) {
  const counted = {
    reads: 0,
    fetch: (async () => {
      counted.reads += 1;
      return new Response(JSON.stringify(keys()), { headers: { "content-type": "application/json" } });
    }) as typeof fetch,
  };
  return counted;
}
