/** The owner of data: an API key of a workspace. A tenant never sees the ids of another tenant. */
export interface Tenant {
  readonly workspaceId: string
  readonly apiKey: string
}

/** Identifies an editor of a document. Each editor has one log, and at most one room in each process. */
export interface DocumentAddress extends Tenant {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}

/** The part of an address within its tenant: the ids of organization, document and editor. */
export type DocumentPath = Omit<DocumentAddress, keyof Tenant>

/**
 * Creates an address. The members are listed one by one: if two objects were spread into one, V8 would create
 * a dictionary object, and code that uses dictionary objects cannot be optimized.
 */
export const documentAddress = (
  { workspaceId, apiKey }: Tenant,
  { organizationId, documentId, editorId }: DocumentPath,
): DocumentAddress => ({ workspaceId, apiKey, organizationId, documentId, editorId })

/** Maximum length of an id, in bytes of UTF-8. */
export const idBytesMax = 512

/** Maximum bytes of UTF-8 of one UTF-16 unit. */
const bytesPerUnit = 3

const utf8 = new TextEncoder()

const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/

/**
 * Returns the reason why a value is not a valid id; null if it is valid. `.` and `..` are rejected because
 * URL parsers remove them. Control characters are rejected because logs and headers do not preserve them.
 * Apart from these rules, ids are opaque: they are never normalized, and are compared exactly.
 */
export function idProblem(id: unknown): string | null {
  if (typeof id !== 'string') return 'must be a string'
  if (id === '') return 'must not be empty'
  if (!id.isWellFormed()) return 'must be well-formed Unicode'
  // Only a long id must be measured.
  if (
    id.length * bytesPerUnit > idBytesMax &&
    (id.length > idBytesMax || utf8.encode(id).length > idBytesMax)
  )
    return `must be at most ${idBytesMax} bytes of UTF-8`
  if (id === '.' || id === '..') return 'must not be "." or ".."'
  if (controlCharacter.test(id)) return 'must not contain control characters'
  return null
}

/** Identifies an organization. The keys of all its documents form one range. */
export type OrganizationAddress = Pick<DocumentAddress, 'workspaceId' | 'apiKey' | 'organizationId'>

/** Identifies a document, independent of its editors. */
export type DocumentScope = Omit<DocumentAddress, 'editorId'>

/** Returns the first segments of the keys of all documents in an organization. */
export const organizationPrefix = (address: OrganizationAddress): readonly string[] => [
  address.workspaceId,
  address.apiKey,
  address.organizationId,
]

/** Returns the first segments of the keys of all editors of a document. */
export const documentPrefix = (address: OrganizationAddress, documentId: string): readonly string[] => [
  address.workspaceId,
  address.apiKey,
  address.organizationId,
  documentId,
]

/**
 * Returns the key of an address. The key starts with the tenant, so that all data of a tenant is one range.
 * The segments are listed one by one, because rooms keep the result: an array that is built by spreading
 * takes three times the memory.
 */
export const addressKey = (address: DocumentAddress): readonly string[] => [
  address.workspaceId,
  address.apiKey,
  address.organizationId,
  address.documentId,
  address.editorId,
]

/** Percent-decodes one path segment. Returns null if the segment is not valid percent-encoded UTF-8. */
export function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
