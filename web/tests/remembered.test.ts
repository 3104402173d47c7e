// SPDX-License-Identifier: Apache-2.0
// An arrangement comes back by names in a trace with other numbers.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import type { Process } from '../src/model/traceFacts';
import {
  arrangeableNames,
  NO_STORED_ARRANGEMENT,
  readStoredArrangement,
  applyStoredArrangement,
  updateStoredArrangement,
} from '../src/model/storedArrangement';
import { track } from './fixtures';

const FIRST = arrangeableNames(
  {
    processes: [{ id: 1, name: 'app' } as Process, { id: 2, name: 'gpu' } as Process],
    tracks: [
      track(0, { name: 'main' }),
      track(1, { name: 'disk' }),
      track(2, { name: 'raster', process: 1 }),
    ],
  },
  [],
);

/** The same threads in another order, one more of a name, and no disk. */
const SECOND = arrangeableNames(
  {
    processes: [{ id: 9, name: 'gpu' } as Process, { id: 8, name: 'app' } as Process],
    tracks: [
      track(0, { name: 'raster', process: 0 }),
      track(1, { name: 'raster', process: 0 }),
      track(2, { name: 'main', process: 1 }),
    ],
  },
  [],
);

const ARRANGED = {
  pinned: ['t0', 't1'],
  hidden: ['t2'],
  moves: [
    { what: 'p1', before: 'p0' },
    { what: 't1', before: 't0' },
  ],
};

test('a remembered name applies to all tracks that have it, and a missing one is skipped', () => {
  const kept = updateStoredArrangement(NO_STORED_ARRANGEMENT, ARRANGED, [1], FIRST);
  assert.deepEqual(kept.pinned, ['app / main', 'app / disk']);
  assert.deepEqual(applyStoredArrangement(kept, SECOND), {
    arrangement: {
      pinned: ['t2'],
      hidden: ['t0', 't1'],
      moves: [{ what: 'p0', before: 'p1' }],
    },
    closed: [0],
  });
});

test('names that another trace lacks are not forgotten there', () => {
  const kept = updateStoredArrangement(NO_STORED_ARRANGEMENT, ARRANGED, [], FIRST);
  const unpinned = { pinned: [], hidden: [], moves: [] };
  assert.deepEqual(updateStoredArrangement(kept, unpinned, [1], SECOND), {
    pinned: ['app / disk'],
    hidden: [],
    moves: [['app / disk', 'app / main']],
    closed: ['app'],
  });
});

test('an invalid storage is empty', () => {
  for (const text of [null, '', '7', 'null', '[]', '{"pinned":3,"moves":[[1],7]}', '{'])
    assert.deepEqual(readStoredArrangement(text), NO_STORED_ARRANGEMENT, String(text));
  const kept = updateStoredArrangement(NO_STORED_ARRANGEMENT, ARRANGED, [1], FIRST);
  assert.deepEqual(readStoredArrangement(JSON.stringify(kept)), kept);
});
