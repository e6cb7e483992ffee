import { ApiError } from '../../../core/base/errors.ts'
import { isRootMissing } from '../../../core/content/roots.ts'
import { type DocumentAddress, documentAddress, type Tenant } from '../../../core/model/address.ts'
import { EncodedJson, isResponseTooLarge } from '../../../core/model/json-pieces.ts'
import { parseVersion } from '../../../core/model/version.ts'
import { type EditorReadServices, readEditorContent } from '../../../core/rooms/editor-content.ts'
import { keyName } from '../../../core/store/key-encoding.ts'
import type { Services } from '../../../rest/services.ts'
import { readUpdatesBetween } from '../editor-change.ts'
import type { FeedItem, FeedPage } from '../feed-reader.ts'
import { feedLimits } from '../limits.ts'
import type { contentOmissions, FeedRequest } from './feed-schema.ts'

type FeedContentServices = EditorReadServices & Pick<Services, 'engine'>

type Omission = (typeof contentOmissions)[number]

/** Content in an event of a response. */
interface SentContent {
  readonly version: string
  readonly data?: EncodedJson
  readonly type?: string
  readonly contentKey?: string
  readonly updates?: readonly EncodedJson[]
}

/** An event in a response. */
export type SentFeedEvent = Omit<FeedItem, 'at'> & {
  readonly at: string
  readonly content?: SentContent | null
  readonly contentOmitted?: Omission
}

/** A page in a response. */
export interface SentFeedPage {
  readonly events: readonly SentFeedEvent[]
  readonly cursor: string
  readonly isEnd: boolean
}

/** The members of a request that decide about content. */
type Wanted = Pick<FeedRequest, 'content' | 'contentKey'>

/**
 * Adds the requested content to the events of a page. If the content is large, the page ends earlier.
 * @throws ApiError RESOURCE_EXHAUSTED if too many large reads wait, UNAVAILABLE
 */
export async function addContent(
  services: FeedContentServices,
  tenant: Tenant,
  page: Omit<FeedPage, 'scanned'>,
  wanted: Wanted,
): Promise<SentFeedPage> {
  const last = lastOfEditors(page.events)
  const events: SentFeedEvent[] = []
  let bytesLeft: number = feedLimits.pageContentBytes
  for (const item of page.events) {
    const isLast = last.get(editorNameOf(item)) === item
    const content = await contentOf(services, tenant, item, wanted, isLast)
    const bytes = content?.bytes ?? 0
    const before = events.at(-1)
    if (bytes > bytesLeft && before !== undefined) return { events, cursor: before.cursor, isEnd: false }
    bytesLeft -= bytes
    events.push({ ...item, at: new Date(item.at).toISOString(), ...content?.members })
  }
  return { events, cursor: page.cursor, isEnd: page.isEnd }
}

interface FoundContent {
  readonly bytes: number
  readonly members: Pick<SentFeedEvent, 'content' | 'contentOmitted'>
}

const omitted = (contentOmitted: Omission): FoundContent => ({
  bytes: 0,
  members: { content: null, contentOmitted },
})

async function contentOf(
  services: FeedContentServices,
  tenant: Tenant,
  item: FeedItem,
  { content: format, contentKey }: Wanted,
  isLast: boolean,
): Promise<FoundContent | null> {
  const { type, organizationId, documentId, data } = item
  if (format === undefined || type !== 'crdt.update_data' || documentId === null) return null
  const address = documentAddress(tenant, { organizationId, documentId, editorId: String(data.editorId) })
  if (format === 'changes') return changesOf(services, address, item)
  if (!isLast) return omitted('superseded')
  try {
    const read = await readEditorContent(services, address, { format, contentKey }, feedLimits.contentBytes)
    if (read === null) return omitted('deleted')
    const { result, version } = read
    return { bytes: result.data.bytes, members: { content: { version, ...result } } }
  } catch (error) {
    if (isResponseTooLarge(error)) return omitted('too-large')
    if (isRootMissing(error) || (error instanceof ApiError && error.status === 'INVALID_ARGUMENT'))
      return omitted('unreadable')
    throw error
  }
}

async function changesOf(
  { engine }: FeedContentServices,
  address: DocumentAddress,
  { data }: FeedItem,
): Promise<FoundContent> {
  const until = parseVersion(String(data.version))
  const since = data.versionBefore === null ? null : parseVersion(String(data.versionBefore))
  const updates =
    until === null
      ? null
      : await readUpdatesBetween(engine.log, address, { since, until }, feedLimits.contentBytes)
  if (updates === null) return omitted('compacted')
  const encoded = updates.map((update) => new EncodedJson('base64', [update]))
  return {
    bytes: encoded.reduce((sum, { bytes }) => sum + bytes, 0),
    members: { content: { version: String(data.version), updates: encoded } },
  }
}

const editorNameOf = ({ organizationId, documentId, data }: FeedItem): string =>
  keyName([organizationId, documentId ?? '', String(data.editorId)])

/** Returns the last change of each editor. */
const lastOfEditors = (events: readonly FeedItem[]): ReadonlyMap<string, FeedItem> =>
  new Map(
    events
      .filter(({ type }) => type === 'crdt.update_data')
      .map((event) => [editorNameOf(event), event] as const),
  )
