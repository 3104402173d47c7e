// SPDX-License-Identifier: Apache-2.0
// The details of a sample: its stack, innermost frame first.

import { h } from '../../base/dom';
import { formatCount, formatTimeUnit, plural } from '../../base/format';
import { shortened } from '../../base/visible';
import type { SampleDetails } from '../../model/nonSliceEvents';
import { ownerId, trackPlace } from '../../model/names';
import { revealingView } from '../../model/span';
import type { Views } from '../context';
import { factRow, factTable, frameHead, linkButton, detailsSection } from './detailsParts';

const FRAMES_SHOWN = 200;

function sampleThread(v: Views, thread: number): string {
  const { tracks, processes } = v.viewer.facts;
  const track = tracks.find((t) => t.thread === thread && t.kind === 'thread');
  if (track) return trackPlace(track, processes);
  const lone = v.beside.rows.get().threads.find((t) => t.thread === thread);
  return lone ? `[${ownerId({ id: lone.thread_id, ...lone })}] ${lone.name}` : 'of no thread';
}

async function goToSample(v: Views, number: number): Promise<void> {
  try {
    const { time_ns } = await v.viewer.engine.nonSlice.sample(number);
    v.viewer.selectMark({ kind: 'sample', number });
    const span = { from: time_ns, to: time_ns + 1 };
    v.mover.glide(revealingView(v.mover.goal, span, v.viewer.bounds));
  } catch (error) {
    v.viewer.failed(error);
  }
}

/** Return the details of a sample with its stack. */
export function sampleDetails(v: Views, sample: SampleDetails): HTMLElement[] {
  const { viewer } = v;
  const unit = viewer.unit.peek();
  const weight = viewer.facts.axis === 'weight';
  const stack = [...sample.stack].reverse();
  const [leaf] = stack;
  const lines = stack.slice(0, FRAMES_SHOWN).map((frame) =>
    h(
      'li',
      null,
      linkButton(shortened(viewer.frames.short(frame), 160), () => viewer.selectFrame(frame)),
      h('span', { class: 'dim' }, ` ${shortened(viewer.frames.source(frame), 120)}`),
    ),
  );
  if (stack.length > FRAMES_SHOWN)
    lines.push(h('li', { class: 'dim' }, `${formatCount(stack.length - FRAMES_SHOWN)} more`));
  return [
    ...(leaf === undefined ? [h('h2', null, 'Sample without a stack')] : frameHead(v, leaf)),
    factTable(
      sample.title ? factRow('Sample', sample.title) : null,
      factRow(weight ? 'On the axis at' : 'Time', formatTimeUnit(sample.time_ns, unit)),
      factRow('Thread', sampleThread(v, sample.thread)),
      sample.cpu >= 0 ? factRow('CPU', String(sample.cpu)) : null,
      factRow('Weight', formatCount(sample.weight)),
      sample.offset === undefined
        ? null
        : factRow('In the file', `byte ${formatCount(sample.offset)}`),
    ),
    h(
      'div',
      { class: 'actions' },
      sample.previous >= 0 && linkButton('‹ previous', () => void goToSample(v, sample.previous)),
      sample.next >= 0 && linkButton('next ›', () => void goToSample(v, sample.next)),
    ),
    detailsSection(
      `Stack, ${plural(stack.length, 'frame')}, the innermost first`,
      h('ul', null, ...lines),
    ),
  ];
}
