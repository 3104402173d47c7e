// SPDX-License-Identifier: Apache-2.0
// The overview of very many tracks.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  bucketsFor,
  busiestCounters,
  counterLanes,
  fewerLanes,
  sampleLanes,
} from '../src/model/activity';
import type { CounterFacts } from '../src/model/engine';

test('the overview of very many tracks is coarser, but never a single block', () => {
  assert.equal(bucketsFor(0, 2000), 2000);
  assert.equal(bucketsFor(2000, 2000), 2000);
  assert.equal(bucketsFor(4000, 2000), 1000);
  assert.equal(bucketsFor(10_000_000, 2000), 100);
});

test('lanes without room merge into one as high as the highest', () => {
  const lane = (track: number, ...height: number[]): { track: number; height: Uint8Array } => ({
    ...{ track, height: Uint8Array.from(height) },
  });
  const lanes = [lane(0, 1, 9), lane(1, 5, 2), lane(2, 3, 3)];
  assert.deepEqual(fewerLanes(lanes, 3), lanes);
  assert.deepEqual(fewerLanes(lanes, 2), [lane(0, 5, 9), lane(2, 3, 3)]);
  assert.deepEqual(lanes[0], lane(0, 1, 9));
});

test('samples make a lane for each thread, and the fullest bucket is the highest', () => {
  const samples = [
    { thread: 7, time: 100, count: 4 },
    { thread: 7, time: 149, count: 4 },
    { thread: 2, time: 150, count: 6 },
    { thread: 2, time: 200, count: 1 },
  ];
  assert.deepEqual(sampleLanes(samples, { from: 100, to: 200 }, 4), [
    { track: 7, height: Uint8Array.of(170, 170, 0, 0) },
    { track: 2, height: Uint8Array.of(0, 0, 255, 80) },
  ]);
});

const counter = (
  number: number,
  samples: number,
  ...bounds: ([number, number] | null)[]
): CounterFacts => ({
  ...{ counter: number, name: '', category: '', process: 0, series: bounds.map(String) },
  ...{ samples, low: 0, high: 0, bounds, last_ns: 0, colour: 0 },
});

test('of many counters, the overview asks for those with the most values', () => {
  const list = [counter(0, 90, null), counter(1, 3, [0, 1]), counter(2, 8, null, [0, 1])];
  const shown = busiestCounters([...list, counter(3, 1, [0, 2])], 2);
  assert.deepEqual(
    shown.map((one) => one.counter),
    [2, 1],
  );
});

test('a counter that changes makes a lane from its lowest to its highest value', () => {
  const numbers = (...list: number[]): Float64Array => Float64Array.from(list);
  const series = (last: number[], highest: number[]) => ({
    ...{ first: numbers(...last), last: numbers(...last) },
    ...{ lowest: numbers(...last), highest: numbers(...highest) },
  });
  const time = numbers(100, 150, 190);
  const values = [
    {
      ...{ counter: 2, merged: true, time },
      series: [series([NaN, NaN, NaN], [NaN, NaN, NaN]), series([20, 10, 15], [20, 30, 15])],
    },
    { ...{ counter: 3, merged: false, time }, series: [series([7, 7, 7], [7, 7, 7])] },
  ];
  const counters = [counter(3, 3, [0, 7]), counter(2, 3, null, [0, 30])];
  const lanes = counterLanes(counters, values, { from: 100, to: 200 }, 10);
  assert.deepEqual(lanes, [
    { track: 2, height: Uint8Array.of(128, 128, 128, 128, 128, 255, 0, 0, 0, 64) },
  ]);
});
