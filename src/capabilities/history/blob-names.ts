import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../core/base/clock.ts'

/** Maximum time in ms between storing the content of a version and storing the version itself. */
const makingMs = 900_000

/**
 * Creates and reads the names of the stored contents of versions. Each name is unique. It contains the digest
 * of the content and the time. A content without a version may be new: a node may be about to add its version, also
 * a node that other nodes consider dead. Therefore the time alone decides whether a content may still get a version.
 */
export class BlobNames {
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(digest: string): string {
    return [digest, this.#clock.now(), randomBytes(6).toString('base64url')].join('.')
  }

  /** Returns whether a node may still add a version that uses this content. */
  mayBeNamedYet(name: string): boolean {
    const [, storedAt] = name.split('.')
    return storedAt !== undefined && this.#clock.now() - Number(storedAt) < makingMs
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
