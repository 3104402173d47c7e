// SPDX-License-Identifier: Apache-2.0
// Bundles the pages: dist/index.html is the viewer's, dist/hub.html the upload server's, dist/fleet.html that of its fleet.  Each is
// one file with script and style inside, which loads nothing from anywhere.  Its own
// Content-Security-Policy names the two by their hashes, so that no text of a trace can ever become
// script.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const web = fileURLToPath(new URL('..', import.meta.url));

async function bundle(entry, define = {}) {
  const result = await build({
    entryPoints: [web + entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    define,
  });
  return { text: result.outputFiles[0].text.trim(), inputs: Object.keys(result.metafile.inputs) };
}

/** The licences of the packages that the inputs belong to, as their authors ask for. */
function licences(inputs) {
  const names = inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
  return [...new Set(names)].filter(Boolean).map((name) => {
    const text = readFileSync(`${web}node_modules/${name}/LICENSE`, 'utf8').trim();
    return `<!--\n${name}\n\n${text.replaceAll('--', '- -')}\n-->\n`;
  });
}

/**
 * The ready queries of docs/sql.md, as [group, title, query]: a line that ends with a colon names a
 * group, and each query stands indented below a comment that is its title.
 */
function readyQueries() {
  const text =
    readFileSync(`${web}../docs/sql.md`, 'utf8').split('## Queries to begin with')[1] ?? '';
  const queries = [];
  let [group, title] = ['', ''];
  for (const line of text.split('\n')) {
    if (/^\S.*:$/.test(line)) group = line.slice(0, -1);
    else if (line.startsWith('    -- ')) title = line.slice(7);
    else if (line.startsWith('    ')) queries.push([group, title, line.trim()]);
  }
  return queries;
}

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** One page out of a script and a style, on the template that all have. */
async function page(name, entry, sheet, worker = { text: '', inputs: [] }) {
  const bundled = await bundle(entry, {
    WORKER_TEXT: JSON.stringify(worker.text),
    SQL_QUERIES: JSON.stringify(JSON.stringify(readyQueries())),
  });
  const { text } = bundled;
  // "</script" inside the script would end it for the HTML parser.
  const script = text.replaceAll('</script', '<\\/script');
  const { text: style } = await bundle(sheet);
  const policy =
    `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'";

  // The elements are made here: the hashes hold only when nothing, not even white space, stands
  // beside the text.
  const fill = {
    '@POLICY@': policy,
    '<!-- @STYLE@ -->': `<style>${style}</style>`,
    '<!-- @SCRIPT@ -->': `<script>${script}</script>`,
  };
  const made = readFileSync(web + 'src/app/index.html', 'utf8').replace(
    /@POLICY@|<!-- @(STYLE|SCRIPT)@ -->/g,
    (place) => fill[place],
  );
  const whole = made + licences([...bundled.inputs, ...worker.inputs]).join('');
  writeFileSync(`${web}dist/${name}`, whole);
  console.log(`dist/${name}: ${Buffer.byteLength(whole)} bytes`);
}

mkdirSync(web + 'dist', { recursive: true });
// A page that carries the engine starts this from a text of its own.
const worker = await bundle('src/engine/worker.ts');
await page('index.html', 'src/app/main.ts', 'src/app/page.css', worker);
await page('hub.html', 'src/hub/main.ts', 'src/hub/hub.css');
await page('fleet.html', 'src/fleet/main.ts', 'src/fleet/fleet.css');
