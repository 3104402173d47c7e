// SPDX-License-Identifier: Apache-2.0
// What every view is given: the state, the stores beside it, and the means to move.

import { formatCount, formatTimeUnit } from '../base/format';
import { shortened } from '../base/visible';
import type { NonSliceStore } from '../model/nonSliceStore';
import type { CounterStore } from '../model/counters';
import type { FlowStore } from '../model/flows';
import type { InstantStore } from '../model/instants';
import type { MarkStore } from '../model/marks';
import type { ChosenFile, OpenedInput } from '../model/opening';
import type { ProfileStore } from '../model/profileStore';
import type { SearchStore } from '../model/searchStore';
import type { SelectionStore } from '../model/selectionStore';
import { framingView, revealingView, type Span } from '../model/span';
import type { Call, CallDetails } from '../model/engine';
import type { Track } from '../model/traceFacts';
import type { Viewer } from '../model/viewer';
import type { VsyncStore } from '../model/vsync';
import { wordsFor } from '../model/words';
import { TextMeter } from '../render/text';
import type { Mover } from './timeline/mover';
import type { Settings } from './settings';

/** The files that the trace is made of, and the ways to others. */
export interface TraceFiles {
  inputs: readonly OpenedInput[];
  /** The browser's dialog for files. */
  choose: () => void;
  /** The same files, moved otherwise in time. */
  move: (files: readonly ChosenFile[]) => void;
}

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
  settings: Settings;
  mover: Mover;
  meters: Meters;
  /** Scrolls a track into view and opens it. */
  showTrack: (track: Track) => void;
  /** The range can be typed. */
  askForRange: () => void;
  files: TraceFiles;
  /** To the whole trace. */
  unfilter: () => void;
  /** Words for a screen reader, spoken once. */
  announce: (text: string) => void;
}

/** Widths of letters in a font are measured once for all canvases. */
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

  /** As a whole: letters beside each other may stand closer. */
  measure(font: string, text: string): number {
    if (!this.context) return text.length * 6;
    this.context.font = font;
    return this.context.measureText(text).width;
  }
}

export function spanOf(call: CallDetails): Span {
  return { from: call.start_ns, to: call.start_ns + Math.max(1, call.length_ns) };
}

/** Select a call wherever it is, and bring it into view. */
export async function goToCall(v: Views, call: Call): Promise<void> {
  try {
    const details = await v.viewer.engine.slice(call);
    v.viewer.selectCall(details, details.frame);
    reveal(v, details);
  } catch (error) {
    v.viewer.failed(error);
  }
}

export function reveal(v: Views, call: CallDetails): void {
  v.mover.glide(revealingView(v.mover.goal, spanOf(call), v.viewer.bounds));
  v.announce(describe(v, call));
}

export function zoomToCall(v: Views, call: CallDetails): void {
  v.mover.glide(framingView(spanOf(call), v.viewer.bounds));
}

function describe(v: Views, call: CallDetails): string {
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
