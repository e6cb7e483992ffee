import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'

/** A version is made within this time, in ms, from the storing of its content on. */
const makingMs = 900_000

/**
 * Names of the stored contents of versions. Each name is unique: another process may be about to name a content that no
 * version names yet. It contains the digest of the content, the time, and the incarnation of the process.
 *
 * If several processes write, only the time counts: a node that others take for dead may return and make its version.
 */
export class BlobNames {
  readonly #incarnation: string
  readonly #hasOneWriter: boolean
  readonly #clock: Clock

  constructor({ cluster, log }: Pick<Engine, 'cluster' | 'log'>, clock: Clock) {
    this.#incarnation = cluster.incarnation
    this.#hasOneWriter = log.hasOneWriter
    this.#clock = clock
  }

  of(digest: string): string {
    const random = randomBytes(6).toString('base64url')
    return [digest, this.#clock.now(), this.#incarnation, random].join('.')
  }

  /** Returns whether a process may still make a version that names a content. */
  mayBeNamedYet(name: string): boolean {
    const [, storedAt, incarnation] = name.split('.')
    if (storedAt === undefined || this.#clock.now() - Number(storedAt) >= makingMs) return false
    return !this.#hasOneWriter || incarnation === this.#incarnation
  }

  /** When the sweep is due that is enqueued before a content is put; epoch milliseconds. 0: it waits for the call. */
  sweepAt(): number {
    return this.#hasOneWriter ? 0 : this.settledAt()
  }

  /** When no version can name a content that is stored now; epoch milliseconds. The clocks of nodes differ. */
  settledAt(): number {
    return this.#clock.now() + 2 * makingMs
  }
}

export const contentDigest = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('base64url')

/** Returns whether a name is that of a content with this digest. */
export const hasDigest = (name: string, digest: string): boolean => name.split('.')[0] === digest
