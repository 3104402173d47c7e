// SPDX-License-Identifier: Apache-2.0
// How heavy a page is that the program carries, compressed as a server would send it.  Ends with
// 1 where that is more than it may be:
//
//     node tools/weight.mjs dist/index.html 300000
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const most = Number(process.argv[3]);
const page = readFileSync(process.argv[2]);
const bytes = gzipSync(page, { level: 9 }).length;
console.log(`page: ${page.length} bytes, ${bytes} compressed, at most ${most}`);
process.exitCode = bytes < most ? 0 : 1;
