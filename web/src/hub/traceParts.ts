// SPDX-License-Identifier: Apache-2.0
// The parts of a trace page: facts, repairs, findings.

import { h, icon, type Child } from '../base/dom';
import { formatCount, plural } from '../base/format';
import { makeVisible } from '../base/visible';
import { sortBySeverity, SEVERITIES } from '../model/severity';
import type { FindingLine, HealthLine, Trace } from './api';
import { filterChip, internalLink, timeElement } from './controls';
import {
  countWords,
  formatWords,
  lengthWords,
  offsetWords,
  processNames,
  singleLine,
  sizeWords,
  sliceWord,
} from './facts';

/** Describe the trace in one line, below its name. */
export function traceSummary(trace: Trace): HTMLElement {
  const words = [
    formatWords(trace),
    lengthWords(trace),
    trace.threads.length > 0 ? plural(trace.threads.length, 'thread') : '',
    countWords(trace),
    sizeWords(trace),
  ];
  return h(
    'p',
    { class: 'summary' },
    ...words.filter(Boolean).flatMap((word) => [h('span', null, word), ' ']),
    h('span', null, 'uploaded ', timeElement(trace.uploaded)),
  );
}

/** Return the table of facts. Facts that the trace does not have leave no empty row behind. */
export function factsTable(trace: Trace, base: string): HTMLElement {
  const names = processNames(trace);
  const pairs: [string, Child[]][] = [
    ['Format', [formatWords(trace)]],
    ['Length', [lengthWords(trace)]],
    ['Threads', [trace.threads.length > 0 && formatCount(trace.threads.length)]],
    [
      sliceWord(trace) === 'call' ? 'Calls' : 'Slices',
      [trace.calls !== null && trace.calls > 0 && formatCount(trace.calls)],
    ],
    ['Events', [trace.events !== null && formatCount(trace.events)]],
    [names.length > 1 ? 'Processes' : 'Process', processLinks(names, base)],
    ['Recorded', [trace.recorded !== null && timeElement(trace.recorded)]],
    [
      'Size',
      [`${sizeWords(trace)}${trace.bytes >= 1000 ? `, ${plural(trace.bytes, 'byte')}` : ''}`],
    ],
    ['Uploaded', [timeElement(trace.uploaded)]],
  ];
  const there = pairs.filter(([, value]) => value.some(Boolean));
  return h(
    'table',
    { class: 'facts' },
    h(
      'tbody',
      null,
      ...there.map(([what, value]) =>
        h('tr', null, h('th', { attrs: { scope: 'row' } }, what), h('td', null, ...value)),
      ),
    ),
  );
}

const MOST_PROCESSES = 12;

/** Return links to the list of traces with the same process. */
function processLinks(processes: readonly string[], base: string): Child[] {
  const rest = processes.length - MOST_PROCESSES;
  const named = processes
    .slice(0, MOST_PROCESSES)
    .map((process) =>
      h(
        'div',
        null,
        internalLink(`${base}?process=${encodeURIComponent(process)}`, 'link', singleLine(process)),
      ),
    );
  return rest > 0 ? [...named, h('div', { class: 'dim' }, `and ${formatCount(rest)} more`)] : named;
}

function traceSection(id: string, title: string, ...children: Child[]): HTMLElement {
  return h('section', { attrs: { 'aria-labelledby': id } }, h('h2', { id }, title), ...children);
}

/**
 * Return the part on what was repaired, the gravest first. It is there even when nothing was: a
 * part that is missing would not say that the file was sound.
 */
export function healthPart(health: readonly HealthLine[], viewer: string): HTMLElement {
  const good = 'The file was read without anything to repair or to skip.';
  if (health.length === 0) return traceSection('health', 'Health', h('p', { class: 'good' }, good));
  return traceSection(
    'health',
    'Health',
    h('p', { class: 'second' }, 'What was repaired, moved or left out while the file was read.'),
    h(
      'ul',
      { class: 'lines' },
      ...sortBySeverity(health).map(({ severity, count, text, kind }) =>
        h(
          'li',
          { class: severity },
          icon(severity),
          h(
            'span',
            null,
            h('b', null, `${SEVERITIES[severity]}: `),
            `${formatCount(count)} × ${makeVisible(text)} `,
            h('span', { class: 'second' }, makeVisible(kind)),
          ),
        ),
      ),
    ),
    h(
      'p',
      null,
      h(
        'a',
        { class: 'link', attrs: { href: `${viewer}#tab=health` } },
        'Show the places in the viewer',
      ),
    ),
  );
}

/** Return the part on findings; null: none. Unlike repairs, no findings are no news. */
export function findingsPart(findings: readonly FindingLine[], viewer: string): HTMLElement | null {
  if (findings.length === 0) return null;
  return traceSection(
    'findings',
    'Findings',
    h(
      'ul',
      { class: 'lines' },
      ...sortBySeverity(findings).map(({ severity, title, text }) =>
        h(
          'li',
          { class: severity },
          icon(severity),
          h(
            'span',
            null,
            h('b', null, `${SEVERITIES[severity]}: ${makeVisible(title)}`),
            h('br', null),
            makeVisible(text),
          ),
        ),
      ),
    ),
    h(
      'p',
      null,
      h(
        'a',
        { class: 'link', attrs: { href: `${viewer}#tab=findings` } },
        'See them in the viewer',
      ),
    ),
  );
}

/**
 * Explain why a trace could not be read and what may help. The original file is still available.
 */
export function failedPart(trace: Trace): HTMLElement {
  const error = trace.error ?? { message: 'It could not be read.', offset: null, remedy: null };
  return h(
    'section',
    { class: 'failure', attrs: { role: 'alert' } },
    h('h2', null, icon('error'), 'This trace could not be read'),
    h('p', null, makeVisible(error.message)),
    error.offset !== null && h('div', { class: 'bytes' }, offsetWords(error.offset)),
    error.remedy !== null && h('p', { class: 'second' }, makeVisible(error.remedy)),
    h('p', { class: 'second' }, 'The file is kept as it came and can be downloaded.'),
  );
}

/** Create links from labels to the list. */
export function labelLinks(
  labels: readonly string[],
  base: string,
  go: (to: string) => void,
): Child[] {
  return labels.map((label) =>
    filterChip(singleLine(label, 40), 'All traces with this label', () =>
      go(`${base}?label=${encodeURIComponent(label)}`),
    ),
  );
}
