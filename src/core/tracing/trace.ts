import type { Log } from '../base/log.ts'
import type { TraceTarget } from '../config/trace-targets.ts'

/**
 * The steps of a trace, with the log message of each step. The field `event` of a log line is `trace.`
 * followed by the name of the step.
 */
export const traceSteps = {
  connect: 'a client requests a document',
  authenticated: 'the token of a client is valid',
  rejected: 'the server rejects a client',
  joined: 'a client joins a document',
  role: 'a client gets its role',
  sync_step1_sent: 'the server sends its state vector to a client (sync step 1)',
  sync_step1_received: 'a client sends its state vector (sync step 1)',
  sync_step2_sent: 'the server sends a client what it lacks (sync step 2)',
  sync_step2_received: 'a client sends what the server lacks (sync step 2)',
  update_received: 'a client sends an update',
  update_rejected: 'the server rejects an update',
  update_pending: 'an update waits for updates that it depends on',
  update_predicted: 'the cost of an update is known',
  committed: 'updates are durable in the log',
  broadcast: 'updates go to the members of a room',
  update_sent: 'the server sends updates to a client',
  client_behind: 'a client reads too slowly and gets no updates for now',
  client_caught_up: 'a slow client gets one difference for all missed updates',
  client_unresponsive: 'a client does not answer a ping',
  change_started: 'a backend changes the document',
  change_locked: 'a change by a backend has locked the document',
  change_applied: 'a change by a backend is durable',
  change_rejected: 'a change by a backend is rejected',
  presence_set: 'the room shows a presence state',
  presence_removed: 'the room removes a presence state',
  event_created: 'a webhook event is recorded',
  event_skipped: 'no webhook wants an event',
  event_dispatched: 'the targets of a webhook event are known',
  event_attempted: 'the server has tried to deliver a webhook event',
  closed: 'a client is disconnected from a document',
  room_closed: 'a room is closed',
} as const

export type TraceStep = keyof typeof traceSteps

/** Fields of a trace line: only sizes, numbers and ids, never content, tokens or keys. */
export type TraceFields = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>

/** Writes one line of a trace. */
export type TraceWriter = (step: TraceStep, fields?: TraceFields) => void

/** The document that a step concerns. */
interface TracedDocument {
  readonly organizationId: string
  /** Null if the step concerns the organization as a whole. */
  readonly documentId: string | null
  /** Undefined if the step concerns all editors of the document. */
  readonly editorId?: string | undefined
}

export interface ConnectionTrace {
  readonly line: TraceWriter
  /**
   * True if the target of the trace is the client. The trace then also contains each update that the client
   * receives.
   */
  readonly followsClient: boolean
}

/** Writes the steps of the configured documents and clients to the log, at any log level. */
export class Tracer {
  readonly #targets: readonly TraceTarget[]
  readonly #log: Log
  #connections = 0

  constructor(targets: readonly TraceTarget[], log: Log) {
    this.#targets = targets
    this.#log = log
  }

  /**
   * Returns a function that writes trace lines for steps of the document and the users. Returns undefined if
   * no target includes the document or one of the users.
   */
  of(document: TracedDocument, ...userIds: readonly string[]): TraceWriter | undefined {
    if (!this.#targets.some((target) => concerns(target, document, userIds))) return undefined
    const { organizationId, documentId, editorId } = document
    return (step, fields) =>
      this.#log.debug(
        { event: `trace.${step}`, organizationId, documentId, editorId, ...fields },
        traceSteps[step],
      )
  }

  /**
   * Returns the trace of a new connection; undefined if the connection is not traced. Each line contains a
   * number that identifies the connection.
   */
  connection(document: TracedDocument, userId: string): ConnectionTrace | undefined {
    const trace = this.of(document, userId)
    if (trace === undefined) return undefined
    this.#connections += 1
    const connection = this.#connections
    return {
      line: (step, fields) => trace(step, { connection, userId, ...fields }),
      followsClient: this.#targets.some((target) => target.kind === 'client' && target.userId === userId),
    }
  }

  /**
   * Returns whether steps of the document may have to be traced. With a target of kind `client`, this is true
   * for every document, because the client may open any document.
   */
  mayConcern(document: TracedDocument): boolean {
    return this.#targets.some((target) => target.kind === 'client' || concerns(target, document, []))
  }
}

function concerns(target: TraceTarget, document: TracedDocument, userIds: readonly string[]): boolean {
  if (target.kind === 'client') return userIds.includes(target.userId)
  const { organizationId, documentId, editorId } = document
  if (target.organizationId !== organizationId || target.documentId !== documentId) return false
  return target.editorId === null || editorId === undefined || target.editorId === editorId
}

/** Creates the tracer of a server. Returns undefined if there are no targets. */
export function createTracer(targets: readonly TraceTarget[], log: Log): Tracer | undefined {
  if (targets.length === 0) return undefined
  const lines = log.child({}, { level: 'debug' })
  lines.debug(
    { event: 'trace.enabled', targets: targets.map(({ text }) => text) },
    'the server traces documents or clients (WEFT_DEBUG)',
  )
  return new Tracer(targets, lines)
}
