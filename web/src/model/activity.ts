// SPDX-License-Identifier: Apache-2.0
// CPU activity of each thread for the overview: the time that calls cover minus the time that the
// thread waited in these calls. Without the subtraction a thread whose outermost call never ends
// would look busy all the time.

import { TILE_PIXELS } from './decode';
import type { Activity, CounterFacts, CounterValues, Engine, Tile, TileLane } from './engine';
import type { Sample } from './nonSliceEvents';
import type { Track } from './traceFacts';
import { spanLength, type Span } from './span';
import { tileRange } from './tileCache';

/** Add to each bucket the share of it that [from, to) covers. */
function addCoverage(
  buckets: Float64Array,
  size: number,
  origin: number,
  from: number,
  to: number,
): void {
  const last = Math.min(buckets.length - 1, Math.floor((to - origin) / size));
  for (let b = Math.max(0, Math.floor((from - origin) / size)); b <= last; b++) {
    const start = origin + b * size;
    buckets[b] =
      (buckets[b] ?? 0) + Math.max(0, Math.min(to, start + size) - Math.max(from, start)) / size;
  }
}

/** Return the share of each bucket in which the track waited, from 0 to 1. */
export function waitingShares(tiles: readonly Tile[], activity: Activity): Float64Array {
  const buckets = new Float64Array(activity.buckets);
  const size = (activity.to - activity.from) / activity.buckets;
  let done = -1;
  for (const tile of tiles) {
    for (let i = 0; i < tile.start.length; i++) {
      const start = tile.start[i] ?? 0;
      const index = tile.index[i] ?? 0;
      // A wait that touches two tiles is in both.
      if (index <= done) continue;
      done = index;
      addCoverage(buckets, size, activity.from, start, start + (tile.length[i] ?? 0));
    }
    const pixel = 2 ** tile.res;
    for (let x = 0; tile.density && x < TILE_PIXELS; x++) {
      const share = (tile.density.height[x] ?? 0) / 255;
      const start = (tile.number * TILE_PIXELS + x) * pixel;
      if (share > 0) addCoverage(buckets, size, activity.from, start, start + pixel * share);
    }
  }
  return buckets;
}

function subtractWaits(covered: Uint8Array, waiting: Float64Array): Uint8Array {
  return covered.map((height, b) => Math.max(0, Math.round(height - 255 * (waiting[b] ?? 0))));
}

/** Limit of the heights (lanes times buckets) that the engine computes and the page keeps. */
const MOST_HEIGHTS = 4_000_000;
const LEAST_BUCKETS = 100;

/** Return the number of buckets for so many tracks: the more tracks, the coarser the overview. */
export function bucketsFor(tracks: number, most: number): number {
  const each = Math.floor(MOST_HEIGHTS / Math.max(1, tracks));
  return Math.min(most, Math.max(LEAST_BUCKETS, each));
}

/** Reduce the lanes to at most `most`: each new lane is the maximum of several neighbours. */
export function fewerLanes(lanes: Activity['lanes'], most: number): Activity['lanes'] {
  const group = Math.ceil(lanes.length / Math.max(1, most));
  if (group <= 1) return lanes;
  const fewer: Activity['lanes'] = [];
  for (let i = 0; i < lanes.length; i += group) {
    const [first, ...others] = lanes.slice(i, i + group);
    if (!first) break;
    const height = first.height.slice();
    for (const other of others)
      other.height.forEach((h, b) => (height[b] = Math.max(height[b] ?? 0, h)));
    fewer.push({ track: first.track, height });
  }
  return fewer;
}

/**
 * Return a lane for each thread with samples: how many fall into each bucket, compared with the
 * fullest bucket of all threads. A single sample stays visible.
 */
export function sampleLanes(
  samples: readonly Pick<Sample, 'thread' | 'time' | 'count'>[],
  bounds: Span,
  buckets: number,
): Activity['lanes'] {
  const counts = new Map<number, Float64Array>();
  const scale = buckets / spanLength(bounds);
  let most = 1;
  for (const { thread, time, count } of samples) {
    const own = counts.get(thread) ?? new Float64Array(buckets);
    counts.set(thread, own);
    const at = Math.max(0, Math.min(buckets - 1, Math.floor((time - bounds.from) * scale)));
    own[at] = (own[at] ?? 0) + count;
    most = Math.max(most, own[at]);
  }
  const height = (count: number): number => Math.max(count > 0 ? 80 : 0, (255 * count) / most);
  return [...counts].map(([thread, own]) => ({
    track: thread,
    height: Uint8Array.from(own, height),
  }));
}

/** Return the counters with numbers that have the most values, at most `most`. */
export function busiestCounters(list: readonly CounterFacts[], most: number): CounterFacts[] {
  return list
    .filter(({ bounds }) => bounds.some((ends) => ends !== null))
    .sort((a, b) => b.samples - a.samples)
    .slice(0, most);
}

/**
 * Return a lane for each counter whose first series of numbers changes: the highest value in each
 * bucket, between its lowest and its highest one.
 */
export function counterLanes(
  counters: readonly CounterFacts[],
  values: readonly CounterValues[],
  bounds: Span,
  buckets: number,
): Activity['lanes'] {
  return counters.flatMap((counter) => {
    const answer = values.find((one) => one.counter === counter.counter);
    const series = answer?.series[counter.bounds.findIndex((ends) => ends !== null)];
    if (!answer || !series) return [];
    const low = series.lowest.reduce((a, b) => (b < a ? b : a), Infinity);
    const high = series.highest.reduce((a, b) => (b > a ? b : a), -Infinity);
    if (!(high > low)) return [];
    const height = new Uint8Array(buckets);
    const level = (value: number | undefined): number =>
      Math.round((255 * ((value ?? NaN) - low)) / (high - low)) || 0;
    const bucketOf = (time: number): number => {
      const at = Math.floor(((time - bounds.from) / spanLength(bounds)) * buckets);
      return Math.max(0, Math.min(buckets - 1, at));
    };
    answer.time.forEach((time, i) => {
      const first = bucketOf(time);
      const end = bucketOf(answer.time[i + 1] ?? time);
      height[first] = Math.max(height[first] ?? 0, level(series.highest[i]));
      height.fill(level(series.last[i]), first + 1, end);
    });
    return [{ track: counter.counter, height }];
  });
}

/** Ask the engine for the activity of all tracks, subtract the waits, and sort by track order. */
export async function busyActivity(
  engine: Engine,
  tracks: readonly Track[],
  bounds: Span,
  buckets: number,
): Promise<Activity> {
  const answer = await engine.activity(buckets);
  const order = new Map(tracks.map((track, i) => [track.track, i]));
  const place = (track: number): number => order.get(track) ?? tracks.length;
  const shown = [...answer.lanes].sort((a, b) => place(a.track) - place(b.track));
  const activity = { ...answer, lanes: shown };
  const lanes = tracks
    .filter((track) => track.waits > 0)
    .map((track): TileLane => ({ kind: 'w', row: track.track }));
  if (lanes.length === 0) return activity;
  const res = Math.max(0, Math.floor(Math.log2(spanLength(bounds) / buckets)));
  const { first, last } = tileRange(bounds, res);
  // A few tiles a track: under the limit of one answer up to several hundred threads.
  const most = Math.max(1, Math.floor(4096 / (last - first + 1)));
  const byTrack = new Map<number, Tile[]>();
  for (let i = 0; i < lanes.length; i += most) {
    for (const tile of await engine.tiles(res, first, last, lanes.slice(i, i + most))) {
      const list = byTrack.get(tile.row);
      if (list) list.push(tile);
      else byTrack.set(tile.row, [tile]);
    }
  }
  const busy = activity.lanes.map((lane) => {
    const tiles = byTrack.get(lane.track)?.sort((a, b) => a.number - b.number);
    return tiles
      ? { ...lane, height: subtractWaits(lane.height, waitingShares(tiles, activity)) }
      : lane;
  });
  return { ...activity, lanes: busy };
}
