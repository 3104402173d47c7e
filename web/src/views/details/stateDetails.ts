// SPDX-License-Identifier: Apache-2.0
// The details of a thread state, of a processor slice, and of the thread states within a slice,
// with links to the waking thread and to the thread that ran instead.

import { h } from '../../base/dom';
import { formatCount, formatPercent, formatTimeUnit } from '../../base/format';
import { shortened } from '../../base/visible';
import { eventColour } from '../../model/colours';
import type { CallDetails } from '../../model/engine';
import { trackName } from '../../model/names';
import {
  STATES,
  STATE_COLOUR,
  STATE_WORDS,
  type CpuSlice,
  type SchedulerState,
  type StateAnswer,
  type StatePart,
  type StatesInside,
  type ThreadState,
} from '../../model/states';
import { goToCall, callSpan, zoomToCall, type Views } from '../context';
import {
  eventFacts,
  eventParts,
  factRow,
  factTable,
  frameHead,
  linkButton,
  detailsSection,
} from './detailsParts';

const SHOWN = 12;

type SlicePlace = [number, number];

function jumpLink(v: Views, text: string, place: SlicePlace): HTMLElement {
  return linkButton(shortened(text), () => void goToCall(v, { row: place[0], index: place[1] }));
}

function stateTime(v: Views, ns: number): string {
  return formatTimeUnit(ns, v.viewer.unit.peek());
}

/** Return a thread as "[655] launcher". */
function stateThreadName(v: Views, thread: number): string {
  const { tracks } = v.viewer.facts;
  const track = tracks.find((t) => t.thread === thread && t.kind !== 'async');
  return track ? trackName(track) : '';
}

/** Show the times, and the links along the row. */
function stateBasics(v: Views, call: CallDetails): (HTMLElement | null)[] {
  return [
    factRow('Duration', stateTime(v, call.length_ns)),
    factRow('Start', stateTime(v, call.start_ns)),
    factRow('End', stateTime(v, call.start_ns + call.length_ns)),
    factRow(
      '',
      h(
        'div',
        { class: 'actions' },
        call.previous && jumpLink(v, '‹ previous', call.previous),
        call.next && jumpLink(v, 'next ›', call.next),
      ),
    ),
  ];
}

function stateNotes(call: CallDetails): HTMLElement[] {
  return call.open_at_end
    ? [h('p', { class: 'state-note' }, 'It lasted until the trace ended.')]
    : [];
}

function stateActions(v: Views, call: CallDetails): HTMLElement {
  return h(
    'div',
    { class: 'actions' },
    linkButton('Zoom to it', () => zoomToCall(v, call)),
    linkButton('Use as range', () => v.viewer.setRange(callSpan(call))),
  );
}

function wakeupLines(v: Views, { wakeup }: ThreadState): (HTMLElement | null)[] {
  if (!wakeup) return [];
  const name = wakeup.by < 0 ? '' : stateThreadName(v, wakeup.by) || wakeup.name;
  const cpu = wakeup.cpu < 0 ? '' : ` on CPU ${wakeup.cpu}`;
  const words = `${name || 'an interrupt, or the idle task'}${cpu}`;
  const after = wakeup.latency_ns < 0 ? 'it never ran again' : stateTime(v, wakeup.latency_ns);
  return [
    factRow('Woken by', wakeup.slice ? jumpLink(v, words, wakeup.slice) : words),
    factRow('Woken at', stateTime(v, wakeup.time_ns)),
    factRow('Until it ran', wakeup.run ? jumpLink(v, after, wakeup.run) : after),
  ];
}

function partLine(v: Views, part: StatePart): HTMLElement {
  const [row, index, frame, ns] = part;
  return h(
    'li',
    null,
    jumpLink(v, v.viewer.frames.short(frame), [row, index]),
    h('span', { class: 'dim' }, ` ${stateTime(v, ns)}`),
  );
}

function insteadParts(v: Views, state: ThreadState): HTMLElement[] {
  if (state.instead_cpu < 0) return [];
  const title = `Who ran instead on CPU ${state.instead_cpu}`;
  const none = 'Nobody: the processor was idle.';
  if (state.instead.length === 0) return [detailsSection(title, h('p', { class: 'second' }, none))];
  const rest = state.instead.length - SHOWN + state.instead_left_out;
  return [
    detailsSection(
      title,
      h(
        'ul',
        null,
        ...state.instead.slice(0, SHOWN).map((part) => partLine(v, part)),
        rest > 0 && h('li', { class: 'dim' }, `${formatCount(rest)} more`),
      ),
    ),
  ];
}

/**
 * Return the details of a scheduling state: who woke the thread, in what it was blocked, and what
 * came then.
 */
function stateDetails(v: Views, call: CallDetails, state: ThreadState): HTMLElement[] {
  const { frames } = v.viewer;
  const { blocked, then } = state;
  return [
    ...frameHead(v, call.frame),
    ...stateNotes(call),
    factTable(
      factRow('State', STATE_WORDS[state.state][1]),
      factRow('Thread', stateThreadName(v, state.thread)),
      state.cpu_slice && factRow('CPU', jumpLink(v, `CPU ${state.cpu}`, state.cpu_slice)),
      ...stateBasics(v, call),
      ...wakeupLines(v, state),
      blocked && factRow('Blocked in', shortened(blocked.caller) || 'unknown'),
      blocked && factRow('Waited for I/O', blocked.io ? 'yes' : 'no'),
      then &&
        factRow(
          'Then',
          h(
            'span',
            null,
            jumpLink(v, frames.short(then[2]), [then[0], then[1]]),
            h('span', { class: 'dim' }, ` ${stateTime(v, then[3])}`),
          ),
        ),
      ...eventFacts(call),
    ),
    stateActions(v, call),
    ...insteadParts(v, state),
    stateLegend(v),
    ...eventParts(v, call),
  ];
}

/** Return the priority from the arguments of the switch that began the slice. */
function switchPriority(call: CallDetails): string | null {
  const event = call.event as { details?: unknown } | null | undefined;
  const details = typeof event?.details === 'string' ? event.details : '';
  const found = /next_prio=(-?\d+)/.exec(details) ?? /==> .*\[(-?\d+)\]/.exec(details);
  return found?.[1] ?? null;
}

/** Why a thread left the processor, by its state at that moment. */
const REASONS: Partial<Record<string, string>> = {
  'Runnable (preempted)': 'preempted by another task',
  Runnable: 'gave way to another task',
  Sleeping: 'went to sleep',
  'Sleeping (idle)': 'had nothing to do',
  'Uninterruptible Sleep': 'blocked in the kernel',
  'Uninterruptible Sleep (I/O)': 'blocked on input or output',
  Zombie: 'ended',
  'Exit Dead': 'ended',
  'Task Dead': 'ended',
};

function cpuDetails(v: Views, call: CallDetails, cpu: CpuSlice): HTMLElement[] {
  const { frames } = v.viewer;
  const { then } = cpu;
  const name = cpu.thread < 0 ? '' : stateThreadName(v, cpu.thread);
  const prio = switchPriority(call);
  // A thread that came and left at the same time has no running state.
  const way: SlicePlace | null = cpu.running ?? (then && [then[0], then[1]]);
  const ended = then ? frames.method(then[2]) : '';
  return [
    ...frameHead(v, call.frame),
    ...stateNotes(call),
    factTable(
      factRow('Ran on', `CPU ${cpu.cpu}`),
      name !== '' ? factRow('Thread', way ? jumpLink(v, name, way) : name) : null,
      prio === null ? null : factRow('Priority', prio),
      ...stateBasics(v, call),
      then && factRow('Switched out', REASONS[ended] ?? ended),
      then && factRow('State after it', jumpLink(v, ended, [then[0], then[1]])),
      ...eventFacts(call),
    ),
    stateActions(v, call),
    ...eventParts(v, call),
  ];
}

/** Create the square in the colour of a state. */
export function stateSwatch(v: Views, state: SchedulerState): HTMLElement {
  const theme = v.settings.theme.peek();
  const square = h('i', { class: 'swatch', attrs: { 'aria-hidden': 'true' } });
  square.style.backgroundColor = theme.bars[eventColour(STATE_COLOUR[state], 0)] ?? '';
  return square;
}

function stateLegend(v: Views): HTMLElement {
  return detailsSection(
    'States',
    h(
      'ul',
      { class: 'state-legend' },
      ...STATES.filter((state) => state !== 'preempted').map((state) => {
        const [word, title] = STATE_WORDS[state];
        return h('li', { title }, stateSwatch(v, state), ` ${word}`);
      }),
    ),
  );
}

/** Show how long the thread was in each state during one of its slices. */
export function statesInside(v: Views, answer: StateAnswer | null): HTMLElement[] {
  if (answer?.kind !== 'slice') return [];
  const { times }: StatesInside = answer;
  const all = times.reduce((sum, ns) => sum + ns, 0);
  const lines = STATES.flatMap((state, i) => {
    const ns = times[i] ?? 0;
    if (ns === 0) return [];
    return h(
      'tr',
      null,
      h('th', null, stateSwatch(v, state), ` ${STATE_WORDS[state][0]}`),
      h('td', { class: 'number' }, stateTime(v, ns)),
      h('td', { class: 'number dim' }, `${formatPercent(ns, all)} %`),
    );
  });
  if (lines.length === 0) return [];
  return [
    detailsSection(
      'States of the thread during that time',
      h('table', { class: 'states-inside' }, h('tbody', null, ...lines)),
    ),
  ];
}

/**
 * Return the details of a processor slice or thread state; null for other slices, or while loading.
 */
export function scheduleDetails(
  v: Views,
  call: CallDetails,
  answer: StateAnswer | null,
): HTMLElement[] | null {
  const kind = v.viewer.trackOfRow(call.row)?.kind;
  if (kind !== 'cpu' && kind !== 'states') return null;
  if (answer?.kind === 'state') return stateDetails(v, call, answer);
  if (answer?.kind === 'cpu') return cpuDetails(v, call, answer);
  return frameHead(v, call.frame);
}
