// SPDX-License-Identifier: Apache-2.0
// The tooltip. It appears after a delay next to the pointer, flips at the edges of the window, and
// never covers its subject.

import { fill, h } from '../base/dom';
import { shortened } from '../base/visible';
import type { Frames } from '../model/names';
import type { Settings } from './settings';
import { swatch } from './swatch';

const REST = 300;
const MOST_LINES = 16;

/** The tooltip. */
export class Tip {
  readonly element = h('div', { class: 'tip', attrs: { role: 'tooltip' }, hidden: true });
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly frames: Frames,
    private readonly settings: Settings,
  ) {}

  show(x: number, y: number, frame: number, text: string, colour = 0): void {
    this.rest(x, y, () => [
      h(
        'div',
        { class: 'title' },
        swatch(this.frames, frame, this.settings.theme.peek(), colour),
        shortened(this.frames.short(frame)),
      ),
      h('div', { class: 'line' }, text),
    ]);
  }

  /** Show a title, and lines of colour, name and value. */
  values(x: number, y: number, title: string, lines: readonly [string, string, string][]): void {
    this.rest(x, y, () => [
      h('div', { class: 'title' }, shortened(title)),
      ...lines.slice(0, MOST_LINES).map(([colour, name, value]) =>
        h(
          'div',
          { class: 'title line' },
          h('i', {
            class: 'swatch',
            style: { 'background-color': colour },
            attrs: { 'aria-hidden': 'true' },
          }),
          `${shortened(name)} `,
          h('b', null, value),
        ),
      ),
      ...(lines.length > MOST_LINES
        ? [h('div', { class: 'line' }, `${lines.length - MOST_LINES} more`)]
        : []),
    ]);
  }

  /** Show a title, and lines of text. */
  lines(x: number, y: number, title: string, lines: readonly string[]): void {
    this.rest(x, y, () => [
      h('div', { class: 'title' }, shortened(title)),
      ...lines.map((line) => h('div', { class: 'line' }, line)),
    ]);
  }

  private rest(x: number, y: number, content: () => HTMLElement[]): void {
    clearTimeout(this.timer);
    this.element.hidden = true;
    this.timer = setTimeout(() => {
      fill(this.element, ...content());
      this.element.hidden = false;
      const { width, height } = this.element.getBoundingClientRect();
      const left = x + 12 + width > innerWidth ? x - 12 - width : x + 12;
      const top = y + 14 + height > innerHeight ? y - 14 - height : y + 14;
      this.element.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
    }, REST);
  }

  hide(): void {
    clearTimeout(this.timer);
    this.element.hidden = true;
  }
}
