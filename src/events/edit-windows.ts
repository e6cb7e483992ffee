import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Job } from '../engine/engine.ts'
import { keyName } from '../engine/keys.ts'
import { addressKey, type DocumentAddress } from '../model/address.ts'

/** The queue of edits whose activity is to be recorded. */
export const editQueue = 'edits'

/** Who makes a commit. */
export interface Editor {
  /** '' when nobody is known. */
  readonly userId: string
  readonly name?: string
}

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

/** Windows that a commit begins. One of the two has to be called. */
export interface BegunEdits {
  /** To be enqueued with the commit. */
  readonly jobs: readonly Job[]
  readonly stored: () => void
  readonly lost: () => void
}

/** Whoever notes who edits. */
export interface EditNotes {
  /** Notes a commit to a document. Null when it begins no window. */
  noted(address: DocumentAddress, editors: readonly Editor[]): BegunEdits | null
}

interface Window {
  readonly edit: Edit
  commits: number
  cancel: () => void
}

export interface EditWindowsOptions {
  readonly clock: Clock
  /** Where the jobs go. */
  readonly queue: string
  readonly windowMs: number
  /** Edits have been enqueued. */
  readonly begun: () => void
  /** @param commits of the whole window */
  readonly ended: (edit: Edit, commits: number) => void
}

/**
 * Counts the commits of each user to each editor in memory: the first one begins a window, and brings a job with it, so
 * that a crash does not lose that there was an edit. The others cost nothing but counting.
 */
export class EditWindows implements EditNotes {
  readonly #options: EditWindowsOptions
  readonly #windows = new Map<string, Window>()

  constructor(options: EditWindowsOptions) {
    this.#options = options
  }

  noted(address: DocumentAddress, editors: readonly Editor[]): BegunEdits | null {
    const document = keyName(addressKey(address))
    const begun: string[] = []
    const counted = new Set<string>()
    for (const user of editors) {
      const name = document + user.userId
      if (user.userId === '' || counted.has(name)) continue
      counted.add(name)
      const window = this.#windows.get(name)
      if (window !== undefined) window.commits += 1
      else begun.push(this.#begin(name, address, user))
    }
    return begun.length === 0 ? null : this.#begun(begun)
  }

  /** Ends every window now. */
  end(): void {
    for (const name of this.#windows.keys()) this.#end(name)
  }

  /** Forgets the windows of all users of an editor: the next commit of each begins one. */
  forgetEditor(address: DocumentAddress): void {
    const document = keyName(addressKey(address))
    for (const name of this.#windows.keys()) if (name.startsWith(document)) this.#forget(name)
  }

  #begin(name: string, address: DocumentAddress, user: Editor): string {
    const { clock, windowMs } = this.#options
    const { workspaceId, apiKey, organizationId, documentId, editorId } = address
    const edit = {
      activityId: randomUUID(),
      address: { workspaceId, apiKey, organizationId, documentId, editorId },
      user,
      at: clock.now(),
    }
    this.#windows.set(name, { edit, commits: 1, cancel: clock.after(windowMs, () => this.#end(name)) })
    return name
  }

  #begun(names: readonly string[]): BegunEdits {
    const windows = names.map((name) => this.#windows.get(name) as Window)
    return {
      jobs: windows.map(({ edit }) => ({
        queue: this.#options.queue,
        id: edit.activityId,
        at: 0,
        payload: Buffer.from(JSON.stringify(edit)),
      })),
      stored: this.#options.begun,
      lost: () => {
        for (const name of names) this.#forget(name)
      },
    }
  }

  #end(name: string): void {
    const window = this.#forget(name)
    if (window !== undefined && window.commits > 1) this.#options.ended(window.edit, window.commits)
  }

  #forget(name: string): Window | undefined {
    const window = this.#windows.get(name)
    window?.cancel()
    this.#windows.delete(name)
    return window
  }
}
