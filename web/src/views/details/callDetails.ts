// SPDX-License-Identifier: Apache-2.0
// The details of one call.

import { h } from '../../base/dom';
import { formatCount, formatPercent, formatTime } from '../../base/format';
import { shortened } from '../../base/visible';
import type { CallDetails } from '../../model/engine';
import { ownerId, trackName } from '../../model/names';
import { sameCall } from '../../model/viewer';
import { inTermsOf, countSlices, wordsFor, type Words } from '../../model/words';
import { goToCall, callSpan, zoomToCall, type Views } from '../context';
import {
  eventFacts,
  eventParts,
  factRow,
  factTable,
  frameHead,
  linkButton,
  stepToCall,
  timesTable,
} from './detailsParts';
import { overloadText } from '../tables/pathText';
import { joinParts } from './joinDetails';

const CALLERS_SHOWN = 12;

/** Create the details. `beside` (flows, contexts) is before the arguments. */
export function callDetails(
  v: Views,
  call: CallDetails,
  beside: readonly HTMLElement[],
): HTMLElement[] {
  const { viewer } = v;
  const words = wordsFor(viewer.facts);
  const unit = viewer.unit.peek();
  const realAxis = viewer.facts.axis !== 'cpu';
  const track = viewer.trackOfRow(call.row);
  const { processes } = viewer.facts;
  const process = track && processes[track.process];
  // Events record how long they had the CPU, not when they waited.
  const off = call.cpu_length_ns === null ? null : Math.max(0, call.length_ns - call.cpu_length_ns);
  const waited = words.events ? (realAxis ? off : null) : call.wait_ns;
  const share =
    waited !== null && call.length_ns > 0 ? `${formatPercent(waited, call.length_ns)} %` : '';
  const single = (what: string, ns: number, className = ''): HTMLElement =>
    h(
      'tr',
      { class: className },
      h('th', null, what),
      h('td', { class: 'number' }, formatTime(ns, unit)),
    );
  const waiting =
    waited === null
      ? []
      : [
          h(
            'tr',
            null,
            h('th', null, words.events ? 'Not on the CPU' : 'Waiting'),
            h('td', { class: 'number' }, formatTime(waited, unit)),
            h('td', { class: 'number dim' }, share),
          ),
        ];
  return [
    ...frameHead(v, call.frame, call.colour),
    ...callNotes(call, words),
    timesTable(
      v,
      [
        [
          'Inclusive',
          realAxis ? call.length_ns : null,
          call.cpu_length_ns ?? (realAxis ? null : call.length_ns),
        ],
        ['Exclusive', call.excl_real_ns, call.excl_cpu_ns],
      ],
      [
        ...waiting,
        single('Start', call.start_ns, 'ruled'),
        single('End', call.start_ns + call.length_ns),
      ],
    ),
    factTable(
      factRow(
        inTermsOf(words, 'Call'),
        `${formatCount(call.nth)} of ${formatCount(call.of)} in this ${words.track}`,
      ),
      factRow(
        '',
        h(
          'div',
          { class: 'actions' },
          linkButton(
            '‹ previous',
            () => void stepToCall(v, call.frame, call.start_ns, -1, call.track),
          ),
          linkButton('next ›', () => void stepToCall(v, call.frame, call.start_ns, 1, call.track)),
        ),
      ),
      processes.length > 1 && process
        ? factRow('Process', `${ownerId(process)} ${process.name}`.trim())
        : null,
      factRow('Thread', `${track ? trackName(track) : '?'}, level ${formatCount(call.depth + 1)}`),
      call.recursion > 0
        ? factRow(
            'Recursion',
            `${countSlices(words, call.recursion)} of this ${words.name} above it`,
          )
        : null,
      factRow(
        inTermsOf(words, 'Calls inside'),
        call.children === 0 ? 'none' : formatCount(call.children),
      ),
      ...eventFacts(call),
    ),
    h(
      'div',
      { class: 'actions' },
      linkButton('Zoom to it', () => zoomToCall(v, call)),
      linkButton('Use as range', () => viewer.setRange(callSpan(call))),
      pinButton(v, call),
      call.first_child &&
        linkButton(
          inTermsOf(words, 'First call inside'),
          () => void goToNeighbour(v, call.first_child),
        ),
    ),
    ...beside,
    ...eventParts(v, call),
    ...joinParts(v, call.joins),
    ...callerLines(v, call),
  ];
}

/** Return the button that holds the call beside those that are selected next. */
function pinButton({ viewer }: Views, call: CallDetails): HTMLElement {
  const pinned = sameCall(viewer.pinnedCall.peek(), call);
  const text = pinned ? 'Unpin' : 'Pin';
  const button = linkButton(text, () =>
    viewer.pinnedCall.set(pinned ? null : { row: call.row, index: call.index }),
  );
  button.title = pinned ? 'Unpin it (C)' : 'Pin it to compare it with the next selection (C)';
  return button;
}

/**
 * Return notes on what is not certain about the call's times, because the trace lacks its start or
 * its end. Wording follows the kind of trace: methods are entered, slices of events begin.
 */
function callNotes(call: CallDetails, { events }: Words): HTMLElement[] {
  const notes: string[] = [];
  if (call.entered_before)
    notes.push(`${events ? 'Begun' : 'Entered'} before the trace began: its start is not known.`);
  if (call.open_at_end) notes.push('Still running when the trace ended.');
  if (call.missing_exit)
    notes.push(
      events
        ? 'Its end is missing; it is drawn to the end of the slice around it.'
        : 'Its exit is missing; it ends where its caller continues.',
    );
  if (call.unrolled) notes.push('Left by an exception (unrolled).');
  return notes.map((text) => h('p', { class: 'state-note' }, text));
}

async function goToNeighbour(v: Views, call: [number, number] | null): Promise<void> {
  if (call) await goToCall(v, { row: call[0], index: call[1] });
}

/**
 * Return the callers, the nearest first. A slice of events without one is nothing special and says
 * nothing; of a method it is told, since a method has a caller.
 */
function callerLines(v: Views, call: CallDetails): HTMLElement[] {
  const { frames } = v.viewer;
  const { events } = wordsFor(v.viewer.facts);
  if (call.path.length === 0) return events ? [] : [h('h3', null, 'No caller in the trace')];
  const nearest = [...call.path].reverse();
  const rest = nearest.length - CALLERS_SHOWN;
  return [
    h('h3', null, events ? 'Inside of' : 'Called from'),
    h(
      'ul',
      null,
      ...nearest.slice(0, CALLERS_SHOWN).map(([row, index, frame]) =>
        h(
          'li',
          null,
          linkButton(shortened(frames.short(frame)), () => void goToNeighbour(v, [row, index])),
          overloadText(frames, frame),
        ),
      ),
      rest > 0 && h('li', { class: 'dim' }, `${formatCount(rest)} more`),
    ),
  ];
}
