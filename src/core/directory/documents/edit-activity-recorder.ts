import { randomUUID } from 'node:crypto'
import type { ActionUser, ActivityEvent } from '../../events/activity.ts'
import { putNewActivities, readActivities, writeActivities } from '../../events/activity-store.ts'
import { type ContentDeletion, deletionJob } from '../../events/change-jobs.ts'
import {
  decodeUserEdit,
  EditWindows,
  editQueue,
  type UserEdit,
  unnamedUser,
} from '../../events/edit-windows.ts'
import type { EventRecorder } from '../../events/event-recorder.ts'
import { eventTypesByActivity } from '../../events/outbound-event.ts'
import { JobConsumer } from '../../jobs/job-consumer.ts'
import { type DocumentAddress, organizationPrefix } from '../../model/address.ts'
import { deletedUser } from '../../model/named-users.ts'
import type { Engine } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import type { DirectoryOptions } from '../directory-options.ts'
import { areUsersErased } from '../organizations/erased-users.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import type { Transaction } from '../store/transaction.ts'
import { findMissing } from './resource-lookup.ts'

/**
 * Maximum number of edits that are recorded in one transaction, or in parallel. A transaction with 32 edits
 * takes about 10 ms of the event loop, and one with 256 took 60 to 80 ms.
 */
const atOnce = 32

/** An edit that makes its user an author. */
export type AuthorEdit = Pick<UserEdit, 'address' | 'user' | 'at'>

/** Records the users who have edited. */
interface AuthorRecorder {
  /**
   * Records authors in one organization, in the transaction of their activities. If the data of a user was deleted
   * after the edit, the user is the deleted user.
   */
  readonly record: (transaction: Transaction, edits: readonly AuthorEdit[]) => Promise<void>
  /** Called when the transaction is committed. */
  readonly recorded: (edits: readonly AuthorEdit[]) => Promise<void>
}

/**
 * Records edits of documents as activities of the type `crdt.editor_edit`: one for each combination of
 * editor, user and window. Also passes on their users as authors.
 */
export class EditActivityRecorder {
  /** The open windows. They receive the commits of rooms. */
  readonly windows: EditWindows
  readonly #options: Pick<DirectoryOptions, 'store' | 'events' | 'clock' | 'log'>
  readonly #counting = new Set<Promise<void>>()
  readonly #consumer: JobConsumer
  /** Null: authors are not recorded. */
  #authors: AuthorRecorder | null = null

  constructor({ queue, cluster }: Pick<Engine, 'queue' | 'cluster'>, options: DirectoryOptions) {
    this.#options = options
    const { clock, log, editWindowMs } = options
    this.#consumer = new JobConsumer({
      queue,
      name: editQueue,
      clock,
      log,
      atOnce,
      carryOut: async ({ payload }) => {
        await this.record([decodeUserEdit(payload)])
        return 'done'
      },
      groups: {
        nameOf: ({ payload }) => keyName(organizationPrefix(decodeUserEdit(payload).address)),
        carryOut: (jobs) => this.record(jobs.map(({ payload }) => decodeUserEdit(payload))),
      },
    })
    this.windows = new EditWindows({
      clock,
      windowMs: editWindowMs,
      begun: () => this.#consumer.wake(),
      ended: (edit, commits) => this.#count(edit, commits),
    })
    // A document that moves to another node may get versions there, and then move back. All authors are therefore
    // recorded again, which is harmless and costs one job for each author.
    cluster.on('change', () => this.windows.renewAll())
  }

  /** Sets the recorder of authors. Call this method before `start`. */
  recordAuthors(authors: AuthorRecorder): void {
    this.#authors = authors
  }

  /** Starts to record edits. Also records the edits that were not recorded because of a crash. */
  start(): void {
    this.#consumer.start()
  }

  /**
   * Announces that the content of an editor will be deleted, so that the change feed has the deletion even if the
   * server is killed meanwhile.
   * @param epoch epoch of the content; null if the content is damaged
   * @returns the parameter of `recordDeletion`
   */
  async announceDeletion(
    address: DocumentAddress,
    userId: string,
    epoch: number | null,
  ): Promise<ContentDeletion> {
    const { store, clock, events } = this.#options
    const user = userId === '' ? unnamedUser : { userId }
    const deletion = { address, id: events.nextId(), epoch, user, at: clock.now() }
    await tellFeedOfDeletion(store, events, deletion, 'before')
    return deletion
  }

  /** Records that the content of an editor was deleted. Records no activity if the document is deleted. */
  async recordDeletion(deletion: ContentDeletion): Promise<void> {
    const { store, events } = this.#options
    const { address, user } = deletion
    await tellFeedOfDeletion(store, events, deletion, 'after')
    await store.change(address, async (transaction) => {
      const { documentId, editorId } = address
      const missing = await findMissing(transaction, [{ type: 'document', id: documentId }])
      if (missing.length > 0) return
      const outbound = {
        type: eventTypesByActivity['crdt.editor_delete'],
        documentId,
        actionUser: user,
        data: { editorId },
      } as const
      events.recordNew(transaction, address, [{ activity: deletionOf(address, user), outbound }])
    })
  }

  /** Resolves when all edits that are durable now are recorded, or have failed. */
  drain(): Promise<void> {
    return this.#consumer.drain()
  }

  /** Ends all windows. Resolves when all edits are recorded. Call this method when the rooms are closed. */
  async stop(): Promise<void> {
    await this.#consumer.stop()
    this.windows.end()
    await Promise.all(this.#counting)
  }

  /**
   * Records edits in one organization, in one transaction. Reads all records that the edits need with few reads. An
   * activity exists if this is another attempt of its job. If the data of a user was deleted in the meantime, the
   * records do not contain the user.
   */
  async record(edits: readonly UserEdit[]): Promise<void> {
    const [first] = edits
    if (first === undefined) return
    const authors = await this.#options.store.carryOut(first.address, async (transaction) => {
      const documents = new Set(edits.map(({ address }) => address.documentId))
      const resources = [...documents].map((id) => ({ type: 'document', id }) as const)
      const missing = new Set((await findMissing(transaction, resources)).map(({ id }) => id))
      const left = edits.filter(({ address }) => !missing.has(address.documentId))
      const ids = left.flatMap(({ activityId }) => activityId ?? [])
      const known = await readActivities(transaction, ids)
      const users = left.map(({ user, at }) => ({ userId: user.userId, at }))
      const erased = await areUsersErased(transaction, users)
      const clean = left.map((edit, index) =>
        erased[index] === true ? { ...edit, user: deletedUser } : edit,
      )
      for (const edit of clean)
        if (edit.activityId !== undefined && !known.has(edit.activityId))
          putNewActivities(transaction, [activityOf(edit, edit.activityId)], edit.at)
      const named = clean.filter(({ isAuthor }) => isAuthor === true)
      await this.#authors?.record(transaction, named)
      return named
    })
    await this.#authors?.recorded(authors)
  }

  /**
   * Adds the commits of a window to the count of its activity, except the first commit, which is counted
   * already. If this fails, the only effect is that the count is too low.
   */
  #count(edit: UserEdit, commits: number): void {
    const counted = this.#addCommits(edit, commits - 1)
      .catch((err: unknown) => this.#options.log.warn({ err }, 'could not record edit activity'))
      .finally(() => this.#counting.delete(counted))
    this.#counting.add(counted)
  }

  /** Adds commits to the count of an activity. Does nothing if the activity or its document does not exist. */
  #addCommits({ activityId = '', address, at }: UserEdit, commits: number): Promise<void> {
    return this.#options.store.carryOut(address, async (transaction) => {
      const missing = await findMissing(transaction, [{ type: 'document', id: address.documentId }])
      if (missing.length > 0) return
      const known = (await readActivities(transaction, [activityId])).get(activityId)
      if (known === undefined) return
      const counted = Number(known.changes?.commits ?? 0) + commits
      await writeActivities(transaction, [{ ...known, changes: { ...known.changes, commits: counted } }], at)
    })
  }
}

const activityOf = ({ address, user }: UserEdit, id: string): ActivityEvent => ({
  id,
  documentId: address.documentId,
  featureType: 'crdt',
  actionType: 'crdt.editor_edit',
  actionUser: user,
  targetEntityId: address.editorId,
  changes: { commits: 1 },
  displayMessageTemplate: '{{user}} edited {{editorId}}',
  displayMessageTemplateData: { user, editorId: address.editorId },
})

const deletionOf = ({ documentId, editorId }: DocumentAddress, user: ActionUser): ActivityEvent => ({
  id: randomUUID(),
  documentId,
  featureType: 'crdt',
  actionType: 'crdt.editor_delete',
  actionUser: user,
  targetEntityId: editorId,
  displayMessageTemplate: '{{user}} deleted the content of {{editorId}}',
  displayMessageTemplateData: { user, editorId },
})

/** Adds the event of a deletion of content to the change feed. Call it before the deletion and after it. */
export async function tellFeedOfDeletion(
  store: OrganizationStore,
  events: EventRecorder,
  deletion: ContentDeletion,
  when: 'before' | 'after',
): Promise<void> {
  const { address } = deletion
  if (!events.wants(address, 'crdt.delete_data')) return
  await store.carryOut(address, async (transaction) => transaction.enqueue(deletionJob(deletion, when)))
}
