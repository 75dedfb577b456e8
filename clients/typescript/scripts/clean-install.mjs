// Makes the package.json of a program install a tarball of the client, with the dependencies of its lock file: a new
// release of one must not fail an unchanged checkout. node scripts/clean-install.mjs PACKAGE.JSON TARBALL

import { readFileSync, writeFileSync } from "node:fs";

const [file, tarball] = process.argv.slice(2);
const read = (name) => JSON.parse(readFileSync(name, "utf8"));
const { dependencies } = read(new URL("../package.json", import.meta.url));
const { packages } = read(new URL("../package-lock.json", import.meta.url));
const program = read(file);
program.dependencies["iam-client"] = `file:${tarball}`;
program.overrides = Object.fromEntries(
  Object.keys(dependencies).map((name) => [name, packages[`node_modules/${name}`].version]),
);
writeFileSync(file, JSON.stringify(program, undefined, 2));
