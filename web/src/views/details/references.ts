// SPDX-License-Identifier: Apache-2.0
// Links to objects and their snapshots.

import { h } from '../../base/dom';
import { shortened, makeVisible } from '../../base/visible';
import { revealingView, type Span } from '../../model/span';
import type { Views } from '../context';
import { nestedId } from './valueTree';

/** Select an object or snapshot, and bring its time into view if it is known. */
export function goToObject(
  v: Views,
  kind: 'object' | 'snapshot',
  number: number,
  span?: Span,
): void {
  v.viewer.selectMark({ kind, number });
  if (span) v.mover.glide(revealingView(v.mover.goal, span, v.viewer.bounds));
}

export async function goToSnapshot(v: Views, number: number): Promise<void> {
  try {
    const { time_ns } = await v.viewer.engine.nonSlice.snapshot(number);
    goToObject(v, 'snapshot', number, { from: time_ns, to: time_ns + 1 });
  } catch (error) {
    v.viewer.failed(error);
  }
}

function snapshotLink(v: Views, name: string, snapshot: number): HTMLElement {
  const act = (): void => void goToSnapshot(v, snapshot);
  return h('button', { class: 'link', attrs: { type: 'button' }, on: { click: act } }, name);
}

/**
 * An entry of "references": the text of the argument, and the object it means
 * (docs/view-protocol.md).
 */
interface Reference {
  id_ref?: unknown;
  object: number;
  snapshot: number;
}

function isArgumentReference(value: unknown): value is Reference {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Reference).object === 'number' &&
    typeof (value as Reference).snapshot === 'number'
  );
}

/** Create links to the snapshots that the arguments of an event refer to. */
export function referenceLinks(v: Views, references: unknown): HTMLElement[] {
  const list = Array.isArray(references) ? references.filter(isArgumentReference) : [];
  if (list.length === 0) return [];
  const lines = list.map((reference) => {
    const id = typeof reference.id_ref === 'string' ? reference.id_ref : String(reference.id_ref);
    const name = shortened(makeVisible(id), 120);
    return h('li', null, snapshotLink(v, name, reference.snapshot));
  });
  return [
    h(
      'section',
      null,
      h('h3', null, 'Objects it refers to'),
      h('ul', { class: 'references' }, ...lines),
    ),
  ];
}

/**
 * Return a function that follows an id inside a snapshot to the snapshot of that object at that
 * time.
 */
export async function followFrom(
  v: Views,
  snapshot: number,
  holder: Record<string, unknown>,
): Promise<void> {
  const id = String(holder['id_ref'] ?? holder['idRef'] ?? nestedId(holder['id']));
  const { scope } = holder;
  const pid = holder['pid_ref'] ?? holder['pidRef'];
  const named = {
    ...(typeof scope === 'string' ? { scope } : {}),
    ...(typeof pid === 'string' || typeof pid === 'number' ? { pid: String(pid) } : {}),
  };
  try {
    const found = await v.viewer.engine.nonSlice.reference(snapshot, id, named);
    if (found >= 0) await goToSnapshot(v, found);
    else v.viewer.wrong(`${shortened(makeVisible(id), 80)} has no snapshot at this time`);
  } catch (error) {
    v.viewer.failed(error);
  }
}
