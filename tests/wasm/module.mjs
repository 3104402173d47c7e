// SPDX-License-Identifier: Apache-2.0
// The engine as a page hosts it, in node: the page's own code around the module, and files as bytes
// in memory.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const web = fileURLToPath(new URL('../../web/', import.meta.url));
const { build } = createRequire(web)('esbuild');

const made = await build({
  entryPoints: [web + 'src/engine/module.ts'],
  bundle: true,
  format: 'esm',
  write: false,
});
export const { Module } = await import(
  `data:text/javascript;base64,${Buffer.from(made.outputFiles[0].text).toString('base64')}`
);

function fromEnvironment(name, what) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} must name ${what}`);
  return value;
}

export const wasm = () => fromEnvironment('TRACEVIEW_WASM', 'the module');
const code = new WebAssembly.Module(readFileSync(wasm()));

/** An instance that has read the files; `told` is called whenever it reads. */
export async function open(files, told = () => undefined) {
  let module = null;
  const reading = {
    begin: () => module && told(module),
    read: (number, offset, into) => {
      into.set(files[number].bytes.subarray(offset, offset + into.length));
      return true;
    },
  };
  module = await Module.start(code, reading);
  const ready = module.load(
    files.map(({ name, bytes, cut = 0 }, number) => ({
      ...{ number, name, offset: 0n, cut },
      files: [{ number, name, bytes: bytes.length, machine: number, offset: 0n }],
    })),
  );
  return { module, ready };
}
