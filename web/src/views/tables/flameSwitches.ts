// SPDX-License-Identifier: Apache-2.0
// The switches above a flame graph: its content and its order; and those of its content above tables.

import { fill, h, setAttribute } from '../../base/dom';
import { effect, type Signal } from '../../base/signal';
import { KERNEL, KINDS, kindColour } from '../../model/colours';
import type { FlameOf, FlameOrder } from '../../model/address';
import type { Viewer } from '../../model/viewer';
import { inTermsOf, wordsFor } from '../../model/words';
import type { Settings } from '../settings';

const ORDERS: readonly [FlameOrder, string, string, string][] = [
  [
    'time',
    '1',
    'Time order',
    'Calls in the order of time, equal neighbours merged; each thread by itself',
  ],
  ['left-heavy', '2', 'Left heavy', 'Equal stacks merged, the longest at the left'],
  ['by-name', '', 'By name', 'Equal stacks merged, sorted by name'],
  [
    'sandwich',
    '3',
    'Sandwich',
    'The selected method: its callers above, the calls inside it below',
  ],
  ['inverted', '4', 'Inverted', 'From the methods that took the time up to their callers'],
];

export function orderName(order: FlameOrder): string {
  return ORDERS.find(([name]) => name === order)?.[2] ?? '';
}

const FLAMES: readonly [FlameOf, string][] = [
  ['calls', 'Calls'],
  ['count', 'Samples, by count'],
  ['weight', 'Samples, by weight'],
  ['time', 'Samples, by time'],
];

/**
 * Return the menu that chooses calls or samples, and the weight of samples, if the trace has both.
 */
export function flameContentSwitch(viewer: Viewer, label: string): HTMLElement | null {
  if (viewer.facts.samples === 0) return null;
  const { calls, axis } = viewer.facts;
  const choices = FLAMES.filter(
    ([of]) => (of !== 'calls' || calls > 0) && (of !== 'time' || axis !== 'weight'),
  );
  const select = h(
    'select',
    { class: 'of', attrs: { 'aria-label': label } },
    ...choices.map(([of, text]) =>
      h('option', { attrs: { value: of } }, inTermsOf(wordsFor(viewer.facts), text)),
    ),
  );
  select.addEventListener('change', () => {
    viewer.flameOf.set(FLAMES.find(([of]) => of === select.value)?.[0] ?? 'calls');
  });
  effect(() => {
    select.value = viewer.flameOf.get();
  });
  return select;
}

/** Return the bar above a table with the menus of what the table is of; null: only of calls. */
export function measureBar(viewer: Viewer, label: string): HTMLElement | null {
  const of = flameContentSwitch(viewer, label);
  return of && h('div', { class: 'pane-bar' }, of, valueTypeSwitch(viewer));
}

/** Return the menu that chooses the value type of samples, if there are several. */
export function valueTypeSwitch(viewer: Viewer): HTMLElement | null {
  const types = viewer.facts.value_types ?? [];
  if (types.length < 2) return null;
  const select = h(
    'select',
    { class: 'of', attrs: { 'aria-label': 'Value type of samples' } },
    ...types.map(({ name, unit }, i) =>
      h('option', { attrs: { value: `${i + 1}` } }, unit === '' ? name : `${name}, ${unit}`),
    ),
  );
  select.addEventListener('change', () => viewer.chooseValue(Number(select.value)));
  effect(() => {
    const first = types.findIndex((type) => type.first) + 1;
    select.value = `${viewer.valueType.get() || first}`;
    select.hidden = viewer.flameOf.get() === 'calls';
  });
  return select;
}

export function orderSwitch(viewer: Viewer): HTMLElement {
  return h(
    'div',
    { class: 'segments', attrs: { role: 'group', 'aria-label': 'Order' } },
    ...ORDERS.map(([order, key, name, title]) => {
      const text = order === 'time' && viewer.facts.axis === 'weight' ? 'File order' : name;
      const button = h(
        'button',
        {
          title: inTermsOf(wordsFor(viewer.facts), title),
          attrs: { type: 'button' },
          on: { click: () => viewer.flameOrder.set(order) },
        },
        key !== '' && h('kbd', null, key),
        text,
      );
      effect(() => setAttribute(button, 'aria-pressed', viewer.flameOrder.get() === order));
      return button;
    }),
  );
}

function flameToggle(
  text: string,
  title: string,
  on: Signal<boolean>,
  state: () => { pressed: boolean; disabled: boolean },
): HTMLElement {
  const button = h(
    'button',
    {
      class: 'toggle',
      title,
      attrs: { type: 'button' },
      on: { click: () => on.update((old) => !old) },
    },
    text,
  );
  effect(() => {
    const { pressed, disabled } = state();
    setAttribute(button, 'aria-pressed', pressed);
    button.disabled = disabled;
  });
  return button;
}

/** Return the switches that merge threads and that merge recursive calls into one frame. */
export function flameToggles(viewer: Viewer): HTMLElement[] {
  const { flameApart, flameFold } = viewer;
  const threads = flameToggle(
    'Threads apart',
    'Threads side by side, not merged; a click on one shows it alone',
    flameApart,
    () => {
      const time = viewer.flameOrder.get() === 'time';
      const samples = viewer.flameOf.get() !== 'calls';
      return { pressed: time || (!samples && flameApart.get()), disabled: time || samples };
    },
  );
  const folded = flameToggle(
    'Fold recursion',
    inTermsOf(
      wordsFor(viewer.facts),
      'Recursive calls of a method are merged into its outermost call',
    ),
    flameFold,
    () => ({ pressed: flameFold.get(), disabled: false }),
  );
  return viewer.facts.calls > 0 ? [threads, folded] : [folded];
}

/** Return the switch of the colours by kind; null for traces that know no kinds of frames. */
export function kindSwitch({ frames }: Viewer, settings: Settings): HTMLElement | null {
  if (!frames.hasKinds) return null;
  const button = h(
    'button',
    {
      class: 'toggle',
      title: 'Colours show what kind of code a frame is',
      attrs: { type: 'button' },
      on: { click: () => settings.toggleByKind() },
    },
    'By kind',
  );
  effect(() => setAttribute(button, 'aria-pressed', settings.byKind.get()));
  return button;
}

/** Return a line that tells what the colours by kind mean, while they are shown. */
export function kindLegend({ frames }: Viewer, settings: Settings): HTMLElement {
  const legend = h('div', { class: 'legend' });
  const entry = (kind: number, bars: readonly string[]): HTMLElement => {
    const square = h('i', { class: 'swatch', attrs: { 'aria-hidden': 'true' } });
    square.style.backgroundColor = bars[kindColour(kind)] ?? '';
    const underlined = kind === KERNEL ? ', with a line at the foot' : '';
    return h('span', null, square, `${KINDS[kind] ?? ''}${underlined}`);
  };
  effect(() => {
    const { bars } = settings.theme.get();
    legend.hidden = !settings.byKind.get() || !frames.hasKinds;
    fill(legend, ...frames.kinds.map((kind) => entry(kind, bars)));
  });
  return legend;
}
