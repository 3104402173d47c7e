// SPDX-License-Identifier: Apache-2.0
// Export the statistics table.

import type { FixedUnit } from '../base/format';
import type { TraceFacts } from './traceFacts';
import type { Frames } from './names';
import type { Sheet } from './sheet';
import {
  statisticsColumns,
  statisticsHead,
  statisticsText,
  statisticsValue,
  type StatisticsRow,
} from './statistics';

export function statisticsSheet(
  rows: readonly StatisticsRow[],
  facts: TraceFacts,
  frames: Frames,
  unit: FixedUnit,
): Sheet {
  const columns = statisticsColumns(facts);
  const isTime = (column: string): boolean => column !== 'name' && column !== 'count';
  const row = (line: number): StatisticsRow => rows[line] as StatisticsRow;
  const name = (line: number): string => frames.full(row(line)[0]);
  return {
    heads: columns.map((column) => {
      const head = statisticsHead(column, facts);
      return { text: isTime(column) ? `${head} ${unit}` : head, number: column !== 'name' };
    }),
    keys: columns.map((c) => (isTime(c) ? `${c}_ns` : c)),
    count: rows.length,
    shown: (line) =>
      columns.map((c) => (c === 'name' ? name(line) : statisticsText(row(line), c, unit))),
    exact: (line) =>
      columns.map((c) => (c === 'name' ? name(line) : statisticsValue(row(line), c))),
  };
}
