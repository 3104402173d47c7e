// SPDX-License-Identifier: Apache-2.0
// The upload server's page over a mock server, for the tests of it.
import { strict as assert } from 'node:assert';
import { withPage } from './browser.mjs';
import { serveHub } from './mock-hub.mjs';

/** The page over a mock server; what goes wrong in it fails the test. */
export async function onHub(world, path, work, options = {}) {
  const server = await serveHub(world);
  const { expected, ...others } = options;
  try {
    await withPage(server.address + path, others, async ({ page, troubles }) => {
      await work(page, server, troubles);
      assert.deepEqual(
        troubles.filter((text) => !expected?.test(text)),
        [],
      );
    });
  } finally {
    server.close();
  }
}
