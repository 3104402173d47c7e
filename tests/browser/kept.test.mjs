// SPDX-License-Identifier: Apache-2.0
// The page looks as it does in the pictures that are kept; see kept.mjs.
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { difference, NAMES, pathOf, take } from './kept.mjs';
import { test } from './suite.mjs';

/** So many pixels may differ by more than shades: a line that stands elsewhere by rounding. */
const MOST = 0.003;

for (const name of NAMES)
  test(`picture: ${name}`, async () => {
    const png = await take(name);
    const share = await difference(name, png);
    if (share <= MOST) return;
    const now = join(mkdtempSync(join(tmpdir(), 'looks-')), `${name}.png`);
    writeFileSync(now, png);
    const much = `${(100 * share).toFixed(2)} % of it differs`;
    assert.fail(
      `${pathOf(name)} and ${now}: ${much}. Is that meant? npm --prefix tests/browser run keep ${name}`,
    );
  });
