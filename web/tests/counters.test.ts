// SPDX-License-Identifier: Apache-2.0
// Counters: stacked, overlaid or one series, with what no event told left out.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  boundsOf,
  numericSeries,
  readOverlays,
  readViews,
  writeOverlays,
  writeViews,
  type CounterView,
} from '../src/model/counters';
import type { CounterFacts, CounterValues } from '../src/model/engine';
import { RESERVED } from '../src/model/colours';
import { counterBoxes, counterRow } from '../src/model/rows';
import { overlayColour, paintCounters, seriesColour } from '../src/render/counterPainter';
import { TextMeter } from '../src/render/text';
import { TimeScale } from '../src/render/timeScale';
import { DrawLog } from './drawLog';
import { theme } from './fixtures';

const COUNTER: CounterFacts = {
  ...{ counter: 3, name: 'memory', category: '', process: 0, series: ['used', 'free'] },
  ...{ samples: 2, low: -1, high: 30, last_ns: 500, colour: 0 },
  bounds: [
    [0, 25],
    [-1, 20],
  ],
};

/** used 10 then 25, free 20 and then no value. */
const VALUES: CounterValues = (() => {
  const series = [
    [10, 25],
    [20, NaN],
  ].map((list) => Float64Array.from(list));
  return {
    counter: 3,
    merged: false,
    time: Float64Array.from([0, 500]),
    series: series.map((s) => ({ first: s, last: s, lowest: s, highest: s })),
  };
})();

/** A counter that is drawn over the first one, with a scale of its own: 0 to 4. */
const OVER: CounterFacts = {
  ...{ counter: 5, name: 'load', category: '', process: 0, series: ['value'] },
  ...{ samples: 2, low: 0, high: 4, last_ns: 500, colour: 0, bounds: [[0, 4]] },
};

/** load 1 then 4. */
const OVER_VALUES: CounterValues = (() => {
  const s = Float64Array.from([1, 4]);
  const series = [{ first: s, last: s, lowest: s, highest: s }];
  return { counter: 5, merged: false, time: Float64Array.from([0, 500]), series };
})();

/** Drawn 100 px wide over 1000 ns, in a box of 39 px: 31 of them from -1 to 30. */
function paint(
  view: CounterView,
  pointer: number | null,
  hold = true,
  counter: CounterFacts = COUNTER,
  values: CounterValues = VALUES,
  look = theme(),
): string[] {
  const context = new DrawLog();
  const { log } = context;
  const row = counterRow(counter);
  const boxes = counterBoxes([{ row, top: 0, height: 39 }], hold ? 1000 : null);
  const scene = {
    theme: look,
    scale: new TimeScale({ from: 0, to: 1000 }, 100),
    meter: new TextMeter((text) => text.length * 6),
    values: new Map([[3, values]]),
    pointer,
    hovered: pointer === null ? null : 3,
    selected: null,
    views: view === 'stack' ? new Map() : new Map([[3, view]]),
  };
  paintCounters(context, scene, boxes, 0, 100);
  return log;
}

/** The texts that are drawn. */
const words = (log: string[]): string[] =>
  log
    .filter((line) => line.startsWith('fillText'))
    .map((line) => line.split(/ +/).slice(1, -3).join(' '));

test('the visible part has its first and last value', () => {
  assert.deepEqual(boundsOf(COUNTER, 'stack'), [-1, 30]);
  assert.deepEqual(boundsOf(COUNTER, 'overlap'), [-1, 25]);
  assert.deepEqual(boundsOf(COUNTER, 0), [0, 25]);
  assert.deepEqual(boundsOf(COUNTER, 1), [-1, 20]);
});

test('a series without numbers is left out, and a counter without any says so', () => {
  const worded: CounterFacts = { ...COUNTER, bounds: [null, [-1, 20]] };
  assert.deepEqual(numericSeries(worded), [1]);
  assert.deepEqual(boundsOf(worded, 'overlap'), [-1, 20]);
  assert.deepEqual(boundsOf(worded, 0), [0, 0]);
  assert(
    words(paint('stack', null, true, { ...COUNTER, bounds: [null, null] })).includes(
      'no event has a number',
    ),
  );
  assert(
    words(paint('stack', 200, true, worded)).includes('20'),
    'told without its name, as the only one',
  );
});

test('series that are not stacked are in the address', () => {
  const views = new Map<number, CounterView>([
    [3, 'overlap'],
    [4, 1],
  ]);
  assert.equal(writeViews(views), '3.overlap,4.1');
  assert.deepEqual(readViews('3.overlap,4.1'), views);
  assert.deepEqual(readViews('x,3.,4.stack'), new Map());
});

test('the pointer names each series, also those without a value', () => {
  assert(words(paint('stack', 200)).includes('used 10 free 20'));
  assert(words(paint('stack', 700)).includes('used 25'));
  assert(words(paint(1, 200)).includes('free 20'));
  assert(words(paint(1, 700)).includes('no value'));
});

/** The same picture with `load` over it; the pointer stands at 200 ns. */
function paintBoth(base: CounterFacts = COUNTER): string[] {
  const context = new DrawLog();
  const rows = [{ row: counterRow(base), top: 0, height: 39 }];
  const scene = {
    theme: theme(),
    scale: new TimeScale({ from: 0, to: 1000 }, 100),
    meter: new TextMeter((text) => text.length * 6),
    values: new Map([
      [3, VALUES],
      [5, OVER_VALUES],
    ]),
    ...{ pointer: 200, hovered: 3, selected: null, views: new Map() },
  };
  paintCounters(
    context,
    scene,
    counterBoxes(rows, 1000, (c) => (c === COUNTER ? OVER : null)),
    0,
    100,
  );
  return context.log;
}

test('an overlaid counter has its own scale, legend and value', () => {
  const log = paintBoth();
  assert(words(log).includes('memory min -1 max 30'));
  assert(words(log).includes('load max 4'));
  assert(words(log).includes('memory used 10 free 20 load 1'));
  // 31 px from y 35 up stand for 0 to 4: 1 lies at 27.25, 4 at 4. A line of 2 px, and a riser.
  const colour = overlayColour(theme(), COUNTER, OVER, 0);
  const lines = log.filter((line) => line.startsWith('fillRect') && line.endsWith(` ${colour}`));
  for (const line of ['0 26.25 50 2', '50 3 50 2', '50 4 1 23.25'])
    assert(lines.includes(`fillRect ${line} ${colour}`), line);
});

test('an overlaid counter never shares a colour with the one below', () => {
  const twin: CounterFacts = { ...OVER, name: COUNTER.name, series: COUNTER.series };
  const taken = [0, 1].map((k) => seriesColour(theme(), COUNTER, k));
  assert.equal(seriesColour(theme(), twin, 0), taken[0]);
  assert(!taken.includes(overlayColour(theme(), COUNTER, twin, 0)));
});

test('pairs of counters are in the address, and none overlays itself', () => {
  const pairs = new Map([
    [3, 7],
    [4, 3],
  ]);
  assert.equal(writeOverlays(pairs), '3.7,4.3');
  assert.deepEqual(readOverlays('3.7,4.3'), pairs);
  assert.deepEqual(readOverlays('2.2,x,3.,9'), new Map());
});

test('the scale shows its ends', () => {
  assert(words(paint('stack', null)).includes('min -1 max 30'));
  assert(words(paint(0, null)).includes('max 25'));
});

/** The bars at the second sample: x from 50 px on. */
const behind = (log: string[]): string[] => log.filter((l) => /^fillRect 50 /.test(l));

test('a series without a value has no area, not even at 0', () => {
  // Alone: from the second sample on there is nothing of it, not even a line.
  assert.deepEqual(behind(paint(1, null)), []);
  assert.equal(behind(paint(0, null)).length, 2, 'area and edge');
  const untold = { ...VALUES, series: VALUES.series.slice(1) };
  assert.deepEqual(behind(paint('stack', null, true, COUNTER, untold)), []);
});

test('the last value holds to the end of the trace, or to the last sample', () => {
  assert(behind(paint('stack', null)).every((l) => l.split(' ')[3] === '50'));
  assert(behind(paint('stack', null, false)).every((l) => l.split(' ')[3] === '1'));
});

test('in forced colours each series has an edge, and the colours of the trace are ignored', () => {
  const BLACK = RESERVED.indexOf('#000000') + 1;
  const forced = paint(
    'stack',
    null,
    true,
    { ...COUNTER, colour: BLACK },
    VALUES,
    theme('methods', true),
  );
  assert(!forced.some((line) => line.endsWith('#000000')));
  const filled = forced.filter((line) => /--te-/.test(line)).map((line) => line.split(' '));
  // Of used 10 and then 25, of free 20: over each stands a line as wide as it.
  for (const [, x, y, width] of filled)
    assert(forced.includes(`fillRect ${x} ${Number(y) - 0.5} ${width} 1 --text`), `over ${x} ${y}`);
  assert.equal(filled.length, 3);
  const usual = paint('stack', null, true, { ...COUNTER, colour: BLACK });
  assert(usual.some((line) => line.endsWith('#000000')));
});
