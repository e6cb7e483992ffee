import { randomUUID } from 'node:crypto'
import type { ActionUser, ActivityEvent } from '../../events/activity.ts'
import { readActivities, writeActivities } from '../../events/activity-store.ts'
import { type ContentDeletion, deletionJob } from '../../events/change-jobs.ts'
import { decodeUserEdit, EditWindows, editQueue, type UserEdit } from '../../events/edit-windows.ts'
import type { EventRecorder } from '../../events/event-recorder.ts'
import { eventTypesByActivity } from '../../events/outbound-event.ts'
import { JobConsumer } from '../../jobs/job-consumer.ts'
import { type DocumentAddress, organizationPrefix } from '../../model/address.ts'
import { deletedUser } from '../../model/named-users.ts'
import type { Engine } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import type { DirectoryOptions } from '../directory-options.ts'
import { areUsersErased, isUserErased } from '../organizations/erased-users.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import type { Transaction } from '../store/transaction.ts'
import { findMissing } from './resource-lookup.ts'

/**
 * Maximum number of edits that are recorded in one transaction, or in parallel. A transaction with 32 edits
 * takes about 10 ms of the event loop, and one with 256 took 60 to 80 ms.
 */
const atOnce = 32

/** The acting user of calls that do not specify a user. */
const unnamed: ActionUser = { userId: 'api' }

/**
 * Records edits of documents as activities of the type `crdt.editor_edit`: one for each combination of
 * editor, user and window.
 */
export class EditActivityRecorder {
  /** The open windows. They receive the commits of rooms. */
  readonly windows: EditWindows
  readonly #options: Pick<DirectoryOptions, 'store' | 'events' | 'clock' | 'log'>
  readonly #counting = new Set<Promise<void>>()
  readonly #consumer: JobConsumer

  constructor({ queue }: Pick<Engine, 'queue'>, options: DirectoryOptions) {
    this.#options = options
    const { clock, log, editWindowMs } = options
    this.#consumer = new JobConsumer({
      queue,
      name: editQueue,
      clock,
      log,
      atOnce,
      carryOut: async ({ payload }) => {
        const edit = decodeUserEdit(payload)
        await this.#write(edit, (transaction) => begin(transaction, edit))
        return 'done'
      },
      groups: {
        nameOf: ({ payload }) => keyName(organizationPrefix(decodeUserEdit(payload).address)),
        carryOut: (jobs) => this.#beginAll(jobs.map(({ payload }) => decodeUserEdit(payload))),
      },
    })
    this.windows = new EditWindows({
      clock,
      queue: editQueue,
      windowMs: editWindowMs,
      unnamed,
      begun: () => this.#consumer.wake(),
      ended: (edit, commits) => this.#count(edit, commits),
    })
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
    const user = userId === '' ? unnamed : { userId }
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

  /** Ends all windows. Resolves when all edits are recorded. Call this method when the rooms are closed. */
  async stop(): Promise<void> {
    await this.#consumer.stop()
    this.windows.end()
    await Promise.all(this.#counting)
  }

  /**
   * Creates the activities of edits in one organization, in one transaction. Reads all records that the edits
   * need with few reads.
   */
  async #beginAll(edits: readonly UserEdit[]): Promise<void> {
    const [first] = edits
    if (first === undefined) return
    await this.#options.store.change(first.address, async (transaction) => {
      const documents = new Set(edits.map(({ address }) => address.documentId))
      const resources = [...documents].map((id) => ({ type: 'document', id }) as const)
      const missing = new Set((await findMissing(transaction, resources)).map(({ id }) => id))
      const left = edits.filter(({ address }) => !missing.has(address.documentId))
      await readActivities(
        transaction,
        left.map(({ activityId }) => activityId),
      )
      await areUsersErased(
        transaction,
        left.map(({ user, at }) => ({ userId: user.userId, at })),
      )
      for (const edit of left) await begin(transaction, edit)
    })
  }

  /**
   * Adds the commits of a window to the count of its activity, except the first commit, which is counted
   * already. If this fails, the only effect is that the count is too low.
   */
  #count(edit: UserEdit, commits: number): void {
    const counted = this.#write(edit, (transaction) => addCommits(transaction, edit, commits - 1))
      .catch((err: unknown) => this.#options.log.warn({ err }, 'could not record edit activity'))
      .finally(() => this.#counting.delete(counted))
    this.#counting.add(counted)
  }

  /** Runs `write` in a transaction. Writes nothing if the document is deleted. */
  #write({ address }: UserEdit, write: (transaction: Transaction) => Promise<unknown>): Promise<void> {
    return this.#options.store.change(address, async (transaction) => {
      const missing = await findMissing(transaction, [{ type: 'document', id: address.documentId }])
      if (missing.length === 0) await write(transaction)
    })
  }
}

/**
 * Creates the activity of a window. It exists if this is another attempt of its job. If the data of the user was
 * deleted in the meantime, the activity does not contain the user's name.
 */
async function begin(transaction: Transaction, edit: UserEdit): Promise<void> {
  const { activityId, at } = edit
  if ((await readActivities(transaction, [activityId])).has(activityId)) return
  const isErased = await isUserErased(transaction, edit.user.userId, at)
  await writeActivities(transaction, [activityOf({ ...edit, user: isErased ? deletedUser : edit.user })], at)
}

/** Adds commits to the count of an activity. Does nothing if the activity does not exist. */
async function addCommits(
  transaction: Transaction,
  { activityId, at }: UserEdit,
  commits: number,
): Promise<void> {
  const known = (await readActivities(transaction, [activityId])).get(activityId)
  if (known === undefined) return
  const counted = Number(known.changes?.commits ?? 0) + commits
  await writeActivities(transaction, [{ ...known, changes: { ...known.changes, commits: counted } }], at)
}

const activityOf = ({ activityId, address, user }: UserEdit): ActivityEvent => ({
  id: activityId,
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
