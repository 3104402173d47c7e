// SPDX-License-Identifier: Apache-2.0
// A memory dump as a tree: "malloc/heap/objects" becomes a child of "malloc/heap".

import type { MemoryFigure } from './nonSliceEvents';

/** A node of the tree. */
export interface MemoryNode {
  /** The last component of its path. */
  name: string;
  path: string;
  /** Values by name. */
  figures: Map<string, { units: string; value: number | null }>;
  children: MemoryNode[];
}

/** Sizes come first, then the other values in the order of the file. */
const FIRST = ['effective_size', 'size'];

/** Return the names of all values, which are the columns of the table. */
export function memoryColumns(figures: readonly MemoryFigure[]): string[] {
  const names = [...new Set(figures.map(([, name]) => name))];
  return [
    ...FIRST.filter((name) => names.includes(name)),
    ...names.filter((name) => !FIRST.includes(name)),
  ];
}

/** Limit of the depth: longer paths keep their tail as one name. */
const DEEPEST = 64;

function pathComponents(path: string): string[] {
  const parts = path.split('/');
  return parts.length <= DEEPEST
    ? parts
    : [...parts.slice(0, DEEPEST - 1), parts.slice(DEEPEST - 1).join('/')];
}

/** Build the tree. A parent without values of its own gets a node as well. */
export function memoryTree(figures: readonly MemoryFigure[]): MemoryNode[] {
  const roots: MemoryNode[] = [];
  const known = new Map<string, MemoryNode>();
  for (const [of, name, units, value] of figures) {
    let list = roots;
    let path = '';
    let node: MemoryNode | undefined;
    for (const part of pathComponents(of)) {
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
