// SPDX-License-Identifier: Apache-2.0
// The picture in a snapshot of type "Screenshot": base64 of a JPEG or PNG.

import { h } from '../../base/dom';

/** What the first bytes of such pictures are as base64. */
const KINDS: readonly [begins: string, type: string][] = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['UklGR', 'image/webp'],
];
/** More is no screenshot. */
const LONGEST = 20_000_000;

/** The address of a picture, where a text is one; nothing of it but base64 gets there. */
export function pictureAddress(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > LONGEST) return null;
  const data = text.replace(/^data:image\/[a-z]+;base64,/, '');
  const kind = KINDS.find(([begins]) => data.startsWith(begins));
  return kind && /^[A-Za-z0-9+/]+={0,2}$/.test(data) ? `data:${kind[1]};base64,${data}` : null;
}

/** The picture, for the details of an object's snapshot; null where it has none. */
export function screenshot(type: string, snapshot: unknown): HTMLElement | null {
  const address = type === 'Screenshot' ? pictureAddress(snapshot) : null;
  if (address === null) return null;
  return h('img', { class: 'screenshot', attrs: { src: address, alt: 'Screenshot' } });
}
