// SPDX-License-Identifier: Apache-2.0
// Severities: which comes first, and which stands for all.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { highestSeverity, sortBySeverity, type Severity } from '../src/model/severity';

const of = (...severities: Severity[]): { severity: Severity; at: number }[] =>
  severities.map((severity, at) => ({ severity, at }));

test('the most severe come first, equal ones in their order', () => {
  const sorted = sortBySeverity(of('note', 'warning', 'error', 'note', 'error', 'warning'));
  assert.deepEqual(
    sorted.map(({ at }) => at),
    [2, 4, 1, 5, 0, 3],
  );
});

test('the most severe one represents all', () => {
  assert.equal(highestSeverity(of('note', 'error', 'warning')), 'error');
  assert.equal(highestSeverity(of('note', 'warning')), 'warning');
  assert.equal(highestSeverity(of('note')), 'note');
  assert.equal(highestSeverity([]), null);
});
