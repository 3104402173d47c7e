// SPDX-License-Identifier: Apache-2.0
// The selected call beside the pinned one: figures of both with their differences, the times
// between them, the calls inside, and the arguments that differ.

import { h, type Child } from '../../base/dom';
import {
  formatCount,
  formatPercent,
  formatTime,
  formatTimeUnit,
  unitLabel,
} from '../../base/format';
import { shortened } from '../../base/visible';
import {
  differingArguments,
  distancesOf,
  insideBoth,
  type CallPair,
  type PairSide,
} from '../../model/callPair';
import { STATES, STATE_WORDS } from '../../model/states';
import { inTermsOf, wordsFor } from '../../model/words';
import { callSpan, goToCall, type Views } from '../context';
import { overloadText } from '../tables/pathText';
import { swatch } from '../swatch';
import { detailsSection, factRow, factTable, linkButton } from './detailsParts';

/** Further names and arguments are counted. */
const MOST_NAMES = 30;
const MOST_ARGUMENTS = 50;

/** A line: the words, and a text for the selected call, the pinned one and their difference. */
function pairRow(what: Child, selected: string, pinned: string, difference = ''): HTMLElement {
  const cell = (text: string): HTMLElement =>
    h('td', { class: text.length > 16 ? 'number' : 'number figure' }, text);
  return h('tr', null, h('th', null, what), cell(selected), cell(pinned), cell(difference));
}

function signed(text: string, value: number): string {
  return value > 0 ? `+${text}` : text;
}

/** Return a line of times, or null if neither call has one. */
function timeRow(
  v: Views,
  what: Child,
  selected: number | null,
  pinned: number | null,
): HTMLElement | null {
  if (selected === null && pinned === null) return null;
  const unit = v.viewer.unit.peek();
  const text = (ns: number | null): string => (ns === null ? '' : formatTime(ns, unit));
  const off = selected === null || pinned === null ? null : selected - pinned;
  return pairRow(what, text(selected), text(pinned), off === null ? '' : signed(text(off), off));
}

/** The share of real time that a call had the CPU; empty if one of both clocks is missing. */
function cpuShareText({ call }: PairSide): string {
  if (call.cpu_length_ns === null || call.excl_real_ns === null) return '';
  return `${formatPercent(call.cpu_length_ns, call.length_ns)} %`;
}

/** `unit` names the unit of times, or is empty. */
function pairTable(rows: readonly (HTMLElement | null)[], unit: string): HTMLElement {
  const head = (text: string): HTMLElement => h('th', { class: 'number' }, text);
  return h(
    'table',
    { class: 'pair' },
    h(
      'thead',
      null,
      h('tr', null, h('th', null, unit), head('Selected'), head('Pinned'), head('Difference')),
    ),
    h('tbody', null, ...rows),
  );
}

/**
 * Return the lines of figures. In a trace with CPU times alone, a call's length is CPU time
 * already, so its one line is called that; states are shown that one of the calls was in.
 */
function figureRows(v: Views, { selected, pinned }: CallPair): (HTMLElement | null)[] {
  const [a, b] = [selected.call, pinned.call];
  const real = v.viewer.facts.axis !== 'cpu';
  const words = wordsFor(v.viewer.facts);
  const states = STATES.map((state, i) => {
    const [x, y] = [selected.states?.[i] ?? null, pinned.states?.[i] ?? null];
    return x || y ? timeRow(v, STATE_WORDS[state][0], x, y) : null;
  });
  const shares = [cpuShareText(selected), cpuShareText(pinned)] as const;
  const off = a.children - b.children;
  return [
    timeRow(v, real ? 'Real' : 'CPU', a.length_ns, b.length_ns),
    real ? timeRow(v, 'CPU', a.cpu_length_ns, b.cpu_length_ns) : null,
    shares.some((text) => text !== '') ? pairRow('On the CPU', ...shares) : null,
    timeRow(v, 'Excl real', a.excl_real_ns, b.excl_real_ns),
    timeRow(v, 'Excl CPU', a.excl_cpu_ns, b.excl_cpu_ns),
    ...states,
    pairRow(
      inTermsOf(words, 'Calls inside'),
      formatCount(a.children),
      formatCount(b.children),
      signed(formatCount(off), off),
    ),
  ];
}

/** Return how far apart the calls are. They may overlap, which a negative gap would hide. */
function distanceFacts(v: Views, { selected, pinned }: CallPair): HTMLElement {
  const unit = v.viewer.unit.peek();
  const spans = [callSpan(selected.call), callSpan(pinned.call)] as const;
  const d = distancesOf(...spans);
  const time = (ns: number): string => formatTimeUnit(ns, unit);
  const gap = d.gap < 0 ? `${time(-d.gap)} overlap` : time(d.gap);
  return factTable(
    factRow('Start to start', time(d.startToStart)),
    factRow('End to start', gap),
    factRow('End to end', time(d.endToEnd)),
    factRow('Both together', time(d.union)),
  );
}

/**
 * Return the names that ran inside of the calls, with their times; null: none. Counts of calls are
 * told just where they differ.
 */
function insideSection(v: Views, { selected, pinned }: CallPair): HTMLElement | null {
  const lines = insideBoth(selected.inside, pinned.inside);
  if (lines.length === 0) return null;
  const { frames } = v.viewer;
  const theme = v.settings.theme.peek();
  const hidden = lines.length - MOST_NAMES;
  const more = Math.max(0, hidden) + selected.inside.left_out + pinned.inside.left_out;
  const calls = (count: number, other: number): string =>
    count === other ? '' : ` ${formatCount(count)}×`;
  const rows = lines.slice(0, MOST_NAMES).map((line) => {
    const { selected: a, pinned: b } = line;
    const counts = `${calls(a.calls, b.calls)}${calls(b.calls, a.calls) && ' :'}${calls(b.calls, a.calls)}`;
    const name = h(
      'span',
      null,
      swatch(frames, line.frame, theme),
      ` ${shortened(frames.short(line.frame), 60)}`,
      overloadText(frames, line.frame),
      h('span', { class: 'dim' }, counts),
    );
    return timeRow(v, name, a.real, b.real);
  });
  return detailsSection(
    inTermsOf(wordsFor(v.viewer.facts), 'Calls inside'),
    pairTable(rows, unitLabel(v.viewer.unit.peek())),
    more > 0 ? h('p', { class: 'second' }, `${formatCount(more)} more names`) : null,
  );
}

/** Return the arguments that differ; null: none does, which is not worth a section. */
function argumentsSection({ selected, pinned }: CallPair): HTMLElement | null {
  const different = differingArguments(selected.call, pinned.call);
  if (different.length === 0) return null;
  const text = (value: string | null): string => (value === null ? 'none' : shortened(value, 100));
  const more = different.length - MOST_ARGUMENTS;
  const rows = different
    .slice(0, MOST_ARGUMENTS)
    .map(([path, a, b]) => pairRow(shortened(path, 60), text(a), text(b)));
  return detailsSection(
    'Arguments that differ',
    pairTable(rows, ''),
    more > 0 ? h('p', { class: 'second' }, `${formatCount(more)} more`) : null,
  );
}

/** Return the section about both calls. */
export function pairDetails(v: Views, pair: CallPair): HTMLElement {
  const { viewer } = v;
  const { call } = pair.pinned;
  const nameLine = (what: string, side: PairSide): HTMLElement =>
    factRow(
      what,
      h(
        'span',
        null,
        swatch(viewer.frames, side.call.frame, v.settings.theme.peek(), side.call.colour),
        ` ${shortened(viewer.frames.short(side.call.frame), 120)}`,
      ),
    );
  const section = detailsSection(
    'Side by side',
    factTable(nameLine('Selected', pair.selected), nameLine('Pinned', pair.pinned)),
    pairTable(figureRows(v, pair), unitLabel(viewer.unit.peek())),
    distanceFacts(v, pair),
    h(
      'div',
      { class: 'actions' },
      linkButton('Go to the pinned', () => void goToCall(v, call)),
      linkButton('Unpin', () => viewer.pinnedCall.set(null)),
      linkButton('Range of both', () => {
        const spans = [callSpan(pair.selected.call), callSpan(call)];
        viewer.setRange({
          from: Math.min(...spans.map((span) => span.from)),
          to: Math.max(...spans.map((span) => span.to)),
        });
      }),
    ),
    insideSection(v, pair),
    argumentsSection(pair),
  );
  section.classList.add('pair-details');
  return section;
}
