import { type DocumentPath, decodeSegment, idProblem } from '../../model/address.ts'

export type ReadPath =
  | { readonly path: DocumentPath; readonly problem: null }
  | { readonly path: null; readonly problem: string }

const names = ['organizationId', 'documentId', 'editorId'] as const

/** @param segments organization, document and editor, each percent-encoded */
export function readDocumentPath(segments: readonly string[]): ReadPath {
  const [organizationId, documentId, editorId] = segments.map(decodeSegment)
  if (segments.length !== 3 || organizationId == null || documentId == null || editorId == null)
    return { path: null, problem: 'a document is {organizationId}/{documentId}/{editorId}' }
  const path: DocumentPath = { organizationId, documentId, editorId }
  for (const name of names) {
    const problem = idProblem(path[name])
    if (problem !== null) return { path: null, problem: `${name} ${problem}` }
  }
  return { path, problem: null }
}
