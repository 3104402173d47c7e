// SPDX-License-Identifier: Apache-2.0
// Objects, samples, memory dumps and display frames in the time line: paints them, finds the one
// under the pointer, and describes it.
//
// Each kind has rows of its own (rows.ts), a painter (render/) and answers of the engine. The
// answers cover what is on the screen and some of what is around it, so scrolling shows something at
// once and asks for the rest. In one pixel the engine has merged what cannot be told apart; the tip
// then says how many there are.

import { formatCount, formatTimeUnit, plural } from '../../base/format';
import { signal } from '../../base/signal';
import { shortened } from '../../base/visible';
import { KINDS } from '../../model/colours';
import { boxesIn, type RowBox } from '../../model/layout';
import type { Call } from '../../model/engine';
import { sameMark, type Mark } from '../../model/marks';
import type { ObjectsRow, Row } from '../../model/rows';
import { valueTypeOf } from '../../model/valueTypes';
import {
  dumpAt,
  paintDumps,
  paintSamples,
  sampleMarkAt,
  type MarkScene,
} from '../../render/markPainter';
import { paintSampleCharts, sampleBoxAt } from '../../render/sampleChartPainter';
import { displayColour, displayMarkAt, paintDisplayFrames } from '../../render/displayPainter';
import { objectAt, objectColour, paintObjects, type ObjectScene } from '../../render/objectPainter';
import type { Surface } from '../../render/surface';
import type { Scene } from '../../render/trackPainter';
import type { Views } from '../context';

/** The object, sample or memory dump under the pointer. */
export interface MarkHit {
  /** The target of a click: a mark, or the call that stands for a display frame. */
  mark: Mark | null;
  call?: Call;
  /** The frame that a click selects. */
  frame?: number;
  /** The content of the tooltip: a title, and lines of colour, word and value. */
  title: string;
  lines: [string, string, string][];
}

/** Return the rows of one kind. */
function rowsOfKind<K extends Row['kind']>(
  boxes: readonly RowBox[],
  kind: K,
): RowBox<Extract<Row, { kind: K }>>[] {
  return boxes.filter((box): box is RowBox<Extract<Row, { kind: K }>> => box.row.kind === kind);
}

/** The layer of all events that are not slices. */
export class NonSliceLayer {
  readonly hovered = signal<Mark | null>(null, sameMark);

  constructor(private readonly v: Views) {}

  /** Read every signal on which the drawing depends, except the two below. */
  watch(): void {
    const { beside } = this.v;
    beside.samples.answer.get();
    beside.dumps.answer.get();
    beside.display.answer.get();
    this.hovered.get();
  }

  /** The answers that change while the list is scrolled, and the kind of the rows that show each. */
  get scrolledAnswers(): [{ get(): unknown }, Row['kind']][] {
    const { objects, charts } = this.v.beside;
    return [
      [objects.answer, 'objects'],
      [charts.answer, 'samples'],
    ];
  }

  /** Name the rows on the screen, and those around it. */
  show(seen: readonly RowBox[], around: () => readonly RowBox[]): void {
    const { beside } = this.v;
    const types = (boxes: readonly RowBox[]): number[] =>
      rowsOfKind(boxes, 'objects').map((box) => box.row.type.row);
    const threads = (boxes: readonly RowBox[]): number[] =>
      rowsOfKind(boxes, 'samples').flatMap(({ row }) => (row.open ? [row.thread] : []));
    beside.showObjects(types(seen), () => types(around()));
    beside.showCharts(threads(seen), () => threads(around()));
  }

  paint(g: Surface, scene: Scene, rows: readonly RowBox[], scroll: number, height: number): void {
    const { beside, viewer } = this.v;
    const seen = boxesIn(rows, scroll, scroll + height);
    const objects = rowsOfKind(seen, 'objects');
    paintObjects(g, this.objectScene(scene, objects), scroll, height);
    const marks: MarkScene = {
      theme: scene.theme,
      scale: scene.scale,
      frames: viewer.frames,
      selected: viewer.mark.peek(),
    };
    const sampled = rowsOfKind(seen, 'samples');
    paintSamples(g, marks, sampled, beside.samples.answer.peek().list, scroll);
    const boxes = beside.charts.answer.peek().list;
    paintSampleCharts(g, { ...scene, boxes }, sampled, scroll);
    paintDumps(g, marks, rowsOfKind(seen, 'memory'), beside.dumps.answer.peek().list, scroll);
    const display = { ...marks, selected: viewer.call.peek() };
    const frames = beside.display.answer.peek().list;
    paintDisplayFrames(g, display, rowsOfKind(seen, 'display'), frames, scroll);
    g.fillStyle = scene.theme.colour.line;
    for (const box of seen)
      if (box.row.kind === 'thread' || box.row.kind === 'fold')
        g.fillRect(0, box.top - scroll, scene.scale.width, 1);
  }

  private objectScene(
    scene: Pick<Scene, 'theme' | 'scale'>,
    boxes: readonly RowBox<ObjectsRow>[],
  ): ObjectScene {
    const { beside, meters, viewer } = this.v;
    return {
      theme: scene.theme,
      scale: scene.scale,
      meter: meters.get(scene.theme.barFont),
      boxes,
      inView: beside.objects.answer.peek(),
      selected: viewer.mark.peek(),
      hovered: this.hovered.peek(),
    };
  }

  /** Return the mark in a row at a point; y counts from the top of the list. */
  at(scene: Pick<Scene, 'theme' | 'scale'>, box: RowBox, x: number, y: number): MarkHit | null {
    const { row } = box;
    if (row.kind === 'objects') return this.objectHit(scene, { ...box, row }, x, y);
    if (row.kind === 'samples')
      return y - box.top < scene.theme.heights.collapsed
        ? this.sampleHit(scene, row.thread, x)
        : this.sampleBoxHit(scene, row.thread, x, y - box.top);
    if (row.kind === 'memory') return this.dumpHit(scene, row.process, x);
    if (row.kind === 'display') return this.displayHit(scene, row.process, x);
    return null;
  }

  private time(ns: number): string {
    return formatTimeUnit(ns, this.v.viewer.unit.peek());
  }

  /**
   * Return the object at a point, in words. Several objects in one pixel are named by their number.
   */
  private objectHit(
    scene: Pick<Scene, 'theme' | 'scale'>,
    box: RowBox<ObjectsRow>,
    x: number,
    y: number,
  ): MarkHit | null {
    const hit = objectAt(this.objectScene(scene, [box]), x, y);
    if (!hit) return null;
    const { object, snapshot, mark } = hit;
    const { type } = box.row.type;
    const colour = scene.theme.bars[objectColour(type)] ?? '';
    if (object.count > 1) {
      const many = `the first of ${formatCount(object.count)} that fall together here`;
      return { mark, title: type, lines: [[colour, many, '']] };
    }
    const lines: MarkHit['lines'] = [
      [colour, 'alive', `${this.time(object.start)} to ${this.time(object.end)}`],
    ];
    if (snapshot) lines.push([colour, 'snapshot of', this.time(snapshot.time)]);
    if (snapshot && snapshot.count > 1)
      lines.push([colour, 'snapshots in this pixel', formatCount(snapshot.count)]);
    return { mark, title: `${type} ${shortened(object.id, 80)}`, lines };
  }

  private sampleHit(
    scene: Pick<Scene, 'theme' | 'scale'>,
    thread: number,
    x: number,
  ): MarkHit | null {
    const { beside, viewer } = this.v;
    const sample = sampleMarkAt(scene, thread, beside.samples.answer.peek().list, x);
    if (!sample) return null;
    const name = sample.frame < 0 ? 'sample without a stack' : viewer.frames.short(sample.frame);
    const colour = scene.theme.bars[viewer.frames.colour(sample.frame)] ?? '';
    const lines: MarkHit['lines'] = [[colour, 'sample at', this.time(sample.time)]];
    if (sample.count > 1)
      lines.push([colour, 'the first of', `${plural(sample.count, 'sample')} in this pixel`]);
    return { mark: { kind: 'sample', number: sample.sample }, title: name, lines };
  }

  /** Return the box of samples at a point, in words. */
  private sampleBoxHit(
    scene: Pick<Scene, 'theme' | 'scale'>,
    thread: number,
    x: number,
    y: number,
  ): MarkHit | null {
    const { beside, viewer } = this.v;
    const box = sampleBoxAt(scene, beside.charts.answer.peek().list, thread, x, y);
    if (!box) return null;
    const { frame } = box;
    const kind = viewer.frames.kind(frame);
    const colour = scene.theme.bars[viewer.frames.colour(frame)] ?? '';
    const lines: MarkHit['lines'] = [
      [colour, 'samples', formatCount(box.samples)],
      [colour, 'at', this.time(box.start)],
      [colour, 'lasts about', this.time(box.length)],
    ];
    if (kind > 0) lines.push([colour, 'code', KINDS[kind] ?? '']);
    const types = viewer.facts.value_types ?? [];
    const { name } = valueTypeOf(viewer.facts, viewer.valueType.peek());
    if (types.length > 1) lines.push([colour, 'value type', shortened(name, 80)]);
    const mark: Mark = { kind: 'sample', number: box.sample };
    return { mark, frame, title: viewer.frames.short(frame), lines };
  }

  private dumpHit(
    scene: Pick<Scene, 'theme' | 'scale'>,
    process: number,
    x: number,
  ): MarkHit | null {
    const dump = dumpAt(scene, process, this.v.beside.dumps.answer.peek().list, x);
    if (!dump) return null;
    const lines: MarkHit['lines'] = [['', 'at', this.time(dump.time)]];
    if (dump.count > 1)
      lines.push(['', 'the first of', `${formatCount(dump.count)} in this pixel`]);
    const title = `Memory dump${dump.level ? `, ${dump.level}` : ''}`;
    return { mark: { kind: 'memory', number: dump.dump }, title, lines };
  }

  private displayHit(
    scene: Pick<Scene, 'theme' | 'scale'>,
    process: number,
    x: number,
  ): MarkHit | null {
    const frame = displayMarkAt(scene, process, this.v.beside.display.answer.peek().list, x);
    if (!frame) return null;
    const { row, index, count, late, deadline } = frame;
    const title = late ? 'Late frame' : 'Frame';
    const call = { row, index };
    const colour = displayColour(scene.theme, late);
    if (count > 1) {
      const many = `${plural(count, late ? 'late frame' : 'frame')} in this pixel`;
      return { mark: null, call, title, lines: [[colour, 'the first of', many]] };
    }
    const lines: MarkHit['lines'] = [
      [colour, 'at', this.time(frame.start)],
      [colour, 'duration', this.time(frame.end - frame.start)],
    ];
    if (deadline !== null) lines.push([colour, 'deadline', this.time(deadline)]);
    return { mark: null, call, title, lines };
  }
}

/** Tell the user that marks are not drawn because there are too many. */
export function sayLeftOut({ instants, beside, viewer }: Views): void {
  const count = instants.inView.answer.get().leftOut + beside.leftOut();
  const text = `${plural(count, 'mark is', 'marks are')} not drawn: zoom in to see all`;
  if (count > 0) viewer.say(text);
  else if (/ not drawn: zoom in to see all$/.test(viewer.notice.peek()?.text ?? ''))
    viewer.notice.set(null);
}
