// An OpenID Connect provider for tests, by the certified package oidc-provider:
//
//   node oidc_provider.mjs ADDRESS CALLBACK BACKCHANNEL
//
// Its client is `iam` with the secret `secret-of-iam`, which must use PKCE. CALLBACK is the address to which it sends people
// back, and BACKCHANNEL the one that it tells of logouts. Whoever types any name and any password is logged in: the subject
// is the name, and the address the name at example.com. Each process has a key of its own. IAM_TEST_OIDC_PROVIDER is the
// directory of the package.

import { generateKeyPairSync } from "node:crypto";
import { pathToFileURL } from "node:url";

const [address, callback, backchannel] = process.argv.slice(2);
const entry = pathToFileURL(`${process.env.IAM_TEST_OIDC_PROVIDER}/node_modules/oidc-provider/lib/index.js`);
const { Provider } = await import(entry);

const issuer = `http://${address}`;
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const provider = new Provider(issuer, {
    clients: [
        {
            client_id: "iam",
            client_secret: "secret-of-iam",
            redirect_uris: [callback],
            backchannel_logout_uri: backchannel,
            backchannel_logout_session_required: true,
            post_logout_redirect_uris: [`${issuer}/`],
        },
    ],
    claims: {
        openid: ["sub"],
        email: ["email", "email_verified"],
        profile: ["given_name", "family_name", "name"],
    },
    cookies: { keys: ["a key of the tests"] },
    features: {
        backchannelLogout: { enabled: true },
        devInteractions: { enabled: true },
        rpInitiatedLogout: { enabled: true },
    },
    async findAccount(_, id) {
        const names = { given_name: id, family_name: "Hopper", name: `${id} Hopper` };
        return {
            accountId: id,
            claims: async () => ({ sub: id, email: `${id}@example.com`, email_verified: true, ...names }),
        };
    },
    // The client is the company's own, so nobody is asked for consent.
    async loadExistingGrant(ctx) {
        const grant = new ctx.oidc.provider.Grant({
            clientId: ctx.oidc.client.clientId,
            accountId: ctx.oidc.session.accountId,
        });
        grant.addOIDCScope("openid email profile");
        await grant.save();
        return grant;
    },
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), alg: "RS256" }] },
    pkce: { required: () => true },
    // The client is at a private address, which the package does not reach by itself.
    fetch: (url, { dispatcher, ...options }) => globalThis.fetch(url, options),
});

// The package leaves it to its user to tell the client.
provider.on("end_session.success", async (ctx) => {
    const client = await provider.Client.find("iam");
    const { session } = ctx.oidc;
    await client.backchannelLogout(session.accountId, session.sidFor("iam")).catch(console.error);
});

const [host, port] = address.split(":");
provider.listen(Number(port), host, () => console.error("listening"));
