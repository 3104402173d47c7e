// SPDX-License-Identifier: Apache-2.0
// Everything without a mouse: any range, the calls of every track, the names, the tabs, and what a
// screen reader is told.
import { strict as assert } from 'node:assert';
import { until } from './browser.mjs';
import { Hand, near, size } from './hand.mjs';
import { test } from './suite.mjs';

const rangeOf = (p) => p.range?.split('-').map(Number);

const on = (format, work) => Hand.holds(format, {}, work);

test('a range can be typed with units, typed as a length, and undone', () =>
  on('.trace', async (hand) => {
    const { page } = hand;
    const dialog = page.getByRole('dialog', { name: 'Type a range' });
    const type = async (text) => {
      await hand.press('r');
      await until(() => dialog.isVisible(), true, 'the dialog');
      await page.keyboard.type(text);
    };
    await hand.at();
    await type('5 .. 7.5 ms');
    await until(
      () => dialog.innerText(),
      (t) => /2\.500 ms/.test(t),
      'its length',
    );
    await hand.press('Enter');
    await hand.now((p) => p.range === '5000000-7500000', 'the range in milliseconds');
    await hand.sees((v) => v && v[0] <= 5e6 && v[1] >= 7.5e6, 'the range is in view');
    await type('300 µs + 1200');
    await hand.press('Enter');
    await hand.now((p) => p.range === '300000-1500000', 'a start and a length');
    await type('soon .. 5');
    await until(
      () => dialog.innerText(),
      (t) => /not a time: "soon"/.test(t),
      'what is wrong',
    );
    await hand.press('Enter');
    assert.ok(await dialog.isVisible(), 'it stays for what is wrong');
    await hand.press('Escape');
    assert.equal((await hand.now(() => true)).range, '300000-1500000', 'nothing has changed');
    await hand.press('r', 'Delete', 'Enter');
    await hand.now((p) => p.range === undefined, 'no range');
    await page.getByRole('button', { name: /^Computed for/ }).focus();
    await hand.press('Enter');
    await until(() => dialog.isVisible(), true, 'the button opens it as well');
  }));

test('a dialog that closes does not swallow the next key', () =>
  on('.trace', async (hand) => {
    const { page } = hand;
    await hand.at();
    for (const key of ['r', 'Control+p', '?']) {
      await hand.press(key);
      const focused = await page.evaluate(async () => {
        document.querySelector('dialog[open]').close();
        await null; // no frame goes by
        return document.activeElement.tagName;
      });
      assert.equal(focused, 'BODY', `after ${key}`);
    }
  }));

test('Shift and arrows begin a range and move its end', () =>
  on('.trace', async (hand) => {
    await hand.at();
    const middle = hand.view0[0] + size(hand.view0) / 2;
    const step = size(hand.view0) / 100;
    const right = 'Shift+ArrowRight';
    const left = 'Shift+ArrowLeft';
    await hand.press(right, right, right, right);
    const is = (from, to) => (p) => {
      const range = rangeOf(p);
      return range && near(range[0], from, 4) && near(range[1], to, 4);
    };
    await hand.now(is(middle, middle + 4 * step), 'four steps from the middle of the view');
    await hand.press(left);
    await hand.now(is(middle, middle + 3 * step), 'one back');
    await hand.press(left, left, left, left, left);
    await hand.now(is(middle - 2 * step, middle), 'beyond where it began');
    await hand.at({ call: hand.id(1, 21) });
    await hand.page.locator('.details.beside h2').waitFor();
    const { start_ns: start } = await hand.call(1, 21);
    await hand.press(right, right);
    await hand.now(is(start, start + 2 * step), 'from the start of the selected call');
  }));

test('the list beside the time line goes through all tracks and their instants', () =>
  on('JSON', async (hand) => {
    const { page } = hand;
    await hand.at();
    await page.locator('.list-view').focus();
    await hand.press('Tab');
    const list = page.getByRole('grid', { name: 'Visible slices' });
    const shows = (text, what) =>
      until(
        () => page.locator('.call-list').innerText(),
        (t) => text.test(t),
        what,
      );
    await shows(/of \[100\] main[\s\S]*draw/, 'the slices of main');
    await shows(/input\s+10\.250\s+instant/, 'its instant, by time');
    const at = async () => (await list.locator('[aria-selected=true]').innerText()).split('\n')[0];
    await hand.press('Home');
    for (let i = 0; i < 12 && (await at()) !== 'input'; i++) await hand.press('ArrowDown');
    await hand.press('Enter');
    await hand.now((p) => /^instant\./.test(p.mark ?? ''), 'the instant is selected');
    await hand.press('ArrowRight');
    await shows(/of \[200\] raster[\s\S]*raster/, 'the next track');
    await hand.press('Home', 'Enter');
    const raster = hand.facts.tracks.find((t) => t.name === 'raster').first_row;
    await hand.now((p) => p.call?.startsWith(`${raster}.`), 'a slice of it is selected');
    await hand.press('ArrowLeft');
    await shows(/of \[100\] main/, 'back at main');
  }));

test('Tab stops once at the track names; arrows move from name to name', () =>
  on('JSON', async (hand) => {
    const { page } = hand;
    await hand.at();
    assert.equal(await page.locator('.labels button[data-key][tabindex="0"]').count(), 1);
    await page.locator('.overview').evaluate((e) => {
      e.tabIndex = -1;
      e.focus();
    });
    const key = () => page.evaluate(() => document.activeElement.dataset.key ?? '');
    for (let i = 0; i < 6 && !(await key()); i++) await hand.press('Tab');
    const first = await key();
    assert.ok(first, 'Tab comes to the names');
    await hand.press('End');
    const last = await key();
    assert.notEqual(last, first);
    await hand.press('ArrowUp');
    assert.notEqual(await key(), last);
    await hand.press('Home');
    assert.equal(await key(), first);
    await hand.press('ArrowDown', 'Shift+Tab', 'Tab');
    assert.notEqual(await key(), first, 'Tab comes back to where it was');
  }));

test('Tab stops once at the tabs; arrows move from tab to tab', () =>
  on('ftrace', async (hand) => {
    await hand.at();
    await hand.page.getByRole('tab', { name: 'Profile' }).focus();
    await hand.press('ArrowRight');
    await until(() => hand.focused(), 'Flame', 'the next tab');
    await hand.now((p) => p.tab === 'flame', 'it is shown');
    await hand.press('End');
    await until(() => hand.focused(), 'Info', 'the last tab');
    assert.equal(await hand.page.locator('[role=tab][tabindex="0"]').count(), 1);
  }));

test('Tab goes through the page and out of it, and every stop has a name', () =>
  on('JSON', async (hand) => {
    const { page } = hand;
    await hand.at({ method: '1' });
    const seen = new Map();
    for (let i = 0; i < 120; i++) {
      await hand.press('Tab');
      const stop = await page.evaluate(() => {
        const e = document.activeElement;
        if (!e || e === document.body) return null;
        e.dataset.stop ??= String(Math.random());
        const name = e.ariaLabel || e.labels?.[0]?.textContent || e.textContent || e.title || '';
        return { id: e.dataset.stop, name: name.trim(), html: e.outerHTML.slice(0, 120) };
      });
      if (!stop || seen.has(stop.id)) break;
      seen.set(stop.id, stop);
    }
    const stops = [...seen.values()];
    assert.ok(stops.length > 20 && stops.length < 100, `${stops.length} stops`);
    assert.deepEqual(
      stops.filter((s) => s.name === '').map((s) => s.html),
      [],
    );
  }));

test('a screen reader is told what is shown and selected once the view stops moving', () =>
  on('.trace', async (hand) => {
    const summary = hand.page.locator('.summary[aria-live=polite]');
    await hand.at();
    const told = (text, what) =>
      until(
        () => summary.innerText(),
        (t) => text.test(t),
        what,
      );
    await told(/^Shown: \d+\.\d+ to \d+\.\d+ ms\. Range: none\.$/, 'a part');
    await hand.press('0');
    await told(/^Shown: the whole trace, 19\.950 ms/, 'the whole');
    await hand.press('r');
    await hand.page.keyboard.type('5 .. 7 ms');
    await hand.press('Enter');
    await told(/Range: 5\.000 to 7\.000 ms, 2\.000 ms long\.$/, 'the range');
  }));
