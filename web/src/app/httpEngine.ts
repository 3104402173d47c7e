// SPDX-License-Identifier: Apache-2.0
// The engine as an HTTP client of docs/view-protocol.md. Addresses are relative to the page. The
// host of the page decides whether requests go to a server or to a worker.
//
//   method of Engine --> query (query.ts) --> request (http.ts) --> host --> server or worker
//   answer          <-- decode.ts, treeAnswer.ts, or JSON as it is     <--'
//
// Texts of a trace are hostile: they may contain control characters, and marks that reverse the
// direction of writing. Names that many views show (threads, frames, counters, categories) are made
// visible here, where the answers arrive. Tiles, trees, flame graphs and densities are binary.

import { makeVisible, nameOrPlaceholder, shortened, visibleTexts } from '../base/visible';
import type {
  Activity,
  Call,
  CallDetails,
  CounterFacts,
  CounterStep,
  CounterValues,
  Engine,
  Extents,
  FlameGraph,
  FlameQuestion,
  FrameRow,
  InstantDetails,
  InstantsInView,
  NextHit,
  NextHitAnswer,
  ProfileAnswer,
  ProfileQuestion,
  Relations,
  Scope,
  Tile,
  TileLane,
} from '../model/engine';
import type {
  Arrows,
  Flow,
  FlowCategory,
  FlowDetails,
  FlowEnd,
  FlowsOfCall,
} from '../model/flowAnswers';
import type { Clock, TraceFacts, Redaction, SavedKind } from '../model/traceFacts';
import type { CallsQuestion } from '../model/comparedCalls';
import type { ComparedRow, CompareQuestion, Comparison } from '../model/comparison';
import type { InsideAnswer } from '../model/callPair';
import type { CounterFigures, CounterPoint } from '../model/counterFigures';
import type { DisplayFrames } from '../model/displayFrames';
import type { Findings } from '../model/findings';
import type { EventAt, FileBytes, Health, SearchQuestion, SearchStep } from '../model/eventAnswers';
import { CPUS, type StateAnswer, type StatesAnswer } from '../model/states';
import { Frames } from '../model/names';
import type { Durations, StatisticsRow } from '../model/statistics';
import { laneList } from '../model/tileCache';
import type { OpeningEngine, LoadingStatus } from '../model/opening';
import { sendEngineRequest, requestEngineBytes, requestEngineJson, type Ask } from './http';
import { HttpNonSlices } from './httpNonSlices';
import { sendFiles } from './httpSending';
import { HttpSql } from './httpSql';
import type { Host } from './host';
import { readStatus, type StatusAnswer } from './httpOpening';
import { flameQuery, isOfSamples, measureQuery, scopeQuery, type Query } from './query';
import { decodeTree, type TreeAnswer, type TreeQuestion } from '../model/treeAnswer';
import { decodeActivity, decodeCounters, decodeFlame, decodeTiles } from '../model/decode';

type EndRow = [number, number, number, number, number, number?];

interface FlowRow {
  flow: number;
  frame: number;
  id: string;
  from: EndRow;
  to: EndRow;
  count?: number;
}

function readEnd([row, index, time, track, frame, thread]: EndRow): FlowEnd {
  const end = { row, index, time, track, frame };
  return thread === undefined ? end : { ...end, thread };
}

function readFlow({ flow, frame, id, from, to, count = 1 }: FlowRow): Flow {
  return { flow, frame, id: makeVisible(id), from: readEnd(from), to: readEnd(to), count };
}

/** Turn the texts "Infinity" and "-Infinity", for which JSON has no numbers, into numbers. */
function readInfinite<T>(answer: T): T {
  if (typeof answer === 'string' && /^-?Infinity$/.test(answer)) return Number(answer) as T;
  if (typeof answer !== 'object' || answer === null) return answer;
  for (const [key, value] of Object.entries(answer))
    (answer as Record<string, unknown>)[key] = readInfinite(value);
  return answer;
}

/** Most traces whose names are kept: those of a large comparison. */
const TRACES_WITH_NAMES = 24;

/** The client of one open trace. */
export class HttpEngine implements Engine {
  readonly nonSlice: HttpNonSlices = new HttpNonSlices({
    json: (path, query, signal) => this.json(path, query, signal),
    bytes: (path, query, signal) => this.ask(path, query, signal),
  });

  readonly sql: HttpSql = new HttpSql({
    about: (query) => this.about(query),
    place: (id) => this.json('api/sql_place', { id }),
    // Numbers of slices are those of the whole trace.
    visible: async (call) => (this.filter === '' ? call : await this.same(call, '')),
  });

  readonly opening: OpeningEngine;

  /**
   * Every request is about the trace number `of` (0: the latest) after the filter. `closed` is
   * called when the program has closed that trace.
   */
  constructor(
    private readonly host: Host,
    private readonly filter = '',
    private readonly of = 0,
    private readonly closed: () => void = () => undefined,
  ) {
    this.opening = host.opening;
  }

  private outstanding = 0;

  private readonly send = async (address: string, init: RequestInit): Promise<Response> => {
    this.outstanding++;
    try {
      return await this.host.send(address, init);
    } finally {
      this.outstanding--;
    }
  };

  /** Wait until nothing is requested for two frames. Drawing one answer may request more. */
  async idle(): Promise<void> {
    for (let quiet = 0; quiet < 2; quiet = this.outstanding > 0 ? 0 : quiet + 1)
      await new Promise((done) => requestAnimationFrame(done));
  }

  /** Methods of traces of a comparison, by the names that it has for them. */
  private readonly namesIn = new Map<number, Map<string, number>>();

  private about(query: Query): Ask {
    const asked = {
      ...query,
      filter: this.filter === '' ? undefined : this.filter,
      trace: this.of === 0 ? undefined : this.of,
    };
    return { query: asked, changed: this.closed, send: this.send };
  }

  private json<T>(path: string, query: Query, signal?: AbortSignal): Promise<T> {
    return requestEngineJson(path, { ...this.about(query), signal });
  }

  private ask(path: string, query: Query, signal?: AbortSignal): Promise<ArrayBuffer> {
    return requestEngineBytes(path, { ...this.about(query), signal });
  }

  async status(trace?: number): Promise<LoadingStatus> {
    const asked = { query: { trace }, send: this.send };
    return readStatus(await requestEngineJson<StatusAnswer>('api/status', asked));
  }

  /** Find a slice of the trace under filter `was` in the one under this filter. */
  async same(call: Call, was: string): Promise<Call | null> {
    const query = { row: call.row, index: call.index, was: was === '' ? undefined : was };
    const { slice } = await this.json<{ slice: [number, number] | null }>('api/same', query);
    return slice && { row: slice[0], index: slice[1] };
  }

  async trace(): Promise<TraceFacts> {
    const facts = visibleTexts(await this.json<TraceFacts>('api/trace', {}));
    const contents = new Map(facts.tracks.map(({ thread, holds }) => [holds ? thread : -1, holds]));
    for (const track of facts.tracks) {
      const holds = track.kind === 'async' ? '' : contents.get(track.thread);
      if (holds && track.thread >= 0) track.name ||= `(${shortened(holds)})`;
    }
    for (const thread of [...facts.tracks, ...facts.idle_threads])
      thread.name = nameOrPlaceholder(thread.name);
    for (const track of facts.tracks) if (track.kind === 'cpu') track.process = CPUS;
    return facts;
  }

  async frames(): Promise<FrameRow[]> {
    return visibleTexts((await this.json<{ frames: FrameRow[] }>('api/frames', {})).frames);
  }

  profile(q: ProfileQuestion, signal?: AbortSignal): Promise<ProfileAnswer> {
    return this.json(
      isOfSamples(q) ? 'api/sample_profile' : 'api/profile',
      measureQuery(q),
      signal,
    );
  }

  relations(frame: number, q: ProfileQuestion, signal?: AbortSignal): Promise<Relations> {
    const path = isOfSamples(q) ? 'api/sample_relations' : 'api/relations';
    return this.json(path, { frame, ...measureQuery(q) }, signal);
  }

  slice(call: Call, signal?: AbortSignal): Promise<CallDetails> {
    return this.json('api/slice', { row: call.row, index: call.index }, signal);
  }

  sliceOf(id: number): Promise<CallDetails> {
    return this.json('api/slice', { id });
  }

  inside(call: Call, signal?: AbortSignal): Promise<InsideAnswer> {
    return this.json('api/inside', { row: call.row, index: call.index }, signal);
  }

  async step(
    frame: number,
    time: number,
    direction: 1 | -1,
    tracks: readonly number[] | undefined,
    signal?: AbortSignal,
  ): Promise<Call | null> {
    const query = { frame, t: time, direction, tracks: tracks?.join(',') };
    const found = await this.json<[number, number] | null>('api/step', query, signal);
    return found && { row: found[0], index: found[1] };
  }

  extents(frame: number, scope: Scope, pixels: number, signal?: AbortSignal): Promise<Extents> {
    return this.json('api/extents', { frame, pixels, ...scopeQuery(scope) }, signal);
  }

  async tiles(
    res: number,
    from: number,
    to: number,
    lanes: readonly TileLane[],
    signal?: AbortSignal,
  ): Promise<Tile[]> {
    return decodeTiles(
      await this.ask('api/tiles', { res, from, to, rows: laneList(lanes) }, signal),
    );
  }

  async flame(q: FlameQuestion, signal?: AbortSignal): Promise<FlameGraph> {
    const threads = q.apart ? 'apart' : undefined;
    const query = { ...flameQuery(q), clock: q.clock, threads };
    return decodeFlame(await this.ask('api/flame', query, signal));
  }

  async tree(q: TreeQuestion, signal?: AbortSignal): Promise<TreeAnswer> {
    const query = {
      ...measureQuery(q),
      bottom_up: q.bottomUp ? 1 : undefined,
      nodes: q.nodes?.join(','),
      below: q.below ? 1 : undefined,
      reveal: q.reveal,
    };
    const question = isOfSamples(q) ? 'api/sample_tree' : 'api/tree';
    return decodeTree(await this.ask(question, query, signal));
  }

  async activity(buckets: number): Promise<Activity> {
    return decodeActivity(await this.ask('api/activity', { buckets }));
  }

  async instants(
    range: { from: number; to: number },
    pixels: number,
    signal?: AbortSignal,
  ): Promise<InstantsInView> {
    type Row = [number, number, number, number, number, number, number];
    const answer = await this.json<{ instants: Row[]; left_out: number }>(
      'api/instants',
      { ...range, pixels },
      signal,
    );
    const list = answer.instants.map(([instant, time, frame, scope, of, count, colour]) => ({
      ...{ instant, time, frame },
      ...{ scope, of, count, colour },
    }));
    return { list, leftOut: answer.left_out };
  }

  instant(instant: number, signal?: AbortSignal): Promise<InstantDetails> {
    return this.json('api/instant', { instant }, signal);
  }

  async flowCategories(): Promise<FlowCategory[]> {
    type Answer = { categories: [string, number][] };
    const { categories } = await this.json<Answer>('api/flow_categories', {});
    return categories.map(([name, count]) => ({ name: makeVisible(name), count }));
  }

  flow(flow: number, signal?: AbortSignal): Promise<FlowDetails> {
    return this.json('api/flow', { flow }, signal);
  }

  async flowsOf(call: Call, signal?: AbortSignal): Promise<FlowsOfCall> {
    type Answer = { in: FlowRow[]; out: FlowRow[]; in_count: number; out_count: number };
    const query = call.row < 0 ? { instant: call.index } : { row: call.row, index: call.index };
    const answer = await this.json<Answer>('api/flows', query, signal);
    return {
      in: answer.in.map(readFlow),
      out: answer.out.map(readFlow),
      inCount: answer.in_count,
      outCount: answer.out_count,
    };
  }

  async arrows(
    scope: Scope,
    pixels: number,
    categories: readonly number[],
    signal?: AbortSignal,
  ): Promise<Arrows> {
    type Answer = { arrows: FlowRow[]; flows: number; left_out: number };
    const query = { ...scopeQuery(scope), pixels, categories: categories.join(',') };
    const answer = await this.json<Answer>('api/arrows', query, signal);
    return { list: answer.arrows.map(readFlow), flows: answer.flows, leftOut: answer.left_out };
  }

  async counters(): Promise<CounterFacts[]> {
    return visibleTexts(
      (await this.json<{ counters: CounterFacts[] }>('api/counters', {})).counters,
    );
  }

  async counterValues(
    counters: readonly number[],
    range: { from: number; to: number },
    pixels: number,
    signal?: AbortSignal,
  ): Promise<CounterValues[]> {
    const query = { counters: counters.join(','), ...range, pixels };
    return decodeCounters(await this.ask('api/counter_values', query, signal));
  }

  async counterFigures(
    range: { from?: number; to?: number },
    { counter, at, signal }: { counter?: number; at?: number; signal?: AbortSignal },
  ): Promise<CounterFigures> {
    const query = { from: range.from, to: range.to, counters: counter, at };
    return readInfinite(await this.json<CounterFigures>('api/counter_figures', query, signal));
  }

  async counterStep(step: CounterStep, signal?: AbortSignal): Promise<CounterPoint | null> {
    const { time: t, ...others } = step;
    return readInfinite(
      await this.json<CounterPoint | null>('api/counter_step', { ...others, t }, signal),
    );
  }

  async search(q: SearchQuestion, signal?: AbortSignal): Promise<SearchStep> {
    const query = {
      q: q.text,
      in: q.fields.join(','),
      case: q.matchCase ? 1 : 0,
      re: q.regex ? 1 : undefined,
      count: q.countOnly ? 1 : undefined,
      ...scopeQuery(q),
      limit: q.limit,
      after: q.after,
    };
    return visibleTexts(await this.json<SearchStep>('api/search', query, signal));
  }

  async searchStep(step: NextHit, signal?: AbortSignal): Promise<NextHitAnswer> {
    type Answer = Omit<NextHitAnswer, 'call'> & { call: [number, number] | null };
    const query = {
      q: step.text,
      case: step.matchCase ? 1 : 0,
      re: step.regex ? 1 : undefined,
      t: step.time,
      direction: step.direction,
      ...step.after,
    };
    const answer = await this.json<Answer>('api/search_step', query, signal);
    const { call } = answer;
    return { ...answer, call: call && { row: call[0], index: call[1] } };
  }

  async searchFrames(pattern: string, matchCase: boolean, signal?: AbortSignal): Promise<number[]> {
    const query = { q: pattern, case: matchCase ? 1 : 0, re: 1 };
    return (await this.json<{ frames: number[] }>('api/search_frames', query, signal)).frames;
  }

  async statistics(scope: Scope, clock: Clock, signal?: AbortSignal): Promise<StatisticsRow[]> {
    type Answer = { rows: StatisticsRow[] };
    const query = { clock, ...scopeQuery(scope) };
    return (await this.json<Answer>('api/statistics', query, signal)).rows;
  }

  durations(frame: number, scope: Scope, clock: Clock, signal?: AbortSignal): Promise<Durations> {
    return this.json('api/statistics', { frame, clock, ...scopeQuery(scope) }, signal);
  }

  async states(scope: Scope, signal?: AbortSignal): Promise<StatesAnswer> {
    return visibleTexts(await this.json<StatesAnswer>('api/states', scopeQuery(scope), signal));
  }

  async state(call: Call, signal?: AbortSignal): Promise<StateAnswer> {
    const query = { row: call.row, index: call.index };
    return visibleTexts(await this.json<StateAnswer>('api/state', query, signal));
  }

  async findings(scope: Scope, signal?: AbortSignal): Promise<Findings> {
    return visibleTexts(await this.json<Findings>('api/findings', scopeQuery(scope), signal));
  }

  async diff<Row extends ComparedRow>(
    q: CompareQuestion,
    signal?: AbortSignal,
  ): Promise<Comparison<Row> | null> {
    const runs = { base: q.base.join(','), new: [this.of, ...q.more].join(',') };
    const query = { ...runs, by: q.by, figure: q.figure, graph: q.graph, trace: undefined };
    let closed = false;
    const asked = { ...this.about({}), signal, changed: () => (closed = true) };
    try {
      asked.query = { ...asked.query, ...query };
      return visibleTexts(await requestEngineJson<Comparison<Row>>('api/diff', asked));
    } catch (error) {
      if (closed) return null;
      throw error;
    }
  }

  async besides(trace: number, closed: () => void): Promise<Engine | null> {
    const { state } = await this.status(this.of === 0 ? undefined : this.of);
    return state === 'ready' ? new HttpEngine(this.host, this.filter, trace, closed) : null;
  }

  /**
   * Ask for the lengths of a method's calls in another trace of the comparison, which numbers its
   * methods differently. Its names are asked once for each trace.
   */
  async callsIn(q: CallsQuestion, signal?: AbortSignal): Promise<Durations | null> {
    const number = q.trace ?? this.of;
    const ask = <T>(path: string, query: Query): Promise<T> => {
      const about = this.about(query);
      const asked = { ...about.query, trace: number === 0 ? undefined : number };
      return requestEngineJson<T>(path, { ...about, query: asked, signal });
    };
    let names = this.namesIn.get(number);
    if (!names) {
      const { frames } = await ask<{ frames: FrameRow[] }>('api/frames', {});
      const of = new Frames(visibleTexts(frames));
      names = new Map(frames.map((_, frame) => [of.comparedName(frame), frame]));
      if (this.namesIn.size >= TRACES_WITH_NAMES) this.namesIn.clear();
      this.namesIn.set(number, names);
    }
    const frame = names.get(q.name);
    return frame === undefined
      ? null
      : await ask<Durations>('api/statistics', { frame, clock: q.clock });
  }

  async displayFrames(scope: Scope, signal?: AbortSignal): Promise<DisplayFrames> {
    const query = scopeQuery(scope);
    return visibleTexts(await this.json<DisplayFrames>('api/display_frames', query, signal));
  }

  async health(): Promise<Health> {
    return visibleTexts(await this.json<Health>('api/health', {}));
  }

  async eventAt(offset: number, input: number): Promise<EventAt> {
    return visibleTexts(await this.json<EventAt>('api/at', { offset, input }));
  }

  bytes(offset: number, length: number, input: number): Promise<FileBytes> {
    return this.json('api/bytes', { offset, length, input });
  }

  /** The browser stores large answers on disk. */
  async save(
    kind: SavedKind,
    scope: Scope,
    redaction: Redaction,
    signal?: AbortSignal,
  ): Promise<Blob> {
    const hidden = {
      ...(redaction.names ? { hash_names: 'yes' } : {}),
      ...(redaction.args ? { strip_args: 'yes' } : {}),
    };
    const asked = this.about({ as: kind, ...scopeQuery(scope), ...hidden });
    return await (await sendEngineRequest('api/save', { ...asked, signal })).blob();
  }

  sendFiles(signal: AbortSignal): Promise<string> {
    return sendFiles(this.about({}), signal);
  }

  async quit(): Promise<void> {
    await sendEngineRequest('api/quit', { method: 'POST', send: this.send });
  }
}
