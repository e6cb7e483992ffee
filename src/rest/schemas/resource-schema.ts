import { json } from '../../core/base/schema.ts'
import type { Metadata } from '../../core/directory/store/records.ts'
import { invalidAt } from '../validator.ts'

/**
 * Maximum characters of an API key or an auth token in a body. Credentials that the server creates are
 * shorter.
 */
export const credentialLengthMax = 512
/** Maximum number of items in one batch. */
export const batchMax = 500
/** Maximum number of ids in one lookup. */
export const lookupMax = 30
/** Maximum bytes of the encoded metadata of one resource. */
export const metadataBytesMax = 16_384

export const organizationId = json.id('Id of the organization.')

export const documentId = json.id('Id of the document.')

/** Request members that name a document. */
export const documentPlace = { organizationId, documentId } as const
export const folderId = json.id('Id of the folder.')

export const resourceName = { type: 'string', maxLength: 1_000 } as const

export const metadata = json.map(
  {},
  {
    description: `Any data about the resource, at most ${metadataBytesMax} bytes as JSON. Replaced as a whole.`,
  },
)

export const accessType = json.choice(
  ['public', 'organizationPrivate', 'restricted'],
  'Access without a grant. `public`: every user edits. `organizationPrivate`: members of the organization have their ' +
    'role of the organization. `restricted`: only users with a grant have access.',
)

export const createdAt = json.integer('Epoch milliseconds.')
export const lastUpdated = json.integer('Epoch milliseconds.')

export const organizationNotFound = {
  code: 'organization/not-found',
  when: 'the organization does not exist',
} as const

const folderNotFound = { code: 'folder/not-found', when: 'the folder does not exist' } as const

const documentNotFound = { code: 'document/not-found', when: 'the document does not exist' } as const

/** Errors of operations on a folder. */
export const folderErrors = [organizationNotFound, folderNotFound] as const

/** Errors of operations on a document. */
export const documentErrors = [organizationNotFound, documentNotFound] as const

/** Errors of operations on an organization, or a folder or document of it. */
export const resourceErrors = [organizationNotFound, folderNotFound, documentNotFound] as const

/**
 * Checks the metadata of an entry.
 * @throws ApiError INVALID_ARGUMENT if the metadata is too large
 */
export const checkMetadata = ({ metadata: given }: { readonly metadata?: Metadata }, pointer: string): void =>
  checkMetadataAt(`${pointer}/metadata`, given)

/**
 * Checks metadata.
 * @param path JSON pointer of the metadata
 * @throws ApiError INVALID_ARGUMENT if the metadata is too large
 */
export function checkMetadataAt(path: string, given: Metadata | undefined): void {
  if (given === undefined || Buffer.byteLength(JSON.stringify(given)) <= metadataBytesMax) return
  throw invalidAt({ path, message: `must be at most ${metadataBytesMax} bytes as JSON` })
}

export const editorId = json.id('Editor instance.')

export const contentKeySchema = json.text(
  'Name of the root (the shared type in the Yjs document). Default: the root of the attached schema, else the only ' +
    'root, else `content`. ' +
    'The root of rich-text editors is often called `default`.',
)
