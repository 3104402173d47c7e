// SPDX-License-Identifier: Apache-2.0
// The details of an object and of a snapshot of it.

import { h } from '../../base/dom';
import { formatCount, formatTimeUnit } from '../../base/format';
import { shortened, makeVisible } from '../../base/visible';
import type { ObjectDetails, SnapshotDetails } from '../../model/nonSliceEvents';
import { ownerId } from '../../model/names';
import { objectColour } from '../../render/objectPainter';
import type { Views } from '../context';
import {
  eventFacts,
  eventParts,
  factRow,
  factTable,
  linkButton,
  detailsSection,
} from './detailsParts';
import { joinParts } from './joinDetails';
import { followFrom, goToObject, goToSnapshot } from './references';
import { screenshot } from './screenshot';
import { valueTree } from './valueTree';

function objectTitle(v: Views, { type, id }: ObjectDetails): HTMLElement {
  const theme = v.settings.theme.peek();
  const colour = theme.bars[objectColour(type)] ?? '';
  return h(
    'h2',
    null,
    h('i', {
      class: 'swatch',
      style: { 'background-color': colour },
      attrs: { 'aria-hidden': 'true' },
    }),
    h('span', null, `${shortened(type, 120)} `, h('span', { class: 'dim' }, shortened(id, 120))),
  );
}

function objectTime(v: Views, ns: number): string {
  const unit = v.viewer.unit.peek();
  return formatTimeUnit(ns, unit);
}

function objectProcess(v: Views, { process }: ObjectDetails): string {
  const found = v.viewer.facts.processes[process];
  return found ? `${ownerId(found)} ${found.name}` : 'of no process';
}

/**
 * Return the facts. The trace may lack the event of creation or deletion: the words tell whether a
 * time is the event's or just the first or last sight of the object.
 */
function objectFacts(v: Views, object: ObjectDetails): (HTMLElement | null)[] {
  return [
    object.base_type ? factRow('Base type', object.base_type) : null,
    object.category ? factRow('Category', object.category) : null,
    object.scope !== 'ptr' ? factRow('Scope', object.scope) : null,
    factRow('Process', objectProcess(v, object)),
    factRow(
      'Created',
      `${objectTime(v, object.created_ns)}${object.created ? '' : ', when first seen: no event says it'}`,
    ),
    factRow(
      'Deleted',
      object.deleted ? objectTime(v, object.deleted_ns) : 'not while it was traced',
    ),
    factRow('Lived', formatTimeUnit(object.deleted_ns - object.created_ns, v.viewer.unit.peek())),
  ];
}

/** Return links to the objects that are the same one under other ids. */
function joinedObjects(v: Views, object: ObjectDetails): HTMLElement[] {
  if (object.joined.length === 0) return [];
  const lines = object.joined.map(([number, type, id]) =>
    h(
      'li',
      null,
      linkButton(shortened(`${type} ${id}`, 120), () => goToObject(v, 'object', number)),
    ),
  );
  return [detailsSection('The same as', h('ul', null, ...lines))];
}

/** Return the joined ids. The objects among them are listed above. */
function objectJoins(v: Views, { joins }: ObjectDetails): HTMLElement[] {
  return joins ? joinParts(v, { ...joins, objects: [] }) : [];
}

/**
 * Return the details of an object. Its snapshots are numbered in a row, so that the first and the
 * count lead to the last.
 */
export function objectDetails(v: Views, object: ObjectDetails): HTMLElement[] {
  const { first_snapshot: first, snapshots: count } = object;
  return [
    objectTitle(v, object),
    factTable(
      ...objectFacts(v, object),
      factRow('Snapshots', count === 0 ? 'none' : formatCount(count)),
    ),
    h(
      'div',
      { class: 'actions' },
      count > 0 && linkButton('First snapshot', () => void goToSnapshot(v, first)),
      count > 1 && linkButton('Last snapshot', () => void goToSnapshot(v, first + count - 1)),
      linkButton('Use as range', () => {
        v.viewer.setRange({ from: object.created_ns, to: object.deleted_ns });
      }),
    ),
    ...joinedObjects(v, object),
    ...objectJoins(v, object),
  ];
}

/** Show the snapshot in the arguments of an event as an image or a tree, then the other arguments. */
function snapshotContents(
  v: Views,
  { of, snapshot: number }: SnapshotDetails,
  args: unknown,
): HTMLElement[] {
  if (typeof args !== 'object' || args === null || !('snapshot' in args)) return [];
  const { snapshot, ...others } = args;
  const follow = (holder: Record<string, unknown>): void => void followFrom(v, number, holder);
  const picture = screenshot(of.type, snapshot);
  const parts = [detailsSection('Snapshot', picture ?? valueTree(snapshot, follow))];
  if (Object.keys(others).length > 0) parts.push(detailsSection('Arguments', valueTree(others)));
  return parts;
}

/** Return the details of a snapshot, with its contents read again from the file. */
export function snapshotDetails(v: Views, snapshot: SnapshotDetails): HTMLElement[] {
  const { of: object, snapshot: number, nth } = snapshot;
  const { event, ...place } = snapshot;
  const own = event ? snapshotContents(v, snapshot, event.args) : [];
  const rest = event && own.length > 0 ? { ...event, args: undefined } : event;
  return [
    objectTitle(v, object),
    factTable(
      factRow('Snapshot', `${formatCount(nth)} of ${formatCount(object.snapshots)}`),
      factRow(
        '',
        h(
          'div',
          { class: 'actions' },
          nth > 1 && linkButton('‹ previous', () => void goToSnapshot(v, number - 1)),
          nth < object.snapshots && linkButton('next ›', () => void goToSnapshot(v, number + 1)),
          linkButton('the object', () => goToObject(v, 'object', object.object)),
        ),
      ),
      factRow('Taken', objectTime(v, snapshot.time_ns)),
      factRow('Holds until', objectTime(v, snapshot.until_ns)),
      snapshot.inner ? factRow('Found', 'inside the snapshot of another object') : null,
      object.base_type ? factRow('Base type', object.base_type) : null,
      object.category ? factRow('Category', makeVisible(object.category)) : null,
      factRow('Process', objectProcess(v, object)),
      ...eventFacts(place),
    ),
    ...own,
    ...eventParts(v, rest === undefined ? snapshot : { ...snapshot, event: rest }),
    ...joinParts(v, object.joins),
  ];
}
