// SPDX-License-Identifier: Apache-2.0
// Binary answers: bytes written down by hand, as docs/view-protocol.md lays them out.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { sampleAt, valueAt } from '../src/model/counters';
import { decodeActivity, decodeCounters, decodeFlame, decodeTiles } from '../src/model/decode';

type Item = string | { u32: number[] } | { f64: number[] } | { u8: number[] };

/** Little-endian bytes one after the other. */
function bytes(...items: Item[]): ArrayBuffer {
  const out: number[] = [];
  const put = (size: number, write: (view: DataView) => void): void => {
    const part = new DataView(new ArrayBuffer(size));
    write(part);
    for (let i = 0; i < size; i++) out.push(part.getUint8(i));
  };
  for (const item of items) {
    if (typeof item === 'string') for (const c of item) out.push(c.charCodeAt(0));
    else if ('u32' in item) for (const n of item.u32) put(4, (v) => v.setUint32(0, n, true));
    else if ('f64' in item) for (const n of item.f64) put(8, (v) => v.setFloat64(0, n, true));
    else out.push(...item.u8);
  }
  return Uint8Array.from(out).buffer;
}

const NO_TILE = { u32: [0, 7, 3, 0] };

test('tiles: one slice (padded arrays), then a tile with only a strip', () => {
  const strip = Array.from({ length: 512 }, (_, i) => (i === 3 ? 9 : 0));
  const [first, second] = decodeTiles(
    bytes(
      'TVT1',
      { u32: [2] },
      { u32: [1, 4, 20, 1] },
      { f64: [-2] },
      { u32: [0, 0] },
      { f64: [1000] },
      { f64: [2 ** 52] },
      { u32: [11, 0] },
      { u32: [12, 0] },
      { u32: [13, 0] },
      { u32: [5, 0] },
      NO_TILE,
      { f64: [6] },
      { u32: [1, 0] },
      { u32: strip },
      { u8: strip.map((n) => n * 20) },
    ),
  );
  assert(first && second);
  assert.deepEqual(
    [first.kind, first.row, first.res, first.number, first.density],
    ['i', 4, 20, -2, null],
  );
  assert.deepEqual([...first.start, ...first.length], [1000, 2 ** 52]);
  assert.deepEqual(
    [...first.rows, ...first.index, ...first.frame, ...first.flags],
    [11, 12, 13, 5],
  );
  assert.deepEqual([second.kind, second.row, second.number, second.start.length], ['r', 7, 6, 0]);
  assert.equal(second.density?.frame[3], 9);
  assert.equal(second.density?.height[3], 180);
});

test('two slices need no padding', () => {
  const [tile] = decodeTiles(
    bytes(
      'TVT1',
      { u32: [1] },
      { u32: [2, 0, 0, 2] },
      { f64: [0] },
      { u32: [0, 0] },
      { f64: [1, 5] },
      { f64: [2, 3] },
      { u32: [0, 1] },
      { u32: [2, 3] },
      { u32: [4, 5] },
      { u32: [6, 7] },
    ),
  );
  assert.equal(tile?.kind, 'w');
  assert.deepEqual([...(tile?.flags ?? [])], [6, 7]);
});

test('an answer of wrong length or kind is an error, not a picture', () => {
  const whole = bytes('TVT1', { u32: [1] }, NO_TILE, { f64: [6] }, { u32: [0, 0] });
  assert.equal(decodeTiles(whole).length, 1);
  for (let n = 0; n < whole.byteLength; n++) {
    assert.throws(() => decodeTiles(whole.slice(0, n)), /too short/);
  }
  assert.throws(() => decodeTiles(bytes('TVF1', { u32: [0] })), /not TVT1/);
  assert.throws(
    () => decodeTiles(bytes('TVT1', { u32: [1, 9, 0, 0, 0, 0, 0, 0, 0] })),
    /unknown kind/,
  );
  assert.throws(() => decodeTiles(bytes('TVT1', { u32: [0xffffffff] })), /too short/);
});

test('a flame graph is decoded', () => {
  const graph = decodeFlame(
    bytes(
      'TVF1',
      { u32: [1] },
      { f64: [100, 7] },
      { f64: [0] },
      { f64: [93] },
      { f64: [50] },
      { u32: [0, 0] },
      { u32: [3, 0] },
      { u32: [8, 0] },
      { u32: [2, 0] },
    ),
  );
  assert.deepEqual([graph.total, graph.leftOut, graph.width[0], graph.self[0]], [100, 7, 93, 50]);
  assert.deepEqual([graph.depth[0], graph.frame[0], graph.path[0], graph.calls[0]], [0, 3, 8, 2]);
});

test('activity: heights of three buckets are padded to four', () => {
  const answer = decodeActivity(
    bytes(
      'TVA1',
      { u32: [2, 3, 0] },
      { f64: [0, 900] },
      { u32: [0] },
      { u8: [1, 2, 3, 0] },
      { u32: [5] },
      { u8: [4, 5, 255, 0] },
    ),
  );
  assert.deepEqual([answer.buckets, answer.from, answer.to], [3, 0, 900]);
  assert.deepEqual(
    answer.lanes.map((lane) => [lane.track, ...lane.height]),
    [
      [0, 1, 2, 3],
      [5, 4, 5, 255],
    ],
  );
});

test('counters are decoded, merged ones with their four columns', () => {
  const bytes = new ArrayBuffer(8 + 16 + 3 * 8 + 16 + 5 * 8);
  const view = new DataView(bytes);
  let at = 0;
  const u32 = (...numbers: number[]): void => {
    for (const n of numbers) view.setUint32((at += 4) - 4, n, true);
  };
  const f64 = (...numbers: number[]): void => {
    for (const n of numbers) view.setFloat64((at += 8) - 8, n, true);
  };
  [...'TVC1'].forEach((c, i) => view.setUint8(i, c.charCodeAt(0)));
  at = 4;
  u32(2, 7, 2, 1, 0);
  f64(100, 3, NaN);
  u32(8, 1, 1, 1);
  f64(200, 1, 2, 0, 5);
  const [plain, merged] = decodeCounters(bytes);
  if (!plain || !merged) throw new Error('there are two');
  assert.deepEqual([plain.counter, plain.merged, [...plain.time]], [7, false, [100]]);
  assert.equal(valueAt(plain, 0, 0), 3);
  assert.equal(valueAt(plain, 1, 0), null, 'not told');
  assert.equal(sampleAt(plain, 99), -1);
  assert.equal(sampleAt(plain, 100), 0);
  assert.equal(merged.merged, true);
  assert.deepEqual(
    ['first', 'last', 'lowest', 'highest'].map(
      (what) => merged.series[0]?.[what as 'first' | 'last' | 'lowest' | 'highest'][0],
    ),
    [1, 2, 0, 5],
  );
});
