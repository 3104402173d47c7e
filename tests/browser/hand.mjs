// SPDX-License-Identifier: Apache-2.0
// A hand on the page over one of the three formats: goes to a place, finds calls on the screen,
// moves the mouse, and waits for what the address says in the end.
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boxOf, place, ready, rested, until, withPage } from './browser.mjs';
import { view } from './program.mjs';
import { FORMATS } from './three-formats.mjs';

const ORDER = ['view', 'range', 'method', 'call', 'tab', 'flame', 'open', 'note'];

export class Hand {
  /** A hand for some work, which ends however that goes. */
  static async holds(format, options, work) {
    const hand = new Hand();
    const [name, make] = FORMATS[format];
    const folder = mkdtempSync(join(tmpdir(), 'hand-'));
    writeFileSync(join(folder, name), make());
    hand.viewer = await view(join(folder, name));
    const usual = { reducedMotion: 'reduce', permissions: ['clipboard-read', 'clipboard-write'] };
    try {
      await withPage(hand.viewer.address, { ...usual, ...options }, async (opened) => {
        hand.opened = opened;
        hand.page = opened.page;
        await ready(hand.page);
        hand.facts = await hand.ask('api/trace');
        hand.main = hand.facts.tracks.find((t) => t.kind === 'thread' && t.name === 'main');
        await work(hand);
        assert.deepEqual(opened.troubles, []);
      });
    } finally {
      await hand.viewer.stop();
      rmSync(folder, { recursive: true });
    }
  }

  async ask(question) {
    return (await fetch(this.viewer.address + question)).json();
  }

  /** The call of that depth and number on the thread main, as the engine tells it. */
  call(depth, number) {
    return this.ask(`api/slice?row=${this.main.first_row + depth}&index=${number}`);
  }

  /** As the address writes it. */
  id(depth, number) {
    return `${this.main.first_row + depth}.${number}`;
  }

  /** Nothing is selected but what `words` say; the keyboard is nowhere, nor is the mouse. */
  async at(words = {}, view = null) {
    const open = this.facts.tracks.filter((t) => t.kind === 'thread').map((t) => t.track);
    this.view0 = view ?? (await this.middle());
    const all = { ...words, view: this.view0.map(Math.round).join('-'), open: open.join(',') };
    // As the page itself writes it, so that this is one entry of the history.
    const hash = ORDER.filter((name) => all[name] !== undefined).map(
      (name) => `${name}=${all[name]}`,
    );
    await this.page.mouse.move(3, 3);
    // A move that is not written yet would hide that the address is another one.
    if ((await this.page.evaluate(() => location.hash)) === `#${hash.join('&')}`)
      await rested(this.page);
    await this.page.evaluate((text) => {
      document.activeElement?.blur();
      location.hash = text;
    }, hash.join('&'));
    await this.now((p) => p.view === all.view && p.call === words.call, 'the place to begin at');
    await this.drawn();
  }

  /** Three milliseconds around the tenth frame. */
  async middle() {
    this.tenth ??= await this.call(0, 10);
    const { start_ns: start } = this.tenth;
    return [start - 1e6, start + 2e6];
  }

  /** What stands in the address, once it is so. */
  now(expected, what) {
    return until(() => place(this.page), expected, what);
  }

  /** The visible range, once it is so; null is the whole trace. */
  async sees(expected, what) {
    const read = async () => {
      const { view } = await place(this.page);
      return view
        ? view
            .match(/^(-?\d+)-(-?\d+)$/)
            .slice(1)
            .map(Number)
        : null;
    };
    return until(read, expected, what);
  }

  async fullSize() {
    const { width, height } = this.page.viewportSize();
    if (width !== 1600 || height !== 1000)
      await this.page.setViewportSize({ width: 1600, height: 1000 });
  }

  async drawn() {
    await this.page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
  }

  async box(selector) {
    return boxOf(this.page.locator(selector));
  }

  /** Where a time of the place that was gone to is, on the tracks or the ruler. */
  async x(time) {
    const box = await this.box('.list-view');
    const [from, to] = this.view0;
    return box.x + ((time - from) / (to - from)) * box.width;
  }

  /** The middle of a call on the screen. */
  async spot(depth, number) {
    const call = await this.call(depth, number);
    const name = this.page.locator('.pick .name', { hasText: /^main$/ });
    const label = await boxOf(this.page.locator('.label', { has: name }).first());
    const x = await this.x(call.start_ns + call.length_ns / 2);
    return { x, y: label.y + 3 + depth * 18 + 9, call };
  }

  /** A place of the tracks where nothing is drawn: between two frames, a share across. */
  async empty(share) {
    const box = await this.box('.list-view');
    return { x: box.x + box.width * share, y: box.y + box.height - 12 };
  }

  async drag(from, to, button = 'left') {
    const { mouse } = this.page;
    await mouse.move(from.x, from.y);
    await mouse.down({ button });
    await mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2);
    await mouse.move(to.x, to.y);
    await mouse.up({ button });
  }

  press(...keys) {
    return keys.reduce(
      (before, key) => before.then(() => this.page.keyboard.press(key)),
      Promise.resolve(),
    );
  }

  async holding(key, work) {
    await this.page.keyboard.down(key);
    await work();
    await this.page.keyboard.up(key);
  }

  /** A key of another layout: the place on the keyboard with another letter. */
  async foreign(code, letter) {
    this.cdp ??= await this.page.context().newCDPSession(this.page);
    for (const type of ['keyDown', 'keyUp'])
      await this.cdp.send('Input.dispatchKeyEvent', { type, code, key: letter });
  }

  focused() {
    return this.page.evaluate(() => {
      const e = document.activeElement;
      return e.getAttribute('aria-label') ?? e.textContent;
    });
  }
}

/** Of a range of time. */
export const size = ([from, to]) => to - from;
export const near = (a, b, far) => Math.abs(a - b) <= far;
