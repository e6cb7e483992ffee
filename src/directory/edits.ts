import type { Clock } from '../clock.ts'
import type { ClaimedJob, Queue } from '../engine/engine.ts'
import type { ActivityEvent } from '../events/activity.ts'
import { type Edit, EditWindows, editOf, editQueue } from '../events/edit-windows.ts'
import { readActivities, writeActivities } from '../events/record.ts'
import type { Log } from '../log.ts'
import { deletedUser } from '../model/named-users.ts'
import { isErasedSince } from './erased-users.ts'
import type { OrganizationStore } from './organization-store.ts'
import { missingOf } from './places.ts'
import type { Transaction } from './transaction.ts'

/** Edits that are recorded at the same time. */
const atOnceMax = 64
/** An edit of a process that has died is recorded by the next one after this. */
const leaseMs = 10_000
/** How often edits are looked for that nobody has told of: those of a process that has died, or failed ones. */
const pollMs = 5_000

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
  #recording: Promise<void> | null = null
  #again = false
  #cancelPoll: () => void = () => {}

  constructor(options: EditsOptions) {
    this.#options = options
    this.windows = new EditWindows({
      clock: options.clock,
      windowMs: options.windowMs,
      begun: () => this.#wake(),
      ended: (edit, commits) => this.#count(edit, commits),
    })
  }

  /** Begins to record, also what a crash has left. */
  start(): void {
    this.#wake()
    this.#cancelPoll = this.#options.clock.after(pollMs, () => this.start())
  }

  /** Ends every window; resolves when all is recorded. To be called when rooms are closed. */
  async stop(): Promise<void> {
    this.#cancelPoll()
    await this.#recording
    this.windows.end()
    await Promise.all(this.#counting)
  }

  #wake(): void {
    this.#again = true
    this.#recording ??= this.#record().finally(() => {
      this.#recording = null
    })
  }

  async #record(): Promise<void> {
    const { queue, log } = this.#options
    try {
      while (this.#again) {
        this.#again = false
        const jobs = await queue.claim(editQueue, atOnceMax, leaseMs)
        if (jobs.length > 0) this.#again = true
        await Promise.all(jobs.map((job) => this.#carryOut(job)))
      }
    } catch (err) {
      log.warn({ err }, 'edits cannot be recorded; it is tried again')
    }
  }

  async #carryOut({ payload, token }: ClaimedJob): Promise<void> {
    await this.#write(editOf(payload), 1)
    await this.#options.queue.done(token)
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
