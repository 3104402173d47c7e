// SPDX-License-Identifier: Apache-2.0
// A qualified name in a cell. If space is short, the package is cut, because the reader looks for
// the name after it. A signature (or what else tells frames of one name apart) follows only if other
// frames have the name, or if the text to find is there.

import { h, type Child } from '../../base/dom';
import { shortened } from '../../base/visible';
import { signatureMatch, type Frames, type MatchFinder } from '../../model/names';

/** Return the text that tells a frame from others of its name; null: the name tells it. */
export function overloadText(frames: Frames, frame: number): Child {
  const text = frames.distinction(frame);
  return text === '' ? null : h('span', { class: 'second signature' }, ` ${shortened(text)}`);
}

/** Return the signature with the match underlined if only the signature has it. */
export function foundSignature(frames: Frames, frame: number, find: MatchFinder): Child {
  const match = signatureMatch(frames, frame, find);
  if (!match) return null;
  const { text, at, end } = match;
  const found = h('span', { class: 'found' }, shortened(text.slice(at, end)));
  return h('span', { class: 'second signature' }, ` ${text.slice(0, at)}`, found, text.slice(end));
}

/** Return the name of a frame; what `find` finds is underlined. */
export function pathText(
  frames: Frames,
  frame: number,
  find: MatchFinder,
  title = frames.full(frame),
): HTMLElement {
  const prefix = frames.packagePrefix(frame);
  const name = prefix + frames.short(frame);
  const [at, end] = find(name);
  const part = (from: number, to: number, style: string): Child =>
    from < to && h('span', { class: style }, shortened(name.slice(from, to)));
  const pieces = (from: number, to: number, style: string): Child[] => {
    const a = Math.min(to, Math.max(from, at < 0 ? to : at));
    const b = Math.min(to, Math.max(a, at < 0 ? to : end));
    return [part(from, a, style), part(a, b, `${style} found`), part(b, to, style)];
  };
  const own = h('span', { class: 'own' }, ...pieces(prefix.length, name.length, ''));
  const signature = foundSignature(frames, frame, find) ?? overloadText(frames, frame);
  return h(
    'span',
    { class: 'text path', title: shortened(title) },
    prefix !== '' && h('span', { class: 'package' }, ...pieces(0, prefix.length, 'second')),
    signature ? h('span', { class: 'with-signature' }, own, signature) : own,
  );
}
