import { createHash, randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { TtlCache } from '../access/ttl-cache.ts'
import type { Clock } from '../clock.ts'
import type { MatchedPlace } from '../content/edit/edit.ts'
import type { ReplacedIds, StreamPlaceRequest } from '../content/stream/stream-place.ts'
import type { DocumentService } from '../directory/documents/document-service.ts'
import type { SchemaService } from '../directory/schemas/schema-service.ts'
import { TransactionRunner } from '../directory/store/transaction.ts'
import { FencedRight, type WriteRight } from '../directory/write-right.ts'
import type { ClaimedJob, Engine } from '../engine/engine.ts'
import { keyName } from '../engine/key-encoding.ts'
import { ApiError } from '../errors.ts'
import { JobConsumer, type JobDisposition } from '../jobs/job-consumer.ts'
import { readPayload } from '../jobs/job-payload.ts'
import { readJsonOrNull } from '../json.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { DocumentAddress, Tenant } from '../model/address.ts'
import type { ChangeMeta } from '../model/change-origin.ts'
import { KeyedCounter } from '../quota/keyed-counter.ts'
import { exhausted } from '../quota/limits.ts'
import { noContent } from '../rooms/edits/edit-context.ts'
import type { NewWriter } from '../rooms/presence/shown-writer.ts'
import type { RoomRegistry } from '../rooms/room/room-registry.ts'
import { OpenStream, takenOver } from './open-stream.ts'
import {
  type CutEffect,
  replacedRecordType,
  type StreamEnding,
  type StreamName,
  type StreamOutcome,
  type StreamPhase,
  type StreamRecord,
  type StreamResult,
  streamFence,
  streamJob,
  streamKey,
  streamKeys,
  streamNameSchema,
  streamQueue,
  streamRecordType,
  streamsPart,
  toReplacedIds,
  toReplacedRecord,
} from './stream-records.ts'

export interface StreamLimits {
  /** Maximum bytes of the content of a stream, in UTF-8. */
  readonly bytes: number
  /** Maximum time from the opening of a stream to its end, in ms. */
  readonly ms: number
  /** Time in ms in which a writer can come back. */
  readonly resumeMs: number
  /** Maximum number of open streams of an API key on this node. */
  readonly perKey: number
  /** Maximum number of open streams of an agent on this node. */
  readonly perAgent: number
}

export interface StreamServiceOptions {
  readonly engine: Pick<Engine, 'kv' | 'queue' | 'bus' | 'fences' | 'cluster'>
  readonly rooms: RoomRegistry
  readonly documents: Pick<DocumentService, 'rightToChange'>
  readonly schemas: Pick<SchemaService, 'attachedTo' | 'named'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'streamsOpen' | 'streamsEnded'>
  readonly limits: StreamLimits
  /** Aborted when the server stops. All streams of this node are then cut. */
  readonly stopping: AbortSignal
}

/** The opening of a stream. */
export interface StreamOpening {
  readonly address: DocumentAddress
  /** Id of the stream. The streams of an agent have ids of their own; all others of an API key share their ids. */
  readonly streamId: string
  readonly request: StreamPlaceRequest
  readonly baseVersion?: string | undefined
  /** Name of the schema of the root; undefined: the attached one. */
  readonly schema?: string | undefined
  readonly onCut: CutEffect
  /** Author of the content; '' if the author is unknown. */
  readonly userId: string
  readonly meta: ChangeMeta | null
  /** Hash of the opening. A writer that continues the stream must send the same opening. */
  readonly fingerprint: string
}

export interface StreamPermission {
  /** The permission to change the document. */
  readonly right: WriteRight
  /** Id of the agent that writes, for the limit of its streams; null if the writer is not an agent. */
  readonly agentId: string | null
  /** How open editors show the writer. */
  readonly shown: Pick<NewWriter, 'name' | 'kind' | 'data'>
  /** As in `OpenStreamOptions`. */
  readonly full: () => Promise<ApiError | null>
}

/** A stream that a writer has opened. */
export interface EnteredStream {
  readonly matched: MatchedPlace
  /** Time after which nothing more is written, in epoch milliseconds. */
  readonly endsAt: number
  /** The stream, or its result if it has already ended. */
  readonly stream: OpenStream | StreamResult
  /** Ends the connection without an end of the stream. The writer can come back, unless its time is over. */
  readonly cut: () => Promise<void>
  /** Ends the stream with a result that is durable in the document. */
  readonly finish: (result: StreamResult) => Promise<void>
}

/** Time in ms for which the result of a stream is kept for a writer that has not received it. */
const resultMs = 600_000
/** Maximum number of results that this process keeps in addition, for streams whose results the store has rejected. */
const keptResultsMax = 10_000
/** Interval in ms at which due jobs are claimed. */
const pollMs = 1_000
/** Bounds of the interval in ms at which the job of an open stream checks its writer. */
const checkMsMin = 500
const checkMsMax = 5_000
/** Maximum time in ms for which a new connection waits for the node of the previous one. */
const handOverMs = 1_000
const handOverPollMs = 20
/** Maximum number of jobs that run at the same time. */
const jobsAtOnce = 8
/** Time in ms for which the end of a stream is tried again if its document does not allow it. */
const cutMsMax = 86_400_000
/** Maximum pause in ms between these tries. */
const cutPauseMsMax = 300_000
/** Codes of errors after which the content of a stream no longer exists. */
const goneCodes: ReadonlySet<string> = new Set([
  'crdt/no-content',
  'crdt/stream-place-removed',
  'document/not-found',
  'document/being-deleted',
  'organization/not-found',
  'organization/being-deleted',
])
/** Topic with the names of streams that another connection continues. */
const takeOverTopic = 'streams.taken-over'

const nothing: ReplacedIds = { ranges: [], elements: [] }

interface ActiveStream {
  readonly stream: OpenStream
  /** Resolves when the connection has stored that it does not write any more. */
  readonly leave: (reason: ApiError) => Promise<void>
}

interface RequestedEnding {
  readonly ending: StreamEnding
  readonly size: Pick<StreamRecord, 'bytes' | 'content'>
}

/**
 * The streams of all writers. A stream has a record, which is committed before its first update, and a job, which ends
 * the stream if its writer does not come back, also after the process has died. How much content is durable follows from
 * the document itself, so a writer continues without a gap and without a repeated unit.
 */
export class StreamService {
  readonly #options: StreamServiceOptions
  readonly #transactions: TransactionRunner
  readonly #active = new Map<string, ActiveStream>()
  /** Streams that are being opened. */
  readonly #opening = new KeyedCounter(1)
  readonly #perKey: KeyedCounter
  readonly #perAgent: KeyedCounter
  /** The results of endings. If a result cannot be stored, the document does not show any more what was deleted. */
  readonly #results: TtlCache<StreamResult>
  readonly #consumer: JobConsumer
  readonly #endMessages: () => void

  constructor(options: StreamServiceOptions) {
    this.#options = options
    const { engine, clock, log, limits } = options
    this.#transactions = new TransactionRunner(engine.kv)
    this.#perKey = new KeyedCounter(limits.perKey)
    this.#perAgent = new KeyedCounter(limits.perAgent)
    this.#results = new TtlCache({ clock, max: keptResultsMax, keepMs: resultMs })
    this.#consumer = new JobConsumer({
      queue: engine.queue,
      name: streamQueue,
      clock,
      log,
      pollMs,
      atOnce: jobsAtOnce,
      carryOut: (job) => this.#carryOut(job),
    })
    options.stopping.addEventListener('abort', () => void this.#cutAll())
    this.#endMessages = engine.bus.subscribe(takeOverTopic, (message) => {
      const name = readJsonOrNull(streamNameSchema, message)
      if (name !== null) void this.#active.get(streamKey(name))?.leave(takenOver())
    })
  }

  /** Interval in ms at which the job of an open stream checks its writer. */
  get #checkMs(): number {
    return Math.min(checkMsMax, Math.max(checkMsMin, this.#options.limits.resumeMs))
  }

  get limits(): StreamLimits {
    return this.#options.limits
  }

  /** Starts to end the streams whose writers do not come back. */
  start(): void {
    this.#consumer.start()
  }

  /** Resolves when no stream of this node is open, and no job runs. */
  async stop(): Promise<void> {
    await this.#consumer.stop()
    this.#endMessages()
    await this.#cutAll()
  }

  /** Cuts all streams of this node, so that their writers continue elsewhere. */
  async #cutAll(): Promise<void> {
    const reason = new ApiError('server/stopping', 'the server is stopping; open the stream again')
    await Promise.all([...this.#active.values()].map(({ leave }) => leave(reason)))
  }

  /**
   * Opens a stream, or continues it if there is one with this id. If its writer has requested an ending before, the
   * ending is carried out, and the stream has ended.
   * @throws ApiError as for `findStreamPlace`; NOT_FOUND; ALREADY_EXISTS if another stream has this id;
   * FAILED_PRECONDITION if the stream was ended because its writer did not come back; RESOURCE_EXHAUSTED; UNAVAILABLE;
   * as for `OpenStream.carryOut` if an ending is carried out
   */
  async open(opening: StreamOpening, permission: StreamPermission): Promise<EnteredStream> {
    const { address } = opening
    const name = nameOf(opening, permission)
    const key = streamKey(name)
    // A writer that takes over its own stream gets the place of its old connection in the limits.
    const takesPlace = this.#active.has(key) && !this.#opening.isFull(key)
    const leave = this.#enter(address, permission.agentId, takesPlace)
    const settled = this.#opening.enter(key)
    try {
      const record =
        (await this.#continue(name, opening)) ?? (await this.#begin(name, opening, permission.right))
      const entered = await this.#entered(address, record, permission, leave)
      return record.ending === null ? entered : await this.#ended(entered, record.ending)
    } catch (error) {
      leave()
      throw error
    } finally {
      settled()
    }
  }

  /** Carries out the ending that the writer has requested on an earlier connection. */
  async #ended(entered: EnteredStream, ending: StreamEnding): Promise<EnteredStream> {
    const { stream } = entered
    if (!(stream instanceof OpenStream)) return entered
    try {
      const result = await stream.carryOut(ending)
      await entered.finish(result)
      return { ...entered, stream: result }
    } catch (error) {
      await entered.cut()
      throw error
    }
  }

  /**
   * Counts an open stream.
   * @param takesPlace true if another connection of the same stream is counted, and ends before this one writes
   * @throws ApiError RESOURCE_EXHAUSTED
   */
  #enter({ apiKey }: Tenant, agentId: string | null, takesPlace: boolean): () => void {
    const { limits, metrics } = this.#options
    const agent = agentId === null ? null : keyName([apiKey, agentId])
    if (!takesPlace && agent !== null && this.#perAgent.isFull(agent))
      throw exhausted('streamsPerAgent', limits.perAgent, {
        problem: `the agent has ${limits.perAgent} open streams on this node`,
        remedy: 'end some',
        retryAfterSeconds: 1,
      })
    if (!takesPlace && this.#perKey.isFull(apiKey))
      throw exhausted('streamsPerKey', limits.perKey, {
        problem: `the API key has ${limits.perKey} open streams on this node`,
        remedy: 'end some',
        retryAfterSeconds: 1,
      })
    const leaves = [this.#perKey.enter(apiKey), ...(agent === null ? [] : [this.#perAgent.enter(agent)])]
    metrics.streamsOpen.inc()
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      for (const leave of leaves) leave()
      metrics.streamsOpen.dec()
    }
  }

  /** Finds the place of a new stream, and stores its record. */
  async #begin(name: StreamName, opening: StreamOpening, right: WriteRight): Promise<StreamRecord> {
    const { rooms, schemas, clock, limits, engine } = this.#options
    const { address, request, baseVersion, onCut, userId, meta, fingerprint } = opening
    const { streamId } = name
    const named = opening.schema ?? (await schemas.attachedTo(address))?.schema
    const schema = named === undefined ? null : await schemas.named(address, named)
    const { found, client, counter, epoch } = await rooms.use(address, async (room) => {
      const read = await room.editing.streamPlace(request, schema, baseVersion)
      if (read === null || right.fence === null) throw noContent()
      const [client, counter] = newClients(room.state.clocks)
      return { found: read.result, client, counter, epoch: room.epoch }
    })
    const { place, matched, replaced } = found
    const replaces = replaced.ranges.length + replaced.elements.length > 0
    const { organizationId, documentId, editorId } = address
    const now = clock.now()
    const record: StreamRecord = {
      streamId,
      organizationId,
      documentId,
      editorId,
      fingerprint,
      epoch,
      place,
      matched,
      replaces,
      ending: null,
      client,
      counter: place.as === 'blocks' ? counter : null,
      schema: named ?? null,
      onCut,
      userId,
      meta,
      endsAt: now + limits.ms,
      bytes: 0,
      content: { units: 0, bytes: 0 },
      turn: 1,
      phase: { is: 'open', owner: engine.cluster.incarnation },
    }
    await this.#transactions.run(streamsPart(address), async (transaction) => {
      if ((await transaction.get(streamKeys.stream(streamId), streamRecordType)) !== null) throw takenOver()
      transaction.put(streamKeys.stream(streamId), record)
      if (replaces) transaction.put(streamKeys.replaced(streamId), toReplacedRecord(replaced))
      transaction.enqueue(streamJob(name, now + this.#checkMs))
    })
    return record
  }

  /** Makes this connection the writer of an existing stream. Returns null if there is none. */
  async #continue(name: StreamName, opening: StreamOpening): Promise<StreamRecord | null> {
    const { engine, clock } = this.#options
    const { streamId } = name
    if (!(await this.#handOver(name, opening))) return null
    const { result } = await this.#transactions.run(streamsPart(name), async (transaction) => {
      const record = await transaction.get(streamKeys.stream(streamId), streamRecordType)
      if (record === null) return null
      checkOpening(record, opening)
      const { phase } = record
      if (phase.is === 'ended') return record
      if (record.ending === null && isOver(record, clock.now())) throw ended(outcomes[record.onCut])
      const next: StreamRecord = {
        ...record,
        turn: record.turn + 1,
        phase: { is: 'open', owner: engine.cluster.incarnation },
      }
      transaction.put(streamKeys.stream(streamId), next)
      transaction.raise([streamFence(name)])
      return next
    })
    return result
  }

  /**
   * Stops the connection that writes the stream now. Resolves with false if there is no stream. If the other node does
   * not answer in time, the fence of the stream rejects its updates.
   * @throws ApiError ALREADY_EXISTS if the stream has another opening; its connection continues
   */
  async #handOver(name: StreamName, opening: StreamOpening): Promise<boolean> {
    const { engine, clock } = this.#options
    const until = clock.now() + handOverMs
    for (let tries = 0; ; tries += 1) {
      const record = await this.#read(name)
      if (record === null) return false
      checkOpening(record, opening)
      if (record.phase.is !== 'open') return true
      const { owner } = record.phase
      if (owner === engine.cluster.incarnation) {
        await this.#active.get(streamKey(name))?.leave(takenOver())
        return true
      }
      if (clock.now() >= until || !(await engine.cluster.isAlive(owner))) return true
      const { workspaceId, apiKey, streamId } = name
      if (tries === 0)
        engine.bus.publish(takeOverTopic, Buffer.from(JSON.stringify({ workspaceId, apiKey, streamId })))
      await pause(handOverPollMs)
    }
  }

  async #entered(
    address: DocumentAddress,
    record: StreamRecord,
    permission: StreamPermission,
    leave: () => void,
  ): Promise<EnteredStream> {
    const { matched, endsAt, phase, streamId } = record
    if (phase.is === 'ended') {
      leave()
      if (phase.isCut) throw ended(phase.result.outcome)
      const nothing = async (): Promise<void> => {}
      return { matched, endsAt, stream: phase.result, cut: nothing, finish: nothing }
    }
    const stream = await this.#opened(address, record, permission)
    const name = { ...address, streamId }
    const key = streamKey(name)
    let left: Promise<void> | null = null
    const end = (reason: ApiError, phaseOf: () => StreamPhase, stored = (): void => {}): Promise<void> => {
      left ??= (async () => {
        await stream.stop(reason)
        try {
          if (await this.#setPhase(name, record.turn, phaseOf(), stream)) stored()
        } finally {
          // If the store has failed, the job of the stream finds that no connection writes it.
          if (this.#active.get(key) === active) this.#active.delete(key)
          leave()
        }
      })()
      return left
    }
    const { clock, limits } = this.#options
    const cutPhase = (): StreamPhase => ({
      is: 'cut',
      until: Math.min(endsAt, clock.now() + limits.resumeMs),
    })
    const active: ActiveStream = {
      stream,
      leave: (reason) => end(reason, cutPhase).catch(() => {}),
    }
    this.#active.set(key, active)
    return {
      matched,
      endsAt,
      stream,
      cut: () =>
        active.leave(
          new ApiError('server/stopping', 'the connection has ended; open the stream again to continue it'),
        ),
      // If another connection has taken over the stream meanwhile, that one stores the result.
      finish: (result) =>
        end(
          takenOver(),
          () => ({ is: 'ended', until: clock.now() + resultMs, isCut: false, result }),
          () => this.#options.metrics.streamsEnded.inc({ outcome: result.outcome }),
        ),
    }
  }

  /**
   * Reads how much of a stream is durable. The stream can be written while its record has this phase and this turn.
   * @throws ApiError if its document was deleted meanwhile
   */
  async #opened(
    address: DocumentAddress,
    record: StreamRecord,
    {
      right: writerRight,
      full,
      shown,
    }: Pick<StreamPermission, 'right' | 'full'> & { readonly shown: StreamPermission['shown'] | null },
  ): Promise<OpenStream> {
    const { rooms, engine, schemas, clock } = this.#options
    const { place, client, counter, userId, meta, streamId, turn, phase, bytes, content } = record
    const name = { ...address, streamId }
    const right = await FencedRight.read({
      within: writerRight,
      fences: engine.fences,
      clock,
      names: [streamFence(name)],
      check: async () => {
        const present = await this.#read(name)
        if (present?.turn !== turn || present.phase.is !== phase.is) throw takenOver()
        return Number.POSITIVE_INFINITY
      },
    })
    const writer = { place, client, counter }
    const schema = record.schema === null ? null : await schemas.named(address, record.schema)
    const { received, version, epoch, cursor } = await rooms.use(address, (room) =>
      room.streaming.received(writer),
    )
    if (epoch !== record.epoch) throw noContent()
    const { contentKey } = place
    const caret =
      shown === null || userId === ''
        ? null
        : rooms.presence.showWriter(address, {
            ...shown,
            userId,
            editorId: address.editorId,
            contentKey,
            cursor,
          })
    return new OpenStream({
      rooms,
      address,
      writer,
      schema,
      right,
      userId,
      meta,
      epoch,
      received,
      version,
      bytes,
      content,
      caret,
      full,
      beginEnd: (ending, size) => this.#beginEnd(name, record, right, { ending, size }),
      once: (ending, carryOut) =>
        this.#results.get(keyName([...streamFence(name), `${client}`, ending]), carryOut),
      replaced: () => this.#replaced(name),
    })
  }

  /** As in `OpenStreamOptions`. A disabled document does not prevent the record: the ending is then carried out later. */
  async #beginEnd(
    name: StreamName,
    { turn, phase }: StreamRecord,
    right: WriteRight,
    { ending, size: { bytes, content } }: RequestedEnding,
  ): Promise<void> {
    await right.recheck().catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'document/disabled') throw error
    })
    await this.#transactions.run(streamsPart(name), async (transaction) => {
      const key = streamKeys.stream(name.streamId)
      const record = await transaction.get(key, streamRecordType)
      if (record?.turn !== turn || record.phase.is !== phase.is) throw takenOver()
      transaction.put(key, { ...record, ending, bytes, content })
    })
  }

  async #replaced(name: StreamName): Promise<ReplacedIds> {
    const { result } = await this.#transactions.run(streamsPart(name), (transaction) =>
      transaction.get(streamKeys.replaced(name.streamId), replacedRecordType),
    )
    return result === null ? nothing : toReplacedIds(result)
  }

  async #read(name: StreamName): Promise<StreamRecord | null> {
    const { result } = await this.#transactions.run(streamsPart(name), (transaction) =>
      transaction.get(streamKeys.stream(name.streamId), streamRecordType),
    )
    return result
  }

  /** Stores the phase of a stream. Resolves with false if another connection has begun to write it. */
  async #setPhase(
    name: StreamName,
    turn: number,
    phase: StreamPhase,
    { bytes, content }: Pick<StreamRecord, 'bytes' | 'content'>,
  ): Promise<boolean> {
    const { result } = await this.#transactions.run(streamsPart(name), async (transaction) => {
      const record = await transaction.get(streamKeys.stream(name.streamId), streamRecordType)
      if (record === null || record.turn !== turn || record.phase.is === 'ended') return false
      transaction.put(streamKeys.stream(name.streamId), { ...record, phase, bytes, content })
      return true
    })
    return result
  }

  async #carryOut({ payload }: ClaimedJob): Promise<JobDisposition> {
    const { engine, clock, limits } = this.#options
    const name = readPayload(streamNameSchema, payload)
    const record = await this.#read(name)
    if (record === null) return 'done'
    const { phase } = record
    const now = clock.now()
    if (phase.is === 'ended') {
      if (phase.until > now) return { againAfterMs: phase.until - now }
      await this.#remove(name, record)
      return 'done'
    }
    if (phase.is === 'cut') {
      if (phase.until > now) return { againAfterMs: phase.until - now }
      return this.#applyCut(name, record, phase.until)
    }
    const isHere = this.#active.has(streamKey(name)) || this.#opening.isFull(streamKey(name))
    const isOwn = phase.owner === engine.cluster.incarnation
    if (isOwn ? !isHere : !(await engine.cluster.isAlive(phase.owner)))
      await this.#setPhase(name, record.turn, { is: 'cut', until: now + limits.resumeMs }, record)
    return { againAfterMs: this.#checkMs }
  }

  /**
   * Ends a stream whose writer did not come back. If the document does not allow it now, tries again later. The stream
   * stays in the phase `cut` meanwhile, so that its writer cannot continue.
   * @param since time since which the writer cannot come back, in epoch milliseconds
   */
  async #applyCut(name: StreamName, record: StreamRecord, since: number): Promise<JobDisposition> {
    const { clock, documents, metrics } = this.#options
    const key = streamKeys.stream(name.streamId)
    const { organizationId, documentId, editorId, onCut } = record
    const address = { ...name, organizationId, documentId, editorId }
    const { result: next } = await this.#transactions.run(streamsPart(name), async (transaction) => {
      const present = await transaction.get(key, streamRecordType)
      if (present === null || present.turn !== record.turn || present.phase.is !== 'cut') return null
      const owned: StreamRecord = { ...present, turn: present.turn + 1 }
      transaction.put(key, owned)
      transaction.raise([streamFence(name)])
      return owned
    })
    if (next === null) return { againAfterMs: this.#checkMs }
    const waitedMs = clock.now() - since
    const effect = next.ending ?? onCut
    let isCut = next.ending === null
    let result: StreamResult = {
      outcome: outcomes[effect],
      version: '',
      received: 0,
      bytes: next.bytes,
      deletions: 0,
    }
    try {
      const right = await documents.rightToChange(address)
      // The schema is for new content only.
      const opened = { ...next, schema: null }
      const stream = await this.#opened(address, opened, { right, full: async () => null, shown: null })
      result =
        effect === 'keep'
          ? { ...result, version: stream.version, received: stream.received }
          : await stream.carryOut(effect)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 'UNAVAILABLE') throw error
      const isGone = goneCodes.has(error.code)
      const isApplied = effect === 'keep' || (effect === 'withdraw' && isGone)
      if (!isApplied && !isGone && waitedMs < cutMsMax)
        return { againAfterMs: Math.max(this.#checkMs, Math.min(cutPauseMsMax, waitedMs / 2)) }
      isCut = true
      if (!isApplied) result = { ...result, outcome: 'failed' }
    }
    const until = clock.now() + resultMs
    const isStored = await this.#setPhase(name, next.turn, { is: 'ended', until, isCut, result }, next)
    if (!isStored) return { againAfterMs: this.#checkMs }
    metrics.streamsEnded.inc({ outcome: result.outcome })
    return { againAfterMs: resultMs }
  }

  async #remove(name: StreamName, record: StreamRecord): Promise<void> {
    await this.#transactions.run(streamsPart(name), async (transaction) => {
      const present = await transaction.get(streamKeys.stream(name.streamId), streamRecordType)
      if (present?.turn !== record.turn) return
      transaction.delete(streamKeys.stream(name.streamId))
      transaction.delete(streamKeys.replaced(name.streamId))
    })
  }
}

/** Returns two client ids of Yjs that the document does not have. */
function newClients(clocks: ReadonlyMap<number, number>): readonly [number, number] {
  for (;;) {
    const [one, other] = [randomInt(1, 2 ** 32), randomInt(1, 2 ** 32)]
    if (one !== other && !clocks.has(one) && !clocks.has(other)) return [one, other]
  }
}

/** Returns whether the writer of a stream cannot come back any more. */
const isOver = ({ phase, endsAt }: StreamRecord, now: number): boolean =>
  endsAt <= now || (phase.is === 'cut' && phase.until <= now)

/**
 * Returns the name of a stream. An id has no control characters, so an agent cannot use an id of others. Names stay in
 * the store after the erasure of the agent, and so contain a digest of its id.
 */
const nameOf = (
  { address: { workspaceId, apiKey }, streamId }: StreamOpening,
  { agentId }: StreamPermission,
): StreamName => ({
  workspaceId,
  apiKey,
  streamId: agentId === null ? streamId : `${digestOf(agentId)}\n${streamId}`,
})

const digestOf = (agentId: string): string => createHash('sha256').update(agentId).digest('hex')

/** @throws ApiError ALREADY_EXISTS if the stream has another opening */
function checkOpening({ fingerprint }: StreamRecord, opening: StreamOpening): void {
  if (fingerprint === opening.fingerprint) return
  throw new ApiError(
    'crdt/stream-conflict',
    `the stream "${opening.streamId}" has another opening; send the same one, or another streamId`,
  )
}

const outcomes: Readonly<Record<CutEffect | StreamEnding, StreamOutcome>> = {
  keep: 'kept',
  withdraw: 'withdrawn',
  end: 'done',
}

const ended = (outcome: StreamOutcome): ApiError =>
  new ApiError(
    'crdt/stream-ended',
    'the stream ended, because its writer did not come back in time; open a new one',
    { details: { outcome } },
  )
