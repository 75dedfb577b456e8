// Writes src/generated from docs/openapi.json: the types of all operations, and the facts about operations that the
// client needs when it runs. With --check, it only compares, and fails if the files are stale.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

import openapiTS, { astToString } from "openapi-typescript";

const source = new URL("../../../docs/openapi.json", import.meta.url);
const target = new URL("../src/generated/", import.meta.url);
const document = JSON.parse(readFileSync(source, "utf8"));
const banner = "// Generated from docs/openapi.json by `npm run generate`. Do not edit.\n\n";

function sorted(value) {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  if (value === null || typeof value !== "object") {
    return value;
  }
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([, operation]) => operation.operationId !== undefined)
    .map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);
const named = (predicate) => operations.filter(({ operation }) => predicate(operation)).map(({ name }) => name);
const hasKey = ({ parameters = [] }) => parameters.some(({ name }) => name === "Idempotency-Key");
const codes = Object.values(document.components.responses).flatMap(({ content = {} }) =>
  Object.keys(content["application/problem+json"]?.examples ?? {}),
);
const { paths, components } = document;
const digest = createHash("sha256")
  .update(JSON.stringify(sorted({ paths, components })))
  .digest("hex");

const set = (names) => `new Set([\n${names.map((name) => `  ${JSON.stringify(name)},\n`).join("")}])`;
const files = {
  "api.ts": banner + astToString(await openapiTS(document)),
  "operations.ts": `${banner}/** Operations that need no access token. */
export const publicOperations: ReadonlySet<string> = ${set(named((operation) => operation["x-required-permission"] === "public"))};

/** Operations that take an \`Idempotency-Key\`. */
export const keyedOperations: ReadonlySet<string> = ${set(named(hasKey))};

/** The kinds of problems that the document names. */
export type KnownCode =
${[...new Set(codes)]
  .sort()
  .map((code) => `  | ${JSON.stringify(code)}`)
  .join("\n")};

/** The SHA-256 of the document's paths and components, as JSON with sorted keys. */
export const documentDigest = "${digest}";
`,
};

const isCheck = process.argv.includes("--check");
mkdirSync(target, { recursive: true });
for (const [name, text] of Object.entries(files)) {
  const file = new URL(name, target);
  if (!isCheck) {
    writeFileSync(file, text);
  } else if (readFileSync(file, "utf8") !== text) {
    console.error(`src/generated/${name} is stale: run npm run generate`);
    process.exitCode = 1;
  }
}
