import { ApiError } from '../base/errors.ts'
import type { DocumentReading, EncodedContent } from '../content/read-document.ts'
import type { ReplacementResult } from '../content/replacement-result.ts'
import { type PreparedChange, withDefaultRoot, withSchema, withUnknownNames } from '../content/root-change.ts'
import { kindOfNamed, type NamedSchema, schemaOf } from '../content/schemas/content-schema.ts'
import type { AttachedSchema, SchemaService } from '../directory/schemas/schema-service.ts'
import type { DocumentService, EnsuredDocument } from '../directory/services/document-service.ts'
import type { DocumentAddress } from '../model/address.ts'
import type { DocumentRead } from './edits/backend-edits.ts'
import type { ReplaceOptions } from './edits/edit-conditions.ts'
import { Replacement } from './edits/replacement.ts'
import type { RoomRegistry } from './registry/room-registry.ts'

/** Services that `readEditorContent` needs. */
export interface EditorReadServices {
  readonly rooms: Pick<RoomRegistry, 'read'>
  readonly documents: Pick<DocumentService, 'isGoing'>
  readonly schemas: Pick<SchemaService, 'attachedTo'>
}

/** Options of a read of an editor. The schema of the editor gives the kind of the root. */
export type EditorReading = Omit<DocumentReading, 'schemaKind'>

/** The content of one root of an editor, with the version that has this content. */
type EditorContent = DocumentRead<EncodedContent>

/**
 * Reads one root of an editor in a format, at any node. A large document is read on a thread. Resolves when the content
 * is durable. Resolves with null if the editor has no content, or if its document is being deleted.
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
  return rooms.read(address, { ...reading, ...root }, bytesMax)
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

/** Services that `writeEditorContent` needs. */
export interface EditorWriteServices {
  readonly rooms: Pick<RoomRegistry, 'use'>
  readonly documents: Pick<DocumentService, 'ensure' | 'rightToChange'>
  readonly schemas: Pick<SchemaService, 'attachedTo' | 'named' | 'attach'>
}

/** A write by a backend. */
interface EditorWrite {
  readonly change: PreparedChange
  /** Author of the change; '' if the author is unknown. */
  readonly userId: string
  /** Name of the schema that the result must match, and that is attached to the editor. Default: the attached one. */
  readonly schema?: string | undefined
  /** True: rejects nodes and marks that no preset has, if there is no schema. */
  readonly strict?: boolean | undefined
}

/** Ids of the resources and the name of the root that a write has created. What existed is absent. */
export interface CreatedContent extends EnsuredDocument {
  readonly editor?: string
  readonly root?: string
}

/** The result of a change, and the version and the bytes of its update. */
export interface WrittenEditor extends Omit<ReplacementResult, 'createdRoot'> {
  readonly created: CreatedContent
  readonly version: string
  readonly bytes: number
}

/**
 * Changes the content of an editor. The result must match the schema of the editor. Resolves when the change is
 * durable and sent.
 * @throws ApiError as for `makeChange`
 */
export function writeEditorContent(
  { rooms, documents, schemas }: EditorWriteServices,
  address: DocumentAddress,
  { change, userId, schema: given, strict }: EditorWrite,
  options: Omit<ReplaceOptions, 'making' | 'right'>,
): Promise<WrittenEditor> {
  let made: CreatedContent = {}
  const making = async (): Promise<void> => {
    // After a failure, the call may create the document a second time.
    made = { ...made, ...(await documents.ensure(address, address.documentId)), editor: address.editorId }
  }
  return rooms.use(address, async (room) => {
    const [right, attached] = await Promise.all([
      documents.rightToChange(address),
      schemas.attachedTo(address),
    ])
    const name = given ?? attached?.schema
    const schema = name === undefined ? null : await schemas.named(address, name)
    const checked =
      schema === null
        ? withUnknownNames(change, strict === true ? 'reject' : 'warn')
        : inSchema(change, schema, attached)
    const { result, version, bytes } = await new Replacement(room)
      .change(userId, { is: 'replace', ...checked }, { ...options, making, right })
      .catch((error: unknown) => {
        throw attached !== null && attached.schema !== name ? asConflict(error, attached.schema) : error
      })
    const { createdRoot: root, ...written } = result
    const { contentKey } = result
    const created = { ...made, ...(root !== undefined && { root }) }
    const isNew = given !== undefined && given !== attached?.schema
    if (isNew && options.dryRun !== true && contentKey !== undefined)
      await schemas.attach(address, { schema: given, contentKey })
    // After a merge, the document may already have had the change.
    return { version, ...written, created, changed: result.changed && bytes > 0, bytes }
  })
}

/**
 * Returns a change that must match a schema. If the caller has specified no root, the root is that of the
 * attachment if the schema is attached already, else that of the schema.
 */
function inSchema(
  prepared: PreparedChange,
  schema: NamedSchema,
  attached: AttachedSchema | null,
): PreparedChange {
  const isAttached = attached?.schema === schema.name
  const root = isAttached ? attached.contentKey : schemaOf(schema).contentKey
  return withSchema(root === null ? prepared : withDefaultRoot(prepared, root), { ...schema, isAttached })
}

/** Returns the error of a call whose schema is not the attached one. */
function asConflict(error: unknown, attached: string): unknown {
  if (!(error instanceof ApiError) || error.code !== 'crdt/schema-violation') return error
  const message = `the schema ${JSON.stringify(attached)} is attached to the editor, and ${error.message}`
  return new ApiError('crdt/schema-attached', message, { details: { ...error.details, attached } })
}
