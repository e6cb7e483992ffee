import * as v from 'valibot'
import type { MatchedPlace } from '../content/edit/edit.ts'
import { type ReplacedIds, type StreamPlace, streamFormats } from '../content/stream/stream-place.ts'
import type { Job, Key } from '../engine/engine.ts'
import { keyName } from '../engine/key-encoding.ts'
import type { RecordType } from '../engine/stored-record.ts'
import type { Tenant } from '../model/address.ts'
import type { ChangeMeta } from '../model/change-origin.ts'

/** The effect of a stream whose writer does not come back: its content stays, or is deleted. */
export const cutEffects = ['keep', 'withdraw'] as const

export type CutEffect = (typeof cutEffects)[number]

/** How a writer ends its stream: the content replaces the replaced content, or is deleted. */
export const streamEndings = ['end', 'withdraw'] as const

export type StreamEnding = (typeof streamEndings)[number]

/**
 * How a stream has ended. `done`: its writer has sent the end. `withdrawn`: its content was deleted. `kept`: its writer
 * did not come back, and the content stays. `failed`: the content or the replaced content could not be removed, because
 * the document did not allow it for a day, or does not exist any more.
 */
export type StreamOutcome = 'done' | 'withdrawn' | 'kept' | 'failed'

/** The result of a stream that has ended. */
export interface StreamResult {
  readonly outcome: StreamOutcome
  readonly version: string
  /** UTF-16 units of the content that the server has received. */
  readonly received: number
  /** Sum of the bytes of all updates of the stream that clients have received. */
  readonly bytes: number
  /** Deleted UTF-16 units and embeds. */
  readonly deletions: number
}

/** The phase of a stream. Times are in epoch milliseconds. */
export type StreamPhase =
  /** A process writes the stream. */
  | { readonly is: 'open'; readonly owner: string }
  /** The writer has disconnected, and can continue until this time. */
  | { readonly is: 'cut'; readonly until: number }
  /** The result is kept until this time. */
  | {
      readonly is: 'ended'
      readonly until: number
      /** True if the stream has ended because its writer did not come back. */
      readonly isCut: boolean
      readonly result: StreamResult
    }

/** A size of content: UTF-16 units, and bytes in UTF-8. */
export interface ContentSize {
  readonly units: number
  readonly bytes: number
}

/** A stream, from its opening until some time after its end. */
export interface StreamRecord {
  /** As in `StreamName`. */
  readonly streamId: string
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
  /** Hash of the opening. */
  readonly fingerprint: string
  /** Epoch of the log for which the place was found. */
  readonly epoch: number
  readonly place: StreamPlace
  readonly matched: MatchedPlace
  /** True if the stream replaces content. */
  readonly replaces: boolean
  /**
   * The ending that the writer has requested first, when all content was durable; null before. It must be carried out,
   * and all later lines of the writer are ignored.
   */
  readonly ending: StreamEnding | null
  readonly client: number
  /** As in `StreamWriter`. */
  readonly counter: number | null
  /** Name of the schema of the root; null without one. */
  readonly schema: string | null
  readonly onCut: CutEffect
  readonly userId: string
  readonly meta: ChangeMeta | null
  /** Time after which nothing more is written, in epoch milliseconds. */
  readonly endsAt: number
  /** Bytes of the updates of earlier connections. */
  readonly bytes: number
  /** UTF-16 units of the content that earlier connections have written, and their bytes in UTF-8. */
  readonly content: ContentSize
  /** Number of connections so far. A connection whose number is not the last one writes nothing. */
  readonly turn: number
  readonly phase: StreamPhase
}

const result = v.looseObject({
  outcome: v.picklist(['done', 'withdrawn', 'kept', 'failed']),
  version: v.string(),
  received: v.number(),
  bytes: v.number(),
  deletions: v.number(),
})

const storedId = v.looseObject({ client: v.number(), clock: v.number() })
const root = { contentKey: v.string(), kind: v.picklist(['text', 'xml', 'xmltext']) }

export const streamRecordType: RecordType<StreamRecord> = {
  name: 'stream',
  schema: v.looseObject({
    streamId: v.string(),
    organizationId: v.string(),
    documentId: v.string(),
    editorId: v.string(),
    fingerprint: v.string(),
    epoch: v.number(),
    place: v.variant('as', [
      v.looseObject({
        ...root,
        as: v.literal('text'),
        position: v.string(),
        before: v.picklist(['', '\n']),
        after: v.picklist(['', '\n']),
        isOneLine: v.boolean(),
      }),
      v.looseObject({
        ...root,
        as: v.literal('blocks'),
        format: v.picklist(streamFormats),
        parent: v.nullable(storedId),
        left: v.nullable(storedId),
        side: v.nullable(v.picklist(['before', 'after'])),
        onlyRows: v.boolean(),
      }),
    ]),
    matched: v.looseObject({}),
    replaces: v.boolean(),
    ending: v.nullable(v.picklist(streamEndings)),
    client: v.number(),
    counter: v.nullable(v.number()),
    schema: v.nullable(v.string()),
    onCut: v.picklist(cutEffects),
    userId: v.string(),
    meta: v.nullable(v.record(v.string(), v.union([v.string(), v.number(), v.boolean(), v.null()]))),
    endsAt: v.number(),
    bytes: v.number(),
    content: v.looseObject({ units: v.number(), bytes: v.number() }),
    turn: v.number(),
    phase: v.variant('is', [
      v.looseObject({ is: v.literal('open'), owner: v.string() }),
      v.looseObject({ is: v.literal('cut'), until: v.number() }),
      v.looseObject({ is: v.literal('ended'), until: v.number(), isCut: v.boolean(), result }),
    ]),
  }),
}

type RangeTuple = readonly [client: number, clock: number, length: number]
type IdTuple = readonly [client: number, clock: number]

/** The ids of the content that a stream replaces. */
export interface ReplacedRecord {
  readonly ranges: readonly RangeTuple[]
  readonly elements: readonly IdTuple[]
}

export const replacedRecordType: RecordType<ReplacedRecord> = {
  name: 'replaced content of a stream',
  schema: v.looseObject({
    ranges: v.array(v.tuple([v.number(), v.number(), v.number()])),
    elements: v.array(v.tuple([v.number(), v.number()])),
  }),
}

export const toReplacedRecord = ({ ranges, elements }: ReplacedIds): ReplacedRecord => ({
  ranges: ranges.map(({ client, clock, length }): RangeTuple => [client, clock, length]),
  elements: elements.map(({ client, clock }): IdTuple => [client, clock]),
})

export const toReplacedIds = ({ ranges, elements }: ReplacedRecord): ReplacedIds => ({
  ranges: ranges.map(([client, clock, length]) => ({ client, clock, length })),
  elements: elements.map(([client, clock]) => ({ client, clock })),
})

/** Names a stream. */
export interface StreamName extends Tenant {
  /** Id that is unique in the API key. */
  readonly streamId: string
}

export const streamNameSchema = v.looseObject({
  workspaceId: v.string(),
  apiKey: v.string(),
  streamId: v.string(),
})

/** Partition with the streams of an API key. */
export const streamsPart = ({ workspaceId, apiKey }: Tenant): Key => ['streams', workspaceId, apiKey]

export const streamKeys = {
  streams: ['streams'] as Key,
  stream: (streamId: string): Key => ['streams', streamId],
  replaced: (streamId: string): Key => ['replaced', streamId],
}

/** Returns the fence that is raised when another connection begins to write a stream. */
export const streamFence = (name: StreamName): Key => [...streamsPart(name), name.streamId]

/** Returns the text that identifies a stream in this process. */
export const streamKey = (name: StreamName): string => keyName(streamFence(name))

/** Name of the queue with a job for each stream. */
export const streamQueue = 'streams'

/** Returns the job that ends a stream whose writer does not come back, and later removes its record. */
export const streamJob = ({ workspaceId, apiKey, streamId }: StreamName, at: number): Job => ({
  queue: streamQueue,
  id: streamKey({ workspaceId, apiKey, streamId }),
  at,
  payload: Buffer.from(JSON.stringify({ workspaceId, apiKey, streamId })),
})
