// SPDX-License-Identifier: Apache-2.0
// Pages over files that a test writes: the real program shows each, until the test ends.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPage, ready } from './browser.mjs';
import { afterAll, afterThis } from './suite.mjs';
import { view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'traceview-'));

afterAll(() => rmSync(folder, { recursive: true }));

/**
 * The page over a file of that name: of events, or of a text or bytes.  `waits` knows when it is there,
 * `hash` is the end of the address.
 */
export async function showFile(name, content, { waits = ready, hash = '', options = {} } = {}) {
  const file = join(mkdtempSync(join(folder, 'file-')), name);
  const asIs = typeof content === 'string' || content instanceof Uint8Array;
  writeFileSync(file, asIs ? content : JSON.stringify(content));
  const viewer = await view(file);
  const opened = await openPage(viewer.address + hash, options);
  afterThis(async () => {
    await opened.close();
    await viewer.stop();
  });
  await waits(opened.page);
  return { ...opened, address: viewer.address, file };
}

/** Copies of a file beside it: equal runs of one side of a comparison. */
export function copies(file, count) {
  return Array.from({ length: count }, (_, number) => {
    const copy = `${file}.${number + 1}`;
    copyFileSync(file, copy);
    return copy;
  });
}
