// SPDX-License-Identifier: Apache-2.0
// What axe-core finds fault with, in every tab and both themes: nothing.
import { strict as assert } from 'node:assert';
import { makeTrace } from '../../web/tools/mock-engine.mjs';
import { serve } from '../../web/tools/mock-server.mjs';
import { faults } from './axe.mjs';
import { openPage } from './browser.mjs';
import { test } from './suite.mjs';

const STATES = [
  ['profile, with a method open and a range', '#method=5&range=100000000-900000000', 'light'],
  ['profile, sorted and searched', '#sort=calls.down&find=Looper&search=Looper', 'dark'],
  ['flame graph', '#tab=flame&method=5', 'dark'],
  ['selected call', '#tab=selection&method=2&call=3.4', 'light'],
  ['info', '#tab=info', 'dark'],
];

for (const [what, hash, colorScheme] of STATES) {
  test(`accessible: ${what}, ${colorScheme}`, async () => {
    const server = await serve(makeTrace({ busy: 0.2 }));
    // The test's own script is not in the page's content policy.
    const { page, close } = await openPage(server.address + hash, { colorScheme, bypassCSP: true });
    try {
      await page.waitForSelector('.profile .row.method', { state: 'attached' });
      assert.deepEqual(await faults(page), []);
    } finally {
      await close();
      server.close();
    }
  });
}
