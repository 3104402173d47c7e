// SPDX-License-Identifier: Apache-2.0
// What axe-core finds fault with, in every tab and both themes: nothing.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { makeTrace } from '../../web/tools/mock-engine.mjs';
import { serve } from '../../web/tools/mock-server.mjs';
import { openPage } from './browser.mjs';
import { test } from './limited.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

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
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document));
      const found = violations.map(
        (v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' ')}`,
      );
      assert.deepEqual(found, []);
    } finally {
      await close();
      server.close();
    }
  });
}
