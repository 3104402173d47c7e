// SPDX-License-Identifier: Apache-2.0
// How heavy the page is that the program carries, compressed as a server would send it.  Ends with
// 1 where that is too much:
//
//     node tools/weight.mjs dist/index.html
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const MOST = 300_000;

const page = readFileSync(process.argv[2]);
const bytes = gzipSync(page, { level: 9 }).length;
console.log(`page: ${page.length} bytes, ${bytes} compressed, at most ${MOST}`);
process.exitCode = bytes < MOST ? 0 : 1;
