import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'

/** Under which names contents of versions are stored. */
export interface BlobNames {
  /** @param hash of the content */
  of(hash: string): string
  /** May a version come yet that names a content which none names? */
  mayBeNamedYet(name: string): boolean
  /** When contents that no version names can be removed that are stored now; epoch milliseconds, 0: at once. */
  sweepAt(): number
}

/** Where one process makes and removes the versions of an editor, one after the other: equal contents are stored once. */
export const singleWriterNames: BlobNames = {
  of: (hash) => hash,
  mayBeNamedYet: () => false,
  sweepAt: () => 0,
}

/** A version is made within this time, in ms, from the storing of its content on. */
const makingMs = 900_000

/**
 * Where another node may be about to name what nobody names: each content has a name of its own with the time at which it
 * was stored, and what is younger than any version takes to be made is left alone.
 */
export class ClusterBlobNames implements BlobNames {
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(hash: string): string {
    return `${hash}.${this.#clock.now()}.${randomBytes(6).toString('base64url')}`
  }

  mayBeNamedYet(name: string): boolean {
    const storedAt = Number(name.split('.')[1] ?? 0)
    return this.#clock.now() - storedAt < makingMs
  }

  sweepAt(): number {
    // Later than that, whichever node's clock is ahead.
    return this.#clock.now() + 2 * makingMs
  }
}
