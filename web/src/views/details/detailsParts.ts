// SPDX-License-Identifier: Apache-2.0
// Building blocks shared by the details of several kinds of things.

import { breakable, h } from '../../base/dom';
import { formatCount, formatTime, unitHead } from '../../base/format';
import { makeVisible } from '../../base/visible';
import type { EventAnswer } from '../../model/engine';
import { goToCall, type Views } from '../context';
import { referenceLinks } from './references';
import { swatch } from '../swatch';
import { valueTree } from './valueTree';

/** A line of the table of times: label, real time, CPU time. */
export type TimesRow = [string, number | null, number | null];

/** A longer name is cut in the heading and repeated in full below. */
const LONGEST_HEAD = 120;

/** Return the name of a frame with its colour, or with the own colour of a slice. */
export function frameHead(v: Views, frame: number, colour = 0): HTMLElement[] {
  const { frames } = v.viewer;
  const mark = swatch(frames, frame, v.settings.theme.peek(), colour);
  const short = frames.short(frame);
  const more = [frames.packagePrefix(frame), frames.signature(frame), frames.source(frame)];
  const name = h('h2', null, mark, h('span', null, ...breakable(short, LONGEST_HEAD)));
  if (short.length <= LONGEST_HEAD && more.every((text) => text === '')) return [name];
  return [
    name,
    h(
      'p',
      { class: 'signature' },
      h('span', { class: 'dim' }, ...breakable(frames.packagePrefix(frame))),
      ...breakable(`${short} ${frames.signature(frame)} `),
      h('span', { class: 'dim' }, frames.source(frame)),
    ),
  ];
}

/** Return a table of times with a column for each clock of the trace. */
export function timesTable(v: Views, rows: readonly TimesRow[], more: HTMLElement[]): HTMLElement {
  const { viewer } = v;
  const unit = viewer.unit.peek();
  const clocks = (['real', 'cpu'] as const).filter((clock) => viewer.has(clock));
  const cell = (ns: number | null): HTMLElement =>
    h('td', { class: 'number' }, ns === null ? '' : formatTime(ns, unit));
  return h(
    'table',
    null,
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        h('td', null),
        ...clocks.map((clock) =>
          h(
            'th',
            { class: 'number' },
            unitHead(viewer.facts.axis === 'weight' ? '' : clock === 'cpu' ? 'CPU' : 'Real', unit),
          ),
        ),
      ),
    ),
    h(
      'tbody',
      null,
      ...rows.map(([what, real, cpu]) =>
        h(
          'tr',
          null,
          h('th', null, what),
          ...clocks.map((clock) => cell(clock === 'cpu' ? cpu : real)),
        ),
      ),
      ...more,
    ),
  );
}

export function detailsSection(title: string, ...contents: (HTMLElement | null)[]): HTMLElement {
  return h('section', null, h('h3', null, title), ...contents);
}

/** Return arguments, stacks, links to objects and all other data of an event. */
export function eventParts(v: Views, answer: EventAnswer): HTMLElement[] {
  if (answer.event === undefined) return [];
  if (!answer.event)
    return [
      h('p', { class: 'state-note' }, `Arguments cannot be read: ${answer.event_error ?? ''}`),
    ];
  const { args, start_stack, end_stack, references, ...others } = answer.event;
  const parts: [string, unknown][] = [
    ['Arguments', args],
    ['Stack at its start', start_stack],
    ['Stack at its end', end_stack],
    ['More', others],
  ];
  const sections = parts
    .filter(([, value]) => typeof value !== 'object' || Object.keys(value ?? {}).length > 0)
    .filter(([, value]) => value !== undefined)
    .map(([title, value]) => detailsSection(title, valueTree(value)));
  return [...referenceLinks(v, references), ...sections];
}

export function factRow(what: string, value: string | HTMLElement): HTMLElement {
  return h('tr', null, h(what === '' ? 'td' : 'th', null, what), h('td', null, value));
}

/** Return category and place of an event, where it has them. */
export function eventFacts(answer: EventAnswer): HTMLElement[] {
  const facts: HTMLElement[] = [];
  if (answer.category) facts.push(factRow('Category', makeVisible(answer.category)));
  if (answer.offset !== undefined)
    facts.push(factRow('In the file', `byte ${formatCount(answer.offset)}`));
  return facts;
}

export function factTable(...facts: (HTMLElement | null)[]): HTMLElement {
  return h('table', null, h('tbody', null, ...facts));
}

export function linkButton(text: string, act: () => void): HTMLElement {
  return h('button', { class: 'link', attrs: { type: 'button' }, on: { click: act } }, text);
}

/** Go to the next or previous call of a method. */
export async function stepToCall(
  v: Views,
  frame: number,
  time: number,
  direction: 1 | -1,
  track?: number,
): Promise<void> {
  const tracks = track === undefined ? undefined : [track];
  try {
    const found = await v.viewer.engine.step(frame, time, direction, tracks);
    if (found) await goToCall(v, found);
  } catch (error) {
    v.viewer.failed(error);
  }
}
