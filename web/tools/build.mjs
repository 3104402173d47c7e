// SPDX-License-Identifier: Apache-2.0
// Bundles the page into dist/index.html: one file with script and style inside, which loads
// nothing from anywhere.  Its own Content-Security-Policy names the two by their hashes, so that
// no text of a trace can ever become script.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const web = fileURLToPath(new URL('..', import.meta.url));

async function bundle(entry) {
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

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

// "</script" inside the script would end it for the HTML parser.
const { text, inputs } = await bundle('src/app/main.ts');
const script = text.replaceAll('</script', '<\\/script');
const { text: style } = await bundle('src/app/page.css');
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
const page = readFileSync(web + 'src/app/index.html', 'utf8').replace(
  /@POLICY@|<!-- @(STYLE|SCRIPT)@ -->/g,
  (place) => fill[place],
);

mkdirSync(web + 'dist', { recursive: true });
const whole = page + licences(inputs).join('');
writeFileSync(web + 'dist/index.html', whole);
console.log(`dist/index.html: ${Buffer.byteLength(whole)} bytes`);
