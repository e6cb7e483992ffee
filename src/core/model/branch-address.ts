import { type DocumentAddress, documentAddress } from './address.ts'

/** Character between the id of an editor and the name of its branch in the editor id of the branch. */
export const branchSeparator = '@'

/** An editor id that has the form of a branch. It is a branch only if the directory has its record. */
export interface BranchIds {
  /** Id of the editor from which the branch was created. */
  readonly editorId: string
  readonly name: string
}

/** Returns the editor id of a branch, for example `main@review`. */
export const branchEditorId = ({ editorId, name }: BranchIds): string =>
  `${editorId}${branchSeparator}${name}`

/**
 * Splits an editor id at its last `@`. Returns null if the id cannot be that of a branch: it has no `@`, or
 * nothing before or after it.
 */
export function parseBranchEditorId(editorId: string): BranchIds | null {
  const at = editorId.lastIndexOf(branchSeparator)
  if (at <= 0 || at === editorId.length - 1) return null
  return { editorId: editorId.slice(0, at), name: editorId.slice(at + 1) }
}

/** Returns the address of the editor from which a branch was created. */
export const mainAddress = (branch: DocumentAddress, editorId: string): DocumentAddress =>
  documentAddress(branch, {
    organizationId: branch.organizationId,
    documentId: branch.documentId,
    editorId,
  })
