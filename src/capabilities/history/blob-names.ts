import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../core/base/clock.ts'
import type { Engine } from '../../core/store/engine.ts'

/** Maximum time in ms between storing the content of a version and storing the version itself. */
const makingMs = 900_000

/**
 * Creates and reads the names of the stored contents of versions. Each name is unique. It contains the digest
 * of the content, the time, and the incarnation of the process. A content without a version may be new: a
 * process may be about to add its version. If several processes write, `mayBeNamedYet` decides by the time
 * alone. The reason is that a node that other nodes consider dead may return and add its version.
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

  /** Returns whether a process may still add a version that uses this content. */
  mayBeNamedYet(name: string): boolean {
    const [, storedAt, incarnation] = name.split('.')
    if (storedAt === undefined || this.#clock.now() - Number(storedAt) >= makingMs) return false
    return !this.#hasOneWriter || incarnation === this.#incarnation
  }

  /**
   * Returns the due time of the sweep that is enqueued before a content is stored, in epoch milliseconds. 0
   * means immediately: the sweep then waits for the call that stores the content.
   */
  sweepAt(): number {
    return this.#hasOneWriter ? 0 : this.settledAt()
  }

  /**
   * Returns a time in epoch milliseconds. From this time on, no version can be added for a content that is
   * stored now, even if the clocks of the nodes differ.
   */
  settledAt(): number {
    return this.#clock.now() + 2 * makingMs
  }
}

export const contentDigest = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('base64url')

/** Returns whether the content with this name has the digest. */
export const hasDigest = (name: string, digest: string): boolean => name.split('.')[0] === digest
