import * as Y from 'yjs'
import type { Archive, Generations } from '../../content/generations/generations.ts'
import { neededForPositions } from '../../content/generations/move-positions.ts'
import type { PrunedState } from '../../content/generations/prune-state.ts'
import type { Rebased } from '../../content/generations/rebase.ts'
import type { ReplacedNodes } from '../../content/yjs/root-replacement.ts'
import { addressKey, type DocumentAddress } from '../../model/address.ts'
import { type Close, close } from '../../model/close.ts'
import { versionOf } from '../../model/version.ts'
import type { Attribution } from '../../update/attribution/attribution.ts'
import { readUpdate } from '../../update/read-update.ts'
import type { DocumentState } from '../document/document-state.ts'
import type { CommitQueue } from '../log/commit-queue.ts'
import type { RoomCompaction } from '../log/room-compaction.ts'
import type { Change, ClientChange } from '../updates/change.ts'
import type { RoomDependencies } from './room-dependencies.ts'
import { roomClosing } from './room-errors.ts'

/** A room as its generations see it. */
interface PrunedRoom {
  readonly address: DocumentAddress
  readonly state: DocumentState
  readonly dependencies: RoomDependencies
  readonly commits: CommitQueue
  readonly hasEnded: boolean
  accepts(item: ClientChange): boolean
  commit(updates: readonly Change[], since: number): void
  keepUnplaced(item: ClientChange, state: Uint8Array): Promise<boolean>
  spent(ms: number, item: ClientChange): void
}

/** The nodes that a migration has replaced. `before`: the whole state (V1) before it. */
export interface MigratedContent {
  readonly replaced: ReplacedNodes
  readonly before: Uint8Array
}

const archiveOf = ({ replaced: { client, copies, old } }: MigratedContent): Archive => ({
  client,
  copies: copies.map((each) => ({ ...each, inside: 0 })),
  old,
  refersTo: [],
  edge: -1,
  generation: 0,
})

/**
 * Maximum bytes of the replaced items that one rebase reads, in documents of the maximum size. The edits of a client
 * need the content of one earlier generation and its own edits before.
 */
const statesMax = 4

/**
 * Maximum updates, structs, clients and deletions that are rebased together: the time to join them grows with its
 * square.
 */
const joinedMax = 500

/**
 * Joins an update that must be rebased with those of its sender behind it. A rebase takes the time of the whole document,
 * and stock Hocuspocus clients send each letter that was typed offline alone.
 * @returns the joined update, and the other updates
 */
export function joinedWith(
  first: ClientChange,
  others: readonly ClientChange[],
): { readonly item: ClientChange; readonly left: readonly ClientChange[] } {
  const own = [first, ...others.filter(({ from }) => from === first.from)]
  let parts = 0
  const end = own.findIndex(({ kind, summary }) => {
    parts += 1 + summary.structs + summary.clients.length + summary.deletes
    // The complete deletions of an offer would show that the sender has received the prune before.
    return kind === 'offer' || parts > joinedMax
  })
  const joined = end === -1 ? own : own.slice(0, end)
  try {
    if (joined.length < 2) return { item: first, left: others }
    const bytes = Y.mergeUpdates(joined.map((each) => each.bytes))
    const onApplied = (): void => {
      for (const each of joined) each.onApplied?.()
    }
    const taken = new Set(joined)
    return {
      item: { ...first, bytes, summary: readUpdate(bytes), onApplied },
      left: others.filter((each) => !taken.has(each)),
    }
  } catch {
    // No client of Yjs sends updates that Yjs cannot join. The malformed one is found when it is rebased alone.
    return { item: first, left: others }
  }
}

const needsTooMuch = close('tooLarge', 'too many edits from before a prune: reload the document')

/** The sizes of a document before and after a prune. */
export interface PruneResult {
  /** Number of prunes, this one included. */
  readonly generation: number
  readonly bytesBefore: number
  readonly bytesAfter: number
  /** The version after the prune. */
  readonly version: string
}

/**
 * The generations of one open document. A prune replaces all content by a copy, so that the document has no deleted
 * content. It is an update like any other: clients get it and stay connected. An edit of a client that had not received
 * it is rebased. The document must be locked during both.
 */
export class RoomGenerations {
  readonly #room: PrunedRoom
  readonly #compaction: RoomCompaction
  #generations: Generations

  constructor(room: PrunedRoom, compaction: RoomCompaction, generations: Generations) {
    this.#room = room
    this.#compaction = compaction
    this.#generations = generations
  }

  /** Number of prunes. Ids that were read before the last one name nothing. */
  get count(): number {
    return this.#generations.count
  }

  /** Returns whether an update must be rebased before it is applied. */
  concern(bytes: Uint8Array): boolean {
    const isPruned = this.#generations.count > 0
    return isPruned && this.#generations.concern(bytes, this.#room.state.clocks)
  }

  /** Returns an attribution in which copies have the origins of the replaced content. */
  carry(attribution: Attribution): Attribution {
    return this.#generations.carry(attribution)
  }

  get lastPrune(): number | null {
    return this.#generations.lastPrune
  }

  /** Returns whether a client with this state vector must offer its edits before it gets those that it lacks. */
  areMissedBy(clocks: ReadonlyMap<number, number>): boolean {
    return this.#generations.areMissedBy(clocks)
  }

  /**
   * Applies and commits an update for which `concern` returns true. Its sender gets the result as all other members do,
   * and it replaces the sender's items. A malformed update ends its sender, and so does one that needs too much. If the
   * sender leaves or the room ends meanwhile, drops the update.
   * @returns `incomplete` if the update depends on updates that the document lacks; `again` if the document has changed
   * meanwhile, or the permission of the sender may have ended
   * @throws ApiError as `placeOnThread`; INVALID_ARGUMENT if the document would be too large
   */
  async rebase(item: ClientChange): Promise<'done' | 'incomplete' | 'again'> {
    const { revision } = this.#room.state
    const rebased = this.#generations.isFull ? needsTooMuch : await this.#rebaseOnThread(item)
    if (!this.#room.accepts(item)) return 'done'
    if (rebased === 'incomplete') return rebased
    if (rebased !== null && 'reason' in rebased) {
      item.from.end(rebased)
      return 'done'
    }
    if (rebased !== null) {
      const { by, meta, bytes, from } = item
      if (rebased.unplaced !== null && !(await this.#room.keepUnplaced(item, rebased.unplaced)))
        return 'again'
      if (rebased.archive !== null) await this.#archive(rebased.archive, bytes, revision)
      if (this.#room.hasEnded) return 'done'
      if (this.#room.state.revision !== revision) return 'again'
      const authorship = { by, meta: meta ?? null, right: from.right, source: 'socket' } as const
      this.#become(rebased, authorship, this.#room.dependencies.clock.now())
    }
    item.onApplied?.()
    return 'done'
  }

  #rebaseOnThread(item: ClientChange): Promise<Rebased | 'incomplete' | null | Close> {
    const { address, state, dependencies } = this.#room
    const { generationStore, threads, limits } = dependencies
    const { documentBytesMax } = limits
    const { archives } = this.#generations
    const { bytes: update } = item
    return threads.use(address, async (thread) => {
      const startedAt = performance.now()
      try {
        const needs = this.#generations.neededBy(update, state.clocks)
        const items = await generationStore.itemsOf(address, needs, statesMax * documentBytesMax)
        if (items === null) return needsTooMuch
        const updates = [state.encode()] as const
        const rebased = await thread.run({
          is: 'rebase',
          updates,
          archives,
          items,
          update,
          documentBytesMax,
        })
        const isMalformed = rebased !== null && rebased !== 'incomplete' && 'problem' in rebased
        return isMalformed ? close('badRequest', rebased.problem) : rebased
      } finally {
        this.#room.spent(performance.now() - startedAt, item)
      }
    })
  }

  /**
   * Starts a new generation, and resolves when the log has only its content.
   * @returns null if the document has changed meanwhile: an update that a thread integrates does not wait for this call
   * @throws ApiError RESOURCE_EXHAUSTED as `placeOnThread`; the errors of the log
   */
  async prune(authorship: Omit<Change, 'bytes' | 'summary' | 'from'>): Promise<PruneResult | null> {
    const { address, state, dependencies } = this.#room
    const { revision } = state
    const { archives } = this.#generations
    const before = state.encode()
    const pruned = await dependencies.threads.use(address, (thread) =>
      thread.run({ is: 'prune', updates: [before], archives }),
    )
    const { archive } = pruned
    await this.#archive(archive, before, revision)
    if (this.#room.hasEnded) throw roomClosing()
    if (state.revision !== revision) return null
    this.#become(pruned, authorship, dependencies.clock.now())
    const { commits } = this.#room
    const version = versionOf({ epoch: commits.epoch, seq: await commits.durable })
    await this.#compaction.finish()
    return {
      generation: archive.generation,
      bytesBefore: before.length,
      bytesAfter: state.encode().length,
      version,
    }
  }

  /**
   * Returns relative positions (base64) at the present places of the content that prunes, and after them migrations,
   * have replaced.
   * @throws ApiError RESOURCE_EXHAUSTED as `placeOnThread`; the errors of the store
   */
  async movePositions(
    positions: readonly string[],
    migrated: readonly MigratedContent[] = [],
  ): Promise<readonly string[]> {
    const { address, dependencies } = this.#room
    const needs = neededForPositions(this.#generations, positions)
    const items = await dependencies.generationStore.itemsOf(address, needs, Number.POSITIVE_INFINITY)
    let moved = positions
    if (needs.length > 0 && items !== null)
      moved = await this.#moved(this.#generations.archives, items, positions)
    for (const content of migrated) {
      const before = new Map([[content.replaced.client, content.before]])
      moved = await this.#moved([archiveOf(content)], before, moved)
    }
    return moved
  }

  #moved(
    archives: readonly Archive[],
    items: ReadonlyMap<number, Uint8Array>,
    positions: readonly string[],
  ): Promise<readonly string[]> {
    const { address, state, dependencies } = this.#room
    return dependencies.threads.use(address, (thread) =>
      thread.run({ is: 'movePositions', updates: [state.encode()], archives, items, positions }),
    )
  }

  /** Stores an archive. Removes it if the room has ended, because the document may be deleted, or has changed. */
  async #archive(archive: Archive, items: Uint8Array, revision: number): Promise<void> {
    const { address, dependencies, state } = this.#room
    await dependencies.generationStore.add(address, archive, items)
    if (this.#room.hasEnded || state.revision !== revision)
      await dependencies.generationStore.remove([...addressKey(address), String(archive.client)])
  }

  #become(
    { state, update: bytes, archive }: PrunedState | Rebased,
    authorship: Omit<Change, 'bytes' | 'summary' | 'from'>,
    since: number,
  ): void {
    // In the tick of the commit, so that no stream opens with the new generation at a place of the old one.
    if (archive !== null) this.#generations = this.#generations.with(archive)
    const summary = readUpdate(bytes)
    this.#room.state.become(state)
    this.#room.state.advance(summary)
    this.#room.commit([{ ...authorship, bytes, summary, from: null }], since)
  }
}
