// SPDX-License-Identifier: Apache-2.0
// The context menu of a function, and the changes to the stacks that it makes: the same figures as
// the command line has, for calls and for samples; chips; the address; the keyboard.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { place, rested, tableLines, until } from './browser.mjs';
import { nameOf, profile, shown, sorted } from './exported.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';
import { json } from './program.mjs';

/** Two overloads of run, one in the other; log is called by both and by draw. */
const CALLS = `
version 3
clock dual
thread 1 main
method 0x10 com.app.Main run ()V Main.java
method 0x14 com.app.Main run (I)V Main.java
method 0x18 com.app.View draw ()V View.java
method 0x1c java.util.List add ()V List.java
method 0x20 java.lang.Log log ()V Log.java
1 enter 0x10 0 0
1 enter 0x14 1000 2000
1 enter 0x20 2000 3000
1 exit 0x20 3000 4000
1 exit 0x14 4000 6000
1 enter 0x18 5000 8000
1 enter 0x1c 5500 8500
1 enter 0x20 5600 8700
1 exit 0x20 5800 9000
1 exit 0x1c 7000 11000
1 exit 0x18 8000 12000
1 enter 0x20 8500 13000
1 exit 0x20 9500 14000
1 exit 0x10 10000 16000
`;
const assemble = new URL('../golden/assemble', import.meta.url).pathname;
const callsFile = () => new Uint8Array(execFileSync(assemble, { input: CALLS }));
const showCalls = (hash = '') => showFile('calls.trace', callsFile(), { hash });

/** Stacks with counts, as rows of samples with weights. */
const STACKS = [
  ['main;lib.a;lib.b;work', 5],
  ['main;work;lib.a', 3],
  ['main;lib.b', 2],
  ['idle', 4],
];
function sampleFile() {
  const stackFrames = {};
  const samples = STACKS.map(([stack, weight], i) => {
    const names = stack.split(';');
    names.forEach((name, depth) => {
      const parent = depth > 0 ? { parent: `${i}.${depth - 1}` } : {};
      stackFrames[`${i}.${depth}`] = { name, category: '', ...parent };
    });
    const sf = `${i}.${names.length - 1}`;
    return { cpu: 0, tid: 1, ts: i, name: 'ticks', weight, sf };
  });
  return { traceEvents: [], stackFrames, samples };
}

/** The same changes in an address and as options. */
const hashOf = (changes) =>
  changes.map((change) => `&transform=${encodeURIComponent(change.join(':'))}`).join('');
const optionsOf = (changes) => changes.flatMap(([word, name]) => [`--${word}`, name]);

const CHANGES = [
  [['focus', 'com.app.View.draw']],
  [['callers', 'java.lang.Log.log']],
  [['merge', 'com.app.Main.run(I)V']],
  [['collapse-package', 'java']],
  [['drop', 'com.app.View.draw']],
  [
    ['collapse-package', 'com.app'],
    ['collapse-package', 'java'],
    ['callers', 'java'],
  ],
];

test('for calls, the tables have the figures of the command line', async () => {
  const { page, file, troubles } = await showCalls();
  for (const changes of CHANGES)
    assert.ok((await profile(page, hashOf(changes), file, optionsOf(changes))) > 0);
  // the tree: callers before callees, as `tree` has them
  const changes = [
    ['drop', 'com.app.View.draw'],
    ['collapse-package', 'java'],
  ];
  await page.evaluate((hash) => (location.hash = hash), `tab=top-down${hashOf(changes)}`);
  const tree = page.locator('#pane-top-down');
  await until(() => tree.isVisible(), true, 'the tree');
  await rested(page);
  await tree.getByRole('treegrid').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('*');
  await until(() => tree.locator('[data-line]').count(), 4, 'all lines');
  const lines = json('tree', '--format', 'json', ...optionsOf(changes), file);
  const ours = await shown(page, 'top-down');
  assert.deepEqual(
    ours.map((line) => [nameOf(line), line.incl_real_ns, line.self_real_ns]),
    lines.map((line) => [nameOf(line), line.total_ns, line.self_ns]),
  );
  // the whole of the flame graph is what is left: 16 ms less the 4 of draw
  await page.keyboard.press('2');
  await page.waitForSelector('.flame canvas');
  await rested(page);
  const canvas = page.locator('.flame canvas');
  await canvas.hover({ position: { x: 5, y: 30 } });
  await until(
    () => page.locator('.flame .about').innerText(),
    (text) => text.startsWith('Main.run inclusive 12.000 ms, 100.0 %'),
    'the frame at the bottom',
  );
  assert.deepEqual(troubles, []);
});

test('the flame graph in time order has the transformed stacks and can zoom in them', async () => {
  const changes = [['drop', 'com.app.View.draw']];
  const { page, troubles } = await showCalls(`#tab=flame&order=time${hashOf(changes)}`);
  const canvas = page.locator('.flame canvas');
  await page.keyboard.press('1');
  await rested(page);
  await until(() => canvas.isVisible(), true, 'the graph');
  const about = () => page.locator('.flame .about').innerText();
  // run has 16 ms in real time, of which draw took 4
  await canvas.hover({ position: { x: 5, y: 30 } });
  await until(about, (text) => text.startsWith('Main.run inclusive 12.000 ms, 100.0 %'), 'the sum');
  // on its left stands the other run, with 4 ms
  await canvas.hover({ position: { x: 5, y: 50 } });
  await until(about, (text) => /inclusive 4\.000 ms, 33\.3 %/.test(text), 'the inner run');
  await canvas.click({ position: { x: 5, y: 50 } });
  await until(async () => (await place(page)).zoom !== undefined, true, 'the zoom');
  await rested(page);
  assert.deepEqual(troubles, []);
});

test('for samples, the tables have the figures of the command line', async () => {
  const { page, file } = await showFile('samples.json', sampleFile(), {
    hash: '#tab=profile&samples=weight',
  });
  for (const changes of [
    [['focus', 'work']],
    [['callers', 'work']],
    [['merge', 'lib.a']],
    [['collapse-package', 'lib']],
    [['drop', 'lib.b']],
  ]) {
    const hash = `tab=profile&samples=weight${hashOf(changes)}`;
    await page.evaluate((text) => (location.hash = text), hash);
    await until(() => page.locator('.transforms .chip').count(), 1, 'the chip');
    await rested(page);
    const theirs = json(
      'profile',
      '--format',
      'json',
      '--value',
      'ticks',
      ...optionsOf(changes),
      file,
    );
    const ours = (await tableLines(page)).map(({ name, cells }) => [
      theirs.find((row) => name.includes(row.name))?.name,
      Number(cells.incl_real),
      Number(cells.excl_real),
    ]);
    const expected = theirs.map(({ name, total, self }) => [name, total, self]);
    assert.deepEqual(sorted(ours), sorted(expected), hash);
  }
});

const menuOf = (page) => page.getByRole('menu', { name: 'Actions for a function' });
const chips = async (page) =>
  (await page.locator('.transforms .chip').allInnerTexts()).map((text) => text.trim());

test('the menu transforms the stacks; chips and Back undo it', async () => {
  const { page } = await showCalls();
  const menu = menuOf(page);
  await page.locator('.profile .row.method', { hasText: 'log' }).first().click({ button: 'right' });
  assert.equal(await menu.isVisible(), true);
  await menu.getByRole('menuitem', { name: 'Collapse package java.lang' }).click();
  await until(() => chips(page).then(String), 'Collapsed: java.lang', 'a chip');
  await until(
    () => page.locator('.profile .row.method', { hasText: 'java.lang' }).count(),
    1,
    'the package as a line',
  );
  await until(
    async () => (await place(page)).transform,
    'collapse-package:java.lang',
    'the address',
  );
  // one of the overloads, by its signature
  const run = page.locator('.profile .row.method', { hasText: '(int)' }).first();
  await run.click({ button: 'right' });
  await menu.getByRole('menuitem', { name: 'Merge into its callers' }).click();
  await until(() => chips(page).then(String), 'Collapsed: java.lang,Merged: Main.run', 'two chips');
  await until(() => run.count(), 0, 'one run is merged');
  await until(
    () =>
      page.evaluate(() => location.hash.includes(encodeURIComponent('merge:com.app.Main.run(I)V'))),
    true,
    'the address',
  );
  await page.goBack();
  await until(() => chips(page).then(String), 'Collapsed: java.lang', 'Back');
  await page.goForward();
  await until(() => chips(page).then((all) => all.length), 2, 'Forward');
  await page.reload();
  await until(() => chips(page).then((all) => all.length), 2, 'after a reload');
  await page.getByRole('button', { name: 'Undo Collapsed: java.lang' }).click();
  await until(() => chips(page).then(String), 'Merged: Main.run', 'the other chip');
  await page.getByRole('button', { name: 'Undo Merged: Main.run' }).click();
  await until(() => page.locator('.transforms').isVisible(), false, 'no chips');
});

test('the menu is the same in the flame graph, a tree and the time line', async () => {
  const { page } = await showCalls('#tab=flame');
  const menu = menuOf(page);
  const head = menu.locator('.head');
  await rested(page);
  await page.locator('.flame canvas').click({ button: 'right', position: { x: 5, y: 30 } });
  await until(() => head.innerText(), 'Main.run', 'of the flame graph');
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Bottom-up' }).click();
  await page.locator('#pane-bottom-up [data-line]').first().click({ button: 'right' });
  assert.equal(await menu.isVisible(), true);
  await page.keyboard.press('Escape');
  await until(() => menu.isVisible(), false, 'closed');
  const tracks = page.locator('.list-view');
  const box = await tracks.boundingBox();
  await page.mouse.click(box.x + box.width / 3, box.y + 10, { button: 'right' });
  await until(() => head.innerText(), 'Main.run', 'of the time line');
  // what is no table of stacks makes room for one
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Info' }).click();
  await page.mouse.click(box.x + box.width / 3, box.y + 10, { button: 'right' });
  await menu.getByRole('menuitem', { name: 'Focus on this' }).click();
  await until(async () => (await place(page)).tab, 'flame', 'the flame graph');
});

test('the keyboard opens the menu, moves in it and returns', async () => {
  const { page } = await showCalls('#tab=profile');
  const menu = menuOf(page);
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  const table = page.getByRole('treegrid', { name: 'Profile' });
  await table.focus();
  await page.keyboard.press('Home');
  for (const key of ['Shift+F10', 'ContextMenu']) {
    await page.keyboard.press(key);
    await until(focused, 'Focus on this', `the first entry, after ${key}`);
    await page.keyboard.press('ArrowUp');
    await until(focused, 'Open in the profile', 'around to the last');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await until(focused, 'Show callers', 'the second');
    await page.keyboard.press('d');
    await until(focused, 'Drop it with all calls inside', 'by its letter');
    await page.keyboard.press('Escape');
    await until(() => menu.isVisible(), false, 'closed');
    assert.equal(await table.evaluate((grid) => grid === document.activeElement), true);
  }
  await page.keyboard.press('Shift+F10');
  await page.keyboard.press('s');
  await page.keyboard.press('s');
  await until(focused, 'Search for it', 'by its letter again');
  await page.keyboard.press('Enter');
  await until(async () => (await place(page)).tab, 'search', 'the hits');
  assert.match(
    await page
      .getByRole('textbox', { name: /search/i })
      .first()
      .inputValue(),
    /com\.app/,
  );
});

test('a name that the trace lacks says so', async () => {
  const { page } = await showFile('calls.trace', callsFile(), {
    hash: '#tab=profile&transform=focus%3Anone',
    waits: (shown) => shown.waitForSelector('.transforms .chip'),
  });
  await until(
    () => page.locator('body').innerText(),
    (text) => text.includes("the trace has no function 'none'"),
    'the message',
  );
  await page.getByRole('button', { name: 'Undo Focus: none' }).click();
  await page.waitForSelector('.profile .row.method');
});
