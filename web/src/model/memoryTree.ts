// SPDX-License-Identifier: Apache-2.0
// The figures of a memory dump as a tree: "malloc/heap/objects" stands in "malloc/heap".

import type { MemoryFigure } from './beside';

export interface MemoryNode {
  /** The last part of its path. */
  name: string;
  path: string;
  /** By name of the figure. */
  figures: Map<string, { units: string; value: number | null }>;
  children: MemoryNode[];
}

/** Sizes come first, then what else there is as it stands. */
const FIRST = ['effective_size', 'size'];

/** The names of all figures of a part of a dump, the columns of its table. */
export function columnsOf(figures: readonly MemoryFigure[]): string[] {
  const names = [...new Set(figures.map(([, name]) => name))];
  return [
    ...FIRST.filter((name) => names.includes(name)),
    ...names.filter((name) => !FIRST.includes(name)),
  ];
}

/** Deeper paths than anybody writes stay one name from there on. */
const DEEPEST = 64;

function partsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.length <= DEEPEST
    ? parts
    : [...parts.slice(0, DEEPEST - 1), parts.slice(DEEPEST - 1).join('/')];
}

/** What no figure tells of, but stands above something, has a node as well. */
export function memoryTree(figures: readonly MemoryFigure[]): MemoryNode[] {
  const roots: MemoryNode[] = [];
  const known = new Map<string, MemoryNode>();
  for (const [of, name, units, value] of figures) {
    let list = roots;
    let path = '';
    let node: MemoryNode | undefined;
    for (const part of partsOf(of)) {
      path = path === '' ? part : `${path}/${part}`;
      node = known.get(path);
      if (!node) {
        node = { name: part, path, figures: new Map(), children: [] };
        known.set(path, node);
        list.push(node);
      }
      list = node.children;
    }
    node?.figures.set(name, { units, value });
  }
  return roots;
}
