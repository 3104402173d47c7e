// SPDX-License-Identifier: Apache-2.0
// The differential flame graph of two versions. Its answer is that of the Compare tab.

import { fill, h, setAttribute } from '../base/dom';
import { effect, signal } from '../base/signal';
import { USUAL_COMPARE, type ComparedFrame, type Comparison } from '../model/comparison';
import { Frames } from '../model/names';
import { Meters } from '../views/context';
import type { Settings } from '../views/settings';
import { ChangeFlame } from '../views/tables/changeFlame';
import { graphFigure, GRAPH_WORDS } from './model';

type Answer = Comparison<ComparedFrame>;

export class FlamePart {
  readonly element = h('section', {
    class: 'graph',
    hidden: true,
    attrs: { 'aria-label': 'Differential flame graph' },
  });
  private readonly title = h('h2', null);
  private readonly said = h('span', { class: 'said', attrs: { role: 'status' } });
  private readonly answer = signal<Answer | null>(null);
  private readonly viewer = {
    frames: new Frames([]),
    compare: signal(USUAL_COMPARE),
    find: signal(''),
    unit: signal('auto' as const),
    frame: signal<number | null>(null),
  };
  private method = '';
  private figure = '';

  constructor(settings: Settings, select: (method: string) => void) {
    const context = {
      viewer: this.viewer,
      settings,
      meters: new Meters(),
      announce: (text: string): void => fill(this.said, text),
    };
    const graph = new ChangeFlame(context, this.answer, {
      select,
      selected: () => this.method,
      figure: () => GRAPH_WORDS[graphFigure(this.figure)] ?? this.figure,
      term: (text) => text.replace(' runs', ' traces'),
    });
    const changed = h(
      'button',
      {
        class: 'toggle',
        attrs: { type: 'button', 'aria-pressed': 'false' },
        on: {
          click: () => this.viewer.compare.update((old) => ({ ...old, changed: !old.changed })),
        },
      },
      'Only what changed',
    );
    effect(() => setAttribute(changed, 'aria-pressed', String(this.viewer.compare.get().changed)));
    this.element.append(
      h('div', { class: 'graph-head' }, this.title, changed),
      graph.element,
      this.said,
    );
  }

  /** Mark the frames of a method. */
  mark(method: string): void {
    this.method = method;
    // The number means nothing here: a new one redraws the graph.
    this.viewer.frame.update((old) => (old ?? 0) + 1);
  }

  /** Say what the graph will be of, and empty it. */
  expect(sides: string): void {
    fill(this.title, `Flame graph of ${sides}`);
    this.answer.set(null);
    setAttribute(this.element, 'aria-busy', 'true');
  }

  show(answer: Answer, figure: string): void {
    this.figure = figure;
    this.answer.set(answer);
    this.end();
  }

  /** Nothing is expected any more. */
  end(): void {
    setAttribute(this.element, 'aria-busy', 'false');
  }
}
