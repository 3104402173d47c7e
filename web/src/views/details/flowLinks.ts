// SPDX-License-Identifier: Apache-2.0
// The flows of a call or instant, incoming and outgoing, as links to the calls at their other ends,
// and the contexts in which the call ran.

import { fill, h } from '../../base/dom';
import { formatCount, formatTimeUnit } from '../../base/format';
import { Latest } from '../../base/latest';
import { effect, signal } from '../../base/signal';
import { shortened, makeVisible } from '../../base/visible';
import type { CallDetails } from '../../model/engine';
import type { Flow } from '../../model/flowAnswers';
import { revealingView, type Span } from '../../model/span';
import type { Views } from '../context';
import { eventFacts, eventParts, factTable, linkButton } from './detailsParts';
import { goToFlowEnd, ownerOfEnd } from '../timeline/followFlow';
import { goToSnapshot } from './references';

const SHOWN = 12;

type Direction = 'in' | 'out';

export class FlowLinks {
  readonly element = h('section', { class: 'flow-links', attrs: { 'aria-label': 'Flows' } });
  private readonly all = signal(false);

  constructor(private readonly v: Views) {
    effect(() => {
      v.viewer.flowEnd.get();
      this.all.set(false);
    });
    effect(() => this.show());
  }

  /**
   * Show the flows, or hide the section without any - but not while something is said there: the
   * answer to a key that found no flow must be seen.
   */
  private show(): void {
    const { flows, viewer } = this.v;
    const own = flows.ofCall.get();
    const said = flows.said.get();
    viewer.unit.get();
    const count = own ? own.inCount + own.outCount : 0;
    this.element.hidden = !own || (count === 0 && said === '');
    if (!own || this.element.hidden) return;
    const lines: [Direction, Flow][] = [
      ...own.in.map((flow): [Direction, Flow] => ['in', flow]),
      ...own.out.map((flow): [Direction, Flow] => ['out', flow]),
    ];
    const shown = this.all.get() ? lines : this.fewOf(lines);
    const more = lines.length - shown.length;
    const unlisted = count - lines.length;
    fill(
      this.element,
      h(
        'h3',
        null,
        'Flows ',
        ...['[', ']'].map((key) => h('kbd', null, key)),
        said ? h('span', { class: 'said' }, said) : null,
      ),
      h('ul', null, ...shown.map(([direction, flow]) => this.line(direction, flow))),
      more > 0 ? this.moreButton(more) : null,
      more === 0 && unlisted > 0
        ? h('p', { class: 'dim' }, `${formatCount(unlisted)} more are not listed`)
        : null,
    );
  }

  /** Select some flows of both directions, in their order. */
  private fewOf(lines: [Direction, Flow][]): [Direction, Flow][] {
    const arriving = lines.filter(([direction]) => direction === 'in').length;
    const leaving = lines.length - arriving;
    const first = Math.min(arriving, Math.max(SHOWN / 2, SHOWN - leaving));
    return [...lines.slice(0, first), ...lines.slice(arriving, arriving + SHOWN - first)];
  }

  private moreButton(more: number): HTMLElement {
    return h(
      'button',
      { class: 'link', attrs: { type: 'button' }, on: { click: () => this.all.set(true) } },
      `${formatCount(more)} more`,
    );
  }

  /** Show the events of a flow, loaded when the user opens them. */
  private events(flow: Flow, words: string): HTMLElement {
    const { engine, failed } = this.v.viewer;
    const said = h('div', null);
    const asking = new Latest(failed);
    const open = (): void => {
      if (!box.open || said.childElementCount > 0) return;
      asking.run(
        () => engine.flow(flow.flow),
        (answer) => fill(said, ...eventParts(this.v, answer), factTable(...eventFacts(answer))),
      );
    };
    const box = h(
      'details',
      { class: 'where', on: { toggle: open } },
      h('summary', { class: 'dim' }, words),
      said,
    );
    return box;
  }

  /**
   * Return the line of a flow: a link to its other end, and how much later that is. Ends of an
   * arrow may be recorded in the wrong order; then the words "after" and "before" change places.
   */
  private line(direction: Direction, flow: Flow): HTMLElement {
    const { viewer } = this.v;
    const end = direction === 'in' ? flow.from : flow.to;
    const between = flow.to.time - flow.from.time;
    const later = direction === 'in' ? between < 0 : between >= 0;
    const name = `${viewer.frames.short(flow.frame)} ${flow.id}`;
    return h(
      'li',
      { title: `Flow ${shortened(name)}` },
      h('span', { class: 'way' }, direction === 'in' ? '‹ from' : 'to ›'),
      h(
        'button',
        {
          class: 'link',
          attrs: { type: 'button' },
          on: { click: () => void goToFlowEnd(this.v, flow, end, '') },
        },
        shortened(viewer.frames.short(end.frame), 120),
      ),
      h(
        'span',
        { class: 'time' },
        `${formatTimeUnit(Math.abs(between), viewer.unit.peek())} ${later ? 'after' : 'before'}`,
      ),
      this.events(flow, `${ownerOfEnd(viewer.facts, end)}, flow ${shortened(name, 120)}`),
    );
  }
}

/** Select the span as the range of all tables, and bring it into view. */
function useAsRange(v: Views, span: Span): void {
  v.viewer.setRange(span);
  v.mover.glide(revealingView(v.mover.goal, span, v.viewer.bounds));
}

/** Return type and id of the contexts of the thread when the call began. */
export function contextLines(v: Views, call: CallDetails): HTMLElement[] {
  const contexts = call.contexts ?? [];
  if (contexts.length === 0) return [];
  const unit = v.viewer.unit.peek();
  return [
    h(
      'section',
      { class: 'contexts' },
      h('h3', null, 'Contexts'),
      h(
        'table',
        null,
        h(
          'tbody',
          null,
          ...contexts.map(([type, id, start, end, offset, snapshot]) =>
            h(
              'tr',
              { title: `Entered by the event at byte ${formatCount(offset)}` },
              h('th', null, shortened(makeVisible(type), 80)),
              h(
                'td',
                null,
                snapshot < 0
                  ? shortened(makeVisible(id), 80)
                  : linkButton(
                      shortened(makeVisible(id), 80),
                      () => void goToSnapshot(v, snapshot),
                    ),
              ),
              h(
                'td',
                { class: 'number dim' },
                linkButton(`${formatTimeUnit(start, unit)} to ${formatTimeUnit(end, unit)}`, () =>
                  useAsRange(v, { from: start, to: end }),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  ];
}
