// SPDX-License-Identifier: Apache-2.0
// Text widths, summed from the widths of letters. Measuring whole names for every bar of every
// frame would cost more than drawing them.

export type TextMeasure = (text: string) => number;

const ELLIPSIS = '…';

/** Measures and shortens text of one font, with a cache of widths. */
export class TextMeter {
  private readonly letters = new Map<string, number>();
  private readonly widths = new Map<string, number>();

  constructor(private readonly measure: TextMeasure) {}

  private letter(c: string): number {
    let width = this.letters.get(c);
    if (width === undefined) {
      width = this.measure(c);
      this.letters.set(c, width);
    }
    return width;
  }

  width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = 0;
      for (const c of text) width += this.letter(c);
      if (this.widths.size > 20000) this.widths.clear();
      this.widths.set(text, width);
    }
    return width;
  }

  /**
   * Return the text, or the part that fits before an ellipsis, or '' if fewer than 3 letters fit.
   */
  fit(text: string, room: number): string {
    if (this.width(text) <= room) return text;
    let left = room - this.letter(ELLIPSIS);
    let n = 0;
    for (const c of text) {
      left -= this.letter(c);
      if (left < 0) break;
      n += c.length;
    }
    return n > 2 ? text.slice(0, n) + ELLIPSIS : '';
  }

  /** Return "Class.method" if it fits, else the method, else the start of the method. */
  label(name: string, method: string, room: number): string {
    if (this.width(name) <= room) return name;
    // A short or special method name ("get", "<init>") says less than its class.
    const special = method.length < 4 || method.startsWith('<');
    return (special && this.fit(name, room)) || this.fit(method, room);
  }
}
