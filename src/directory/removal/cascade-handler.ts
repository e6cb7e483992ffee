import type { Key } from '../../engine/engine.ts'
import type { CheckLease } from '../../jobs/task-worker.ts'
import type { OrganizationScope, Subject } from '../organizations/organization-keys.ts'
import type { Transaction } from '../store/transaction.ts'

/**
 * Removes the data that another module stores for documents, organizations, users or groups. The directory
 * calls the handlers of all modules in the order of their list.
 */
export interface CascadeHandler {
  /**
   * Removes data of documents that are marked as being deleted. If an attempt fails, the method is called
   * again.
   * @param goOn must be called between commits; throws if the work must end
   */
  removeDocuments?(scope: OrganizationScope, documentIds: readonly string[], goOn: CheckLease): Promise<void>
  /**
   * Removes data of an organization that is outside its partition. The directory removes the partition
   * itself.
   * @param goOn must be called between commits; throws if the work must end
   */
  removeOrganization?(scope: OrganizationScope, goOn: CheckLease): Promise<void>
  readonly subjects?: SubjectDataHandler
}

/** Removes the data that a module stores for users and groups of an organization. */
export interface SubjectDataHandler {
  /** Returns the index ranges of the data. The directory counts their entries. */
  ranges(subject: Subject): readonly Key[]
  /** Removes up to `limit` entries of each range in the transaction; returns the number of removed entries. */
  removeSome(transaction: Transaction, subject: Subject, limit: number): Promise<number>
}
