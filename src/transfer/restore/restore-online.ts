import * as v from 'valibot'
import * as Y from 'yjs'
import type { DocumentView } from '../../directory/documents/document-views.ts'
import { errorMessage } from '../../errors.ts'
import type { DocumentPath } from '../../model/address.ts'
import { restoreWithinLimit } from '../../rooms/edits/size-check.ts'
import { DocumentState } from '../../rooms/room/document-state.ts'
import { openForReading } from '../../storage/offline-store.ts'
import { applyOnline, readOnline } from '../documents/document-online.ts'
import { callOnline, nullIfNotFound, type OnlineServer } from '../documents/rest-client.ts'
import { BackupDocuments } from './backup-documents.ts'
import { OnlineRecords } from './online-records.ts'
import type { RestoreSelection } from './restore-selection.ts'

/** Result of the restore of one document into a running server. */
export interface OneRestored {
  readonly organizationId: string
  readonly documentId: string
  /**
   * `created`: it did not exist. `changed`: at least one editor got other content. `same`: nothing changed. `failed`:
   * see `reason`; some editors may have been restored.
   */
  readonly result: 'created' | 'changed' | 'same' | 'failed'
  /** Ids of the editors that were created or changed. */
  readonly editors: readonly string[]
  readonly reason?: string
}

export interface OnlineRestoreOptions {
  readonly server: OnlineServer
  readonly selection: RestoreSelection
  /** Time of the backup, in epoch milliseconds. */
  readonly madeAt: number
  /** True: nothing is changed, and the results are those of a restore. */
  readonly isDryRun: boolean
}

/**
 * Gives the selected documents of a running server the content that they have in a backup. Existing editors are
 * edited, so that connected clients see the change; their content before is saved as a version. Missing documents and
 * editors are created. Editors that only the server has stay as they are, and so do all other documents.
 * @param directory data directory that was created from the backup
 * @throws StorageError if the backup does not have the selection, or if the server cannot be reached or rejects the
 * credentials before the first document
 */
export async function* restoreIntoServer(
  directory: string,
  options: OnlineRestoreOptions,
): AsyncGenerator<OneRestored> {
  const { server, selection } = options
  const store = await openForReading(directory)
  try {
    const backup = await BackupDocuments.open(store.engine, server.apiKey, selection)
    const records = new OnlineRecords(server, await backup.organization())
    let isReached = false
    for await (const view of backup.documents()) {
      const { organizationId } = selection
      const { documentId } = view.record
      if (!isReached) await records.hasDocument(documentId)
      isReached = true
      const done = await new RestoredDocumentWriter(options, backup, records, view).run()
      yield { organizationId, documentId, ...done }
    }
  } finally {
    await store.close()
  }
}

class RestoredDocumentWriter {
  readonly #options: OnlineRestoreOptions
  readonly #backup: BackupDocuments
  readonly #records: OnlineRecords
  readonly #view: DocumentView
  readonly #editors: string[] = []

  constructor(
    options: OnlineRestoreOptions,
    backup: BackupDocuments,
    records: OnlineRecords,
    view: DocumentView,
  ) {
    this.#options = options
    this.#backup = backup
    this.#records = records
    this.#view = view
  }

  async run(): Promise<Pick<OneRestored, 'result' | 'editors' | 'reason'>> {
    const editors = this.#editors
    try {
      const exists = await this.#records.hasDocument(this.#view.record.documentId)
      await (exists ? this.#change() : this.#create())
      return { result: exists ? (editors.length > 0 ? 'changed' : 'same') : 'created', editors }
    } catch (error) {
      return { result: 'failed', editors, reason: errorMessage(error) }
    }
  }

  async #create(): Promise<void> {
    const { documentId, folderId, disabled } = this.#view.record
    const { isDryRun, server } = this.#options
    if (!isDryRun) await this.#records.addDocument(this.#view, await this.#backup.folderPath(folderId))
    try {
      for await (const { editorId, bytes } of this.#backup.editors(documentId)) {
        if (!isDryRun) await applyOnline(server, this.#pathOf(editorId), bytes)
        this.#editors.push(editorId)
      }
    } finally {
      // Also after a failure, because users must not get access to a disabled document.
      if (disabled && !isDryRun) await this.#records.disable(documentId)
    }
  }

  async #change(): Promise<void> {
    for await (const { editorId, bytes } of this.#backup.editors(this.#view.record.documentId))
      if (await this.#restoreEditor(this.#pathOf(editorId), bytes)) this.#editors.push(editorId)
  }

  /** Returns whether the editor was created or changed. */
  async #restoreEditor(path: DocumentPath, past: Uint8Array): Promise<boolean> {
    const { server, isDryRun, madeAt } = this.#options
    const found = await nullIfNotFound(readOnline(server, path, { format: 'update' }))
    const update = found === null ? past : updateTo(past, Buffer.from(String(found.data), 'base64'))
    if (update === null) return false
    if (isDryRun) return true
    if (found !== null) {
      const label = `Before the restore from the backup of ${new Date(madeAt).toISOString()}`
      await callOnline(server, '/v2/crdt/versions/create', { ...path, label }, v.unknown())
    }
    await applyOnline(server, path, update)
    return true
  }

  #pathOf(editorId: string): DocumentPath {
    const { organizationId } = this.#options.selection
    return { organizationId, documentId: this.#view.record.documentId, editorId }
  }
}

/**
 * Returns the update that gives a document the content of a past state, as the restore of a version does; null if it
 * has this content.
 * @param past whole state (V1)
 * @param present whole state (V1)
 */
function updateTo(past: Uint8Array, present: Uint8Array): Uint8Array | null {
  const state = DocumentState.fromBytes(present, { isBounded: false })
  try {
    const vector = Y.encodeStateVector(state.doc)
    const { changed } = restoreWithinLimit(state, past, Number.POSITIVE_INFINITY, null)
    return changed ? Y.encodeStateAsUpdate(state.doc, vector) : null
  } finally {
    state.doc.destroy()
  }
}
