// SPDX-License-Identifier: Apache-2.0
// The row of saved ranges (notes) below the ruler. Each note is a button that selects its range.
// The row is hidden while there are no notes.

import { fill, h, iconButton } from '../../base/dom';
import { formatTimeUnit, plural } from '../../base/format';
import { computed, effect, flushEffects, signal } from '../../base/signal';
import { lanesOfNotes, LONGEST_NOTE, withNote, type Note } from '../../model/notes';
import { spanLength, revealingView, wholeView } from '../../model/span';
import { TimeScale } from '../../render/timeScale';
import type { Views } from '../context';

/** The minimum width in pixels, so that a note can be clicked. */
const LEAST_WIDTH = 18;
/** The width that a note reserves for its text while the whole trace is shown. */
const READABLE = 72;
const LANE_HEIGHT = 20;

/** The row of notes. */
export class NotesRow {
  readonly element: HTMLElement;
  private readonly wide = signal(1000);
  /**
   * The lane of each note. Lanes are computed for the whole trace, so that no note jumps while
   * zooming.
   */
  private readonly lanes = computed(() => {
    const { notes, bounds } = this.v.viewer;
    return lanesOfNotes(notes.get(), (spanLength(wholeView(bounds)) / this.wide.get()) * READABLE);
  });
  private readonly place = h('div', { class: 'note-lane' });
  /**
   * The note being edited, and its text box. The box stays the same element while other notes move.
   */
  private editing: Note | null = null;
  private box: HTMLInputElement | null = null;
  /** True during layout: an element that moves in the document loses the focus for a moment. */
  private laying = false;

  constructor(
    private readonly v: Views,
    private readonly width: () => number,
  ) {
    const { viewer } = v;
    const words = h('div', { class: 'key' });
    this.element = h(
      'section',
      { class: 'strip notes', attrs: { 'aria-label': 'Notes' } },
      words,
      this.place,
    );
    effect(() => fill(words, plural(viewer.notes.get().length, 'note')));
    effect(() => {
      viewer.view.get();
      viewer.unit.get();
      this.show(viewer.notes.get());
    });
    new ResizeObserver(() => {
      this.wide.set(Math.max(1, this.width()));
      this.show(viewer.notes.peek());
    }).observe(this.place);
  }

  /** The height in CSS pixels. */
  get height(): number {
    return (Math.max(-1, ...this.lanes.get()) + 1) * LANE_HEIGHT + 2;
  }

  /** Save a range, and let the user type its text at once. */
  keep(note: Note): void {
    this.v.viewer.notes.update((notes) => withNote(notes, note));
    this.edit(note);
  }

  private edit(note: Note): void {
    this.editing = note;
    this.box = this.input(note);
    flushEffects();
    this.show(this.v.viewer.notes.peek());
    this.box.select();
  }

  private show(notes: readonly Note[]): void {
    const focused = document.activeElement?.getAttribute('data-note') ?? null;
    const scale = new TimeScale(this.v.viewer.view.peek(), this.width());
    const lanes = this.lanes.get();
    this.laying = true;
    fill(this.place, ...notes.map((note, i) => this.note(note, i, scale, lanes)));
    this.laying = false;
    const button = this.place.querySelector<HTMLElement>(`[data-note="${focused ?? ''}"]`);
    (this.box ?? button)?.focus();
  }

  private note(note: Note, i: number, scale: TimeScale, lanes: readonly number[]): HTMLElement {
    const from = Math.max(0, scale.x(note.from));
    const to = Math.min(scale.width, scale.x(note.to));
    const outside = scale.x(note.to) < 0 || from > scale.width;
    const least = Math.max(LEAST_WIDTH, to - from);
    // A text may extend past its range, up to the next note.
    const next = this.v.viewer.notes.peek().find((_, k) => k > i && lanes[k] === lanes[i]);
    const room = (next ? Math.min(scale.width, scale.x(next.from)) : scale.width) - from - 2;
    const style = {
      left: `${from}px`,
      top: `${(lanes[i] ?? 0) * LANE_HEIGHT + 2}px`,
      'min-width': `${next ? Math.max(0, Math.min(least, room)) : least}px`,
      'max-width': `${next ? Math.max(0, room) : Math.max(least, room)}px`,
    };
    const isEdited = this.editing?.from === note.from && this.editing.to === note.to;
    return h(
      'div',
      { class: 'note', hidden: outside && !isEdited, style },
      isEdited ? this.box : this.button(note, i),
      !isEdited && iconButton('close', 'Remove the note (Delete)', () => this.remove(note)),
    );
  }

  private button(note: Note, i: number): HTMLElement {
    const { viewer } = this.v;
    const size = formatTimeUnit(spanLength(note), viewer.unit.peek());
    const name = note.text ? `${note.text}, ${size}` : size;
    return h(
      'button',
      {
        class: 'note-text',
        title: `${name}: selects its range; F2 or a double click edits its text, Delete removes it`,
        attrs: { type: 'button', 'data-note': i },
        on: {
          click: () => this.select(note),
          dblclick: () => this.edit(note),
          keydown: (e) => {
            if (e.key === 'Delete' || e.key === 'Backspace') this.remove(note);
            else if (e.key === 'F2') this.edit(note);
            else return;
            e.preventDefault();
            e.stopPropagation();
          },
        },
      },
      note.text || size,
    );
  }

  private input(note: Note): HTMLInputElement {
    const input = h('input', {
      attrs: {
        ...{ type: 'text', 'aria-label': 'Text of the note', maxlength: LONGEST_NOTE },
        ...{ value: note.text, placeholder: 'note', spellcheck: false },
      },
    });
    const end = (text: string): void => {
      if (this.box !== input) return;
      this.editing = this.box = null;
      this.v.viewer.notes.update((notes) => withNote(notes, { ...note, text }));
      this.show(this.v.viewer.notes.peek());
    };
    input.addEventListener('keydown', (e) => {
      e.stopPropagation();
      if (e.key === 'Enter') end(input.value);
      else if (e.key === 'Escape') end(note.text);
    });
    input.addEventListener('blur', () => {
      if (!this.laying) end(input.value);
    });
    return input;
  }

  private remove(note: Note): void {
    this.v.viewer.notes.update((notes) => notes.filter((n) => n !== note));
  }

  private select(note: Note): void {
    const { viewer, mover } = this.v;
    viewer.setRange(note);
    mover.glide(revealingView(mover.goal, note, viewer.bounds));
  }
}
