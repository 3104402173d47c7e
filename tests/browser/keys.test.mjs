// SPDX-License-Identifier: Apache-2.0
// Every row of the table of keys and gestures, with every binding in it, on a method trace, on Trace
// Event JSON and on ftrace text.  Where a format is named the row needs something only that has.
import { strict as assert } from 'node:assert';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { until } from './browser.mjs';
import { Hand, near, size } from './hand.mjs';
import { test } from './suite.mjs';
import { FORMATS } from './three-formats.mjs';

const TRACE = ['.trace'];
const EVENTS = ['JSON'];
const ALL = Object.keys(FORMATS);

/** The pointer a quarter across; `act` must zoom by at least a tenth and hold the time there. */
const zooms =
  (direction, act, words = {}) =>
  async (hand) => {
    await hand.at(words);
    const at = await hand.empty(0.25);
    await hand.page.mouse.move(at.x, at.y);
    const before = hand.view0;
    const time = before[0] + 0.25 * size(before);
    await act(hand);
    const after = await hand.sees(
      (v) => v && (direction < 0 ? size(v) < 0.9 * size(before) : size(v) > 1.1 * size(before)),
      'the zoomed view',
    );
    const share = (time - after[0]) / size(after);
    assert.ok(near(share, 0.25, 0.01), `the time under the pointer stays: ${share}`);
  };

/** `act` must move the view by a part of its length, and leave the length as it is. */
const pans =
  (direction, act, words = {}) =>
  async (hand) => {
    await hand.at(words);
    const before = hand.view0;
    await act(hand);
    const after = await hand.sees(
      (v) => v && (v[0] - before[0]) * direction > 0.02 * size(before),
      'the panned view',
    );
    assert.ok(near(size(after), size(before), 4), 'the length stays');
  };

const wheel = (key, step) => async (hand) => {
  if (key) await hand.holding(key, () => hand.page.mouse.wheel(0, step));
  else await hand.page.mouse.wheel(0, step);
};

const keys =
  (...names) =>
  (hand) =>
    hand.press(...names);

/** From the middle of the tracks so many pixels to the right. */
const dragBy =
  (pixels, { key = null, button = 'left' } = {}) =>
  async (hand) => {
    const from = await hand.empty(0.5);
    const drag = () => hand.drag(from, { x: from.x + pixels, y: from.y }, button);
    if (key) await hand.holding(key, drag);
    else await drag();
  };

async function pinch(hand, from, to) {
  const { x, y } = await hand.empty(0.25);
  const cdp = await hand.page.context().newCDPSession(hand.page);
  const fingers = (apart) => [-1, 1].map((side, id) => ({ x: x + side * apart, y, id }));
  const send = (type, touchPoints) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints });
  await send('touchStart', fingers(from));
  for (const share of [0.25, 0.5, 0.75, 1])
    await send('touchMove', fingers(from + (to - from) * share));
  await send('touchEnd', []);
}

/** How far a key zooms or pans, as a share of the view. */
async function reach(hand, key) {
  await hand.at();
  const before = hand.view0;
  await hand.press(key);
  const after = await hand.sees(
    (v) => v && (v[0] !== before[0] || size(v) !== size(before)),
    `the view after ${key}`,
  );
  return Math.max(
    Math.abs(Math.log(size(after) / size(before))),
    Math.abs(after[0] - before[0]) / size(before),
  );
}

const faster = (key) => async (hand) => {
  const usual = await reach(hand, key);
  const fast = await reach(hand, `Shift+${key}`);
  assert.ok(fast > 1.3 * usual, `${fast} is more than ${usual}`);
};

const rangeOf = (p) => p.range?.split('-').map(Number);
/** The page says in words how long its range is. */
const chip = (hand) => hand.page.locator('.scope .chip').allInnerTexts();

async function dragsRange(hand) {
  await hand.at();
  const [from, to] = [await hand.empty(0.2), await hand.empty(0.6)];
  await hand.drag(from, to);
  const before = hand.view0;
  const [a, b] = [0.2, 0.6].map((share) => before[0] + share * size(before));
  const drawn = ([from, to]) => near(from, a, 2e4) && near(to, b, 2e4);
  await hand.now((p) => p.range !== undefined && drawn(rangeOf(p)), `a range ${a} to ${b}`);
  assert.equal((await chip(hand)).length, 1);
}

/** One end of a range is dragged; the other one stays. */
const dragsEnd = (end, onRuler) => async (hand) => {
  const [start] = await hand.middle();
  const range = [start + 5e5, start + 15e5];
  await hand.at({ range: range.join('-') });
  const place = onRuler ? await hand.box('.ruler canvas') : await hand.empty(0);
  const y = onRuler ? place.y + place.height - 8 : place.y;
  const outside = end === 0 ? -4 : 4;
  const grip = (await hand.x(range[end])) + (onRuler ? outside : 0);
  const far = (await hand.x(range[end] + 2e5)) - (await hand.x(range[end]));
  await hand.drag({ x: grip, y }, { x: grip + far, y });
  const goal = range[end] + 2e5;
  const p = await hand.now((q) => near(rangeOf(q)?.[end] ?? 0, goal, 3e4), `an end at ${goal}`);
  assert.equal(rangeOf(p)[1 - end], range[1 - end], 'its other end stays');
};

async function clearsRange(hand) {
  const [start] = await hand.middle();
  await hand.at({ range: `${start + 5e5}-${start + 15e5}` });
  assert.equal((await chip(hand)).length, 1);
  await hand.press('Escape');
  await hand.now((p) => p.range === undefined, 'no range');
  assert.deepEqual(await chip(hand), []);
}

const zoomsTo = (onRuler, button) => async (hand) => {
  await hand.at();
  const before = hand.view0;
  const [from, to] = [await hand.empty(0.3), await hand.empty(0.5)];
  const ruler = await hand.box('.ruler canvas');
  if (onRuler) from.y = to.y = ruler.y + 8;
  await hand.drag(from, to, button);
  const after = await hand.sees((v) => v && near(size(v), 0.2 * size(before), 2e4), 'that range');
  assert.ok(near(after[0], before[0] + 0.3 * size(before), 2e4), `${after}`);
  assert.equal((await hand.now(() => true)).range, undefined, 'no range is selected');
};

const seesAll = (act) => async (hand) => {
  await hand.at();
  await act(hand);
  await hand.sees(null, 'the whole trace');
};

/** The span fills most of the view. */
const fills = async (hand, { start_ns: start, length_ns: long }) => {
  const v = await hand.sees((w) => w && size(w) < 2 * long, 'the view around it');
  assert.ok(v[0] <= start && v[1] >= start + long, `${v} holds ${start}`);
};

/** From the draw of the tenth frame a key leads to another call. */
const leads =
  (key, [depth, number], from = [1, 21]) =>
  async (hand) => {
    await hand.at({ call: hand.id(...from) });
    await hand.page.locator('.details.beside h2').waitFor();
    await hand.press(key);
    await hand.now((p) => p.call === hand.id(depth, number), `the call after ${key}`);
  };

async function typesSearch(hand, ...open) {
  await hand.at();
  await hand.press(...open);
  await until(
    () => hand.focused(),
    (text) => /^Search/.test(text),
    'the search box',
  );
  await hand.page.keyboard.type('paint');
  return () => hand.page.locator('.search .count').innerText();
}

const findsTrack = (key) => async (hand) => {
  await hand.at();
  await hand.press(key);
  await hand.page.keyboard.type('rast');
  await until(() => hand.page.locator('.finder[open] [role=option]').count(), 1, 'one track');
  await hand.press('Enter');
  await until(
    () => hand.focused(),
    (text) => /raster/.test(text),
    'its name',
  );
};

/** The number of the name draw. */
const draw = async (hand) => String((await hand.call(1, 21)).frame);

const flame = (key, order) => async (hand) => {
  await hand.at({ method: await draw(hand) });
  await hand.press(key);
  const at = (p) => p.tab === 'flame' && (p.flame ?? 'left-heavy') === order;
  await hand.now(at, `the flame graph ${order}`);
};

/** The flame graph with the keyboard in it and little room. */
async function inFlame(hand) {
  await hand.page.setViewportSize({ width: 1100, height: 420 });
  await hand.at({ tab: 'flame', method: await draw(hand) });
  const place = hand.page.locator('.flame .canvas');
  const drawn = () => place.evaluate((e) => /px$/.test(e.lastElementChild.style.height));
  await until(drawn, true, 'the flame graph');
  await place.focus();
  return place;
}

/** A tree table with the cursor on its first line. */
async function inTree(hand) {
  await hand.at({ tab: 'top-down' });
  const rows = hand.page.locator('#pane-top-down .grid-row');
  await until(
    () => rows.count(),
    (n) => n > 0,
    'the tree',
  );
  const tree = hand.page.locator('#pane-top-down [role=treegrid]');
  await tree.focus();
  await hand.press('Home');
  const cursor = async () =>
    (await hand.page.locator('#pane-top-down .grid-row.cursor').innerText()).trim();
  return { rows: () => rows.count(), cursor };
}

const undoes = (back, forth) => async (hand) => {
  await hand.at();
  const before = hand.view0.map(Math.round);
  const same = (v) => v && v[0] === before[0] && v[1] === before[1];
  await hand.press('d');
  const moved = await hand.sees((v) => v && !same(v), 'the moved view');
  await back(hand);
  await hand.sees(same, 'the view before');
  await forth(hand);
  await hand.sees((v) => v && v[0] === moved[0], 'the moved view again');
};

const copies = (key) => async (hand) => {
  await hand.at({ method: await draw(hand) });
  const name = (await hand.page.locator('.readout .name').innerText()).trim();
  await hand.page.evaluate(() => navigator.clipboard.writeText('before'));
  await hand.press(key);
  const read = () => hand.page.evaluate(() => navigator.clipboard.readText());
  const text = await until(read, (t) => t !== 'before', 'the name');
  const short = name.split(/\s/)[0];
  assert.ok(short.length > 2 && text.includes(short), `${text} names ${short}`);
};

/** Opened, and closed again. */
const helps = async (hand) => {
  await hand.at();
  await hand.press('?');
  const dialog = hand.page.getByRole('dialog', { name: 'Keys and help' });
  await until(() => dialog.isVisible(), true, 'the help');
  await hand.press('Escape');
  await until(() => dialog.isVisible(), false, 'no help');
};

/** The rows of the table: what is done, and by which bindings; each may name its formats. */
const TABLE = {
  'zoom in, out at the pointer': {
    W: [ALL, zooms(-1, keys('w'))],
    S: [ALL, zooms(1, keys('s'))],
    'W by its place on another keyboard': [TRACE, zooms(-1, (h) => h.foreign('KeyW', 'ц'))],
    'S by its place on another keyboard': [TRACE, zooms(1, (h) => h.foreign('KeyS', 'ы'))],
    '+': [TRACE, zooms(-1, keys('+'))],
    '-': [TRACE, zooms(1, keys('-'))],
    'Ctrl+wheel': [ALL, zooms(-1, wheel('Control', -200))],
    'Ctrl+wheel out': [TRACE, zooms(1, wheel('Control', 200))],
    'Cmd+wheel': [TRACE, zooms(-1, wheel('Meta', -200))],
    'pinch of a touch pad': [TRACE, zooms(-1, wheel('Control', -15))],
    'pinch of two fingers': [TRACE, zooms(-1, (h) => pinch(h, 40, 80))],
    'pinch of two fingers, out': [TRACE, zooms(1, (h) => pinch(h, 80, 40))],
    'Alt+wheel': [TRACE, zooms(-1, wheel('Alt', -200))],
  },
  pan: {
    A: [ALL, pans(-1, keys('a'))],
    D: [ALL, pans(1, keys('d'))],
    'Left when nothing is selected': [TRACE, pans(-1, keys('ArrowLeft'))],
    'Right when nothing is selected': [TRACE, pans(1, keys('ArrowRight'))],
    'Shift+wheel': [
      ALL,
      pans(1, async (hand) => {
        const { x, y } = await hand.empty(0.5);
        await hand.page.mouse.move(x, y);
        await wheel('Shift', 200)(hand);
      }),
    ],
    'Shift+drag': [ALL, pans(-1, dragBy(150, { key: 'Shift' }))],
    'Space+drag': [TRACE, pans(-1, dragBy(150, { key: 'Space' }))],
    'right drag': [TRACE, pans(-1, dragBy(150, { button: 'right' }))],
  },
  scroll: {
    'the wheel, which does not zoom': [
      ALL,
      async (hand) => {
        await hand.page.setViewportSize({ width: 1100, height: 420 });
        await hand.at();
        const { x, y } = await hand.empty(0.5);
        await hand.page.mouse.move(x, y);
        await wheel(null, 60)(hand);
        const top = () => hand.page.locator('.tracks').evaluate((e) => e.scrollTop);
        await until(top, (n) => n > 0, 'the scrolled tracks');
        await hand.press('d');
        const after = await hand.sees((v) => v && v[0] > hand.view0[0] + 1e4, 'a move after it');
        assert.ok(near(size(after), size(hand.view0), 4), 'the wheel has not zoomed');
      },
    ],
    'the wheel zooms where the user switched that on': [
      TRACE,
      async (hand) => {
        const toggle = async (on) => {
          await hand.press('?');
          await hand.page.getByLabel('The plain wheel zooms the time line').setChecked(on);
          await hand.press('Escape');
        };
        await hand.at();
        await toggle(true);
        await zooms(-1, wheel(null, -200))(hand);
        await hand.page.reload();
        await hand.page.waitForSelector('.profile .row.method');
        await zooms(1, wheel(null, 200))(hand);
        await toggle(false);
      },
    ],
  },
  faster: {
    'Shift+W': [TRACE, faster('W')],
    'Shift+S': [TRACE, faster('S')],
    'Shift+A': [TRACE, faster('A')],
    'Shift+D': [TRACE, faster('D')],
  },
  'select a range': {
    'drag on the tracks': [ALL, dragsRange],
    'its left end on the tracks': [TRACE, dragsEnd(0, false)],
    'its right end on the tracks': [TRACE, dragsEnd(1, false)],
    'its left handle on the ruler': [ALL, dragsEnd(0, true)],
    'its right handle on the ruler': [TRACE, dragsEnd(1, true)],
    'Esc clears': [ALL, clearsRange],
  },
  'zoom to a range': {
    'drag on the ruler': [ALL, zoomsTo(true, 'left')],
    'middle drag on the tracks': [TRACE, zoomsTo(false, 'middle')],
  },
  'whole trace': {
    0: [ALL, seesAll(keys('0'))],
    'double click on the ruler': [
      TRACE,
      seesAll(async (hand) => {
        const ruler = await hand.box('.ruler canvas');
        await hand.page.mouse.dblclick(ruler.x + 300, ruler.y + 8);
      }),
    ],
  },
  'zoom to the selection': {
    'F, a call': [
      ALL,
      async (hand) => {
        await hand.at({ call: hand.id(1, 21) });
        await hand.page.locator('.details.beside h2').waitFor();
        await hand.press('f');
        await fills(hand, await hand.call(1, 21));
      },
    ],
    'F, a range': [
      TRACE,
      async (hand) => {
        const [start] = await hand.middle();
        await hand.at({ range: `${start + 5e5}-${start + 9e5}` });
        await hand.press('f');
        await fills(hand, { start_ns: start + 5e5, length_ns: 4e5 });
      },
    ],
    'double click on an event': [
      ALL,
      async (hand) => {
        await hand.at();
        const { x, y, call } = await hand.spot(1, 21);
        await hand.page.mouse.dblclick(x, y);
        await fills(hand, call);
      },
    ],
  },
  'select an event': {
    click: [
      ALL,
      async (hand) => {
        await hand.at();
        const { x, y } = await hand.spot(1, 21);
        await hand.page.mouse.click(x, y);
        await hand.now((p) => p.call === hand.id(1, 21), 'the call');
        const title = () => hand.page.locator('.details.beside h2').innerText();
        await until(title, (t) => /draw$/.test(t), 'its details');
      },
    ],
    ...Object.fromEntries(
      ['Control', 'Meta'].map((key) => [
        `${key}+click: all of that name`,
        [
          TRACE,
          async (hand) => {
            await hand.at({ call: hand.id(0, 10) });
            const { x, y, call } = await hand.spot(1, 21);
            await hand.holding(key, () => hand.page.mouse.click(x, y));
            await hand.now(
              (p) => p.method === String(call.frame) && p.call === undefined,
              'the name, and no call',
            );
          },
        ],
      ]),
    ),
  },
  'next, previous event': {
    Right: [ALL, leads('ArrowRight', [1, 22])],
    Left: [ALL, leads('ArrowLeft', [1, 20])],
    '.': [TRACE, leads('.', [1, 22])],
    ',': [TRACE, leads(',', [1, 20])],
    'Down: child': [ALL, leads('ArrowDown', [2, 10])],
    'Up: parent': [ALL, leads('ArrowUp', [0, 10])],
  },
  'follow a flow': {
    ']': [
      EVENTS,
      async (hand) => {
        await hand.at({ call: hand.id(1, 21) });
        await hand.page.locator('.details.beside h2').waitFor();
        await hand.press(']');
        const raster = hand.facts.tracks.find((t) => t.name === 'raster').first_row;
        await hand.now((p) => p.call === `${raster}.10`, 'the other end');
      },
    ],
    '[': [
      EVENTS,
      async (hand) => {
        const raster = hand.facts.tracks.find((t) => t.name === 'raster').first_row;
        await hand.at({ call: `${raster}.10` });
        await hand.page.locator('.details.beside h2').waitFor();
        await hand.press('[');
        await hand.now((p) => p.call === hand.id(1, 21), 'the end it came from');
      },
    ],
  },
  'range from the selection': {
    M: [
      ALL,
      async (hand) => {
        await hand.at({ call: hand.id(1, 21) });
        await hand.page.locator('.details.beside h2').waitFor();
        await hand.press('m');
        const { start_ns: start, length_ns: long } = await hand.call(1, 21);
        await hand.now((p) => p.range === `${start}-${start + long}`, 'its range');
      },
    ],
    'Shift+M keeps it as a note': [
      TRACE,
      async (hand) => {
        await hand.at({ call: hand.id(1, 21) });
        await hand.page.locator('.details.beside h2').waitFor();
        await hand.press('Shift+M');
        await hand.page.getByLabel('Text of the note').fill('slow here');
        await hand.press('Enter');
        await hand.now((p) => /slow here/.test(p.note ?? ''), 'the note');
      },
    ],
  },
  search: {
    ...Object.fromEntries(
      ['/', 'Control+f', 'Meta+f'].map((key) => [
        `${key}, Enter, Shift+Enter, Esc`,
        [
          key === '/' ? ALL : TRACE,
          async (hand) => {
            const count = await typesSearch(hand, key);
            await until(count, (t) => /^20 in /.test(t), 'twenty hits');
            await hand.press('Enter');
            const first = await until(count, (t) => / of 20$/.test(t), 'the first hit');
            await hand.press('Enter');
            await until(count, `${Number(first.split(' ')[0]) + 1} of 20`, 'the next hit');
            await hand.press('Shift+Enter');
            await until(count, first, 'the first hit again');
            await hand.press('Escape', 'Escape');
            await hand.now((p) => p.search === undefined, 'no search');
          },
        ],
      ]),
    ),
    'typing in the method table finds': [
      ALL,
      async (hand) => {
        await hand.at();
        await hand.page.locator('.profile .scroller').focus();
        await hand.page.keyboard.type('layo');
        const cursor = () => hand.page.locator('.profile .row.cursor .cell.name').innerText();
        await until(cursor, (t) => /layout/.test(t), 'the line under the cursor');
        assert.equal(await hand.page.getByLabel('Find in table').inputValue(), 'layo');
        await hand.page.getByLabel('Find in table').fill('');
      },
    ],
  },
  'find a track': {
    'Ctrl+P': [ALL, findsTrack('Control+p')],
    'Cmd+P': [TRACE, findsTrack('Meta+p')],
  },
  'flame views': {
    '1 time order': [ALL, flame('1', 'time')],
    '2 left heavy': [TRACE, flame('2', 'left-heavy')],
    '3 sandwich': [TRACE, flame('3', 'sandwich')],
    '4 inverted': [TRACE, flame('4', 'inverted')],
    'S and W scroll there': [
      TRACE,
      async (hand) => {
        const place = await inFlame(hand);
        await hand.page.locator('.page').evaluate((e) => e.style.setProperty('--lower', '160px'));
        const top = () => place.evaluate((e) => e.scrollTop);
        await hand.press('s', 's', 's');
        await until(top, (n) => n > 0, 'scrolled down');
        await hand.press('w', 'w', 'w', 'w');
        await until(top, 0, 'scrolled up');
        assert.equal((await hand.now(() => true)).view, hand.view0.join('-'), 'no zoom above');
      },
    ],
    '+ and - zoom there': [
      ALL,
      async (hand) => {
        await inFlame(hand);
        await hand.press('+');
        await hand.now((p) => p.zoom !== undefined, 'zoomed');
        // Back by as many frames as there are under it.
        await hand.press('-', '-', '-');
        await hand.now((p) => p.zoom === undefined, 'all of it');
      },
    ],
  },
  trees: {
    'Right opens, then goes down; Left closes': [
      ALL,
      async (hand) => {
        const { rows, cursor } = await inTree(hand);
        const closed = await rows();
        const first = await cursor();
        await hand.press('ArrowRight');
        await until(rows, (n) => n > closed, 'the opened line');
        await hand.press('ArrowRight');
        await until(cursor, (t) => t !== first, 'the first line below');
        await hand.press('ArrowLeft');
        await until(cursor, first, 'its parent');
        await hand.press('ArrowLeft');
        await until(rows, closed, 'the closed line');
      },
    ],
    'Down and Up move': [
      TRACE,
      async (hand) => {
        const { cursor } = await inTree(hand);
        const first = await cursor();
        await hand.press('ArrowDown');
        await until(cursor, (t) => t !== first, 'the next line');
        await hand.press('ArrowUp');
        await until(cursor, first, 'the first line');
      },
    ],
    '* opens all below': [
      TRACE,
      async (hand) => {
        const { rows } = await inTree(hand);
        const closed = await rows();
        await hand.press('*');
        // frame has layout and draw inside, draw has paint.
        await until(rows, closed + 3, 'all below');
      },
    ],
  },
  'undo, redo a move': {
    'Ctrl+Z, Shift+Ctrl+Z': [ALL, undoes(keys('Control+z'), keys('Shift+Control+z'))],
    'Cmd+Z, Shift+Cmd+Z': [TRACE, undoes(keys('Meta+z'), keys('Shift+Meta+z'))],
    'Back and Forward of the browser': [
      TRACE,
      undoes(
        (hand) => hand.page.goBack(),
        (hand) => hand.page.goForward(),
      ),
    ],
  },
  'copy the name': { 'Ctrl+C': [TRACE, copies('Control+c')] },
  'lower panel': {
    Q: [
      ALL,
      async (hand) => {
        await hand.at();
        const closed = () => hand.page.locator('.page.closed').count();
        await hand.press('q');
        await until(closed, 1, 'closed');
        await hand.press('q');
        await until(closed, 0, 'open again');
      },
    ],
  },
  help: { '?': [ALL, helps] },
};

/** Rows whose tests stand where files are opened and saved. */
const ELSEWHERE = ['open, save'];

const PAGE_OF_KEYS = new URL('../../../shared/ui.md', import.meta.url);

test('this test covers every row of the key table', (t) => {
  if (!existsSync(PAGE_OF_KEYS)) return t.skip('skipped: ../shared not there');
  const [, table] = readFileSync(PAGE_OF_KEYS, 'utf8').split('## Keys and mouse');
  const rows = [...table.split('\n## ')[0].matchAll(/^\| ([^|]+?) \|/gm)].map((m) => m[1]);
  const asked = rows.filter((name) => name !== 'action');
  assert.ok(asked.length > 20, 'the table is read');
  assert.deepEqual(asked.sort(), [...Object.keys(TABLE), ...ELSEWHERE].sort());
});

/** The words of the help for keys that the code names in another way. */
const HELP_NAMES = {
  ...{ ' ': 'Space', ArrowDown: 'Down', ArrowLeft: 'Left', ArrowRight: 'Right', ArrowUp: 'Up' },
  ...{ ContextMenu: 'menu key', Escape: 'Esc', PageDown: 'Page Down', PageUp: 'Page Up' },
  ...{ '-': '−', '=': '+', _: '−' },
};

test('the help names every key that the code of the page handles', () => {
  const folder = new URL('../../web/src/', import.meta.url);
  const read = (name) => readFileSync(new URL(name, folder), 'utf8');
  const help = read('views/helpDialog.ts');
  const words = new Set(
    help.split(/[\s']+/).flatMap((word) => [word, ...word.replace(/[,;.]$/, '').split('+')]),
  );
  const sources = readdirSync(new URL('views/', folder), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(`views/${name}`));
  const handlers = ['app/keys.ts', 'app/main.ts'].map(read).concat(sources).join('\n');
  const FORMS = [
    /\b(?:key|code) [!=]== '(\S| |[A-Z]\w+)'/g,
    /^ +case '(\S)':$/gm,
    /\b(Arrow(?:Down|Left|Right|Up)|Page(?:Down|Up)|Home|End)\b(?=[':])/g,
  ];
  const keys = new Set(
    FORMS.flatMap((form) => [...handlers.matchAll(form)].map(([, key]) => key.replace('Key', ''))),
  );
  assert.ok(keys.size > 40, `the keys of the code are read: ${[...keys]}`);
  const missing = [...keys].filter((key) => {
    const name = HELP_NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);
    return name.includes(' ') ? !help.includes(name) : !words.has(name);
  });
  assert.deepEqual(missing, []);
});

/** The formats side by side: most of the time goes by in waiting for moves to come to rest. */
test('each key and gesture does what the table says', async () => {
  const wrong = [];
  const onFormat = async (format, hand) => {
    for (const [action, bindings] of Object.entries(TABLE))
      for (const [binding, [formats, work]] of Object.entries(bindings)) {
        if (!formats.includes(format)) continue;
        try {
          await hand.fullSize();
          await work(hand);
        } catch (error) {
          wrong.push(`${format}: ${action}: ${binding}: ${error.message}`);
        }
      }
  };
  await Promise.all(ALL.map((format) => Hand.holds(format, {}, (hand) => onFormat(format, hand))));
  assert.deepEqual(wrong, []);
});
