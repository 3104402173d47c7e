// SPDX-License-Identifier: Apache-2.0
// Drag and drop of files onto the page. The whole page is the target, and shows that it is.

import { h, icon, setText } from '../../base/dom';

/** The dropped files, and the names of directories, which cannot be opened as one file. */
export interface Dropped {
  files: File[];
  folders: string[];
}

function bringsFiles(e: DragEvent): boolean {
  return e.dataTransfer?.types.includes('Files') ?? false;
}

function sortDropped(data: DataTransfer): Dropped {
  const dropped: Dropped = { files: [], folders: [] };
  for (const item of data.items) {
    const file = item.kind === 'file' ? item.getAsFile() : null;
    const entry = item.kind === 'file' ? item.webkitGetAsEntry() : null;
    if (entry?.isDirectory) dropped.folders.push(entry.name);
    else if (file) dropped.files.push(file);
  }
  return dropped;
}

/** The drop target. */
export class DropTarget {
  private readonly words = h('b', null);
  readonly element = h(
    'div',
    { class: 'drop-target', hidden: true, attrs: { 'aria-hidden': true } },
    h('div', null, icon('open'), this.words),
  );
  /** The number of elements entered and not left, because each element gets events. */
  private depth = 0;

  constructor(dropped: (what: Dropped) => void, words = 'Drop to open') {
    setText(this.words, words);
    addEventListener('dragenter', (e) => {
      if (!bringsFiles(e)) return;
      e.preventDefault();
      this.depth++;
      this.element.hidden = false;
    });
    addEventListener('dragover', (e) => {
      if (!bringsFiles(e)) return;
      e.preventDefault();
      if (e.dataTransfer) e.dataTransfer.dropEffect = 'copy';
    });
    addEventListener('dragleave', (e) => {
      if (!bringsFiles(e)) return;
      this.depth = Math.max(0, this.depth - 1);
      this.element.hidden = this.depth === 0;
    });
    addEventListener('drop', (e) => {
      if (!bringsFiles(e)) return;
      e.preventDefault();
      this.depth = 0;
      this.element.hidden = true;
      if (e.dataTransfer) dropped(sortDropped(e.dataTransfer));
    });
  }
}
