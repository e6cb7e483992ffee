import type { RunsPage } from '../../content/history/author-runs.ts'
import type { ChangeSet, ChangeSetOptions } from '../../content/history/change-sets.ts'
import type { DiffReading } from '../../content/history/diff/version-diff.ts'
import {
  answerHistory,
  type CheckedUndo,
  type HistoryAnswer,
  type HistoryQuery,
} from '../../content/history/history-query.ts'
import { listedBytesMin } from '../../content/history/listed-origins.ts'
import type { UndoSelection } from '../../content/history/undo-selection.ts'
import type { OverlapPolicy } from '../../content/merge/overlap.ts'
import { EncodedJson } from '../../model/json-pieces.ts'
import { parseVersion, type Version } from '../../model/version.ts'
import { type Attribution, noAttribution } from '../../update/attribution/attribution.ts'
import { encodeAttributionSteps } from '../../update/attribution/attribution-codec.ts'
import { makeChange, type ProposedChange } from '../edits/backend-change.ts'
import {
  beginEdit,
  checkDocumentSize,
  type EditResult,
  noContent,
  type RestoreOptions,
  readDurable,
  waitUntilDurable,
} from '../edits/edit-conditions.ts'
import { readInline } from '../edits/on-thread.ts'
import { readAttribution, runInSlices } from '../log/read-attribution.ts'
import type { Room } from '../room/room.ts'
import { toUnavailable } from '../room/room-errors.ts'
import { type HistoryRange, type LoadedHistory, loadHistory } from './history-updates.ts'

/** Change sets between two versions. */
interface ListedChanges {
  readonly from: string
  readonly to: string
  readonly changes: readonly ChangeSet[]
  /** Number of all change sets that match the options. */
  readonly total: number
}

/** The comparison of a root in two versions. */
interface ComparedVersions {
  readonly from: string
  readonly to: string
  readonly contentKey: string
  readonly diff: EncodedJson
}

/** A document with its deleted content, and the origins of its ids as in `ListedOrigins`. */
interface AttributedDocument {
  readonly version: string
  /** V1; contains the deleted content that the log still has. */
  readonly update: EncodedJson
  readonly origins: EncodedJson
  readonly inserted: EncodedJson
  readonly deleted: EncodedJson
}

/** Reads the history of one open document, and undoes changes. Large histories are read on a thread. */
export class RoomHistory {
  readonly #room: Room

  constructor(room: Room) {
    this.#room = room
  }

  /**
   * Lists the changes between two versions.
   * @throws ApiError NOT_FOUND without content; FAILED_PRECONDITION if a version cannot be rebuilt;
   * RESOURCE_EXHAUSTED if too many large reads wait; UNAVAILABLE
   */
  async changes(range: HistoryRange, options: ChangeSetOptions): Promise<ListedChanges> {
    const loaded = await this.#load(range)
    const answer = await this.#read(loaded, await this.#attribution(), { is: 'changes', options })
    if (answer.is !== 'changes') throw unexpected(answer)
    const { from, to } = loaded
    return { from, to, changes: answer.page.changes, total: answer.page.total }
  }

  /**
   * Compares two versions of a root.
   * @param bytesMax maximum bytes of the encoded comparison
   * @throws ApiError as for `changes` and `readVersionDiff`
   */
  async diff(range: HistoryRange, reading: DiffReading, bytesMax: number): Promise<ComparedVersions> {
    const loaded = await this.#load(range)
    const answer = await this.#read(loaded, noAttribution, { is: 'diff', reading, bytesMax })
    if (answer.is !== 'diff') throw unexpected(answer)
    const { contentKey, diff } = answer
    const { from, to } = loaded
    return { from, to, contentKey, diff: new EncodedJson(diff.as, diff.parts) }
  }

  /**
   * Reads the whole document with its deleted content and all authors.
   * @param bytesMax maximum bytes of the document and its origins as JSON
   * @throws ApiError as for `changes`; RESOURCE_EXHAUSTED if the JSON is larger
   */
  async document(bytesMax: number): Promise<AttributedDocument> {
    const loaded = await this.#load({ from: null, to: null })
    const answer = await this.#read(loaded, await this.#attribution(), { is: 'document', bytesMax })
    if (answer.is !== 'document') throw unexpected(answer)
    return {
      version: loaded.to,
      update: new EncodedJson('base64', [answer.update]),
      origins: new EncodedJson('json', answer.origins),
      inserted: new EncodedJson('json', answer.inserted),
      deleted: new EncodedJson('json', answer.deleted),
    }
  }

  /**
   * Lists the content of a root at a recent version, with the author of each part.
   * @param runsMax maximum number of parts
   * @throws ApiError as for `changes`; NOT_FOUND if the root does not exist
   */
  async authors(version: string, contentKey: string | undefined, runsMax: number): Promise<RunsPage> {
    const updates = { from: await this.#stateAt(version), to: [], after: [] }
    const query = { is: 'runs', contentKey, runsMax } as const
    const answer = await this.#read({ updates, from: version, to: version }, await this.#attribution(), query)
    if (answer.is !== 'runs') throw unexpected(answer)
    return answer.page
  }

  /**
   * Returns the authors of all ids of the document.
   * @throws ApiError as for `changes`
   */
  async attribution(): Promise<Attribution> {
    await this.#present()
    return this.#attribution()
  }

  /**
   * Returns the state (V1) of the document after all changes up to a time: see `stateUntil`.
   * @throws ApiError as for `changes`
   */
  async stateUntil(until: number): Promise<Uint8Array> {
    const loaded = await this.#load({ from: null, to: null })
    const answer = await this.#read(loaded, await this.#attribution(), { is: 'state', until })
    if (answer.is !== 'state') throw unexpected(answer)
    return answer.update
  }

  /**
   * Undoes changes between two versions by a new edit of the user `by`. Resolves when the edit is durable and sent.
   * @param onOverlap the treatment of words that others have also changed
   * @throws ApiError as for `changes` and `makeChange`; INVALID_ARGUMENT if the document would not match its schema or
   * would be too large; ABORTED as for `undoChanges`
   */
  undo(
    by: string,
    range: HistoryRange,
    selection: UndoSelection,
    onOverlap: OverlapPolicy,
    options: RestoreOptions,
  ): Promise<EditResult<CheckedUndo>> {
    return makeChange(this.#room, {
      by,
      options,
      runs: 'thread',
      compute: () => this.#undone(range, selection, onOverlap, options),
    })
  }

  async #undone(
    range: HistoryRange,
    selection: UndoSelection,
    onOverlap: OverlapPolicy,
    options: RestoreOptions,
  ): Promise<ProposedChange<CheckedUndo>> {
    const { state } = this.#room
    beginEdit(this.#room, options)
    const { revision } = state
    const loaded = await this.#load(range)
    const { rootSchema: schema = null } = options
    const { lastPrune } = this.#room.generations
    const first = range.from === null ? 'to' : 'from'
    const query = { is: 'undo', selection, onOverlap, schema, lastPrune, first } as const
    const answer = await this.#read(loaded, await this.#attribution(), query)
    if (answer.is !== 'undo') throw unexpected(answer)
    const { result } = answer
    const update = result.update
    if (update !== null) checkDocumentSize(this.#room, update.length)
    return {
      result: () => result,
      update,
      isCurrent: () => {
        beginEdit(this.#room, options)
        return state.revision === revision
      },
      apply: () => (update === null ? null : state.integrateOwn(update)),
    }
  }

  /** Loads the updates of a range up to the current version, when it is durable. */
  async #load(range: HistoryRange): Promise<LoadedHistory> {
    const { dependencies, doc } = this.#room
    return loadHistory(dependencies.log, doc, range, await this.#present()).catch(toUnavailable)
  }

  /** Returns the current version when it is durable. @throws ApiError NOT_FOUND without content; UNAVAILABLE */
  async #present(): Promise<Version> {
    const { commits } = this.#room
    this.#room.begin()
    if (commits.existence !== 'live') throw noContent()
    const { version } = await waitUntilDurable(this.#room, null)
    return parseVersion(version) ?? this.#room.commits.version
  }

  async #stateAt(version: string): Promise<readonly Uint8Array[]> {
    const { dependencies, doc, state } = this.#room
    const read = await this.#room.whenEncoded(() => readDurable(this.#room, () => state.encode()))
    if (read.version === version) return [read.result]
    const point = { version, state: null }
    return (await loadHistory(dependencies.log, doc, { from: point, to: point }, await this.#present()))
      .updates.from
  }

  #attribution(): Promise<Attribution> {
    const { dependencies, doc } = this.#room
    return readAttribution(dependencies.log, doc).catch(toUnavailable)
  }

  async #read(
    { updates }: LoadedHistory,
    attribution: Attribution,
    query: HistoryQuery,
  ): Promise<HistoryAnswer> {
    const { dependencies, address, state } = this.#room
    const { readers } = dependencies
    const lists = [updates.from, updates.to, updates.after]
    const changed = query.is === 'undo' ? bytesOf([...updates.to, ...(updates.after ?? [])]) : 0
    const listed = query.is === 'document' ? listedBytesMin(attribution) : 0
    const bytes = bytesOf(lists.flat()) + changed * (undoWeight - 1) + listed
    const sizeBytes = state.isExpensive ? Number.POSITIVE_INFINITY : bytes
    const inline = await readInline(readers, sizeBytes, bytesMaxOf(query), (bytesMax) =>
      answerHistory(updates, attribution, limited(query, bytesMax)),
    )
    if (inline !== null) return inline
    const encoded = await runInSlices(encodeAttributionSteps(attribution))
    const counts = [updates.from.length, updates.to.length] as const
    return readers.use(address, (thread) =>
      thread.run({ is: 'history', updates: lists.flat(), counts, attribution: encoded, query }),
    )
  }
}

/**
 * Work for a byte of changes in an undo, compared with a byte of a document that is read. Changes of 220 words
 * have about 8 KiB, and their undo takes up to 50 ms.
 */
const undoWeight = 8

const bytesOf = (updates: readonly Uint8Array[]): number =>
  updates.reduce((sum, { length }) => sum + length, 0)

const bytesMaxOf = (query: HistoryQuery): number =>
  'bytesMax' in query ? query.bytesMax : Number.POSITIVE_INFINITY

/** Returns the query with another limit of the encoded answer. */
const limited = (query: HistoryQuery, bytesMax: number): HistoryQuery =>
  'bytesMax' in query ? { ...query, bytesMax } : query

const unexpected = ({ is }: HistoryAnswer): Error => new TypeError(`unexpected answer for a history: ${is}`)
