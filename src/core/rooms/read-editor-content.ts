import type { DocumentReading, EncodedContent } from '../content/read-document.ts'
import { kindOfNamed } from '../content/schemas/content-schema.ts'
import type { AttachedSchema } from '../directory/schemas/schema-records.ts'
import type { SchemaService } from '../directory/schemas/schema-service.ts'
import type { DocumentService } from '../directory/services/document-service.ts'
import type { DocumentAddress } from '../model/address.ts'
import type { DocumentRead } from './edits/backend-edits.ts'
import type { RoomRegistry } from './room/room-registry.ts'

/** Services that `readEditorContent` needs. */
export interface EditorReadServices {
  readonly rooms: Pick<RoomRegistry, 'use'>
  readonly documents: Pick<DocumentService, 'isGoing'>
  readonly schemas: Pick<SchemaService, 'attachedTo'>
}

/** Options of a read of an editor. The schema of the editor gives the kind of the root. */
export type EditorReading = Omit<DocumentReading, 'schemaKind'>

/** The content of one root of an editor, with the version that has this content. */
type EditorContent = DocumentRead<EncodedContent>

/**
 * Reads one root of an editor in a format. A large document is read on a thread. Resolves when the content is
 * durable. Resolves with null if the editor has no content, or if its document is being deleted.
 * @param bytesMax limit for the encoded content, as for `readEncoded`
 * @throws ApiError NOT_FOUND (`crdt/root-not-found`) if there are roots, but not this one; INVALID_ARGUMENT if
 * the root cannot be read in this format; RESOURCE_EXHAUSTED if the content exceeds `bytesMax`
 * (`isResponseTooLarge`), or if too many large reads wait; UNAVAILABLE
 */
export async function readEditorContent(
  { rooms, documents, schemas }: EditorReadServices,
  address: DocumentAddress,
  reading: EditorReading,
  bytesMax: number,
): Promise<EditorContent | null> {
  if (await documents.isGoing(address, address.documentId)) return null
  return readAttachedEditor(rooms, address, await schemas.attachedTo(address), reading, bytesMax)
}

/**
 * Reads an editor like `readEditorContent`, for callers that know its schema and have checked that its
 * document is not being deleted.
 */
export function readAttachedEditor(
  rooms: EditorReadServices['rooms'],
  address: DocumentAddress,
  attached: AttachedSchema | null,
  reading: EditorReading,
  bytesMax: number,
): Promise<EditorContent | null> {
  const root = rootToRead(reading.contentKey, attached)
  return rooms.use(address, (room) => room.editing.read({ ...reading, ...root }, bytesMax))
}

/** Returns the root that a read uses, and the kind of root that the attached schema describes. */
export function rootToRead(
  given: string | undefined,
  attached: AttachedSchema | null,
): Pick<DocumentReading, 'contentKey' | 'schemaKind'> {
  if (attached === null) return { contentKey: given }
  const contentKey = given ?? attached.contentKey
  return contentKey === attached.contentKey
    ? { contentKey, schemaKind: kindOfNamed(attached.schema) }
    : { contentKey }
}
