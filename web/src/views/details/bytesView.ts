// SPDX-License-Identifier: Apache-2.0
// The bytes of the file around a place: as text if they look like text, else as a hex dump.

import { fill, h, iconButton } from '../../base/dom';
import { formatCount } from '../../base/format';
import { Latest } from '../../base/latest';
import { shortened, makeVisible } from '../../base/visible';
import type { FileBytes } from '../../model/eventAnswers';
import type { Views } from '../context';

const BEFORE = 1024;
const LENGTH = 4096;
/** Longer lines of text are wrapped. */
const WIDEST = 120;
const HEX_WIDTH = 16;

export function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length >> 1 }, (_, i) =>
    parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  );
}

/** Return true if there are few control characters, and a line feed or quote. */
export function looksLikeText(bytes: Uint8Array): boolean {
  const odd = bytes.reduce((n, b) => n + (b < 32 && b !== 9 && b !== 10 && b !== 13 ? 1 : 0), 0);
  return odd * 50 <= bytes.length;
}

/** Return the line starts: after line feeds, and where a line becomes too long. */
export function lineStarts(bytes: Uint8Array, text: boolean): number[] {
  const starts = [0];
  let start = 0;
  for (let i = 0; i < bytes.length; i++) {
    const full = i + 1 - start >= (text ? WIDEST : HEX_WIDTH);
    // Do not split a character of several bytes.
    const inside = text && ((bytes[i + 1] ?? 0) & 0xc0) === 0x80;
    if (!(text && bytes[i] === 10) && (!full || inside)) continue;
    start = i + 1;
    if (start < bytes.length) starts.push(start);
  }
  return starts;
}

function decodeText(bytes: Uint8Array): string {
  return makeVisible(new TextDecoder().decode(bytes).replace(/[\r\n]+$/, ''));
}

function hexNumbers(bytes: Uint8Array): string {
  const hex = [...bytes].map((b) => b.toString(16).padStart(2, '0')).join(' ');
  const signs = [...bytes].map((b) => (b >= 32 && b < 127 ? String.fromCharCode(b) : '·')).join('');
  return `${hex.padEnd(HEX_WIDTH * 3)} ${signs}`;
}

/** The view of bytes. */
export class BytesView {
  readonly element = h('div', {
    class: 'bytes-view',
    hidden: true,
    tabIndex: -1,
    attrs: { role: 'region', 'aria-label': 'Bytes of the file' },
  });
  private readonly asking: Latest;

  constructor(private readonly v: Views) {
    this.asking = new Latest(v.viewer.failed);
  }

  /** Show the bytes around a place. `file` is named if there are several files. */
  show(place: number, input = 0, file = ''): void {
    const { engine } = this.v.viewer;
    const from = Math.max(0, place - BEFORE);
    this.asking.run(
      () => engine.bytes(from, LENGTH, input),
      (answer) => this.fill(answer, place, file),
    );
  }

  close(): void {
    this.asking.cancel();
    this.element.hidden = true;
  }

  private fill(answer: FileBytes, place: number, file: string): void {
    const bytes = bytesOfHex(answer.hex);
    const text = looksLikeText(bytes);
    const starts = lineStarts(bytes, text);
    const lines = starts.map((start, i) => {
      const end = starts[i + 1] ?? bytes.length;
      const at = place - answer.offset;
      return this.line(bytes.subarray(start, end), answer.offset + start, at - start, text);
    });
    const title =
      `Byte ${formatCount(place)} of ${formatCount(answer.size)}` +
      (file === '' ? '' : ` in ${shortened(makeVisible(file), 200)}`);
    const close = iconButton('close', 'Close the bytes', () => this.close());
    fill(
      this.element,
      h('div', { class: 'pane-bar' }, h('b', null, title), h('span', { class: 'grow' }), close),
      h('pre', { class: 'scroller', tabIndex: 0, attrs: { 'aria-label': title } }, ...lines),
    );
    this.element.hidden = false;
    this.element.querySelector('mark')?.scrollIntoView({ block: 'center' });
    this.v.announce(title);
  }

  /** `at` is the index of the place within the line, if the line contains it. */
  private line(bytes: Uint8Array, offset: number, at: number, text: boolean): HTMLElement {
    const here = at >= 0 && at < bytes.length;
    const gutter = h('span', { class: 'gutter' }, formatCount(offset));
    if (!text) {
      const content = hexNumbers(bytes);
      return h(
        'div',
        { class: here ? 'here' : '' },
        gutter,
        here ? h('mark', null, content) : content,
      );
    }
    if (!here) return h('div', null, gutter, decodeText(bytes));
    const marked = decodeText(bytes.subarray(at, at + 1));
    // Mark all bytes of a multibyte character.
    let end = at + 1;
    while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end++;
    return h(
      'div',
      { class: 'here' },
      gutter,
      decodeText(bytes.subarray(0, at)),
      h('mark', null, end > at + 1 ? decodeText(bytes.subarray(at, end)) : marked || ' '),
      decodeText(bytes.subarray(end)),
    );
  }
}
