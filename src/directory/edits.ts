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
  /** As of `EditWindows`. */
  readonly sharedBy: string | null
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
    const { queue, clock, log, windowMs, sharedBy } = options
    const carryOut = (payload: Uint8Array, attempt: number): Promise<void> => this.#change(payload, attempt)
    this.#loop = new JobLoop({ queue, name: editQueue, clock, log, atOnceMax, carryOut })
    this.windows = new EditWindows({
      clock,
      queue: editQueue,
      windowMs,
      sharedBy,
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

  /** Only what comes for the first time counts where the activity is there: another node has made it. */
  #change(payload: Uint8Array, attempt: number): Promise<void> {
    const edit = editOf(payload)
    return this.#write(edit, (transaction) => begin(transaction, edit, attempt === 1 ? 1 : 0))
  }

  /** What is missing then is the number only. The first commit has been counted. */
  #count(edit: Edit, commits: number): void {
    const counted = this.#write(edit, (transaction) => addCommits(transaction, edit, commits - 1))
      .catch((err: unknown) => this.#options.log.warn({ err }, 'edits could not be counted'))
      .finally(() => this.#counting.delete(counted))
    this.#counting.add(counted)
  }

  /** Nothing for a document that is gone. */
  #write({ address }: Edit, write: (transaction: Transaction) => Promise<unknown>): Promise<void> {
    return this.#options.store.change(address, async (transaction) => {
      const missing = await missingOf(transaction, [{ type: 'document', id: address.documentId }])
      if (missing.length === 0) await write(transaction)
    })
  }
}

/** Makes the activity of a window, or counts with it. What was deleted does not come back. */
async function begin(transaction: Transaction, edit: Edit, commits: number): Promise<void> {
  if (await addCommits(transaction, edit, commits)) return
  const { at } = edit
  const isErased = await isErasedSince(transaction, edit.user.userId, at)
  await writeActivities(transaction, [activityOf({ ...edit, user: isErased ? deletedUser : edit.user })], at)
}

/** False when there is no such activity. */
async function addCommits(
  transaction: Transaction,
  { activityId, at }: Edit,
  commits: number,
): Promise<boolean> {
  const known = (await readActivities(transaction, [activityId])).get(activityId)
  if (known === undefined) return false
  const counted = Number(known.changes?.commits ?? 0) + commits
  if (commits > 0)
    await writeActivities(transaction, [{ ...known, changes: { ...known.changes, commits: counted } }], at)
  return true
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
