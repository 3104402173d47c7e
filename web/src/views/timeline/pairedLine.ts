// SPDX-License-Identifier: Apache-2.0
// The time line of the base below that of the page. It is a second time line with a state of its
// own, which follows the page's:
//
//   view, pointer, range    shifted by the pairing
//   expanded tracks         by their partners (pairTracks)
//   selected method         by its name
//   scrolling               the partner of the topmost track stays beside it

import { h, iconButton, setAttribute, setText } from '../../base/dom';
import { fileName, formatCount, formatTimeUnit } from '../../base/format';
import { Latest } from '../../base/latest';
import { effect, onEnd, ownEffects, untracked } from '../../base/signal';
import { shortened } from '../../base/visible';
import { CallPairStore } from '../../model/callPair';
import { openRuns, sameRuns, writeRuns, type Run } from '../../model/comparison';
import { CounterStore } from '../../model/counters';
import {
  EngineError,
  type Call,
  type CallDetails,
  type Engine,
  type FrameRow,
} from '../../model/engine';
import { FlowStore } from '../../model/flows';
import { InstantStore } from '../../model/instants';
import { boxAt } from '../../model/layout';
import { MarkStore } from '../../model/marks';
import { Frames } from '../../model/names';
import { NonSliceStore } from '../../model/nonSliceStore';
import {
  framesByName,
  inverted,
  nthCall,
  pairTracks,
  shiftedSpan,
  standLike,
} from '../../model/pairing';
import { ProfileStore } from '../../model/profileStore';
import { SearchStore } from '../../model/searchStore';
import { SelectionStore } from '../../model/selectionStore';
import { sameSpan, type Span } from '../../model/span';
import type { TraceFacts } from '../../model/traceFacts';
import { Viewer } from '../../model/viewer';
import { VsyncStore } from '../../model/vsync';
import { inTermsOf, wordsFor } from '../../model/words';
import type { Views } from '../context';
import { screenButton } from '../screens';
import { Tip } from '../tip';
import { CallList } from './callList';
import { Mover } from './mover';
import { TimelineGestures } from './timelineGestures';
import { TimelineView } from './timelineView';

/** Pairs of traces of which the program keeps only one open. */
const tooLarge = new Set<string>();

/** Moves the base by moving the page's trace, so that both always show the same time. */
class FollowingMover extends Mover {
  constructor(
    viewer: Viewer,
    private readonly main: Mover,
    private readonly shift: () => number,
  ) {
    super(viewer.view, () => viewer.paired.reach);
  }

  override get goal(): Span {
    return shiftedSpan(this.main.goal, this.shift());
  }

  override jump(span: Span): void {
    this.main.jump(shiftedSpan(span, -this.shift()));
  }

  override glide(span: Span): void {
    this.main.glide(shiftedSpan(span, -this.shift()));
  }
}

/** The trace of the base, as it was opened. */
interface OpenedBase {
  run: Run;
  engine: Engine;
  facts: TraceFacts;
  frames: FrameRow[];
}

/** Replace the ranks, which choose colours, by those that the methods have in the page's trace. */
function withRanksOf(frames: Frames, rows: FrameRow[]): FrameRow[] {
  const toOwn = framesByName(new Frames(rows), frames);
  return rows.map((row, frame) => {
    const own = toOwn(frame);
    if (own === null) return row;
    const copy: FrameRow = [...row];
    copy[5] = frames.rank(own);
    return copy;
  });
}

/** Create the choice of the run of the base that is shown. Another run begins with the page's. */
function runChoice(viewer: Viewer, shown: Run): HTMLElement {
  const runs = viewer.base.peek();
  const options = runs.map((_, i) => h('option', { attrs: { value: i } }, `Run ${i + 1}`));
  const choice = h('select', { attrs: { 'aria-label': 'Run of the base' } }, ...options);
  choice.value = String(runs.findIndex((run) => sameRuns([run], [shown])));
  choice.addEventListener('change', () =>
    viewer.paired.pairing.set({ shift: 0, at: null, run: Number(choice.value) }),
  );
  const nameRuns = async (): Promise<void> => {
    const { files } = await viewer.engine.status();
    runs.forEach(([first], i) => {
      const file = files.find(({ input }) => input === first?.input);
      const option = options[i];
      if (file && option) setText(option, `Run ${i + 1}: ${shortened(fileName(file.name), 60)}`);
    });
  };
  nameRuns().catch(viewer.failed);
  return h('label', null, h('b', null, 'Base '), choice);
}

/** The part of the page that shows the base; hidden until the pairing is chosen. */
export class PairedLine {
  readonly element = h('div', { class: 'paired', hidden: true });
  private end = (): void => undefined;
  private readonly asking: Latest;

  constructor(
    private readonly v: Views,
    private readonly line: TimelineView,
  ) {
    const { viewer } = v;
    this.asking = new Latest((error) => {
      viewer.paired.pairing.set(null);
      viewer.failed(error);
    });
    let shown = '';
    effect(() => {
      const base = viewer.base.get();
      const pairing = viewer.paired.pairing.get();
      const run = base[pairing?.run ?? 0] ?? base[0];
      const paired = viewer.facts.compares === true && pairing !== null;
      const wanted = run && paired ? writeRuns([run]) : '';
      if (wanted === shown) return;
      shown = wanted;
      untracked(() => this.change(wanted === '' ? undefined : run));
    });
    onEnd(() => this.close());
  }

  private close(): void {
    this.asking.cancel();
    this.end();
    this.end = () => undefined;
    this.element.replaceChildren();
    this.element.hidden = true;
  }

  /** Show another base, or none. The old one ends before the new one is read: both need memory. */
  private change(run: Run | undefined): void {
    this.close();
    if (!run) return;
    this.element.hidden = false;
    this.element.append(
      h('p', { class: 'second', attrs: { role: 'status' } }, 'Reading the base…'),
    );
    this.makeRoom();
    this.asking.run(
      (signal) => this.open(run, signal),
      (base) => {
        this.element.replaceChildren();
        this.end = ownEffects(() => this.build(base));
      },
    );
  }

  /** Make the lower panel lower, so that both time lines can be read. */
  private makeRoom(): void {
    const page = this.element.closest<HTMLElement>('.page');
    const lower = page?.querySelector<HTMLElement>('.lower');
    const most = Math.round(innerHeight * 0.3);
    if (lower && lower.clientHeight > most) page?.style.setProperty('--lower', `${most}px`);
  }

  /**
   * Open the base in the same program, beside the trace of the page. A pair that once did not fit
   * into memory is not tried again: the attempt would close other traces in vain.
   */
  private async open(run: Run, signal: AbortSignal): Promise<OpenedBase> {
    const { viewer } = this.v;
    const key = `${writeRuns([run])} ${viewer.files ? writeRuns([viewer.files]) : ''}`;
    const [trace = 0] = tooLarge.has(key) ? [] : await openRuns(viewer, [run], signal);
    const engine =
      trace === 0
        ? null
        : await viewer.engine.besides(trace, () => {
            viewer.paired.pairing.set(null);
            viewer.wrong('The base was closed because other traces needed its memory');
          });
    if (!engine) {
      tooLarge.add(key);
      throw new EngineError('both traces do not fit into memory together', false, null, 'memory');
    }
    return { run, engine, facts: await engine.trace(), frames: await engine.frames() };
  }

  /** Nanoseconds that are added to a time of the page to get the time of the base beside it. */
  private get shift(): number {
    return this.v.viewer.paired.pairing.peek()?.shift ?? 0;
  }

  /** Shift the base, whichever of its runs is shown. */
  private align(shift: number, at: Call | null): void {
    const { pairing } = this.v.viewer.paired;
    pairing.set({ ...pairing.peek(), shift, at });
  }

  /**
   * Create the time line of the base and tie it to that of the page. The base has a viewer of its
   * own, with its own signals; the effects made here copy between the two in both directions, and
   * stop when a value is the same already, so that they do not chase each other.
   */
  private build(base: OpenedBase): void {
    const main = this.v.viewer;
    const { settings } = this.v;
    const rows = withRanksOf(main.frames, base.frames);
    const frames = new Frames(rows, base.facts.colours, () => settings.byKind.peek());
    const partners = pairTracks(main.facts, base.facts);
    const facts = standLike(main.facts, base.facts, partners);
    const viewer = new Viewer(base.engine, facts, frames, main.filter, base.run);
    // The tables are about the page's trace: those of the base ask nothing.
    viewer.tab.set('compare');
    const without = (of: TraceFacts, known: ReadonlyMap<number, number>): Set<number> =>
      new Set(of.tracks.map(({ track }) => track).filter((track) => !known.has(track)));
    viewer.paired.alone.set(without(facts, inverted(partners)));
    main.paired.alone.set(without(main.facts, partners));
    const views = this.viewsOf(viewer);
    const line = new TimelineView(views);
    views.showTrack = ({ track }) => line.showTrack(track);
    line.tracks.id = 'tracks-base';
    line.tracks.setAttribute('aria-label', 'Time line of the base');
    line.ruler.setAttribute('aria-label', 'Ruler of the base');
    line.tracks.append(new CallList(views, line).element);
    const tip = new Tip(frames, settings);
    new TimelineGestures(views, line, tip);
    const starts = viewer.bounds.from - main.bounds.from;
    if (starts !== 0 && this.shift === 0) this.align(starts, null);
    this.tie(viewer);
    this.tieMethods(viewer);
    this.tieExpanded(viewer, partners);
    this.tieScrolling(line, partners);
    this.element.append(this.head(base.run, viewer), line.ruler, line.tracks, tip.element);
    onEnd(() => {
      main.paired.alone.set(null);
      main.paired.reach = main.bounds;
    });
  }

  /** Return the views of the base: stores of its own, settings and menus of the page. */
  private viewsOf(viewer: Viewer): Views {
    const counters = new CounterStore(viewer);
    const toOwn = framesByName(viewer.frames, this.v.viewer.frames);
    return {
      ...this.v,
      ...{ viewer, counters },
      mover: new FollowingMover(viewer, this.v.mover, () => this.shift),
      profile: new ProfileStore(viewer),
      selection: new SelectionStore(viewer),
      vsync: new VsyncStore(viewer, counters.list, this.v.settings.vsync),
      flows: new FlowStore(viewer),
      instants: new InstantStore(viewer),
      beside: new NonSliceStore(viewer),
      marks: new MarkStore(viewer),
      pair: new CallPairStore(viewer),
      search: new SearchStore(viewer, () => undefined),
      menu: (frame, at) => {
        const own = toOwn(frame);
        if (own !== null) this.v.menu(own, at);
      },
    };
  }

  /** Tie view, pointer and range, which are times. */
  private tie(viewer: Viewer): void {
    const main = this.v.viewer;
    const shift = (): number => main.paired.pairing.get()?.shift ?? 0;
    effect(() => {
      const by = shift();
      const own = shiftedSpan(viewer.bounds, -by);
      const [from, to] = [Math.min(main.bounds.from, own.from), Math.max(main.bounds.to, own.to)];
      main.paired.reach = { from, to };
      viewer.paired.reach = shiftedSpan({ from, to }, by);
    });
    effect(() => viewer.view.set(shiftedSpan(main.view.get(), shift())));
    effect(() => {
      const range = main.range.get();
      const by = shift();
      viewer.range.set(range && shiftedSpan(range, by));
    });
    effect(() => {
      const range = viewer.range.get();
      const moved = range && shiftedSpan(range, -this.shift);
      if (!sameSpan(moved, main.range.peek())) main.setRange(moved);
    });
    const follow = (from: Viewer, to: Viewer, sign: 1 | -1): void => {
      effect(() => {
        const pointer = from.pointer.get();
        const at = pointer === null ? null : pointer + sign * this.shift;
        const old = to.pointer.peek();
        // Adding and subtracting rounds: the two must not chase each other.
        if (at === null || old === null || Math.abs(at - old) > 0.5) to.pointer.set(at);
      });
    };
    follow(main, viewer, 1);
    follow(viewer, main, -1);
    effect(() => {
      const notice = viewer.notice.get();
      if (notice) main.notice.set(notice);
    });
    effect(() => {
      if (viewer.gone.get()) main.gone.set(true);
    });
    effect(() => viewer.unit.set(main.unit.get()));
  }

  /** Tie the selected method by its name. */
  private tieMethods(viewer: Viewer): void {
    const main = this.v.viewer;
    const toBase = framesByName(main.frames, viewer.frames);
    const toOwn = framesByName(viewer.frames, main.frames);
    effect(() => {
      const frame = main.frame.get();
      main.call.get();
      // A call of the base that is selected after this one can be aligned with it.
      viewer.call.set(null);
      viewer.frame.set(frame === null ? null : toBase(frame));
    });
    effect(() => {
      const frame = viewer.frame.get();
      const own = frame === null ? null : toOwn(frame);
      if (own !== null && main.call.peek() === null && main.frame.peek() !== own)
        main.selectFrame(own);
    });
  }

  /** Tie which tracks are expanded: a track opens and closes with its partner. */
  private tieExpanded(viewer: Viewer, partners: ReadonlyMap<number, number>): void {
    const main = this.v.viewer;
    const follow = (from: Viewer, to: Viewer, pairs: ReadonlyMap<number, number>): void => {
      for (const name of ['expanded', 'whole'] as const)
        effect(() => {
          const open = from[name].get();
          const old = to[name].peek();
          const next = new Set(old);
          for (const [track, partner] of pairs)
            if (open.has(track)) next.add(partner);
            else next.delete(partner);
          const same = next.size === old.size && [...next].every((track) => old.has(track));
          if (!same) to[name].set(next);
        });
    };
    follow(main, viewer, partners);
    follow(viewer, main, inverted(partners));
  }

  /** Keep the partner of the topmost visible track beside it. */
  private tieScrolling(line: TimelineView, partners: ReadonlyMap<number, number>): void {
    let set = new Map<TimelineView, number>();
    const follow = (
      from: TimelineView,
      to: TimelineView,
      pairs: ReadonlyMap<number, number>,
    ): void => {
      const scrolled = (): void => {
        const { scrollTop } = from.tracks;
        // This scroll was ours.
        if (set.get(from) === scrollTop) return void set.delete(from);
        const box = boxAt(from.placed.peek().tracks, scrollTop);
        const partner = box && pairs.get(box.track.track);
        const other = to.placed.peek().tracks.find((b) => b.track.track === partner);
        if (!box || !other) return;
        to.tracks.scrollTop = other.top + (scrollTop - box.top);
        set = new Map([[to, to.tracks.scrollTop]]);
      };
      from.tracks.addEventListener('scroll', scrolled);
      onEnd(() => from.tracks.removeEventListener('scroll', scrolled));
    };
    follow(this.line, line, partners);
    follow(line, this.line, inverted(partners));
  }

  /** Create the line that names the base, and says and changes how both are aligned. */
  private head(run: Run, viewer: Viewer): HTMLElement {
    const main = this.v.viewer;
    const words = h('span', { class: 'second grow', attrs: { 'aria-live': 'polite' } });
    const asking = new Latest(main.failed);
    effect(() => {
      const pairing = main.paired.pairing.get();
      const unit = main.unit.get();
      asking.cancel();
      if (!pairing) return;
      const { shift, at } = pairing;
      const by = shift === 0 ? '' : `, base ${shift > 0 ? 'earlier' : 'later'} by `;
      const length = shift === 0 ? '' : formatTimeUnit(Math.abs(shift), unit);
      setText(words, `Aligned at the start of both${by}${length}`);
      if (!at) return;
      asking.run(
        (signal) => main.engine.slice(at, signal),
        (call) => setText(words, `Aligned at ${this.describe(call)}${by}${length}`),
      );
    });
    const align = screenButton('Align at selection', '', () => void this.alignCalls(viewer));
    align.title = inTermsOf(
      wordsFor(main.facts),
      'Align the selected call with its partner: the call that is selected below, else the call ' +
        'with the same number among the calls of the method in the thread',
    );
    effect(() => setAttribute(align, 'aria-disabled', !main.call.get() && !viewer.call.get()));
    const starts = screenButton('Align starts', '', () =>
      this.align(viewer.bounds.from - main.bounds.from, null),
    );
    effect(() => setAttribute(starts, 'aria-disabled', main.paired.pairing.get()?.at === null));
    const name =
      main.base.peek().length > 1
        ? runChoice(main, run)
        : h('b', null, `Base: ${shortened(fileName(viewer.facts.name), 60)}`);
    return h(
      'div',
      { class: 'paired-head', attrs: { 'data-run': writeRuns([run]) } },
      ...[name, words, align, starts],
      iconButton('close', 'Close the time line of the base', () => main.paired.pairing.set(null)),
    );
  }

  /** Name a call: "call 3 of 12 of draw in main". */
  private describe({ frame, nth, of, row }: CallDetails): string {
    const { viewer } = this.v;
    const thread = viewer.trackOfRow(row)?.name ?? '';
    return (
      `${wordsFor(viewer.facts).slice} ${formatCount(nth)} of ${formatCount(of)} of ` +
      `${shortened(viewer.frames.short(frame), 60)} in ${shortened(thread, 40)}`
    );
  }

  /** Align at the selected call and its partner. */
  private async alignCalls(viewer: Viewer): Promise<void> {
    const main = this.v.viewer;
    const [own, theirs] = [main.call.peek(), viewer.call.peek()];
    try {
      const upper = own ? await main.engine.slice(own) : null;
      const lower = theirs ? await viewer.engine.slice(theirs) : null;
      const above = upper ?? (lower && (await this.partner(lower, viewer, main)));
      const below = lower ?? (upper && (await this.partner(upper, main, viewer)));
      if (!above || !below) return;
      const at = { row: above.row, index: above.index };
      this.align(below.start_ns - above.start_ns, at);
      // Another call can be chosen above without naming the one below again.
      viewer.call.set(null);
    } catch (error) {
      main.failed(error);
    }
  }

  /** Return the call with the same number of the same method in the partner of its thread. */
  private async partner(call: CallDetails, from: Viewer, to: Viewer): Promise<CallDetails | null> {
    const main = this.v.viewer;
    const side = to === main ? 'The trace of the page' : 'The base';
    const partners = pairTracks(from.facts, to.facts);
    const track = to.facts.tracks.find((t) => t.track === partners.get(call.track));
    const thread = from.trackOfRow(call.row)?.name ?? '';
    const name = shortened(from.frames.short(call.frame), 60);
    const frame = framesByName(from.frames, to.frames)(call.frame);
    const found = track && frame !== null && (await nthCall(to.engine, frame, track, call.nth));
    if (found) return found;
    const { slice } = wordsFor(from.facts);
    main.wrong(
      track
        ? `${side} has no ${slice} ${formatCount(call.nth)} of ${name} in ${shortened(thread, 40)}`
        : `${side} has no thread like ${shortened(thread, 40)}`,
    );
    return null;
  }
}
