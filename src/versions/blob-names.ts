import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'

/** Maximum time in ms between storing a content and storing the version that uses it. */
const makingMs = 900_000

/**
 * Names of the stored contents of versions. A name contains the digest of the content, the time, and the
 * incarnation of the process. Each name is unique. A content that no version uses may be new: another process
 * may be about to add its version. If several processes write, `mayBeNamedYet` decides by the time only,
 * because a node that other nodes consider dead may return and add its version.
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
   * Returns the time, in epoch milliseconds, at which a sweep is due that is enqueued before a content is
   * stored. 0 means immediately: the sweep then waits for the running call.
   */
  sweepAt(): number {
    return this.#hasOneWriter ? 0 : this.settledAt()
  }

  /**
   * Returns the time, in epoch milliseconds, from which no version can be added for a content that is stored
   * now. The time allows for different clocks of nodes.
   */
  settledAt(): number {
    return this.#clock.now() + 2 * makingMs
  }
}

export const contentDigest = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('base64url')

/** Returns whether a name belongs to a content that has this digest. */
export const hasDigest = (name: string, digest: string): boolean => name.split('.')[0] === digest
