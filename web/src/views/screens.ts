// SPDX-License-Identifier: Apache-2.0
// What covers the page: while the file is read, when it could not be, when the program has ended.

import { fill, h, icon, setText } from '../base/dom';
import { fileName, formatBig, formatBytes, formatCount } from '../base/format';
import type { Status } from '../model/engine';
import { SketchView } from './sketchView';

/** Milliseconds over which the rate of reading is taken. */
const WINDOW = 2000;

export class Screen {
  readonly element: HTMLElement;
  protected readonly file = h('span', { class: 'file' });
  protected readonly main = h('main', null);
  protected readonly header: HTMLElement;

  constructor(name: string, tools: HTMLElement | null) {
    setText(this.file, fileName(name));
    this.header = h('header', { class: 'top' }, this.file, h('span', { class: 'grow' }), tools);
    this.element = h('div', { class: 'screen' }, this.header, this.main);
  }
}

function button(text: string, className: string, act: () => void): HTMLButtonElement {
  return h(
    'button',
    { class: `button ${className}`.trim(), attrs: { type: 'button' }, on: { click: act } },
    text,
  );
}

/** A line, the figures, and Cancel at a fixed place: nothing moves while data come in. */
export class LoadingScreen extends Screen {
  private readonly bar = h('i', null);
  private readonly bytes = h('b', null, ' ');
  private readonly total = h('span', null, ' ');
  private readonly records = h('b', null, ' ');
  private readonly rate = h('b', null, ' ');
  private readonly heading = h('h1', null, 'Reading');
  private readonly sketch = new SketchView();
  /** Of the last few seconds: the rate is that of now. */
  private recent: { at: number; records: number }[] = [];

  constructor(name: string, tools: HTMLElement, cancel: () => void) {
    super(name, tools);
    this.header.append(
      h(
        'div',
        { class: 'progress', attrs: { role: 'progressbar', 'aria-label': 'Reading the file' } },
        this.bar,
      ),
    );
    fill(
      this.main,
      this.heading,
      h(
        'div',
        { class: 'figures' },
        h('div', null, this.bytes, this.total),
        h('div', null, this.records, 'records'),
        h('div', null, this.rate, 'records a second'),
      ),
      h('div', { class: 'actions' }, button('Cancel', '', cancel)),
      this.sketch.element,
    );
  }

  show(status: Status, now: number): void {
    setText(this.file, fileName(status.name));
    this.recent = this.recent.filter((past) => past.at > now - WINDOW);
    this.recent.push({ at: now, records: status.records });
    const first = this.recent[0] ?? { at: now, records: 0 };
    const seconds = (now - first.at) / 1000;
    const share = status.total_bytes > 0 ? Math.min(1, status.bytes / status.total_bytes) : 0;
    this.bar.style.width = `${(share * 100).toFixed(1)}%`;
    setText(
      this.heading,
      status.total_bytes > 0 ? `Reading, ${Math.floor(share * 100)} %` : 'Reading',
    );
    setText(this.bytes, formatBytes(status.bytes));
    setText(this.total, status.total_bytes > 0 ? `of ${formatBytes(status.total_bytes)}` : 'read');
    setText(this.records, formatBig(status.records));
    if (status.sketch) this.sketch.show(status.sketch);
    if (seconds > 0.2)
      setText(this.rate, formatBig(Math.round((status.records - first.records) / seconds)));
  }
}

export class ErrorScreen extends Screen {
  constructor(status: Status, tools: HTMLElement, quit: () => void) {
    super(status.name, tools);
    const message = status.error?.message ?? 'The file could not be read.';
    const offset = status.error?.offset;
    fill(
      this.main,
      h('h1', null, icon('error'), `${fileName(status.name)} could not be opened`),
      h('p', { attrs: { role: 'alert' } }, message),
      offset !== undefined &&
        h('div', { class: 'bytes' }, `byte ${formatCount(offset)} (0x${offset.toString(16)})`),
      h(
        'div',
        { class: 'actions' },
        button('Quit', 'primary', quit),
        button(
          'Copy report',
          '',
          () => void navigator.clipboard.writeText(`${status.name}: ${message}`),
        ),
      ),
      h(
        'p',
        null,
        'The same message in a terminal: ',
        h('span', { class: 'mono' }, `traceview info ${status.name}`),
      ),
    );
  }
}

/** The program has ended: by the page's button, by Ctrl+C, or with its terminal. */
export class EndedScreen extends Screen {
  constructor(name: string, byHand: boolean) {
    super(name, null);
    fill(
      this.main,
      h('h1', null, byHand ? 'traceview has ended' : 'traceview does not answer any more'),
      h(
        'p',
        null,
        byHand
          ? 'This tab can be closed.'
          : 'The program that shows this trace has ended. Start it again to go on: it prints a new address.',
      ),
      h('p', { class: 'mono' }, `traceview ${name}`),
    );
  }
}
