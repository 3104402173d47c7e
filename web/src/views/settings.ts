// SPDX-License-Identifier: Apache-2.0
// The settings of this machine: theme, palette, row height. The browser stores them, not the
// address, so a copied link shows the same trace in the reader's own style.

import { isTimeUnit, UNITS, type Unit } from '../base/format';
import { effect, signal, type ReadSignal } from '../base/signal';
import type { Clock } from '../model/traceFacts';
import { readTheme, type Palette, type Theme } from '../render/theme';

export type Shade = 'light' | 'dark';
const CLOCKS: readonly Clock[] = ['real', 'cpu'];
export type Density = 'regular' | 'compact';

export function readSetting(name: string): string | null {
  try {
    return localStorage.getItem(`traceview.${name}`);
  } catch {
    return null; // storage may be disabled; then nothing is remembered
  }
}

export function writeSetting(name: string, value: string): void {
  try {
    localStorage.setItem(`traceview.${name}`, value);
  } catch {
    // See readSetting().
  }
}

/** Resolve a named system colour to numbers, as the painters need them. */
function resolveSystemColour(value: string): string {
  if (!/^[A-Z][A-Za-z]+$/.test(value)) return value;
  const probe = document.createElement('span');
  probe.style.setProperty('forced-color-adjust', 'none');
  probe.style.color = value;
  document.documentElement.append(probe);
  const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g) ?? [];
  probe.remove();
  if (r === undefined || g === undefined || b === undefined) return value;
  return `#${[r, g, b].map((n) => Math.round(Number(n)).toString(16).padStart(2, '0')).join('')}`;
}

/** The stored settings as signals. */
export class Settings {
  readonly shade = signal<Shade>(this.firstShade());
  readonly palette = signal<Palette>(readSetting('palette') === 'safe' ? 'safe' : 'methods');
  /** Colours tell the kinds of frames (JIT, kernel ...) in traces that know them. */
  readonly byKind = signal<boolean>(readSetting('kinds') === 'on');
  readonly density = signal<Density>(readSetting('density') === 'compact' ? 'compact' : 'regular');
  /** Show a band behind the tracks for each vsync of the display. */
  readonly vsync = signal<boolean>(readSetting('vsync') === 'on');
  /** The plain wheel zooms the time line, as in some other programs. */
  readonly wheelZooms = signal<boolean>(readSetting('wheel') === 'zooms');
  /** The width of the track names in CSS pixels; null is the default width. */
  readonly labelWidth = signal<number | null>(Number(readSetting('labels')) || null);
  readonly theme: ReadSignal<Theme>;
  /** The clock that was chosen last for a method trace; null: none was. */
  clock: Clock | null = CLOCKS.find((clock) => clock === readSetting('clock')) ?? null;
  /** The unit of times that was chosen last, for the next trace; null: none was. */
  unit: Unit | null = UNITS.find((unit) => unit === readSetting('unit')) ?? null;
  private readonly changes = signal(0);

  constructor() {
    const root = document.documentElement;
    const made = signal<Theme | null>(null);
    for (const query of ['(forced-colors: active)', '(pointer: coarse)', '(max-width: 1099px)']) {
      matchMedia(query).addEventListener('change', () => this.changes.update((n) => n + 1));
    }
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.shade.set(this.firstShade());
      this.changes.update((n) => n + 1);
    });
    effect(() => {
      this.changes.get();
      const forced = matchMedia('(forced-colors: active)').matches;
      const shade = this.shade.get();
      // With forced colours, bars must fit the forced background, whatever theme was chosen.
      root.dataset['theme'] = forced ? this.systemShade() : shade;
      root.dataset['density'] = this.density.get();
      const style = getComputedStyle(root);
      const value = (name: string): string => style.getPropertyValue(name).trim();
      const palette = this.palette.get();
      this.byKind.get(); // a new theme, so that everything is painted again
      made.set(
        readTheme(forced ? (name) => resolveSystemColour(value(name)) : value, palette, forced),
      );
    });
    this.theme = made as ReadSignal<Theme>;
  }

  private firstShade(): Shade {
    const kept = readSetting('shade');
    if (kept === 'light' || kept === 'dark') return kept;
    return this.systemShade();
  }

  private systemShade(): Shade {
    return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  }

  toggleShade(): void {
    this.shade.update((shade) => (shade === 'dark' ? 'light' : 'dark'));
    writeSetting('shade', this.shade.peek());
  }

  togglePalette(): void {
    this.palette.update((palette) => (palette === 'safe' ? 'methods' : 'safe'));
    writeSetting('palette', this.palette.peek());
  }

  toggleVsync(): void {
    this.vsync.update((on) => !on);
    writeSetting('vsync', this.vsync.peek() ? 'on' : 'off');
  }

  setWheelZooms(on: boolean): void {
    this.wheelZooms.set(on);
    writeSetting('wheel', on ? 'zooms' : 'scrolls');
  }

  setClock(clock: Clock): void {
    this.clock = clock;
    writeSetting('clock', clock);
  }

  setUnit(unit: Unit): void {
    if (!isTimeUnit(unit)) return;
    this.unit = unit;
    writeSetting('unit', unit);
  }

  setLabelWidth(pixels: number | null): void {
    this.labelWidth.set(pixels);
    writeSetting('labels', String(pixels ?? ''));
  }

  toggleByKind(): void {
    this.byKind.update((on) => !on);
    writeSetting('kinds', this.byKind.peek() ? 'on' : 'off');
  }

  toggleDensity(): void {
    this.density.update((density) => (density === 'compact' ? 'regular' : 'compact'));
    writeSetting('density', this.density.peek());
  }
}
