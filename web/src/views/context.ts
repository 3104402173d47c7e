// SPDX-License-Identifier: Apache-2.0
// The context that every view receives: state, stores, and navigation.

import { formatCount, formatTimeUnit } from '../base/format';
import type { Signal } from '../base/signal';
import { shortened } from '../base/visible';
import type { CallPairStore } from '../model/callPair';
import type { NonSliceStore } from '../model/nonSliceStore';
import type { CounterStore } from '../model/counters';
import type { FlowStore } from '../model/flows';
import type { InstantStore } from '../model/instants';
import type { MarkStore } from '../model/marks';
import type { ChosenFile, OpenedInput } from '../model/opening';
import type { QueryTrack } from '../model/queryTrack';
import type { ProfileStore } from '../model/profileStore';
import type { SearchStore } from '../model/searchStore';
import type { SelectionStore } from '../model/selectionStore';
import { framingView, readableView, revealingView, type Span } from '../model/span';
import type { Call, CallDetails } from '../model/engine';
import type { Track } from '../model/traceFacts';
import { openProcessOf } from '../model/unhide';
import type { Viewer } from '../model/viewer';
import type { VsyncStore } from '../model/vsync';
import { wordsFor } from '../model/words';
import { TextMeter } from '../render/text';
import type { FinderItem, FinderWords } from './finder';
import type { MenuPlace } from './popupMenu';
import type { Mover } from './timeline/mover';
import type { Settings } from './settings';

/** The files of the trace, and how to change them. */
export interface TraceFiles {
  inputs: readonly OpenedInput[];
  /** Open the file dialog of the browser. */
  choose: () => void;
  /** Open it to choose files that are compared with the trace, or as the trace. */
  compare: (side: 'base' | 'more') => void;
  /** Reopen the same files with other time offsets. */
  move: (files: readonly ChosenFile[]) => void;
}

/** The context of all views of one trace. */
export interface Views {
  viewer: Viewer;
  profile: ProfileStore;
  selection: SelectionStore;
  search: SearchStore;
  counters: CounterStore;
  vsync: VsyncStore;
  flows: FlowStore;
  instants: InstantStore;
  beside: NonSliceStore;
  marks: MarkStore;
  pair: CallPairStore;
  /** The rows of a query that are drawn above the tracks. */
  asTrack: Signal<QueryTrack | null>;
  settings: Settings;
  mover: Mover;
  meters: Meters;
  /** Scroll a track into view and expand it. */
  showTrack: (track: Track) => void;
  /** Show a counter that is hidden or folded, and scroll it into view. */
  showCounter: (counter: number) => void;
  /** Let the user type a range. */
  askForRange: () => void;
  files: TraceFiles;
  /** Go to the unfiltered trace. */
  unfilter: () => void;
  /** Open the context menu of a frame. */
  menu: (frame: number, at: MenuPlace) => void;
  /** Let the user find one of many things by its name. */
  find: (words: FinderWords, all: readonly FinderItem[]) => void;
  /** Announce a text to screen readers once. */
  announce: (text: string) => void;
}

/** Text meters by font, shared by all canvases. */
export class Meters {
  private readonly byFont = new Map<string, TextMeter>();
  private readonly context = document.createElement('canvas').getContext('2d');

  get(font: string): TextMeter {
    let meter = this.byFont.get(font);
    if (!meter) {
      meter = new TextMeter((text) => this.measure(font, text));
      this.byFont.set(font, meter);
    }
    return meter;
  }

  /** Measure a text as a whole, including kerning. */
  measure(font: string, text: string): number {
    if (!this.context) return text.length * 6;
    this.context.font = font;
    return this.context.measureText(text).width;
  }
}

export function callSpan(call: CallDetails): Span {
  return { from: call.start_ns, to: call.start_ns + Math.max(1, call.length_ns) };
}

/** Select a call wherever it is, and bring it into view. */
export async function goToCall(v: Views, call: Call): Promise<void> {
  try {
    const details = await v.viewer.engine.slice(call);
    v.viewer.selectCall(details, details.frame);
    revealCall(v, details);
  } catch (error) {
    v.viewer.failed(error);
  }
}

/** Expand the track of a call, and its process. */
function openTrackOf(v: Views, call: Call): void {
  const track = v.viewer.trackOfRow(call.row)?.track;
  if (track === undefined) return;
  openProcessOf(v.viewer, track);
  if (!v.viewer.expanded.peek().has(track)) v.viewer.toggleExpanded(track);
}

/** Open the track of a call, and go to the call. */
export function goToCallOn(v: Views, call: Call): void {
  openTrackOf(v, call);
  void goToCall(v, call);
}

/** Open the track of a call, and begin with the call selected and framed. */
export function beginAtCall(v: Views, call: CallDetails): void {
  v.viewer.selectCall(call, call.frame);
  openTrackOf(v, call);
  v.mover.jump(framingView(callSpan(call), v.viewer.bounds));
}

export function revealCall(v: Views, call: CallDetails): void {
  v.mover.glide(revealingView(v.mover.goal, callSpan(call), v.viewer.bounds));
  v.announce(describeCall(v, call));
}

/** A hit of the search is shown at least this wide. */
const LEAST_HIT_PX = 40;

/** Bring a hit into view on an axis of `width` pixels, wide enough to be read. */
export function revealHit(v: Views, call: CallDetails, width: number): void {
  const least = LEAST_HIT_PX / Math.max(width, 4 * LEAST_HIT_PX);
  v.mover.glide(readableView(v.mover.goal, callSpan(call), v.viewer.bounds, least));
  v.announce(describeCall(v, call));
}

export function zoomToCall(v: Views, call: CallDetails): void {
  v.mover.glide(framingView(callSpan(call), v.viewer.bounds));
}

function describeCall(v: Views, call: CallDetails): string {
  const { viewer } = v;
  const words = wordsFor(viewer.facts);
  const track = viewer.trackOfRow(call.row);
  return (
    `${shortened(viewer.frames.short(call.frame))}, ` +
    `${words.slice} ${formatCount(call.nth)} of ${formatCount(call.of)} ` +
    `in ${track?.name ?? words.track}, level ${call.depth + 1}, ` +
    formatTimeUnit(call.length_ns, viewer.unit.peek())
  );
}
