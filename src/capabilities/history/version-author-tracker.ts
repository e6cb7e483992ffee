import type { Clock } from '../../core/base/clock.ts'
import {
  combineEditListeners,
  type EditAuthor,
  type EditListener,
  editorName,
  type StartedWindows,
} from '../../core/events/debounce-windows.ts'
import { decodeUserEdit, EditWindows } from '../../core/events/edit-windows.ts'
import { JobConsumer } from '../../core/jobs/job-consumer.ts'
import { type DocumentAddress, organizationPrefix } from '../../core/model/address.ts'
import type { Cluster } from '../../core/store/engine.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import type { Services } from '../../rest/services.ts'
import { authorQueue, automaticJob } from './version-jobs.ts'
import type { VersionStore } from './version-store.ts'

/**
 * Time in ms for which a recorded author is cached. If an author is no longer cached, the next edit of the
 * same user adds another job.
 */
const authorWindowMs = 600_000

interface VersionNotesOptions {
  readonly clock: Clock
  /** Interval in ms at which edited documents get automatic versions; 0 for no automatic versions. */
  readonly everyMs: number
  /** Called when jobs for authors have been enqueued. */
  readonly begun: () => void
  readonly cluster: Pick<Cluster, 'on'>
}

/**
 * Records the users who edit, as authors of the next version of each editor. Also records when an automatic
 * version is due. Both are stored as jobs in the commit of the edit, so that a crash loses neither of them.
 */
export class VersionAuthorTracker implements EditListener {
  readonly #options: VersionNotesOptions
  readonly #authors: EditWindows
  readonly #all: EditListener
  /** End of the current window of each editor whose job is enqueued, in epoch milliseconds. */
  readonly #windows = new Map<string, number>()

  constructor(options: VersionNotesOptions) {
    this.#options = options
    const { clock, begun, cluster } = options
    const windows = { queue: authorQueue, windowMs: authorWindowMs, unnamed: null }
    this.#authors = new EditWindows({
      clock,
      ...windows,
      begun,
      ended: null,
    })
    const automatic: EditListener = { noted: (address) => this.#window(address) }
    this.#all = options.everyMs === 0 ? this.#authors : combineEditListeners([this.#authors, automatic])
    // A document that moves to another node may get versions there, and then move back. All authors are therefore
    // recorded again, which is harmless and costs one job for each author.
    cluster.on('change', () => this.#authors.forgetAll())
  }

  noted(address: DocumentAddress, editors: readonly EditAuthor[]): StartedWindows | null {
    return this.#all.noted(address, editors)
  }

  /**
   * Starts a new window for the authors of an editor. Must be called when a version is created, so that users
   * who edit later are authors of the next version.
   */
  split(address: DocumentAddress): void {
    this.#authors.forgetEditor(address)
  }

  /**
   * Returns the job for the automatic version of the current window; null if the job is already enqueued.
   * Windows start at fixed times, so they are the same after a restart. The start differs between editors, so
   * that not all windows end at the same time.
   */
  #window(address: DocumentAddress): StartedWindows | null {
    const { clock, everyMs } = this.#options
    const name = editorName(address)
    const now = clock.now()
    if (now < (this.#windows.get(name) ?? 0)) return null
    const shift = shiftOf(name) % everyMs
    const end = (Math.floor((now - shift) / everyMs) + 1) * everyMs + shift
    this.#windows.set(name, end)
    const forget = (): void => {
      if (this.#windows.get(name) === end) this.#windows.delete(name)
    }
    clock.after(end - now, forget)
    return { jobs: [automaticJob(address, end)], stored() {}, lost: forget }
  }
}

/** Returns a hash of a name. The hash spreads the ends of windows over time. */
function shiftOf(name: string): number {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) >>> 0
  return hash
}

/** Maximum number of authors that are recorded in one transaction, or in parallel. */
const authorsAtOnce = 64

/** Creates the consumer that stores the authors whom the tracker has recorded. */
export const authorConsumer = (
  store: VersionStore,
  { engine, clock, log }: Pick<Services, 'engine' | 'clock' | 'log'>,
): JobConsumer =>
  new JobConsumer({
    queue: engine.queue,
    name: authorQueue,
    clock,
    log,
    atOnce: authorsAtOnce,
    carryOut: async ({ payload }) => {
      const { address, user, at } = decodeUserEdit(payload)
      await store.noteAuthors([{ address, author: { ...user, at } }])
      return 'done'
    },
    groups: {
      nameOf: ({ payload }) => keyName(organizationPrefix(decodeUserEdit(payload).address)),
      carryOut: (jobs) =>
        store.noteAuthors(
          jobs
            .map(({ payload }) => decodeUserEdit(payload))
            .sort((a, b) => a.at - b.at)
            .map(({ address, user, at }) => ({ address, author: { ...user, at } })),
        ),
    },
  })
