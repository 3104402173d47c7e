// SPDX-License-Identifier: Apache-2.0
// Narrow windows: names keep their room, and nothing is cut off.
import { strict as assert } from 'node:assert';
import { openPage, ready, rested, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { after, before, test } from './suite.mjs';
import { example, json, view } from './program.mjs';

const SIZES = [
  { width: 900, height: 700 },
  { width: 1280, height: 800 },
  { width: 1440, height: 900 },
];
const [longest] = json('profile', '--format', 'json', '--limit', '1', example());

let viewer;
before(async () => {
  viewer = await view(example());
});
after(() => viewer.stop());

async function show(viewport, hash = '') {
  const opened = await openPage(viewer.address + hash, { viewport });
  await ready(opened.page);
  return opened;
}

const headWidth = (page) =>
  page
    .locator('.profile .head .name-head')
    .evaluate((head) => Math.floor(head.getBoundingClientRect().width));

/** Every control in the bars and every column head that does not lie in view with all its text. */
const cutControls = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('.top, .tab-row, .profile .head, .grid-head, .flame .bar')]
      .flatMap((bar) => [...bar.querySelectorAll('button, input, select')])
      .filter((control) => {
        const { left, right, width } = control.getBoundingClientRect();
        if (width === 0 || getComputedStyle(control).visibility === 'hidden') return false;
        for (let box = control; box; box = box.parentElement) {
          const style = getComputedStyle(box);
          if (box === control && style.textOverflow === 'ellipsis') continue;
          const edge = box.getBoundingClientRect();
          const inner = box === control && box.textContent && box.scrollWidth > box.clientWidth + 1;
          const hides = box !== control && edge.width > 0 && style.overflowX !== 'visible';
          if (inner || (hides && (right > edge.right + 1 || left < edge.left - 1))) return true;
        }
        return right > innerWidth || left < 0;
      })
      .map((control) => control.ariaLabel || control.textContent || control.id),
  );

for (const size of SIZES) {
  test(`at ${size.width} px names have 350 px and no control is cut off`, async () => {
    const { page, troubles, close } = await show(size);
    assert.ok((await headWidth(page)) >= 350, `${await headWidth(page)} px for names`);
    assert.equal(await page.locator('.details.beside').isVisible(), false);
    assert.deepEqual(await cutControls(page), []);
    for (const tab of ['Flame', 'Top-down', 'Bottom-up', 'Selection', 'Health', 'Info']) {
      await page.getByRole('tab', { name: tab }).click();
      await rested(page);
      assert.deepEqual(await cutControls(page), [], tab);
    }
    await close();
    // With chips for a range and a thread.
    const chosen = await show(size, '#range=100000000-200000000&threads=0');
    assert.equal(await chosen.page.locator('.scope .chip').count(), 2);
    assert.deepEqual(await cutControls(chosen.page), []);
    assert.deepEqual([...troubles, ...chosen.troubles], []);
    await chosen.close();
  });
}

/** Everything that adds to the bars and tables: clocks, flows, syncs, problems, frames, counters. */
function busyTrace() {
  const thread = { pid: 12345, tid: 12345 };
  const events = [
    { ph: 'M', name: 'process_name', pid: 12345, args: { name: 'com.example.launcher' } },
    { ph: 'M', name: 'thread_name', ...thread, args: { name: 'CrRendererMain' } },
    ...Array(1_768).fill({ ph: 'E', name: 'nothing', ...thread, ts: 0 }),
    { ph: 's', name: 'flow', id: 1, ...thread, ts: 1 },
    { ph: 'f', name: 'flow', id: 1, bp: 'e', ...thread, ts: 20_001 },
  ];
  for (let i = 0; i < 20; i++) {
    const at = { ...thread, ts: 20_000 * i };
    events.push(
      { ph: 'X', name: 'Choreographer#doFrame', ...at, dur: 18_000, tts: 9_000 * i, tdur: 8_000 },
      { ph: 'C', name: 'VSYNC-app', ...at, args: { value: i % 2 } },
      {
        ph: 'C',
        name: 'memory',
        ...at,
        args: { used: 10_123_456_789 * (1 + i), free: 9_987_654_321 },
      },
    );
  }
  return events;
}

const BUSY_TABS = ['Profile', 'Flame', 'Selection', 'Counters', 'Frames', 'Search', 'Findings'];
const KINDS = 'main;work_[j];copy_[k] 5\nmain;wait_[i] 3\n';

for (const size of SIZES) {
  test(`at ${size.width} px nothing is cut off in a trace that has everything`, async () => {
    const { page } = await showFile('launcher-everything.json', busyTrace(), {
      options: { viewport: size },
    });
    for (const tab of BUSY_TABS) {
      await page.getByRole('tab', { name: tab }).click();
      await rested(page);
      assert.deepEqual(await cutControls(page), [], tab);
    }
    // The id of a process is there as a whole, or not at all: its tooltip has it.
    const [label, id] = await Promise.all(
      ['.labels .group', '.labels .group .id'].map((what) => page.locator(what).first()),
    );
    const [outer, inner] = [await label.boundingBox(), await id.boundingBox()];
    const hidden = inner.y >= outer.y + outer.height;
    assert.ok(hidden || inner.x + inner.width <= outer.x + outer.width, 'the id of the process');
    assert.match(await label.getAttribute('title'), /process 12345/);
    const samples = await showFile('kinds.folded', KINDS, { options: { viewport: size } });
    assert.deepEqual(await cutControls(samples.page), []);
  });
}

/** The words about the range that are seen, each with the width that it lacks. */
const scopeWords = (page) =>
  page.$$eval('.scope-words > *', (parts) =>
    parts
      .filter((part) => part.checkVisibility())
      .map((part) => [part.className, part.clientWidth, part.scrollWidth - part.clientWidth]),
  );

test('the text about the range is readable, short, or absent', async () => {
  const { page } = await showFile('launcher-everything.json', busyTrace(), {
    options: { viewport: { width: 1800, height: 800 } },
  });
  const seen = new Set();
  for (let width = 1800; width >= 1100; width -= 50) {
    await page.setViewportSize({ width, height: 800 });
    await rested(page);
    const words = await scopeWords(page);
    for (const [kind, room, lacks] of words)
      assert.ok(kind === 'long' ? room > 180 : lacks <= 0, `${width} px: ${kind} has ${room} px`);
    seen.add(words.map(([kind]) => kind).join());
  }
  assert.deepEqual([...seen].sort(), ['', 'long', 'short']);
  assert.match(await page.locator('.scope-words').getAttribute('title'), /^Computed for the whole/);
});

test('a narrow table keeps the figures that no other place shows', async () => {
  const viewport = { width: 900, height: 700 };
  const { page } = await showFile('launcher-everything.json', busyTrace(), {
    options: { viewport },
  });
  await page.getByRole('tab', { name: 'Counters' }).click();
  const heads = () => page.locator('.counters [role=columnheader]').allInnerTexts();
  const names = (all) => all.map((head) => head.replace(/^[▾▴] /, ''));
  const all = ['Counter', 'Values', 'Mean', 'Min', 'Max', 'First', 'Last', 'Change', 'Per s'];
  const needed = all.filter((head) => head !== 'Values' && head !== 'Change');
  const shows = (expected) => async () => names(await heads()).join() === expected.join();
  await until(shows(needed), true, 'without the number of values and the change');
  await page.setViewportSize({ width: 1280, height: 800 });
  await until(shows(all), true, 'with all');
});

test('the details fold out with a selection and fold away without', async () => {
  const { page, close } = await show({ width: 1280, height: 800 });
  const details = page.locator('.details.beside');
  assert.equal(await details.isVisible(), false);
  await page.locator('.profile .row.method .own', { hasText: longest.method }).first().click();
  await details.getByText(longest.method).first().waitFor();
  await page.keyboard.press('Escape');
  await until(() => details.isVisible(), false, 'folded away');
  await close();
});

test('a narrow table drops the clock that is not chosen', async () => {
  const { page, close } = await show({ width: 900, height: 700 });
  const heads = () => page.locator('.profile .head .group').allInnerTexts();
  const shown = async (clock) => {
    await page.getByRole('button', { name: clock, exact: true }).click();
    return until(
      heads,
      (all) => all.every((head) => !/Real|CPU/.test(head) || head.endsWith(clock)),
      clock,
    );
  };
  assert.ok((await shown('CPU')).includes('Incl CPU'));
  assert.ok((await shown('Real')).includes('Incl Real'));
  await page.setViewportSize({ width: 1600, height: 900 });
  await until(heads, (all) => all.includes('Incl CPU') && all.includes('Incl Real'), 'both clocks');
  await close();
});

test('a truncated text has a tooltip', async () => {
  const name = `thread ${'with a long name '.repeat(6)}`.trim();
  const events = [
    { ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name } },
    { ph: 'X', name: 'work', pid: 1, tid: 1, ts: 0, dur: 10 },
  ];
  const { page } = await showFile('long.json', events, { options: { viewport: SIZES[0] } });
  const label = page.locator('.label .name', { hasText: 'with a long name' });
  await label.hover();
  await until(
    () => label.evaluate((element) => element.closest('[title]')?.title ?? ''),
    (title) => title.includes(name),
    'the whole name',
  );
});

/** The room between the last row of the time line and the tables, and the height of the tables. */
const leftEmpty = (page) =>
  page.evaluate(() => {
    const rows = [...document.querySelectorAll('.labels .label, .labels .group-line')];
    const end = Math.max(...rows.map((row) => row.getBoundingClientRect().bottom));
    const { top, height } = document.querySelector('.lower').getBoundingClientRect();
    return { empty: Math.round(top - end), height: Math.round(height) };
  });

test('a few rows of counters leave their room to the tables, until the page is used', async () => {
  const events = [0, 1, 2].map((ts) => ({ ph: 'C', name: 'memory', pid: 1, ts, args: { kB: ts } }));
  const { page } = await showFile('few.json', events, {
    waits: (opened) => opened.locator('.labels .counter').waitFor(),
    options: { viewport: { width: 1280, height: 1000 } },
  });
  await until(
    () => leftEmpty(page),
    ({ empty }) => empty < 100,
    'the tables have the room',
  );
  const { height } = await leftEmpty(page);
  assert.ok(height > 600, `${height} px for the tables`);
  // Dragged, it stays where it was put.
  await page.locator('[role=separator][aria-label="Height of the lower panel"]').focus();
  await page.keyboard.press('ArrowDown');
  await rested(page);
  const dragged = await leftEmpty(page);
  assert.ok(dragged.height < height, 'the arrow makes the tables lower');
  await page.locator('.group-line .group').click();
  await rested(page);
  assert.equal((await leftEmpty(page)).height, dragged.height);
});
