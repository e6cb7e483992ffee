import { createHash, randomUUID } from 'node:crypto'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { TenantCaller } from '../../../core/access/credentials/authenticator.ts'
import { watchCaller } from '../../../core/access/credentials/caller-watch.ts'
import { agentMeta } from '../../../core/access/identity.ts'
import { ApiError, invalid } from '../../../core/base/errors.ts'
import type { FromSchema } from '../../../core/base/schema.ts'
import { overlapError } from '../../../core/content/merge/overlap.ts'
import { checkStreamEdit } from '../../../core/content/stream/stream-place.ts'
import { authTokensFence, domainsFence } from '../../../core/directory/organizations/access-change.ts'
import { FencedRight, type WriteRight } from '../../../core/directory/write-right.ts'
import { goneSignal, passBody, passResponse } from '../../../core/forwarding/pass-bytes.ts'
import { type DocumentAddress, documentPrefix } from '../../../core/model/address.ts'
import { errorEnvelope } from '../../../core/model/raw-response.ts'
import { timedRequests } from '../../../core/quota/slow-transfers.ts'
import { applyAgentRule } from '../../../rest/agents/agent-members.ts'
import { authorizeAgent, keepingOf, toAgentError } from '../../../rest/agents/authorize-agent.ts'
import { storedMeta } from '../../../rest/changes/change-meta.ts'
import { editorAddress, namingMissing } from '../../../rest/editor-content.ts'
import type { CallAuditor } from '../../../rest/http/call-auditor.ts'
import { callerOf } from '../../../rest/http/caller-of.ts'
import { toApiError } from '../../../rest/http/envelope.ts'
import type { Edge } from '../../../rest/http/operation-steps.ts'
import { countGrowth, limitCaller } from '../../../rest/http/rate-limits.ts'
import { ClientDisconnectedError } from '../../../rest/http/request-body.ts'
import type { ServedResponse } from '../../../rest/http/served-response.ts'
import type { ServedRoute } from '../../../rest/http/served-route.ts'
import { setCaller } from '../../../rest/http/traced-request.ts'
import { checkMembers } from '../../../rest/members.ts'
import type { AgentRule } from '../../../rest/operation.ts'
import type { Services } from '../../../rest/services.ts'
import { type Validator, validatorOf } from '../../../rest/validator.ts'
import { OpenStream, serverStopping, tooLate } from '../open-stream.ts'
import { StreamPump } from '../stream-pump.ts'
import type { StreamResult } from '../stream-records.ts'
import type { EnteredStream, StreamOpening } from '../stream-service.ts'
import { JsonLineReader, lineBytesMax, readStreamLine } from './stream-lines.ts'
import { contentStreamPath, jsonLinesType, streamOpening } from './stream-schema.ts'

type Opening = FromSchema<typeof streamOpening>

/** A stream with the id that its writer uses. */
interface NamedStream extends EnteredStream {
  readonly streamId: string
}

/** Time in ms within which the opening must arrive. */
const openingMs = 20_000
/** Interval in ms of the empty lines that keep a quiet connection open. */
const quietMs = 15_000
/** Memory in bytes that one connection takes: a line as bytes and as text, and the text that waits. */
const connectionBytes = 3 * lineBytesMax
/** Maximum bytes of the body for each byte of the content, because JSON escapes characters. */
const escapedBytes = 8
/** Bytes of the body that do not count, for the opening and many small pieces. */
const freeBytes = 4_194_304
/** How the audit log records a stream. */
const audited = { path: contentStreamPath, audited: 'change', request: streamOpening } as const
/** How agents may open streams. */
const agents: AgentRule = { role: 'editor', ids: ['userId'], meta: 'meta', without: ['schema'] }
/** How the members of an opening are checked. */
const checked = { effect: 'once', request: streamOpening } as const

export function contentStreamRoute(services: Services, edge: Edge): ServedRoute {
  const validate = validatorOf(streamOpening)
  return {
    path: contentStreamPath,
    label: contentStreamPath,
    methods: {
      async POST(request, response) {
        const connection = new StreamConnection(request, response, validate, services, edge)
        const keep = (outcome: Parameters<CallAuditor['answered']>[2]): void => {
          const { caller = null, requestId } = response.weftLocals
          edge.auditor.answered(contentStreamPath, { caller, request, requestId }, outcome)
        }
        try {
          // The node that has the document keeps the outcome of a forwarded stream.
          if ((await connection.serve()) === 'served') keep({ httpCode: 200, body: '', replayed: false })
        } catch (error) {
          if (!(error instanceof ClientDisconnectedError)) keep({ error })
          if (!response.headersSent) throw error
          connection.sendError(error)
        } finally {
          connection.discardRest()
        }
      },
    },
  }
}

/** One request, whose body is a part of a stream or the whole stream. */
class StreamConnection {
  readonly #request: IncomingMessage
  readonly #response: ServedResponse
  readonly #validate: Validator
  readonly #services: Services
  readonly #edge: Edge
  /** The body; null until it is read. */
  #lines: JsonLineReader | null = null
  /** Aborted with an error when the caller has lost its permission. */
  readonly #rejected = new AbortController()

  constructor(
    request: IncomingMessage,
    response: ServedResponse,
    validate: Validator,
    services: Services,
    edge: Edge,
  ) {
    this.#request = request
    this.#response = response
    this.#validate = validate
    this.#services = services
    this.#edge = edge
  }

  /**
   * Serves the request, or forwards it to the node that owns the document. Resolves when the response is complete.
   * @throws the errors of the stream, before or after the headers of the response were sent
   */
  async serve(): Promise<'served' | 'forwarded'> {
    const { auditor, quotas, readiness } = this.#edge
    const ready = readiness()
    if (!ready.ok) throw new ApiError('server/not-ready', ready.reason, { retryAfterSeconds: 1 })
    checkLinesType(this.#request)
    const caller = await callerOf('key', this.#request, this.#services, this.#edge)
    setCaller(this.#response, caller)
    timedRequests.add(this.#request)
    const meter = await limitCaller(quotas, caller, this.#request, this.#response, Number.POSITIVE_INFINITY)
    meter.keep(connectionBytes)
    const bodyBytesMax = this.#services.config.streamBytes * escapedBytes + freeBytes
    let bodyBytes = 0
    const lines = new JsonLineReader(this.#request, (received) => {
      meter.count(received)
      bodyBytes += received
      if (bodyBytes > bodyBytesMax) throw tooLong(bodyBytesMax)
    })
    this.#lines = lines
    const first = await within(openingMs, lines.next(), () => openingTooLate())
    if (first === null) throw invalid('crdt/invalid-stream', 'the stream has no lines; send an opening')
    const openingLine = `${JSON.stringify(first.value)}\n`
    const opening = this.#checkOpening(first.value, caller)
    if (await this.#forward(openingLine, editorAddress(caller, opening), lines)) return 'forwarded'
    const { requestId } = this.#response.weftLocals
    const call = { operation: audited, caller, data: opening, request: this.#request, requestId }
    await auditor.run(call, async () => {
      if (caller.level === 'agent') await authorizeAgent(agents, opening, caller, this.#services)
      const entered = await this.#openFor(opening, caller)
      const endWatch = this.#watch(opening, caller)
      try {
        await this.#stream(entered, lines)
      } finally {
        endWatch()
      }
      return { httpCode: 200, body: '', replayed: false }
    })
    return 'served'
  }

  /** Forwards the stream. Resolves with false, and has no effect, if this node owns the document. */
  async #forward(openingLine: string, address: DocumentAddress, lines: JsonLineReader): Promise<boolean> {
    const { forwarder, metrics, stopping } = this.#services
    const document = documentPrefix(address, address.documentId)
    if (!forwarder.isElsewhere(document)) return false
    const { requestId, address: clientAddress = '' } = this.#response.weftLocals
    const write = (outgoing: ClientRequest): void => void outgoing.write(openingLine)
    const options = { kind: 'stream', clientAddress, requestId, write } as const
    const exchange = await forwarder.send(this.#request, document, options, goneSignal(this.#response))
    if (exchange === null) return false
    metrics.forwarded.bytes.request += openingLine.length
    const stop = (): void => void exchange.outgoing.destroy()
    passBody(lines.rest(), exchange.outgoing, metrics).catch(stop)
    stopping.addEventListener('abort', stop, { once: true })
    try {
      await passResponse(exchange.response, this.#response, metrics)
    } catch (error) {
      throw stopping.aborted ? serverStopping() : error
    } finally {
      stopping.removeEventListener('abort', stop)
    }
    return true
  }

  #checkOpening(value: Readonly<Record<string, unknown>>, caller: TenantCaller): Opening {
    const { unknownMembers } = this.#services.config
    checkMembers(checked, { body: { data: value }, target: this.#request.url ?? '' }, unknownMembers)
    if (caller.level === 'agent') applyAgentRule(agents, value, caller.identity)
    this.#validate(value, 0)
    return value as Opening
  }

  /** Opens a stream. The errors of agents do not reveal which record is missing. */
  async #openFor(opening: Opening, caller: TenantCaller): Promise<NamedStream> {
    try {
      return await this.#open(opening, caller)
    } catch (error) {
      throw caller.level === 'agent' ? await toAgentError(error, opening, caller, this.#services) : error
    }
  }

  async #open(opening: Opening, caller: TenantCaller): Promise<NamedStream> {
    const services = this.#services
    const { streams } = services
    const { edit, contentKey, format = 'text', userId = '', baseVersion, schema } = opening
    const request = { contentKey, edit, format }
    checkStreamEdit(request)
    const meta = await storedMeta(opening.meta, caller, services)
    const address = editorAddress(caller, opening)
    const { streamId = randomUUID() } = opening
    const onOverlap = opening.onOverlap ?? (caller.level === 'key' ? 'report' : 'fail')
    await services.loader.ready(address)
    const stream: StreamOpening = {
      address,
      streamId,
      request,
      baseVersion,
      schema,
      onOverlap,
      userId,
      meta,
      fingerprint: fingerprintOf(opening),
    }
    const keeping = edit.replace === undefined ? null : keepingOf(caller)
    if (keeping !== null) throw keeping
    const agent = caller.level === 'agent' ? caller.identity : null
    const permission = {
      right: await this.#rightOf(caller, address),
      agentId: agent?.userId ?? null,
      shown: {
        name: opening.name ?? agent?.name ?? userId,
        kind: 'agent' as const,
        data: { streamId, ...(agent !== null && agentMeta(agent.agent)) },
      },
      full: () => countGrowth(services, caller, 0),
    }
    const entered = await namingMissing(services.documents, address, streams.open(stream, permission))
    return { ...entered, streamId }
  }

  /** Returns the permission to change a document. It ends with the credentials of the request. */
  async #rightOf(caller: TenantCaller, address: DocumentAddress): Promise<WriteRight> {
    const { agents, documents, engine, clock } = this.#services
    if (caller.level === 'agent') return agents.rightToChange(caller, address)
    const { tenant } = caller
    return FencedRight.read({
      within: await documents.rightToChange(address),
      fences: engine.fences,
      clock,
      names: [authTokensFence(tenant), domainsFence(tenant)],
      check: this.#keyValidUntil,
    })
  }

  #keyValidUntil = async (): Promise<number> =>
    (await this.#edge.authenticator.callerOf('key', this.#request.headers)).validUntil

  /**
   * Ends the stream when its credentials end, or when an agent loses its right, also if no piece arrives. A backend
   * learns from its next line that the document is disabled. Returns the function that ends the watch.
   */
  #watch(opening: Opening, caller: TenantCaller): () => void {
    const { agents, accessNews, clock } = this.#services
    const { tenant } = caller
    const onRejected = (error: unknown): void => this.#rejected.abort(error)
    if (caller.level === 'key') {
      const { validUntil } = caller
      const watched = { tenant, organizationId: null, validUntil, check: this.#keyValidUntil, onRejected }
      return watchCaller(watched, accessNews, clock)
    }
    const address = editorAddress(caller, opening)
    const { organizationId } = address
    const validUntil = caller.identity.expiresAt
    const check = async (): Promise<number> => {
      await agents.rightToChange(caller, address)
      return validUntil
    }
    return watchCaller({ tenant, organizationId, validUntil, check, onRejected }, accessNews, clock)
  }

  async #stream(entered: NamedStream, lines: JsonLineReader): Promise<void> {
    const { stream, streamId, matched: place } = entered
    const isOpen = stream instanceof OpenStream
    this.#response.writeHead(200, {
      'content-type': jsonLinesType,
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
    this.#send({ opened: { streamId, received: stream.received, place, version: stream.version } })
    if (!isOpen) return this.#sendDone(stream)
    const quiet = setInterval(() => {
      if (!this.#response.writableNeedDrain) this.#response.write('\n')
    }, quietMs)
    try {
      const result = await this.#untilEnd(stream, entered, lines)
      await entered.finish(result)
      this.#sendDone(result)
    } finally {
      clearInterval(quiet)
      await entered.cut()
    }
  }

  /** Writes the pieces until the end of the stream. Resolves with the result. */
  #untilEnd(stream: OpenStream, { endsAt }: EnteredStream, lines: JsonLineReader): Promise<StreamResult> {
    const { metrics, config } = this.#services
    return new Promise((resolve, reject) => {
      const pump = new StreamPump(
        stream,
        config.streamBytes,
        (progress, bytes) => {
          metrics.streamedBytes.inc(bytes)
          this.#sendProgress(progress)
        },
        reject,
      )
      const timer = setTimeout(() => reject(tooLate(config.streamSeconds)), Math.max(0, endsAt - Date.now()))
      const read = async (): Promise<StreamResult> => {
        for (let line = await lines.next(); line !== null; line = await lines.next()) {
          const { number, value } = line
          const read = readStreamLine(number, value)
          if (read.is === 'text') {
            pump.push(read.text, read.at)
            await pump.room()
            continue
          }
          // A withdrawal must be possible also if the waiting text cannot be written.
          if (read.is === 'withdraw') await pump.discard()
          else await pump.flush()
          clearTimeout(timer)
          return stream.end(read.is)
        }
        await pump.settle()
        throw new ClientDisconnectedError('the body ended before the end of the stream')
      }
      for (const signal of [stream.stopped, this.#rejected.signal]) {
        const stop = (): void => reject(signal.reason as Error)
        if (signal.aborted) stop()
        signal.addEventListener('abort', stop, { once: true })
      }
      read()
        .then(resolve, reject)
        .finally(() => clearTimeout(timer))
    })
  }

  /** Sends the state after an update. A later state replaces one that the client is not ready to receive. */
  #sendProgress(progress: object): void {
    if (!this.#response.writableNeedDrain) this.#send(progress)
  }

  #send(line: object): void {
    if (!this.#response.writableEnded) this.#response.write(`${JSON.stringify(line)}\n`)
  }

  /** @throws ApiError ABORTED if the content was deleted because of overlaps */
  #sendDone(done: StreamResult): void {
    const { outcome, overlaps = [], overlapCount } = done
    if (outcome === 'overlapped') throw overlapError({ overlaps, ...(overlapCount && { overlapCount }) })
    this.#response.end(`${JSON.stringify({ done })}\n`)
  }

  /** Ends a response that has begun with an error. */
  sendError(error: unknown): void {
    const { requestId } = this.#response.weftLocals
    if (this.#response.writableEnded) return
    if (error instanceof ClientDisconnectedError && !this.#request.complete)
      return void this.#response.destroy()
    const known = error instanceof ClientDisconnectedError ? bodyEnded() : toApiError(error)
    if (known === null)
      this.#services.log.error({ err: error, requestId, route: contentStreamPath }, 'request failed')
    const shown = known ?? new ApiError('server/internal', `internal error; request id ${requestId}`)
    this.#response.end(`${JSON.stringify(errorEnvelope(shown))}\n`)
  }

  /** Reads the rest of the body for some time, so that the client can receive the response. */
  discardRest(): void {
    this.#lines?.discardRest()
  }
}

/** Resolves with the result of `work`. Rejects if it takes longer than `ms`. */
function within<T>(ms: number, work: Promise<T>, late: () => ApiError): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Returns a hash of an opening. The order of its members does not matter. */
function fingerprintOf(opening: Opening): string {
  const sorted = (_name: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  return createHash('sha256').update(JSON.stringify(opening, sorted)).digest('base64')
}

const linesType = /^application\/(?:x-ndjson|jsonl)[ \t]*(;[ \t]*charset=("utf-8"|utf-8)[ \t]*)?$/i

function checkLinesType({ headers }: IncomingMessage): void {
  if (!linesType.test(headers['content-type'] ?? ''))
    throw invalid(
      'request/content-type',
      `the content type must be ${jsonLinesType} (with charset utf-8, if any)`,
    )
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw invalid(
      'request/content-type',
      'the body must not be compressed: content-encoding is not supported',
    )
}

const openingTooLate = (): ApiError =>
  new ApiError('request/timeout', `the opening did not arrive within ${openingMs / 1000} s; try again`)

const bodyEnded = (): ApiError =>
  invalid(
    'crdt/invalid-stream',
    'the body ended without { "end": true }; open the stream again to continue it',
  )

const tooLong = (bytesMax: number): ApiError =>
  invalid(
    'crdt/invalid-stream',
    `the body is longer than ${bytesMax} bytes; divide the content among several streams`,
  )
