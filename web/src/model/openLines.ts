// SPDX-License-Identifier: Apache-2.0
// Notation for the open lines of a tree table in the address: frame numbers in base 36, children in
// brackets, a star if everything below is open. Example: "5k(7*,9(2))". Frame numbers are stable
// across ranges and filters; line numbers are not.

/** An open line with the open lines below it. */
export interface OpenLine {
  frame: number;
  /** Everything below is open as well. */
  all: boolean;
  under: OpenLine[];
}

/** Limit that keeps the address short enough to copy. */
export const MOST_OPEN = 255;

/** Format open lines for the address. */
export function writeOpen(lines: readonly OpenLine[]): string {
  return lines
    .map(({ frame, all, under }) => {
      const below = all ? '*' : under.length > 0 ? `(${writeOpen(under)})` : '';
      return frame.toString(36) + below;
    })
    .join(',');
}

/** Parse the output of writeOpen; malformed parts are dropped. */
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
