// SPDX-License-Identifier: Apache-2.0
// The upload server's page over a mock server, for the tests of it.
import { strict as assert } from 'node:assert';
import { openPage } from './browser.mjs';
import { serveHub } from './mock-hub.mjs';

/** The page over a mock server; what goes wrong in it fails the test. */
export async function onHub(world, path, work, options = {}) {
  const server = await serveHub(world);
  const { page, troubles, close } = await openPage(server.address + path, options);
  try {
    await work(page, server, troubles);
    assert.deepEqual(
      troubles.filter((text) => !options.expected?.test(text)),
      [],
    );
  } finally {
    await close();
    server.close();
  }
}
