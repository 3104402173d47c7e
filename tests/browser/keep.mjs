// SPDX-License-Identifier: Apache-2.0
// Takes the pictures in kept/ anew, where the page is meant to look different from now on:
//
//     TRACEVIEW=... TRACEVIEW_EXAMPLE=... npm --prefix tests/browser run keep [NAME...]
import { browser } from './browser.mjs';
import { keep, NAMES, pathOf, take } from './kept.mjs';

const wanted = process.argv.slice(2);
for (const name of NAMES.filter((n) => wanted.length === 0 || wanted.includes(n))) {
  keep(name, await take(name));
  console.log(pathOf(name));
}
await (await browser()).close();
