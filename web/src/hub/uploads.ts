// SPDX-License-Identifier: Apache-2.0
// All uploads: a few run in parallel, the others wait.

import { signal } from '../base/signal';
import type { Known, Remembered } from './fingerprint';
import { whyNotUploadable, Upload, type World } from './upload';

/**
 * The number of parallel uploads. One fills most connections; the second fills the pauses between
 * chunks.
 */
const AT_ONCE = 2;

/** A rejected file and the reason. */
export interface Refused {
  name: string;
  why: string;
}

export interface Chosen {
  files: readonly Known[];
  folders: readonly string[];
}

/** The queue of uploads. */
export class Uploads {
  readonly all = signal<readonly Upload[]>([]);
  readonly refused = signal<readonly Refused[]>([]);
  /** Unfinished uploads of earlier pages. The user must choose the file again. */
  readonly left = signal<readonly [key: string, entry: Remembered][]>([]);

  constructor(
    private readonly world: World,
    /** Called when an upload has ended or stopped. */
    private readonly ended: (upload: Upload) => void,
  ) {}

  add({ files, folders }: Chosen, most: number | null): void {
    const refused: Refused[] = folders.map((name) => ({
      name,
      why: 'This is a folder: choose the files in it.',
    }));
    const fit = files.filter((file) => {
      const why = whyNotUploadable(file, most);
      if (why !== null) refused.push({ name: file.name, why });
      return why === null;
    });
    this.refused.set(refused);
    const alone = fit.length === 1 && refused.length === 0 && this.active() === 0;
    const added = fit
      .filter((file) => !this.underWay(file))
      .map((file) => new Upload(file, this.world, alone));
    this.all.update((all) => [...all, ...added]);
    this.left.update((left) =>
      left.filter(
        ([, { name, size }]) => !added.some(({ file }) => file.name === name && file.size === size),
      ),
    );
    this.pump();
  }

  private underWay(file: Known): boolean {
    return this.all
      .peek()
      .some(
        (upload) =>
          upload.active() &&
          upload.file.name === file.name &&
          upload.file.size === file.size &&
          upload.file.lastModified === file.lastModified,
      );
  }

  /** Return how many uploads run or will run. */
  active(): number {
    return this.all.get().filter((upload) => upload.active()).length;
  }

  private pump(): void {
    const all = this.all.peek();
    const busy = all.filter(({ phase }) => ['sending', 'resting'].includes(phase.peek())).length;
    const next = all.filter(({ phase }) => phase.peek() === 'waiting').slice(0, AT_ONCE - busy);
    for (const upload of next) this.start(upload);
  }

  private start(upload: Upload): void {
    void upload.run().then(() => {
      this.ended(upload);
      this.pump();
    });
  }

  /** Resume an upload. */
  again(upload: Upload): void {
    upload.phase.set('waiting');
    this.pump();
  }

  async cancel(upload: Upload): Promise<void> {
    await upload.cancel();
    this.remove(upload);
  }

  /** Remove the line of an upload. */
  remove(upload: Upload): void {
    this.all.update((all) => all.filter((one) => one !== upload));
    this.pump();
  }

  /** Find unfinished uploads of this page or of closed pages. */
  async findLeft(): Promise<void> {
    const { memory, wire, now } = this.world;
    const there: [string, Remembered][] = [];
    for (const [key, entry] of memory.left(now())) {
      try {
        const { offset } = await wire.look(entry.uid, new AbortController().signal);
        if (offset < entry.size) there.push([key, entry]);
        else memory.forget(key);
      } catch (error) {
        // Forget an upload only if the server says that it does not know it.
        if ((error as { absent?: boolean }).absent === true) memory.forget(key);
      }
    }
    this.left.set(there);
  }

  async dropLeft(key: string): Promise<void> {
    const entry = this.world.memory.find(key);
    this.world.memory.forget(key);
    this.left.update((left) => left.filter(([other]) => other !== key));
    if (entry) await this.world.wire.drop(entry.uid).catch(() => undefined);
  }

  /** Release all uploads when the page closes. */
  leave(): void {
    for (const upload of this.all.peek()) upload.leave();
  }
}
