// SPDX-License-Identifier: Apache-2.0
// How the page looks on this machine: theme, palette, row height.  Kept by the browser, not in the
// address: a copied link shows the same trace, not the same taste.

import { effect, signal, type ReadSignal } from '../base/signal';
import { readTheme, type Palette, type Theme } from '../render/theme';

export type Shade = 'light' | 'dark';
export type Density = 'regular' | 'compact';

export function stored(name: string): string | null {
  try {
    return localStorage.getItem(`traceview.${name}`);
  } catch {
    return null; // Storage may be switched off; then nothing is remembered.
  }
}

export function store(name: string, value: string): void {
  try {
    localStorage.setItem(`traceview.${name}`, value);
  } catch {
    // See stored().
  }
}

export class Settings {
  readonly shade = signal<Shade>(this.firstShade());
  readonly palette = signal<Palette>(stored('palette') === 'safe' ? 'safe' : 'methods');
  readonly density = signal<Density>(stored('density') === 'compact' ? 'compact' : 'regular');
  /** Bands behind the tracks for each beat of the display. */
  readonly vsync = signal<boolean>(stored('vsync') === 'on');
  /** The plain wheel zooms the time line, as it does in some other programs. */
  readonly wheelZooms = signal<boolean>(stored('wheel') === 'zooms');
  readonly theme: ReadSignal<Theme>;
  private readonly changes = signal(0);

  constructor() {
    const root = document.documentElement;
    const made = signal<Theme | null>(null);
    for (const query of ['(forced-colors: active)', '(pointer: coarse)', '(max-width: 1099px)']) {
      matchMedia(query).addEventListener('change', () => this.changes.update((n) => n + 1));
    }
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
      this.shade.set(this.firstShade()),
    );
    effect(() => {
      this.changes.get();
      root.dataset['theme'] = this.shade.get();
      root.dataset['density'] = this.density.get();
      const style = getComputedStyle(root);
      made.set(
        readTheme(
          (name) => style.getPropertyValue(name).trim(),
          this.palette.get(),
          matchMedia('(forced-colors: active)').matches,
        ),
      );
    });
    this.theme = made as ReadSignal<Theme>;
  }

  private firstShade(): Shade {
    const kept = stored('shade');
    if (kept === 'light' || kept === 'dark') return kept;
    return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  }

  toggleShade(): void {
    this.shade.update((shade) => (shade === 'dark' ? 'light' : 'dark'));
    store('shade', this.shade.peek());
  }

  togglePalette(): void {
    this.palette.update((palette) => (palette === 'safe' ? 'methods' : 'safe'));
    store('palette', this.palette.peek());
  }

  toggleVsync(): void {
    this.vsync.update((on) => !on);
    store('vsync', this.vsync.peek() ? 'on' : 'off');
  }

  setWheelZooms(on: boolean): void {
    this.wheelZooms.set(on);
    store('wheel', on ? 'zooms' : 'scrolls');
  }

  toggleDensity(): void {
    this.density.update((density) => (density === 'compact' ? 'regular' : 'compact'));
    store('density', this.density.peek());
  }
}
