// SPDX-License-Identifier: Apache-2.0
// What is said where no thread has slices, and short times and instants of events.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { formatRough } from '../src/base/format';
import { hashedColour, METHOD_COLOURS, HASHED_COLOURS } from '../src/model/colours';
import { otherEventsHint } from '../src/model/otherEventsHint';
import { cpuShare, reservedColour, type Instant } from '../src/model/engine';
import { layoutTimeline } from '../src/model/layout';
import { Frames } from '../src/model/names';
import { wordsFor, inTermsOf } from '../src/model/words';
import { instantAt, paintInstants } from '../src/render/instantPainter';
import { TextMeter } from '../src/render/text';
import { TimeScale } from '../src/render/timeScale';
import { DrawLog } from './drawLog';
import { FRAMES, theme, track } from './fixtures';

test('a trace without thread slices points to the data that it has', () => {
  const at = (kinds: Parameters<typeof track>[1][], samples: number, ...more: string[]) =>
    otherEventsHint({
      ...{ order: 'owner', tracks: kinds.map((k, i) => track(i, k)), samples, counters: 0 },
      value_types: more.map((name) => ({ name, unit: '', first: false })),
    }).tab;
  assert.equal(at([{ kind: 'async' }, { kind: 'states' }], 0), 'selection');
  assert.equal(at([{ kind: 'cpu' }], 3, 'sched:sched_switch'), 'states');
  assert.equal(at([{ kind: 'cpu' }], 3, 'sched:sched_switch', 'cpu-clock'), 'flame');
  assert.equal(at([{ kind: 'async' }, { kind: 'cpu' }], 3), 'flame');
  assert.equal(at([], 3), 'flame');
  const some = { order: 'owner' as const, samples: 3, counters: 2 };
  assert.equal(
    otherEventsHint({ ...some, tracks: [track(0, { kind: 'async' })] }).text,
    'The trace has samples, but no slices of threads.',
  );
  assert.equal(at([], 0), 'health');
  assert.match(
    otherEventsHint({ order: 'busiest', tracks: [], samples: 0, counters: 0 }).text,
    /has no call\.$/,
  );
});

test('a trace with only counters says how many', () => {
  const { text, brief, tab } = otherEventsHint({
    ...{ order: 'owner', tracks: [], samples: 0, counters: 2 },
  });
  assert.deepEqual(
    [text, brief, tab],
    ['The trace has counters, but no slices.', '2 counters', 'counters'],
  );
});

test('a filter without matches offers to show all', () => {
  const filtered = { slices: 0, of: 7 };
  const nothing = otherEventsHint({
    order: 'busiest',
    tracks: [],
    samples: 3,
    counters: 0,
    filtered,
  });
  assert.deepEqual([nothing.text, nothing.tab], ['No call matches the filter.', null]);
  assert.equal(
    otherEventsHint({
      ...{ order: 'busiest', tracks: [], samples: 3, counters: 0 },
      filtered: { slices: 0, of: 0 },
    }).tab,
    'flame',
  );
});

test('a short time is never shown as zero, and zero stays zero', () => {
  assert.equal(formatRough(5000, 'ms'), '5.0 µs');
  assert.equal(formatRough(60000, 'ms'), '0.1 ms');
  assert.equal(formatRough(300000, 's'), '300.0 µs');
  assert.equal(formatRough(0, 'ms'), '0.0 ms');
});

test('diagnostics of the reader use the words of events', () => {
  const events = wordsFor({ order: 'owner' });
  const text = 'exits without an entry: the call began before the trace';
  assert.equal(
    inTermsOf(events, text),
    'ends without a beginning: the slice began before the trace',
  );
  assert.equal(inTermsOf(wordsFor({ order: 'busiest' }), text), text);
  assert.equal(
    inTermsOf(events, 'calls closed by the exit of a caller: their own exit is missing'),
    'slices closed by the end of a parent: their own end is missing',
  );
});

test('instants have the colours of slices: that of their name, or the reserved one', () => {
  const placed = layoutTimeline(
    { order: 'owner', processes: [], tracks: [track(0)] },
    { expanded: new Set(), whole: new Set(), closed: new Set() },
    theme().heights,
  );
  const instant = (number: number, colour: number): Instant => {
    return { instant: number, time: 100, frame: 0, scope: 0, of: 0, count: 1, colour };
  };
  const own = theme();
  const scene = {
    theme: own,
    scale: new TimeScale({ from: 0, to: 1000 }, 1000),
    meter: new TextMeter(() => 1),
    frames: new Frames(FRAMES, 'name'),
    selected: null,
    placed,
  };
  const fills = (colour: number): string[] => {
    const context = new DrawLog();
    const { log } = context;
    paintInstants(context, scene, [instant(0, colour)], 0, 500);
    return log
      .filter((line) => line.startsWith('fill '))
      .map((line) => line.split(' ').pop() ?? '');
  };
  assert.deepEqual(fills(0), [own.bars[hashedColour('main')]]);
  assert.deepEqual(fills(14), [own.bars[METHOD_COLOURS + HASHED_COLOURS + 13]]);
});

test('an instant of a processor is on the row of that processor', () => {
  const placed = layoutTimeline(
    {
      order: 'owner',
      processes: [],
      tracks: [track(0, { kind: 'cpu', thread: -1 }), track(1, { kind: 'cpu', thread: -1 })],
    },
    { expanded: new Set(), whole: new Set(), closed: new Set() },
    theme().heights,
  );
  const scale = new TimeScale({ from: 0, to: 1000 }, 1000);
  const lost: Instant = { instant: 4, time: 100, frame: 0, scope: 3, of: 1, count: 1, colour: 0 };
  const hits = placed.tracks.map((box) => instantAt({ placed, scale }, [lost], 100, box.top + 3));
  assert.deepEqual(hits, [null, lost]);
});

test('the reserved colour and the CPU share are above the flags', () => {
  const flags = 16 | (14 << 8) | (128 << 16);
  assert.equal(reservedColour(flags), 14);
  assert.equal(cpuShare(flags), 0.5);
  assert.equal(cpuShare(16 | (1 << 16)), 0);
  assert.equal(cpuShare(255 << 16), 1);
  assert.equal(cpuShare(16 | (14 << 8)), null);
});
