// SPDX-License-Identifier: Apache-2.0
// A JSON value as a tree. Objects and lists open and close; every other value is one line.

import { h } from '../../base/dom';
import { formatCount } from '../../base/format';
import { shortened, makeVisible } from '../../base/visible';

/** Longer texts are folded and cut; longer lists are cut. */
const FOLDED = 300;
const LONGEST = 100_000;
const MOST = 100;
/** The number of levels that are open at first. */
const OPEN = 2;

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Return a text, folded if it is long. */
export function foldedText(text: string): HTMLElement | string {
  if (text.length <= FOLDED) return makeVisible(text);
  const words = h('span', null);
  const button = h('button', { class: 'link', attrs: { type: 'button' } });
  const show = (open: boolean): void => {
    words.textContent = makeVisible(shortened(text, open ? LONGEST : FOLDED));
    button.textContent = open ? 'less' : `all ${formatCount(text.length)} characters`;
    button.setAttribute('aria-expanded', String(open));
  };
  button.addEventListener('click', () => show(button.getAttribute('aria-expanded') === 'false'));
  show(false);
  return h('span', null, words, ' ', button);
}

function leafValue(value: unknown): HTMLElement | string {
  return foldedText(typeof value === 'string' ? value : JSON.stringify(value));
}

function summaryText(value: object): string {
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  return Array.isArray(value) ? `[${formatCount(count)}]` : `{${formatCount(count)}}`;
}

/** Follow a reference to an object. `holder` is the object that contains the id. */
export type Follow = (holder: Record<string, unknown>) => void;

const REFERENCES = ['id_ref', 'idRef'];
/** The id of a nested object, such as "Tree/0x1". */
const NESTED = /^.+\/([^/]+)$/;

/** Return the id of an object nested in a snapshot, or null. */
export function nestedId(id: unknown): string | null {
  return (typeof id === 'string' && NESTED.exec(id)?.[1]) || null;
}

function isIdReference(key: string, member: unknown, depth: number): boolean {
  if (REFERENCES.includes(key)) return !isContainer(member);
  return key === 'id' && depth > 0 && nestedId(member) !== null;
}

function memberLines(value: object, depth: number, follow: Follow | null): HTMLElement[] {
  const entries = Object.entries(value);
  const lines = entries.slice(0, MOST).map(([key, member]) => {
    if (follow && isIdReference(key, member, depth))
      return referenceLine(key, member, () => follow(value as Record<string, unknown>));
    return valueLine(key, member, depth, follow);
  });
  if (entries.length > MOST)
    lines.push(h('li', { class: 'dim' }, `and ${formatCount(entries.length - MOST)} more`));
  return lines;
}

function referenceLine(key: string, id: unknown, act: () => void): HTMLElement {
  const text = makeVisible(shortened(String(id), FOLDED));
  const button = h(
    'button',
    { class: 'link', attrs: { type: 'button' }, on: { click: act } },
    text,
  );
  return h('li', null, h('b', null, makeVisible(key)), ' ', button);
}

/** Create the members when the line is first opened, because a snapshot may have a million. */
function containerLine(
  key: string,
  value: object,
  depth: number,
  follow: Follow | null,
): HTMLElement {
  const list = h('ul', { class: 'value-tree' });
  const details = h(
    'details',
    null,
    h('summary', null, h('b', null, makeVisible(key)), ' ', summaryText(value)),
    list,
  ) as HTMLDetailsElement;
  const show = (): void => {
    if (details.open && list.childElementCount === 0)
      list.append(...memberLines(value, depth + 1, follow));
  };
  details.addEventListener('toggle', show);
  if (depth < OPEN) {
    details.open = true;
    show();
  }
  return h('li', null, details);
}

function valueLine(key: string, value: unknown, depth: number, follow: Follow | null): HTMLElement {
  if (isContainer(value)) return containerLine(key, value, depth, follow);
  return h('li', null, h('b', null, makeVisible(key)), ' ', leafValue(value));
}

/** Return the members of an object or list, or one line for any other value. */
export function valueTree(value: unknown, follow: Follow | null = null): HTMLElement {
  const lines = isContainer(value)
    ? memberLines(value, 0, follow)
    : [h('li', null, leafValue(value))];
  return h('ul', { class: 'value-tree' }, ...lines);
}
