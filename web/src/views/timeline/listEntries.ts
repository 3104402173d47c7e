// SPDX-License-Identifier: Apache-2.0
// The entries of the accessible twin of the time line, for each kind of line: calls and instants of
// a track, values of a counter, objects and snapshots of a type, samples, memory dumps.

import { formatValue, plural } from '../../base/format';
import { shortened } from '../../base/visible';
import { numericSeries, valueAt } from '../../model/counters';
import type { Call, CounterFacts } from '../../model/engine';
import type { Track } from '../../model/traceFacts';
import type { Mark } from '../../model/marks';
import type { Row } from '../../model/rows';
import type { Span } from '../../model/span';
import { flagWords, visibleCalls } from '../../model/visibleCalls';
import { wordsFor } from '../../model/words';
import type { Views } from '../context';
import type { TimelineView } from './timelineView';

/**
 * The maximum number of entries of one kind. The list is read from the top to the end; zooming in
 * shows others.
 */
const MOST = 200;

/** One line of the list. */
export interface Entry {
  time: number;
  name: string;
  /** The call depth, or empty. */
  depth: string;
  /** The duration, or null. */
  length: number | null;
  remark: string;
  /** The call or mark that the entry selects; null if the entry cannot be selected. */
  what: { call: Call } | { mark: Mark } | null;
}

/** Say for how many things a mark stands: those of one pixel are merged. */
const many = (count: number, what: string): string => (count > 1 ? plural(count, what) : what);

const within = (time: number, view: Span): boolean => time >= view.from && time <= view.to;

function instantsOf(v: Views, track: Track, view: Span): Entry[] {
  return v.instants.list
    .peek()
    .filter((i) => i.scope === 0 && i.of === track.thread && within(i.time, view))
    .slice(0, MOST)
    .map((i) => ({
      time: i.time,
      name: v.viewer.frames.short(i.frame),
      depth: '',
      length: null,
      remark: many(i.count, 'instant'),
      what: { mark: { kind: 'instant', number: i.instant } },
    }));
}

/** List the visible calls and instants of a track. */
export function trackEntries(v: Views, line: TimelineView, track: Track, view: Span): Entry[] {
  const words = wordsFor(v.viewer.facts);
  const calls = visibleCalls(line.cache, track, line.resolution, view, MOST).map((call): Entry => ({
    time: call.start,
    name: v.viewer.frames.short(call.frame),
    depth: String(call.depth),
    length: call.length,
    remark: flagWords(call.flags, words),
    what: { call },
  }));
  const instants = track.kind === 'thread' ? instantsOf(v, track, view) : [];
  return [...calls, ...instants].sort((a, b) => a.time - b.time);
}

function objectEntries(v: Views, row: number, view: Span): Entry[] {
  const { objects, snapshots } = v.beside.objects.answer.peek();
  const own = objects.filter((o) => o.row === row);
  const ids = new Map(own.map((o) => [o.object, shortened(o.id, 80)]));
  const alive = own
    .filter((o) => o.start <= view.to && o.end >= view.from)
    .slice(0, MOST)
    .map((o): Entry => ({
      time: o.start,
      name: shortened(o.id, 80),
      depth: '',
      length: o.end - o.start,
      remark: many(o.count, 'object'),
      what: { mark: { kind: 'object', number: o.object } },
    }));
  const taken = snapshots
    .filter((s) => s.row === row && within(s.time, view))
    .slice(0, MOST)
    .map((s): Entry => ({
      time: s.time,
      name: ids.get(s.object) ?? '',
      depth: '',
      length: null,
      remark: many(s.count, 'snapshot'),
      what: { mark: { kind: 'snapshot', number: s.snapshot } },
    }));
  return [...alive, ...taken].sort((a, b) => a.time - b.time);
}

/** List the values of all series at each sample. */
function counterEntries(v: Views, counter: CounterFacts, view: Span): Entry[] {
  const values = v.counters.values.peek().get(counter.counter);
  if (!values) return [];
  const told = (at: number): string =>
    numericSeries(counter)
      .flatMap((k) => {
        const value = valueAt(values, k, at);
        return value === null ? [] : [`${counter.series[k] ?? ''} ${formatValue(value)}`.trim()];
      })
      .join(', ');
  return [...values.time.keys()]
    .filter((at) => within(values.time[at] ?? 0, view))
    .slice(0, MOST)
    .map((at) => ({
      time: values.time[at] ?? 0,
      name: told(at),
      depth: '',
      length: null,
      remark: 'value',
      what: {
        mark: {
          ...{ kind: 'counter', number: counter.counter },
          ...{ series: numericSeries(counter)[0] ?? 0, at: values.time[at] ?? 0 },
        },
      },
    }));
}

/** List the entries of a row, or return null if rows of that kind have none. */
export function rowEntries(v: Views, row: Row, view: Span): Entry[] | null {
  switch (row.kind) {
    case 'counter':
      return counterEntries(v, row.counter, view);
    case 'objects':
      return objectEntries(v, row.type.row, view);
    case 'samples':
      return v.beside.samples.answer
        .peek()
        .list.filter((s) => s.thread === row.thread && within(s.time, view))
        .slice(0, MOST)
        .map((s) => ({
          time: s.time,
          name: s.frame < 0 ? 'without a stack' : v.viewer.frames.short(s.frame),
          depth: '',
          length: null,
          remark: many(s.count, 'sample'),
          what: { mark: { kind: 'sample', number: s.sample } },
        }));
    case 'display':
      return v.beside.display.answer
        .peek()
        .list.filter((f) => f.process === row.process && f.start <= view.to && f.end >= view.from)
        .slice(0, MOST)
        .sort((a, b) => a.start - b.start)
        .map((f) => ({
          time: f.start,
          name: f.late ? 'late frame' : 'frame',
          depth: '',
          length: f.count > 1 ? null : f.end - f.start,
          remark: many(f.count, 'frame'),
          what: { call: { row: f.row, index: f.index } },
        }));
    case 'memory':
      return v.beside.dumps.answer
        .peek()
        .list.filter((d) => d.process === row.process && within(d.time, view))
        .slice(0, MOST)
        .map((d) => ({
          time: d.time,
          name: 'memory dump',
          depth: '',
          length: null,
          remark: d.level,
          what: { mark: { kind: 'memory', number: d.dump } },
        }));
    default:
      return null;
  }
}
