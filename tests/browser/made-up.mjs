// SPDX-License-Identifier: Apache-2.0
// The page on the made-up engine of web/tools.
import { strict as assert } from 'node:assert';
import { makeTrace } from '../../web/tools/mock-engine.mjs';
import { serve } from '../../web/tools/mock-server.mjs';
import { ready, withPage } from './browser.mjs';

/** Opens the page on a made-up trace; `change` may alter it before. */
export async function onPage(
  body,
  { change = () => {}, hash = '', options = {}, waits = ready } = {},
) {
  const trace = makeTrace({ length: 2e9, busy: 0.2 });
  change(trace);
  const server = await serve(trace);
  try {
    await withPage(server.address + hash, options, async ({ page, troubles }) => {
      await waits(page);
      await body(page, { trace, server, troubles });
      assert.deepEqual(troubles, []);
    });
  } finally {
    server.close();
  }
}
