import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Bus } from '../engine/engine.ts'
import {
  combineEditListeners,
  type EditAuthor,
  type EditListener,
  editorName,
  type StartedWindows,
} from '../events/debounce-windows.ts'
import { EditWindows } from '../events/edit-windows.ts'
import { readJson } from '../json.ts'
import type { DocumentAddress } from '../model/address.ts'
import { addressSchemas } from '../model/address-schemas.ts'
import { authorQueue, automaticJob } from './version-jobs.ts'

/** Time in ms for which a recorded author is cached. Recording an evicted author again costs one more job. */
const authorWindowMs = 600_000

export interface VersionNotesOptions {
  readonly clock: Clock
  /** Interval in ms of automatic versions of edited documents; 0: no automatic versions. */
  readonly everyMs: number
  /** Name of this node. */
  readonly node: string
  /** Called when authors have been enqueued. */
  readonly begun: () => void
  /** Bus between the nodes that record authors of the same editors. */
  readonly bus: Bus
}

/** Bus topic with the addresses of editors that have a new version. */
const splitTopic = 'versions.split'

/**
 * Records who edits, for the next version of each editor, and when an automatic version is due. Both are
 * stored as jobs in the commit of the edit, so that a crash loses neither.
 */
export class VersionAuthorTracker implements EditListener {
  readonly #options: VersionNotesOptions
  readonly #authors: EditWindows
  readonly #all: EditListener
  /** End of the window that has a job, by editor. */
  readonly #windows = new Map<string, number>()

  constructor(options: VersionNotesOptions) {
    this.#options = options
    const { clock, begun, bus, node } = options
    const windows = { queue: authorQueue, windowMs: authorWindowMs, unnamed: null, node }
    this.#authors = new EditWindows({
      clock,
      ...windows,
      // The id is not derived from the window: a version ends a window early, so the next window needs
      // another id.
      idOf: () => randomUUID(),
      begun,
      ended: null,
    })
    const automatic: EditListener = { noted: (address) => this.#window(address) }
    this.#all = options.everyMs === 0 ? this.#authors : combineEditListeners([this.#authors, automatic])
    bus.subscribe(splitTopic, (message) => {
      this.#authors.forgetEditor(readJson(addressSchemas.document, message))
      return undefined
    })
    // After a message loss, this node may not know of new versions of other nodes. It is harmless to record
    // an author again: this costs one job.
    bus.onLoss(() => this.#authors.forgetAll())
  }

  noted(address: DocumentAddress, editors: readonly EditAuthor[]): StartedWindows | null {
    return this.#all.noted(address, editors)
  }

  /**
   * Starts a new window after a version was created. Users who edit from now on are authors of the next
   * version.
   */
  split(address: DocumentAddress): void {
    this.#authors.forgetEditor(address)
    const { workspaceId, apiKey, organizationId, documentId, editorId } = address
    const editor: DocumentAddress = { workspaceId, apiKey, organizationId, documentId, editorId }
    this.#options.bus.publish(splitTopic, Buffer.from(JSON.stringify(editor)))
  }

  /**
   * Enqueues the job of the current window. Windows are aligned to the clock, so a restart does not lose
   * them. They are shifted for each editor, so that they do not all end together.
   */
  #window(address: DocumentAddress): StartedWindows | null {
    const { clock, everyMs } = this.#options
    const name = editorName(address)
    const now = clock.now()
    const shift = shiftOf(name) % everyMs
    const end = (Math.floor((now - shift) / everyMs) + 1) * everyMs + shift
    if (this.#windows.get(name) === end) return null
    this.#windows.set(name, end)
    const forget = (): void => {
      if (this.#windows.get(name) === end) this.#windows.delete(name)
    }
    clock.after(end - now, forget)
    return { jobs: [automaticJob(address, end)], stored() {}, lost: forget }
  }
}

/** Returns a hash of a name, which spreads windows over time. */
function shiftOf(name: string): number {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) >>> 0
  return hash
}
