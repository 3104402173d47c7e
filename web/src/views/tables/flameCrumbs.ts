// SPDX-License-Identifier: Apache-2.0
// The path to the frame at which a flame graph begins. Each step leads back to its frame.

import { fill, h, type Child } from '../../base/dom';
import { shortened } from '../../base/visible';
import type { FlameFrame } from '../../model/address';
import type { FlameNames } from '../../model/flameNames';

/** The last NAMED frames are named; earlier ones are one mark. */
const NAMED = 3;

function flameCrumb(text: string, title: string, click: () => void): HTMLElement {
  return h('button', { class: 'link', title, attrs: { type: 'button' }, on: { click } }, text);
}

/** Show the path, or `hint` if the graph is not zoomed. */
export function showCrumbs(
  element: HTMLElement,
  way: readonly FlameFrame[],
  names: FlameNames,
  hint: string,
  go: (way: readonly FlameFrame[]) => void,
): void {
  if (way.length === 0) return fill(element, h('span', { title: hint }, hint));
  const first = Math.max(0, way.length - NAMED);
  const step = (at: number, text: string): Child[] => [
    h('span', null, '›'),
    flameCrumb(text, names.short(way[at]?.frame ?? 0), () => go(way.slice(0, at + 1))),
  ];
  fill(
    element,
    flameCrumb('All threads', 'The whole graph again', () => go([])),
    ...(first > 0 ? step(first - 1, '…') : []),
    ...way
      .slice(first)
      .flatMap(({ frame }, k) => step(first + k, shortened(names.short(frame), 60))),
  );
}
