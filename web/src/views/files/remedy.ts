// SPDX-License-Identifier: Apache-2.0
// Advice for files that could not be opened.

import type { ErrorKind } from '../../model/opening';

const REMEDIES: Record<ErrorKind | 'empty' | 'packed' | 'encrypted' | 'window', string> = {
  unsupported:
    'traceview reads Android method traces, Trace Event JSON (Chrome, Node, Bazel, PyTorch, …), ftrace text, ' +
    'systrace pages, Perfetto, Java Flight Recorder, pprof, OpenTelemetry profiles, perf, V8, speedscope, ' +
    'the Firefox Profiler, CPU profiles of hprof, callgrind, cachegrind, cProfile, Austin, strace text, ' +
    '.ninja_log and collapsed stacks, also packed with gzip, zstd, zip or tar. ' +
    'Is it the file you meant, and is it the whole of it?',
  empty:
    'Nothing was written to it: end the recording before the file is copied, and see that there was room on the ' +
    'device; then record, or copy, again.',
  packed:
    'In a terminal, traceview and the name of the file reads most of these; or unpack it first.',
  encrypted: 'Unpack it first, with its password, and open what is in it.',
  window: 'In a terminal, the command that is named there unpacks it; open what comes of it.',
  many: 'Open fewer at a time.',
  syntax:
    'The file is damaged there, or was cut off while it was written or copied. Compare its size with the ' +
    'original, copy it again, or record it again.',
  io: 'See that the file is still there, that you may read it, and that nobody writes to it; then try again.',
  limit:
    'The file is larger than it may be here. Unpack it, or record for a shorter time, and open what comes of it.',
  room:
    'Make room on that disk, or start traceview with TMPDIR set to a folder that has some. What is named on the ' +
    'command line is read where it lies and needs none.',
  memory:
    'The program reads it with all the memory of the machine: in a terminal, traceview and the name of the file. ' +
    'Or record for a shorter time, or less.',
  usage: 'Open the files again.',
  other:
    'Try again; if that does not help, open the file from a terminal, which prints the same error.',
};

export function remedyFor(kind: ErrorKind | undefined, message: string): string {
  if (message.includes('TMPDIR')) return REMEDIES.room;
  if (message.includes('zstd -d')) return REMEDIES.window;
  if (message.includes('an encrypted zip')) return REMEDIES.encrypted;
  if (message.includes('not unpacked in a page'))
    return REMEDIES[message.includes('encrypt') ? 'encrypted' : 'packed'];
  return REMEDIES[message.includes('found an empty file') ? 'empty' : (kind ?? 'other')];
}
