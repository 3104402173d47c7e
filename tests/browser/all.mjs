// SPDX-License-Identifier: Apache-2.0
// Run the tests of the page in a real browser: all of them, or the n-th of several parts, each in
// one process with a browser of its own, so that parts can run side by side.
//
//     TRACEVIEW=build/dev/src/traceview TRACEVIEW_EXAMPLE=build/dev/examples/example.trace \
//         npm --prefix tests/browser test            or: node all.mjs --part 2/4
import { readdirSync, statSync } from 'node:fs';

const here = new URL('.', import.meta.url);
const part = process.argv.includes('--part') ? process.argv.at(-1) : '1/1';
const [number, parts] = part.split('/').map(Number);
if (!(number >= 1 && number <= parts)) throw new Error(`--part ${part}: give for example 2/4`);

// The longest files go first and each joins the part that has least so far: bytes stand for time.
const files = readdirSync(here)
  .filter((name) => name.endsWith('.test.mjs'))
  .map((name) => ({ name, size: statSync(new URL(name, here)).size }))
  .sort((a, b) => b.size - a.size || (a.name < b.name ? -1 : 1));
const shares = Array.from({ length: parts }, () => ({ size: 0, names: [] }));
for (const { name, size } of files) {
  const smallest = shares.reduce((least, share) => (share.size < least.size ? share : least));
  smallest.size += size;
  smallest.names.push(name);
}
for (const name of shares[number - 1].names) await import(new URL(name, here));
