// SPDX-License-Identifier: Apache-2.0
// Everything the file says about itself, and everything the reader has to say about the file.

import { fill, h } from '../base/dom';
import { formatCount, formatShort, plural, versionWords } from '../base/format';
import type { Diagnostic, TraceFacts } from '../model/engine';
import { sampledWords } from './topBar';

type Pair = [string, string];

function table(pairs: readonly Pair[]): HTMLElement {
  return h(
    'table',
    null,
    h(
      'tbody',
      null,
      ...pairs.map(([what, value]) => h('tr', null, h('th', null, what), h('td', null, value))),
    ),
  );
}

function facts(f: TraceFacts, called: number): Pair[] {
  const busy = f.tracks.filter((track) => track.kind === 'thread').length;
  const all = plural(busy + f.idle_threads.length, 'thread');
  const threads = `${all}, ${formatCount(busy)} with calls`;
  const pairs: Pair[] = [
    ['Format', [f.format, versionWords(f.version)].filter((words) => words).join(', ')],
    ['Clocks', f.clocks.map((c) => (c === 'cpu' ? 'CPU of each thread' : 'real')).join(', ')],
    [
      'Time axis',
      f.axis === 'real'
        ? 'real'
        : "each thread's own CPU clock: threads cannot be compared in time",
    ],
    ['Length', formatShort(f.end_ns - f.start_ns)],
    ['Records', formatCount(f.records)],
    ['Calls', `${plural(f.calls, 'call')}, at most ${plural(f.max_depth, 'level')} deep`],
    ['Methods', `${formatCount(called)} called, ${formatCount(f.frames)} in the file`],
    ['Threads', threads],
  ];
  if (f.recorded) pairs.push(['Recorded', f.recorded.replace('T', ' ').replace('Z', ' UTC')]);
  const sampled = sampledWords(f);
  if (sampled) pairs.push(['Recording', sampled]);
  for (const p of f.processes) pairs.push(['Process', `${p.id}${p.name ? ` ${p.name}` : ''}`]);
  f.files.forEach((file) => pairs.push(['File', file]));
  return pairs;
}

function diagnostic(d: Diagnostic): HTMLElement {
  const shown = d.offsets.slice(0, 12).map(formatCount).join(', ');
  const where =
    d.offsets.length === 0
      ? ''
      : `${d.offsets.length === 1 ? 'at byte' : 'at bytes'} ${shown}` +
        (d.count > Math.min(12, d.offsets.length) ? ', …' : '');
  return h(
    'div',
    { class: `diagnostic ${d.severity}` },
    h('b', null, `${d.severity === 'warning' ? 'Warning' : 'Note'}: ${formatCount(d.count)} × `),
    d.text,
    ' ',
    h('span', { class: 'second' }, where),
  );
}

function health(f: TraceFacts): HTMLElement[] {
  const parts = f.diagnostics.map(diagnostic);
  if (f.overflow) {
    parts.unshift(
      h(
        'div',
        { class: 'diagnostic warning' },
        h('b', null, 'Warning: '),
        'the recording buffer was full; calls after that are missing',
      ),
    );
  }
  return parts.length > 0
    ? parts
    : [h('p', null, 'The file was read without anything to repair or to skip.')];
}

export function infoView(element: HTMLElement, f: TraceFacts, called: number): void {
  const idle = f.idle_threads.map((t): Pair => [String(t.thread_id), t.name]);
  fill(
    element,
    h(
      'div',
      { class: 'info' },
      h(
        'section',
        null,
        h('h2', null, 'Trace'),
        table(facts(f, called)),
        h(
          'p',
          null,
          'Tracing slows the program, small methods most of all: absolute times are too long. ' +
            'Compare methods with each other, or two recordings made in the same way.',
        ),
        f.sampled &&
          h(
            'p',
            null,
            'The recording seems to be sampled: calls shorter than the interval may be missing, and ' +
              'times are multiples of it.',
          ),
      ),
      h(
        'section',
        null,
        h('h2', null, 'Properties'),
        f.metadata.length > 0 ? table(f.metadata) : h('p', null, 'The file has none.'),
        idle.length > 0 && h('h2', null, 'Threads without calls'),
        idle.length > 0 && table(idle),
      ),
      h('section', { id: 'health', tabIndex: -1 }, h('h2', null, 'Health'), ...health(f)),
    ),
  );
}
