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

/** For so long it is remembered that a user's edits are noted already; forgetting it costs one more job. */
const authorWindowMs = 600_000

export interface VersionNotesOptions {
  readonly clock: Clock
  /** An automatic version is made when there was an edit in so long; 0: none is. */
  readonly everyMs: number
  /** Name of this node. */
  readonly node: string
  /** Authors have been enqueued. */
  readonly begun: () => void
  /** To the other nodes that note who edits the same editors. */
  readonly bus: Bus
}

/** Told with the address of an editor of which a version has been made. */
const splitTopic = 'versions.split'

/**
 * Notes who edits, for the next version of each editor, and that there is something to make an automatic one of. Both
 * are jobs that are enqueued with the commit, so that a crash loses neither.
 */
export class VersionAuthorTracker implements EditListener {
  readonly #options: VersionNotesOptions
  readonly #authors: EditWindows
  readonly #all: EditListener
  /** Ends of the windows that have their job, by editor. */
  readonly #windows = new Map<string, number>()

  constructor(options: VersionNotesOptions) {
    this.#options = options
    const { clock, begun, bus, node } = options
    const windows = { queue: authorQueue, windowMs: authorWindowMs, unnamed: null, node }
    this.#authors = new EditWindows({
      clock,
      ...windows,
      // A version ends a window early: the next window has another id.
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
    // Of which editor there is a version nobody knows then: to note somebody once more costs a job.
    bus.onLoss(() => this.#authors.forgetAll())
  }

  noted(address: DocumentAddress, editors: readonly EditAuthor[]): StartedWindows | null {
    return this.#all.noted(address, editors)
  }

  /** A version has been made: who edits from now on is an author of the next one. */
  split(address: DocumentAddress): void {
    this.#authors.forgetEditor(address)
    const { workspaceId, apiKey, organizationId, documentId, editorId } = address
    const editor: DocumentAddress = { workspaceId, apiKey, organizationId, documentId, editorId }
    this.#options.bus.publish(splitTopic, Buffer.from(JSON.stringify(editor)))
  }

  /** Windows follow the clock, shifted for each editor so that not all end at once: a restart does not lose them. */
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

/** Spreads names over time; the same for a name whenever it is asked for. */
function shiftOf(name: string): number {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) >>> 0
  return hash
}
