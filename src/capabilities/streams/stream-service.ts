import { createHash, randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../../core/base/errors.ts'
import type { MatchedPlace } from '../../core/content/edit/edit.ts'
import type { OverlapPolicy } from '../../core/content/merge/overlap.ts'
import {
  nothingReplaced,
  type ReplacedIds,
  type StreamPlaceRequest,
} from '../../core/content/stream/stream-place.ts'
import { TransactionRunner } from '../../core/directory/store/transaction.ts'
import { FencedRight, type WriteRight } from '../../core/directory/write-right.ts'
import { DocumentMovedError } from '../../core/forwarding/forwarder.ts'
import { JobConsumer, type JobDisposition } from '../../core/jobs/job-consumer.ts'
import { readPayload } from '../../core/jobs/job-payload.ts'
import { addressKey, type DocumentAddress, type Tenant } from '../../core/model/address.ts'
import type { ChangeMeta } from '../../core/model/change-origin.ts'
import { KeyedCounter } from '../../core/quota/keyed-counter.ts'
import { exhausted, type LimitName } from '../../core/quota/limits.ts'
import { BackendEdits } from '../../core/rooms/edits/backend-edits.ts'
import { noContent } from '../../core/rooms/edits/edit-conditions.ts'
import { StreamEdits } from '../../core/rooms/edits/stream-edits.ts'
import type { NewWriter } from '../../core/rooms/presence/virtual-users.ts'
import type { ClaimedJob, Key } from '../../core/store/engine.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import { entryPages } from '../../core/store/pages.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import type { Services } from '../../rest/services.ts'
import { OpenStream, serverStopping, takenOver, tooLate } from './open-stream.ts'
import {
  replacedRecordType,
  type StreamEnding,
  type StreamName,
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

export interface StreamOpening {
  readonly address: DocumentAddress
  /** Id of the stream. The streams of an agent have ids of their own; all others of an API key share their ids. */
  readonly streamId: string
  readonly request: StreamPlaceRequest
  readonly baseVersion?: string | undefined
  /** Name of the schema of the root; undefined: the attached one. */
  readonly schema?: string | undefined
  /** As in `StreamRecord`. */
  readonly onOverlap: OverlapPolicy
  /** Author of the content; '' if the author is unknown. */
  readonly userId: string
  readonly meta: ChangeMeta | null
  /** Hash of the opening. A writer that continues the stream must send the same opening. */
  readonly fingerprint: string
}

interface StreamPermission {
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
  /** Ends the connection without an end of the stream. The writer can come back. */
  readonly cut: () => Promise<void>
  /** Ends the stream with a result that is durable in the document. */
  readonly finish: (result: StreamResult) => Promise<void>
}

/** Time in ms after the last moment of a stream, for which a writer can still get its result. */
const resultMs = 600_000
/** Interval in ms at which due jobs are claimed. */
const pollMs = 1_000
/** Maximum number of streams that are read together. */
const listedAtOnce = 100
/** Maximum number of jobs that run at the same time. */
const jobsAtOnce = 8

interface ActiveStream {
  readonly document: Key
  /** Resolves when the connection has stored that it does not write any more. */
  readonly leave: (reason: ApiError) => Promise<void>
}

/**
 * The streams of all writers. A stream has a record, which is committed before its first update. How much content is
 * durable follows from the document itself, so a writer continues at any node, without a gap and without a repeated unit.
 * If it does not come back, its content stays as it is.
 */
export class StreamService {
  readonly #services: Services
  readonly #transactions: TransactionRunner
  readonly #active = new Map<string, ActiveStream>()
  /** Streams that are being opened. */
  readonly #opening = new KeyedCounter(1)
  readonly #perKey: KeyedCounter
  readonly #perAgent: KeyedCounter
  readonly #consumer: JobConsumer

  constructor(services: Services) {
    this.#services = services
    const { engine, clock, log, config, stopping } = services
    this.#transactions = new TransactionRunner(engine.kv)
    this.#perKey = new KeyedCounter(config.streamsPerKey)
    this.#perAgent = new KeyedCounter(config.streamsPerAgent)
    this.#consumer = new JobConsumer({
      queue: engine.queue,
      name: streamQueue,
      clock,
      log,
      pollMs,
      atOnce: jobsAtOnce,
      carryOut: (job) => this.#remove(job),
    })
    // All streams of this node are cut when the server stops.
    stopping.addEventListener('abort', () => void this.#cut(serverStopping()))
    engine.cluster.onLose((isLost) => this.#cut(new DocumentMovedError(), ({ document }) => isLost(document)))
  }

  /** Starts to end the streams whose writers do not come back. */
  start(): void {
    this.#consumer.start()
  }

  /** Resolves when no stream of this node is open, and no job runs. */
  async stop(): Promise<void> {
    await this.#consumer.stop()
    await this.#cut(serverStopping())
  }

  /** Cuts streams of this node, so that their writers continue elsewhere. Default: all streams. */
  async #cut(reason: ApiError, isCut: (active: ActiveStream) => boolean = () => true): Promise<void> {
    const cut = [...this.#active.values()].filter(isCut)
    await Promise.all(cut.map(({ leave }) => leave(reason)))
  }

  /**
   * Opens a stream, or continues it if there is one with this id. If its writer has requested an ending before, the
   * ending is carried out, and the stream has ended.
   * @throws ApiError as for `findStreamPlace`; NOT_FOUND; ALREADY_EXISTS if another stream has this id;
   * INVALID_ARGUMENT if the time of the stream is over; RESOURCE_EXHAUSTED; UNAVAILABLE; as for `OpenStream.carryOut` if
   * an ending is carried out
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
      const { matched, endsAt, result } = record
      if (result !== null) {
        leave()
        return { matched, endsAt, stream: result, cut: done, finish: done }
      }
      const entered = await this.#entered(address, record, permission, leave)
      return record.ending === null ? entered : await this.#ended(entered, record.ending)
    } catch (error) {
      leave()
      throw error
    } finally {
      settled()
    }
  }

  /**
   * Fails while a stream of an editor has not ended. A writer that does not come back counts until its time is over.
   * @throws ApiError FAILED_PRECONDITION
   */
  async requireNone(address: DocumentAddress): Promise<void> {
    const now = this.#services.clock.now()
    const { kv } = this.#services.engine
    const range = { prefix: streamKeys.streams, limit: listedAtOnce }
    for await (const entries of entryPages((page) => kv.scan(streamsPart(address), page), range))
      for (const entry of entries) {
        const record = readRecord(streamRecordType, entry)
        const isHere = isDeepStrictEqual(addressKey({ ...address, ...record }), addressKey(address))
        const isOpen = record.result === null && (record.ending !== null || record.endsAt > now)
        if (isHere && isOpen)
          throw new ApiError(
            'crdt/open-streams',
            'a stream writes to the editor; repeat the call when it has ended',
          )
      }
  }

  /** Carries out the ending that the writer has requested on an earlier connection. */
  async #ended(
    entered: EnteredStream & { readonly stream: OpenStream },
    ending: StreamEnding,
  ): Promise<EnteredStream> {
    try {
      const result = await entered.stream.carryOut(ending)
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
    const { metrics, config } = this.#services
    const agent = agentId === null ? null : keyName([apiKey, agentId])
    if (!takesPlace && agent !== null && this.#perAgent.isFull(agent))
      throw tooMany('streamsPerAgent', 'agent', config.streamsPerAgent)
    if (!takesPlace && this.#perKey.isFull(apiKey))
      throw tooMany('streamsPerKey', 'API key', config.streamsPerKey)
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
    const { rooms, schemas, clock, config } = this.#services
    const { address, request, baseVersion, onOverlap, userId, meta, fingerprint } = opening
    const { streamId } = name
    const named = opening.schema ?? (await schemas.attachedTo(address))?.schema
    const schema = named === undefined ? null : await schemas.named(address, named)
    const { found, client, counter, epoch, generation } = await rooms.use(address, async (room) => {
      const { count: generation } = room.generations
      const read = await new BackendEdits(room).streamPlace(request, schema, baseVersion)
      if (read === null || right.fence === null) throw noContent()
      const [client, counter] = newClients(room.state.clocks)
      const { place, replaced } = read.result
      // An agent must learn before it writes that it must not replace protected content.
      if (right.protects?.length && replaced.ranges.length + replaced.elements.length > 0) {
        const ending = {
          epoch: room.epoch,
          generation,
          received: 0,
          isRepeated: false,
          dryRun: true,
        } as const
        const options = { expects: 'content', right, ...ending } as const
        await new StreamEdits(room).replace(userId, { place, client, counter }, replaced, 'report', options)
      }
      return { found: read.result, client, counter, epoch: room.epoch, generation }
    })
    const { place, matched, replaced } = found
    const replaces = replaced.ranges.length + replaced.elements.length > 0
    const { organizationId, documentId, editorId } = address
    const endsAt = clock.now() + config.streamSeconds * 1000
    const record: StreamRecord = {
      streamId,
      organizationId,
      documentId,
      editorId,
      fingerprint,
      epoch,
      generation,
      place,
      matched,
      replaces,
      ending: null,
      client,
      counter: place.as === 'blocks' ? counter : null,
      schema: named ?? null,
      onOverlap,
      userId,
      meta,
      endsAt,
      bytes: 0,
      content: { units: 0, bytes: 0 },
      turn: 1,
      result: null,
    }
    await this.#transactions.run(streamsPart(address), async (transaction) => {
      if ((await transaction.get(streamKeys.stream(streamId), streamRecordType)) !== null) throw takenOver()
      transaction.put(streamKeys.stream(streamId), record)
      if (replaces) transaction.put(streamKeys.replaced(streamId), toReplacedRecord(replaced))
      transaction.enqueue(streamJob(name, endsAt + resultMs))
    })
    return record
  }

  /**
   * Makes this connection the writer of an existing stream. Ends the connection that writes it now; if another node
   * has that connection, the fence of the stream rejects its updates. Returns null if there is no stream.
   * @throws ApiError ALREADY_EXISTS if the stream has another opening; its connection continues
   */
  async #continue(name: StreamName, opening: StreamOpening): Promise<StreamRecord | null> {
    const { clock, config } = this.#services
    const { streamId } = name
    const found = await this.#read(name)
    if (found === null) return null
    checkOpening(found, opening)
    await this.#active.get(streamKey(name))?.leave(takenOver())
    return this.#transactions.run(streamsPart(name), async (transaction) => {
      const record = await transaction.get(streamKeys.stream(streamId), streamRecordType)
      if (record === null || record.result !== null) return record
      if (record.ending === null && record.endsAt <= clock.now()) throw tooLate(config.streamSeconds)
      const next: StreamRecord = { ...record, turn: record.turn + 1 }
      transaction.put(streamKeys.stream(streamId), next)
      transaction.raise([streamFence(name)])
      return next
    })
  }

  async #entered(
    address: DocumentAddress,
    record: StreamRecord,
    permission: StreamPermission,
    leave: () => void,
  ): Promise<EnteredStream & { readonly stream: OpenStream }> {
    const { matched, endsAt, streamId, turn } = record
    const stream = await this.#opened(address, record, permission)
    const name = { ...address, streamId }
    const key = streamKey(name)
    let left: Promise<void> | null = null
    const end = (reason: ApiError, result: StreamResult | null): Promise<void> => {
      left ??= (async () => {
        await stream.stop(reason)
        try {
          const { bytes, content } = stream
          const isStored = await this.#update(name, turn, { bytes, content, result })
          if (isStored && result !== null)
            this.#services.metrics.streamsEnded.inc({ outcome: result.outcome })
        } finally {
          if (this.#active.get(key) === active) this.#active.delete(key)
          leave()
        }
      })()
      return left
    }
    const document = addressKey(address)
    const active: ActiveStream = { document, leave: (reason) => end(reason, null).catch(() => {}) }
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
      finish: (result) => end(takenOver(), result),
    }
  }

  /**
   * Reads how much of a stream is durable. The stream can be written while its record has this turn.
   * @throws ApiError if its document was deleted meanwhile
   */
  async #opened(
    address: DocumentAddress,
    record: StreamRecord,
    { right: writerRight, full, shown }: StreamPermission,
  ): Promise<OpenStream> {
    const { rooms, engine, schemas, clock } = this.#services
    const { userId, streamId, turn } = record
    const { contentKey } = record.place
    const name = { ...address, streamId }
    const right = await FencedRight.read({
      within: writerRight,
      fences: engine.fences,
      clock,
      names: [streamFence(name)],
      check: async () => {
        const present = await this.#read(name)
        if (present?.turn !== turn) throw takenOver()
        return Number.POSITIVE_INFINITY
      },
    })
    const schema = record.schema === null ? null : await schemas.named(address, record.schema)
    const { received, version, epoch, cursor } = await rooms.use(address, (room) =>
      new StreamEdits(room).received(record),
    )
    if (epoch !== record.epoch) throw noContent()
    const caret =
      userId === ''
        ? null
        : rooms.presence.use(address, (presence) =>
            presence.showWriter({ ...shown, userId, editorId: address.editorId, contentKey, cursor }),
          )
    return new OpenStream({
      rooms,
      address,
      record,
      schema,
      right,
      received,
      version,
      caret,
      full,
      beginEnd: async (ending, { bytes, content }) => {
        await right.recheck()
        if (!(await this.#update(name, turn, { ending, bytes, content }))) throw takenOver()
      },
      replaced: () => this.#replaced(name),
    })
  }

  async #replaced(name: StreamName): Promise<ReplacedIds> {
    const reader = this.#transactions.reader(streamsPart(name))
    const replaced = await reader.get(streamKeys.replaced(name.streamId), replacedRecordType)
    return replaced === null ? nothingReplaced : toReplacedIds(replaced)
  }

  #read(name: StreamName): Promise<StreamRecord | null> {
    const reader = this.#transactions.reader(streamsPart(name))
    return reader.get(streamKeys.stream(name.streamId), streamRecordType)
  }

  /** Changes the record of a stream. Resolves with false if another connection has begun to write the stream. */
  #update(name: StreamName, turn: number, changed: Partial<StreamRecord>): Promise<boolean> {
    return this.#transactions.run(streamsPart(name), async (transaction) => {
      const record = await transaction.get(streamKeys.stream(name.streamId), streamRecordType)
      if (record?.turn !== turn) return false
      transaction.put(streamKeys.stream(name.streamId), { ...record, ...changed })
      return true
    })
  }

  /** Removes the record of a stream. */
  async #remove({ payload }: ClaimedJob): Promise<JobDisposition> {
    const name = readPayload(streamNameSchema, payload)
    await this.#transactions.run(streamsPart(name), async (transaction) => {
      transaction.delete(streamKeys.stream(name.streamId))
      transaction.delete(streamKeys.replaced(name.streamId))
    })
    return 'done'
  }
}

const tooMany = (limit: LimitName, writer: 'agent' | 'API key', max: number): ApiError =>
  exhausted(limit, max, {
    problem: `the ${writer} has ${max} open streams on this node`,
    remedy: 'end some',
    retryAfterSeconds: 1,
  })

const done = async (): Promise<void> => {}

/** Returns two client ids of Yjs that the document does not have. */
function newClients(clocks: ReadonlyMap<number, number>): readonly [number, number] {
  for (;;) {
    const [one, other] = [randomInt(1, 2 ** 32), randomInt(1, 2 ** 32)]
    if (one !== other && !clocks.has(one) && !clocks.has(other)) return [one, other]
  }
}

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
