// SPDX-License-Identifier: Apache-2.0
// A qualified name in a cell. If space is short, the package is cut, because the reader looks for
// the name behind it.

import { h, type Child } from '../../base/dom';
import { shortened } from '../../base/visible';
import type { Frames } from '../../model/names';

/** `found` is the range of the full name to mark, or -1. */
export function pathText(
  frames: Frames,
  frame: number,
  found: readonly [at: number, end: number],
  title = frames.full(frame),
): HTMLElement {
  const prefix = frames.packagePrefix(frame);
  const name = prefix + frames.short(frame);
  const [at, end] = found;
  const part = (from: number, to: number, style: string): Child =>
    from < to && h('span', { class: style }, shortened(name.slice(from, to)));
  const pieces = (from: number, to: number, style: string): Child[] => {
    const a = Math.min(to, Math.max(from, at < 0 ? to : at));
    const b = Math.min(to, Math.max(a, at < 0 ? to : end));
    return [part(from, a, style), part(a, b, `${style} found`), part(b, to, style)];
  };
  return h(
    'span',
    { class: 'text path', title: shortened(title) },
    prefix !== '' && h('span', { class: 'package' }, ...pieces(0, prefix.length, 'second')),
    h('span', { class: 'own' }, ...pieces(prefix.length, name.length, '')),
  );
}
