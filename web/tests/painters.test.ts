// SPDX-License-Identifier: Apache-2.0
// What is drawn, noted call by call instead of pixel by pixel.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { HASHED_COLOURS, METHOD_COLOURS, RESERVED } from '../src/model/colours';
import { FLAG } from '../src/model/engine';
import { Frames } from '../src/model/names';
import { STATE_COLOUR } from '../src/model/states';
import { Backdrop } from '../src/render/backdrop';
import { flameAt, flameBox, paintFlame, type FlameScene } from '../src/render/flamePainter';
import { paintOverview, paintOverviewGround } from '../src/render/overviewPainter';
import { paintRuler } from '../src/render/rulerPainter';
import { densityRowPixels } from '../src/render/densityRows';
import type { Surface } from '../src/render/surface';
import { parseColour } from '../src/render/theme';
import { TimeScale } from '../src/render/timeScale';
import { DrawLog } from './drawLog';
import { call, FRAMES, theme, tile, type SliceRow } from './fixtures';
import { BOUNDS, frames, meter, paintTrack, THEME, type Setup } from './paintTrack';

const setTransform = (): void => undefined;
const paint = async (setup: Setup): Promise<string[]> => (await paintTrack(setup)).log;

test("a call is a bar in its row, in its method's colour, with an edge and its name", async () => {
  const log = await paint({ rows: [[[200, 400, 0, 0]], [[300, 100, 0, 2]]] });
  assert(log.includes('fillRect 100 3 200 17 --m-0'), log.join('\n'));
  assert(log.includes('fillRect 100 3 1 17 --bar-edge'));
  assert(log.includes('fillText Main.main 104 12 --bar-text'));
  assert(log.includes('fillRect 150 21 50 17 --m-2'), 'the second row is 18 px lower');
});

test('a name stays at the visible edge, is shortened, and omitted where nothing fits', async () => {
  const log = await paint({
    rows: [
      [
        [-400, 1000, 0, 0],
        [600, 60, 1, 2],
        [700, 30, 2, 1],
      ],
    ],
    view: { from: 0, to: 1000 },
  });
  assert(log.includes('fillText Main.main 4 12 --bar-text'), 'not at its start outside the view');
  assert(log.includes('fillText get 304 12 --bar-text'), log.join('\n'));
  assert(
    !log.some((line) => line.startsWith('fillText') && line.includes(' 354 ')),
    '15 px hold no name',
  );
});

test('open ends have teeth, and an unrolled call a thick slant in the colour of errors', async () => {
  const open = await paint({ rows: [[[200, 400, 0, 0, FLAG.enteredBefore | FLAG.openAtEnd]]] });
  assert.equal(open.filter((line) => line === 'stroke --strip-edge').length, 2);
  assert(!open.includes('fillRect 100 3 200 17 --m-0'), 'it is no plain rectangle');
  const unrolled = await paint({ rows: [[[200, 400, 0, 0, FLAG.unrolled]]] });
  assert(
    unrolled.includes('moveTo 292 20') &&
      unrolled.includes('lineTo 300 3') &&
      unrolled.includes('stroke --error'),
  );
  const plain = await paint({ rows: [[[200, 400, 0, 0, FLAG.hasChildren]]] });
  assert(!plain.some((line) => line.startsWith('stroke')));
});

test('a wait clears the background of the bar and raises its name', async () => {
  const log = await paint({ rows: [[[200, 400, 0, 0]]], waits: [[300, 100, 0, 0]] });
  const ends = log.indexOf('fillRect 150 16 50 4 --wait');
  assert(ends >= 0 && log[ends + 1] === 'fillRect 151 16 48 2 --bg', log.join('\n'));
  assert(log.includes('fillText Main.main 104 10 --bar-text'));
});

test('time outside the trace is shaded, time inside it is not', async () => {
  const inside = await paint({ view: { from: 100, to: 900 } });
  assert(!inside.some((line) => line.endsWith('--beyond')));
  const log = await paint({ view: { from: -500, to: 1500 } });
  assert.deepEqual(
    log.filter((line) => line.endsWith('--beyond')),
    ['fillRect 0 0 125 80 --beyond', 'fillRect 375 0 125 80 --beyond'],
  );
});

test('the selected call has a ring and a bracket, and arrow heads where it leaves the view', async () => {
  const rows: SliceRow[][] = [[[200, 400, 0, 0]]];
  const within = await paint({
    rows,
    change: { frame: 0, call: call({ start_ns: 200, length_ns: 400 }) },
  });
  assert(within.includes('strokeRect 100 3 200 17 --select'));
  const foot = 3 + 2 * 18 + 1;
  assert(within.includes(`fillRect 100 ${foot + 2} 200 2 --select`), within.join('\n'));
  assert(
    within.includes(`fillRect 100 ${foot - 1} 2 5 --select`) &&
      within.includes(`fillRect 298 ${foot - 1} 2 5 --select`),
  );
  assert(!within.some((line) => line === 'fill --select'), 'no arrow head');
  const beyond = await paint({
    rows,
    view: { from: 300, to: 500 },
    change: { call: call({ start_ns: 200, length_ns: 400 }) },
  });
  assert.equal(beyond.filter((line) => line === 'fill --select').length, 2);
});

test('every call of the selected method is outlined and bracketed in the foot lane', async () => {
  const extents = {
    frame: 2,
    covers: BOUNDS,
    nsPerPixel: 2,
    tracks: new Map([[0, [100, 200, 600, 700]]]),
  };
  const log = await paint({
    rows: [
      [
        [100, 100, 0, 2],
        [300, 100, 1, 1],
      ],
    ],
    change: { frame: 2, extents },
  });
  assert.equal(
    log.filter((line) => line.startsWith('strokeRect') && line.endsWith('--select')).length,
    1,
  );
  const foot = 3 + 2 * 18 + 1;
  assert(log.includes(`fillRect 50 ${foot + 3} 50 1 --text-2`), log.join('\n'));
  assert(log.includes(`fillRect 300 ${foot + 3} 50 1 --text-2`));
  const collapsed = await paint({ expanded: false, change: { frame: 2, extents } });
  assert(collapsed.includes('fillRect 50 20 50 1 --text-2'), 'a collapsed track has a line');
});

test('a search dims everything but its hits', async () => {
  const rows: SliceRow[][] = [
    [
      [100, 200, 0, 0],
      [400, 200, 1, 2],
    ],
  ];
  const matches = Uint8Array.from([0, 0, 1, 0]);
  const log = await paint({ rows, change: { matches, dimmed: true, hit: { row: 0, index: 1 } } });
  assert(log.includes('fillRect 50 3 100 17 --bar-dim'));
  assert(log.includes('fillRect 200 3 100 17 --m-2') && log.includes('fillRect 200 3 100 2 --hit'));
  assert(log.includes('strokeRect 200 3 100 17 --hit'), 'the current hit has a ring');
  const after = await paint({ rows, change: { matches, dimmed: false } });
  assert(after.includes('fillRect 50 3 100 17 --m-0'), 'not when the box has lost focus');
});

test('the range is tinted and has an edge on each side', async () => {
  const log = await paint({ change: { range: { from: 200, to: 400 } } });
  assert(log.includes('fillRect 100 0 100 80 --range-tint'));
  assert(log.includes('fillRect 99 0 1 80 --range') && log.includes('fillRect 200 0 1 80 --range'));
});

test('a kept range shows where it begins and ends', async () => {
  const log = await paint({ change: { notes: [{ from: 200, to: 400 }] } });
  assert(log.includes('fillRect 100 0 2 80 --range-tint'));
  assert(log.includes('fillRect 200 0 2 80 --range-tint'));
});

/** The share of a slice with CPU, in its flags: none. */
const NO_CPU = 1 << 16;
const state = (name: keyof typeof STATE_COLOUR): number => STATE_COLOUR[name] << 8;
/** The places drawn pale: the background over the bars, as [x, width]. */
const pale = (log: DrawLog): [number, number][] =>
  log
    .of('fillRect', '--bg')
    .filter((d) => d.alpha < 1)
    .map(({ box }) => [box.x, box.w]);

test('an expanded slice is pale where its thread did not run, not as a block at its end', async () => {
  // Running 100..300 and 500..900, sleeping 300..500 ns; 2 ns a pixel.
  const states: SliceRow[] = [
    [100, 200, 0, 0, state('running')],
    [300, 200, 1, 0, state('sleeping')],
    [500, 400, 2, 0, state('running')],
  ];
  const setup: Setup = {
    rows: [[[200, 400, 0, 0, NO_CPU]], [[320, 40, 0, 1]], states],
    change: { statesOf: new Map([[0, 2]]) },
  };
  assert.deepEqual(pale(await paintTrack(setup)), [
    [150, 100],
    [161, 19],
  ]);
});

test('time without a state is not pale, and neither is a slice without CPU there', async () => {
  const setup: Setup = {
    rows: [[[0, 1000, 0, 0, NO_CPU]], [], [[300, 200, 1, 0, state('io')]]],
    change: { statesOf: new Map([[0, 2]]) },
  };
  assert.deepEqual(pale(await paintTrack(setup)), [[150, 100]]);
});

test('a state that is neither running nor waiting is a low bar without cuts', async () => {
  const rows: SliceRow[] = [
    [100, 200, 0, 0, state('uninterruptible')],
    [300, 600, 1, 0, state('other')],
  ];
  const log = await paintTrack({ rows: [rows], track: { kind: 'states', rows: 1, waits: -1 } });
  const height = (colour: string): number | undefined => log.of('fillRect', colour)[0]?.box.h;
  const full = height('--state-unint') ?? 0;
  assert(full > 0);
  assert.equal(height('--state-other'), Math.round(full / 4));
});

test('states shorter than a pixel count as the longest one of that pixel', async () => {
  const own = new Frames([
    ...FRAMES,
    ['', 'Running', '', '', 0, 0, '', STATE_COLOUR.running],
    ['', 'Sleeping', '', '', 0, 0, '', STATE_COLOUR.sleeping],
  ]);
  const [running, sleeping] = [FRAMES.length, FRAMES.length + 1];
  const frame = new Uint32Array(512);
  const height = new Uint8Array(512);
  [running, sleeping, sleeping, running].forEach((which, i) => {
    frame[200 + i] = which;
    height[200 + i] = 255;
  });
  const setup: Setup = {
    rows: [[[300, 400, 0, 0]], [], []],
    strips: [undefined, undefined, { frame, height }],
    change: { statesOf: new Map([[0, 2]]), frames: own },
  };
  assert.deepEqual(pale(await paintTrack(setup)), [[201, 2]]);
});

test('without states the CPU share is coloured from the left', async () => {
  const half = 128 << 16;
  assert.deepEqual(pale(await paintTrack({ rows: [[[200, 400, 0, 0, half]]] })), [[200, 100]]);
});

test('density is as high as its share, at least 2 px, with a darker top', () => {
  const strip = { frame: new Uint32Array(512), height: new Uint8Array(512) };
  strip.height.set([255, 128, 1, 0]);
  strip.frame.set([0, 2, 2, 0]);
  strip.height[9] = 1;
  strip.frame[9] = 2;
  const colours = {
    ...THEME,
    pixels: Uint32Array.from({ length: 16 }, (_, i) => 10 + i),
    edgePixels: Uint32Array.from({ length: 16 }, (_, i) => 50 + i),
    dimPixel: 9,
  };
  const made = tile({ kind: 'r', row: 0 }, 3, 0, [], strip);
  const look = { height: 16, ratio: 1, only: null, flat: false };
  const column = (x: number, pixels: Uint32Array): number[] =>
    Array.from({ length: 16 }, (_, y) => pixels[y * 512 + x] ?? -1);
  const pixels = densityRowPixels(made, 16, colours, frames, look);
  assert.deepEqual(column(0, pixels), [50, ...Array<number>(15).fill(10)]);
  assert.deepEqual(column(1, pixels), [
    ...Array<number>(8).fill(0),
    52,
    ...Array<number>(7).fill(12),
  ]);
  assert.deepEqual(column(2, pixels), [...Array<number>(14).fill(0), 52, 12]);
  assert.deepEqual(column(3, pixels), Array<number>(16).fill(0));
  const lone = [...Array<number>(8).fill(0), ...Array<number>(8).fill(52)];
  assert.deepEqual(column(9, pixels), lone, 'a call of length 0 is visible');
  const searched = densityRowPixels(made, 16, colours, frames, {
    ...look,
    only: Uint8Array.from([0, 0, 1, 0]),
  });
  assert.equal(column(0, searched)[5], 9, 'what is not searched for is dim');
});

test('dragging on the ruler shows the length', () => {
  const context = new DrawLog();
  const words = (): string => context.log.filter((line) => line.startsWith('fillText')).join();
  paintRuler(context, {
    ...{ theme: THEME, meter, scale: new TimeScale({ from: 0, to: 1e9 }, 1000), height: 26 },
    ...{ bounds: { from: 0, to: 1e9 }, range: { from: 300e6, to: 500e6 } },
    ...{ zoom: { from: 600e6, to: 725e6 }, pointer: 725e6, unit: 'ms', axis: '' },
  });
  assert.match(words(), /125\.000 ms/);
  assert(!words().includes('200.000 ms'), 'one length at a time');
});

test("marks of the ruler never overlap the pointer's time, the length or each other", () => {
  const context = new DrawLog();
  const { log } = context;
  const scale = new TimeScale({ from: 0, to: 1e9 }, 1000);
  paintRuler(context, {
    theme: THEME,
    meter,
    scale,
    height: 26,
    bounds: { from: 0, to: 1e9 },
    range: { from: 300e6, to: 500e6 },
    zoom: null,
    pointer: 405e6,
    unit: 'ms',
    axis: '',
  });
  const texts = log.filter((line) => line.startsWith('fillText'));
  assert(
    texts.some((line) => line.includes('405.000 ms')),
    texts.join('\n'),
  );
  assert(
    texts.some((line) => line.includes('200.000 ms')),
    'the length of the range',
  );
  assert(texts.includes('fillText 200 ms 204 11 --text-2'));
  assert(!texts.some((line) => line.includes(' 400 ms')), 'the pill stands there');
});

test('the overview fades everything outside its window', () => {
  const context = new DrawLog();
  const { log } = context;
  const activity = {
    buckets: 10,
    from: 0,
    to: 1000,
    lanes: [{ track: 0, height: Uint8Array.from([255, 255, 0, 0, 0, 0, 0, 0, 0, 128]) }],
  };
  const ground = { theme: THEME, scale: new TimeScale(BOUNDS, 100), height: 58, activity };
  paintOverviewGround(context, ground);
  paintOverview(context, {
    ...ground,
    view: { from: 200, to: 500 },
    range: null,
    ticks: [100, 110],
    hit: 700,
  });
  assert(log.includes('fillRect 0 4 20 45 --activity'), log.join('\n'));
  assert(log.includes('fillRect 0 0 20 58 --bg') && log.includes('fillRect 50 0 50 58 --bg'));
  assert(log.includes('strokeRect 20.5 0.5 29 57 --text'));
  assert(log.includes('fillRect 9.5 53 1.5 5 --hit') && log.includes('fill --hit'));
});

test('a backdrop is drawn when its content changes, and copied every time', () => {
  const inner = new DrawLog();
  const canvas = { width: 0, height: 0, getContext: () => Object.assign(inner, { setTransform }) };
  const backdrop = new Backdrop(canvas as object as HTMLCanvasElement);
  const copies: string[] = [];
  // Without shapes of its own it is taken for a canvas.
  const onto = { drawImage: (_: object, ...at: number[]) => copies.push(at.join(' ')) };
  const paint = (g: object, width: number, shown: object): void =>
    backdrop.paint(g as Surface, { width, height: 50, ratio: 2 }, [shown], (c) =>
      c.fillRect(0, 0, width, 50),
    );
  const [one, other] = [{}, {}];
  paint(onto, 100, one);
  paint(onto, 100, one);
  assert.equal(inner.log.length, 1);
  paint(onto, 100, other);
  paint(onto, 120, other);
  assert.equal(inner.log.length, 3);
  assert.deepEqual([canvas.width, canvas.height], [240, 100]);
  assert.deepEqual(copies, ['0 0 100 50', '0 0 100 50', '0 0 100 50', '0 0 120 50']);
  const picture = new DrawLog();
  paint(picture, 120, other);
  assert.deepEqual(picture.log, ['fillRect 0 0 120 50'], 'a picture of shapes has it as shapes');
});

const FLAME: FlameScene = {
  theme: THEME,
  names: frames,
  meter,
  width: 1000,
  height: 200,
  scroll: 0,
  frame: null,
  hovered: -1,
  matches: null,
  dimmed: false,
  title: 'All threads',
  graph: {
    total: 100,
    leftOut: 0,
    start: Float64Array.from([0, 0, 60, 60.1]),
    width: Float64Array.from([90, 60, 0.1, 0.1]),
    self: Float64Array.from([0, 0, 0, 0]),
    depth: Uint32Array.from([0, 1, 1, 1]),
    frame: Uint32Array.from([0, 1, 2, 3]),
    path: Uint32Array.from([0, 1, 2, 3]),
    calls: Uint32Array.from([1, 1, 1, 1]),
  },
};

test('flame frames are below their callers, and narrow neighbours become one', () => {
  const context = new DrawLog();
  const { log } = context;
  paintFlame(context, FLAME);
  assert(log.includes('fillRect 0 18 899.5 17 --m-0'), log.join('\n'));
  assert(
    log.includes('fillText Main.main  90.0 % 4 27 --bar-text') ||
      log.includes('fillText Main.main 90.0 % 4 27 --bar-text'),
  );
  assert(log.includes('fillRect 0 36 599.5 17 --m-1'));
  assert.deepEqual(
    log.filter((line) => line.endsWith('--line-strong')),
    ['fillRect 600 36 1.5 17 --line-strong'],
  );
});

test('a frame is hit where it was drawn', () => {
  for (let i = 0; i < 2; i++) {
    const b = flameBox(FLAME, i);
    assert.equal(flameAt(FLAME, b.x + b.w / 2, b.y + b.h / 2), i);
  }
  assert.equal(flameAt(FLAME, 950, 25), -1);
  assert.equal(flameAt(FLAME, 10, 5), -1, 'the title is no frame');
});

test('names are cut with an ellipsis, never to fewer than three letters', () => {
  assert.equal(meter.fit('inflate', 42), 'inflate');
  assert.equal(meter.fit('inflate', 36), 'infla…');
  assert.equal(meter.fit('inflate', 18), '');
  assert.equal(meter.label('LayoutInflater.inflate', 'inflate', 60), 'inflate');
  assert.equal(meter.label('Cart.<init>', '<init>', 60), 'Cart.<ini…');
});

test('colours are read with and without alpha, short and long', () => {
  assert.deepEqual(parseColour('#102030'), [16, 32, 48, 1]);
  assert.deepEqual(parseColour(' #1d5fd112 '), [29, 95, 209, 18 / 255]);
  assert.deepEqual(parseColour('#fff'), [255, 255, 255, 1]);
  assert.deepEqual(parseColour('Highlight'), [128, 128, 128, 1]);
});

test('all colours of the safe palette differ, except for states and greys', () => {
  const safe = theme('safe');
  const of = (colour: string): number => METHOD_COLOURS + HASHED_COLOURS + RESERVED.indexOf(colour);
  // What a trace calls good, bad and terrible, passed and failed.
  const named = ['#007d00', '#b47d00', '#b40000', '#99ee66', '#ee8888'].map(of);
  const looks = named.map((i) => `${safe.bars[i]} ${safe.hatched[i]}`);
  assert(looks.every((look) => look.startsWith('--cb-')));
  assert.equal(new Set(looks.slice(0, 3)).size, 3);
  assert(looks[3] !== looks[4]);
  assert.deepEqual(
    named.map((i) => safe.barTexts[i]),
    named.map(() => '--bar-text'),
  );
  assert.equal(safe.bars[of('#7d7d7d')], '#7d7d7d');
  assert.equal(safe.bars[of('#b67d8f')], '--state-unint');
  assert.equal(theme().bars[of('#007d00')], '#007d00');
});
