// SPDX-License-Identifier: Apache-2.0
// Follows flows from call to call.

import { shortened } from '../../base/visible';
import type { Flow, FlowEnd } from '../../model/flowAnswers';
import type { TraceFacts } from '../../model/traceFacts';
import { Trail } from '../../model/flows';
import { trackPlace } from '../../model/names';
import { revealingView } from '../../model/span';
import { inTermsOf, wordsFor } from '../../model/words';
import { goToCall, type Views } from '../context';

/** Return the name of the track or thread of an end. */
export function ownerOfEnd(facts: TraceFacts, end: FlowEnd): string {
  const track = facts.tracks.find((t) => t.track === end.track);
  if (track) return trackPlace(track, facts.processes);
  const threads = [...facts.tracks, ...facts.idle_threads];
  return threads.find((t) => t.thread === end.thread)?.name ?? '';
}

function goToInstant(v: Views, end: FlowEnd): void {
  v.viewer.selectMark({ kind: 'instant', number: end.index });
  const span = { from: end.time, to: end.time + 1 };
  v.mover.glide(revealingView(v.mover.goal, span, v.viewer.bounds));
}

/** Select the call at an end of a flow, and show it with its rows. */
export async function goToFlowEnd(
  v: Views,
  flow: Flow,
  end: FlowEnd,
  which: string,
): Promise<void> {
  const { viewer } = v;
  if (end.row < 0) goToInstant(v, end);
  else {
    if (!viewer.expanded.peek().has(end.track)) viewer.toggleExpanded(end.track);
    await goToCall(v, end);
  }
  const name = shortened(viewer.frames.short(flow.frame), 80);
  v.flows.said.set(which);
  v.announce(
    `${which ? `${which}: ` : ''}${shortened(viewer.frames.short(end.frame), 80)} ` +
      `on ${ownerOfEnd(viewer.facts, end) || 'thread'}, by ${name} ${shortened(flow.id, 40)}`,
  );
}

/** The commands of the keys `[` and `]`. */
export class FlowSteps {
  private readonly trail = new Trail();
  private busy = false;

  constructor(private readonly v: Views) {}

  /** Go along a flow to the call at its other end. */
  async step(direction: 1 | -1): Promise<void> {
    const { viewer, flows } = this.v;
    const call = viewer.flowEnd.peek();
    if (this.busy) return;
    if (viewer.facts.flows === 0) return this.say('This trace has no flows');
    const said = (text: string): void => this.say(inTermsOf(wordsFor(viewer.facts), text));
    if (!call) return said('Select a call first: flows lead from call to call');
    this.busy = true;
    try {
      const { in: arriving, out: leaving, inCount, outCount } = await flows.flowsOf(call);
      const choice = this.trail.choose(call, direction === 1 ? leaving : arriving, direction);
      if (!choice)
        return said(direction === 1 ? 'No flow leaves this call' : 'No flow arrives at this call');
      const count = direction === 1 ? outCount : inCount;
      const words = direction === 1 ? 'Flow on' : 'Flow back';
      const which = count > 1 ? `${words}, ${choice.nth} of ${count}` : words;
      await goToFlowEnd(this.v, choice.flow, choice.end, which);
    } catch (error) {
      viewer.failed(error);
    } finally {
      this.busy = false;
    }
  }

  private say(text: string): void {
    this.v.flows.said.set(text);
    this.v.announce(text);
  }
}
