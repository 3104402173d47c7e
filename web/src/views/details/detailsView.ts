// SPDX-License-Identifier: Apache-2.0
// The details of the selection: a mark, a call, or a method if no call is selected. Each kind has
// its own file.

import { fill, h } from '../../base/dom';
import { effect } from '../../base/signal';
import { figuresOf } from '../../model/profileColumns';
import type { MarkDetails } from '../../model/marks';
import { StateOfCall } from '../../model/stateStore';
import { inTermsOf, wordsFor } from '../../model/words';
import { callDetails } from './callDetails';
import type { Views } from '../context';
import { counterDetails } from './counterDetails';
import { frameHead } from './detailsParts';
import { contextLines, FlowLinks } from './flowLinks';
import { instantDetails } from './instantDetails';
import { memoryDetails } from './memoryDetails';
import { methodDetails } from './methodDetails';
import { objectDetails, snapshotDetails } from './objectDetails';
import { pairDetails } from './pairDetails';
import { sampleDetails } from './sampleDetails';
import { scheduleDetails, statesInside } from './stateDetails';

function markDetails(v: Views, mark: MarkDetails, flows: HTMLElement): HTMLElement[] {
  switch (mark.kind) {
    case 'instant':
      return instantDetails(v, mark.instant, flows);
    case 'object':
      return objectDetails(v, mark.object);
    case 'snapshot':
      return snapshotDetails(v, mark.snapshot);
    case 'sample':
      return sampleDetails(v, mark.sample);
    case 'memory':
      return memoryDetails(v, mark.dump);
    case 'counter':
      return counterDetails(v, mark);
  }
}

/** The details view. */
export class DetailsView {
  private readonly flows: FlowLinks;
  private readonly state: StateOfCall;

  constructor(
    private readonly v: Views,
    readonly element: HTMLElement,
  ) {
    this.flows = new FlowLinks(v);
    this.state = new StateOfCall(v.viewer);
    effect(() => fill(this.element, ...this.contents()));
  }

  /**
   * Return the details of what was selected last: an event that is no slice, a call, or a method.
   */
  private contents(): HTMLElement[] {
    const { viewer, selection, profile } = this.v;
    const frame = viewer.frame.get();
    const call = selection.details.get();
    this.v.settings.theme.get();
    viewer.unit.get();
    const mark = this.v.marks.details.get();
    if (mark) return markDetails(this.v, mark, this.flows.element);
    if (frame === null) {
      const hint =
        'Nothing is selected. Click a call in the time line or a ' +
        'method in the table to see its details here.';
      return [h('p', { class: 'nothing' }, inTermsOf(wordsFor(viewer.facts), hint))];
    }
    const answer = profile.answer.get();
    const row = answer?.rows.find((r) => r[0] === frame);
    if (call && call.frame === frame && viewer.call.get()) {
      const state = this.state.get(call);
      const beside = [
        ...statesInside(this.v, state),
        this.flows.element,
        ...contextLines(this.v, call),
      ];
      const pair = this.v.pair.pair.get();
      viewer.pinnedCall.get();
      return [
        ...(pair ? [pairDetails(this.v, pair)] : []),
        ...(scheduleDetails(this.v, call, state) ?? callDetails(this.v, call, beside)),
      ];
    }
    // Wait for the answers before deciding that there are no slices.
    if (!row && (!answer || viewer.call.get())) return frameHead(this.v, frame);
    return methodDetails(this.v, frame, row ? figuresOf(row) : null);
  }
}
