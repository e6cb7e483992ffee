import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ApiError, errorMessage, invalid } from '../../core/base/errors.ts'
import * as s from '../../core/base/schema.ts'
import { migrationType } from '../../core/content/content-types.ts'
import { prepareChange, withSchema } from '../../core/content/root-change.ts'
import { branchLimits } from '../../core/directory/branches/branch-records.ts'
import { keys } from '../../core/directory/organizations/organization-keys.ts'
import {
  type AttachedSchema,
  type MigrationRecord,
  migrationRecordType,
  schemaKeys,
  schemasPart,
} from '../../core/directory/schemas/schema-service.ts'
import { TransactionRunner } from '../../core/directory/store/transaction.ts'
import { nextOrganization } from '../../core/directory/user-data/scope-organizations.ts'
import { type CheckLease, TaskWorker } from '../../core/jobs/task-worker.ts'
import type { DocumentAddress, Tenant } from '../../core/model/address.ts'
import { addressSchemas } from '../../core/model/address-schemas.ts'
import { branchEditorId } from '../../core/model/branch-address.ts'
import { inlineSizeMax, Replacement } from '../../core/rooms/edits/replacement.ts'
import { isTransient } from '../../core/rooms/room/room-errors.ts'
import type { MigratedContent } from '../../core/rooms/room/room-generations.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { entryPages } from '../../core/store/pages.ts'
import type { Services } from '../../rest/services.ts'

const migrationQueue = 'schema-migration'
const taskSchema = s.object({ tenant: addressSchemas.tenant, name: s.string, jobId: s.string })
type MigrationTask = s.TypeOf<typeof taskSchema>

/** One document of a migration. */
const stepSchema = s.object({ address: addressSchemas.scope, task: taskSchema })
type MigrationStep = s.TypeOf<typeof stepSchema>

/** The number of changes of an editor, or why it stays as it is. */
type RewriteResult = number | { readonly code: string; readonly message: string }

type MigrationReport = MigrationRecord['report']
type MigrationRequest = Pick<MigrationRecord, 'rules' | 'userId'> &
  Pick<MigrationReport, 'toVersion' | 'dryRun'>

/** Maximum numbers of documents in one read, and of listed failures and examples. */
const [documentsAtOnce, failuresMax, examplesMax] = [100, 50, 20]

/**
 * Rewrites the editors of an API key that have a schema, one after the other, at the nodes that own them. Each editor is
 * marked before it is rewritten: from then on, clients with an older schema are viewers, and an interrupted migration
 * rewrites the editor again, which the rules permit.
 */
export class MigrationService {
  readonly #services: Services
  readonly #transactions: TransactionRunner
  readonly worker: TaskWorker<MigrationTask>
  readonly #migrateDocument: (step: MigrationStep) => Promise<void>

  constructor(services: Services) {
    const { engine, clock, log, ownerWork } = services
    this.#services = services
    this.#transactions = new TransactionRunner(engine.kv)
    this.#migrateDocument = ownerWork.define(migrationQueue, stepSchema, (step) => this.#carryOutStep(step))
    this.worker = new TaskWorker({
      engine,
      queueName: migrationQueue,
      clock,
      log,
      schema: taskSchema,
      partOf: ({ tenant }) => schemasPart(tenant),
      carryOut: (task, goOn) => this.#carryOut(task, goOn),
    })
  }

  /**
   * Starts a migration to a version of a schema. It continues in the background.
   * @throws ApiError NOT_FOUND if there is no such schema; INVALID_ARGUMENT if a rule is invalid, if the rules are too long, or if the
   * schema has no such version; FAILED_PRECONDITION if a migration of the schema is running
   */
  async begin(
    { workspaceId, apiKey }: Tenant,
    name: string,
    { rules, userId, ...request }: MigrationRequest,
  ): Promise<MigrationReport> {
    const task: MigrationTask = { tenant: { workspaceId, apiKey }, name, jobId: randomUUID() }
    const { version } = await this.#services.schemas.get(task.tenant, name)
    const { checked } = prepareChange({ type: migrationType, data: rules }, inlineSizeMax)
    if (checked === null) throw rejected('/rules', 'the rules are too long; use fewer of them')
    if (request.toVersion > version)
      throw rejected('/toVersion', `the schema has the version ${version}; store the new one first`)
    const counts = { processed: 0, changed: 0, failed: 0, failures: [], examples: [] }
    const times = { startedAt: this.#services.clock.now(), endedAt: null }
    const report: MigrationReport = { ...request, status: 'running', ...counts, ...times }
    const record: MigrationRecord = { jobId: task.jobId, rules, userId, position: null, report }
    await this.#transactions.run(schemasPart(task.tenant), async (transaction) => {
      const earlier = await transaction.get(schemaKeys.migration(name), migrationRecordType)
      if (earlier?.report.status === 'running')
        throw new ApiError('schema/migration-running', 'a migration of this schema is running; wait')
      transaction.put(schemaKeys.migration(name), record)
      const payload = Buffer.from(JSON.stringify(task))
      transaction.enqueue({ queue: migrationQueue, id: task.jobId, at: 0, payload })
    })
    this.worker.wake()
    return report
  }

  async #carryOut(task: MigrationTask, goOn: CheckLease): Promise<void> {
    const { engine, store, clock, schemas } = this.#services
    const tenant = { ...task.tenant, organizationId: null }
    let record = await this.#runningOf(task)
    const { position = null } = record ?? {}
    let organizationId = position?.organizationId ?? (await nextOrganization(engine.kv, tenant, null))
    let after = position === null ? {} : { after: keys.editorSchemas(position.documentId) }
    for (; organizationId !== null; after = {}) {
      const scope = { ...task.tenant, organizationId }
      const range = { prefix: keys.allEditorSchemas, limit: documentsAtOnce, ...after }
      for await (const page of entryPages((each) => store.read(scope).scan(each), range)) {
        for (const entry of page) {
          await goOn()
          if (record === null) return
          const address = { ...scope, documentId: lastSegment(entry.key) }
          const attached = [...(await schemas.attachedIn(scope, address.documentId)).values()]
          if (!attached.some(isBehind(task, record))) continue
          await this.#migrateDocument({ address, task })
          record = await this.#runningOf(task)
        }
      }
      organizationId = await nextOrganization(engine.kv, tenant, organizationId)
    }
    if (record === null) return
    const ended = { ...record.report, status: 'done', endedAt: clock.now() } as const
    // The id of a user is stored only as long as it is needed.
    await this.#put(task, record, { ...record, userId: '', report: ended })
  }

  /** Returns the record of a task; null if the task has ended. */
  async #runningOf({ tenant, name, jobId }: MigrationTask): Promise<MigrationRecord | null> {
    const record = await this.#services.schemas.migrationOf(tenant, name)
    return record?.jobId === jobId && record.report.status === 'running' ? record : null
  }

  /** Replaces the record of a task, unless it has another position than `before`. */
  async #put(
    { tenant, name, jobId }: MigrationTask,
    before: MigrationRecord,
    next: MigrationRecord,
  ): Promise<void> {
    await this.#transactions.run(schemasPart(tenant), async (transaction) => {
      const known = await transaction.get(schemaKeys.migration(name), migrationRecordType)
      if (known?.jobId === jobId && isDeepStrictEqual(known.position, before.position))
        transaction.put(schemaKeys.migration(name), next)
    })
  }

  /** Migrates the editors of a document, and counts them and the branches that fail. @throws if the document cannot be reached now */
  async #carryOutStep({ address: scope, task }: MigrationStep): Promise<void> {
    const { schemas, documents } = this.#services
    const { organizationId, documentId } = scope
    const position = { organizationId, documentId }
    const record = await this.#runningOf(task)
    // A repeated step must not count twice.
    if (record === null || isDeepStrictEqual(record.position, position)) return
    if (await documents.isGoing(scope, documentId)) return
    let { processed, changed, failed, failures, examples } = record.report
    for (const [mainId, attached] of await schemas.attachedIn(scope, documentId)) {
      if (!isBehind(task, record)(attached)) continue
      processed += 1
      let changes = 0
      for (const [editorId, result] of await this.#migrateEditor(
        { ...scope, editorId: mainId },
        attached,
        record,
      ))
        if (typeof result === 'number') changes += result
        else {
          failed += 1
          failures = [...failures, { ...position, editorId, ...result }].slice(0, failuresMax)
        }
      if (changes === 0) continue
      changed += 1
      examples = [...examples, { ...position, editorId: mainId, changes }].slice(0, examplesMax)
    }
    const report = { ...record.report, processed, changed, failed, failures, examples }
    await this.#put(task, record, { ...record, report, position })
  }

  /**
   * Rewrites an editor, then its open branches without a schema of their own, which have its changes first. A branch that
   * fails leaves the editor rewritten, at the new version. Returns the results by editor id.
   */
  async #migrateEditor(
    address: DocumentAddress,
    attached: AttachedSchema,
    record: MigrationRecord,
  ): Promise<ReadonlyMap<string, RewriteResult>> {
    const { schemas } = this.#services
    const { dryRun, toVersion } = record.report
    const { migratingFrom, ...own } = attached
    const mark = async (version: number, from?: number): Promise<void> => {
      const marked = { ...own, version, ...(from !== undefined && { migratingFrom: from }) }
      if (!dryRun) await schemas.attach(address, marked)
    }
    const results = new Map<string, RewriteResult>()
    const migrated: MigratedContent[] = []
    if (attached.version !== toVersion || migratingFrom !== toVersion) {
      const from = migratingFrom ?? attached.version
      if (from !== toVersion - 1) {
        const message = `the editor has the version ${from} of the schema; migrate to ${from + 1} first`
        return results.set(address.editorId, { code: 'schema/invalid-migration', message })
      }
      await mark(toVersion, from)
      const result = await this.#rewriteOrFail(address, attached, record, migrated)
      results.set(address.editorId, result)
      if (typeof result !== 'number') {
        await mark(from)
        return results
      }
    }
    const branches = await this.#branchesOf(address)
    // From here on, no failure may undo the mark: clients with the older schema would remove the new nodes.
    if (branches.length > 0) await mark(toVersion, toVersion)
    // At once, because a repeated migration does not know the copies.
    for (const each of [address, ...branches]) await this.#moveAnchors(each, migrated)
    for (const branch of branches) {
      const inBranch: MigratedContent[] = []
      results.set(branch.editorId, await this.#rewriteOrFail(branch, attached, record, inBranch))
      await this.#moveAnchors(branch, inBranch)
    }
    await mark(toVersion)
    return results
  }

  /** Returns the open branches of an editor that have its schema. */
  async #branchesOf(address: DocumentAddress): Promise<readonly DocumentAddress[]> {
    const { schemas, branchStore } = this.#services
    const own = await schemas.attachedIn(address, address.documentId)
    const range = { after: undefined, limit: branchLimits.branches }
    const { items } = await branchStore.list(address, address, range)
    return items
      .filter((branch) => branch.status === 'open' && !own.has(branchEditorId(branch)))
      .map((branch) => ({ ...address, editorId: branchEditorId(branch) }))
  }

  /** Moves the anchors of comments in renamed and wrapped nodes. */
  async #moveAnchors(address: DocumentAddress, migrated: readonly MigratedContent[]): Promise<void> {
    if (migrated.length === 0) return
    const { annotations, rooms, log } = this.#services
    try {
      await annotations.moveAnchors(address, rooms, migrated)
    } catch (error) {
      log.error({ err: error }, 'the comments of a migrated editor could not be moved')
    }
  }

  /** Rewrites one editor. @param migrated gets what the rules replace @throws if it can be rewritten later */
  async #rewriteOrFail(
    address: DocumentAddress,
    attached: AttachedSchema,
    record: MigrationRecord,
    migrated: MigratedContent[],
  ): Promise<RewriteResult> {
    try {
      return await this.#rewrite(address, attached, record, migrated)
    } catch (error) {
      if (isTransient(error)) throw error
      if (error instanceof ApiError) return { code: error.code, message: error.message }
      this.#services.log.error({ err: error }, 'an editor could not be migrated')
      return { code: 'server/internal', message: errorMessage(error) }
    }
  }

  async #rewrite(
    address: DocumentAddress,
    { schema, contentKey }: AttachedSchema,
    { rules, userId, report: { dryRun, toVersion } }: MigrationRecord,
    migrated: MigratedContent[],
  ): Promise<number> {
    const { documents, rooms, schemas, storage, attribution } = this.#services
    const { version, schema: spec } = await schemas.get(address, schema)
    const change = prepareChange({ type: migrationType, contentKey, data: rules }, inlineSizeMax)
    const named = { name: schema, spec }
    // The stored schema is that of its last version.
    const checked = version === toVersion ? withSchema(change, named) : change
    const isAttributed = await attribution.isEnabled(address.workspaceId)
    const meta = isAttributed ? { schema, schemaVersion: toVersion } : null
    const copies = !dryRun && rules.some(({ rule }) => rule === 'renameNode' || rule === 'wrapNode')
    const full = await storage.errorIfFull(address.workspaceId)
    try {
      return await rooms.use(address, async (room) => {
        const right = await documents.rightToChange(address)
        const options = { expects: 'content', dryRun, right, full, cause: { source: 'rest', meta } } as const
        const before = copies ? room.state.encode() : null
        const edit = new Replacement(room).change(userId, { is: 'replace', ...checked }, options)
        const { insertions, deletions, replaced } = (await edit).result
        if (before !== null && replaced !== undefined) migrated.push({ before, replaced })
        return insertions + deletions
      })
    } catch (error) {
      const code = error instanceof ApiError ? error.code : null
      if (code === 'crdt/no-content' || code === 'crdt/root-not-found') return 0
      throw error
    }
  }
}

const rejected = (path: string, problem: string): Error =>
  invalid('schema/invalid-migration', problem, { path })

/** Returns whether an editor needs a migration. */
const isBehind =
  ({ name }: MigrationTask, { report: { toVersion } }: MigrationRecord) =>
  ({ schema, version, migratingFrom }: AttachedSchema): boolean =>
    schema === name && (version < toVersion || migratingFrom !== undefined)
