// SPDX-License-Identifier: Apache-2.0
// The keys that work anywhere on the page. Views with keys of their own (table, flame graph, boxes)
// stop the propagation of their events.
//
// Each method returns true if it handled the key; then the browser does not. A key that nobody wants
// and that writes a character begins a search in the visible table (typeToFind), so that comes last.

import { listen } from '../base/dom';
import type { FlameOrder } from '../model/address';
import type { CallDetails } from '../model/engine';
import { LONGEST_NOTE } from '../model/notes';
import { framingView, spanLength, sameSpan, wholeView } from '../model/span';
import { sameCall } from '../model/viewer';
import { goToCall, callSpan } from '../views/context';
import type { FilterBox } from '../views/filterBox';
import { isMenuKey } from '../views/popupMenu';
import { overlaySelected } from '../views/timeline/counterOverlay';
import { stepCounter, stepSeries } from '../views/timeline/counterSteps';
import { FlowSteps } from '../views/timeline/followFlow';
import { RangeKeys } from '../views/timeline/rangeKeys';
import type { Page } from '../views/page';
import type { History } from './history';

const ZOOM = 1.5;
const PAN = 0.15;
const FASTER = 3;

/** The global key bindings. */
export class Keys {
  private readonly flows: FlowSteps;
  private readonly range: RangeKeys;

  constructor(
    private readonly page: Page,
    private readonly history: History,
    private readonly filter: FilterBox,
  ) {
    this.flows = new FlowSteps(page.views);
    this.range = new RangeKeys(page.views);
    listen<KeyboardEvent>(window, 'keydown', (e) => {
      // A dialog has its own keys: Escape closes it.
      if (document.querySelector('dialog:modal')) return;
      if (this.handle(e)) e.preventDefault();
    });
    listen<ClipboardEvent>(document, 'copy', (e) => this.copy(e));
  }

  private static typing(target: EventTarget | null): boolean {
    return (
      target instanceof HTMLInputElement ||
      target instanceof HTMLSelectElement ||
      target instanceof HTMLTextAreaElement
    );
  }

  /**
   * Handle a key; true: it is used up. What is typed into a field, and what belongs to the browser,
   * is left alone.
   */
  private handle(e: KeyboardEvent): boolean {
    // On many layouts brackets need AltGr, which some systems report as Ctrl and Alt.
    if (e.getModifierState('AltGraph') && !Keys.typing(e.target) && this.alongFlow(e.key))
      return true;
    if (e.ctrlKey || e.metaKey) return this.withControl(e);
    if (Keys.typing(e.target) || e.altKey) return false;
    if (isMenuKey(e)) return this.menu();
    if (e.shiftKey && (e.key === 'ArrowRight' || e.key === 'ArrowLeft')) {
      this.range.move(e.key === 'ArrowRight' ? 1 : -1);
      return true;
    }
    return this.move(e) || this.walk(e.key) || this.act(e) || this.typeToFind(e);
  }

  /** Handle a key with Ctrl or Cmd. */
  private withControl(e: KeyboardEvent): boolean {
    const key = e.key.toLowerCase();
    if (key === 'f' && e.shiftKey) {
      this.filter.focus();
      return true;
    }
    if (key === 'f') {
      this.page.top.searchInput.focus();
      this.page.top.searchInput.select();
      return true;
    }
    if (key === 's' && !e.shiftKey) {
      this.page.save.toggle();
      return true;
    }
    if (key === 'p') {
      this.page.findThread();
      return true;
    }
    if (key !== 'z' || Keys.typing(e.target)) return false;
    if (e.shiftKey) this.history.redo();
    else this.history.undo();
    return true;
  }

  /** Move by physical key, so that the keys have the same place on every layout. */
  private move(e: KeyboardEvent): boolean {
    if (this.typesToFind()) return false;
    const fast = e.shiftKey ? FASTER : 1;
    if (e.code === 'KeyW') this.zoom(1 / (1 + (ZOOM - 1) * fast));
    else if (e.code === 'KeyS') this.zoom(1 + (ZOOM - 1) * fast);
    else if (e.key === '+' || e.key === '=') this.zoom(1 / ZOOM);
    else if (e.key === '-' || e.key === '_') this.zoom(ZOOM);
    else if (e.code === 'KeyA') this.pan(-PAN * fast);
    else if (e.code === 'KeyD') this.pan(PAN * fast);
    else return false;
    return true;
  }

  /**
   * Return true if letters go to the find box: in the table, unless the mouse points at the time
   * line.
   */
  private typesToFind(): boolean {
    const { viewer } = this.page.views;
    return viewer.inTable.peek() && viewer.pointer.peek() === null;
  }

  private zoom(factor: number): void {
    const { viewer, mover } = this.page.views;
    const { goal } = mover;
    const view = viewer.view.peek();
    const pointer = viewer.pointer.peek();
    // During a move, use the time that will be under the pointer at its end.
    const share = pointer === null ? 0.5 : (pointer - view.from) / spanLength(view);
    mover.zoom(factor, goal.from + share * spanLength(goal), true);
  }

  private pan(share: number): void {
    const { mover } = this.page.views;
    mover.pan(spanLength(mover.goal) * share, true);
  }

  private get selected(): CallDetails | null {
    const { viewer, selection } = this.page.views;
    const details = selection.details.peek();
    // The details of a new selection arrive later.
    return details && sameCall(viewer.call.peek(), details) ? details : null;
  }

  /** Go along the row, to the first call inside, or to the caller. */
  private walk(key: string): boolean {
    const call = this.selected;
    const along = { ArrowRight: 1, '.': 1, ArrowLeft: -1, ',': -1 }[key];
    if (this.page.views.viewer.mark.peek()?.kind === 'counter') return this.walkCounter(key, along);
    if (!call) {
      if (key !== 'ArrowRight' && key !== 'ArrowLeft') return false;
      // A call is selected, but its neighbours are not loaded yet.
      if (this.page.views.viewer.call.peek()) return true;
      this.pan(key === 'ArrowRight' ? PAN : -PAN);
      return true;
    }
    const parent = call.path[call.path.length - 1];
    const to =
      along === 1
        ? call.next
        : along === -1
          ? call.previous
          : key === 'ArrowDown'
            ? call.first_child
            : key === 'ArrowUp'
              ? parent
              : undefined;
    if (to === undefined) return key === 'ArrowUp';
    if (to) void goToCall(this.page.views, { row: to[0], index: to[1] });
    return true;
  }

  /** Go along the selected counter: from change to change, or from series to series. */
  private walkCounter(key: string, along: number | undefined): boolean {
    const { views } = this.page;
    if (along !== undefined) return stepCounter(views, 'change', along > 0 ? 1 : -1);
    if (key !== 'ArrowDown' && key !== 'ArrowUp') return false;
    return stepSeries(views, key === 'ArrowDown' ? 1 : -1);
  }

  /** Open the menu of the selected call, at its place in the time line. */
  private menu(): boolean {
    const { views, line } = this.page;
    const frame = views.viewer.frame.peek();
    if (frame === null) return false;
    const box = line.canvas.element.getBoundingClientRect();
    const x = this.selected ? line.scale.x(this.selected.start_ns) : 0;
    views.menu(frame, { x: box.left + Math.max(0, Math.min(x, box.width)), y: box.top + 20 });
    return true;
  }

  private alongFlow(key: string): boolean {
    if (key !== ']' && key !== '[') return false;
    void this.flows.step(key === ']' ? 1 : -1);
    return true;
  }

  private act(e: KeyboardEvent): boolean {
    const { viewer, mover } = this.page.views;
    const { lower, top, help } = this.page;
    if (this.typesToFind() && e.key !== 'Escape' && e.key !== '/' && e.key !== '?') return false;
    if (this.alongFlow(e.key)) return true;
    switch (e.key) {
      case '0':
        mover.glide(wholeView(viewer.paired.reach));
        return true;
      case 'f':
      case 'F':
        this.zoomToSelection();
        return true;
      case 'm':
        this.rangeFromSelection();
        return true;
      case 'M':
        this.keepRange();
        return true;
      case 'r':
      case 'R':
        this.page.range.open();
        return true;
      case 'c':
      case 'C':
        return this.pinCall();
      case 'x':
      case 'X':
        return stepCounter(this.page.views, 'peak', e.shiftKey ? -1 : 1);
      case 'o':
      case 'O':
        return overlaySelected(this.page.views, e.shiftKey);
      case 'n':
      case 'N':
        return stepCounter(this.page.views, 'trough', e.shiftKey ? -1 : 1);
      case 'q':
      case 'Q':
        lower.toggle();
        return true;
      case 'v':
      case 'V':
        this.page.views.settings.toggleVsync();
        return true;
      case '1':
        this.flame('time');
        return true;
      case '2':
        this.flame('left-heavy');
        return true;
      case '3':
        this.flame('sandwich');
        return true;
      case '4':
        this.flame('inverted');
        return true;
      case '/':
        top.searchInput.focus();
        top.searchInput.select();
        return true;
      case '?':
        help.toggle();
        return true;
      case 'Escape':
        this.escape();
        return true;
      default:
        return false;
    }
  }

  /** Hold the selected call beside those that are selected next, or let it go. */
  private pinCall(): boolean {
    const { pinnedCall, call } = this.page.views.viewer;
    const selected = call.peek();
    if (selected) pinnedCall.set(sameCall(pinnedCall.peek(), selected) ? null : selected);
    return selected !== null;
  }

  private zoomToSelection(): void {
    const { viewer, mover } = this.page.views;
    const call = this.selected;
    const span = call ? callSpan(call) : viewer.range.peek();
    if (span) mover.glide(framingView(span, viewer.bounds));
  }

  private rangeFromSelection(): void {
    const call = this.selected;
    if (call) this.page.views.viewer.setRange(callSpan(call));
  }

  /** Save the range, or the span of the selected call, as a note. */
  private keepRange(): void {
    const { viewer } = this.page.views;
    const call = this.selected;
    const range = viewer.range.peek() ?? (call && callSpan(call));
    const isCalls = call !== null && sameSpan(range, callSpan(call));
    const text = isCalls ? viewer.frames.short(call.frame).slice(0, LONGEST_NOTE) : '';
    if (range) this.page.notes.keep({ from: range.from, to: range.to, text });
  }

  private flame(order: FlameOrder): void {
    this.page.views.viewer.flameOrder.set(order);
    this.page.lower.choose('flame');
  }

  private escape(): void {
    const { viewer } = this.page.views;
    if (viewer.notice.peek()) viewer.notice.set(null);
    else if (viewer.range.peek() || viewer.tracks.peek().length > 0) {
      viewer.setRange(null);
      viewer.tracks.set([]);
    } else viewer.clearSelection();
  }

  /** Send letters typed in the table to its find box. */
  private typeToFind(e: KeyboardEvent): boolean {
    if (!this.typesToFind() || e.key.length !== 1 || e.key === ' ') return false;
    const { findInput } = this.page.lower;
    findInput.focus();
    findInput.value = e.key;
    findInput.dispatchEvent(new Event('input'));
    return true;
  }

  /**
   * Copy the marked lines of the table, or the name of the selected method. Text that the user has
   * marked is left to the browser.
   */
  private copy(e: ClipboardEvent): void {
    const chosen = document.getSelection();
    if (Keys.typing(document.activeElement) || (chosen && !chosen.isCollapsed)) return;
    const { viewer } = this.page.views;
    const frame = viewer.frame.peek();
    const fromTable = viewer.inTable.peek() ? this.page.lower.copyText() : null;
    const text = fromTable ?? (frame === null ? null : viewer.frames.full(frame));
    if (text === null) return;
    e.clipboardData?.setData('text/plain', text);
    e.preventDefault();
  }
}
