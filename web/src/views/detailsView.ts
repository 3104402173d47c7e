// SPDX-License-Identifier: Apache-2.0
// Everything about the selected call, or, where only a method is selected, about that.

import { breakable, fill, h } from '../base/dom';
import { formatCount, formatPercent, formatTime, plural, unitLabel } from '../base/format';
import { brief } from '../base/visible';
import { effect } from '../base/signal';
import type { CallDetails, InstantDetails } from '../model/engine';
import { idOf, trackName } from '../model/names';
import { figuresOf, type Figures } from '../model/columns';
import { goToCall, spanOf, zoomToCall, type Views } from './context';
import { swatch } from './swatch';
import { visible } from '../base/visible';
import { valueTree } from './valueTree';

const CALLERS_SHOWN = 12;

type Row = [string, number | null, number | null];

export class DetailsView {
  constructor(
    private readonly v: Views,
    readonly element: HTMLElement,
  ) {
    effect(() => this.show());
  }

  private show(): void {
    const { viewer, selection, profile } = this.v;
    const frame = viewer.frame.get();
    const call = selection.details.get();
    this.v.settings.theme.get();
    viewer.unit.get();
    const instant = this.v.instants.details.get();
    if (instant) return this.showInstant(instant);
    if (frame === null) {
      return fill(
        this.element,
        h(
          'p',
          { class: 'nothing' },
          'Nothing is selected. Click on a call in the time line, or on a ' +
            'method in the table: its details stand here.',
        ),
      );
    }
    const row = profile.answer.get()?.rows.find((r) => r[0] === frame);
    if (call && call.frame === frame && viewer.call.get()) this.showCall(call);
    else this.showMethod(frame, row ? figuresOf(row) : null);
  }

  private head(frame: number): HTMLElement[] {
    const { frames } = this.v.viewer;
    const mark = swatch(frames, frame, this.v.settings.theme.peek());
    return [
      h('h2', null, mark, h('span', null, ...breakable(frames.short(frame), 120))),
      h(
        'p',
        { class: 'signature' },
        h('span', { class: 'dim' }, ...breakable(frames.packagePrefix(frame))),
        ...breakable(`${frames.short(frame)} ${frames.signature(frame)} `),
        h('span', { class: 'dim' }, frames.source(frame)),
      ),
    ];
  }

  /** Two columns of times; a clock the trace lacks has none. */
  private times(rows: readonly Row[], more: HTMLElement[]): HTMLElement {
    const { viewer } = this.v;
    const unit = viewer.unit.peek();
    const clocks = (['real', 'cpu'] as const).filter((clock) => viewer.has(clock));
    const cell = (ns: number | null): HTMLElement =>
      h('td', { class: 'number' }, ns === null ? '' : formatTime(ns, unit));
    return h(
      'table',
      null,
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          h('td', null),
          ...clocks.map((clock) =>
            h('th', { class: 'number' }, `${clock === 'cpu' ? 'CPU' : 'Real'} ${unitLabel(unit)}`),
          ),
        ),
      ),
      h(
        'tbody',
        null,
        ...rows.map(([what, real, cpu]) =>
          h(
            'tr',
            null,
            h('th', null, what),
            ...clocks.map((clock) => cell(clock === 'cpu' ? cpu : real)),
          ),
        ),
        ...more,
      ),
    );
  }

  private showMethod(frame: number, f: Figures | null): void {
    const { viewer } = this.v;
    const scoped =
      viewer.range.get() || viewer.tracks.get().length > 0
        ? 'in what is selected'
        : 'in the whole trace';
    if (!f)
      return fill(
        this.element,
        ...this.head(frame),
        h('p', { class: 'second' }, `Not called ${scoped}.`),
      );
    const n = f.calls + f.recursive;
    const per = (ns: number | null): number | null => (ns === null || n === 0 ? null : ns / n);
    fill(
      this.element,
      ...this.head(frame),
      this.times(
        [
          ['Inclusive', f.incl_real, f.incl_cpu],
          ['Exclusive', f.excl_real, f.excl_cpu],
          ['Per call', per(f.incl_real), per(f.incl_cpu)],
        ],
        [],
      ),
      h(
        'p',
        { class: 'second' },
        `${plural(f.calls, 'call')}${f.recursive ? ` and ${formatCount(f.recursive)} recursive` : ''} ${scoped}.`,
      ),
      h(
        'div',
        { class: 'actions' },
        this.link('First call', () => void this.step(frame, viewer.bounds.from - 1, 1)),
        this.link('Last call', () => void this.step(frame, viewer.bounds.to + 1, -1)),
      ),
    );
  }

  private showInstant(instant: InstantDetails): void {
    const { viewer } = this.v;
    const unit = viewer.unit.peek();
    fill(
      this.element,
      ...this.head(instant.frame),
      h(
        'table',
        null,
        h(
          'tbody',
          null,
          this.fact('Time', `${formatTime(instant.time_ns, unit)} ${unitLabel(unit)}`),
          this.fact('Instant of', this.ownerOf(instant)),
          instant.category ? this.fact('Category', visible(instant.category)) : null,
          instant.offset === undefined
            ? null
            : this.fact('In the file', `byte ${formatCount(instant.offset)}`),
        ),
      ),
      ...this.event(instant),
    );
  }

  private ownerOf({ scope, of }: InstantDetails): string {
    const { facts } = this.v.viewer;
    if (scope === 2) return 'the whole trace';
    if (scope === 1) {
      const process = facts.processes[of];
      return `process ${process ? `${idOf(process)} ${process.name}` : ''}`;
    }
    const track = facts.tracks.find((t) => t.thread === of && t.kind === 'thread');
    return track ? trackName(track) : 'a thread without calls';
  }

  private showCall(call: CallDetails): void {
    const { viewer } = this.v;
    const unit = viewer.unit.peek();
    const realAxis = viewer.facts.axis === 'real';
    const track = viewer.trackOfRow(call.row);
    const share =
      call.wait_ns !== null && call.length_ns > 0
        ? `${formatPercent(call.wait_ns, call.length_ns)} %`
        : '';
    const single = (what: string, ns: number, className = ''): HTMLElement =>
      h(
        'tr',
        { class: className },
        h('th', null, what),
        h('td', { class: 'number' }, formatTime(ns, unit)),
      );
    const waiting =
      call.wait_ns === null
        ? []
        : [
            h(
              'tr',
              null,
              h('th', null, 'Waiting'),
              h('td', { class: 'number' }, formatTime(call.wait_ns, unit)),
              h('td', { class: 'number dim' }, share),
            ),
          ];
    fill(
      this.element,
      ...this.head(call.frame),
      ...this.notes(call),
      this.times(
        [
          [
            'Inclusive',
            realAxis ? call.length_ns : null,
            call.cpu_length_ns ?? (realAxis ? null : call.length_ns),
          ],
          ['Exclusive', call.excl_real_ns, call.excl_cpu_ns],
        ],
        [
          ...waiting,
          single('Start', call.start_ns, 'ruled'),
          single('End', call.start_ns + call.length_ns),
        ],
      ),
      h(
        'table',
        null,
        h(
          'tbody',
          null,
          this.fact('Call', `${formatCount(call.nth)} of ${formatCount(call.of)} in this thread`),
          this.fact(
            '',
            h(
              'div',
              { class: 'actions' },
              this.link(
                '‹ previous',
                () => void this.step(call.frame, call.start_ns, -1, call.track),
              ),
              this.link('next ›', () => void this.step(call.frame, call.start_ns, 1, call.track)),
            ),
          ),
          this.fact('Thread', `${track ? trackName(track) : '?'}, depth ${call.depth}`),
          call.recursion > 0
            ? this.fact('Recursion', `${plural(call.recursion, 'call')} of this method above it`)
            : null,
          this.fact('Calls inside', call.children === 0 ? 'none' : formatCount(call.children)),
          call.category ? this.fact('Category', visible(call.category)) : null,
          call.offset === undefined
            ? null
            : this.fact('In the file', `byte ${formatCount(call.offset)}`),
        ),
      ),
      h(
        'div',
        { class: 'actions' },
        this.link('Zoom to it', () => zoomToCall(this.v, call)),
        this.link('Use as range', () => viewer.setRange(spanOf(call))),
        call.first_child && this.link('First call inside', () => void this.goTo(call.first_child)),
      ),
      ...this.event(call),
      ...this.callers(call),
    );
  }

  /** Arguments, stacks and whatever else the event of a call says. */
  private event(call: Pick<CallDetails, 'event' | 'event_error'>): HTMLElement[] {
    if (call.event === undefined) return [];
    if (!call.event)
      return [
        h('p', { class: 'state-note' }, `Arguments cannot be read: ${call.event_error ?? ''}`),
      ];
    const { args, start_stack, end_stack, ...others } = call.event;
    const parts: [string, unknown][] = [
      ['Arguments', args],
      ['Stack at its start', start_stack],
      ['Stack at its end', end_stack],
      ['More', others],
    ];
    return parts
      .filter(([, value]) => typeof value !== 'object' || Object.keys(value ?? {}).length > 0)
      .filter(([, value]) => value !== undefined)
      .map(([title, value]) => h('section', null, h('h3', null, title), valueTree(value)));
  }

  private fact(what: string, value: string | HTMLElement): HTMLElement {
    return h('tr', null, h(what === '' ? 'td' : 'th', null, what), h('td', null, value));
  }

  private notes(call: CallDetails): HTMLElement[] {
    const notes: string[] = [];
    if (call.entered_before) notes.push('Entered before the trace began: its start is not known.');
    if (call.open_at_end) notes.push('Still running when the trace ended.');
    if (call.missing_exit) notes.push('Its exit is missing; it ends where its caller goes on.');
    if (call.unrolled) notes.push('Left by an exception (unrolled).');
    return notes.map((text) => h('p', { class: 'state-note' }, text));
  }

  private link(text: string, act: () => void): HTMLElement {
    return h('button', { class: 'link', attrs: { type: 'button' }, on: { click: act } }, text);
  }

  private async goTo(call: [number, number] | null): Promise<void> {
    if (call) await goToCall(this.v, { row: call[0], index: call[1] });
  }

  private async step(
    frame: number,
    time: number,
    direction: 1 | -1,
    track?: number,
  ): Promise<void> {
    const { viewer } = this.v;
    try {
      const found = await viewer.engine.step(
        frame,
        time,
        direction,
        track === undefined ? undefined : [track],
      );
      if (found) await goToCall(this.v, found);
    } catch (error) {
      viewer.failed(error);
    }
  }

  private callers(call: CallDetails): HTMLElement[] {
    if (call.path.length === 0) return [h('h3', null, 'Called from nowhere in the trace')];
    const { frames } = this.v.viewer;
    const nearest = [...call.path].reverse();
    const rest = nearest.length - CALLERS_SHOWN;
    return [
      h('h3', null, 'Called from'),
      h(
        'ul',
        null,
        ...nearest.slice(0, CALLERS_SHOWN).map(([row, index, frame]) =>
          h(
            'li',
            null,
            this.link(brief(frames.short(frame)), () => void this.goTo([row, index])),
          ),
        ),
        rest > 0 && h('li', { class: 'dim' }, `${formatCount(rest)} more`),
      ),
    ];
  }
}
