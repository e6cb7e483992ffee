import type { TenantCaller, UserCaller } from '../core/access/credentials/authenticator.ts'
import { ApiError } from '../core/base/errors.ts'
import { type FromSchema, json } from '../core/base/schema.ts'
import { contentTypeNames, dataForms } from '../core/content/content-type-names.ts'
import { overlapPolicies } from '../core/content/merge/overlap.ts'
import { prepareChange, type RootChange } from '../core/content/root-change.ts'
import type { DocumentAddress } from '../core/model/address.ts'
import { memberText } from '../core/model/member-text.ts'
import { type WrittenEditor, writeEditorContent } from '../core/rooms/editor-content.ts'
import type { ReplaceOptions } from '../core/rooms/edits/edit-conditions.ts'
import { inlineSizeMax } from '../core/rooms/edits/replacement.ts'
import { changeMeta, storedMeta } from './changes/change-meta.ts'
import { nearMissWarnings } from './near-miss-warnings.ts'
import { type OperationResult, warningsOf } from './operation.ts'
import { contentKeySchema, documentPlace, editorId } from './schemas/resource-schema.ts'
import { attachedSchemaName } from './schemas/schema-schema.ts'
import type { Services } from './services.ts'

/** The error of operations on a document that is being deleted. */
export const documentBeingDeleted = {
  code: 'document/being-deleted',
  when: 'the document is being deleted, itself or with its folder or organization',
} as const

export const disabledDocument = { code: 'document/disabled', when: 'the document is disabled' } as const

/** Errors of operations that change the content of an editor. */
export const writeErrors = [
  disabledDocument,
  { code: 'branch/decided', when: 'the editor is a branch that is merged or rejected' },
  documentBeingDeleted,
] as const

/** The error of operations that write content of a type, for a root with other content. */
export const unsupportedContent = {
  code: 'crdt/unsupported-content',
  when: 'the root has content that its type cannot represent; `details.path` is its place',
} as const

/** Errors of operations that attach a schema to an editor. */
export const schemaErrors = [
  { code: 'schema/not-found', when: 'the schema does not exist' },
  {
    code: 'crdt/schema-attached',
    when: 'another schema is attached to the editor, and the content does not fit it',
  },
  { code: 'schema/too-many', when: 'too many editors of the document have a schema' },
] as const

export const versionConflict = {
  code: 'crdt/version-conflict',
  when: 'the document is not at `ifVersion`; `details.version` is where it is',
} as const

/** Errors of operations with `baseVersion` and `ifVersion`. */
export const baseVersionErrors = [
  {
    code: 'crdt/overlap',
    when: 'others have changed the same words or values after `baseVersion`, and `onOverlap` is `fail`',
  },
  { code: 'crdt/base-version-too-old', when: '`baseVersion` is unknown or too old' },
  versionConflict,
] as const

/** The request member `strict` of a write. */
const strictSchema = json.flag(
  'True: rejects the call instead of returning warnings about nodes and marks that no preset has. With a schema, ' +
    'the schema decides.',
)

/** Request members for the whole new content of an editor. */
export const contentRequest = json.object(
  {
    ...documentPlace,
    editorId,
    data: {
      description: `The whole content: ${dataForms}.`,
      examples: ['Hello'],
    },
    type: json.choice(contentTypeNames),
  },
  {
    contentKey: contentKeySchema,
    schema: attachedSchemaName,
    strict: strictSchema,
    userId: json.id('Author of the change; returned as `lastUpdatedBy`.'),
    meta: changeMeta,
  },
)

/**
 * Maximum characters of a version in a request. The server itself creates versions of at most 31 characters.
 */
const versionLengthMax = 100

/** The request member `onOverlap` of a write with `baseVersion`. */
const onOverlapSchema = json.choice(
  overlapPolicies,
  'What happens if others have changed the same words or values after `baseVersion`. `report`: the content has one ' +
    'side, and `overlaps` has both. `fail`: the call fails, and nothing changes. `keepTheirs`, `keepMine`: the content ' +
    'has this side. Default: `report`; for agents `fail`.',
)

/** The response members about overlaps. */
export const overlapMembers = {
  overlaps: json.list(
    json.object(
      {
        path: json.text('JSON pointer to the place in the root.'),
        kept: json.choice(['theirs', 'mine'], 'The side that the content has.'),
      },
      {
        base: { description: 'The content before both changes; absent if there was none.' },
        theirs: { description: 'The content that others have written; absent if they have deleted it.' },
        mine: { description: 'The content of this call; absent if it deletes the content.' },
      },
    ),
    {
      description:
        'Places that others have changed, too, after `baseVersion`; absent if there are none. At most 100, with at most ' +
        '1,000 characters of each value.',
    },
  ),
  overlapCount: json.integer('The number of overlaps, if there are more than listed.'),
} as const

/**
 * Request members of an update: the members of `contentRequest`, and the version from which the new content
 * was derived.
 */
export const updateRequest = {
  ...contentRequest,
  properties: {
    ...contentRequest.properties,
    baseVersion: json.text(
      'The version from which `data` was derived. Only the differences to it are applied; later edits stay.',
      { maxLength: versionLengthMax },
    ),
    onOverlap: onOverlapSchema,
    ifVersion: json.text('Reject the call (ABORTED) unless the document is at this version.', {
      maxLength: versionLengthMax,
    }),
    newRoot: json.flag('True: creates the root `contentKey`, also if the editor has other roots.'),
    upsert: json.flag('True: creates the document if it does not exist.'),
    dryRun: json.flag('True: returns the changes without applying them; `version` is the current version.'),
  },
} as const

export const writtenResponse = json.object(
  {
    version: json.text('Names the state after the call; opaque.'),
    changed: json.boolean('False if the content was already the same.'),
    bytes: json.integer('Size of the update that clients received.'),
    insertions: json.integer('Inserted UTF-16 units.'),
    deletions: json.integer('Deleted UTF-16 units and embeds.'),
  },
  {
    contentKey: json.text('Name of the root that was written; absent after a restoration.'),
    ...overlapMembers,
  },
)

type ContentRequest = FromSchema<typeof contentRequest>

type UpdateRequest = FromSchema<typeof updateRequest>

export const editorAddress = (
  { tenant }: Pick<TenantCaller, 'tenant'>,
  {
    organizationId,
    documentId,
    editorId,
  }: Pick<ContentRequest, 'organizationId' | 'documentId' | 'editorId'>,
): DocumentAddress => ({ ...tenant, organizationId, documentId, editorId })

/** Minimum length of a body whose content is sent to a thread as text, in UTF-16 units. */
const encodedFrom = 262_144

/**
 * Returns the request with its content as JSON in UTF-8 if it is large: to count and copy 200,000 parsed values takes
 * 200 ms of the event loop.
 * @param text the text of the body
 */
export function withEncodedData<Request extends ContentRequest>(request: Request, text: string): Request {
  if (text.length < encodedFrom || typeof request.data !== 'object') return request
  const data = memberText(memberText(text, 'data') ?? '', 'data')
  return data === null ? request : { ...request, data: Buffer.from(data) }
}

/**
 * Creates the content of an editor that has no content yet. Resolves when the content is durable and sent.
 */
export const createEditorContent = (
  request: ContentRequest,
  caller: TenantCaller,
  services: Services,
): Promise<WriteResult> => writeContent(request, { expects: 'nothing' }, caller, services)

/**
 * Changes the content of an editor by the smallest possible set of operations. Resolves when the change is
 * durable and sent, or when the content is already equal.
 * @param full the error to throw for anything but deletions, because the workspace has reached its storage
 * limit; null if it has not reached the limit
 */
export function updateEditorContent(
  request: UpdateRequest,
  caller: TenantCaller,
  services: Services,
  full: ApiError | null,
): Promise<WriteResult> {
  const { baseVersion, onOverlap, ifVersion, upsert, dryRun, newRoot } = request
  const expects = upsert === true && full === null ? 'either' : 'content'
  const options = { expects, baseVersion, onOverlap, ifVersion, dryRun, full } as const
  return writeContent(request, options, caller, services, newRoot)
}

type Written = FromSchema<typeof writtenResponse>

type WriteResult = Pick<OperationResult<Written>, 'data' | 'warnings' | 'created'>

async function writeContent(
  request: ContentRequest,
  options: ReplaceOptions,
  caller: TenantCaller,
  services: Services,
  newRoot?: boolean,
): Promise<WriteResult> {
  const { type, contentKey, data } = request
  const change = { type, contentKey, data, newRoot }
  const changed = await changeEditor(request, change, type, options, caller, services)
  const { kind: _kind, warnings = [], created, ...written } = changed
  const nearMisses = await nearMissWarnings(created, services, caller, request)
  return { data: written, created, ...warningsOf([...nearMisses, ...warnings]) }
}

/**
 * Changes the content of an editor. The result must match the schema of the editor. Resolves when the change
 * is durable and sent.
 * @param type label of the metric that measures the duration
 */
export async function changeEditor(
  request: Pick<
    ContentRequest,
    'organizationId' | 'documentId' | 'editorId' | 'userId' | 'schema' | 'strict' | 'meta'
  >,
  change: RootChange,
  type: string,
  options: ReplaceOptions,
  caller: TenantCaller,
  services: Services,
): Promise<WrittenEditor> {
  const { rooms, documents, metrics, schemas } = services
  const { userId = '' } = request
  const cause = { source: 'rest', meta: await storedMeta(request.meta, caller, services) } as const
  const prepared = prepareChange(change, inlineSizeMax)
  const stopTimer = metrics.crdtUpdateDurationSeconds.startTimer({ type })
  const address = editorAddress(caller, request)
  if (options.expects === 'content') await services.loader.ready(address)
  const { schema, strict } = request
  const changing = writeEditorContent(
    { rooms, documents: writableDocuments(services, caller), schemas },
    address,
    { change: prepared, userId, schema, strict },
    { ...options, cause },
  )
  const changed = await namingMissing(documents, address, changing)
  stopTimer()
  return changed
}

/** Returns the documents as the caller may change them: an agent and a user have the rights of their tokens. */
export function writableDocuments(
  { documents, agents }: Pick<Services, 'documents' | 'agents'>,
  caller: TenantCaller | UserCaller,
): Pick<Services['documents'], 'ensure' | 'rightToChange'> {
  if (caller.level === 'key') return documents
  return {
    ensure: (scope, documentId) => documents.ensure(scope, documentId),
    rightToChange: (address) => agents.rightToChange(caller, address),
  }
}

/**
 * Waits for work on the content of an editor. If `work` fails because the content does not exist, checks the
 * organization and the document first.
 * @throws ApiError NOT_FOUND for the organization or the document if it does not exist; otherwise the errors
 * of `work`
 */
export async function namingMissing<T>(
  documents: Services['documents'],
  address: Omit<DocumentAddress, 'editorId'>,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ApiError && error.code === 'crdt/no-content')
      await documents.require(address, address.documentId)
    throw error
  }
}
