// SPDX-License-Identifier: Apache-2.0
// Bundles tests/*.test.ts and runs them with node's own runner.  Arguments go to node:
//
//     npm test                              closing lines: how many tests passed and failed
//     npm test -- --test-reporter=tap       for other programs
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const web = fileURLToPath(new URL('..', import.meta.url));
const tests = readdirSync(web + 'tests')
  .filter((name) => name.endsWith('.test.ts'))
  .sort();
const all = tests.map((name) => `import './${name}';`).join('\n');

await build({
  stdin: { contents: all, resolveDir: web + 'tests', sourcefile: 'all.ts' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node18',
  sourcemap: 'inline',
  outfile: web + 'dist/tests/all.mjs',
  logLevel: 'warning',
});
const reporter = process.argv.slice(2);
const run = spawnSync(
  process.execPath,
  [
    '--enable-source-maps',
    ...(reporter.length > 0 ? reporter : ['--test-reporter=spec']),
    web + 'dist/tests/all.mjs',
  ],
  { stdio: 'inherit' },
);
process.exitCode = run.status ?? 1;
