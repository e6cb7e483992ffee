import { createHash, randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { DocumentAddress } from '../model/address.ts'
import { AlignedWindows } from './aligned-windows.ts'
import {
  type Begun,
  type CountedWindows,
  type EditNotes,
  type Editor,
  editorName,
  userName,
  Windows,
} from './windows.ts'

/** The queue of edits whose activity is to be recorded. */
export const editQueue = 'edits'

/** Whose commits of a time are one activity. */
export interface Edit {
  readonly activityId: string
  readonly address: DocumentAddress
  readonly user: Editor
  /** Epoch milliseconds of the first commit. */
  readonly at: number
}

/** The edit of a job that `EditWindows` has made. */
export const editOf = (payload: Uint8Array): Edit => JSON.parse(Buffer.from(payload).toString()) as Edit

export interface EditWindowsOptions {
  readonly clock: Clock
  /** Where the jobs go. */
  readonly queue: string
  readonly windowMs: number
  /** Id of this node where others note the same windows, whose edits are then the same; null: each window is one's own. */
  readonly sharedBy: string | null
  /** Edits have been enqueued. */
  readonly begun: () => void
  /** A window has ended that had several; null: nobody is told. @param commits of the whole window */
  readonly ended: ((edit: Edit, commits: number) => void) | null
}

/** Windows of each user's commits to each editor. */
export class EditWindows implements EditNotes {
  readonly #options: EditWindowsOptions
  readonly #windows: CountedWindows<Edit>
  readonly #idOf: (name: string) => string

  constructor(options: EditWindowsOptions) {
    const { clock, windowMs, ended, sharedBy } = options
    this.#options = options
    const told = (edit: Edit, commits: number): void => {
      if (commits > 1) ended?.(edit, commits)
    }
    const end = ended === null ? null : told
    if (sharedBy === null) {
      this.#windows = new Windows(clock, windowMs, end)
      this.#idOf = () => randomUUID()
      return
    }
    const windows = new AlignedWindows(clock, windowMs, end)
    this.#windows = windows
    this.#idOf = (name) => idOfWindow(name, windows.endOf(name))
  }

  noted(address: DocumentAddress, editors: readonly Editor[]): Begun | null {
    let begun: Map<string, Edit> | null = null
    for (const user of distinct(editors)) {
      if (user.userId === '') continue
      const name = userName(address, user.userId)
      if (this.#windows.count(name)) continue
      const edit = this.#editOf(address, user, this.#idOf(name))
      this.#windows.begin(name, edit)
      begun = (begun ?? new Map<string, Edit>()).set(name, edit)
    }
    return begun === null ? null : this.#begun(begun)
  }

  /** Ends every window now. */
  end(): void {
    this.#windows.end()
  }

  /** Forgets the windows of all users of an editor: the next commit of each begins one. */
  forgetEditor(address: DocumentAddress): void {
    this.#windows.forgetAll(editorName(address))
  }

  /** Likewise of all. */
  forgetAll(): void {
    this.#windows.forgetAll('')
  }

  #editOf(address: DocumentAddress, user: Editor, activityId: string): Edit {
    const { workspaceId, apiKey, organizationId, documentId, editorId } = address
    return {
      activityId,
      address: { workspaceId, apiKey, organizationId, documentId, editorId },
      user,
      at: this.#options.clock.now(),
    }
  }

  #begun(edits: ReadonlyMap<string, Edit>): Begun {
    const { queue, sharedBy } = this.#options
    const suffix = sharedBy === null ? '' : `/${sharedBy}`
    return {
      jobs: [...edits.values()].map((edit) => ({
        queue,
        // Each node counts for itself.
        id: edit.activityId + suffix,
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

/** The same for the same window, whoever notes it: in the form of an id that is made at random. */
function idOfWindow(name: string, until: number): string {
  const hex = createHash('sha256').update(`${until} ${name}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  )
}

/** The first of each user; most commits have one. */
function distinct(editors: readonly Editor[]): Iterable<Editor> {
  if (editors.length === 1) return editors
  const first = new Map<string, Editor>()
  for (const editor of editors) if (!first.has(editor.userId)) first.set(editor.userId, editor)
  return first.values()
}
