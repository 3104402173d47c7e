// SPDX-License-Identifier: Apache-2.0
// The table by name as text for other programs.  Times are whole nanoseconds, except in Markdown
// and on the clipboard, which are for reading.

import type { Unit } from '../base/format';
import { csvCell, tsvCell, type ExportFormat } from './exportTable';
import type { TraceFacts } from './engine';
import type { Frames } from './names';
import {
  statisticsColumns,
  statisticsHead,
  statisticsText,
  statisticsValue,
  type StatisticsColumn,
  type StatisticsRow,
} from './statistics';

function key(column: StatisticsColumn): string {
  return column === 'name' || column === 'count' ? column : `${column}_ns`;
}

function record(
  row: StatisticsRow,
  columns: readonly StatisticsColumn[],
  frames: Frames,
): [string, string | number | null][] {
  return columns.map((column) => [
    key(column),
    column === 'name' ? frames.full(row[0]) : statisticsValue(row, column),
  ]);
}

function shown(row: StatisticsRow, column: StatisticsColumn, frames: Frames, unit: Unit): string {
  return column === 'name' ? frames.full(row[0]) : statisticsText(row, column, unit);
}

export function exportStatistics(
  format: ExportFormat,
  rows: readonly StatisticsRow[],
  facts: TraceFacts,
  frames: Frames,
  unit: Unit,
): string {
  const columns = statisticsColumns(facts);
  if (format === 'json') {
    const records = rows.map((row) =>
      JSON.stringify(Object.fromEntries(record(row, columns, frames))),
    );
    return `[\n${records.join(',\n')}\n]\n`;
  }
  if (format === 'csv') {
    const lines = rows.map((row) =>
      record(row, columns, frames).map(([, value]) => csvCell(value)),
    );
    return [columns.map(key), ...lines].map((cells) => cells.join(',')).join('\r\n') + '\r\n';
  }
  const heads = columns.map((column) => {
    const head = statisticsHead(column, facts);
    return column === 'name' || column === 'count' ? head : `${head} ${unit}`;
  });
  if (format === 'tsv') {
    const lines = rows.map((row) =>
      columns.map((c) =>
        tsvCell(shown(row, c, frames, unit).replaceAll(c === 'name' ? '\t' : ',', '')),
      ),
    );
    return [heads, ...lines].map((cells) => cells.join('\t')).join('\n') + '\n';
  }
  const name = (text: string): string =>
    '`' + text.replaceAll('|', '\\|').replaceAll('`', "'") + '`';
  const lines = rows.map((row) =>
    columns.map((c) =>
      c === 'name' ? name(shown(row, c, frames, unit)) : shown(row, c, frames, unit),
    ),
  );
  const rule = columns.map((c) => (c === 'name' ? '---' : '---:'));
  return [heads, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n') + '\n';
}
