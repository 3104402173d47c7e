// SPDX-License-Identifier: Apache-2.0
// The dialog of the R key: type the start and end of the range for which the tables are computed.

import { h, setAttribute, setText, blurWhenClosed } from '../../base/dom';
import { formatTime, formatTimeUnit } from '../../base/format';
import { readRange, writeRange } from '../../model/rangeText';
import { spanLength, revealingView, type Span } from '../../model/span';
import type { Views } from '../context';

/** The dialog in which the user types a range. */
export class RangeDialog {
  readonly element: HTMLDialogElement;
  private readonly input: HTMLInputElement;
  private readonly words = h('p', { id: 'range-words', attrs: { role: 'status' } });

  constructor(private readonly v: Views) {
    this.input = h('input', {
      attrs: {
        ...{ type: 'text', 'aria-label': 'Range, from .. to', spellcheck: false },
        ...{ autocomplete: 'off', 'aria-describedby': 'range-words' },
      },
    });
    this.element = h(
      'dialog',
      { class: 'finder range-dialog', attrs: { 'aria-label': 'Type a range' } },
      this.input,
      this.words,
      h('p', { class: 'second' }, 'For example 1.5 .. 20 ms, 300 µs .. 2 s, 1.5 + 3 ms, .. 20'),
    );
    this.input.addEventListener('input', () => this.show());
    blurWhenClosed(this.element);
    this.element.addEventListener('keydown', (e) => this.key(e));
    this.element.addEventListener('click', (e) => {
      if (e.target === this.element) this.element.close();
    });
  }

  /** Open the dialog with the current range, or with the visible span if there is no range. */
  open(): void {
    const { viewer, mover } = this.v;
    const { bounds } = viewer;
    const { from, to } = mover.goal;
    const seen = { from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) };
    this.input.value = writeRange(viewer.range.peek() ?? seen, viewer.unit.peek());
    this.element.showModal();
    this.input.select();
    this.show();
  }

  private read(): Span | string {
    const { viewer } = this.v;
    return readRange(this.input.value, viewer.unit.peek(), viewer.bounds);
  }

  private show(): void {
    const unit = this.v.viewer.unit.peek();
    const empty = this.input.value.trim() === '';
    const range = this.read();
    const wrong = !empty && typeof range === 'string';
    this.element.classList.toggle('wrong', wrong);
    setAttribute(this.input, 'aria-invalid', wrong);
    if (empty) return setText(this.words, 'Enter: no range, the whole trace');
    if (typeof range === 'string') return setText(this.words, range);
    const ends = `${formatTime(range.from, unit)} to ${formatTimeUnit(range.to, unit)}`;
    setText(this.words, `${ends}: ${formatTimeUnit(spanLength(range), unit)}`);
  }

  private apply(): void {
    const { viewer, mover } = this.v;
    const range = this.input.value.trim() === '' ? null : this.read();
    if (typeof range === 'string') return;
    this.element.close();
    viewer.setRange(range);
    if (range) mover.glide(revealingView(mover.goal, range, viewer.bounds));
  }

  private key(e: KeyboardEvent): void {
    e.stopPropagation();
    if (e.key !== 'Enter') return;
    this.apply();
    e.preventDefault();
  }
}
