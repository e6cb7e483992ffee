import { randomUUID } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { memoized } from '../base/maps.ts'
import * as s from '../base/schema.ts'
import { readPayload } from '../jobs/job-payload.ts'
import type { DocumentAddress } from '../model/address.ts'
import { addressSchemas } from '../model/address-schemas.ts'
import type { ActionUser } from './activity.ts'
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

/** Queue of the edits that must be recorded. */
export const editQueue = 'edits'

/** An edit that must be recorded: the first one of a user within a window, or after `renew`. */
export interface UserEdit {
  /** Id of the activity of the window; absent after `renew`, because the activity is recorded already. */
  readonly activityId?: string | undefined
  readonly address: DocumentAddress
  readonly user: EditAuthor
  /** Time of the commit, in epoch milliseconds. */
  readonly at: number
  /** True if the user is an author of the document. False for edits without a user, and in jobs of older versions. */
  readonly isAuthor?: boolean | undefined
}

const userEditSchema = s.object(
  {
    address: addressSchemas.document,
    user: s.object({ userId: s.string }, { name: s.string }),
    at: s.number,
  },
  { activityId: s.string, isAuthor: s.boolean },
)

/**
 * Decodes the edit from a job of `EditWindows`.
 * @throws MalformedJobError
 */
export const decodeUserEdit = (payload: Uint8Array): UserEdit => readPayload(userEditSchema, payload)

/** The acting user of calls that do not specify a user. */
export const unnamedUser: ActionUser = { userId: 'api' }

interface EditWindowsOptions {
  readonly clock: Clock
  readonly windowMs: number
  /** Called when jobs for edits have been enqueued. */
  readonly begun: () => void
  /**
   * Called when a window with several commits has ended.
   * @param commits number of commits in the whole window
   */
  readonly ended: (edit: UserEdit, commits: number) => void
}

/** Maximum number of users of one editor whose last windows are cached. */
const keptUsersMax = 1_000

/**
 * Groups commits to an editor into windows. Each author of an editor has separate windows. A job for each window
 * becomes an activity, and makes the user an author of the next version.
 */
export class EditWindows implements EditListener {
  readonly #options: EditWindowsOptions
  readonly #windows: DebounceWindows<UserEdit>
  /** The last window of each user of an editor, because a search by name costs more than the counting. */
  readonly #last = new WeakMap<DocumentAddress, Map<string, CountingWindow>>()

  constructor(options: EditWindowsOptions) {
    const { clock, windowMs, ended } = options
    this.#options = options
    this.#windows = new DebounceWindows(clock, windowMs, (edit, commits) => {
      if (commits > 1) ended(edit, commits)
    })
  }

  noted(address: DocumentAddress, editors: readonly EditAuthor[]): StartedWindows | null {
    let begun: Map<string, UserEdit> | null = null
    const last = memoized(this.#last, address, () => new Map<string, CountingWindow>())
    const now = this.#options.clock.now()
    for (const user of distinct(editors)) {
      if (countIn(last.get(user.userId), now)) continue
      if (last.size >= keptUsersMax) last.clear()
      const name = userName(address, user.userId)
      const open = this.#windows.count(name)
      const edit = editOf(address, user, now)
      if (open === null) {
        const first = { activityId: randomUUID(), ...edit }
        last.set(user.userId, this.#windows.begin(name, first))
        begun = (begun ?? new Map<string, UserEdit>()).set(name, first)
        continue
      }
      last.set(user.userId, open)
      if (!open.isRenewed) continue
      open.isRenewed = false
      if (edit.isAuthor) begun = (begun ?? new Map<string, UserEdit>()).set(name, edit)
    }
    return begun === null ? null : this.#begun(begun)
  }

  /** Ends all windows immediately. */
  end(): void {
    this.#windows.end()
  }

  /** Adds a job to the next commit of each user of an editor, although the window of the user is open. */
  renew(address: DocumentAddress): void {
    this.#windows.renewAll(editorName(address))
  }

  /** Like `renew`, for all editors. */
  renewAll(): void {
    this.#windows.renewAll('')
  }

  #begun(edits: ReadonlyMap<string, UserEdit>): StartedWindows {
    return {
      jobs: [...edits.values()].map((edit) => ({
        queue: editQueue,
        id: randomUUID(),
        isNew: true,
        at: 0,
        payload: Buffer.from(JSON.stringify(edit)),
      })),
      stored: this.#options.begun,
      lost: () => {
        for (const [name, { activityId }] of edits)
          if (activityId === undefined) this.#windows.renewAll(name)
          else this.#windows.forget(name)
      },
    }
  }
}

function editOf(address: DocumentAddress, user: EditAuthor, at: number) {
  const { workspaceId, apiKey, organizationId, documentId, editorId } = address
  const isAuthor = user.userId !== ''
  return {
    address: { workspaceId, apiKey, organizationId, documentId, editorId },
    user: isAuthor ? user : unnamedUser,
    at,
    isAuthor,
  }
}

/** Returns the first author entry of each user. Most commits have only one author. */
function distinct(editors: readonly EditAuthor[]): readonly EditAuthor[] {
  if (editors.length === 1) return editors
  const first = new Map<string, EditAuthor>()
  for (const editor of editors) if (!first.has(editor.userId)) first.set(editor.userId, editor)
  return [...first.values()]
}
