// SPDX-License-Identifier: Apache-2.0
// The menu above the labels that chooses the order of processes and threads, and whether only
// active rows are shown.

import { h, icon } from '../../base/dom';
import { computed, effect, signal, type ReadSignal } from '../../base/signal';
import { bucketsFor, busyActivity } from '../../model/activity';
import type { Activity } from '../../model/engine';
import type { TrackOrder } from '../../model/layout';
import {
  activeRows,
  orderRows,
  ROW_ORDERS,
  tracksActiveIn,
  type RowOrder,
} from '../../model/rowOrder';
import type { Row } from '../../model/rows';
import type { Viewer } from '../../model/viewer';

const ACTIVE = 'active';

/** The overview has fewer buckets; a selected range may be short. */
const MOST_BUCKETS = 16_384;

/** Return the orders of a trace with their words. The usual order of method traces is by work. */
function orderWords({ facts }: Viewer): Map<RowOrder, string> {
  const words: Record<RowOrder, string> = {
    usual: 'Main threads first',
    file: 'Order of the file',
    busiest: 'Busiest first',
    name: 'By name',
  };
  if (facts.order === 'owner') return new Map(ROW_ORDERS.map((order) => [order, words[order]]));
  return new Map([
    ['usual', words.busiest],
    ['file', words.file],
    ['name', words.name],
  ]);
}

/** Return the chosen order and rows in words; empty: the usual order of all rows. */
export function rowOrderInWords(viewer: Viewer): string {
  const { order, active } = viewer.rows.get();
  const words = order === 'usual' ? undefined : orderWords(viewer).get(order);
  return [words, active && 'Only active rows'].filter(Boolean).join(', ').toLowerCase();
}

/**
 * Return the tracks with activity in the selected range while only active rows are shown; null: no
 * range is selected, or the answer is not there yet.
 */
function activityInRange(viewer: Viewer): ReadSignal<ReadonlySet<number> | null> {
  const { engine, facts, bounds } = viewer;
  const activity = signal<Activity | null>(null);
  let asked = false;
  effect(() => {
    if (asked || !viewer.rows.get().active || !viewer.range.get()) return;
    asked = true;
    busyActivity(engine, facts.tracks, bounds, bucketsFor(facts.tracks.length, MOST_BUCKETS))
      .then((answer) => activity.set(answer))
      .catch(viewer.failed);
  });
  return computed(() => {
    const [known, range] = [activity.get(), viewer.range.get()];
    return known && range ? tracksActiveIn(known, range) : null;
  });
}

/** Return the trace info and the rows as the user chose them. */
export function chosenRows(
  viewer: Viewer,
  rows: ReadSignal<readonly Row[]>,
): ReadSignal<{ facts: TrackOrder; rows: readonly Row[] }> {
  const within = activityInRange(viewer);
  return computed(() => {
    const { order, active } = viewer.rows.get();
    const all = rows.get();
    const facts = orderRows(viewer.facts, order, all);
    if (!active) return { facts, rows: all };
    const left = activeRows(facts, all, within.get());
    return { facts: { ...facts, tracks: left.tracks }, rows: left.rows };
  });
}

/** Return the menu, which looks like a button. */
export function rowOrderMenu(viewer: Viewer): HTMLElement {
  const words = orderWords(viewer);
  const activeOption = h('option', { attrs: { value: ACTIVE } });
  const select = h(
    'select',
    { attrs: { 'aria-label': 'Order of rows' } },
    ...[...words].map(([order, text]) => h('option', { attrs: { value: order } }, text)),
    activeOption,
  );
  const box = h('span', { class: 'icon-button row-order' }, icon('order'), select);
  const showChoice = (): void => {
    const { order, active } = viewer.rows.get();
    const chosen = rowOrderInWords(viewer);
    select.value = words.has(order) ? order : 'usual';
    activeOption.textContent = active ? 'Show all rows' : 'Only active rows';
    select.title = `Order of rows${chosen ? `: ${chosen}` : ''}`;
    box.classList.toggle('chosen', chosen !== '');
  };
  select.addEventListener('change', () => {
    const { value } = select;
    viewer.rows.update((rows) =>
      value === ACTIVE
        ? { ...rows, active: !rows.active }
        : { ...rows, order: ROW_ORDERS.find((order) => order === value) ?? 'usual' },
    );
    showChoice();
  });
  effect(showChoice);
  return box;
}
