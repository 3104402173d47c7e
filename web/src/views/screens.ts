// SPDX-License-Identifier: Apache-2.0
// What covers the page: before there is a file, while it is read, when it could not be, when the
// program has ended.

import { fill, h, icon, setText } from '../base/dom';
import { fileName, formatBig, formatBytes, formatCount } from '../base/format';
import type { KnownFile, Status } from '../model/opening';
import { remedyFor } from './files/remedy';
import { SketchView } from './timeline/sketchView';

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

export function button(text: string, className: string, act: () => void): HTMLButtonElement {
  return h(
    'button',
    { class: `button ${className}`.trim(), attrs: { type: 'button' }, on: { click: act } },
    text,
  );
}

export interface EmptyActions {
  choose: () => void;
  open: (file: KnownFile) => void;
  quit: () => void;
}

/** Nothing is open: the whole page takes files. */
export class EmptyScreen extends Screen {
  /** `said`: why that is so, where somebody asked for something else. */
  constructor(files: readonly KnownFile[], said: string, tools: HTMLElement, act: EmptyActions) {
    super('traceview', tools);
    this.element.classList.add('invites');
    fill(
      this.main,
      said !== '' && h('p', { class: 'said', attrs: { role: 'status' } }, said),
      h(
        'div',
        { class: 'invitation' },
        icon('open'),
        h('h1', null, 'Drop traces here'),
        h(
          'p',
          null,
          'One file, or several that belong together: Android method traces, Trace Event JSON, ftrace and ' +
            'systrace, collapsed stacks; packed ones as well. Nothing leaves this machine.',
        ),
        h(
          'div',
          { class: 'actions' },
          button('Open files…', 'primary', act.choose),
          button('Quit', '', act.quit),
        ),
        h('p', { class: 'second' }, h('kbd', null, 'Ctrl+O'), ' opens files too. In a terminal: '),
        h('p', { class: 'mono' }, 'traceview app.trace'),
      ),
      files.length > 0 &&
        h(
          'section',
          { class: 'known' },
          h('h2', null, 'Open again'),
          ...files.map((file) =>
            h(
              'button',
              { class: 'link', attrs: { type: 'button' }, on: { click: () => act.open(file) } },
              fileName(file.name),
            ),
          ),
        ),
    );
  }
}

/** A line, the figures, and Cancel at a fixed place: nothing moves while data come in. */
export class LoadingScreen extends Screen {
  private readonly bar = h('i', null);
  private readonly progress = h(
    'div',
    { class: 'progress', attrs: { role: 'progressbar', 'aria-label': 'Reading the file' } },
    this.bar,
  );
  private readonly bytes = h('b', null, '\u00a0');
  private readonly total = h('span', null, '\u00a0');
  private readonly records = h('b', null, '\u00a0');
  private readonly rate = h('b', null, '\u00a0');
  private readonly heading = h('h1', null, 'Reading');
  private readonly behind = h('p', { class: 'second' });
  private readonly sketch = new SketchView();
  /** Of the last few seconds: the rate is that of now. */
  private recent: { at: number; records: number }[] = [];

  constructor(name: string, tools: HTMLElement, cancel: () => void) {
    super(name, tools);
    this.header.append(this.progress);
    fill(
      this.main,
      this.heading,
      h(
        'div',
        { class: 'figures' },
        h('div', null, this.bytes, this.total),
        h('div', null, this.records, 'events'),
        h('div', null, this.rate, 'events a second'),
      ),
      h('div', { class: 'actions' }, button('Cancel', '', cancel), this.behind),
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
    const percent = Math.floor(share * 100);
    const doing = status.unpacking ? 'Unpacking' : 'Reading';
    this.bar.style.width = `${(share * 100).toFixed(1)}%`;
    this.progress.setAttribute('aria-valuenow', String(percent));
    setText(this.heading, status.total_bytes > 0 ? `${doing}, ${percent} %` : doing);
    setText(this.behind, status.behind ? 'leads back to what was open' : '');
    setText(this.bytes, formatBytes(status.bytes));
    setText(this.total, status.total_bytes > 0 ? `of ${formatBytes(status.total_bytes)}` : 'read');
    setText(this.records, formatBig(status.records));
    if (status.sketch) this.sketch.show(status.sketch);
    if (seconds > 0.2)
      setText(this.rate, formatBig(Math.round((status.records - first.records) / seconds)));
  }
}

/** The files as the words of a command, in quotes where a shell would take them apart. */
function wordsOf({ inputs, name }: Status): string {
  const names = inputs.length > 0 ? inputs.map((input) => input.name) : [name];
  return names
    .map((n) => (/^[\w./+-]+$/.test(n) ? n : `'${n.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

export interface ErrorActions {
  choose: () => void;
  /** To what was open before, or to the empty page. */
  back: () => void;
  quit: () => void;
}

export class ErrorScreen extends Screen {
  constructor(status: Status, tools: HTMLElement, act: ErrorActions) {
    super(status.name, tools);
    const message = status.error?.message ?? 'The file could not be read.';
    const offset = status.error?.offset;
    const name = fileName(status.name);
    fill(
      this.main,
      h('h1', null, icon('error'), `${name} could not be opened`),
      h('p', { attrs: { role: 'alert' } }, message),
      offset !== undefined &&
        h('div', { class: 'bytes' }, `byte ${formatCount(offset)} (0x${offset.toString(16)})`),
      h('p', null, remedyFor(status.error?.kind, message)),
      h(
        'div',
        { class: 'actions' },
        button('Open other files…', 'primary', act.choose),
        button(status.behind ? 'Back to what was open' : 'Back', '', act.back),
        button(
          'Copy report',
          '',
          () => void navigator.clipboard.writeText(`${status.name}: ${message}`),
        ),
        button('Quit', '', act.quit),
      ),
      h(
        'p',
        null,
        'The same message in a terminal: ',
        h('span', { class: 'mono' }, `traceview info ${wordsOf(status)}`),
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
