import * as Y from 'yjs'
import { DocumentHistory } from '../../../../src/core/content/history/document-history.ts'
import { SegmentReader } from '../../../../src/core/content/history/segments.ts'
import type { ChangeOrigin } from '../../../../src/core/model/change-origin.ts'
import type { Attribution } from '../../../../src/core/update/attribution/attribution.ts'
import {
  type AttributedUpdate,
  AttributionBuilder,
} from '../../../../src/core/update/attribution/attribution-builder.ts'

/** A log of one document with several authors. Each author has a replica that misses the updates of others until `sync`. */
export class Recording {
  readonly entries: AttributedUpdate[] = []
  readonly #replicas = new Map<string, Y.Doc>()
  readonly #seen = new Map<string, number>()
  /** The time of the next changes, in epoch milliseconds. */
  now = 1_000_000

  /** The replica of an author with all entries so far. */
  doc(by: string): Y.Doc {
    const doc = this.replica(by)
    this.sync(by)
    return doc
  }

  /** The replica of an author as it is. */
  replica(by: string): Y.Doc {
    const known = this.#replicas.get(by)
    if (known !== undefined) return known
    const doc = new Y.Doc()
    doc.clientID = 100 + this.#replicas.size
    this.#replicas.set(by, doc)
    return doc
  }

  sync(by: string): void {
    const doc = this.replica(by)
    for (const { bytes } of this.entries.slice(this.#seen.get(by) ?? 0)) Y.applyUpdate(doc, bytes, 'remote')
    this.#seen.set(by, this.entries.length)
  }

  /** Records the changes that `act` makes in the replica of an author. */
  edit(by: string, act: (doc: Y.Doc) => void, origin: Partial<ChangeOrigin> = {}): void {
    const doc = this.replica(by)
    const listen = (bytes: Uint8Array, cause: unknown): void => {
      if (cause === 'remote') return
      this.entries.push({ by, at: this.now, source: 'socket', meta: null, ...origin, bytes })
    }
    doc.on('update', listen)
    doc.transact(() => act(doc))
    doc.off('update', listen)
    this.now += 1
  }

  /** The same with all updates of the others. */
  change(by: string, act: (doc: Y.Doc) => void, origin: Partial<ChangeOrigin> = {}): void {
    this.sync(by)
    this.edit(by, act, origin)
  }

  append(entry: AttributedUpdate): void {
    this.entries.push(entry)
  }

  /** The number of entries. */
  get version(): number {
    return this.entries.length
  }

  attribution(): Attribution {
    const builder = new AttributionBuilder()
    for (const entry of this.entries) builder.add(entry)
    return builder.build()
  }

  bytes(from: number, to = this.version): Uint8Array[] {
    return this.entries.slice(from, to).map(({ bytes }) => bytes)
  }

  history(from: number, to = this.version, after = to): DocumentHistory {
    const updates = { from: this.bytes(0, from), to: this.bytes(from, to), after: this.bytes(to, after) }
    return new DocumentHistory(updates)
  }

  reader(from: number, to = this.version, after = to): SegmentReader {
    return new SegmentReader(this.history(from, to, after), this.attribution())
  }

  /** A document as the server loads it, at a version. */
  at(version = this.version): Y.Doc {
    const doc = new Y.Doc()
    for (const bytes of this.bytes(0, version)) Y.applyUpdate(doc, bytes)
    return doc
  }
}
