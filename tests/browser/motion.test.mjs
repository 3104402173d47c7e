// SPDX-License-Identifier: Apache-2.0
// Moves are animated, can be interrupted, never queue, and are no animation for who wants none.  A
// note hangs on the time line: where it stands tells each frame's visible range.
import { strict as assert } from 'node:assert';
import { until } from './browser.mjs';
import { Hand } from './hand.mjs';
import { test } from './suite.mjs';

async function on(options, work) {
  await Hand.holds('.trace', options, async (hand) => {
    await hand.at({ note: '10000000-10200000' });
    await hand.page.locator('.note-lane .note').waitFor();
    await work(hand);
  });
}

/** Where the note is in each frame, from rest through the keys until nothing moves again. */
function watch(page, keys) {
  return page.evaluate(async (asked) => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const left = () => parseFloat(document.querySelector('.note-lane .note').style.left);
    const press = (code) =>
      window.dispatchEvent(
        new KeyboardEvent('keydown', { code, key: code.at(-1).toLowerCase(), bubbles: true }),
      );
    // What led here may still be on its way.
    for (let still = 0, last = NaN; still < 12; last = left()) {
      await frame();
      still = left() === last ? still + 1 : 0;
    }
    const seen = [left()];
    const due = [...asked];
    for (let still = 0; still < 12;) {
      // The next key comes when the move before it has begun, and has not ended.
      if (due.length === asked.length || (due.length > 0 && seen.at(-1) !== seen[0]))
        press(due.shift());
      await frame();
      still = due.length === 0 && left() === seen.at(-1) ? still + 1 : 0;
      seen.push(left());
    }
    return seen;
  }, keys);
}

const different = (list) => new Set(list.map((x) => Math.round(x * 10))).size;

/** A busy machine may miss every frame of a move: then it is done again. */
async function often(work) {
  for (let i = 0; ; i++)
    try {
      return await work();
    } catch (error) {
      if (i === 9) throw error;
    }
}

test('an animated move passes through the views between', () =>
  on({ reducedMotion: 'no-preference' }, (hand) =>
    often(async () => {
      await hand.at({ note: '10000000-10200000' });
      const seen = await watch(hand.page, ['KeyD']);
      assert.ok(different(seen) > 3, `frames on the way: ${seen}`);
      // Never back, never beyond.
      const order = [...seen].sort((a, b) => b - a);
      assert.deepEqual(seen, order);
    }),
  ));

test('an interrupted move continues from its current view, and no move waits for another', () =>
  on({ reducedMotion: 'no-preference' }, (hand) =>
    often(async () => {
      await hand.at({ note: '10000000-10200000' });
      const alone = await watch(hand.page, ['KeyD']);
      await hand.at({ note: '10000000-10200000' });
      const seen = await watch(hand.page, ['KeyD', 'KeyA']);
      const [far, farthest] = [alone.at(-1), Math.min(...seen)];
      assert.ok(Math.abs(seen.at(-1) - seen[0]) < 0.5, `there and back: ${seen}`);
      assert.ok(farthest > far + 1, `turned round at ${farthest}, before ${far}`);
      const turn = seen.indexOf(farthest);
      const jump = Math.max(...seen.slice(turn).map((x, i, all) => (i ? x - all[i - 1] : 0)));
      assert.ok(jump < seen[0] - far, 'it does not jump back');
    }),
  ));

test('many keys in a row make one move to where all of them lead', () =>
  on({ reducedMotion: 'no-preference' }, async (hand) => {
    const [from] = hand.view0;
    const length = hand.view0[1] - from;
    await hand.page.evaluate(() => {
      for (let i = 0; i < 8; i++)
        window.dispatchEvent(new KeyboardEvent('keydown', { code: 'KeyD', key: 'd' }));
    });
    await hand.sees((v) => v && Math.abs(v[0] - from - 8 * 0.15 * length) < 10, 'eight steps');
  }));

test('a drag takes over from a move and follows the pointer', () =>
  on({ reducedMotion: 'no-preference' }, async (hand) => {
    const { page } = hand;
    const { x, y } = await hand.empty(0.5);
    await page.mouse.move(x, y);
    await hand.press('w');
    await page.mouse.down({ button: 'right' });
    await page.mouse.move(x + 40, y);
    const left = () =>
      page.evaluate(() => parseFloat(document.querySelector('.note-lane .note').style.left));
    const before = await left();
    await page.mouse.move(x + 60, y);
    await until(left, (now) => Math.abs(now - before - 20) < 1, 'twenty pixels, in one frame');
    await page.mouse.up({ button: 'right' });
  }));

test('with reduced motion every move is one step', () =>
  on({ reducedMotion: 'reduce' }, async (hand) => {
    for (const keys of [['KeyD'], ['KeyW'], ['Digit0']]) {
      await hand.at({ note: '10000000-10200000' });
      const seen = await watch(hand.page, keys);
      assert.equal(different(seen), 2, `${keys}: ${seen}`);
    }
    const durations = await hand.page.evaluate(() =>
      ['--d-fast', '--d-zoom', '--d-panel'].map((name) =>
        getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
      ),
    );
    for (const duration of durations) assert.match(duration, /^0m?s$/);
  }));

test('without reduced motion the style sheet has its durations', () =>
  on({ reducedMotion: 'no-preference' }, async (hand) => {
    const zoom = await hand.page.evaluate(() =>
      getComputedStyle(document.documentElement).getPropertyValue('--d-zoom').trim(),
    );
    assert.match(zoom, /^(160ms|\.16s|0\.16s)$/);
  }));
