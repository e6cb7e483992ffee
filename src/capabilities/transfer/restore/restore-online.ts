import type { OrganizationScope } from '../../../core/directory/organizations/organization-keys.ts'
import { openForReading } from '../../backups/storage/offline-store.ts'
import type { OnlineServer } from '../documents/rest-client.ts'
import { BackupDocuments } from './backup-documents.ts'
import { OnlineRecords } from './online-records.ts'
import type { RestoreSelection } from './restore-selection.ts'
import { type DocumentResult, RestoredDocumentWriter } from './restored-document-writer.ts'

/** Result of the restore of one document into a running server. */
export interface OneRestored extends DocumentResult {
  readonly organizationId: string
  readonly documentId: string
}

export interface OnlineRestoreOptions {
  readonly server: OnlineServer
  /** The organization in the backup. */
  readonly scope: OrganizationScope
  readonly selection: RestoreSelection
  /** Time of the backup, in epoch milliseconds. */
  readonly madeAt: number
  /** True: nothing is changed, and the results are those of a restore. */
  readonly isDryRun: boolean
}

/**
 * Gives the selected documents of a running server the content that they have in a backup. Existing editors are
 * edited, so that connected clients see the change; their content before is saved as a version. Missing documents,
 * editors, comment threads and comments are created. Records that only the server has stay as they are, and so do all
 * other documents.
 * @param directory data directory that was created from the backup
 * @throws StorageError if the backup does not have the selection, or if the server cannot be reached or rejects the
 * credentials before the first document
 */
export async function* restoreIntoServer(
  directory: string,
  { server, scope, selection, madeAt, isDryRun }: OnlineRestoreOptions,
): AsyncGenerator<OneRestored> {
  const { organizationId } = selection
  const engine = await openForReading(directory)
  try {
    const backup = new BackupDocuments(engine, scope, selection)
    const records = new OnlineRecords(server, await backup.organization(), backup)
    const source = { server, backup, records, organizationId, madeAt, isDryRun }
    let isReached = false
    for await (const view of backup.documents()) {
      const { documentId } = view.record
      if (!isReached) await records.document(documentId)
      isReached = true
      yield { organizationId, documentId, ...(await new RestoredDocumentWriter(source, view).run()) }
    }
  } finally {
    await engine.close()
  }
}
