import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { type LimitName, limitScopes } from './limits.ts'

/** A limit that goes on acting for somebody is logged this often. */
export const reportEveryMs = 10_000
/** Those who are told apart in the log at a time; all others share a line for each limit. */
const tellingMax = 200

interface Acting {
  readonly limit: LimitName
  readonly who: string
  /** Not logged yet. */
  times: number
}

/**
 * Makes limits that act visible: each time in the metrics, and in one line of the log for each limit and whose it is,
 * at once and then every 10 s while it goes on, with how many times it was. The name of who it is comes from the
 * caller: an address, a workspace's or a key's id, never a token.
 */
export class LimitReports {
  readonly #clock: Clock
  readonly #log: Log
  readonly #counter: Metrics['limits']
  readonly #acting = new Map<string, Acting>()
  #cancel: (() => void) | null = null

  constructor({ clock, log, metrics }: { clock: Clock; log: Log; metrics: Metrics }) {
    this.#clock = clock
    this.#log = log
    this.#counter = metrics.limits
  }

  /** `limit` has refused or held up something of `who`, which is not told where the limit is the server's. */
  acted(limit: LimitName, who: string): void {
    this.#counter.inc({ limit })
    const key = limitScopes[limit] === 'server' ? limit : `${limit} ${who}`
    const own = this.#acting.get(key)
    if (own !== undefined) own.times += 1
    else if (this.#acting.size < tellingMax) this.#begin(key, { limit, who, times: 1 })
    else this.#shared(limit).times += 1
    this.#cancel ??= this.#clock.after(reportEveryMs, () => this.#tellAll())
  }

  /** Logs what has not been logged yet. */
  end(): void {
    this.#cancel?.()
    this.#cancel = null
    for (const acting of this.#acting.values()) this.#tell(acting)
    this.#acting.clear()
  }

  #begin(key: string, acting: Acting): void {
    this.#acting.set(key, acting)
    this.#tell(acting)
  }

  #shared(limit: LimitName): Acting {
    const key = `${limit} `
    const shared = this.#acting.get(key) ?? { limit, who: 'others', times: 0 }
    this.#acting.set(key, shared)
    return shared
  }

  #tellAll(): void {
    this.#cancel = null
    for (const [key, acting] of this.#acting) {
      if (acting.times === 0) this.#acting.delete(key)
      else this.#tell(acting)
    }
    if (this.#acting.size > 0) this.#cancel = this.#clock.after(reportEveryMs, () => this.#tellAll())
  }

  #tell(acting: Acting): void {
    const { limit, who, times } = acting
    if (times === 0) return
    acting.times = 0
    const scope = limitScopes[limit]
    this.#log.warn({ limit, scope, ...(scope !== 'server' && { who }), times }, 'a limit has acted')
  }
}
