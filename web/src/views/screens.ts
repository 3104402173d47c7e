// SPDX-License-Identifier: Apache-2.0
// The screens that cover the page: no file is open, a file could not be opened, the program has
// ended.

import { fill, h, icon, setText } from '../base/dom';
import { fileName, formatCount } from '../base/format';
import type { KnownFile, LoadingStatus } from '../model/opening';
import { remedyFor } from './files/remedy';

/** A screen with a heading. */
export class Screen {
  readonly element: HTMLElement;
  protected readonly file = h('span', { class: 'file' });
  protected readonly main = h('main', { attrs: { tabindex: -1 } });
  protected readonly header: HTMLElement;

  constructor(name: string, tools: HTMLElement | null) {
    setText(this.file, fileName(name));
    this.header = h('header', { class: 'top' }, this.file, h('span', { class: 'grow' }), tools);
    this.element = h('div', { class: 'screen' }, this.header, this.main);
  }

  /** Start keyboard and screen reader here, not where they were on the previous page. */
  begin(): void {
    this.main.focus();
  }
}

export function screenButton(text: string, className: string, act: () => void): HTMLButtonElement {
  return h(
    'button',
    { class: `button ${className}`.trim(), attrs: { type: 'button' }, on: { click: act } },
    text,
  );
}

export interface EmptyActions {
  choose: () => void;
  /** Choose the runs of a new version, to compare them; null if the page cannot compare. */
  compare: (() => void) | null;
  open: (file: KnownFile) => void;
  /** Null if there is no program to end. */
  quit: (() => void) | null;
  /** The address of an example trace, or null. */
  example: string | null;
  /** True if no program serves the page. */
  alone: boolean;
}

const NOWHERE = 'Files are read on this machine and go nowhere else';
/** The introduction for visitors: what the page does, and that all data stay on this machine. */
const ABOUT =
  'traceview shows what a program did and when: its threads, its calls and how long they took, ' +
  'as a time line, a profile and flame graphs.';
const ALONE = `${NOWHERE}: this page reads them itself, sends nothing, and needs no network once it is there.`;

const FORMATS = [
  ['Android method trace', '.trace, every version'],
  ['Trace Event JSON', 'of Chrome, Node, Bazel, clang, PyTorch and others, also cut off'],
  ['Linux ftrace', 'text, trace-cmd report, atrace, systrace pages'],
  ['pprof profile', 'also text of Go and tcmalloc, and CPU profiles of gperftools'],
  ['OpenTelemetry', 'profiles and spans (OTLP), in protobuf and JSON'],
  ['Jaeger, Zipkin', 'spans in JSON'],
  ['Java Flight Recorder', '.jfr'],
  ['Perfetto', 'system traces of Android, Chrome, Flutter'],
  ['V8, speedscope, Firefox Profiler', '.cpuprofile, .heapprofile, profiles in JSON'],
  ['CPU profile of hprof', 'text or binary'],
  ['Callgrind, cachegrind, cProfile, Austin', 'profiles, also of Xdebug'],
  ['Instruments', 'samples that xctrace export writes as XML'],
  ['strace and ninja', 'text with times, .ninja_log'],
  ['Profile of perf', 'text of perf script, perf.data, reports of simpleperf'],
  ['Collapsed stacks', 'of any tool'],
  ['Any of these packed', 'gzip, zlib, zstd, zip, tar'],
] as const;

/** Return the folder of a path, or "" if it has none. */
function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.length - fileName(path).length - 1));
}

function knownFiles(files: readonly KnownFile[], open: (file: KnownFile) => void): HTMLElement {
  return h(
    'section',
    { class: 'known' },
    h('h2', null, 'Open again'),
    ...files.map((file) =>
      h(
        'button',
        {
          class: 'link',
          title: file.name,
          attrs: { type: 'button' },
          on: { click: () => open(file) },
        },
        fileName(file.name),
        folderOf(file.name) && h('span', { class: 'second' }, folderOf(file.name)),
      ),
    ),
  );
}

/** The screen without a trace. The whole page accepts files. */
export class EmptyScreen extends Screen {
  /** `said` explains why no trace is open, if the user asked for one. */
  constructor(files: readonly KnownFile[], said: string, tools: HTMLElement, act: EmptyActions) {
    super('traceview', tools);
    this.element.classList.add('invites');
    fill(
      this.main,
      said !== '' && h('p', { class: 'said', attrs: { role: 'status' } }, said),
      h(
        'div',
        { class: 'invitation' },
        act.alone && h('p', { class: 'about' }, ABOUT),
        h('h1', null, 'Drop traces here'),
        h(
          'div',
          { class: 'actions' },
          'or',
          screenButton('Open files…', 'primary', act.choose),
          h('kbd', null, 'Ctrl+O'),
          act.compare && screenButton('Compare…', '', act.compare),
          act.example !== null &&
            h('a', { class: 'link', attrs: { href: act.example } }, 'Look at an example'),
          h('span', { class: 'grow' }),
          act.quit && screenButton('Quit', '', act.quit),
        ),
        h('p', null, act.alone ? ALONE : `${NOWHERE}.`),
        files.length > 0 && knownFiles(files, act.open),
        h(
          'dl',
          null,
          ...FORMATS.flatMap(([name, words]) => [h('dt', null, name), h('dd', null, words)]),
        ),
        h(
          'p',
          null,
          'Several files share one time line; each of them can be shifted. ',
          act.alone
            ? 'Files that are too large for a page open in a terminal: '
            : 'In a terminal: ',
          h('span', { class: 'mono' }, 'traceview app.trace'),
        ),
      ),
    );
  }
}

/** Return the files as command line arguments, quoted for a shell where necessary. */
function commandWordsOf({ inputs, name }: LoadingStatus): string {
  const names = inputs.length > 0 ? inputs.map((input) => input.name) : [name];
  return names
    .map((n) => (/^[\w./+-]+$/.test(n) ? n : `'${n.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

/** Create the link to the page of a trace on an upload server. */
export function homeLink(home: string, text: string): HTMLElement {
  return h('a', { class: 'button primary', attrs: { href: home } }, text);
}

const LINE = 16;

/** Show the bytes around the byte that an error is about, as a table. */
function errorQuote(offset: number, error: { quoted_at?: number; quote?: string }): HTMLElement {
  const { quoted_at: from = 0, quote = '' } = error;
  const bytes = quote.match(/../g) ?? [];
  const signs = bytes.map((hex) => parseInt(hex, 16)).map((b) => (b > 31 && b < 127 ? b : 0xb7));
  const marked = (text: string, at: number): Node | string =>
    from + at === offset ? h('mark', null, text) : text;
  const lines = Array.from({ length: Math.ceil(bytes.length / LINE) }, (_, i) => {
    const places = bytes.slice(i * LINE, (i + 1) * LINE).map((_byte, x) => i * LINE + x);
    const hex = places.flatMap((at) => [marked(bytes[at] ?? '', at), ' ']);
    return h(
      'div',
      null,
      h('span', { class: 'gutter' }, (from + i * LINE).toString(16).padStart(8, '0')),
      ...hex,
      ' '.repeat(3 * (LINE - places.length) + 1),
      ...places.map((at) => marked(String.fromCharCode(signs[at] ?? 0xb7), at)),
    );
  });
  const title = `byte ${formatCount(offset)} (0x${offset.toString(16)})`;
  return h(
    'div',
    { class: 'bytes' },
    title,
    lines.length > 0 &&
      h('pre', { tabIndex: 0, attrs: { role: 'region', 'aria-label': 'Bytes there' } }, ...lines),
  );
}

export interface ErrorActions {
  choose: () => void;
  /** True if another trace was open. */
  behind: boolean;
  /** Go back to the trace open before, or to the empty screen. */
  back: () => void;
  /** Null if there is no program to end. */
  quit: (() => void) | null;
}

export class ErrorScreen extends Screen {
  constructor(status: LoadingStatus, tools: HTMLElement, act: ErrorActions) {
    super(status.name, tools);
    const message = status.error?.message ?? 'The file could not be read.';
    const offset = status.error?.offset;
    const large = status.error?.kind === 'memory';
    const name = fileName(status.name);
    fill(
      this.main,
      h('h1', null, icon('error'), `${name} could not be opened`),
      h('p', { attrs: { role: 'alert' } }, message),
      offset !== undefined && errorQuote(offset, status.error ?? {}),
      h('p', null, remedyFor(status.error?.kind, message)),
      h(
        'div',
        { class: 'actions' },
        status.home !== undefined && homeLink(status.home, 'About this trace'),
        status.home === undefined && screenButton('Open other files…', 'primary', act.choose),
        status.home === undefined &&
          screenButton(act.behind ? 'Back to what was open' : 'Back', '', act.back),
        screenButton(
          'Copy report',
          '',
          () => void navigator.clipboard.writeText(`${status.name}: ${message}`),
        ),
        status.home === undefined && act.quit && screenButton('Quit', '', act.quit),
      ),
      h(
        'p',
        null,
        large ? 'In a terminal: ' : 'The same message in a terminal: ',
        h('span', { class: 'mono' }, `traceview ${large ? '' : 'info '}${commandWordsOf(status)}`),
      ),
    );
  }
}

/**
 * The screen after the program has ended: by the button of the page, by Ctrl+C, or with its
 * terminal.
 */
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
