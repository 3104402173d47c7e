// SPDX-License-Identifier: Apache-2.0
// What stands where: labels in their bars, marks at their times, each kind of row as the mock shows
// it.  A track is 500 px wide, and 2 ns are a pixel.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { OBJECT_FLAG, type ObjectBar, type SnapshotMark } from '../src/model/nonSliceEvents';
import { HASHED_COLOURS, METHOD_COLOURS } from '../src/model/colours';
import { FLAG, type Instant, type Tile } from '../src/model/engine';
import type { TimelineLayout } from '../src/model/layout';
import { STATE_COLOUR } from '../src/model/states';
import { paintFlame } from '../src/render/flamePainter';
import { paintFlows } from '../src/render/flowPainter';
import { paintInstants } from '../src/render/instantPainter';
import { paintDumps, paintSamples } from '../src/render/markPainter';
import { paintObjects, type ObjectScene } from '../src/render/objectPainter';
import { paintRuler } from '../src/render/rulerPainter';
import { paintGroups } from '../src/render/trackPainter';
import { TimeScale } from '../src/render/timeScale';
import { DrawLog, type Drawn } from './drawLog';
import { call, random, track, type SliceRow } from './fixtures';
import { BOUNDS, frames, meter, paintTrack, THEME } from './paintTrack';

const SCALE = new TimeScale(BOUNDS, 500);

/** Where a text stands, by the widths it was measured with; canvases draw it from its middle line. */
function textBox({ box, text }: Drawn): { left: number; right: number; y: number } {
  return { left: box.x, right: box.x + text.length * 6, y: box.y };
}

/** Slices of one row: beside each other, from specks to wide ones, with ends of every kind. */
function randomRow(next: () => number): SliceRow[] {
  const rows: SliceRow[] = [];
  for (let t = Math.floor(next() * 20); t < 1000;) {
    const length = 1 + Math.floor(next() ** 3 * 300);
    const flags = next() < 0.2 ? 1 << Math.floor(next() * 4) : 0;
    rows.push([t, length, rows.length, Math.floor(next() * 4), flags]);
    t += length + Math.floor(next() * 30);
  }
  return rows;
}

test('names never overlap each other nor leave their bars', async () => {
  const next = random(11);
  let seen = 0;
  for (let round = 0; round < 60; round++) {
    const rows = [randomRow(next), randomRow(next)];
    const from = Math.floor(next() * 700) - 100;
    const view = { from, to: from + 100 + Math.floor(next() * 900) };
    const scale = new TimeScale(view, 500);
    const g = await paintTrack({ rows, view, waits: rows[0]?.slice(0, 3) ?? [] });
    for (const [depth, row] of rows.entries()) {
      const y = 3 + depth * 18;
      const texts = g.of('fillText').filter((d) => d.box.y > y && d.box.y < y + 18);
      const boxes = texts.map(textBox).sort((a, b) => a.left - b.left);
      boxes.forEach((b, i) => {
        const before = boxes[i - 1];
        assert(!before || before.right <= b.left, `round ${round}: ${JSON.stringify([before, b])}`);
        assert(b.left >= 0, 'a name begins in view');
        const within = row.some(
          ([start, length]) =>
            scale.x(start) - 0.5 <= b.left && scale.x(start + length) + 0.5 >= b.right,
        );
        assert(within, `round ${round}: ${JSON.stringify(b)} is in no bar`);
      });
      seen += boxes.length;
    }
  }
  assert(seen > 200, `only ${seen} names were drawn`);
});

test('calls are below their callers and as wide as their times', async () => {
  const rows: SliceRow[][] = [[[0, 1000, 0, 0]], [[100, 600, 0, 1]]];
  const g = await paintTrack({ rows });
  const [outer] = g.of('fillRect', '--m-0').map((d) => d.box);
  const [inner] = g.of('fillRect', '--m-1').map((d) => d.box);
  assert.deepEqual([outer?.x, outer?.w, inner?.x, inner?.w], [0, 500, 50, 300]);
  assert.equal(inner?.y, (outer?.y ?? 0) + 18);
});

test('a closed track shows the innermost calls, whose pieces have no ends of their own', async () => {
  const innermost: SliceRow[] = [
    [0, 400, 0, 0, FLAG.enteredBefore],
    [400, 200, 1, 1],
  ];
  const g = await paintTrack({ expanded: false, innermost });
  const bars = g.of('fillRect').filter((d) => /^--m-/.test(d.style));
  assert.deepEqual(
    bars.map((d) => [d.box.x, d.box.w, d.style]),
    [
      [0, 200, '--m-0'],
      [200, 100, '--m-1'],
    ],
  );
  assert.equal(g.of('stroke').length, 0, 'no teeth');
});

test('slices shorter than a pixel become density, which covers its share of the row', async () => {
  const strip = { frame: new Uint32Array(512), height: new Uint8Array(512) };
  strip.height.set([255, 128, 0, 26, 26], 100);
  strip.height.set([1], 110);
  const g = await paintTrack({ rows: [[]], strips: [strip] });
  const [drawn] = g.of('strip');
  const { pixels } = drawn ?? {};
  assert(drawn && pixels);
  // A pixel of the tile is 2 ns: one of the screen.
  assert.deepEqual(
    [drawn.box.x, drawn.box.w, drawn.box.y, drawn.box.h, pixels.first, pixels.count],
    [0, 500, 3, 17, 0, 500],
  );
  const covered = (x: number): number =>
    Array.from({ length: 17 }, (_, y) => pixels.data[y * pixels.stride + x] ?? 0).filter(
      (p) => p !== 0,
    ).length;
  assert.deepEqual([99, 100, 101, 102, 103].map(covered), [0, 17, 9, 0, 2]);
  assert.equal(pixels.data[16 * pixels.stride + 103] !== 0, true, 'it stands at the foot');
  assert.equal(covered(110), 9, 'half a row if nothing is beside it, such as a call of length 0');
});

test('open ends have teeth, and only the right one is slanted', async () => {
  const paths = async (flags: number): Promise<Drawn[]> =>
    (await paintTrack({ rows: [[[200, 400, 0, 0, flags]]] })).of('stroke');
  const ends = async (flags: number): Promise<number[][]> =>
    (await paths(flags)).map((d) => [d.box.x, d.box.x + d.box.w]);
  assert.deepEqual(await ends(FLAG.enteredBefore), [[100, 104]]);
  assert.deepEqual(await ends(FLAG.openAtEnd), [[296, 300]]);
  assert.deepEqual(await ends(FLAG.missingExit), [[296, 300]]);
  assert.deepEqual(await ends(FLAG.unrolled), [[292, 300]]);
  const [slant] = await paths(FLAG.unrolled);
  assert.deepEqual(slant?.clip, { x: 100, y: 3, w: 200, h: 17 }, 'within the bar');
  const narrow = await paintTrack({ rows: [[[200, 20, 0, 0, FLAG.unrolled]]] });
  assert.equal(narrow.of('stroke').length, 0, 'of 10 px there is no room for it');
});

test('an arrow head marks where a selected call leaves the view', async () => {
  const selected = call({ start_ns: 200, length_ns: 400 });
  const heads = async (from: number, to: number): Promise<string[]> => {
    const view = { from, to };
    const g = await paintTrack({ rows: [[[200, 400, 0, 0]]], view, change: { call: selected } });
    return g.of('fill', '--select').map(({ points }) => {
      const [tip, ...foot] = points.map(([x]) => x);
      return foot.every((x) => x > (tip ?? 0)) ? `left at ${tip}` : `right at ${tip}`;
    });
  };
  assert.deepEqual(await heads(0, 1000), []);
  assert.deepEqual(await heads(300, 1000), ['left at 0']);
  assert.deepEqual(await heads(100, 500), ['right at 500']);
  assert.deepEqual(await heads(300, 500), ['left at 0', 'right at 500']);
  assert.deepEqual(await heads(700, 900), [], 'it is elsewhere altogether');
});

test('dotted lines lead from the visible ends to the bracket', async () => {
  const selected = call({ start_ns: 200, length_ns: 400 });
  const change = { call: selected };
  const g = await paintTrack({ rows: [[[200, 400, 0, 0]]], change, view: { from: 0, to: 500 } });
  const [dotted] = g.of('stroke').filter((d) => d.dashed);
  assert.deepEqual(
    dotted?.points.map(([x]) => x),
    [200.5, 200.5],
    'the other end is not in view',
  );
});

test('states differ by height and cuts, not by colour alone', async () => {
  const first = METHOD_COLOURS + HASHED_COLOURS - 1;
  const kinds = ['running', 'runnable', 'sleeping', 'uninterruptible', 'io'] as const;
  const rows: SliceRow[] = kinds.map((kind, i) => [
    i * 200,
    100,
    i,
    0,
    STATE_COLOUR[kind] << 8, // the reserved colour stands over the flags
  ]);
  const g = await paintTrack({ rows: [rows], track: { kind: 'states', rows: 1 } });
  const [, , , ...heights] = kinds.map((kind) => {
    const colour = THEME.bars[first + STATE_COLOUR[kind]] ?? '';
    return g.of('fillRect', colour).map((d) => [d.box.h, d.box.y + d.box.h]);
  });
  const [running, runnable, sleeping] = kinds.map((kind) => {
    const colour = THEME.bars[first + STATE_COLOUR[kind]] ?? '';
    return g.of('fillRect', colour)[0]?.box;
  });
  assert.deepEqual([running?.h, runnable?.h, sleeping?.h], [8, 5, 1]);
  const foot = (running?.y ?? 0) + 8;
  assert.equal((runnable?.y ?? 0) + 5, foot);
  assert.equal((sleeping?.y ?? 0) + 1, foot);
  assert.deepEqual(
    heights.map(([box]) => box?.[0]),
    [8, 8],
    'both kinds of blocked are full',
  );
  const cuts = g.of('stroke', '--bg');
  const slanted = cuts.map(({ points }) => points[0]?.[0] !== points[1]?.[0]);
  assert.deepEqual(slanted, [true, false], 'slanted, and upright for input and output');
});

const PLACED = {
  tracks: [
    { track: track(0), expanded: false, shown: 1, top: 22, height: 22 },
    { track: track(1, { kind: 'cpu', thread: -1 }), expanded: true, shown: 1, top: 44, height: 22 },
  ],
  rows: [],
  threads: new Map([[0, { top: 22, height: 22 }]]),
  groups: [{ process: 0, open: true, top: 0, height: 22, bottom: 66 }],
  height: 90,
  pinned: 0,
} as object as TimelineLayout;

function instant(scope: number, of: number, time = 400): Instant {
  return { instant: scope, time, frame: 0, scope, of, count: 1, colour: 0 };
}

test('an instant is as high as its scope: tick, process, or everything', () => {
  const painted = (one: Instant): DrawLog => {
    const g = new DrawLog();
    const scene = { theme: THEME, scale: SCALE, placed: PLACED, frames, meter, selected: null };
    paintInstants(g, scene, [one], 0, 90);
    return g;
  };
  const line = (g: DrawLog): number[][] =>
    g.of('fillRect').map(({ box }) => [box.x, box.y, box.y + box.h]);
  const tip = (g: DrawLog): number[] => g.of('fill').map(({ box }) => box.y + box.h);
  const thread = painted(instant(0, 0));
  assert.deepEqual([line(thread), tip(thread)], [[], [22 + 1 + 6]]);
  const processor = painted(instant(3, 1));
  assert.deepEqual([line(processor), tip(processor)], [[], [44 + 1 + 6]]);
  const process = painted(instant(1, 0));
  assert.deepEqual(line(process), [[200, 14, 66]], 'from its line to where the process ends');
  assert.deepEqual(
    process.of('fillText').map((d) => d.text),
    ['Main.main'],
  );
  assert.deepEqual(line(painted(instant(2, -1)))[0], [200, 0, 90]);
  assert.deepEqual(line(painted(instant(1, 7))), [], 'a process that is not there');
});

test('a flow is a curve with a halo, a dot at its start and a head at its end', () => {
  const flow = {
    ...{ flow: 1, frame: 0, id: '7', count: 1 },
    from: { row: 0, index: 0, time: 100, track: 0, frame: 0 },
    to: { row: 100, index: 0, time: 800, track: 1, frame: 0 },
  };
  const g = new DrawLog();
  const scene = { theme: THEME, scale: SCALE, placed: PLACED, scroll: 0, processOf: () => 0 };
  paintFlows(g, scene, [flow], 'selected', { from: 0, to: 90 });
  const [halo, curve] = g.of('stroke');
  assert.deepEqual([halo?.style, curve?.style], ['--bg', '--text-2']);
  assert((halo?.lineWidth ?? 0) > (curve?.lineWidth ?? 0));
  assert(curve);
  assert.equal(curve.points[0]?.[0], 50);
  assert.deepEqual(curve.points.at(-1)?.[0], 400);
  const [head, dot] = g.of('fill');
  assert(head);
  assert.equal(head.points[0]?.[0], 400, 'the tip is at the end');
  assert(
    head.points.slice(1).every(([x]) => x < 400),
    'it points to the right',
  );
  assert.deepEqual([(dot?.box.x ?? 0) + 2, dot?.box.y], [50, 33 - 2], 'the middle of its line');
});

const OBJECT: ObjectBar = {
  ...{ object: 5, start: 200, end: 800, row: 3, lane: 0, count: 1 },
  ...{ flags: OBJECT_FLAG.created | OBJECT_FLAG.deleted, id: '0x1' },
};

test('an object is pale until its first snapshot, and each snapshot has a line', () => {
  const type = { row: 3, type: 'Tree', process: 0, objects: 1, snapshots: 2, lanes: 1 };
  const row = { kind: 'objects', key: 'o', process: 0, thread: -1, type, shown: 1 };
  const snapshots: SnapshotMark[] = [400, 600].map((time, i) => ({
    ...{ snapshot: i, time, object: 5, row: 3, lane: 0, count: 1 },
  }));
  const painted = (change: Partial<ObjectBar>, selected: ObjectScene['selected']): DrawLog => {
    const g = new DrawLog();
    const inView = { objects: [{ ...OBJECT, ...change }], snapshots, leftOut: 0 };
    const boxes = [{ row, top: 0, height: 24 }] as object as ObjectScene['boxes'];
    const scene = { theme: THEME, scale: SCALE, meter, boxes, inView, selected, hovered: null };
    paintObjects(g, scene, 0, 100);
    return g;
  };
  const g = painted({}, { kind: 'snapshot', number: 1 });
  const [pale] = g.drawn.filter((d) => d.alpha < 0.5);
  assert.deepEqual([pale?.box.x, pale?.box.w], [100, 300]);
  const blocks = g.of('fillRect', pale?.style).filter((d) => d.alpha === 1);
  assert.deepEqual(
    blocks.map(({ box }) => [box.x, box.w]),
    [
      [200, 100],
      [300, 100],
    ],
  );
  assert.deepEqual(
    g.of('fillRect', '--text-2').map(({ box }) => box.x),
    [200, 300],
  );
  assert.deepEqual(
    g.of('strokeRect', '--select').map(({ box }) => box.x),
    [300],
    'the selected one has a ring',
  );
  const open = painted({ flags: 0 }, null);
  assert(open.of('stroke').length > 0, 'nobody told of its end: teeth');
});

test('samples are ticks, higher where there are more; a dump is a diamond at its time', () => {
  const g = new DrawLog();
  const scene = { theme: THEME, scale: SCALE, frames, selected: null };
  const box = { row: { thread: 2, process: 1 }, top: 10, height: 36 };
  const sample = (time: number, count: number, thread = 2) => ({
    ...{ sample: time, time, frame: 0, thread, count },
  });
  type Rows = Parameters<typeof paintSamples>[2];
  const rows = [box] as object as Rows;
  paintSamples(g, scene, rows, [sample(100, 1), sample(400, 9), sample(500, 9, 3)], 0);
  const ticks = g.of('fillRect', '--m-0').map((d) => d.box);
  assert.deepEqual(
    ticks.map((b) => b.x),
    [50, 200],
    'those of another thread are elsewhere',
  );
  assert((ticks[0]?.h ?? 0) < (ticks[1]?.h ?? 0));
  assert.equal(new Set(ticks.map((b) => b.y + b.h)).size, 1, 'from one foot');
  const dumps = [{ dump: 1, time: 600, process: 1, count: 1, level: 'light' }];
  paintDumps(g, scene, rows as object as Parameters<typeof paintDumps>[2], dumps, 0);
  const [diamond] = g.of('fill');
  assert.deepEqual([(diamond?.box.x ?? 0) + (diamond?.box.w ?? 0) / 2, diamond?.box.y], [300, 23]);
});

test('labels of the ruler never overlap, in every zoom and unit', () => {
  const next = random(3);
  for (let round = 0; round < 200; round++) {
    const from = Math.floor(next() * 1e9);
    const to = from + Math.ceil(10 ** (1 + next() * 9));
    const g = new DrawLog();
    const unit = (['auto', 'ns', 'us', 'ms', 's'] as const)[round % 5] ?? 'ms';
    paintRuler(g, {
      ...{ theme: THEME, meter, scale: new TimeScale({ from, to }, 900), height: 26, unit },
      bounds: { from: 0, to: 1.1e10 },
      range: round % 2 ? { from: from + (to - from) * 0.3, to: from + (to - from) * 0.5 } : null,
      zoom: null,
      axis: '',
      pointer: round % 3 ? from + (to - from) * next() : null,
    });
    const ticks = g.of('fillText', '--text-2').map(textBox);
    ticks.sort((a, b) => a.left - b.left);
    ticks.forEach((b, i) => {
      const other = ticks[i - 1];
      assert(!other || other.right <= b.left, `round ${round}: ${JSON.stringify([other, b])}`);
      assert(b.right <= 900);
    });
    const pill = g.of('fillText', '--tip-text').map(textBox)[0];
    if (pill) assert(!ticks.some((b) => b.left < pill.right && b.right > pill.left));
  }
});

test('names in a flame graph stay within their frames', () => {
  const next = random(4);
  const [start, width, depth] = [[], [], []] as [number[], number[], number[]];
  const grow = (from: number, room: number, level: number): void => {
    for (let x = from; level < 6 && x < from + room - 1;) {
      const w = Math.min(from + room - x, 1 + next() * room * 0.6);
      start.push(x);
      width.push(w);
      depth.push(level);
      if (w > 4) grow(x, w * 0.9, level + 1);
      x += w;
    }
  };
  grow(0, 600, 0);
  const n = start.length;
  const zero = (): Uint32Array => new Uint32Array(n);
  const g = new DrawLog();
  paintFlame(g, {
    ...{ theme: THEME, names: frames, meter, width: 900, height: 400, scroll: 0, title: 'All' },
    ...{ frame: null, hovered: -1, matches: null, dimmed: false },
    graph: {
      ...{ total: 600, leftOut: 0, self: new Float64Array(n), path: zero(), calls: zero() },
      ...{ start: Float64Array.from(start), width: Float64Array.from(width) },
      ...{ depth: Uint32Array.from(depth), frame: zero().map((_, i) => i % 4) },
    },
  });
  const names = g.of('fillText', '--bar-text');
  assert(names.length > 10);
  for (const name of names) {
    const b = textBox(name);
    const level = Math.floor(b.y / 18) - 1;
    const within = start.some(
      (x, i) =>
        depth[i] === level && x * 1.5 <= b.left && (x + (width[i] ?? 0)) * 1.5 + 0.01 >= b.right,
    );
    assert(within, `${name.text} at ${b.left}`);
  }
});

test('the line of a process is drawn over what crosses it', () => {
  const g = new DrawLog();
  const scene = { theme: THEME, scale: SCALE } as object as Parameters<typeof paintGroups>[1];
  paintGroups(g, scene, PLACED.groups, 0, 90);
  assert.deepEqual(g.of('fillRect', '--chrome')[0]?.box, { x: 0, y: 0, w: 500, h: 22 });
  assert.equal(g.of('fillRect', '--line').length, 2);
});

test('an asynchronous slice is translucent with slanted letters, and its short ones are diamonds', async () => {
  const strip: NonNullable<Tile['density']> = {
    frame: new Uint32Array(512),
    height: new Uint8Array(512),
  };
  strip.height[400] = 255;
  const g = await paintTrack({
    rows: [[[200, 400, 0, 0]]],
    strips: [strip],
    track: { kind: 'async', rows: 1 },
  });
  const [bar] = g.of('fillRect', '--m-0');
  assert(bar && bar.alpha < 1);
  assert.match(g.of('fillText')[0]?.font ?? '', /^italic /);
  const [diamond] = g.of('fill', '--text-2');
  assert.equal(Math.round((diamond?.box.x ?? 0) + (diamond?.box.w ?? 0) / 2), 401);
});

test('many lines through a process are left out, but for the selected one', () => {
  // 500 pixels: a line each 32 pixels is the most.
  const lines = (count: number, selected: number | null = null): number[] => {
    const g = new DrawLog();
    const scene = { theme: THEME, scale: SCALE, placed: PLACED, frames, meter, selected };
    const list = Array.from({ length: count }, (_, i) => ({
      ...instant(1, 0, SCALE.t(20 * i + 5)),
      instant: i,
    }));
    paintInstants(g, scene, list, 0, 90);
    assert.equal(g.of('fill').length, count, 'each has its mark');
    return g.of('fillRect').flatMap(({ box }) => (box.h > 20 ? [box.x] : []));
  };
  assert.equal(lines(15).length, 15);
  assert.deepEqual(lines(16), []);
  assert.deepEqual(lines(16, 3), [65]);
});

test('of several instants in one pixel one is painted: the selected one, else the last', () => {
  const at = (number: number, colour: number, time: number): Instant => ({
    ...instant(0, 0, time),
    ...{ instant: number, colour },
  });
  const list = [at(7, 1, 400), at(9, 3, 400.2), at(8, 2, 400.1), at(10, 1, 410)];
  const marks = (selected: number | null, scroll = 0): unknown[] => {
    const g = new DrawLog();
    const scene = { theme: THEME, scale: SCALE, placed: PLACED, frames, meter, selected };
    paintInstants(g, scene, list, scroll, 90);
    return g.of('fill').map(({ box, style }) => [box.x + 3.5, style]);
  };
  const [last, other] = marks(null) as [number, string][];
  assert.deepEqual([marks(null).length, last?.[0], other?.[0]], [2, 200, 205]);
  assert.deepEqual(marks(8)[0], [200, '--select'], 'the selected one, though another is later');
  assert.equal(last?.[1] === other?.[1], false, 'the colour of the last in the pixel');
  assert.deepEqual(marks(null, 60), [], 'the row is above the part that is painted');
});
