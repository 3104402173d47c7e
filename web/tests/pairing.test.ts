// SPDX-License-Identifier: Apache-2.0
// Two traces one above the other: partners of threads, their order, and the n-th call.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import type { Call, CallDetails } from '../src/model/engine';
import {
  nthCall,
  pairTracks,
  readPairing,
  standLike,
  threadForm,
  writePairing,
} from '../src/model/pairing';
import type { Process, TraceFacts } from '../src/model/traceFacts';
import { random, tileEngine, track } from './fixtures';

test('numbers in names are those that the comparison ignores', () => {
  // The cases of tests/unit/analysis/compare.c, and those of numbers that group.
  const forms = {
    Lam$1: 'Lam$#',
    'Foo$$Lambda$14/0x0000000800c03000': 'Foo$$Lambda$#/0x#',
    access$000: 'access$#',
    '{closure#2}': '{closure##}',
    'copy.constprop.0': 'copy',
    'core::fmt::write::h0123456789abcdef': 'core::fmt::write',
    'GET /user/4711/a1b2c3d4': 'GET /user/#/#',
    'worker-12': 'worker-#',
    'worker-1': 'worker-1',
  };
  for (const [name, form] of Object.entries(forms)) assert.equal(threadForm(name), form);
});

function trace(processes: string[], ...threads: [process: number, name: string][]): TraceFacts {
  return {
    order: 'owner',
    processes: processes.map((name, id): Process => ({ id, name })),
    standing: { processes: processes.map((_, i) => i), threads: threads.map((_, i) => i) },
    tracks: threads.map(([process, name], i) => track(i, { thread: i, process, name })),
  } as Partial<TraceFacts> as TraceFacts;
}

test('threads are paired by process and name, then by name without numbers, and the others come last', () => {
  const own = trace(['app', 'db'], [0, 'main'], [0, 'pool-11'], [1, 'main'], [0, 'gone']);
  const base = trace(
    ['db', 'app'],
    ...([
      [1, 'fresh'],
      [0, 'main'],
      [1, 'pool-27'],
      [1, 'main'],
    ] as [number, string][]),
  );
  const partners = pairTracks(own, base);
  assert.deepEqual([...partners].sort(), [
    [0, 3],
    [1, 2],
    [2, 1],
  ]);
  const placed = standLike(own, base, partners);
  assert.deepEqual(
    placed.tracks.map((t) => t.track),
    [3, 2, 1, 0],
  );
  assert.deepEqual(placed.standing, { processes: [1, 0], threads: [3, 2, 1, 0] });
});

test('threads of two traces with one process each are paired even if the processes have other names', () => {
  const partners = pairTracks(trace(['old'], [0, 'main']), trace(['new'], [0, 'main']));
  assert.deepEqual([...partners], [[0, 0]]);
  const several = pairTracks(trace(['old', 'x'], [0, 'main']), trace(['new'], [0, 'main']));
  assert.equal(several.size, 0);
});

test('the n-th call is found among evenly spread calls, bursts, and equal times', async () => {
  const next = random(7);
  const even = Array.from({ length: 1000 }, (_, i) => 100 * i);
  const bursts = Array.from(
    { length: 500 },
    (_, i) => (i % 2) * 1_000_000 + Math.floor(next() * 50),
  );
  for (const times of [even, bursts.sort((a, b) => a - b), [5, 5, 5, 9], [0]]) {
    let asked = 0;
    const call = (index: number): CallDetails =>
      ({ row: 0, index, start_ns: times[index], nth: index + 1, of: times.length }) as CallDetails;
    const engine = {
      ...tileEngine([]),
      step: (_frame: number, time: number): Promise<Call | null> => {
        asked++;
        const index = times.findIndex((start) => start > time);
        return Promise.resolve(index < 0 ? null : { row: 0, index });
      },
      slice: ({ index }: Call) => Promise.resolve(call(index)),
    };
    const of = track(0, { end_ns: 2_000_000 });
    for (let nth = 1; nth <= times.length; nth += 7) {
      asked = 0;
      const found = await nthCall(engine, 1, of, nth);
      assert.equal(found?.start_ns, times[nth - 1]);
      assert.equal(asked < 80, true, `${asked} questions for call ${nth} of ${times.length}`);
    }
    assert.equal(await nthCall(engine, 1, of, times.length + 1), null);
  }
});

test('an invalid pairing in an address is ignored', () => {
  for (const text of ['', '1,2', 'x', '1.5', '-', '99999999999999999999'])
    assert.equal(readPairing(text), null);
  assert.deepEqual(readPairing('0'), { shift: 0, at: null });
});

test('the address names the run of the base unless it is the first', () => {
  const at = { row: 3, index: 17 };
  for (const [text, pairing] of [
    ['-1500,3.17,r2', { shift: -1500, at, run: 2 }],
    ['0,r1', { shift: 0, at: null, run: 1 }],
    ['-1500,3.17', { shift: -1500, at }],
  ] as const) {
    assert.deepEqual(readPairing(text), pairing);
    assert.equal(writePairing(pairing), text);
  }
  assert.equal(writePairing({ shift: 0, at: null, run: 0 }), '0');
});
