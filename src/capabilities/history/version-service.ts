import { ApiError } from '../../core/base/errors.ts'
import { KeyedMutex } from '../../core/base/keyed-mutex.ts'
import type { PruneRule } from '../../core/config/option-parsers.ts'
import type { ReplacementResult } from '../../core/content/replacement-result.ts'
import type { RootSchema } from '../../core/content/schemas/content-schema.ts'
import type { BranchRecord } from '../../core/directory/branches/branch-records.ts'
import { tenantPart } from '../../core/directory/organizations/organization-keys.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import type { Metadata } from '../../core/directory/store/records.ts'
import type { WriteRight } from '../../core/directory/write-right.ts'
import { type EditListener, editorName } from '../../core/events/debounce-windows.ts'
import { decodeUserEdit } from '../../core/events/edit-windows.ts'
import { JobConsumer } from '../../core/jobs/job-consumer.ts'
import { TaskWorker } from '../../core/jobs/task-worker.ts'
import { addressKey, type DocumentAddress } from '../../core/model/address.ts'
import type { ChangeMeta } from '../../core/model/change-origin.ts'
import { BackendEdits, type DocumentCapture } from '../../core/rooms/edits/backend-edits.ts'
import { type EditResult, noContent } from '../../core/rooms/edits/edit-conditions.ts'
import { Replacement } from '../../core/rooms/edits/replacement.ts'
import { headConflict, isTransient } from '../../core/rooms/room/room-errors.ts'
import type { PruneResult } from '../../core/rooms/room/room-generations.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import type { Services } from '../../rest/services.ts'
import { EditTaskWindows, windowEnd } from './edit-task-windows.ts'
import { autoVersionRetention, versionLimits } from './limits.ts'
import {
  anchorsJob,
  authorQueue,
  type VersionTask,
  versionQueue,
  versionTaskSchema,
  windowJob,
} from './version-jobs.ts'
import type { VersionKind, VersionRecord } from './version-keys.ts'
import { noVersion, VersionStore } from './version-store.ts'

/**
 * Returns the ids of expired automatic versions. The newest automatic version never expires. The intervals of
 * the rules start at fixed times, which do not depend on `now`. If they moved with the time, tomorrow's
 * intervals could remove a version that is kept today.
 * @param records all versions of one editor, the oldest first
 * @param now current time in epoch milliseconds
 */
export function expiredVersions(records: readonly VersionRecord[], now: number): readonly string[] {
  const automatic = records.filter(({ kind }) => kind === 'automatic').reverse()
  const [newest] = automatic
  const taken = new Set<string>()
  let kept = 0
  return automatic
    .filter((record) => {
      const stretch = stretchOf(record.createdAt, now)
      const isKept = record === newest || (stretch !== null && !taken.has(stretch))
      if (!isKept || kept === versionLimits.automatic) return true
      kept += 1
      if (stretch !== null && stretch !== unthinned) taken.add(stretch)
      return false
    })
    .map(({ versionId }) => versionId)
}

const unthinned = ''

/**
 * Returns the name of the interval to which a version belongs; one version of each interval is kept. Returns
 * '' if all versions of that age are kept, and null if no version of that age is kept.
 */
function stretchOf(at: number, now: number): string | null {
  const row = autoVersionRetention.findLast(({ afterMs }) => now - at > afterMs)
  if (row === undefined) return unthinned
  return row.everyMs === null ? null : `${row.everyMs} ${Math.floor(at / row.everyMs)}`
}

/**
 * Maximum number of attempts of a restore. Concurrent edits make an attempt fail, except for the last
 * attempt, which does not check for them.
 */
const attemptsMax = 4

/** Maximum number of authors of older versions of Weft that are recorded in parallel. */
const authorsAtOnce = 64

/** Members of a new version that the caller chooses. */
interface VersionDescription {
  readonly label?: string | undefined
  readonly metadata?: Metadata | undefined
  /** Id of the user who creates the version. */
  readonly userId?: string | undefined
}

interface RestoreRequest {
  /** Id of the user who restores the version. */
  readonly userId?: string | undefined
  /** If present, the restore is rejected unless the document has this version. */
  readonly ifVersion?: string | undefined
  readonly dryRun?: boolean | undefined
  /** Data of the caller about the change. */
  readonly meta?: ChangeMeta | null
  /** Returns the permission to change the document. @throws ApiError if there is no permission */
  readonly right: () => Promise<WriteRight>
  /** Returns the schema that the document must match after the restore; null without one. */
  readonly schema: () => Promise<RootSchema | null>
}

interface PruneRequest extends Pick<RestoreRequest, 'userId' | 'meta' | 'right'> {
  /** If true, an editor with connected clients is not pruned. */
  readonly isIdle?: boolean
}

interface PrunedEditor extends PruneResult {
  /** Id of the version with the content before the prune. */
  readonly versionId: string
}

/** Number of branches that are read together, and that an error names. */
const branchesAtOnce = 100

interface RestoredVersion extends EditResult<ReplacementResult> {
  /** The saved version with the content before the restore; null if the restore changed nothing. */
  readonly before: VersionRecord | null
}

/**
 * Manages the versions of editors. Versions are created on request and in the background. A restore is an
 * edit that all clients receive.
 */
export class VersionService {
  readonly store: VersionStore
  /** Receive the edits of rooms. */
  readonly listeners: readonly EditListener[]
  readonly #services: Services
  /** Records the authors in jobs of older versions of Weft. */
  readonly #authors: JobConsumer
  readonly #worker: TaskWorker<VersionTask>
  /** Mutex for each editor. Changes of the versions of one editor run one after the other. */
  readonly #lines = new KeyedMutex()

  constructor(services: Services) {
    this.#services = services
    const { engine, clock, log, config } = services
    this.store = new VersionStore(engine, services.store, clock)
    const { edits } = services
    edits.recordAuthors({
      record: (transaction, authors) => this.store.recordAuthors(transaction, authors),
      recorded: (authors) => this.store.removeDeleted(authors),
    })
    this.#authors = new JobConsumer({
      queue: engine.queue,
      name: authorQueue,
      clock,
      log,
      atOnce: authorsAtOnce,
      carryOut: async ({ payload }) => {
        await edits.record([{ ...decodeUserEdit(payload), activityId: undefined, isAuthor: true }])
        return 'done'
      },
    })
    const everyMs = config.autoVersionMinutes * 60_000
    const rule = config.autoPrune
    this.listeners = [
      ...(everyMs === 0 ? [] : [new EditTaskWindows('automatic', clock, everyMs)]),
      ...(rule === null ? [] : [new EditTaskWindows('prune', clock, rule.days * 24 * hourMs)]),
    ]
    this.#worker = new TaskWorker({
      engine,
      queueName: versionQueue,
      clock,
      log,
      schema: versionTaskSchema,
      partOf: ({ address }) => tenantPart(address),
      // A version and the authors of the next one are divided at the owner, which receives the edits.
      carryOut: services.ownerWork.define(versionQueue, versionTaskSchema, (task) => this.#carryOut(task)),
    })
  }

  /** Starts the background work. This includes jobs that remained after a crash. */
  start(): void {
    this.#authors.start()
    this.#worker.start()
  }

  /**
   * Stops the background work. Resolves when none is running. Call this method before the rooms are closed.
   */
  async stop(): Promise<void> {
    await Promise.all([this.#authors.stop(), this.#worker.stop()])
  }

  /**
   * Creates a version with the current content of an editor. Resolves when the version is durable.
   * @throws ApiError NOT_FOUND if the editor has no content; FAILED_PRECONDITION if it has too many versions
   */
  create(address: DocumentAddress, description: VersionDescription): Promise<VersionRecord> {
    return this.#inLine(address, async () => this.#keep(address, 'manual', description))
  }

  /** Returns a page of the versions of an editor, the newest first. */
  list(address: DocumentAddress, range: PageRange): Promise<ListPage<VersionRecord>> {
    return this.store.list(address, range)
  }

  /**
   * Returns a version with its content. The content is a whole state (encoding V1). @throws ApiError
   * NOT_FOUND
   */
  async read(
    address: DocumentAddress,
    versionId: string,
  ): Promise<{ readonly record: VersionRecord; readonly bytes: Uint8Array }> {
    const { store } = this
    const record = await store.require(address, versionId)
    return { record, bytes: await store.contentOf(address, record) }
  }

  /** Deletes a version. Resolves when the deletion is durable. @throws ApiError NOT_FOUND */
  delete(address: DocumentAddress, versionId: string): Promise<void> {
    return this.#inLine(address, async () => {
      if (!(await this.store.remove(address, [versionId]))) throw noVersion()
    })
  }

  /**
   * Replaces the content of a document with `past`, the state (V1) of a version or of another editor, in one edit. Unless the restore changes
   * nothing, the previous content is saved as an automatic version before. If there are concurrent edits
   * meanwhile, the restore starts again. The last of `attemptsMax` attempts is made without this check.
   * Concurrent edits are then merged, but the saved version may not contain them.
   * @throws ApiError NOT_FOUND, ABORTED; the errors of `Replacement.change`
   */
  async restore(
    address: DocumentAddress,
    past: Uint8Array,
    request: RestoreRequest,
  ): Promise<RestoredVersion> {
    const wouldChange = await this.#change(address, past, { ...request, dryRun: true })
    if (!wouldChange.result.changed || request.dryRun === true) return { ...wouldChange, before: null }
    return this.#inLine(address, async () => {
      let before = await this.#keepBefore(address, request, null)
      for (let attempt = 1; attempt < attemptsMax; attempt++) {
        const restored = await this.#changeIfAt(address, past, request, before)
        if (restored !== null) return { ...restored, before }
        before = await this.#keepBefore(address, request, before)
      }
      return { ...(await this.#change(address, past, request)), before }
    })
  }

  /**
   * Removes the versions of an editor. Call this method before and after the content of the editor is
   * destroyed.
   */
  removeEditor(address: DocumentAddress): Promise<void> {
    return this.#inLine(address, () => this.store.removeEditor(address))
  }

  /**
   * Restores the content if the document still has `version`; otherwise returns null. If the request has
   * `ifVersion`, the document must have that version instead; otherwise the method throws.
   */
  async #changeIfAt(
    address: DocumentAddress,
    past: Uint8Array,
    request: RestoreRequest,
    { version }: VersionRecord,
  ): Promise<EditResult<ReplacementResult> | null> {
    if (request.ifVersion !== undefined) return this.#change(address, past, request)
    try {
      return await this.#change(address, past, { ...request, ifVersion: version })
    } catch (error) {
      if (error instanceof ApiError && error.details?.version !== undefined) return null
      throw error
    }
  }

  async #change(
    address: DocumentAddress,
    past: Uint8Array,
    { userId = '', ifVersion, dryRun, meta = null, right: readRight, schema }: RestoreRequest,
  ): Promise<EditResult<ReplacementResult>> {
    return this.#services.rooms.use(address, async (room) => {
      const [right, rootSchema] = await Promise.all([readRight(), schema()])
      return new Replacement(room).change(
        userId,
        { is: 'restore', past },
        {
          expects: 'content',
          cause: { source: 'restore', meta },
          ifVersion,
          dryRun,
          right,
          rootSchema,
        },
      )
    })
  }

  /**
   * Saves the current content as an automatic version before a restore.
   * @param earlier version that the previous attempt has saved, which is removed; null in the first attempt
   */
  async #keepBefore(
    address: DocumentAddress,
    { userId }: RestoreRequest,
    earlier: VersionRecord | null,
  ): Promise<VersionRecord> {
    if (earlier !== null) await this.store.remove(address, [earlier.versionId])
    return this.#keep(address, 'automatic', { userId, label: 'Before a restoration' })
  }

  /**
   * Saves the content of an editor as an automatic version, and starts a new generation of it. Repeats both while
   * clients edit it.
   * @throws ApiError NOT_FOUND; FAILED_PRECONDITION if the editor is a branch, has open branches or streams, or was pruned
   * too often; ABORTED; the errors of `Room.prune`
   */
  prune(address: DocumentAddress, request: PruneRequest): Promise<PrunedEditor> {
    return this.#inLine(address, async () => {
      await this.#requirePrunable(address)
      return this.#prune(address, request)
    })
  }

  async #prune(address: DocumentAddress, request: PruneRequest): Promise<PrunedEditor> {
    const { store, streams } = this.#services
    const { userId = '', right } = request
    // No version is saved in vain.
    await streams.requireNone(address)
    await right()
    // If the process dies after the prune, the job moves the anchors.
    await store.carryOut(address, async (transaction) => transaction.enqueue(anchorsJob(address)))
    for (let attempts = 1; attempts <= attemptsMax; attempts += 1) {
      const saved = await this.#save(address, 'automatic', { userId, label: 'Before a prune' })
      const pruned = await this.#pruneSaved(address, saved, request)
      if (pruned === null) continue
      await this.#removeExpired(address)
      await this.#moveAnchors(address)
      return { ...pruned, versionId: saved.versionId }
    }
    throw headConflict()
  }

  /**
   * Prunes an editor that a version has saved. Returns null if the editor has changed since. Removes the version, unless
   * the prune is durable or may be.
   */
  async #pruneSaved(
    address: DocumentAddress,
    { version, versionId }: VersionRecord,
    { userId = '', meta = null, right, isIdle = false }: PruneRequest,
  ): Promise<PruneResult | null> {
    const { rooms, streams } = this.#services
    let mayBeDurable = false
    try {
      // A stream that opens later has written nothing at the saved version, and cannot write after the prune.
      await streams.requireNone(address)
      const authorship = { by: userId, right: await right(), source: 'rest', meta } as const
      return await rooms.use(address, async (room) => {
        if (isIdle && room.memberCount > 0) throw headConflict()
        mayBeDurable = true
        const pruned = await room.prune(authorship, version, () => this.#requirePrunable(address))
        mayBeDurable = pruned !== null
        return pruned
      })
    } catch (error) {
      // If the store has failed, the prune may be durable nevertheless.
      mayBeDurable &&= !(error instanceof ApiError) || error.status === 'UNAVAILABLE'
      throw error
    } finally {
      if (!mayBeDurable) await this.store.remove(address, [versionId])
    }
  }

  /** Moves the anchors of comments at content that prunes have replaced. */
  #moveAnchors(address: DocumentAddress): Promise<void> {
    const { rooms, annotations } = this.#services
    return annotations.moveAnchors(address, rooms)
  }

  /** Prunes an editor if the option `autoPrune` selects it. Tries again later if this is not possible now. */
  async #pruneByRule(address: DocumentAddress, rule: PruneRule): Promise<void> {
    const { store, clock, log } = this.#services
    try {
      await this.#pruneSelected(address, rule)
    } catch (err) {
      const waitMs = waitAfter(err, rule)
      const { organizationId, documentId, editorId } = address
      if (waitMs !== hourMs)
        log.warn({ err, organizationId, documentId, editorId }, 'could not prune an editor by the rule')
      if (waitMs === null) return
      const at = windowEnd(editorName(address), waitMs, clock.now())
      await store.carryOut(address, async (transaction) =>
        transaction.enqueue(windowJob('prune', address, at)),
      )
    }
  }

  async #pruneSelected(address: DocumentAddress, { megabytes, percent }: PruneRule): Promise<void> {
    const { rooms, streams, documents, storage, config, auditing } = this.#services
    const full = await storage.errorIfFull(address.workspaceId)
    if (full !== null) throw full
    const { sizeBytes, isOpen } = await rooms.use(address, async ({ state, memberCount }) => ({
      sizeBytes: state.sizeBytes,
      isOpen: memberCount > 0,
    }))
    if (sizeBytes < megabytes * 2 ** 20) return
    await this.#requirePrunable(address)
    // Cursors and undo steps of connected clients would lose their places.
    if (isOpen) throw headConflict()
    await streams.requireNone(address)
    const before = await rooms.stateOf(address)
    if (before === null) return
    const { state } = await rooms.compute(address, { is: 'prune', updates: [before], archives: [] })
    if (state.length > before.length * (1 - percent / 100)) return
    const right = () => documents.rightToChange(address)
    const work = () => this.#prune(address, { right, isIdle: true })
    const { workspaceId, apiKey, organizationId, documentId, editorId } = address
    const ids = { organizationId: [organizationId], documentId: [documentId], editorId: [editorId] }
    const entry = { operation: '/v2/crdt/prune', actor: 'operator', apiKey, ids } as const
    await (config.audit === 'all' ? auditing.audit.carryOut(workspaceId, entry, work) : work())
  }

  async #requirePrunable(address: DocumentAddress): Promise<void> {
    const { branchStore, documents, rooms } = this.#services
    if ((await rooms.use(address, async (room) => room.generations.count)) >= versionLimits.prunes)
      throw new ApiError(
        'crdt/too-many-prunes',
        `the editor was pruned ${versionLimits.prunes} times; copy it to another editor`,
      )
    const open: string[] = (await documents.isBranch(address)) ? [address.editorId] : []
    for (let after: string | undefined; ; ) {
      const { items, next } = await branchStore.list(address, address, { after, limit: branchesAtOnce })
      // A restore of a `deleted` branch may have begun.
      const isOpen = ({ status }: BranchRecord): boolean => status === 'open' || status === 'deleted'
      open.push(...items.filter(isOpen).map(({ name }) => name))
      if (next === null) break
      after = next
    }
    if (open.length === 0) return
    throw new ApiError(
      'crdt/open-branches',
      'the editor is a branch or has open branches; decide them first',
      {
        details: { branches: open.slice(0, branchesAtOnce) },
      },
    )
  }

  /** Creates a version with the current content. An automatic one replaces the expired ones. */
  async #keep(
    address: DocumentAddress,
    kind: VersionKind,
    description: VersionDescription,
  ): Promise<VersionRecord> {
    const record = await this.#save(address, kind, description)
    if (kind === 'automatic') await this.#removeExpired(address)
    return record
  }

  async #removeExpired(address: DocumentAddress): Promise<void> {
    const { store } = this
    await store.remove(address, expiredVersions(await store.all(address), this.#services.clock.now()))
  }

  /** Waits until the authors of all earlier edits are recorded, and then stores a version with the current content. */
  async #save(
    address: DocumentAddress,
    kind: VersionKind,
    { label = '', metadata = {}, userId = '' }: VersionDescription,
  ): Promise<VersionRecord> {
    const { captured, at: createdAt } = await this.#capture(address)
    if (captured === null) throw noContent()
    await this.#services.edits.drain()
    const described = { kind, label, metadata, createdBy: userId, createdAt }
    const record = await this.store.add(address, { ...described, ...captured })
    this.#worker.wake()
    return record
  }

  async #capture(
    address: DocumentAddress,
  ): Promise<{ readonly captured: DocumentCapture | null; readonly at: number }> {
    const { rooms, clock, edits } = this.#services
    let at = clock.now()
    const captured = await rooms.use(address, (room) =>
      // Edits that arrive while a large document is opened and encoded belong to the version.
      new BackendEdits(room).capture(() => {
        edits.windows.renew(address)
        at = clock.now()
      }),
    )
    return { captured, at }
  }

  async #carryOut({ is, address }: VersionTask): Promise<void> {
    const { log, config } = this.#services
    const { autoPrune } = config
    if (is === 'sweep') return this.#inLine(address, () => this.store.sweep(address))
    try {
      await this.#inLine(address, async () => {
        if (is === 'anchors') await this.#moveAnchors(address)
        else if (is === 'prune') await (autoPrune && this.#pruneByRule(address, autoPrune))
        else await this.#keepAutomatically(address)
      })
    } catch (err) {
      if (!isNotFound(err)) throw err
      log.info({ err, task: is }, 'skipped a task for a document that is being deleted')
    }
  }

  /**
   * Creates an automatic version. Does nothing if the newest version has the same state, or if the document
   * was deleted.
   */
  async #keepAutomatically(address: DocumentAddress): Promise<void> {
    const { items } = await this.store.list(address, { after: undefined, limit: 1 })
    const present = await this.#services.rooms.use(address, async (room) => new BackendEdits(room).version())
    if (present !== null && present !== items[0]?.version) await this.#keep(address, 'automatic', {})
  }

  #inLine = <T>(address: DocumentAddress, work: () => Promise<T>): Promise<T> =>
    this.#lines.run(keyName(addressKey(address)), work)
}

const hourMs = 3_600_000

const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 'NOT_FOUND'

/**
 * Returns the interval in ms of the attempts to prune an editor by the rule after an error; null if only an edit leads to
 * another one.
 * @throws the error, if it does not concern the editor
 */
function waitAfter(error: unknown, { days }: PruneRule): number | null {
  const { code, status } = error instanceof ApiError ? error : { code: null, status: null }
  if (code === 'crdt/document-changed' || code === 'crdt/open-streams') return hourMs
  if (isNotFound(error) || isTransient(error)) throw error
  return status === 'FAILED_PRECONDITION' && code !== 'crdt/open-branches' ? null : days * 24 * hourMs
}
