// SPDX-License-Identifier: Apache-2.0
// Reads a self-contained report page: the engine, and the files of its trace. Each is compressed
// with gzip, encoded as base64, and stored in an element that browsers neither run nor show.

/** The content of a report page. */
export interface Carried {
  code: Promise<WebAssembly.Module>;
  files: CarriedFile[];
  /** A text that names what was left out. */
  note: string;
  /** An example trace for users who have no file. */
  example: CarriedExample | null;
  /** True if the page belongs to a site, with sw.js next to it. */
  site: boolean;
}

export interface CarriedExample {
  name: string;
  data: Promise<Blob>;
}

export interface CarriedFile {
  name: string;
  machine: number;
  offset: bigint;
  data: Promise<Blob>;
}

interface Manifest {
  files: { name: string; machine: number; offset_ns: string }[];
  note?: string;
  example?: string;
  site?: boolean;
}

declare global {
  interface Uint8ArrayConstructor {
    /** Available in browsers since 2025. */
    fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
  }
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  // A callback for each letter would take several times as long.
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** Decode the bytes of `what`, and remove the element so that they are not held twice. */
function takeElementBytes(page: Document, what: string): Blob {
  const elements = [...page.querySelectorAll<HTMLElement>(`script[data-of="${what}"]`)];
  return new Blob(
    elements.map((element) => {
      const bytes = fromBase64(element.textContent);
      element.remove();
      return bytes;
    }),
  );
}

function gunzipBlob(packed: Blob): Promise<Blob> {
  const stream = packed.stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).blob();
}

async function compileEngine(packed: Blob): Promise<WebAssembly.Module> {
  return await WebAssembly.compile(await (await gunzipBlob(packed)).arrayBuffer());
}

/** Return the content of the report, or null if the page has none and uses a server. */
export function findReport(page: Document): Carried | null {
  const manifest = page.querySelector<HTMLElement>('script[data-of="manifest"]');
  if (!manifest) return null;
  // This JSON is trusted: `traceview html` or the build of the site wrote it.
  const { files, note = '', example, site = false } = JSON.parse(manifest.textContent) as Manifest;
  return {
    ...{ note, site },
    example:
      example === undefined
        ? null
        : { name: example, data: gunzipBlob(takeElementBytes(page, 'example')) },
    code: compileEngine(takeElementBytes(page, 'engine')),
    files: files.map(({ name, machine, offset_ns }, i) => ({
      ...{ name, machine },
      offset: BigInt(offset_ns),
      data: gunzipBlob(takeElementBytes(page, `file${i}`)),
    })),
  };
}
