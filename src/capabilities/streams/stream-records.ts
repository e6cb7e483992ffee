import * as s from '../../core/base/schema.ts'
import type { MatchedPlace } from '../../core/content/edit/edit.ts'
import { type OverlapReport, overlapPolicies } from '../../core/content/merge/overlap.ts'
import { type ReplacedIds, type StreamPlace, streamFormats } from '../../core/content/stream/stream-place.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { ChangeMeta } from '../../core/model/change-origin.ts'
import type { Job, Key } from '../../core/store/engine.ts'
import { keyName } from '../../core/store/key-encoding.ts'

/** How a writer ends its stream: the content replaces the replaced content, or is deleted. */
const streamEndings = ['end', 'withdraw'] as const

export type StreamEnding = (typeof streamEndings)[number]

/**
 * How a stream has ended. `done`: its writer has sent the end. `withdrawn`: its content was deleted. `overlapped`: its
 * content was deleted, because others have changed replaced words and `onOverlap` is `fail`.
 */
export type StreamOutcome = 'done' | 'withdrawn' | 'overlapped'

/** The result of a stream that has ended. */
export interface StreamResult extends Partial<OverlapReport> {
  readonly outcome: StreamOutcome
  readonly version: string
  /** UTF-16 units of the content that the server has received. */
  readonly received: number
  /** Sum of the bytes of all updates of the stream that clients have received. */
  readonly bytes: number
  /** Deleted UTF-16 units and embeds. */
  readonly deletions: number
}

/** A size of content: UTF-16 units, and bytes in UTF-8. */
export interface ContentSize {
  readonly units: number
  readonly bytes: number
}

const result = s.object(
  {
    outcome: s.choice(['done', 'withdrawn', 'overlapped']),
    version: s.string,
    received: s.number,
    bytes: s.number,
    deletions: s.number,
  },
  {
    overlaps: s.array(s.object({ path: s.string, kept: s.choice(['theirs', 'mine']) })),
    overlapCount: s.number,
  },
)

const storedId = s.object({ client: s.number, clock: s.number })
const root = { contentKey: s.string, kind: s.choice(['text', 'xml', 'xmltext']) }
const place = s.variant('as', [
  s.object({
    ...root,
    as: s.literal('text'),
    position: s.string,
    before: s.choice(['', '\n']),
    after: s.choice(['', '\n']),
    isOneLine: s.boolean,
  }),
  s.object({
    ...root,
    as: s.literal('blocks'),
    format: s.choice(streamFormats),
    parent: s.orNull(storedId),
    left: s.orNull(storedId),
    side: s.orNull(s.choice(['before', 'after'])),
    onlyRows: s.boolean,
  }),
])

/** A stream, from its opening until some time after its writer could end it. */
export const streamRecordType = {
  name: 'stream',
  schema: s.object(
    {
      /** As in `StreamName`. */
      streamId: s.string,
      organizationId: s.string,
      documentId: s.string,
      editorId: s.string,
      /** Hash of the opening. */
      fingerprint: s.string,
      /** Epoch of the log for which the place was found. */
      epoch: s.number,
      place: s.trusted<StreamPlace>(place),
      matched: s.trusted<MatchedPlace>(s.object({})),
      /** True if the stream replaces content. */
      replaces: s.boolean,
      /**
       * The ending that the writer has requested first, when all content was durable; null before. It must be
       * carried out, and all later lines of the writer are ignored.
       */
      ending: s.orNull(s.choice(streamEndings)),
      client: s.number,
      /** As in `StreamWriter`. */
      counter: s.orNull(s.number),
      /** Name of the schema of the root; null without one. */
      schema: s.orNull(s.string),
      userId: s.string,
      meta: s.trusted<ChangeMeta | null>(s.orNull(s.map(s.orNull(s.anyOf([s.string, s.number, s.boolean]))))),
      /** Time after which nothing more is written, in epoch milliseconds. */
      endsAt: s.number,
      /** Bytes of the updates of earlier connections. */
      bytes: s.number,
      /** UTF-16 units of the content that earlier connections have written, and their bytes in UTF-8. */
      content: s.object({ units: s.number, bytes: s.number }),
      /** Number of connections so far. A connection whose number is not the last one writes nothing. */
      turn: s.number,
      /** The result; null before the end. */
      result: s.trusted<StreamResult | null>(s.orNull(result)),
    },
    {
      /** The treatment of replaced words that others have changed; absent in the records of earlier versions. */
      onOverlap: s.choice(overlapPolicies),
      /** Number of prunes before the place was found; absent in the records of earlier versions, which could not prune. */
      generation: s.number,
    },
  ),
}
export type StreamRecord = s.TypeOf<typeof streamRecordType.schema>

type RangeTuple = readonly [client: number, clock: number, length: number]
type IdTuple = readonly [client: number, clock: number]

/** The content that a stream replaces. */
export const replacedRecordType = {
  name: 'replaced content of a stream',
  schema: s.object(
    {
      ranges: s.array(s.tuple([s.number, s.number, s.number])),
      elements: s.array(s.tuple([s.number, s.number])),
    },
    {
      /** Absent in the records of earlier versions. */
      texts: s.array(
        s.object({
          parts: s.array(s.tuple([s.number, s.number, s.string])),
          isCutBefore: s.boolean,
          isCutAfter: s.boolean,
        }),
      ),
    },
  ),
}
type ReplacedRecord = s.TypeOf<typeof replacedRecordType.schema>

export const toReplacedRecord = ({ ranges, elements, texts }: ReplacedIds): ReplacedRecord => ({
  ranges: ranges.map(({ client, clock, length }): RangeTuple => [client, clock, length]),
  elements: elements.map(({ client, clock }): IdTuple => [client, clock]),
  texts: texts.map(({ parts, ...cut }) => ({
    ...cut,
    parts: parts.map(({ client, clock, text }) => [client, clock, text] as const),
  })),
})

export const toReplacedIds = ({ ranges, elements, texts = [] }: ReplacedRecord): ReplacedIds => ({
  ranges: ranges.map(([client, clock, length]) => ({ client, clock, length })),
  elements: elements.map(([client, clock]) => ({ client, clock })),
  texts: texts.map(({ parts, ...cut }) => ({
    ...cut,
    parts: parts.map(([client, clock, text]) => ({ client, clock, length: text.length, text })),
  })),
})

export interface StreamName extends Tenant {
  /** Id that is unique in the API key. */
  readonly streamId: string
}

export const streamNameSchema = s.object({
  workspaceId: s.string,
  apiKey: s.string,
  streamId: s.string,
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

/** Returns the job that removes the record of a stream. */
export const streamJob = ({ workspaceId, apiKey, streamId }: StreamName, at: number): Job => ({
  queue: streamQueue,
  id: streamKey({ workspaceId, apiKey, streamId }),
  at,
  payload: Buffer.from(JSON.stringify({ workspaceId, apiKey, streamId })),
})
