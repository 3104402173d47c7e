// SPDX-License-Identifier: Apache-2.0
// Elements of a long list, of which only those near the view exist. While the list is scrolled, the
// elements that stay are kept, because creating and laying out all of them takes longer than a frame.

export interface Line {
  top: number;
  height: number;
  /** The key of the button of the label. Of the labels of one track only one counts. */
  key: string;
  make: () => HTMLElement;
}

/** The place of a line, which no other line has: lines of one track may have one key. */
const place = ({ key, top }: Line): string => `${top} ${key}`;

/** The elements of a list by their places. */
export class KeptLines {
  private elements = new Map<string, HTMLElement>();

  constructor(private readonly make: (line: Line) => HTMLElement) {}

  /** Create all elements again the next time, because something in them changed. */
  forget(): void {
    this.elements.clear();
  }

  /** Show these lines, and no others, in their order. */
  fill(parent: Element, lines: readonly Line[]): void {
    const before = this.elements;
    this.elements = new Map(
      lines.map((line) => [place(line), before.get(place(line)) ?? this.make(line)]),
    );
    const shown = new Set<Element>(this.elements.values());
    for (const child of [...parent.children]) if (!shown.has(child)) child.remove();
    let next = parent.firstElementChild;
    for (const element of shown)
      if (element === next) next = next.nextElementSibling;
      else parent.insertBefore(element, next);
  }
}
