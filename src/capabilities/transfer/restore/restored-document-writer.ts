import * as Y from 'yjs'
import { errorMessage } from '../../../core/base/errors.ts'
import * as s from '../../../core/base/schema.ts'
import { copyClientMin } from '../../../core/content/generations/generations.ts'
import type { DocumentView } from '../../../core/directory/documents/document-views.ts'
import type { DocumentPath } from '../../../core/model/address.ts'
import { DocumentState } from '../../../core/rooms/document/document-state.ts'
import { restoreIn } from '../../../core/rooms/threads/size-check.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import { versionLimits } from '../../history/limits.ts'
import type { VersionRecord } from '../../history/version-keys.ts'
import type { Catalog } from '../documents/catalog.ts'
import { onlineCatalog } from '../documents/catalog-online.ts'
import { callOnline, listOnline, nullIfRefused, type OnlineServer } from '../documents/rest-client.ts'
import type { BackupDocuments, BackupEditor } from './backup-documents.ts'
import { OnlineComments } from './online-comments.ts'
import type { PermissionCounts } from './online-permissions.ts'
import type { OnlineDocument, OnlineRecords } from './online-records.ts'

/** Numbers of records of a document that the server got. */
interface RestoredCounts {
  readonly versions: number
  /** Threads that did not exist. */
  readonly threads: number
  /** Comments that did not exist, in new and in existing threads. */
  readonly comments: number
  /** Permissions on the document, and on folders and an organization that were created for it. */
  readonly permissions: number
}

/** Numbers of records of the backup that the server does not have and that were not restored. */
interface LeftOutCounts {
  readonly branches: number
  /** Attached schemas of a document that was created. */
  readonly schemas: number
  /** Decisions about a document that was created. */
  readonly decisions: number
  /** Decided suggestions, whose threads were restored without them. */
  readonly suggestions: number
  /** Versions of existing editors, empty versions, and versions beyond the limit of an editor. */
  readonly versions: number
  /** Permissions of groups that do not exist, and of users whom an existing organization does not have. */
  readonly permissions: number
  /** Replaced contents of created editors, by which the server would place edits of clients from before a prune. */
  readonly generations: number
  /** Access settings of an existing document and of existing folders of a new one that differ from the backup. */
  readonly settings: number
}

/** Result of the restore of one document into a running server. */
export interface DocumentResult {
  /**
   * `created`: it did not exist. `changed`: at least one editor got other content, or the document got comments. `same`:
   * nothing changed. `failed`: see `reason`; a part may have been restored.
   */
  readonly result: 'created' | 'changed' | 'same' | 'failed'
  /** Ids of the editors that were created or changed. */
  readonly editors: readonly string[]
  readonly restored: RestoredCounts
  readonly leftOut: LeftOutCounts
  readonly reason?: string
}

interface RestoreSource {
  readonly server: OnlineServer
  readonly backup: BackupDocuments
  readonly records: OnlineRecords
  readonly organizationId: string
  /** Time of the backup, in epoch milliseconds. */
  readonly madeAt: number
  /** True: nothing is changed, and the results are those of a restore. */
  readonly isDryRun: boolean
}

const versionsSchema = s.array(s.object({ versionId: s.string, label: s.string }))
const branchesSchema = s.array(s.object({ name: s.string }))

/** Bytes of the state of an empty editor. */
const emptyStateBytes = 2

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** Restores one document into a running server. */
export class RestoredDocumentWriter {
  readonly #source: RestoreSource
  readonly #view: DocumentView
  readonly #catalog: Catalog
  readonly #editors: string[] = []
  readonly #restored: Mutable<RestoredCounts> = { versions: 0, threads: 0, comments: 0, permissions: 0 }
  readonly #leftOut: Mutable<LeftOutCounts> = {
    branches: 0,
    schemas: 0,
    decisions: 0,
    suggestions: 0,
    versions: 0,
    permissions: 0,
    generations: 0,
    settings: 0,
  }

  constructor(source: RestoreSource, view: DocumentView) {
    this.#source = source
    this.#view = view
    this.#catalog = onlineCatalog(source.server)
  }

  async run(): Promise<DocumentResult> {
    const [editors, restored, leftOut] = [this.#editors, this.#restored, this.#leftOut]
    try {
      const { documentId } = this.#view.record
      const present = await this.#source.records.document(documentId)
      const exists = present !== null
      await (exists ? this.#change(present) : this.#create())
      await this.#addComments(!exists)
      const isChanged = editors.length + restored.threads + restored.comments > 0
      return { result: exists ? (isChanged ? 'changed' : 'same') : 'created', editors, restored, leftOut }
    } catch (error) {
      return { result: 'failed', editors, restored, leftOut, reason: errorMessage(error) }
    }
  }

  async #create(): Promise<void> {
    const { documentId, folderId, disabled } = this.#view.record
    const { isDryRun, backup, records } = this.#source
    this.#leftOut.branches = (await backup.branches(documentId)).length
    this.#leftOut.schemas = await backup.countSchemas(documentId)
    this.#leftOut.decisions = await backup.countDecisions(documentId)
    if (isDryRun) this.#countPermissions(await records.countPermissions(documentId))
    else {
      const { permissions, differing } = await records.addParents(await backup.folderPath(folderId))
      for (const counts of permissions) this.#countPermissions(counts)
      this.#leftOut.settings += differing
    }
    try {
      if (!isDryRun) await records.addDocument(this.#view)
      for await (const editor of backup.editors(documentId)) await this.#createEditor(editor)
      if (!isDryRun) this.#countPermissions(await records.completeDocument(this.#view))
    } catch (error) {
      const problem = `${errorMessage(error)}${disabled && !isDryRun ? await this.#disable() : ''}`
      throw new StorageError(
        `${problem}; the document may exist without some content or permissions, so delete it before you repeat the restore`,
        { cause: error },
      )
    }
  }

  /** Disables the document after a failure. Returns the end of the message if this fails. */
  async #disable(): Promise<string> {
    try {
      await this.#source.records.disable(this.#view.record.documentId)
      return ''
    } catch (error) {
      return `; the document could not be disabled again: ${errorMessage(error)}`
    }
  }

  #countPermissions({ restored, leftOut }: PermissionCounts): void {
    this.#restored.permissions += restored
    this.#leftOut.permissions += leftOut
  }

  async #change({ disabled, accessType, isComplete }: OnlineDocument): Promise<void> {
    if (!isComplete)
      throw new StorageError(
        'an earlier restore did not complete the document, so delete it before you repeat the restore',
      )
    const { backup } = this.#source
    const { record, accessType: pastAccessType } = this.#view
    const { documentId } = record
    const branches = await backup.branches(documentId)
    for await (const editor of backup.editors(documentId)) {
      const names = branches.filter(({ editorId }) => editorId === editor.editorId).map(({ name }) => name)
      await this.#changeEditor(editor, names)
    }
    this.#leftOut.settings = Number(disabled !== record.disabled) + Number(accessType !== pastAccessType)
  }

  /** @param branches names of the branches of the editor in the backup */
  async #changeEditor(editor: BackupEditor, branches: readonly string[]): Promise<void> {
    const { isDryRun, madeAt } = this.#source
    const path = this.#pathOf(editor)
    const found = await nullIfRefused(this.#catalog.content(path, { format: 'update' }), 'NOT_FOUND')
    if (found === null) {
      this.#leftOut.branches += branches.length
      await this.#createEditor(editor)
      return
    }
    await this.#countMissing(path, editor.versions, branches)
    const update = updateTo(editor.bytes, Buffer.from(String(found.data), 'base64'))
    if (update === null) return
    if (!isDryRun) {
      await this.#saveVersion(path, { label: `Before the restore from the backup of ${isoTime(madeAt)}` })
      await this.#catalog.apply(path, update)
    }
    this.#editors.push(editor.editorId)
  }

  /** Counts the versions and the branches that an editor of the server does not have. */
  async #countMissing(
    path: DocumentPath,
    versions: readonly VersionRecord[],
    branches: readonly string[],
  ): Promise<void> {
    const { server } = this.#source
    const present = new Set<string>()
    if (versions.length > 0)
      for await (const { versionId, label } of listOnline(
        server,
        '/v2/crdt/versions/list',
        path,
        versionsSchema,
      ))
        present.add(versionId).add(label)
    // A version that an earlier restore has created has another id.
    const isMissing = (version: VersionRecord): boolean =>
      !present.has(version.versionId) && !present.has(labelOf(version))
    this.#leftOut.versions += versions.filter(isMissing).length
    const names = new Set<string>()
    if (branches.length > 0)
      for await (const { name } of listOnline(server, '/v2/crdt/branches/list', path, branchesSchema))
        names.add(name)
    this.#leftOut.branches += branches.filter((name) => !names.has(name)).length
  }

  /**
   * Creates an editor with its versions. Each version is a state of the same log, so applying the states from the oldest
   * to the newest leads to the content of each version, and then to that of the editor.
   */
  async #createEditor(editor: BackupEditor): Promise<void> {
    const { isDryRun } = this.#source
    const path = this.#pathOf(editor)
    const versions = editor.versions
      .filter(({ sizeBytes }) => sizeBytes > emptyStateBytes)
      .slice(-versionLimits.manual)
    this.#leftOut.versions += editor.versions.length - versions.length
    this.#leftOut.generations += [...Y.parseUpdateMeta(editor.bytes).to.keys()].filter(isCopyClient).length
    for (const version of versions) {
      const { createdBy, metadata } = version
      if (!isDryRun) {
        await this.#catalog.apply(path, await editor.contentOf(version))
        const userId = createdBy === '' ? {} : { userId: createdBy }
        await this.#saveVersion(path, { label: labelOf(version), metadata, ...userId })
      }
      this.#restored.versions += 1
    }
    if (!isDryRun) await this.#catalog.apply(path, editor.bytes)
    this.#editors.push(editor.editorId)
  }

  async #saveVersion(path: DocumentPath, version: object): Promise<void> {
    await callOnline(this.#source.server, '/v2/crdt/versions/create', { ...path, ...version }, s.unknown)
  }

  async #addComments(isNew: boolean): Promise<void> {
    const { server, backup, organizationId, isDryRun } = this.#source
    const online = new OnlineComments(server, organizationId, isDryRun)
    for await (const thread of backup.threads(this.#view.record.documentId)) {
      const { threads, comments } = await online.restore(thread, isNew)
      this.#restored.threads += threads
      this.#restored.comments += comments
      const { suggestion } = thread.annotation
      if (threads > 0 && suggestion !== null && suggestion.status !== 'pending')
        this.#leftOut.suggestions += 1
    }
  }

  #pathOf({ editorId }: BackupEditor): DocumentPath {
    const { organizationId } = this.#source
    return { organizationId, documentId: this.#view.record.documentId, editorId }
  }
}

const isCopyClient = (client: number): boolean => client >= copyClientMin

const isoTime = (ms: number): string => new Date(ms).toISOString()

/** Returns the label of a restored version: its label, and the time at which it was created. */
function labelOf({ label, kind, createdAt }: VersionRecord): string {
  const time = `(${isoTime(createdAt)})`
  const name = label === '' ? (kind === 'automatic' ? 'Automatic version' : 'Version') : label
  return `${name.slice(0, versionLimits.labelCharacters - time.length - 1)} ${time}`
}

/**
 * Returns the update that gives an editor the content of a past state, as the restore of a version does; null if it has
 * this content.
 * @param past whole state (V1)
 * @param present whole state (V1)
 */
function updateTo(past: Uint8Array, present: Uint8Array): Uint8Array | null {
  const state = DocumentState.fromBytes(present, { isBounded: false })
  try {
    const vector = Y.encodeStateVector(state.doc)
    const { changed } = restoreIn(state, past)
    return changed ? Y.encodeStateAsUpdate(state.doc, vector) : null
  } finally {
    state.doc.destroy()
  }
}
