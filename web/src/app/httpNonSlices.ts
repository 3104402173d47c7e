// SPDX-License-Identifier: Apache-2.0
// Requests for objects, samples and memory dumps.

import { nameOrPlaceholder, makeVisible, visibleTexts } from '../base/visible';
import type { DisplayMark } from '../model/displayFrames';
import type {
  NonSliceEngine,
  NonSliceRows,
  Listed,
  MemoryDump,
  MemoryDumpDetails,
  ObjectDetails,
  ObjectsInView,
  Range,
  Sample,
  SampleBox,
  SampleDetails,
  SampleFlameQuestion,
  SnapshotDetails,
} from '../model/nonSliceEvents';
import { decodeFlame } from '../model/decode';
import type { FlameGraph } from '../model/engine';
import { flameQuery, type Query } from './query';

/** Sends requests to the engine. */
export interface Carrier {
  json<T>(path: string, query: Query, signal?: AbortSignal): Promise<T>;
  bytes(path: string, query: Query, signal?: AbortSignal): Promise<ArrayBuffer>;
}

type ObjectRow = [number, number, number, number, number, number, number, string];
type SnapshotRow = [number, number, number, number, number, number];
type SampleRow = [number, number, number, number, number];
type SampleBoxRow = [number, number, number, number, number, number, number];
type DisplayMarkRow = [number, number, number, number | null, number, number, number];
type DumpRow = [number, number, number, number, string];

/** The engine interface of events that are not slices. */
export class HttpNonSlices implements NonSliceEngine {
  constructor(private readonly carrier: Carrier) {}

  async rows(): Promise<NonSliceRows> {
    const rows = visibleTexts(await this.carrier.json<NonSliceRows>('api/beside', {}));
    for (const thread of rows.threads) thread.name = nameOrPlaceholder(thread.name);
    for (const type of rows.objects) type.type = nameOrPlaceholder(type.type);
    return rows;
  }

  async objects(
    rows: readonly number[],
    range: Range,
    pixels: number,
    signal?: AbortSignal,
  ): Promise<ObjectsInView> {
    type Answer = { objects: ObjectRow[]; snapshots: SnapshotRow[]; left_out: number };
    const query = { rows: rows.join(','), ...range, pixels };
    const answer = await this.carrier.json<Answer>('api/objects', query, signal);
    return {
      objects: answer.objects.map(([object, start, end, row, lane, count, flags, id]) => ({
        ...{ object, start, end, row, lane },
        ...{ count, flags, id: makeVisible(id) },
      })),
      snapshots: answer.snapshots.map(([snapshot, time, object, row, lane, count]) => ({
        ...{ snapshot, time, object, row, lane, count },
      })),
      leftOut: answer.left_out,
    };
  }

  async object(object: number, signal?: AbortSignal): Promise<ObjectDetails> {
    return visibleTexts(await this.carrier.json('api/object', { object }, signal));
  }

  async snapshot(snapshot: number, signal?: AbortSignal): Promise<SnapshotDetails> {
    const answer = await this.carrier.json<SnapshotDetails>('api/snapshot', { snapshot }, signal);
    return { ...answer, of: visibleTexts(answer.of) };
  }

  async reference(
    snapshot: number,
    id: string,
    named: { scope?: string; pid?: string },
    signal?: AbortSignal,
  ): Promise<number> {
    type Answer = { snapshot: number };
    const question = { snapshot, id, ...named };
    return (await this.carrier.json<Answer>('api/reference', question, signal)).snapshot;
  }

  async samples(range: Range, pixels: number, signal?: AbortSignal): Promise<Listed<Sample>> {
    type Answer = { samples: SampleRow[]; left_out: number };
    const answer = await this.carrier.json<Answer>('api/samples', { ...range, pixels }, signal);
    const list = answer.samples.map(([sample, time, frame, thread, count]) => ({
      ...{ sample, time, frame, thread, count },
    }));
    return { list, leftOut: answer.left_out };
  }

  async sampleChart(
    threads: readonly number[],
    value: number,
    range: Range,
    pixels: number,
    signal?: AbortSignal,
  ): Promise<Listed<SampleBox>> {
    type Answer = { boxes: SampleBoxRow[]; left_out: number };
    const question = { threads: threads.join(','), value, ...range, pixels };
    const answer = await this.carrier.json<Answer>('api/sample_chart', question, signal);
    const list = answer.boxes.map(([thread, depth, start, length, frame, samples, sample]) => ({
      ...{ thread, depth, start, length, frame, samples, sample },
    }));
    return { list, leftOut: answer.left_out };
  }

  async sample(sample: number, signal?: AbortSignal): Promise<SampleDetails> {
    return visibleTexts(await this.carrier.json('api/sample', { sample }, signal));
  }

  async sampleFlame(q: SampleFlameQuestion, signal?: AbortSignal): Promise<FlameGraph> {
    const query = { ...flameQuery(q), measure: q.measure, value: q.value || undefined };
    return decodeFlame(await this.carrier.bytes('api/sample_flame', query, signal));
  }

  async memoryDumps(
    range: Range,
    pixels: number,
    signal?: AbortSignal,
  ): Promise<Listed<MemoryDump>> {
    type Answer = { memory_dumps: DumpRow[]; left_out: number };
    const query = { ...range, pixels };
    const answer = await this.carrier.json<Answer>('api/memory_dumps', query, signal);
    const list = answer.memory_dumps.map(([dump, time, process, count, level]) => ({
      ...{ dump, time, process, count, level: makeVisible(level) },
    }));
    return { list, leftOut: answer.left_out };
  }

  async memoryDump(dump: number, signal?: AbortSignal): Promise<MemoryDumpDetails> {
    return visibleTexts(await this.carrier.json('api/memory_dump', { dump }, signal));
  }

  async displayMarks(
    range: Range,
    pixels: number,
    signal?: AbortSignal,
  ): Promise<Listed<DisplayMark>> {
    type Answer = { on_time: DisplayMarkRow[]; late: DisplayMarkRow[]; left_out: number };
    const query = { ...range, pixels };
    const answer = await this.carrier.json<Answer>('api/display_marks', query, signal);
    const marks = (rows: DisplayMarkRow[], late: boolean): DisplayMark[] =>
      rows.map(([process, start, end, deadline, row, index, count]) => ({
        ...{ process, start, end, deadline, row, index, count, late },
      }));
    const list = [...marks(answer.on_time, false), ...marks(answer.late, true)];
    return { list, leftOut: answer.left_out };
  }
}
