// SPDX-License-Identifier: Apache-2.0
// build-site.mjs PAGE ENGINE.wasm EXAMPLE OUT/index.html OUT/sw.js - make the static site: the
// viewer's page with the engine and an example inside, as `traceview html` has them (src/report),
// and the service worker that keeps it for when there is no network.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const web = fileURLToPath(new URL('..', import.meta.url));
const [page, engine, example, out, worker] = process.argv.slice(2);

/** In that many letters each, as no browser shows or runs them. */
const LETTERS = 4 * 1024 * 1024;

function carry(what, path) {
  const text = gzipSync(readFileSync(path), { level: 9 }).toString('base64');
  const pieces = text.match(new RegExp(`.{1,${LETTERS}}`, 'g')) ?? [];
  const begin = `<script type="application/octet-stream" data-of="${what}">`;
  return pieces.map((piece) => `${begin}${piece}</script>\n`).join('');
}

/** The place must be there: a page that is not as expected is no site. */
function put(text, place, instead) {
  if (!text.includes(place)) throw new Error(`${page} has no place for '${place}'`);
  return text.replace(place, () => instead);
}

const manifest = { files: [], site: true, example: basename(example) };
const carried =
  `<script type="application/json" data-of="manifest">${JSON.stringify(manifest)}</script>\n` +
  carry('engine', engine) +
  carry('example', example);

let text = readFileSync(page, 'utf8');
text = put(text, 'script-src ', "script-src 'wasm-unsafe-eval' ");
text = put(
  text,
  "connect-src 'self'; img-src 'self' data:",
  "connect-src 'none'; worker-src 'self' blob:; img-src data:",
);
text = put(text, '<!-- @CARRIED@ -->\n', carried);
writeFileSync(out, text);

const made = await build({
  entryPoints: [`${web}src/site/sw.ts`],
  ...{ bundle: true, minify: true, write: false, format: 'iife', target: 'es2022' },
  define: { PAGE_DIGEST: JSON.stringify(createHash('sha256').update(text).digest('hex')) },
});
writeFileSync(worker, made.outputFiles[0].text);
