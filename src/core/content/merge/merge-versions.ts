import * as Y from 'yjs'
import { deletedRanges } from '../../update/deletions.ts'
import { type IdRange, RangeIndex, type StoredId } from '../../update/range-index.ts'
import { noGuid } from '../yjs/create-doc.ts'
import { itemIn, typeWithId } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { MergeSide } from './overlap.ts'
import { inBase, inMine, inTheirs } from './sequence-clusters.ts'

/** The states (V1) that a merge reads, and the update that it merges. */
export interface MergeInput {
  /** The whole state that both sides have changed. */
  readonly base: Uint8Array
  /** The whole state with the changes of others. */
  readonly theirs: Uint8Array
  /** The update for `base`. */
  readonly update: Uint8Array
}

export type VersionName = 'base' | MergeSide

interface BitsAnswer {
  readonly bits: number
  /** End of the clocks with the same answer. */
  readonly end: number
}

/** The three versions of a merge: which of them has an id, and their content. */
export class MergeVersions {
  readonly #input: MergeInput
  readonly #docs = new Map<VersionName, Y.Doc>()
  readonly #deleted: Readonly<Record<VersionName, RangeIndex<IdRange>>>
  readonly #vectors: Readonly<Record<'base' | 'theirs', ReadonlyMap<number, number>>>
  /** The ids that the update deletes. */
  readonly deletedByMine: readonly IdRange[]

  /** @param theirs the document with the changes of others, before the update is integrated */
  constructor(input: MergeInput, theirs: Y.Doc) {
    this.#input = input
    const [base, others] = [Y.snapshot(this.doc('base')), Y.snapshot(theirs)]
    this.deletedByMine = [...deletedRanges(Y.decodeUpdate(input.update).ds)]
    this.#deleted = {
      base: RangeIndex.of(deletedRanges(base.ds)),
      theirs: RangeIndex.of(deletedRanges(others.ds)),
      mine: RangeIndex.of(this.deletedByMine),
    }
    this.#vectors = { base: base.sv, theirs: others.sv }
  }

  /** Returns the document of a version. It must not be changed. */
  doc(version: VersionName): Y.Doc {
    const known = this.#docs.get(version)
    if (known !== undefined) return known
    const { base, theirs, update } = this.#input
    const doc = new Y.Doc(noGuid)
    Y.applyUpdate(doc, version === 'theirs' ? theirs : base)
    if (version === 'mine') Y.applyUpdate(doc, update)
    this.#docs.set(version, doc)
    return doc
  }

  destroy(): void {
    for (const doc of this.#docs.values()) doc.destroy()
  }

  /** Returns the versions that have an id, as bits. */
  at({ client, clock }: StoredId): BitsAnswer {
    const clockOf = (side: 'base' | 'theirs'): number => this.#vectors[side].get(client) ?? 0
    const [inP, inN] = [clock < clockOf('base'), clock < clockOf('theirs')]
    const [base, theirs, mine] = [
      this.#deleted.base.at(client, clock),
      this.#deleted.theirs.at(client, clock),
      this.#deleted.mine.at(client, clock),
    ]
    const isBase = inP && base.range === null
    const isTheirs = inN && theirs.range === null
    const isMine = (isBase || !inN) && mine.range === null
    const ends = [base.end, theirs.end, mine.end]
    if (inP) ends.push(clockOf('base'))
    else if (inN) ends.push(clockOf('theirs'))
    return {
      bits: (isBase ? inBase : 0) | (isTheirs ? inTheirs : 0) | (isMine ? inMine : 0),
      end: Math.min(...ends),
    }
  }

  /** Returns the next clock of a client before the update. */
  clockOfTheirs(client: number): number {
    return this.#vectors.theirs.get(client) ?? 0
  }

  /** Returns the item that contains an id in a version; null if there is none with content. */
  item(version: VersionName, { client, clock }: StoredId): Y.Item | null {
    return itemIn(this.doc(version), { client, clock })
  }

  /** Returns the type of a version that is the same one as `type`; null if the version does not have it. */
  typeIn(version: VersionName, type: SharedRoot): SharedRoot | null {
    if (type._item === null) {
      const name = Y.findRootTypeKey(type)
      return this.doc(version).share.get(name) ?? null
    }
    const found = typeWithId(this.doc(version), type._item.id)
    return found?._item?.deleted === true ? null : found
  }
}
