// SPDX-License-Identifier: Apache-2.0
// The strip above the tracks that shows the rows of a query as bars. A click selects the time of a
// bar; the arrow keys go from bar to bar.

import { h, iconButton, setText } from '../../base/dom';
import { formatCount, formatTimeUnit, plural } from '../../base/format';
import { computed, effect, signal, type ReadSignal } from '../../base/signal';
import { shortened } from '../../base/visible';
import { barAt, type QueryBar, type QueryTrack } from '../../model/queryTrack';
import { framingView, revealingView } from '../../model/span';
import { sqlText, titleOf } from '../../model/sql';
import { paintQueryTrack } from '../../render/queryPainter';
import type { Surface } from '../../render/surface';
import { TimeScale } from '../../render/timeScale';
import { Canvas } from '../canvas';
import type { Views } from '../context';

/** Maximum distance of the pointer from a bar, in pixels. */
const REACH = 3;
/** The columns of a row that the tooltip shows. */
const MOST_TOLD = 12;

/** Return the tooltip of a bar. Texts come from the trace, so each is shortened and made visible. */
function rowWords({ columns }: QueryTrack, { row }: QueryBar): string {
  return columns
    .slice(0, MOST_TOLD)
    .map(([name], at) => `${shortened(name, 60)}: ${shortened(sqlText(row[at] ?? null), 200)}`)
    .join('\n');
}

/** The strip. */
export class QueryStrip {
  readonly element: HTMLElement;
  /** The height in CSS pixels. */
  readonly height: ReadSignal<number>;
  private readonly place = h('div', { class: 'canvas' });
  private readonly canvas: Canvas;
  private readonly current = signal<QueryBar | null>(null);

  constructor(private readonly v: Views) {
    const { viewer, settings, asTrack } = v;
    this.canvas = new Canvas(this.place, this.place, 'Rows of the query', (g) => this.draw(g));
    const { element } = this.canvas;
    element.tabIndex = 0;
    element.addEventListener('mousemove', (e) => this.point(this.under(e)));
    element.addEventListener('click', (e) => this.choose(this.under(e)));
    element.addEventListener('keydown', (e) => this.key(e));
    this.place.append(element);
    const name = h('b', null);
    const about = h('span', { class: 'about' });
    const remove = iconButton('close', 'Remove the rows of the query', () => asTrack.set(null));
    this.element = h(
      'section',
      { class: 'strip query-strip', attrs: { 'aria-label': 'Rows of the query' } },
      h('div', { class: 'key' }, name, about, remove),
      this.place,
    );
    // Empty, the strip has no height: the tracks move up.
    this.height = computed(() => {
      const lanes = asTrack.get()?.lanes.length ?? 0;
      const { row } = settings.theme.get().heights;
      return asTrack.get() ? Math.max(1, lanes) * row + 3 : 0;
    });
    effect(() => {
      const track = asTrack.get();
      this.current.set(null);
      if (!track) return;
      setText(name, titleOf(track.of));
      name.title = shortened(track.of, 2000);
      const all = track.bars + track.leftOut;
      const some = track.leftOut > 0 ? `${formatCount(track.bars)} of ` : '';
      setText(about, `${some}${plural(all, 'row')}`);
      about.title =
        some && 'The others are outside of the trace, have no time, or overlap six others';
      element.setAttribute(
        'aria-label',
        `Rows of the query ${titleOf(track.of)}, ${about.textContent}`,
      );
    });
    // The canvas reads with peek() while it paints: this effect names what a new picture depends on.
    effect(() => {
      viewer.view.get();
      viewer.unit.get();
      settings.theme.get();
      asTrack.get();
      this.current.get();
      this.canvas.invalidate();
    });
  }

  private get scale(): TimeScale {
    return new TimeScale(this.v.viewer.view.peek(), this.canvas.width);
  }

  private draw(g: Surface): void {
    const track = this.v.asTrack.peek();
    const theme = this.v.settings.theme.peek();
    if (!track) return;
    const { scale } = this;
    const meter = this.v.meters.get(theme.barFont);
    paintQueryTrack(g, { theme, meter, scale, height: this.canvas.height }, track);
    const bar = this.current.peek();
    const lane = bar ? track.lanes.findIndex((bars) => bars.includes(bar)) : -1;
    if (!bar || lane < 0) return;
    const [x0, x1] = [bar.from, bar.to].map((time) => Math.round(scale.x(time))) as [
      number,
      number,
    ];
    g.strokeStyle = theme.colour.select;
    g.lineWidth = 2;
    g.strokeRect(x0, lane * theme.heights.row + 1, Math.max(2, x1 - x0), theme.heights.bar);
  }

  private under(e: MouseEvent): QueryBar | null {
    const track = this.v.asTrack.peek();
    const { row } = this.v.settings.theme.peek().heights;
    const { scale } = this;
    const lane = track?.lanes[Math.floor(e.offsetY / row)];
    return barAt(lane, scale.t(e.offsetX), REACH * scale.nsPerPixel);
  }

  private point(bar: QueryBar | null): void {
    const track = this.v.asTrack.peek();
    this.canvas.element.title = track && bar ? rowWords(track, bar) : '';
    this.canvas.element.style.cursor = bar ? 'pointer' : '';
  }

  /** Select the time of a bar. */
  private choose(bar: QueryBar | null): void {
    if (!bar) return;
    const { viewer, mover } = this.v;
    this.current.set(bar);
    const span = { from: bar.from, to: Math.max(bar.to, bar.from + 1) };
    if (bar.to > bar.from) viewer.setRange(span);
    const visible = viewer.view.peek();
    if (span.from < visible.from || span.to > visible.to)
      mover.glide(
        bar.to > bar.from
          ? framingView(span, viewer.bounds)
          : revealingView(mover.goal, span, viewer.bounds),
      );
    const length = formatTimeUnit(bar.to - bar.from, viewer.unit.peek());
    this.v.announce(`${shortened(bar.name, 200)} ${length}`);
  }

  /** Step through the bars of a query; Delete removes them. */
  private key(e: KeyboardEvent): void {
    const bars = (this.v.asTrack.peek()?.lanes ?? []).flat().sort((a, b) => a.from - b.from);
    const at = bars.findIndex((bar) => bar === this.current.peek());
    if (e.key === 'ArrowRight') this.choose(bars[at + 1] ?? null);
    else if (e.key === 'ArrowLeft') this.choose(bars[at - 1] ?? null);
    else if (e.key === 'Delete') this.v.asTrack.set(null);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
}
