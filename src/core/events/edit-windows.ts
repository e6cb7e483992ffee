import { randomUUID } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import * as s from '../base/schema.ts'
import { readPayload } from '../jobs/job-payload.ts'
import type { DocumentAddress } from '../model/address.ts'
import { addressSchemas } from '../model/address-schemas.ts'
import {
  type CountingWindow,
  countIn,
  DebounceWindows,
  type EditAuthor,
  type EditListener,
  editorName,
  type StartedWindows,
  userName,
} from './debounce-windows.ts'

/** Queue of the edits whose activities must be recorded. */
export const editQueue = 'edits'

/** The edits of one user within a window. They become one activity. */
export interface UserEdit {
  readonly activityId: string
  readonly address: DocumentAddress
  readonly user: EditAuthor
  /** Time of the first commit, in epoch milliseconds. */
  readonly at: number
}

const userEditSchema = s.object({
  activityId: s.string,
  address: addressSchemas.document,
  user: s.object({ userId: s.string }, { name: s.string }),
  at: s.number,
})

/**
 * Decodes the edit from a job of `EditWindows`.
 * @throws MalformedJobError
 */
export const decodeUserEdit = (payload: Uint8Array): UserEdit => readPayload(userEditSchema, payload)

interface EditWindowsOptions {
  readonly clock: Clock
  /** Name of the queue for the jobs. */
  readonly queue: string
  readonly windowMs: number
  /** Author to record for edits without a user. Null: edits without a user are not recorded. */
  readonly unnamed: EditAuthor | null
  /** Called when jobs for edits have been enqueued. */
  readonly begun: () => void
  /**
   * Called when a window with several commits has ended; null: there is no callback.
   * @param commits number of commits in the whole window
   */
  readonly ended: ((edit: UserEdit, commits: number) => void) | null
}

/** Maximum number of users of one editor whose last windows are cached. */
const keptUsersMax = 1_000

/** Groups commits to an editor into windows. Each author of an editor has separate windows. */
export class EditWindows implements EditListener {
  readonly #options: EditWindowsOptions
  readonly #windows: DebounceWindows<UserEdit>
  /** The last window of each user of an editor, because a search by name costs more than the counting. */
  readonly #last = new WeakMap<DocumentAddress, Map<string, CountingWindow>>()

  constructor(options: EditWindowsOptions) {
    const { clock, windowMs, ended } = options
    this.#options = options
    const report = (edit: UserEdit, commits: number): void => {
      if (commits > 1) ended?.(edit, commits)
    }
    this.#windows = new DebounceWindows(clock, windowMs, ended === null ? null : report)
  }

  noted(address: DocumentAddress, editors: readonly EditAuthor[]): StartedWindows | null {
    let begun: Map<string, UserEdit> | null = null
    const last = this.#lastOf(address)
    const now = this.#options.clock.now()
    for (const known of distinct(editors)) {
      const user = known.userId === '' ? this.#options.unnamed : known
      if (user === null) continue
      if (countIn(last.get(user.userId), now)) continue
      if (last.size >= keptUsersMax) last.clear()
      const name = userName(address, user.userId)
      const open = this.#windows.count(name)
      if (open !== null) {
        last.set(user.userId, open)
        continue
      }
      const edit = this.#editOf(address, user)
      last.set(user.userId, this.#windows.begin(name, edit))
      begun = (begun ?? new Map<string, UserEdit>()).set(name, edit)
    }
    return begun === null ? null : this.#begun(begun)
  }

  /** Ends all windows immediately. */
  end(): void {
    this.#windows.end()
  }

  /** Removes the windows of all users of an editor. The next commit of each user then begins a new window. */
  forgetEditor(address: DocumentAddress): void {
    this.#windows.forgetAll(editorName(address))
  }

  /** Removes the windows of all editors. */
  forgetAll(): void {
    this.#windows.forgetAll('')
  }

  #lastOf(address: DocumentAddress): Map<string, CountingWindow> {
    const known = this.#last.get(address)
    if (known !== undefined) return known
    const last = new Map<string, CountingWindow>()
    this.#last.set(address, last)
    return last
  }

  #editOf(address: DocumentAddress, user: EditAuthor): UserEdit {
    const { workspaceId, apiKey, organizationId, documentId, editorId } = address
    return {
      activityId: randomUUID(),
      address: { workspaceId, apiKey, organizationId, documentId, editorId },
      user,
      at: this.#options.clock.now(),
    }
  }

  #begun(edits: ReadonlyMap<string, UserEdit>): StartedWindows {
    const { queue } = this.#options
    return {
      jobs: [...edits.values()].map((edit) => ({
        queue,
        id: randomUUID(),
        isNew: true,
        at: 0,
        payload: Buffer.from(JSON.stringify(edit)),
      })),
      stored: this.#options.begun,
      lost: () => {
        for (const name of edits.keys()) this.#windows.forget(name)
      },
    }
  }
}

/** Returns the first author entry of each user. Most commits have only one author. */
function distinct(editors: readonly EditAuthor[]): readonly EditAuthor[] {
  if (editors.length === 1) return editors
  const first = new Map<string, EditAuthor>()
  for (const editor of editors) if (!first.has(editor.userId)) first.set(editor.userId, editor)
  return [...first.values()]
}
