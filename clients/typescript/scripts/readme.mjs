// Writes each TypeScript block of the README to a file of its own: node scripts/readme.mjs DIRECTORY URL
//
// URL replaces the address of the server in the blocks.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [directory, url] = process.argv.slice(2);
const text = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block]) => block);
if (blocks.length === 0) {
  throw new Error("the README has no TypeScript");
}
mkdirSync(directory, { recursive: true });
blocks.forEach((block, index) => {
  writeFileSync(join(directory, `readme-${index + 1}.ts`), block.replaceAll("http://localhost:8080/api/v1", url));
});
