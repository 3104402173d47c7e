// SPDX-License-Identifier: Apache-2.0
// The Info tab: everything that the file says about itself.

import { fill, h } from '../../base/dom';
import {
  fixedUnit,
  formatCount,
  formatTimeUnit,
  plural,
  versionWords,
  type Unit,
} from '../../base/format';
import { effect } from '../../base/signal';
import type { TraceFacts } from '../../model/traceFacts';
import { ownerId } from '../../model/names';
import type { Sheet } from '../../model/sheet';
import { activeThreads, allThreads } from '../../model/states';
import { inTermsOf, countSlices, WEIGHT_AXIS, wordsFor } from '../../model/words';
import type { Views } from '../context';
import type { Exported } from './exportMenu';
import { filesPart } from './filesPart';
import { sampledWords } from '../topBar';
import { foldedText, valueTree } from '../details/valueTree';

type Pair = [string, string];

/** The maximum number of lines in a table: a trace may have any number of processes. */
const MOST = 200;

function infoTable<T>(
  all: readonly T[],
  pairOf: (one: T) => [string, string | HTMLElement],
): HTMLElement {
  const left = all.length - MOST;
  const more: [string, string][] =
    left > 0 ? [['', `and ${formatCount(left)} more; exported tables have all of them`]] : [];
  return h(
    'table',
    null,
    h(
      'tbody',
      null,
      ...[...all.slice(0, MOST).map(pairOf), ...more].map(([what, value]) =>
        h('tr', null, h('th', null, what), h('td', null, value)),
      ),
    ),
  );
}

function inCapital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** Return the clock of the time axis, if the file has times. */
function axisPairs(f: TraceFacts, unit: Unit): Pair[] {
  const length = formatTimeUnit(f.end_ns - f.start_ns, unit);
  if (f.axis === 'weight') return [['Axis', `${WEIGHT_AXIS}: ${length} long`]];
  const own = "each thread's own CPU clock: threads cannot be compared in time";
  return [
    ['Clocks', f.clocks.map((c) => (c === 'cpu' ? 'CPU of each thread' : 'real')).join(', ')],
    ['Time axis', f.axis === 'real' ? 'real' : own],
    ['Length', length],
  ];
}

/** Return the facts as pairs of words, which are exported as well. */
function infoFacts(f: TraceFacts, called: number, unit: Unit): Pair[] {
  const busy = activeThreads(f.tracks);
  const all = plural(allThreads(f), 'thread');
  const words = wordsFor(f);
  const threads = `${all}, ${formatCount(busy)} with ${words.slices}`;
  const pairs: Pair[] = [
    ['Format', [f.format, versionWords(f.version)].filter((words) => words).join(', ')],
    ...axisPairs(f, unit),
    [words.events ? 'Events' : 'Records', formatCount(f.records)],
    [
      inCapital(words.slices),
      `${countSlices(words, f.calls)}, at most ${plural(f.max_depth, 'level')} deep`,
    ],
    words.events
      ? ['Names', formatCount(f.frames)]
      : ['Methods', `${formatCount(called)} called, ${formatCount(f.frames)} in the file`],
    ['Threads', threads],
  ];
  if (f.recorded) pairs.push(['Recorded', f.recorded.replace('T', ' ').replace('Z', ' UTC')]);
  const sampled = sampledWords(f, unit);
  if (sampled) pairs.push(['Recording', sampled]);
  pairs.push(...f.facts.map(([what, count]): Pair => [what, formatCount(count)]));
  for (const p of f.processes)
    pairs.push([
      'Process',
      `${ownerId(p)}${p.name ? ` ${p.name}` : ''}${p.labels ? ` (${p.labels})` : ''}`,
    ]);
  f.files.forEach((file) => pairs.push(['File', file]));
  return pairs;
}

/** Return the words for the axis of a file with stacks and no times. */
function weightAxisWords(f: TraceFacts): string {
  const types = (f.value_types ?? []).map(({ name, unit }) => (unit ? `${name} (${unit})` : name));
  const several = types.length > 1 ? ` Each value type has its own: ${types.join(', ')}.` : '';
  return (
    `This axis is ${WEIGHT_AXIS}: the file has stacks with weights and no times. They are drawn one ` +
    'after another, each as wide as its weight; the position is not a time.' +
    several
  );
}

/** Parse a value that is a JSON object or list; null for others. */
function parseNestedValue(value: string): object | null {
  if (!/^\s*[{[]/.test(value)) return null;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' ? parsed : null;
  } catch {
    return null;
  }
}

function propertyValue(value: string): HTMLElement | string {
  const tree = parseNestedValue(value);
  if (tree) return valueTree(tree);
  return foldedText(value);
}

/** Show the facts of the trace, and what its times cannot be used for. */
function showInfo(
  element: HTMLElement,
  files: HTMLElement,
  f: TraceFacts,
  called: number,
  unit: Unit,
): void {
  const idle = f.idle_threads.map((t): Pair => [ownerId(t), t.name]);
  fill(
    element,
    h(
      'div',
      { class: 'info' },
      h(
        'section',
        null,
        h('h2', null, 'Trace'),
        infoTable(infoFacts(f, called, unit), (pair) => pair),
        f.axis === 'weight' && h('p', null, weightAxisWords(f)),
        !wordsFor(f).events &&
          f.axis !== 'weight' &&
          h(
            'p',
            null,
            'Tracing slows the program, short methods most of all: absolute times are too long. ' +
              'Compare methods with each other, or two recordings made in the same way.',
          ),
        f.sampled &&
          h(
            'p',
            null,
            inTermsOf(
              wordsFor(f),
              `The recording ${f.sampled.inferred === false ? 'was' : 'seems to be'} sampled: calls ` +
                'shorter than the interval may be missing, times are multiples of it, and nothing ' +
                'counted calls.',
            ),
          ),
      ),
      h(
        'section',
        null,
        files,
        h('h2', null, 'Properties'),
        f.metadata.length > 0
          ? infoTable(f.metadata, ([key, value]) => [key, propertyValue(value)])
          : h('p', null, 'The file has none.'),
        idle.length > 0 && h('h2', null, `Threads without ${wordsFor(f).slices}`),
        idle.length > 0 && infoTable(idle, (pair) => pair),
      ),
    ),
  );
}

/** Return the content of the tab as a sheet for other programs. */
function infoSheet(f: TraceFacts, called: number, unit: Unit): Sheet {
  const lines = [
    ...infoFacts(f, called, unit).map(([what, value]) => ['Trace', what, value]),
    ...f.metadata.map(([key, value]) => ['Properties', key, value]),
    ...f.idle_threads.map((t) => ['Threads without events', ownerId(t), t.name]),
  ];
  const line = (at: number): string[] => lines[at] ?? [];
  return {
    heads: ['Part', 'What', 'Value'].map((text) => ({ text, number: false })),
    keys: ['part', 'what', 'value'],
    count: lines.length,
    shown: line,
    exact: line,
  };
}

/** The view of trace facts. */
export class InfoView {
  readonly element = h('div', {
    class: 'info-pane scroller',
    tabIndex: 0,
    attrs: { role: 'region', 'aria-label': 'Metadata of the file' },
  });
  readonly findable = null;

  constructor(private readonly v: Views) {
    const { viewer } = v;
    const files = filesPart(v.files);
    effect(() =>
      showInfo(this.element, files, viewer.facts, viewer.frames.called, viewer.unit.get()),
    );
  }

  exported(): Exported {
    const { viewer } = this.v;
    const sheet = (): Sheet =>
      infoSheet(viewer.facts, viewer.frames.called, fixedUnit(viewer.unit.peek()));
    return { name: 'info', sheet };
  }

  copyText(): string | null {
    return null;
  }
}
