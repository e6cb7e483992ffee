import { createHash } from 'node:crypto'
import * as v from 'valibot'
import type { Clock } from '../clock.ts'
import { readPayload } from '../jobs/job-payload.ts'
import type { DocumentAddress } from '../model/address.ts'
import { addressSchemas } from '../model/address-schemas.ts'
import { ClockAlignedWindows } from './clock-aligned-windows.ts'
import {
  type EditAuthor,
  type EditListener,
  editorName,
  type StartedWindows,
  userName,
} from './debounce-windows.ts'

/** Queue of edits whose activity must be recorded. */
export const editQueue = 'edits'

/** A user's edits within a window, which are one activity. */
export interface UserEdit {
  readonly activityId: string
  readonly address: DocumentAddress
  readonly user: EditAuthor
  /** Epoch milliseconds of the first commit. */
  readonly at: number
}

const userEditSchema = v.looseObject({
  activityId: v.string(),
  address: addressSchemas.document,
  user: v.looseObject({ userId: v.string(), name: v.exactOptional(v.string()) }),
  at: v.number(),
})

/** Returns the edit of a job of `EditWindows`. @throws MalformedJobError */
export const decodeUserEdit = (payload: Uint8Array): UserEdit => readPayload(userEditSchema, payload)

export interface EditWindowsOptions {
  readonly clock: Clock
  /** Queue of the jobs. */
  readonly queue: string
  readonly windowMs: number
  /** The author of edits by calls that name no user; null: these edits are not recorded. */
  readonly unnamed: EditAuthor | null
  /** Name of this node. Each node counts on its own. */
  readonly node: string
  /** Returns the id of the activity of a window. */
  readonly idOf: (name: string, until: number) => string
  /** Called when edits have been enqueued. */
  readonly begun: () => void
  /** Called when a window with several commits has ended; null: never. @param commits of the whole window */
  readonly ended: ((edit: UserEdit, commits: number) => void) | null
}

/** Windows of each user's commits to each editor. */
export class EditWindows implements EditListener {
  readonly #options: EditWindowsOptions
  readonly #windows: ClockAlignedWindows<UserEdit>

  constructor(options: EditWindowsOptions) {
    const { clock, windowMs, ended } = options
    this.#options = options
    const report = (edit: UserEdit, commits: number): void => {
      if (commits > 1) ended?.(edit, commits)
    }
    this.#windows = new ClockAlignedWindows(clock, windowMs, ended === null ? null : report)
  }

  noted(address: DocumentAddress, editors: readonly EditAuthor[]): StartedWindows | null {
    let begun: Map<string, UserEdit> | null = null
    for (const known of distinct(editors)) {
      const user = known.userId === '' ? this.#options.unnamed : known
      if (user === null) continue
      const name = userName(address, user.userId)
      if (this.#windows.count(name)) continue
      const edit = this.#editOf(address, user, this.#options.idOf(name, this.#windows.endOf(name)))
      this.#windows.begin(name, edit)
      begun = (begun ?? new Map<string, UserEdit>()).set(name, edit)
    }
    return begun === null ? null : this.#begun(begun)
  }

  /** Ends every window now. */
  end(): void {
    this.#windows.end()
  }

  /** Drops the windows of all users of an editor: the next commit of each begins one. */
  forgetEditor(address: DocumentAddress): void {
    this.#windows.forgetAll(editorName(address))
  }

  /** Drops the windows of all editors. */
  forgetAll(): void {
    this.#windows.forgetAll('')
  }

  #editOf(address: DocumentAddress, user: EditAuthor, activityId: string): UserEdit {
    const { workspaceId, apiKey, organizationId, documentId, editorId } = address
    return {
      activityId,
      address: { workspaceId, apiKey, organizationId, documentId, editorId },
      user,
      at: this.#options.clock.now(),
    }
  }

  #begun(edits: ReadonlyMap<string, UserEdit>): StartedWindows {
    const { queue, node } = this.#options
    return {
      jobs: [...edits.values()].map((edit) => ({
        queue,
        id: `${edit.activityId}/${node}`,
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

/** Returns the same id for the same window on every node, in the form of a random id. */
export function idOfWindow(name: string, until: number): string {
  const hex = createHash('sha256').update(`${until} ${name}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  )
}

/** Returns the first edit of each user; most commits have one. */
function distinct(editors: readonly EditAuthor[]): Iterable<EditAuthor> {
  if (editors.length === 1) return editors
  const first = new Map<string, EditAuthor>()
  for (const editor of editors) if (!first.has(editor.userId)) first.set(editor.userId, editor)
  return first.values()
}
