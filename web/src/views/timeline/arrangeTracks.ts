// SPDX-License-Identifier: Apache-2.0
// Pinning, hiding and moving tracks: with buttons on the labels, with keys on a focused label, and
// by dragging a label up or down.
//
// A unit is what moves as one: a process, a thread with its samples, or a row with what is folded
// under it. It changes places only with its equals: pinned units with pinned ones, the units of a
// process among themselves, processes with processes.
//
//     press -> (5 pixels) -> drag: a line shows where the unit would go -> release: before that unit
//
// The arrangement is kept as moves ("t7 before t3") and not as a list: rows that appear later,
// because a filter is gone or a fold opened, keep their usual places.

import { h, icon, listen } from '../../base/dom';
import { hideUnit, moveUnit, processKey, togglePin } from '../../model/arrangement';
import { boxAt, type TimelineLayout } from '../../model/layout';
import type { Views } from '../context';

/** A press becomes a drag after this distance, in CSS pixels. */
const DRAG_FROM = 5;
/** While the user drags this near an edge, the list scrolls by EDGE_STEP per frame. */
const EDGE = 24;
const EDGE_STEP = 12;

/** A unit that can be moved, and its place in the list. */
interface UnitPlace {
  key: string;
  top: number;
  height: number;
}

interface UnitDrag extends UnitPlace {
  pointer: number;
  from: number;
  /** The neighbour before which the unit would be dropped, or the end of the list. */
  target: { before: string; line: number } | null;
}

export class ArrangeTracks {
  private drag: UnitDrag | null = null;
  private readonly line = h('div', { class: 'drop-line', hidden: true });
  private dragged = false;
  /** The last y of the pointer during a drag. */
  private lastY = 0;
  private scrolling = 0;

  constructor(
    private readonly v: Views,
    private readonly labels: HTMLElement,
    private readonly scroller: () => HTMLElement,
    private readonly placed: () => TimelineLayout,
  ) {
    labels.append(this.line);
    labels.addEventListener('keydown', (e) => this.key(e, ArrangeTracks.unitOf(e.target)));
    listen<KeyboardEvent>(window, 'keydown', (e) => this.keyOfPointed(e));
    labels.addEventListener('pointerdown', (e) => this.down(e));
    labels.addEventListener('pointermove', (e) => this.moveTo(e));
    labels.addEventListener('pointerup', () => this.drop(true));
    labels.addEventListener('pointercancel', () => this.drop(false));
    // Ignore the click that ends a drag.
    labels.addEventListener(
      'click',
      (e) => {
        if (this.dragged) e.stopPropagation();
        this.dragged = false;
      },
      true,
    );
  }

  private get arrangement(): Views['viewer']['arrangement'] {
    return this.v.viewer.arrangement;
  }

  /**
   * Return the buttons for the label of a unit. A process has no pin button. Keys on the label do
   * the same.
   */
  buttons(key: string, name: string, pins: boolean): HTMLElement {
    const pinned = this.arrangement.peek().pinned.includes(key);
    const button = (
      what: 'pin' | 'hide',
      label: string,
      on: boolean | null,
      click: () => void,
    ): HTMLElement =>
      h(
        'button',
        {
          class: 'icon-button',
          title: label,
          tabIndex: -1,
          attrs: { type: 'button', 'aria-label': `${label}: ${name}`, 'aria-pressed': on },
          on: { click },
        },
        icon(what),
      );
    return h(
      'span',
      { class: pinned ? 'arrange pinned' : 'arrange' },
      pins &&
        button('pin', pinned ? 'Unpin (P)' : 'Pin to the top (P)', pinned, () => this.pin(key)),
      button('hide', 'Hide (H)', null, () => this.hide(key)),
    );
  }

  private pin(key: string): void {
    this.arrangement.update((a) => togglePin(a, key));
  }

  private hide(key: string): void {
    const next = this.neighbour(key, 1) ?? this.neighbour(key, -1);
    this.arrangement.update((a) => hideUnit(a, key));
    this.v.announce('hidden');
    if (next) this.focusUnit(next.key);
  }

  private focusUnit(key: string): void {
    const label = this.labels.querySelector(`[data-unit="${CSS.escape(key)}"]`);
    const target = label?.querySelector<HTMLElement>('.pick') ?? label?.querySelector('button');
    target?.focus({ preventScroll: true });
  }

  /**
   * Return the units that this one can change places with: the pinned ones, the ones of its
   * process, or the processes.
   */
  private places(key: string): UnitPlace[] {
    const placed = this.placed();
    const groups = placed.groups.map((g) => ({
      key: processKey(g.process),
      top: g.top,
      height: g.bottom - g.top,
    }));
    if (groups.some((g) => g.key === key)) return groups;
    const own = placed.units.find((u) => u.key === key);
    if (!own) return [];
    const isPinned = (u: UnitPlace): boolean => u.top < placed.pinned;
    return placed.units.filter(
      (u) => isPinned(u) === isPinned(own) && (isPinned(own) || u.process === own.process),
    );
  }

  private neighbour(key: string, direction: 1 | -1): UnitPlace | undefined {
    const places = this.places(key);
    return places[places.findIndex((p) => p.key === key) + direction];
  }

  private moveBefore(key: string, before: string): void {
    this.arrangement.update((a) => moveUnit(a, key, before));
  }

  /** Move a unit up or down by one place. */
  private step(key: string, direction: 1 | -1): void {
    const places = this.places(key);
    const at = places.findIndex((p) => p.key === key);
    const before = direction < 0 ? places[at - 1] : places[at + 2];
    if (direction < 0 ? at <= 0 : at >= places.length - 1) return;
    this.moveBefore(key, before?.key ?? '');
    this.v.announce(direction < 0 ? 'moved up' : 'moved down');
  }

  private static unitOf(target: EventTarget | null): string | null {
    const label = (target as Element | null)?.closest<HTMLElement>('[data-unit]');
    return label?.dataset['unit'] ?? null;
  }

  /**
   * Handle a key for the unit under the pointer, as its buttons do, unless the keyboard focus is in
   * a text box.
   */
  private keyOfPointed(e: KeyboardEvent): void {
    const { target } = e;
    if (this.v.viewer.inTable.peek() || e.defaultPrevented || e.altKey || e.shiftKey) return;
    if (
      target instanceof Element &&
      (target.closest('.labels, dialog') || target.matches('input, select'))
    )
      return;
    if (e.code === 'KeyP' || e.code === 'KeyH')
      this.key(e, ArrangeTracks.unitOf(this.labels.querySelector('[data-unit]:hover')));
  }

  /** Move, pin or hide the unit that has the keyboard focus. */
  private key(e: KeyboardEvent, key: string | null): void {
    if (key === null || e.ctrlKey || e.metaKey || (e.target as Element).matches('select')) return;
    const isProcess = key.startsWith('p');
    if (e.altKey && e.key === 'ArrowUp') this.step(key, -1);
    else if (e.altKey && e.key === 'ArrowDown') this.step(key, 1);
    else if (!e.altKey && e.code === 'KeyP' && !isProcess) this.pin(key);
    else if (!e.altKey && e.code === 'KeyH') this.hide(key);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** Convert y of the window to y of the list. Pinned tracks do not scroll. */
  private listY(clientY: number): number {
    const y = clientY - this.scroller().getBoundingClientRect().top;
    return y < this.placed().pinned ? y : y + this.scroller().scrollTop;
  }

  private down(e: PointerEvent): void {
    this.dragged = false;
    const target = e.target as Element;
    const key = ArrangeTracks.unitOf(target);
    if (e.button !== 0 || key === null || e.pointerType === 'touch') return;
    if (target.closest('.twist, .levels, .arrange, .fold, select')) return;
    const place = this.places(key).find((p) => p.key === key);
    if (place) this.drag = { ...place, pointer: e.pointerId, from: e.clientY, target: null };
  }

  private moveTo(e: PointerEvent): void {
    const { drag } = this;
    if (!drag || drag.pointer !== e.pointerId) return;
    if (!this.dragged && Math.abs(e.clientY - drag.from) < DRAG_FROM) return;
    if (!this.dragged) this.labels.setPointerCapture(e.pointerId);
    this.dragged = true;
    this.lastY = e.clientY;
    this.aim(drag);
    this.labels.classList.add('dragging');
    if (this.scrolling === 0) this.scrollNear();
  }

  private aim(drag: UnitDrag): void {
    drag.target = this.targetAt(drag.key, this.listY(this.lastY));
    this.line.hidden = drag.target === null;
    this.line.style.top = `${drag.target?.line ?? 0}px`;
  }

  /** Scroll while the pointer stays near an edge. */
  private readonly scrollNear = (): void => {
    this.scrolling = 0;
    const { drag } = this;
    if (!drag) return;
    const scroller = this.scroller();
    const box = scroller.getBoundingClientRect();
    const down = this.lastY > box.bottom - EDGE;
    if (!down && this.lastY >= box.top + this.placed().pinned + EDGE) return;
    scroller.scrollTop += down ? EDGE_STEP : -EDGE_STEP;
    this.aim(drag);
    this.scrolling = requestAnimationFrame(this.scrollNear);
  };

  /** Return the first unit whose middle is below the pointer: the drop goes before it. */
  private targetAt(key: string, y: number): UnitDrag['target'] {
    const places = this.places(key);
    const next = places.find((p) => p.top + p.height / 2 > y);
    const last = places[places.length - 1];
    if (!last) return null;
    const line = next ? next.top : last.top + last.height;
    return { before: next?.key ?? '', line };
  }

  private drop(done: boolean): void {
    const { drag } = this;
    this.drag = null;
    this.line.hidden = true;
    this.labels.classList.remove('dragging');
    if (!done || !drag?.target) return;
    const { before } = drag.target;
    const next = this.neighbour(drag.key, 1);
    if (before !== drag.key && before !== (next?.key ?? '')) this.moveBefore(drag.key, before);
  }

  /** Return the unit that begins at a height of the list. */
  unitAt(top: number): string | null {
    const unit = boxAt(this.placed().units, top);
    return unit?.top === top ? unit.key : null;
  }
}
