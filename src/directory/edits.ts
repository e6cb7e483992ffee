import type { Clock } from '../clock.ts'
import type { Queue } from '../engine/engine.ts'
import type { ActivityEvent } from '../events/activity.ts'
import { type Edit, EditWindows, editOf, editQueue } from '../events/edit-windows.ts'
import { readActivities, writeActivities } from '../events/record.ts'
import type { Log } from '../log.ts'
import { deletedUser } from '../model/named-users.ts'
import { isErasedSince } from './erased-users.ts'
import { JobLoop } from './job-loop.ts'
import type { OrganizationStore } from './organization-store.ts'
import { missingOf } from './places.ts'
import type { Transaction } from './transaction.ts'

/** Edits that are recorded at the same time: more would hold up those who type. */
const atOnceMax = 16

export interface EditsOptions {
  readonly store: OrganizationStore
  readonly queue: Queue
  readonly clock: Clock
  readonly log: Log
  /** One activity stands for the commits of a user to an editor in this time. */
  readonly windowMs: number
}

/** Records who edits documents: one activity `crdt.editor_edit` for each editor, user and window. */
export class Edits {
  /** For rooms, to note commits. */
  readonly windows: EditWindows
  readonly #options: EditsOptions
  readonly #counting = new Set<Promise<void>>()
  readonly #loop: JobLoop

  constructor(options: EditsOptions) {
    this.#options = options
    const { queue, clock, log, windowMs } = options
    const carryOut = (payload: Uint8Array): Promise<void> => this.#write(editOf(payload), 1)
    this.#loop = new JobLoop({ queue, name: editQueue, clock, log, atOnceMax, carryOut })
    this.windows = new EditWindows({
      clock,
      queue: editQueue,
      windowMs,
      begun: () => this.#loop.wake(),
      ended: (edit, commits) => this.#count(edit, commits),
    })
  }

  /** Begins to record, also what a crash has left. */
  start(): void {
    this.#loop.start()
  }

  /** Ends every window; resolves when all is recorded. To be called when rooms are closed. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    this.windows.end()
    await Promise.all(this.#counting)
  }

  /** What is missing then is the number only. */
  #count(edit: Edit, commits: number): void {
    const counted = this.#write(edit, commits)
      .catch((err: unknown) => this.#options.log.warn({ err }, 'edits could not be counted'))
      .finally(() => this.#counting.delete(counted))
    this.#counting.add(counted)
  }

  #write(edit: Edit, commits: number): Promise<void> {
    return this.#options.store.change(edit.address, (transaction) => writeEdit(transaction, edit, commits))
  }
}

/** Nothing for a document that is gone. A job that comes again changes nothing; what was deleted does not come back. */
async function writeEdit(transaction: Transaction, edit: Edit, commits: number): Promise<void> {
  const { activityId, address, at } = edit
  if ((await missingOf(transaction, [{ type: 'document', id: address.documentId }])).length > 0) return
  const known = (await readActivities(transaction, [activityId])).get(activityId)
  if (known === undefined && commits === 1) {
    const isErased = await isErasedSince(transaction, edit.user.userId, at)
    const user = isErased ? deletedUser : edit.user
    return writeActivities(transaction, [activityOf({ ...edit, user })], at)
  }
  if (known === undefined || commits === 1) return
  await writeActivities(transaction, [{ ...known, changes: { ...known.changes, commits } }], at)
}

const activityOf = ({ activityId, address, user }: Edit): ActivityEvent => ({
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
