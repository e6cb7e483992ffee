import { ApiError } from '../../../core/base/errors.ts'
import type { ReadingFormat } from '../../../core/content/read-document.ts'
import type { QueuedEvent } from '../../../core/events/outbound-event.ts'
import { addressKey, type DocumentAddress } from '../../../core/model/address.ts'
import { type EncodedJson, encodedBytes, isResponseTooLarge } from '../../../core/model/json-pieces.ts'
import { versionOf } from '../../../core/model/version.ts'
import { readEditorContent } from '../../../core/rooms/editor-content.ts'
import type { Services } from '../../../rest/services.ts'

/**
 * Why a request has no content. `too-large`: it has more bytes than `maxWebhookContentBytes`. `deleted`: the editor has
 * no content any more. `unreadable`: the root does not exist, or it cannot be read in the format.
 */
type ContentOmission = 'too-large' | 'deleted' | 'unreadable'

/** The members of a request of the callback `store` that contain the content of an editor. */
export interface EventContent {
  readonly contentFormat: ReadingFormat
  /** The content as JSON; null if it is left out. */
  readonly content: EncodedJson | null
  readonly contentOmitted?: ContentOmission
  /** The root, and its type. Absent without content. */
  readonly contentKey?: string
  readonly contentType?: string
  /** The version that has this content; null if there is no version, or if it was not read. */
  readonly version: string | null
  /** Time and author (a user id, '' if not known) of the last update. Absent if they were not read. */
  readonly lastUpdate?: string
  readonly lastUpdatedBy?: string
}

/** The format of the content, and its root. */
interface ContentReading {
  readonly format: ReadingFormat
  readonly contentKey?: string | undefined
}

/**
 * Reads the present content of an editor.
 * @throws ApiError UNAVAILABLE or RESOURCE_EXHAUSTED if the editor cannot be read at this time
 */
export async function readEventContent(
  services: Services,
  address: DocumentAddress,
  reading: ContentReading,
): Promise<EventContent> {
  const { format, contentKey: wanted } = reading
  const bytesMax = services.config.maxWebhookContentBytes
  try {
    const read = await readEditorContent(services, address, { format, contentKey: wanted }, bytesMax)
    if (read === null) return omittedContent(format, 'deleted')
    const { result, version, changed } = read
    if (encodedBytes(result.data) > bytesMax) return omittedContent(format, 'too-large', version)
    const { data: content, contentKey, type: contentType } = result
    const [lastUpdate, lastUpdatedBy] = [new Date(changed.at).toISOString(), changed.by]
    return { contentFormat: format, content, contentKey, contentType, version, lastUpdate, lastUpdatedBy }
  } catch (error) {
    const omission = omissionBecause(error)
    if (omission === null) throw error
    const [head = null] = await services.engine.log.heads([addressKey(address)])
    return omittedContent(format, omission, head && versionOf({ epoch: head.epoch, seq: head.head }))
  }
}

/** Returns the members of a request without content. */
const omittedContent = (
  contentFormat: ReadingFormat,
  contentOmitted: ContentOmission,
  version: string | null = null,
): EventContent => ({ contentFormat, content: null, contentOmitted, version })

/** Returns the editor that an event reports; null unless the event is a change of an editor. */
export function editorOf({ type, scope, documentId, data }: QueuedEvent): DocumentAddress | null {
  const { editorId } = data
  if (type !== 'crdt.update_data' || documentId === null || typeof editorId !== 'string') return null
  return { ...scope, documentId, editorId }
}

function omissionBecause(error: unknown): ContentOmission | null {
  if (isResponseTooLarge(error)) return 'too-large'
  if (!(error instanceof ApiError)) return null
  return error.status === 'INVALID_ARGUMENT' || error.status === 'NOT_FOUND' ? 'unreadable' : null
}
