import * as s from '../../core/base/schema.ts'
import type { CallDurations } from '../../core/metrics/call-durations.ts'
import { samplesOf } from '../../core/metrics/scrape.ts'
import type { Room } from '../../core/rooms/room/room.ts'
import type { Health } from '../../core/store/engine.ts'
import type { Services } from '../services.ts'

const idOrNull = s.orNull(s.string)

/** The body of `/status`. It describes the present work of one server process. */
export const liveStatusSchema = s.object({
  version: s.string,
  /** Name of the node; the name of the machine on a single node. */
  node: s.string,
  /** Time of the status, in epoch milliseconds. */
  at: s.number,
  uptimeSeconds: s.number,
  /** Reason why no requests should be sent to the server; null if it is ready. */
  notReady: s.orNull(s.string),
  /** CPU time that the process has used, in seconds. */
  cpuSeconds: s.number,
  /** All metrics, as `/metrics` returns them as JSON. */
  metrics: s.array(s.object({ name: s.string, labels: s.map(s.string), value: s.number })),
  documents: s.array(
    s.object({
      workspaceId: s.string,
      organizationId: s.string,
      documentId: s.string,
      editorId: s.string,
      connections: s.number,
      /** Stored updates per second since the last measurement; null if the room was not open then. */
      updatesPerSecond: s.orNull(s.number),
      sizeBytes: s.number,
    }),
  ),
  slowCalls: s.array(
    s.object({
      path: s.string,
      organizationId: idOrNull,
      documentId: idOrNull,
      httpCode: s.number,
      durationMs: s.number,
      at: s.number,
      requestId: s.string,
    }),
  ),
})

export type LiveStatus = s.TypeOf<typeof liveStatusSchema>

type BusyDocument = LiveStatus['documents'][number]

/** Minimum time in ms between two measurements. A status that is requested earlier has the rates of the last one. */
const measureEveryMs = 500
const listedMax = 50

interface Measured {
  readonly head: number
  readonly at: number
  readonly perSecond: number | null
}

type StatusServices = Pick<Services, 'clock' | 'engine' | 'metrics' | 'rooms'>

/**
 * Reads the status of this process. Measures the open rooms by the growth of their logs: a measurement reads each open
 * room, and runs only when an operator requests the status.
 */
export class StatusReader {
  readonly #services: StatusServices
  readonly #slowCalls: CallDurations
  readonly #measured = new WeakMap<Room, Measured>()

  constructor(services: StatusServices, slowCalls: CallDurations) {
    this.#services = services
    this.#slowCalls = slowCalls
  }

  async read(version: string, health: Health): Promise<LiveStatus> {
    const { clock, engine, metrics } = this.#services
    const { user, system } = process.cpuUsage()
    return {
      version,
      node: engine.cluster.self,
      at: clock.now(),
      uptimeSeconds: process.uptime(),
      notReady: health.ok ? null : health.reason,
      cpuSeconds: (user + system) / 1e6,
      metrics: [...samplesOf(await metrics.registry.getMetricsAsJSON())],
      documents: this.#busiest(),
      slowCalls: [...this.#slowCalls.list()],
    }
  }

  /** Returns the documents with the most updates, then those with the most connections. */
  #busiest(): BusyDocument[] {
    const found: BusyDocument[] = []
    for (const room of this.#services.rooms.openRooms()) {
      const { workspaceId, organizationId, documentId, editorId } = room.address
      found.push({
        workspaceId,
        organizationId,
        documentId,
        editorId,
        connections: room.memberCount,
        updatesPerSecond: this.#rateOf(room),
        sizeBytes: room.state.sizeBytes,
      })
      // The list stays short, so that sorting it does not delay other work.
      if (found.length >= 2 * listedMax) keepBusiest(found)
    }
    keepBusiest(found)
    return found
  }

  #rateOf(room: Room): number | null {
    const now = this.#services.clock.now()
    const before = this.#measured.get(room)
    const passed = before === undefined ? Number.POSITIVE_INFINITY : now - before.at
    if (before !== undefined && passed >= 0 && passed < measureEveryMs) return before.perSecond
    const { head } = room.commits
    const perSecond =
      before === undefined || passed <= 0 ? null : (Math.max(0, head - before.head) * 1000) / passed
    this.#measured.set(room, { head, at: now, perSecond })
    return perSecond
  }
}

function keepBusiest(documents: BusyDocument[]): void {
  documents.sort(
    (one, other) =>
      (other.updatesPerSecond ?? 0) - (one.updatesPerSecond ?? 0) || other.connections - one.connections,
  )
  documents.length = Math.min(documents.length, listedMax)
}
