// SPDX-License-Identifier: Apache-2.0
// How long the engine of a page takes for a file: the same figure as `engine` has natively, from the
// bytes in memory to a trace that answers.
//
//     TRACEVIEW_WASM=build/release/src/wasm/engine.wasm node tests/bench/engine.mjs FILE
import { readFileSync } from 'node:fs';
import { open } from '../wasm/module.mjs';

const [, , name] = process.argv;
const bytes = readFileSync(name);
const before = performance.now();
const { ready, module } = await open([{ name, bytes }]);
if (!ready) throw new Error(module.status());
process.stdout.write(`ready_s ${((performance.now() - before) / 1000).toFixed(6)}\n`);
