// SPDX-License-Identifier: Apache-2.0
// The Frames tab: the late frames of the display, by process, for the selected range and tracks.

import { h, setAttribute, type Child } from '../../base/dom';
import { fixedUnit, formatCount, formatTime, plural, unitHead } from '../../base/format';
import { computed, effect, untracked } from '../../base/signal';
import { shortened } from '../../base/visible';
import { DisplayFramesStore } from '../../model/displayFrames';
import {
  causeOf,
  displayGroups,
  displaySheet,
  durationOf,
  figureWords,
  frameTime,
  type DisplayItem,
  type DisplayWords,
} from '../../model/displayTable';
import { processName } from '../../model/names';
import { goToCallOn, type Views } from '../context';
import { swatch } from '../swatch';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import { GroupTable, type GroupColumn } from './groupTable';

/** Frames of Perfetto's frame timeline are named after their numbers alone. */
function frameName(name: string): string {
  return /^\d+$/.test(name) ? `frame ${name}` : name;
}

/** The view of display frames. */
export class FramesView {
  readonly element: HTMLElement;
  readonly findable: Findable;
  private readonly store: DisplayFramesStore;
  private readonly table: GroupTable<DisplayItem>;
  private readonly words: DisplayWords;
  private readonly status = h('span', { class: 'about', attrs: { 'aria-live': 'polite' } });

  constructor(
    private readonly v: Views,
    shown: () => boolean,
  ) {
    const { viewer } = v;
    const store = new DisplayFramesStore(viewer, shown);
    this.store = store;
    this.words = {
      process: (process) => processName(viewer.facts.processes, process),
      name: (frame) => frameName(viewer.frames.full(frame)),
    };
    this.table = new GroupTable<DisplayItem>(v, {
      label: 'Late frames',
      state: viewer.displayFrames,
      groups: computed(() => {
        const answer = store.answer.get();
        return answer ? displayGroups(answer) : [];
      }),
      columns: computed(() => this.columns()),
      words: (item) => `${this.title(item)} ${causeOf(item, this.words, 'ms')}`,
      shown,
      go: (item) => this.go(item),
      selected: (item) => this.isSelected(item),
      whenEmpty: () => (store.answer.peek() ? 'No display frame in the selection.' : ''),
      sheet: (items) => displaySheet(items, this.words, fixedUnit(viewer.unit.peek())),
    });
    this.findable = this.table.findable(() => store.answer.get() !== null);
    const bar = h('div', { class: 'pane-bar' }, this.status);
    this.element = h('div', { class: 'with-bar frames-table' }, bar, this.table.grid.element);
    effect(() => this.showStatus());
    effect(() => {
      const pending = store.pending.get();
      this.element.classList.toggle('pending', pending);
      setAttribute(this.table.grid.scroller, 'aria-busy', pending);
    });
  }

  private title(item: DisplayItem): string {
    if (item.is === 'process') return this.words.process(item.process);
    return shortened(this.words.name(item.frame[7]), 300);
  }

  /**
   * Return the columns. One function makes all that are a time of a frame; `Duration` and the cause
   * differ, because a process has them too.
   */
  private columns(): GroupColumn<DisplayItem>[] {
    const unit = this.v.viewer.unit.get();
    const time = (ns: number | null): string => (ns === null ? '' : formatTime(ns, unit));
    const times = (
      id: 'start' | 'deadline' | 'late' | 'main' | 'render',
      head: string,
      title: string,
    ): GroupColumn<DisplayItem> => ({
      ...{ id, head: unitHead(head, unit), title, number: true },
      value: (item) => frameTime(item, id),
      text: (item) => time(frameTime(item, id)),
    });
    const cause = (item: DisplayItem): string => causeOf(item, this.words, unit);
    return [
      {
        ...{ id: 'name', head: 'Late frame', title: 'Processes, and their late frames' },
        ...{ number: false, width: 0, least: 180 },
        value: (item) => this.title(item),
        text: (item) => this.title(item),
        cell: (item) => this.nameCell(item),
      },
      {
        ...{ id: 'duration', head: unitHead('Duration', unit), number: true },
        title: 'Duration of the frame; for a process, of its longest frame',
        value: durationOf,
        text: (item) => time(durationOf(item)),
      },
      times(
        'deadline',
        'Deadline',
        'Time from its start to its deadline; negative if it began too late',
      ),
      times('late', 'Late by', 'Time by which it missed its deadline'),
      times('main', 'Main', 'Time of the main thread'),
      times('render', 'Render', 'Time of the render thread'),
      {
        ...{ id: 'cause', head: 'What took the time', number: false, width: 220, least: 120 },
        title:
          'The name with the largest self time in the frame, or the reason that the trace gives',
        value: cause,
        text: cause,
      },
      times('start', 'Start', 'When the frame began'),
    ];
  }

  /**
   * Return the first cell: of a process its name with its figures in words, of a frame its colour
   * and name, with a note when its end is not known.
   */
  private nameCell(item: DisplayItem): Child[] {
    const { viewer, settings } = this.v;
    const title = this.title(item);
    if (item.is === 'process') {
      const words = figureWords(item.figures, viewer.unit.peek());
      const second = h('span', { class: 'second' }, ` ${words}`);
      return [
        h('span', { class: 'text', title: `${title}: ${words}` }, h('b', null, title), second),
      ];
    }
    const open = item.frame[12] ? ', unfinished' : '';
    return [
      swatch(viewer.frames, item.frame[7], settings.theme.peek()),
      h('span', { class: 'text link', title }, title + open),
    ];
  }

  /**
   * Say how many frames are late, and by which deadlines: whether a frame is late is a judgement
   * that the user must be able to check.
   */
  private showStatus(): void {
    const answer = this.store.answer.get();
    if (!answer) {
      this.status.textContent = 'Looking ...';
      return;
    }
    const [frames, late] = answer.all;
    const left = answer.left_out > 0 ? `, ${formatCount(answer.left_out)} of them not listed` : '';
    const counts = `${formatCount(late)} of ${plural(frames, 'frame')} late${left}.`;
    this.status.textContent = [counts, ...answer.deadlines].join(' ');
    this.status.title = this.status.textContent;
  }

  private go(item: DisplayItem): void {
    if (item.is === 'process') return;
    const [row, index] = item.frame;
    goToCallOn(this.v, { row, index });
  }

  private isSelected(item: DisplayItem): boolean {
    const call = this.v.viewer.call.peek();
    return item.is === 'frame' && call?.row === item.frame[0] && call.index === item.frame[1];
  }

  exported(): Exported {
    return {
      name: 'frames',
      sheet: () => untracked(() => this.store.answer.peek() && this.table.sheet()),
    };
  }

  copyText(): string | null {
    return this.table.copyText();
  }
}
