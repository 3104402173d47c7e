// SPDX-License-Identifier: Apache-2.0
// The labels next to the tracks. Only labels in or near the view are elements, because a trace may
// have thousands of threads.
//
//   layout (boxes) --> lines in [from, to], the view plus AHEAD --> KeptLines --> elements
// The line with the keyboard focus stays an element also beyond: removing it would lose the focus.

import { fill, h, icon } from '../../base/dom';
import { formatCount, formatRough, formatShort, plural } from '../../base/format';
import { processKey } from '../../model/arrangement';
import { counterTime, numericSeries, selectCounter } from '../../model/counters';
import type { CounterFacts } from '../../model/engine';
import type { Track } from '../../model/traceFacts';
import {
  boxAt,
  boxesIn,
  isSingle,
  isThin,
  processesOf,
  type GroupBox,
  type TimelineLayout,
  type RowBox,
  type TrackBox,
} from '../../model/layout';
import { ownerId, hasOwnName, processName, trackName } from '../../model/names';
import { FIRST_LANES, type FoldRow, type ObjectsRow } from '../../model/rows';
import { CPUS, threadsOf } from '../../model/states';
import { inTermsOf, countSlices, wordsFor } from '../../model/words';
import type { Label } from '../../render/labelPainter';
import { ArrangeTracks } from './arrangeTracks';
import { counterChoice } from './counterChoice';
import { KeptLines, type Line } from './keptLines';
import type { Views } from '../context';
import { Roving } from './roving';
import { chartButton } from './chartButton';
import { busyTime, fileOf, foldWords, objectWords } from './trackWords';
import { partnerMark, processWords, trackKind } from './trackWords';

/** Labels this far above and below the view, in CSS pixels, are created in advance; more of them
 * when half of these have come into view. */
const AHEAD = 600;

/** From this height on, in px, the name of a label stays in view while its rows scroll. */
const TALL = 48;

function labelClass(more: string, { height }: { height: number }): string {
  return `label ${more}${height >= TALL ? ' tall' : ''}`;
}

/** The column of labels. */
export class TimelineLabels {
  readonly element: HTMLElement;
  /** The labels of pinned tracks do not scroll. */
  private readonly pinned = h('div', { class: 'pinned-labels' });
  private readonly scrolled = h('div', { class: 'scrolled-labels' });
  private readonly lines = new KeptLines((line) => this.make(line));
  private readonly arrange: ArrangeTracks;
  private readonly roving: Roving;
  private placed: TimelineLayout | null = null;
  /** The tracks of each process. */
  private readonly own: ReadonlyMap<number, readonly Track[]>;
  /** Tracks are from several files, which are named beside them. */
  private readonly severalFiles: boolean;
  /** The interval of lines that are elements. */
  private from = 0;
  private to = 0;

  constructor(
    private readonly v: Views,
    scroller: () => HTMLElement,
    placed: () => TimelineLayout,
  ) {
    this.element = h('div', { class: 'labels' }, this.pinned, this.scrolled);
    this.roving = new Roving(this.element);
    const { facts } = v.viewer;
    this.own = processesOf(facts.tracks);
    this.severalFiles =
      facts.tracks.length > 0 && fileOf(facts.tracks, facts) === null && facts.files.length > 1;
    this.arrange = new ArrangeTracks(v, this.element, scroller, placed);
  }

  /** Create all labels again, after the layout or a text changed. */
  lay(placed: TimelineLayout, top: number, bottom: number): void {
    const { viewer, selection } = this.v;
    viewer.tracks.get();
    selection.details.get();
    viewer.whole.get();
    viewer.unit.get();
    viewer.counterViews.get();
    viewer.overlays.get();
    viewer.mark.get();
    for (const read of [viewer.hold, viewer.paired.alone]) read.get();
    this.placed = placed;
    this.pinned.style.height = `${placed.pinned}px`;
    this.lines.forget();
    this.fill(top, bottom);
  }

  /** Return the lines between two heights of the list, from top to bottom. */
  private linesIn(top: number, bottom: number): Line[] {
    const { placed } = this;
    if (!placed) return [];
    return [
      ...boxesIn(placed.groups, top, bottom).map((box) => this.groupLine(box)),
      ...boxesIn(placed.rows, top, bottom).map((box) => this.rowLine(box)),
      ...boxesIn(placed.tracks, top, bottom).map((box) => this.trackLine(box)),
    ].sort((a, b) => a.top - b.top);
  }

  private groupLine(group: GroupBox): Line {
    const { top, height, process } = group;
    return { top, height, key: `p${process}`, make: () => this.group(group) };
  }

  private rowLine(box: RowBox): Line {
    const { top, height, row } = box;
    return { top, height, key: row.key, make: () => this.row(box) };
  }

  private trackLine(box: TrackBox): Line {
    const { top, height, track } = box;
    return { top, height, key: `n${track.track}`, make: () => this.track(box) };
  }

  /** Return the line of a key. */
  private lineOf(key: string): Line | null {
    const { groups = [], rows = [], tracks = [] } = this.placed ?? {};
    const group = groups.find((g) => key === `p${g.process}`);
    if (group) return this.groupLine(group);
    const row = rows.find((b) => key === b.row.key);
    if (row) return this.rowLine(row);
    const track = tracks.find((b) => key === `n${b.track.track}`);
    return track ? this.trackLine(track) : null;
  }

  /** Create the labels that come into view. */
  show(top: number, bottom: number): void {
    const end = this.placed?.height ?? 0;
    const [from, to] = [Math.max(0, top - AHEAD / 2), Math.min(bottom + AHEAD / 2, end)];
    if (from < this.from || to > this.to) this.fill(top, bottom);
  }

  /** Return the texts of the labels, for a saved picture. */
  shown(): Label[] {
    const text = (of: Element, found: string): string =>
      [...of.querySelectorAll(found)].map((e) => e.textContent.trim()).join(' ');
    return [...this.element.querySelectorAll<HTMLElement>('.label, .group-line')].map((label) => {
      const group = label.classList.contains('group-line');
      return {
        top: parseFloat(label.style.top),
        height: parseFloat(label.style.height),
        group,
        chosen: label.classList.contains('selected'),
        id: text(label, '.tid'),
        name: text(label, group ? '.group b' : '.name, .fold'),
        side: text(label, '.kind, .side'),
        second: text(label, '.second, .levels'),
      };
    });
  }

  focus(key: string): void {
    const found = this.element.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
    found?.focus({ preventScroll: true });
  }

  private fill(top: number, bottom: number): void {
    this.from = Math.max(0, top - AHEAD);
    this.to = bottom + AHEAD;
    const focused = this.element.contains(document.activeElement)
      ? document.activeElement?.getAttribute('data-key')
      : null;
    // Keep the order of the document as on the screen, for keyboard and screen reader.
    const pinned = this.placed?.pinned ?? 0;
    const isPinned = ({ top }: Line): boolean => top < pinned;
    const seen = this.linesIn(this.from, this.to).filter((line) => !isPinned(line));
    const kept = focused ? this.lineOf(focused) : null;
    if (kept && !isPinned(kept) && !seen.some(({ key }) => key === kept.key))
      seen[kept.top < this.from ? 'unshift' : 'push'](kept);
    // Pinned tracks beyond the height of the window are not visible.
    const fixed = this.linesIn(0, Math.min(pinned, bottom - top)).filter(isPinned);
    fill(this.pinned, ...(pinned > 0 ? fixed : []).map((line) => this.make(line)));
    this.lines.fill(this.scrolled, seen);
    this.roving.refresh();
    // A label may be a new element: restore the keyboard focus.
    if (focused && !this.element.contains(document.activeElement)) this.focus(focused);
  }

  /** Create a label. The first label of a unit has the buttons that pin, hide and move it. */
  private make(line: Line): HTMLElement {
    const label = line.make();
    const key = this.arrange.unitAt(line.top);
    if (key === null) return label;
    label.dataset['unit'] = key;
    const name = label.querySelector('.name')?.textContent ?? '';
    const of = this.processOf(line);
    if (of !== null) label.querySelector('.line')?.append(h('span', { class: 'side' }, of));
    const file = this.fileAt(line);
    if (file !== null)
      label.querySelector('.line')?.append(h('span', { class: 'side file' }, file));
    label.append(this.arrange.buttons(key, name, true));
    return label;
  }

  /** Return the name of the process, if the unit is shown apart from its process. */
  private processOf({ top }: Line): string | null {
    const { processes, order } = this.v.viewer.facts;
    if (top >= (this.placed?.pinned ?? 0) || order !== 'owner' || processes.length < 2) return null;
    const process = boxAt(this.placed?.units ?? [], top)?.process ?? null;
    return process === null ? null : processName(processes, process);
  }

  /** Return the file of a track that is below no process, if tracks are from several files. */
  private fileAt({ top }: Line): string | null {
    const { facts } = this.v.viewer;
    const box = facts.order === 'owner' ? null : boxAt(this.placed?.tracks ?? [], top);
    return box && this.severalFiles ? fileOf([box.track], facts) : null;
  }

  /** Create the label of a process: name, id, labels. A click folds or unfolds it. */
  private group(group: GroupBox): HTMLElement {
    const { viewer } = this.v;
    const process = viewer.facts.processes[group.process];
    const own = this.own.get(group.process) ?? [];
    const threads =
      group.process === CPUS ? plural(own.length, 'processor') : plural(threadsOf(own), 'thread');
    const id = process ? ownerId(process) : '';
    const name = processName(viewer.facts.processes, group.process);
    const labels = process?.labels ?? '';
    const file = this.severalFiles ? fileOf(own, viewer.facts) : null;
    const up = process?.uptime_ns ? `up for ${formatShort(process.uptime_ns)}` : '';
    const words = [name, id && `process ${id}`, labels, up, threads, file && `in ${file}`];
    const title = words.filter((word) => word).join(', ');
    const button = h(
      'button',
      {
        class: 'group',
        title: `${title}. A click ${group.open ? 'hides' : 'shows'} what belongs to it.`,
        attrs: { type: 'button', 'aria-expanded': group.open, 'data-key': `p${group.process}` },
        on: { click: () => viewer.toggleProcess(group.process) },
      },
      icon(group.open ? 'down' : 'right'),
      h('b', null, name),
      process?.name ? h('span', { class: 'tid id' }, `pid ${id}`) : null,
      labels ? h('span', { class: 'tid' }, labels) : null,
      file ? h('span', { class: 'tid' }, file) : null,
    );
    const key = processKey(group.process);
    return h(
      'div',
      {
        class: 'group-line',
        style: { top: `${group.top}px`, height: `${group.height}px` },
        attrs: { 'data-unit': key },
      },
      button,
      this.arrange.buttons(key, name, false),
    );
  }

  private row(box: RowBox): HTMLElement {
    const { row } = box;
    switch (row.kind) {
      case 'counter':
        return this.counter(box, row.counter);
      case 'fold':
        return this.fold(box, row);
      case 'objects':
        return this.objects(box, row);
      case 'memory':
        return this.named(box, 'Memory dumps', '', plural(row.dumps, 'memory dump'));
      case 'display': {
        const words = `${plural(row.frames, 'frame')} of the display, ${formatCount(row.late)} late`;
        return this.named(
          box,
          'Frames',
          row.late > 0 ? `${formatCount(row.late)} late` : '',
          words,
        );
      }
      case 'samples': {
        const words = `${plural(row.samples, 'sample')} of ${row.name}`;
        const label = this.named(box, row.name, 'samples', words, row.id);
        if (row.levels > 0) label.firstElementChild?.prepend(chartButton(this.v.viewer, row));
        return label;
      }
      case 'thread': {
        const { instants } = row.of;
        const has = instants > 0 ? plural(instants, 'instant') : 'its async slices are below';
        const words = `${row.of.name}, a thread without slices of its own: ${has}`;
        return this.named(box, row.of.name, '', words, row.of.key ?? String(row.of.thread_id));
      }
    }
  }

  /** Create a label that only names its row. */
  private named(box: RowBox, name: string, kind: string, title: string, id = ''): HTMLElement {
    return h(
      'div',
      {
        class: labelClass('row', box),
        title,
        style: { top: `${box.top}px`, height: `${box.height}px` },
      },
      h(
        'div',
        { class: 'line' },
        h(
          'span',
          { class: 'pick' },
          id && id !== name ? h('span', { class: 'tid' }, `[${id}] `) : null,
          h('span', { class: 'name' }, name),
        ),
        kind ? h('span', { class: 'kind', attrs: { 'aria-hidden': 'true' } }, kind) : null,
      ),
    );
  }

  private objects(box: RowBox, row: ObjectsRow): HTMLElement {
    const label = this.named(box, row.type.type, 'objects', objectWords(row));
    const { lanes } = row.type;
    const more = lanes - row.shown;
    if (lanes <= FIRST_LANES + 2) return label;
    label.append(
      h(
        'button',
        {
          class: 'levels',
          title: more > 0 ? `Show all ${plural(lanes, 'lane')}` : 'Show the first lanes only',
          attrs: { type: 'button', 'data-key': row.key },
          on: { click: () => this.v.viewer.toggleFold(row.key) },
        },
        icon(more > 0 ? 'down' : 'up'),
        more > 0 ? `${formatCount(more)} more ${more === 1 ? 'lane' : 'lanes'}` : 'Fewer lanes',
      ),
    );
    return label;
  }

  /** Create the label that folds many counters or types of objects. */
  private fold(box: RowBox, row: FoldRow): HTMLElement {
    const { viewer } = this.v;
    const words = foldWords(row);
    const button = h(
      'button',
      {
        class: 'fold',
        title: `${words}: a click ${row.open ? 'hides' : 'shows'} them`,
        attrs: { type: 'button', 'aria-expanded': row.open, 'data-key': row.key },
        on: { click: () => viewer.toggleFold(row.key) },
      },
      icon(row.open ? 'down' : 'right'),
      words,
    );
    return h(
      'div',
      { class: 'label row', style: { top: `${box.top}px`, height: `${box.height}px` } },
      button,
    );
  }

  private counter(box: RowBox, counter: CounterFacts): HTMLElement {
    const numeric = numericSeries(counter);
    const names = (all: readonly number[]): string =>
      all.map((k) => counter.series[k] ?? '').join(', ');
    const series = names(numeric);
    const words = names(counter.series.map((_, k) => k).filter((k) => !numeric.includes(k)));
    const without = words ? `; without a number: ${words}` : '';
    const { viewer } = this.v;
    const mark = viewer.mark.peek();
    const chosen = mark?.kind === 'counter' && mark.number === counter.counter;
    const over = this.v.counters.overlayOf(counter);
    return h(
      'div',
      {
        class: labelClass(chosen ? 'counter holds' : 'counter', box),
        title: `Counter ${counter.name}${series ? `: ${series}` : ''}${without}, ${plural(counter.samples, 'sample')}`,
        style: { top: `${box.top}px`, height: `${box.height}px` },
      },
      h(
        'div',
        { class: 'line' },
        h(
          'button',
          {
            class: 'pick',
            title: 'Select this counter; the details show its values and figures',
            attrs: { type: 'button', 'aria-pressed': chosen, 'data-key': box.row.key },
            on: { click: () => selectCounter(viewer, counter, counterTime(viewer)) },
          },
          h('span', { class: 'name' }, counter.name),
        ),
        counterChoice(this.v, counter),
      ),
      // A low row below its processor has room for one line of text.
      box.row.kind === 'counter' &&
        box.row.under === undefined &&
        (over || counter.series.length > 1 || series !== counter.name)
        ? h('div', { class: 'line second' }, over ? `with ${over.name}` : series)
        : null,
    );
  }

  private track(box: TrackBox): HTMLElement {
    if (isThin(box, this.v.settings.theme.peek().heights)) return this.thin(box);
    const chosen = this.v.viewer.tracks.peek().includes(box.track.track);
    const holds = box.track.track === this.v.selection.details.peek()?.track;
    const busy = busyTime(box.track);
    const { viewer } = this.v;
    const { track } = box;
    const name = trackName(track);
    const kind = trackKind(track, viewer.facts);
    const process = processWords(track, viewer.facts);
    const title =
      `${name}${kind.title && `, ${kind.title}`}${process}: ${countSlices(wordsFor(viewer.facts), track.calls)}, ` +
      `${plural(track.rows, 'level')}. A click computes the tables for it alone, Ctrl+click for it as well.`;
    const twist = h(
      'button',
      {
        class: 'twist',
        title: box.expanded
          ? inTermsOf(wordsFor(viewer.facts), 'Show the innermost call only')
          : 'Show every level',
        attrs: {
          type: 'button',
          'aria-expanded': box.expanded,
          'aria-label': `Levels of ${name}`,
          'data-key': `t${track.track}`,
        },
        on: { click: () => viewer.toggleExpanded(track.track) },
      },
      icon(box.expanded ? 'down' : 'right'),
    );
    const pick = h(
      'button',
      {
        class: 'pick',
        title,
        attrs: { type: 'button', 'aria-pressed': chosen, 'data-key': `n${track.track}` },
        on: { click: (e) => viewer.toggleTrack(track.track, e.ctrlKey || e.metaKey || e.shiftKey) },
      },
      hasOwnName(track) ? null : h('span', { class: 'tid' }, `[${ownerId(track)}] `),
      h('span', { class: 'name' }, track.name),
    );
    return h(
      'div',
      {
        class: labelClass(`${chosen ? 'selected ' : ''}${holds ? 'holds' : ''}`, box),
        style: { top: `${box.top}px`, height: `${box.height}px` },
        on: { dblclick: () => viewer.toggleExpanded(track.track) },
      },
      h(
        'div',
        { class: 'line' },
        isSingle(track) ? h('span', { class: 'twist' }) : twist,
        pick,
        partnerMark(viewer, track),
        kind.mark,
        busy === null
          ? null
          : h(
              'span',
              { class: 'side', title: 'busy time: CPU, or real where there is no CPU clock' },
              formatRough(busy, viewer.unit.peek()),
            ),
      ),
      this.levels(box),
    );
  }

  /** Create the label of a state track below the slices of its thread. */
  private thin({ track, top, height }: TrackBox): HTMLElement {
    const title = `States of ${trackName(track)}: running, runnable, sleeping, blocked`;
    return h('div', {
      class: 'label row thin',
      title,
      style: { top: `${top}px`, height: `${height}px` },
    });
  }

  /** Create the button that shows all levels of a deep thread, or fewer again. */
  private levels(box: TrackBox): HTMLElement | null {
    const { viewer } = this.v;
    const { track } = box;
    const more = track.rows - box.shown;
    if (!box.expanded || (more === 0 && !viewer.whole.get().has(track.track))) return null;
    return h(
      'button',
      {
        class: 'levels',
        title: more > 0 ? `Show all ${plural(track.rows, 'level')}` : 'Show the outer levels only',
        attrs: { type: 'button', 'data-key': `l${track.track}` },
        on: { click: () => viewer.toggleWhole(track.track) },
      },
      icon(more > 0 ? 'down' : 'up'),
      more > 0 ? `${formatCount(more)} more ${more === 1 ? 'level' : 'levels'}` : 'Fewer levels',
    );
  }
}
