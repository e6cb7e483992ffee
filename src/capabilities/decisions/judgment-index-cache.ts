import { setImmediate as nextTurn } from 'node:timers/promises'
import { KeyedMutex } from '../../core/base/keyed-mutex.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { Key, Kv, KvEntry } from '../../core/store/engine.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import { entryPages } from '../../core/store/pages.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { JudgmentIndex } from './judgment-index.ts'
import {
  type JudgmentChange,
  type JudgmentEdit,
  type JudgmentScope,
  judgmentChangeType,
  judgmentKeys,
  judgmentType,
  memoryPart,
  memoryStateType,
} from './judgment-keys.ts'
import { memoryLimits } from './limits.ts'

/**
 * Maximum total size of the index entries that are added in one tick, in the unit of `JudgmentIndex`. Adding
 * this amount takes some milliseconds.
 */
const sizeMax = 20_000

/** Yields to the event loop during long work, so that other work can run. */
class EventLoopYield {
  #size = 0

  /**
   * Yields to the event loop if enough work was done since the last yield. Call this method after each step
   * of the work.
   * @param size size of the step, in the unit of `sizeMax`
   */
  async spend(size: number): Promise<void> {
    this.#size += size
    if (this.#size < sizeMax) return
    this.#size = 0
    await nextTurn()
  }
}

/** Maximum number of judgments in one read. */
const pageMax = 200

interface Known {
  readonly index: JudgmentIndex
  /** Number of the last stored change that the index contains. */
  changes: number
}

interface Scope {
  readonly part: Key
  readonly place: JudgmentScope
}

/**
 * Caches the indexes of scopes. An index is built from the store when it is used for the first time. At each
 * later use, the changes that any node has stored since then are applied.
 */
export class JudgmentIndexCache {
  readonly #kv: Kv
  readonly #charactersMax: number
  readonly #lines = new KeyedMutex()
  /** Cached indexes by the name of their scope, in the order of their last use. */
  readonly #known = new Map<string, Known>()

  constructor(kv: Kv, charactersMax: number = memoryLimits.indexedCharacters) {
    this.#kv = kv
    this.#charactersMax = charactersMax
  }

  get count(): number {
    return this.#known.size
  }

  /**
   * Returns the index of a scope. The index contains all changes that were durable at the time of the call.
   * The caller must use the index in the same tick, because later calls change it.
   */
  async at(tenant: Tenant, place: JudgmentScope): Promise<JudgmentIndex> {
    const scope = { part: memoryPart(tenant), place }
    const name = keyName([...scope.part, ...judgmentKeys.within(place)])
    return this.#lines.run(name, async () => {
      const known = await this.#fresh(scope, this.#known.get(name))
      this.#known.delete(name)
      this.#known.set(name, known)
      this.#makeRoom()
      return known.index
    })
  }

  async #fresh(scope: Scope, known: Known | undefined): Promise<Known> {
    if (known !== undefined && (await this.#follow(scope, known))) return known
    const built = await this.#build(scope)
    await this.#follow(scope, built)
    return built
  }

  async #build({ part, place }: Scope): Promise<Known> {
    const [state = null] = await this.#kv.get(part, [judgmentKeys.state])
    const changes =
      state === null ? 0 : readRecord(memoryStateType, { key: judgmentKeys.state, value: state }).changes
    const [index, slices, prefix] = [new JudgmentIndex(), new EventLoopYield(), judgmentKeys.within(place)]
    for await (const page of entryPages((range) => this.#kv.scan(part, range), { prefix, limit: pageMax }))
      for (const entry of page) await addTo(index, entry, slices)
    return { index, changes }
  }

  /**
   * Applies the stored changes that the index does not contain yet. Returns false if some of these changes
   * are no longer stored; the index must then be built again.
   */
  async #follow(scope: Scope, known: Known): Promise<boolean> {
    const range = { prefix: judgmentKeys.changes, after: judgmentKeys.change(known.changes) }
    const entries = await this.#kv.scan(scope.part, { ...range, limit: memoryLimits.changes + 1 })
    if (entries.length > 0 && Number(entries[0]?.key.at(-1)) !== known.changes + 1) return false
    const slices = new EventLoopYield()
    for (const entry of entries) {
      await this.#apply(scope, known.index, readRecord(judgmentChangeType, entry), slices)
      known.changes = Number(entry.key.at(-1))
    }
    return true
  }

  /**
   * Applies one change to the index. An added judgment may no longer be found, because a later change has
   * removed it. That later change is applied afterwards.
   */
  async #apply(
    { part, place }: Scope,
    index: JudgmentIndex,
    { added, anonymised: anonymized, removed }: JudgmentChange,
    slices: EventLoopYield,
  ): Promise<void> {
    for (const judgmentId of removed) await slices.spend(index.remove(judgmentId))
    const missing = added.filter((each) => isWithin(each, place) && !index.has(each.judgmentId))
    for (const entry of await this.#read(part, missing)) await addTo(index, entry, slices)
    const known = anonymized.filter(({ judgmentId }) => index.has(judgmentId))
    for (const entry of await this.#read(part, known)) index.replace(readRecord(judgmentType, entry))
  }

  /** Reads the judgments, and returns those that still exist. */
  async #read(part: Key, judgments: readonly JudgmentEdit[]): Promise<readonly KvEntry[]> {
    const keys = judgments.map((each) => judgmentKeys.judgment(each, each.judgmentId))
    const values = keys.length === 0 ? [] : await this.#kv.get(part, keys)
    return values.flatMap((value, at) => (value === null ? [] : [{ key: keys[at] as Key, value }]))
  }

  #makeRoom(): void {
    let characters = 0
    for (const { index } of this.#known.values()) characters += index.characters
    for (const [name, { index }] of this.#known) {
      if (characters <= this.#charactersMax || this.#known.size === 1) return
      this.#known.delete(name)
      characters -= index.characters
    }
  }
}

const isWithin = (at: JudgmentScope, { organizationId, documentId }: JudgmentScope): boolean =>
  (organizationId === null || at.organizationId === organizationId) &&
  (documentId === null || at.documentId === documentId)

async function addTo(index: JudgmentIndex, entry: KvEntry, slices: EventLoopYield): Promise<void> {
  await slices.spend(index.add(readRecord(judgmentType, entry)))
}
