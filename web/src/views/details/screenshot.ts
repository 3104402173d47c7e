// SPDX-License-Identifier: Apache-2.0
// The image in a snapshot of type "Screenshot": a JPEG or PNG in base64.

import { h } from '../../base/dom';

/** The file signatures in base64. */
const KINDS: readonly [begins: string, type: string][] = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['UklGR', 'image/webp'],
];
/** A longer text is not a screenshot. */
const LONGEST = 20_000_000;

/**
 * Return the data address of an image if a text is one. Only base64 characters get into the
 * address.
 */
export function pictureAddress(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > LONGEST) return null;
  const data = text.replace(/^data:image\/[a-z]+;base64,/, '');
  const kind = KINDS.find(([begins]) => data.startsWith(begins));
  return kind && /^[A-Za-z0-9+/]+={0,2}$/.test(data) ? `data:${kind[1]};base64,${data}` : null;
}

/** Return the image for the details of a snapshot, or null. */
export function screenshot(type: string, snapshot: unknown): HTMLElement | null {
  const address = type === 'Screenshot' ? pictureAddress(snapshot) : null;
  if (address === null) return null;
  return h('img', { class: 'screenshot', attrs: { src: address, alt: 'Screenshot' } });
}
