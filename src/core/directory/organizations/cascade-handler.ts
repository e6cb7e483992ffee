import type { CheckLease } from '../../jobs/task-worker.ts'
import type { DocumentAddress } from '../../model/address.ts'
import type { Key } from '../../store/engine.ts'
import type { Transaction } from '../store/transaction.ts'
import type { OrganizationScope, Subject } from './organization-keys.ts'

/**
 * Removes the data that a module other than the directory stores for documents, organizations, users or
 * groups. The directory calls the handlers of all modules in the order of their list.
 */
export interface CascadeHandler {
  /**
   * Removes the data of documents that are marked as being deleted. Called again if an attempt fails.
   * @param goOn must be called between commits; throws if the work must end
   */
  removeDocuments?(scope: OrganizationScope, documentIds: readonly string[], goOn: CheckLease): Promise<void>
  /**
   * Removes the data of an organization that is not in the partition of the organization. The directory
   * removes the partition.
   * @param goOn must be called between commits; throws if the work must end
   */
  removeOrganization?(scope: OrganizationScope, goOn: CheckLease): Promise<void>
  /** Removes the data of a branch that is being deleted, except its record and its log. Called again as above. */
  removeBranch?(branch: DocumentAddress & OrganizationScope, goOn: CheckLease): Promise<void>
  /**
   * Returns whether a deleted branch can follow its editor again.
   * @param kept address of the content of the branch
   * @param editor the editor from which it was created
   * @param schema schema of the editor at the deletion
   */
  canFollow?(
    kept: DocumentAddress,
    editor: DocumentAddress,
    schema: { readonly schema: string; readonly version: number } | undefined,
  ): Promise<boolean>
  /**
   * Changes the records of deleted documents before they move back. Called again if an attempt fails.
   * @param from the organization that has the records
   * @param into the organization that has the logs of the documents again, which have a new epoch
   */
  beforeRestore?(from: OrganizationScope, into: OrganizationScope, goOn: CheckLease): Promise<void>
  readonly subjects?: SubjectDataHandler
}

/** Removes the data that a module stores for users and groups of an organization. */
export interface SubjectDataHandler {
  /** Returns the index ranges that contain the data of a subject. The directory counts their entries. */
  ranges(subject: Subject): readonly Key[]
  /**
   * Removes up to `limit` entries of each range, in the transaction. Returns the number of removed entries.
   */
  removeSome(transaction: Transaction, subject: Subject, limit: number): Promise<number>
}
