// SPDX-License-Identifier: Apache-2.0
// The choices at the top of the page of the fleet: what is compared, and of which traces.

import { fill, h } from '../base/dom';
import { plural } from '../base/format';
import {
  FIGURES,
  labelValues,
  usualUnit,
  valuesOf,
  versionsOf,
  type LabelRow,
  type VersionRow,
} from './model';
import type { Choice, Place } from './place';

/** Labels that are offered only if they part the traces. */
const FACTS = [
  ['program', 'Program'],
  ['host', 'Host'],
] as const;

export class Choices {
  readonly element = h('div', {
    class: 'choices',
    attrs: { role: 'group', 'aria-label': 'What to compare' },
  });
  readonly note = h('p', { class: 'note units', hidden: true });
  /** The unit of all figures but calls: times of calls are in ns. */
  unit = 'ns';

  constructor(
    private readonly place: Place,
    private readonly changed: () => void,
  ) {}

  /**
   * Offer what the fleet has. The newest two versions are compared unless the address says
   * otherwise. Figures in different units have no common median, so one unit is always chosen.
   */
  show(versions: VersionRow[], labels: LabelRow[], ...buttons: HTMLElement[]): void {
    const names = versionsOf(versions);
    const units = labelValues(labels, 'unit');
    const mixed = units.length > 1;
    if (this.place.get('new') === '') this.place.set('new', names.at(-1) ?? '');
    if (this.place.get('base') === '') this.place.set('base', names.at(-2) ?? '');
    if (this.place.get('unit') === '' && mixed) this.place.set('unit', usualUnit(labels));
    const any = (label: 'device' | 'scenario'): string[] => ['', ...valuesOf(versions, label)];
    const facts = FACTS.filter(
      ([name]) => this.place.get(name) !== '' || labelValues(labels, name).length > 1,
    );
    fill(
      this.element,
      this.choice('figure', 'Figure', [...FIGURES]),
      this.choice('base', 'Base', names),
      this.choice('new', 'New', names),
      this.choice('device', 'Device', any('device')),
      this.choice('scenario', 'Scenario', any('scenario')),
      ...facts.map(([name, title]) => this.choice(name, title, ['', ...labelValues(labels, name)])),
      mixed && this.choice('unit', 'Unit', units),
      ...buttons,
    );
    this.sayUnit(labels);
  }

  /** Say which traces are left out because their figures are in another unit. */
  private sayUnit(labels: readonly LabelRow[]): void {
    const units = labels.filter(({ label }) => label === 'unit');
    this.unit = this.place.get('unit') || (units[0]?.value ?? 'ns');
    this.note.hidden = units.length < 2;
    const all = units.map(({ value, traces }) => `${value} in ${plural(traces, 'trace')}`);
    fill(
      this.note,
      `Figures are in several units: ${all.join(', ')}. Shown are those in ${this.unit}.`,
    );
  }

  private choice(name: Choice, label: string, values: string[]): HTMLElement {
    const select = h('select', {
      on: {
        change: () => {
          this.place.set(name, select.value);
          this.changed();
        },
      },
    });
    for (const value of values)
      select.append(h('option', { attrs: { value } }, value === '' ? 'all' : value));
    select.value = this.place.get(name);
    return h('label', null, label, select);
  }
}
