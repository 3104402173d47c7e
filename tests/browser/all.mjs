// SPDX-License-Identifier: Apache-2.0
// Run the tests of the page in a real browser: all of them, or the n-th of several parts, each in
// one process with a browser of its own, so that parts can run side by side.
//
//     TRACEVIEW=build/dev/src/traceview TRACEVIEW_EXAMPLE=build/dev/examples/example.trace \
//         npm --prefix tests/browser test            or: node all.mjs --part 2/4
import { readdirSync } from 'node:fs';
import { load } from './suite.mjs';

const here = new URL('.', import.meta.url);
const part = process.argv.includes('--part') ? process.argv.at(-1) : '1/1';
const [number, parts] = part.split('/').map(Number);
if (!(number >= 1 && number <= parts)) throw new Error(`--part ${part}: give for example 2/4`);

/**
 * Seconds that files take on two processors: those that take more than the others. Their size does
 * not tell it: the longest of all is a small one.
 */
const SECONDS = {
  'accessible-all': 70,
  report: 75,
  open: 60,
  keys: 50,
  page: 50,
  site: 50,
  tables: 34,
  corners: 30,
  example: 28,
  'hub-accessible': 25,
  numbers: 25,
  filter: 20,
  keyboard: 20,
  kept: 20,
  room: 20,
  transforms: 20,
  'hub-upload': 18,
  counters: 16,
  hub: 16,
  lower: 16,
  windows: 16,
  accessibility: 15,
  fleetFiles: 12,
  findings: 15,
  'hub-server': 15,
  motion: 15,
  order: 15,
  sql: 15,
};
/** Any other file. */
const USUAL_SECONDS = 6;

// The longest files go first and each joins the part that has least so far.
const files = readdirSync(here)
  .filter((name) => name.endsWith('.test.mjs'))
  .map((name) => ({ name, seconds: SECONDS[name.replace('.test.mjs', '')] ?? USUAL_SECONDS }))
  .sort((a, b) => b.seconds - a.seconds || (a.name < b.name ? -1 : 1));
const shares = Array.from({ length: parts }, () => ({ seconds: 0, names: [] }));
for (const { name, seconds } of files) {
  const least = shares.reduce((a, b) => (b.seconds < a.seconds ? b : a));
  least.seconds += seconds;
  least.names.push(name);
}
for (const name of shares[number - 1].names) await load(new URL(name, here));
