// SPDX-License-Identifier: Apache-2.0
// Which lines of a tree table are open, as a short text for the address: frames in base 36, those
// under a line in brackets behind it, a star where everything below is open: "5k(7*,9(2))".  Frames
// stay what they are in every range and under every filter, unlike lines.

export interface OpenLine {
  frame: number;
  /** All that lies below is open too. */
  all: boolean;
  under: OpenLine[];
}

/** An address must stay short enough to be copied. */
export const MOST_OPEN = 255;

export function writeOpen(lines: readonly OpenLine[]): string {
  return lines
    .map(({ frame, all, under }) => {
      const below = all ? '*' : under.length > 0 ? `(${writeOpen(under)})` : '';
      return frame.toString(36) + below;
    })
    .join(',');
}

/** Whatever makes no sense is left out. */
export function readOpen(text: string): OpenLine[] {
  const top: OpenLine[] = [];
  const lists = [top];
  let last: OpenLine | null = null;
  let count = 0;
  for (const [word] of text.matchAll(/[0-9a-z]+|[(),*]/g)) {
    if (word === '(' && last) lists.push(last.under);
    else if (word === ')' && lists.length > 1) lists.pop();
    else if (word === '*' && last) last.all = true;
    else if (/^[0-9a-z]{1,7}$/.test(word) && count++ < MOST_OPEN) {
      last = { frame: parseInt(word, 36), all: false, under: [] };
      lists.at(-1)?.push(last);
    }
  }
  return top;
}
