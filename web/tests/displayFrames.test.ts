// SPDX-License-Identifier: Apache-2.0
// Frames of a display: the table of late ones, and the bars of the time line.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import type { DisplayFrames, DisplayMark } from '../src/model/displayFrames';
import { causeOf, displayGroups, displaySheet, frameTime } from '../src/model/displayTable';
import { sheetText } from '../src/model/sheet';
import { displayColour, displayMarkAt, paintDisplayFrames } from '../src/render/displayPainter';
import { TimeScale } from '../src/render/timeScale';
import { DrawLog } from './drawLog';
import { THEME } from './paintTrack';

/** app has one late frame, 13 of 10 ms, in which flush took 4.5; a browser dropped one. */
const ANSWER: DisplayFrames = {
  all: [5, 2, 0, 8e6, 13e6, 13e6, 13e6],
  processes: [
    [1, 3, 1, 0, 8e6, 13e6, 13e6, 13e6],
    [-1, 2, 1, 0, 1e6, 2e6, 2e6, 2e6],
  ],
  deadlines: ['The deadline is 10.000 ms.'],
  late: [
    [4, 1, 11e6, 13e6, 10e6, 1, 2, 7, 8e6, 6e6, 9, 4.5e6, false, ''],
    [9, 0, 20e6, 2e6, null, -1, 3, 8, 0, 0, -1, 0, false, 'dropped'],
  ],
  left_out: 0,
};

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it is missing');
  return value;
}

const words = {
  process: (process: number) => (process < 0 ? 'No process' : 'app'),
  name: (frame: number) => ['doFrame', 'PipelineReporter', 'flush'][frame - 7] ?? '',
};

test('each process has its late frames and what took their time', () => {
  const groups = displayGroups(ANSWER);
  assert.deepEqual(
    groups.map(({ id, places }) => [id, places.length]),
    [
      ['process-1', 1],
      ['process-none', 1],
    ],
  );
  const app = present(groups[0]?.places[0]);
  const browser = present(groups[1]?.places[0]);
  assert.equal(frameTime(app, 'late'), 3e6);
  assert.equal(causeOf(app, words, 'ms'), 'flush 4.500');
  assert.equal(frameTime(browser, 'late'), null);
  assert.equal(frameTime(browser, 'main'), null);
  assert.equal(causeOf(browser, words, 'ms'), 'dropped');
});

test('the export has exact values, and a summary for a process without late frames', () => {
  const app = present(displayGroups(ANSWER)[0]);
  const lines = [present(app.places[0]), app.head];
  const csv = sheetText(displaySheet(lines, words, 'ms'), 'csv').split('\r\n');
  assert.equal(
    csv[0],
    'process,name,frames,late,unfinished,p50_ns,p95_ns,p99_ns,max_ns,start_ns,duration_ns,' +
      'deadline_ns,late_by_ns,main_ns,render_ns,cause,cause_ns,reason,row,index',
  );
  assert.equal(
    csv[1],
    'app,doFrame,,,,,,,,11000000,13000000,10000000,3000000,8000000,6000000,flush,4500000,,4,1',
  );
  assert.equal(csv[2], 'app,,3,1,0,8000000,13000000,13000000,13000000,,,,,,,,,,,');
});

/** From 0 to 8 and from 11 to 24 ms, each with 10 ms to its deadline; and one of another process. */
const MARKS: DisplayMark[] = [
  { process: 1, start: 11, end: 24, deadline: 10, row: 4, index: 1, count: 1, late: true },
  { process: 1, start: 0, end: 8, deadline: 10, row: 4, index: 0, count: 1, late: false },
  { process: 2, start: 0, end: 24, deadline: null, row: 5, index: 0, count: 1, late: false },
];

test('late frames are high and red, others low, and both show their deadline', () => {
  const g = new DrawLog();
  const scale = new TimeScale({ from: 0, to: 40 }, 400);
  const row = { kind: 'display', key: 'v1', process: 1, thread: -1, frames: 2, late: 1 } as const;
  const scene = { theme: THEME, scale, selected: { row: 4, index: 1 } };
  paintDisplayFrames(g, scene, [{ row, top: 100, height: 26 }], MARKS, 0);
  const boxes = g.drawn.map(({ what, box, style }) => [what, box.x, box.y, box.w, box.h, style]);
  const { line, bg, select } = THEME.colour;
  assert.deepEqual(boxes, [
    ['fillRect', 0, 100, 400, 1, line],
    ['fillRect', 0, 111, 79, 12, displayColour(THEME, false)],
    ['fillRect', 100, 103, 1, 20, THEME.colour['text-2']],
    ['fillRect', 80, 122, 20, 1, THEME.colour['text-2']],
    ['fillRect', 110, 103, 129, 20, displayColour(THEME, true)],
    ['fillRect', 210, 103, 1, 20, bg],
    ['strokeRect', 109, 102, 131, 22, select],
  ]);
});

test('a late frame is hit before the others', () => {
  const scale = new TimeScale({ from: 0, to: 40 }, 400);
  const over = { process: 1, start: 10, end: 30, row: 6, index: 0, count: 1, late: false };
  const marks = [{ ...over, deadline: null }, ...MARKS];
  const at = (process: number, x: number): number | undefined =>
    displayMarkAt({ scale }, process, marks, x)?.row;
  assert.equal(at(1, 200), 4);
  assert.equal(at(1, 280), 6);
  assert.equal(at(2, 100), 5);
  assert.equal(at(1, 350), undefined);
});
