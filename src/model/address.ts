/** Who owns data: an API key of a workspace. Two tenants never see each other's ids. */
export interface Tenant {
  readonly workspaceId: string
  readonly apiKey: string
}

/** Names one collaborative document: what a room is opened for and a log is kept of. */
export interface DocumentAddress extends Tenant {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}

/** Ids of a document within its tenant. */
export type DocumentPath = Omit<DocumentAddress, keyof Tenant>

/** Written out: of two objects that are spread into one V8 makes a dictionary, and no code for it can be optimized. */
export const documentAddress = (
  { workspaceId, apiKey }: Tenant,
  { organizationId, documentId, editorId }: DocumentPath,
): DocumentAddress => ({ workspaceId, apiKey, organizationId, documentId, editorId })

/** Longest id, in bytes of UTF-8. */
export const idBytesMax = 512

const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/

/**
 * Why `id` cannot name anything, or null when it can. Ids are opaque otherwise: never normalised, compared exactly.
 * `.` and `..` are refused because URL parsers eat them, control characters because logs and headers do.
 */
export function idProblem(id: unknown): string | null {
  if (typeof id !== 'string') return 'must be a string'
  if (id === '') return 'must not be empty'
  if (!id.isWellFormed()) return 'must be well-formed Unicode'
  if (Buffer.byteLength(id) > idBytesMax) return `must be at most ${idBytesMax} bytes of UTF-8`
  if (id === '.' || id === '..') return 'must not be "." or ".."'
  if (controlCharacter.test(id)) return 'must not contain control characters'
  return null
}

/** Names an organization, whose documents are one range of keys. */
export type OrganizationAddress = Pick<DocumentAddress, 'workspaceId' | 'apiKey' | 'organizationId'>

/** Names a document, whatever its editors. */
export type DocumentScope = Omit<DocumentAddress, 'editorId'>

/** The segments that the keys of all documents of an organization start with. */
export const organizationPrefix = (address: OrganizationAddress): readonly string[] => [
  address.workspaceId,
  address.apiKey,
  address.organizationId,
]

/** The segments that the keys of all editors of a document start with. */
export const documentPrefix = (address: OrganizationAddress, documentId: string): readonly string[] => [
  address.workspaceId,
  address.apiKey,
  address.organizationId,
  documentId,
]

/**
 * The segments under which an address is stored: owner first, so that a tenant's data is one range. Rooms keep them,
 * and arrays that are spread together take three times the memory.
 */
export const addressKey = (address: DocumentAddress): readonly string[] => [
  address.workspaceId,
  address.apiKey,
  address.organizationId,
  address.documentId,
  address.editorId,
]

/** Percent-decodes one path segment; null when it is not valid percent-encoded UTF-8. */
export function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
